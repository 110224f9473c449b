//! What each rank is doing, in the words of its own process: a rank that ends a run which hangs asks the others.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::{Far, Link};
use crate::control::Text;
use symm_abi::heap::MAX_RANKS;

/// How long the others may take to answer: they look for who asks ten times a second.
const ANSWER_IN: Duration = Duration::from_secs(1);
/// Time between two looks for answers.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// The largest size of an answer, in bytes.
const MOST: usize = 4096;
/// Most ranks that a report shows.
const MOST_RANKS: usize = 16;

/// What ranks ask this one, and what they answer it.
#[repr(C)]
#[derive(Debug)]
pub(super) struct Answers {
    /// For each rank, whether it asks this one.
    asks: [AtomicU64; MAX_RANKS as usize],
    /// For each rank, whether its answer is there.
    answered: [AtomicU64; MAX_RANKS as usize],
    texts: [Text<MOST>; MAX_RANKS as usize],
}

impl Far {
    /// The reports of all ranks: this one's, and what the others answer.
    pub(crate) fn reports(&self, own: impl Fn() -> String) -> String {
        let link = &self.link;
        let (me, ranks) = (link.rank(), link.num_ranks());
        let asker = Arc::clone(link);
        // A rank that is dead may never take the question.
        let ask = move || {
            for rank in (0..ranks).filter(|rank| *rank != me) {
                asker.store(rank, &asker.shared().answers.asks[me as usize], 1);
            }
        };
        let is_asked = std::thread::Builder::new().name("symm asks".to_owned()).spawn(ask).is_ok();
        let answers = &link.shared().answers;
        let has_answered = |rank: u32| rank == me || answers.answered[rank as usize].load(Ordering::Acquire) != 0;
        let (end, mut is_second) = (Instant::now() + ANSWER_IN, false);
        // Of ranks that ask each other the first one speaks: the others wait for its fault.
        while is_asked && Instant::now() < end && self.heard().is_none() && (is_second || !(0..ranks).all(has_answered))
        {
            is_second |= self.answer(&own).is_some_and(|first| first < me);
            std::thread::sleep(LOOK_EVERY);
        }
        let mut out = String::new();
        for rank in (0..ranks).take(MOST_RANKS) {
            let told = if rank == me { own() } else { answers.texts[rank as usize].get() };
            let told = if has_answered(rank) { told } else { format!("  rank {rank}: has not answered") };
            writeln!(out, "{told}").expect("writing to a String");
        }
        if ranks as usize > MOST_RANKS {
            writeln!(out, "  and {} more ranks", ranks as usize - MOST_RANKS).expect("writing to a String");
        }
        out.truncate(out.trim_end().len());
        out
    }

    /// Answers the ranks that ask; the first of them.
    pub(crate) fn answer(&self, own: impl Fn() -> String) -> Option<u32> {
        let asks = &self.link.shared().answers.asks;
        let asking: Vec<u32> =
            (0..).zip(asks).filter(|(_, ask)| ask.swap(0, Ordering::AcqRel) != 0).map(|ask| ask.0).collect();
        let first = *asking.first()?;
        let text = Text::new();
        text.set(whole_lines(&own()).as_bytes());
        let link = Arc::clone(&self.link);
        // One that is dead by now may never take the answer.
        let tell = move || asking.into_iter().for_each(|rank| link.tell_answer(rank, &text));
        // Whoever asked waits no longer than it says.
        let _ = std::thread::Builder::new().name("symm answers".to_owned()).spawn(tell);
        Some(first)
    }
}

/// As many lines of a text as an answer holds.
fn whole_lines(text: &str) -> &str {
    let fits = text.match_indices('\n').map(|(at, _)| at).chain([text.len()]).take_while(|end| *end <= MOST).last();
    &text[..fits.unwrap_or(0)]
}

impl Link {
    fn tell_answer(&self, rank: u32, text: &Text<MOST>) {
        let (answers, me) = (&self.shared().answers, self.rank() as usize);
        // SAFETY: a text in what is shared, and one of this function's caller.
        unsafe {
            let at = (&raw const answers.texts[me]).cast_mut().cast();
            self.messages.copy_to(rank, at, (&raw const *text).cast(), size_of_val(text));
        }
        self.store(rank, &answers.answered[me], 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_has_whole_lines() {
        let line = "x".repeat(MOST / 2 - 1);
        assert_eq!(whole_lines(""), "");
        assert_eq!(whole_lines(&line), line);
        assert_eq!(whole_lines(&format!("{line}\n{line}\n{line}")), format!("{line}\n{line}"));
        assert_eq!(whole_lines(&"x".repeat(MOST + 1)), "");
    }
}
