//! From a client to a worker.

use super::work::{Verb, Work};
use super::{Key, key, read_failure, write_failure};
use crate::error::{Failure, Malformed};
use crate::value::Dtype;
use crate::wire::{Decoder, Encoder, TooLarge};

/// The kinds of frames.
#[expect(missing_docs, reason = "they are the variants of Request")]
pub mod kind {
    pub const HELLO: u8 = 0;
    pub const OP: u8 = 1;
    pub const CALL: u8 = 2;
    pub const VERB: u8 = 3;
    pub const DROP: u8 = 4;
    pub const UPLOAD: u8 = 5;
    pub const FETCH: u8 = 6;
    pub const META: u8 = 7;
    pub const SYNC: u8 = 8;
    pub const COPY: u8 = 9;
    pub const EXPECT: u8 = 10;
    pub const GIVE: u8 = 11;
    pub const NO_GIFT: u8 = 12;
    pub const BYE: u8 = 13;
}

/// One message to a worker.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// The first one.
    Hello(Hello),
    /// From now on this number stands for this operation.
    Op {
        /// The number: they count from 0.
        index: u32,
        /// Such as `aten::add.Tensor`.
        name: String,
    },
    /// Run an operation.
    Call {
        /// The operation's number.
        op: u32,
        /// Its arguments.
        work: Work,
    },
    /// Do something else than an operation.
    Verb {
        /// What.
        verb: Verb,
        /// Its arguments.
        work: Work,
    },
    /// These tensors are not needed any more.
    Drop(Vec<u64>),
    /// A tensor, whose bytes come next.
    Upload(Announced),
    /// Send a tensor's bytes.
    Fetch {
        /// For the answer.
        request: u64,
        /// The tensor.
        id: u64,
    },
    /// Say what a tensor is.
    Meta {
        /// For the answer.
        request: u64,
        /// The tensor.
        id: u64,
    },
    /// Answer when everything before is done.
    Sync {
        /// For the answer.
        request: u64,
    },
    /// Send a tensor to another worker.
    Copy(Box<Copy>),
    /// Another worker gives this tensor: wait for it.
    Expect {
        /// The new tensor.
        id: u64,
        /// The longest time, in milliseconds.
        milliseconds: u64,
    },
    /// From another worker: a tensor for the session of this connection, whose bytes come next.
    Give(Announced),
    /// From another worker: there will be no such tensor.
    NoGift {
        /// The tensor.
        id: u64,
        /// Why.
        failure: Failure,
    },
    /// The client has finished.
    Bye,
}

/// A tensor whose bytes come next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Announced {
    /// The new tensor.
    pub id: u64,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Its sizes.
    pub shape: Vec<i64>,
}

/// Who connects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hello {
    /// The version of the wire.
    pub version: u32,
    /// The secret that the worker was started with.
    pub token: Option<String>,
    /// The session that tensors are given to, where another worker connects.
    pub gives_to: Option<Key>,
}

/// A tensor's way to another worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The tensor here.
    pub id: u64,
    /// The other worker's address.
    pub address: String,
    /// Its token.
    pub token: Option<String>,
    /// Its certificate (DER).
    pub certificate: Option<Vec<u8>>,
    /// The session there.
    pub session: Key,
    /// The tensor there.
    pub new_id: u64,
    /// The longest wait for the other worker to connect, or to take the next bytes.
    pub milliseconds: u64,
}

impl Request {
    /// Writes the message as a frame.
    ///
    /// # Errors
    /// It is too large.
    pub fn write<'a>(&self, to: &'a mut Encoder) -> Result<&'a [u8], TooLarge> {
        match self {
            Self::Hello(hello) => hello.write(to),
            Self::Op { index, name } => {
                to.begin(kind::OP);
                to.number((*index).into());
                to.raw(name.as_bytes());
            }
            Self::Call { op, work } => {
                to.begin(kind::CALL);
                to.number((*op).into());
                work.write(to)?;
            }
            Self::Verb { verb, work } => {
                to.begin(kind::VERB);
                to.byte(*verb as u8);
                work.write(to)?;
            }
            Self::Drop(ids) => {
                to.begin(kind::DROP);
                to.count(ids.len());
                for id in ids {
                    to.number(*id);
                }
            }
            Self::Upload(tensor) => tensor.write(to, kind::UPLOAD),
            Self::Give(tensor) => tensor.write(to, kind::GIVE),
            Self::Fetch { request, id } => numbers(to, kind::FETCH, &[*request, *id]),
            Self::Meta { request, id } => numbers(to, kind::META, &[*request, *id]),
            Self::Sync { request } => numbers(to, kind::SYNC, &[*request]),
            Self::Copy(copy) => copy.write(to),
            Self::Expect { id, milliseconds } => numbers(to, kind::EXPECT, &[*id, *milliseconds]),
            Self::NoGift { id, failure } => {
                numbers(to, kind::NO_GIFT, &[*id]);
                write_failure(to, failure);
            }
            Self::Bye => to.begin(kind::BYE),
        }
        to.finish()
    }

    /// Reads a frame of this kind.
    ///
    /// # Errors
    /// It is no message.
    pub fn read(frame: u8, body: &[u8]) -> Result<Self, Malformed> {
        let from = &mut Decoder::new(body);
        let request = match frame {
            kind::HELLO => Self::Hello(Hello::read(from)?),
            kind::OP => Self::Op { index: index(from)?, name: from.string()? },
            kind::CALL => Self::Call { op: index(from)?, work: Work::read(from)? },
            kind::VERB => Self::Verb { verb: Verb::read(from)?, work: Work::read(from)? },
            kind::DROP => Self::Drop((0..from.count()?).map(|_| from.number()).collect::<Result<_, _>>()?),
            kind::UPLOAD => Self::Upload(Announced::read(from)?),
            kind::GIVE => Self::Give(Announced::read(from)?),
            kind::FETCH => Self::Fetch { request: from.number()?, id: from.number()? },
            kind::META => Self::Meta { request: from.number()?, id: from.number()? },
            kind::SYNC => Self::Sync { request: from.number()? },
            kind::COPY => Self::Copy(Box::new(Copy::read(from)?)),
            kind::EXPECT => Self::Expect { id: from.number()?, milliseconds: from.number()? },
            kind::NO_GIFT => Self::NoGift { id: from.number()?, failure: read_failure(from)? },
            kind::BYE => Self::Bye,
            _ => return Err(Malformed("a request of another version")),
        };
        from.end()?;
        Ok(request)
    }
}

fn numbers(to: &mut Encoder, kind: u8, numbers: &[u64]) {
    to.begin(kind);
    for number in numbers {
        to.number(*number);
    }
}

fn index(from: &mut Decoder<'_>) -> Result<u32, Malformed> {
    from.number()?.try_into().map_err(|_| Malformed("too large a number"))
}

fn text(from: &mut Decoder<'_>) -> Result<Option<String>, Malformed> {
    Ok(bytes(from)?.map(|text| String::from_utf8_lossy(text).into_owned()))
}

fn bytes<'a>(from: &mut Decoder<'a>) -> Result<Option<&'a [u8]>, Malformed> {
    match from.byte()? {
        0 => Ok(None),
        1 => from.raw().map(Some),
        _ => Err(Malformed("an option that is neither there nor not")),
    }
}

fn write_bytes(to: &mut Encoder, bytes: Option<&[u8]>) {
    to.byte(bytes.is_some().into());
    if let Some(bytes) = bytes {
        to.raw(bytes);
    }
}

impl Announced {
    fn write(&self, to: &mut Encoder, kind: u8) {
        numbers(to, kind, &[self.id]);
        to.byte(self.dtype.row());
        to.sizes(&self.shape);
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(Self { id: from.number()?, dtype: from.dtype()?, shape: from.sizes()? })
    }
}

impl Hello {
    fn write(&self, to: &mut Encoder) {
        to.begin(kind::HELLO);
        to.raw(b"symm");
        to.number(self.version.into());
        write_bytes(to, self.token.as_ref().map(String::as_bytes));
        write_bytes(to, self.gives_to.as_ref().map(<[u8; 16]>::as_slice));
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        if from.raw()? != b"symm" {
            return Err(Malformed("a greeting of something else"));
        }
        let version = index(from)?;
        let token = text(from)?;
        let wrong = Malformed("a key of another length");
        let gives_to = bytes(from)?.map(|key| key.try_into().map_err(|_| wrong)).transpose()?;
        Ok(Self { version, token, gives_to })
    }
}

impl Copy {
    fn write(&self, to: &mut Encoder) {
        numbers(to, kind::COPY, &[self.id]);
        to.raw(self.address.as_bytes());
        write_bytes(to, self.token.as_ref().map(String::as_bytes));
        write_bytes(to, self.certificate.as_deref());
        to.raw(&self.session);
        to.number(self.new_id);
        to.number(self.milliseconds);
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            id: from.number()?,
            address: from.string()?,
            token: text(from)?,
            certificate: bytes(from)?.map(<[u8]>::to_vec),
            session: key(from)?,
            new_id: from.number()?,
            milliseconds: from.number()?,
        })
    }
}
