//! The output of started processes, forwarded in whole lines, so that those of several ranks do not mix.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};

use crate::error::Error;

/// Most bytes that are read at once.
const PIECE: usize = 64 << 10;
/// The capacity of a pipe, unless an administrator allows more: what may be left to read when a process has ended.
const PIPE: usize = 1 << 20;

/// The outputs of all processes.
pub(super) struct Outputs {
    threads: Vec<JoinHandle<io::Result<()>>>,
    /// Readable once nothing waits for more output.
    over: Arc<OwnedFd>,
    /// Each thread holds a sender and sends nothing; dropping it says that the thread is done.
    done: (Sender<()>, Receiver<()>),
}

impl Outputs {
    pub(super) fn new() -> Result<Self, Error> {
        let over = eventfd(0, EventfdFlags::CLOEXEC).map_err(Error::system("forward the ranks' output"))?;
        Ok(Self { threads: Vec::new(), over: Arc::new(over), done: channel() })
    }

    pub(super) fn forward(
        &mut self,
        from: impl Read + AsFd + Send + 'static,
        to: impl Write + Send + 'static,
    ) -> Result<(), Error> {
        let (over, done) = (Arc::clone(&self.over), self.done.0.clone());
        let copy = move || {
            let copied = copy(from, to, &over);
            drop(done);
            copied
        };
        let thread = thread::Builder::new().spawn(copy);
        self.threads.push(thread.map_err(Error::io("start a thread that forwards a rank's output"))?);
        Ok(())
    }

    /// Called when the processes have ended: whether all of their output was forwarded. Their children that keep a pipe
    /// open get this much time.
    pub(super) fn finish(self, grace: Duration) -> io::Result<()> {
        let (sender, done) = self.done;
        drop(sender);
        if done.recv_timeout(grace) == Err(RecvTimeoutError::Timeout) {
            rustix::io::write(&self.over, &1_u64.to_ne_bytes())?;
        }
        // The threads never panic.
        self.threads.into_iter().try_for_each(|thread| thread.join().unwrap_or(Ok(())))
    }
}

fn copy(mut from: impl Read + AsFd, mut to: impl Write, over: impl AsFd) -> io::Result<()> {
    let (mut piece, mut lines, mut rest) = (vec![0; PIECE], Vec::new(), PIPE);
    let mut copied = Ok(());
    loop {
        let (fd, stop) = (PollFd::new(&from, PollFlags::IN), PollFd::new(&over, PollFlags::IN));
        let mut ready = [fd, stop];
        if poll(&mut ready, None).is_err() {
            continue;
        }
        let [some, is_over] = ready.map(|fd| !fd.revents().is_empty());
        if is_over && (!some || rest == 0) {
            break;
        }
        match from.read(&mut piece) {
            Ok(0) => break,
            Ok(bytes) => {
                let piece = &piece[..bytes];
                let whole = piece.iter().rposition(|byte| *byte == b'\n').map(|at| lines.len() + at + 1);
                lines.extend_from_slice(piece);
                if let Some(whole) = whole {
                    // If our output is closed, the ranks go on; the error is reported at the end.
                    copied = copied.and_then(|()| to.write_all(&lines[..whole]).and_then(|()| to.flush()));
                    lines.drain(..whole);
                }
                rest = if is_over { rest.saturating_sub(bytes) } else { rest };
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    copied.and_then(|()| to.write_all(&lines).and_then(|()| to.flush()))
}
