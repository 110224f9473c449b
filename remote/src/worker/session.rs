//! One client's session: does what the inbox has, in order.

use super::Shared;
use super::inbox::{Inbox, Item};
use super::peers::{Mailbox, Sending};
use super::tensors::{Slot, Tensors};
use crate::error::{Error, Failure};
use crate::executor::{Executor, Produced};
use crate::lock::lock;
use crate::message::{Answer, Copy, Outputs, Request, Verb, Work};
use crate::transport::{Incoming, Reading, Writing};
use crate::value::{Meta, Value};
use crate::wire::Encoder;
use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How many messages are done before other sessions get their turn, and before they are acknowledged.
const TURN: usize = 64;
/// No wait is longer than this, whatever a client says.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

struct Session<'a, E: Executor> {
    shared: &'a Shared<E>,
    mailbox: &'a Mailbox<E::Tensor>,
    inbox: &'a Inbox<E::Tensor>,
    writing: Writing,
    encoder: Encoder,
    ops: Vec<(String, Result<E::Op, Failure>)>,
    tensors: Tensors<E::Tensor>,
    sending: Sending,
    message: u64,
    /// The client hears no more. What it wanted may be done all the same: its goodbye, which may be on its way, says
    /// so.
    unheard: bool,
    failed: Result<(), Error>,
}

/// Serves a client until it goes.
pub fn run<E: Executor>(
    shared: &Arc<Shared<E>>,
    number: u64,
    mailbox: &Arc<Mailbox<E::Tensor>>,
    mut reading: Reading<Incoming>,
    writing: Writing,
) -> Result<(), Error> {
    let inbox = Arc::new(Inbox::default());
    let ended = Arc::new(Mutex::new(Ok(())));
    let executor = thread::Builder::new().name("symm-session".into()).spawn({
        let (shared, mailbox, inbox, ended) = (shared.clone(), mailbox.clone(), inbox.clone(), ended.clone());
        move || {
            let mut session = Session {
                shared: &shared,
                mailbox: &mailbox,
                inbox: &inbox,
                writing,
                encoder: Encoder::default(),
                ops: Vec::new(),
                tensors: Tensors::new(number),
                sending: Sending::default(),
                message: 0,
                unheard: false,
                failed: Ok(()),
            };
            session.work();
            *lock(&ended) = session.failed;
        }
    })?;
    let filled = inbox.fill(&shared.executor, &mut reading);
    let joined = executor.join();
    joined.map_err(|_| Error::Lost("a session of this worker has panicked".into()))?;
    let ended = std::mem::replace(&mut *lock(&ended), Ok(()));
    ended.and(filled)
}

impl<E: Executor> Session<'_, E> {
    fn work(&mut self) {
        let shared = self.shared;
        shared.executor.enter(&mut || {
            while let Some(items) = self.next() {
                if let Err(error) = self.turn(items) {
                    self.failed = Err(error);
                    self.writing.shut();
                    self.inbox.close();
                    break;
                }
            }
            self.tensors.clear();
            self.ops.clear();
            shared.executor.ended(self.tensors.session());
        });
    }

    fn next(&self) -> Option<Vec<Item<E::Tensor>>> {
        let (mut items, inbox) = (None, self.inbox);
        self.shared.executor.outside(&mut || items = inbox.take(TURN));
        items
    }

    fn turn(&mut self, items: Vec<Item<E::Tensor>>) -> Result<(), Error> {
        for item in items {
            self.message += 1;
            self.item(item)?;
        }
        self.answer(&Answer::Ack(self.message))
    }

    fn answer(&mut self, answer: &Answer) -> Result<(), Error> {
        if self.unheard {
            return Ok(());
        }
        let sent = match answer.write(&mut self.encoder) {
            Ok(frame) => self.writing.frames(frame),
            // A result that is too large for a message is its request's failure.
            Err(error) => {
                let failure = Failure::new("RuntimeError", format!("the result: {error}"));
                let Answer::Reply { request, .. } = answer else { return Err(Error::Refused(error.to_string())) };
                let answer = Answer::Error { request: *request, failure };
                let frame = answer.write(&mut self.encoder).map_err(|error| Error::Refused(error.to_string()))?;
                self.writing.frames(frame)
            }
        };
        self.heard(sent)
    }

    fn heard(&mut self, sent: io::Result<()>) -> Result<(), Error> {
        match sent {
            Err(error) if matches!(error.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => {
                self.unheard = true;
                Ok(())
            }
            sent => Ok(sent?),
        }
    }

    fn item(&mut self, item: Item<E::Tensor>) -> Result<(), Error> {
        let request = match item {
            Item::Arrived(id, tensor) => {
                let tensor = tensor.and_then(|tensor| self.shared.executor.received(tensor));
                return self.keep(id, tensor);
            }
            Item::Request(request) => request,
        };
        match request {
            Request::Op { index, name } => self.op(index, name),
            Request::Call { op, work } => self.call(op, &work),
            Request::Verb { verb, work } => self.verb(verb, &work),
            Request::Drop(ids) => {
                for id in ids {
                    self.tensors.remove(id);
                }
                Ok(())
            }
            Request::Fetch { request, id } => self.fetch(request, id),
            Request::Meta { request, id } => self.meta(request, id),
            Request::Sync { request } => {
                let done = self.shared.executor.synchronize();
                self.reply(request, done.map(|()| Value::None))
            }
            Request::Copy(copy) => self.copy(&copy),
            Request::Expect { id, milliseconds } => self.receive(id, milliseconds),
            Request::Hello(_) | Request::Upload(_) | Request::Give(_) | Request::NoGift { .. } | Request::Bye => {
                Err(crate::error::Malformed("a request in the wrong place").into())
            }
        }
    }

    fn op(&mut self, index: u32, name: String) -> Result<(), Error> {
        if index as usize != self.ops.len() || index > 1 << 16 {
            return Err(crate::error::Malformed("operations out of order").into());
        }
        let found = self.shared.executor.resolve(&name);
        self.ops.push((name, found));
        Ok(())
    }

    fn call(&mut self, op: u32, work: &Work) -> Result<(), Error> {
        if let Some(poison) = self.poison(work) {
            return self.poisoned(work, poison);
        }
        let Some((name, op)) = self.ops.get(op as usize) else {
            return Err(crate::error::Malformed("an operation without a name").into());
        };
        let produced = match op {
            Ok(op) => self
                .shared
                .executor
                .call(op, &work.args, &work.kwargs, &self.tensors, work.reply.is_some())
                .and_then(|produced| counted(name, work, produced)),
            Err(failure) => Err(failure.clone()),
        };
        self.produced(work, produced)
    }

    fn verb(&mut self, verb: Verb, work: &Work) -> Result<(), Error> {
        if let Some(poison) = self.poison(work) {
            return self.poisoned(work, poison);
        }
        let produced = self.shared.executor.verb(verb, &work.args, &work.kwargs, &self.tensors);
        self.produced(work, produced)
    }

    fn produced(&mut self, work: &Work, produced: Result<Produced<E::Tensor>, Failure>) -> Result<(), Error> {
        match produced {
            Ok(mut produced) => {
                let Some(request) = work.reply else {
                    self.put(&work.outputs, produced.tensors);
                    return Ok(());
                };
                number(&mut produced.value, &work.outputs);
                let answer = Answer::Reply { request, value: produced.value };
                // A client never drops a tensor that it does not know of.
                if answer.write(&mut self.encoder).is_ok() {
                    self.put(&work.outputs, produced.tensors);
                }
                self.answer(&answer)
            }
            Err(failure) => {
                self.poison_outputs(&work.outputs, self.message);
                match work.reply {
                    Some(request) => self.answer(&Answer::Error { request, failure }),
                    None => self.answer(&Answer::Failed { message: self.message, failure }),
                }
            }
        }
    }

    fn put(&mut self, outputs: &Outputs, tensors: Vec<Option<E::Tensor>>) {
        for (position, tensor) in tensors.into_iter().enumerate() {
            if let (Some(id), Some(tensor)) = (outputs.id(position), tensor) {
                self.tensors.put(id, Slot::Tensor(tensor));
            }
        }
    }

    /// The message that failed to make one of these arguments.
    fn poison(&self, work: &Work) -> Option<u64> {
        let named = work.kwargs.iter().map(|(_, value)| value);
        work.args.iter().chain(named).find_map(|value| self.poison_of(value))
    }

    fn poison_of(&self, value: &Value) -> Option<u64> {
        match value {
            Value::Tensor(id) => self.tensors.poison(*id),
            Value::List(values) | Value::Tuple(values) => values.iter().find_map(|value| self.poison_of(value)),
            Value::Dict(values) => values.iter().find_map(|(_, value)| self.poison_of(value)),
            _ => None,
        }
    }

    fn poisoned(&mut self, work: &Work, message: u64) -> Result<(), Error> {
        self.poison_outputs(&work.outputs, message);
        match work.reply {
            Some(request) => self.answer(&Answer::Poisoned { request, message }),
            None => Ok(()),
        }
    }

    fn poison_outputs(&mut self, outputs: &Outputs, message: u64) {
        if let Outputs::Ids(ids) = outputs {
            for id in ids.iter().flatten() {
                self.tensors.put(*id, Slot::Poisoned(message));
            }
        }
    }

    fn keep(&mut self, id: u64, tensor: Result<E::Tensor, Failure>) -> Result<(), Error> {
        match tensor {
            Ok(tensor) => {
                self.tensors.put(id, Slot::Tensor(tensor));
                Ok(())
            }
            Err(failure) => {
                self.tensors.put(id, Slot::Poisoned(self.message));
                self.answer(&Answer::Failed { message: self.message, failure })
            }
        }
    }

    fn reply(&mut self, request: u64, value: Result<Value, Failure>) -> Result<(), Error> {
        match value {
            Ok(value) => self.answer(&Answer::Reply { request, value }),
            Err(failure) => self.answer(&Answer::Error { request, failure }),
        }
    }

    fn meta(&mut self, request: u64, id: u64) -> Result<(), Error> {
        if let Some(message) = self.tensors.poison(id) {
            return self.answer(&Answer::Poisoned { request, message });
        }
        let meta = self.tensors.tensor(id).and_then(|tensor| self.shared.executor.meta(tensor));
        self.reply(request, meta.map(|meta| Value::Meta(Meta { id: Some(id), ..meta })))
    }

    fn fetch(&mut self, request: u64, id: u64) -> Result<(), Error> {
        if let Some(message) = self.tensors.poison(id) {
            return self.answer(&Answer::Poisoned { request, message });
        }
        let (meta, memory) = match self.tensors.tensor(id).and_then(|tensor| self.shared.executor.bytes(tensor)) {
            Ok(staged) => staged,
            Err(failure) => return self.answer(&Answer::Error { request, failure }),
        };
        let announced = Answer::Tensor { request, dtype: meta.dtype, shape: meta.shape };
        if let Err(error) = announced.write(&mut self.encoder) {
            let failure = Failure::new("RuntimeError", format!("the tensor: {error}"));
            return self.answer(&Answer::Error { request, failure });
        }
        self.answer(&announced)?;
        if self.unheard {
            return Ok(());
        }
        let (mut sent, bytes, writing) = (Ok(()), memory.bytes(), &mut self.writing);
        self.shared.executor.outside(&mut || sent = writing.data(bytes, |_| ()));
        self.heard(sent)
    }

    fn copy(&mut self, copy: &Copy) -> Result<(), Error> {
        let poison = self.tensors.poison(copy.id);
        let tensor = match poison {
            Some(_) => Err(Failure::new("RuntimeError", "the operation that makes the source of this copy has failed")),
            None => self.tensors.tensor(copy.id).and_then(|tensor| self.shared.executor.bytes(tensor)),
        };
        let (mut sent, sending) = (Ok(()), &mut self.sending);
        self.shared.executor.outside(&mut || sent = sending.send(copy, &tensor));
        // What poisons the source has been reported.
        let failed = sent.and(tensor.map(|_| ()));
        match failed {
            Err(failure) if poison.is_none() => self.answer(&Answer::Failed { message: self.message, failure }),
            _ => Ok(()),
        }
    }

    fn receive(&mut self, id: u64, milliseconds: u64) -> Result<(), Error> {
        let until = Instant::now() + Duration::from_millis(milliseconds).min(LONGEST_WAIT);
        let (mut tensor, mailbox, inbox) = (None, self.mailbox, self.inbox);
        let shared = self.shared;
        shared.executor.outside(&mut || tensor = Some(mailbox.take(id, until, || inbox.is_abandoned())));
        let nothing = || Err(Failure::new("RuntimeError", "nothing has come"));
        let tensor = tensor.unwrap_or_else(nothing).and_then(|tensor| shared.executor.received(tensor));
        self.keep(id, tensor)
    }
}

/// An operation that has no answer has as many results as its client thinks.
fn counted<T>(name: &str, work: &Work, produced: Produced<T>) -> Result<Produced<T>, Failure> {
    let Outputs::Ids(ids) = &work.outputs else { return Ok(produced) };
    let right =
        if work.reply.is_some() { ids.len() >= produced.tensors.len() } else { ids.len() == produced.tensors.len() };
    if ids.is_empty() || right {
        return Ok(produced);
    }
    let (found, wanted) = (produced.tensors.len(), ids.len());
    Err(Failure::new("RuntimeError", format!("{name} gave {found} tensors, and its caller expects {wanted}")))
}

/// Puts ids in the place of positions.
fn number(value: &mut Value, outputs: &Outputs) {
    match value {
        Value::Meta(meta) => {
            let position = meta.id.and_then(|position| usize::try_from(position).ok());
            meta.id = position.and_then(|position| outputs.id(position));
        }
        Value::List(values) | Value::Tuple(values) => values.iter_mut().for_each(|value| number(value, outputs)),
        Value::Dict(values) => values.iter_mut().for_each(|(_, value)| number(value, outputs)),
        _ => {}
    }
}
