//! From a worker to a client.

use super::{Key, key, read_failure, write_failure};
use crate::error::{Failure, Malformed};
use crate::value::{Dtype, Value};
use crate::wire::{Decoder, Encoder, TooLarge};

const WELCOME: u8 = 0;
const REFUSED: u8 = 1;
const ACK: u8 = 2;
const FAILED: u8 = 3;
const REPLY: u8 = 4;
const ERROR: u8 = 5;
const POISONED: u8 = 6;
const TENSOR: u8 = 7;

/// One message from a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The greeting is accepted.
    Welcome(Box<Welcome>),
    /// The greeting is not accepted; the connection ends.
    Refused(String),
    /// Everything up to this message is done; they count from 1.
    Ack(u64),
    /// The operation of this message has failed.
    Failed {
        /// The message's place in the order.
        message: u64,
        /// What it raised.
        failure: Failure,
    },
    /// What a request asked for.
    Reply {
        /// The request's number.
        request: u64,
        /// The value.
        value: Value,
    },
    /// A request has failed itself.
    Error {
        /// The request's number.
        request: u64,
        /// What it raised.
        failure: Failure,
    },
    /// A request reads what an earlier operation should have made.
    Poisoned {
        /// The request's number.
        request: u64,
        /// The message that failed.
        message: u64,
    },
    /// A tensor, whose bytes come next.
    Tensor {
        /// The request's number.
        request: u64,
        /// The type of its elements.
        dtype: Dtype,
        /// Its sizes.
        shape: Vec<i64>,
    },
}

/// Who the worker is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Welcome {
    /// The session's key.
    pub session: Key,
    /// Its process.
    pub pid: u64,
    /// Its device, such as `cuda:0`.
    pub device: String,
    /// The name of its host.
    pub host: String,
    /// The version of what runs its operations.
    pub torch: String,
    /// Its rank and the number of ranks, if it was started as one.
    pub rank: Option<(u64, u64)>,
}

impl Answer {
    /// Writes the message as a frame.
    ///
    /// # Errors
    /// It is too large.
    pub fn write<'a>(&self, to: &'a mut Encoder) -> Result<&'a [u8], TooLarge> {
        match self {
            Self::Welcome(welcome) => welcome.write(to),
            Self::Refused(text) => {
                to.begin(REFUSED);
                to.raw(text.as_bytes());
            }
            Self::Ack(message) => {
                to.begin(ACK);
                to.number(*message);
            }
            Self::Failed { message, failure } => {
                to.begin(FAILED);
                to.number(*message);
                write_failure(to, failure);
            }
            Self::Reply { request, value } => {
                to.begin(REPLY);
                to.number(*request);
                to.value(value)?;
            }
            Self::Error { request, failure } => {
                to.begin(ERROR);
                to.number(*request);
                write_failure(to, failure);
            }
            Self::Poisoned { request, message } => {
                to.begin(POISONED);
                to.number(*request);
                to.number(*message);
            }
            Self::Tensor { request, dtype, shape } => {
                to.begin(TENSOR);
                to.number(*request);
                to.byte(dtype.row());
                to.sizes(shape);
            }
        }
        to.finish()
    }

    /// Reads a frame of this kind.
    ///
    /// # Errors
    /// It is no message.
    pub fn read(frame: u8, body: &[u8]) -> Result<Self, Malformed> {
        let from = &mut Decoder::new(body);
        let answer = match frame {
            WELCOME => Self::Welcome(Box::new(Welcome::read(from)?)),
            REFUSED => Self::Refused(from.string()?),
            ACK => Self::Ack(from.number()?),
            FAILED => Self::Failed { message: from.number()?, failure: read_failure(from)? },
            REPLY => Self::Reply { request: from.number()?, value: from.value()? },
            ERROR => Self::Error { request: from.number()?, failure: read_failure(from)? },
            POISONED => Self::Poisoned { request: from.number()?, message: from.number()? },
            TENSOR => Self::Tensor { request: from.number()?, dtype: from.dtype()?, shape: from.sizes()? },
            _ => return Err(Malformed("an answer of another version")),
        };
        from.end()?;
        Ok(answer)
    }
}

impl Welcome {
    fn write(&self, to: &mut Encoder) {
        to.begin(WELCOME);
        to.raw(&self.session);
        to.number(self.pid);
        for text in [&self.device, &self.host, &self.torch] {
            to.raw(text.as_bytes());
        }
        to.option(self.rank.map(|(rank, _)| rank));
        to.number(self.rank.map_or(0, |(_, count)| count));
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let (session, pid) = (key(from)?, from.number()?);
        let (device, host, torch) = (from.string()?, from.string()?, from.string()?);
        let (rank, count) = (from.option()?, from.number()?);
        Ok(Self { session, pid, device, host, torch, rank: rank.map(|rank| (rank, count)) })
    }
}
