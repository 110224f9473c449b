//! Deadlines of waits: what a thread does now and then that has waited long, in PTX. On AMD: `amd_deadline.rs`.
//!
//! It looks whether the record says that a wait has given up, and then at the clock. The first thread whose time is
//! over writes the record; where that is a rank's own, the first of each program's writes into its log, too. A wait
//! whose flag comes soon does none of this.

use super::assembly::compare_as;
use super::words;
use crate::ir::{Builder, signed};
use melior::dialect::arith::CmpiPredicate;
use melior::ir::{Type, Value};
use symm_abi::WORD_BYTES;
use symm_abi::deadline::{
    ADDRESS_WORD, BROKEN, ENTRY_WORDS, EXPECTED_WORD, GOOD, HOST_WORD, LIMIT_WORD, LOG_ENTRIES, LOG_WORD,
    POLLS_OF_A_LOOK, PROGRAM_SHIFTS, PROGRAM_WORD, SEEN_WORD, STATE_WORD, TAG_WORD,
};
use symm_abi::heap::DEADLINE_OFFSET;
use symm_dialect::ops::{HeapBaseParts, RankParts, Scope};

/// The deadline of one op.
#[derive(Clone, Copy)]
pub struct Deadline<'c> {
    pub record: Value<'c, 'c>,
    pub tag: i64,
    /// The op's own limit, in nanoseconds.
    pub limit: Option<i64>,
    /// Whether the record is a rank's own, with a log.
    pub logs: bool,
}

/// What is not as a program waits for it to be: its address, what it waits for and what is there, 64 bits each.
pub struct Awaited<'c> {
    pub address: Value<'c, 'c>,
    pub expected: Value<'c, 'c>,
    pub seen: Value<'c, 'c>,
}

/// The record of the waits of this rank's kernels, on its heap.
pub fn record<'c>(b: &Builder<'c>, ctx: Value<'c, '_>) -> Value<'c, 'c> {
    words::offset(b, heap(b, ctx), b.i64(DEADLINE_OFFSET.cast_signed() / signed(WORD_BYTES)))
}

/// The start of this rank's heap.
pub fn heap<'c>(b: &Builder<'c>, ctx: Value<'c, '_>) -> Value<'c, 'c> {
    let words = Type::parse(b.context, "!tt.ptr<i64>").expect("a type of an unregistered dialect");
    let rank = b.make_value(&RankParts { ctx }, b.int(32));
    b.make_value(&HeapBaseParts { ctx, rank }, words)
}

/// The registers of a thread that looks, by their names in its assembly.
pub struct Looking<'t> {
    pub record: &'t str,
    pub address: &'t str,
    /// Both are 64 bits.
    pub expected: &'t str,
    pub seen: &'t str,
    /// Where it goes on if there is time left.
    pub poll: &'t str,
}

impl Deadline<'_> {
    /// The registers that [`Deadline::look`] needs; `polls` counts the polls.
    pub const REGISTERS: &'static str =
        ".reg .b32 rest;\n.reg .b64 state, start, now, limit, host;\n.reg .pred busy, gone;\n";

    /// What comes after a poll that has found nothing. Ends where a thread gives up.
    pub fn look(&self, names: &Looking) -> String {
        let &Looking { record, address, expected, seen, poll } = names;
        let word = |word: usize| format!("[{record}+{}]", word * WORD_BYTES);
        let tag = self.tag.to_string();
        let mut words =
            vec![(TAG_WORD, tag.as_str()), (ADDRESS_WORD, address), (EXPECTED_WORD, expected), (SEEN_WORD, seen)];
        let (program, log) = if self.logs { (program(), self.log(names)) } else { Default::default() };
        if self.logs {
            words.push((PROGRAM_WORD, "host"));
        }
        let stored = |place, value| format!("st.relaxed.sys.global.b64 {}, {value};\n", word(place));
        let written = words.into_iter().fold(String::new(), |text, (place, value)| text + &stored(place, value));
        let (state, host) = (word(STATE_WORD), word(HOST_WORD));
        let limit = match self.limit {
            Some(nanoseconds) => format!("mov.b64 limit, {nanoseconds}"),
            None => format!("ld.relaxed.sys.global.b64 limit, {}", word(LIMIT_WORD)),
        };
        format!(
            "and.b32 rest, polls, {};\nsetp.ne.u32 busy, rest, 0;\n@busy bra {poll};\n\
             ld.relaxed.sys.global.b64 state, {state};\nsetp.ne.s64 gone, state, {GOOD};\n@gone bra GONE;\n\
             mov.u64 now, %globaltimer;\nsetp.eq.u32 busy, polls, {POLLS_OF_A_LOOK};\n@busy mov.b64 start, now;\n\
             sub.u64 now, now, start;\n{limit};\nsetp.lt.u64 busy, now, limit;\n\
             @busy bra {poll};\n\
             atom.relaxed.sys.global.cas.b64 state, {state}, {GOOD}, {BROKEN};\nsetp.ne.s64 gone, state, {GOOD};\n\
             @gone bra GONE;\nmov.b64 state, {BROKEN};\n{program}{written}\
             GONE:\n{log}ld.relaxed.sys.global.b64 host, {host};\nsetp.ne.s64 busy, host, 0;\n\
             @busy st.release.sys.global.b64 [host], state;\n",
            POLLS_OF_A_LOOK - 1
        )
    }

    /// What a thread does now and then whose program polls with all threads together: `$1` is the record, `$2` to `$4`
    /// a [`Awaited`], `$5` counts the polls, and `$6` is when it began to look at the clock, which `$0` is for the next
    /// time.
    pub fn looks(&self) -> String {
        let names = Looking { record: "$1", address: "$2", expected: "$3", seen: "$4", poll: "POLL" };
        format!(
            "{{\n.reg .b32 polls;\n{}mov.u32 polls, $5;\nmov.b64 start, $6;\n{}POLL:\nmov.b64 $0, start;\n}}",
            Self::REGISTERS,
            self.look(&names)
        )
    }

    /// Writes into the log what a program has waited for, unless it has just begun to, or its entry is taken.
    fn log(&self, names: &Looking) -> String {
        let at = |word: usize| format!("[now+{}]", (LOG_WORD + word) * WORD_BYTES);
        let tag = self.tag.to_string();
        let stored = |value, word| format!("st.relaxed.sys.global.b64 {}, {value};\n", at(word));
        let words = [tag.as_str(), names.address, names.expected, names.seen, "host"].into_iter().zip(1..);
        let written = words.fold(String::new(), |text, (value, word)| text + &stored(value, word));
        format!(
            "setp.le.u32 busy, polls, {POLLS_OF_A_LOOK};\n@busy bra TOLD;\n{}\
             mov.u32 polls, %ctaid.y;\nadd.u32 rest, rest, polls;\n\
             mov.u32 polls, %ctaid.z;\nadd.u32 rest, rest, polls;\n\
             and.b32 rest, rest, {};\nmul.wide.u32 now, rest, {};\nadd.s64 now, now, {};\n\
             atom.relaxed.sys.global.exch.b64 limit, {}, 1;\nsetp.ne.s64 busy, limit, 0;\n@busy bra TOLD;\n\
             {written}TOLD:\n",
            program(),
            LOG_ENTRIES - 1,
            ENTRY_WORDS * WORD_BYTES,
            names.record,
            at(0),
        )
    }

    /// Polls a flag, `$1`, of this many bits until it compares with `$2`, or the record `$3` says that time is over.
    pub fn polls(&self, predicate: CmpiPredicate, bits: u32, scope: Scope, eager_polls: i64) -> String {
        let (scope, registers) = (scope.keyword(), Self::REGISTERS);
        let widened = if bits == 64 { "mov.b64" } else { "cvt.s64.s32" };
        let names = Looking { record: "$3", address: "$1", expected: "wide", seen: "there", poll: "POLL" };
        let look = self.look(&names);
        let compare = compare_as(predicate, bits);
        format!(
            "{{\n.reg .b{bits} found;\n.reg .b32 polls;\n.reg .b64 wide, there;\n{registers}.reg .pred here;\n\
             mov.u32 polls, 0;\nbra LOOK;\n\
             POLL:\nsetp.gt.u32 here, polls, {eager_polls};\n@here nanosleep.u32 64;\n\
             LOOK:\nld.relaxed.{scope}.global.b{bits} found, [$1];\nsetp.{compare} here, found, $2;\n@here bra HERE;\n\
             add.u32 polls, polls, 1;\n{widened} wide, $2;\n{widened} there, found;\n{look}\
             HERE:\nmov.u32 $0, 0;\n}}"
        )
    }
}

/// Leaves the numbers of this program in `host`, and that along x in `rest`.
fn program() -> String {
    let [y, z] = PROGRAM_SHIFTS;
    format!(
        "mov.u32 rest, %ctaid.z;\ncvt.u64.u32 host, rest;\nshl.b64 host, host, {z};\n\
         mov.u32 rest, %ctaid.y;\ncvt.u64.u32 limit, rest;\nshl.b64 limit, limit, {y};\nor.b64 host, host, limit;\n\
         mov.u32 rest, %ctaid.x;\ncvt.u64.u32 limit, rest;\nor.b64 host, host, limit;\n"
    )
}
