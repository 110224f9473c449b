//! A client's link to a worker. Messages are queued and sent by a thread; another one takes the answers.

mod greet;
mod queue;
mod receive;

pub use greet::Endpoint;
pub(crate) use greet::greet;
pub use receive::Outcome;

use crate::error::{Error, Failure};
use crate::lock::lock;
use crate::memory::Memory;
use crate::message::{DATA, Request, Welcome};
use crate::socket::Socket;
use crate::transport::{Incoming, Reading, Writing};
use crate::wire::Encoder;
use queue::{Part, Queue, Sent};
use receive::Answers;
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The largest tensor, in bytes, that is copied to the queue.
const SMALL: usize = 1 << 16;

/// A link to a worker. The worker handles queued messages in order.
pub struct Client {
    socket: Arc<Socket>,
    queue: Arc<Queue>,
    answers: Arc<Answers>,
    endpoint: Endpoint,
    welcome: Welcome,
    process: u32,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// How far an upload has come.
pub struct Upload(Arc<Sent>);

impl Client {
    /// Connects to a worker.
    ///
    /// # Errors
    /// The worker cannot be reached in time, refuses the connection, or is not trusted.
    pub fn connect(endpoint: Endpoint, within: Duration) -> Result<Self, Error> {
        let (socket, reading, writing, welcome) = greet(&endpoint, None, within)?;
        socket.set_timeouts(None, None)?;
        let (queue, answers) = (Arc::new(Queue::default()), Arc::new(Answers::default()));
        let sender = thread::Builder::new().name("symm-link-send".into()).spawn({
            let (queue, answers) = (queue.clone(), answers.clone());
            move || send(&queue, &answers, writing)
        })?;
        let receiver = thread::Builder::new().name("symm-link-recv".into()).spawn({
            let (queue, answers) = (queue.clone(), answers.clone());
            move || receive(&queue, &answers, reading)
        })?;
        let threads = Mutex::new(vec![sender, receiver]);
        Ok(Self { socket, queue, answers, endpoint, welcome, process: process::id(), threads })
    }

    /// Who the worker is.
    #[must_use]
    pub fn welcome(&self) -> &Welcome {
        &self.welcome
    }

    /// How the worker is reached.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Queues a message, a whole frame, and gives its place in the order, from 1.
    ///
    /// # Errors
    /// The worker is lost.
    pub fn queue(&self, frame: &[u8]) -> Result<u64, Error> {
        self.usable()?;
        Ok(self.queue.push(|part| part.extend_from_slice(frame), 1, frame.len()))
    }

    /// Queues a message.
    ///
    /// # Errors
    /// The worker is lost, or the message is too large.
    pub fn request(&self, request: &Request) -> Result<u64, Error> {
        let mut encoder = Encoder::default();
        let frame = request.write(&mut encoder).map_err(|error| Error::Refused(error.to_string()))?;
        self.queue(frame)
    }

    /// Queues a tensor's bytes after the [`Request::Upload`] that announces them.
    ///
    /// # Errors
    /// The worker is lost.
    pub fn upload(&self, announced: &Request, memory: Memory) -> Result<Upload, Error> {
        self.request(announced)?;
        let bytes = memory.bytes();
        let sent = Arc::new(Sent { bytes: AtomicUsize::new(0), total: bytes.len() });
        if bytes.len() <= SMALL {
            if !bytes.is_empty() {
                let [a, b, c, d] = u32::try_from(bytes.len()).unwrap_or_default().to_le_bytes();
                let write = |part: &mut Vec<u8>| {
                    part.extend_from_slice(&[a, b, c, d, DATA]);
                    part.extend_from_slice(bytes);
                };
                self.queue.push(write, 0, bytes.len());
            }
            sent.bytes.store(bytes.len(), Ordering::Release);
            return Ok(Upload(sent));
        }
        self.queue.push_part(Part::Upload(memory, sent.clone()));
        Ok(Upload(sent))
    }

    /// Waits until an upload's bytes have all been read, or until then.
    pub fn await_upload(&self, upload: &Upload, until: Instant) {
        self.queue.await_part(until, || upload.done());
    }

    /// Sends what is queued, now.
    pub fn flush(&self) {
        self.queue.hurry();
    }

    /// Whether a message can be queued without waiting for memory.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.queue.has_room()
    }

    /// Waits until there is room, or until then.
    pub fn await_room(&self, until: Instant) {
        self.queue.await_room(until);
    }

    /// A number for a request whose answer will be waited for; a tensor's bytes go to `memory`.
    #[must_use]
    pub fn expect(&self, memory: Option<Memory>) -> u64 {
        self.answers.expect(memory)
    }

    /// Waits for an answer until then.
    #[must_use]
    pub fn wait(&self, request: u64, until: Instant) -> Option<Outcome> {
        self.answers.wait(request, until)
    }

    /// The bytes of the answer's tensor that have come.
    #[must_use]
    pub fn received(&self, request: u64) -> usize {
        self.answers.received(request)
    }

    /// Drops the request: its answer is no longer needed.
    pub fn forget(&self, request: u64) {
        self.answers.forget(request);
    }

    /// The last message that is done, with all before it.
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.answers.acknowledged()
    }

    /// Whether operations have failed that [`Client::failures`] has not given yet.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.answers.has_failures()
    }

    /// The operations that have failed since the last call: each message's place in the order.
    #[must_use]
    pub fn failures(&self) -> Vec<(u64, Failure)> {
        self.answers.failures()
    }

    /// Why the worker is lost, if it is.
    #[must_use]
    pub fn lost(&self) -> Option<String> {
        if process::id() != self.process {
            return Some("this process was forked from the one that has the link: connect again".into());
        }
        self.answers.lost()
    }

    fn usable(&self) -> Result<(), Error> {
        if self.answers.is_lost() || process::id() != self.process {
            return Err(Error::Lost(self.lost().unwrap_or_default()));
        }
        Ok(())
    }

    /// Says goodbye and ends the connection; what is queued is still sent, within this time.
    pub fn close(&self, within: Duration) {
        // After a fork, the socket and its threads belong to the parent.
        if process::id() != self.process {
            return;
        }
        let threads = std::mem::take(&mut *lock(&self.threads));
        if threads.is_empty() {
            return;
        }
        let _ = self.request(&Request::Bye);
        self.queue.close();
        self.queue.await_end(Instant::now() + within);
        self.answers.lose("the link is closed");
        self.socket.shut();
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.close(Duration::from_millis(500));
    }
}

impl Upload {
    /// Bytes that have been read.
    #[must_use]
    pub fn sent(&self) -> usize {
        self.0.bytes.load(Ordering::Acquire)
    }

    /// Whether all bytes have been read.
    #[must_use]
    pub fn done(&self) -> bool {
        self.sent() >= self.0.total && Arc::strong_count(&self.0) == 1
    }
}

fn send(queue: &Queue, answers: &Answers, mut writing: Writing) {
    while let Some(parts) = queue.take() {
        for part in parts {
            let written = match &part {
                Part::Frames(frames) => writing.frames(frames),
                Part::Upload(memory, sent) => {
                    writing.data(memory.bytes(), |done| sent.bytes.store(done, Ordering::Release))
                }
            };
            if let Err(error) = written {
                answers.lose(&ended(&error));
                writing.shut();
                queue.close();
                break;
            }
            let is_upload = matches!(part, Part::Upload(..));
            drop(part);
            if is_upload {
                queue.part_done();
            }
        }
    }
    queue.ended();
}

fn receive(queue: &Queue, answers: &Answers, mut reading: Reading<Incoming>) {
    let reason = match answers.take_all(&mut reading) {
        Ok(()) => "it ended the connection: its output says why".into(),
        Err(Error::Io(error)) => ended(&error),
        Err(error) => error.to_string(),
    };
    answers.lose(&reason);
    queue.close();
}

/// If a worker dies while data is in flight to it, the connection is reset.
fn ended(error: &impl std::fmt::Display) -> String {
    format!("the connection ended ({error}): if it has died, its output says why")
}
