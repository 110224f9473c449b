//! Operations and verbs: what they take and give.

use crate::error::Malformed;
use crate::value::Value;
use crate::wire::{Decoder, Encoder, TooLarge};

/// What an operation or a verb takes and gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Work {
    /// For the answer, if one is wanted.
    pub reply: Option<u64>,
    /// Where the tensors of the result go.
    pub outputs: Outputs,
    /// Arguments by place.
    pub args: Vec<Value>,
    /// Arguments by name.
    pub kwargs: Vec<(String, Value)>,
}

/// The ids of results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outputs {
    /// One for each tensor, in order; none where the tensor is not kept.
    Ids(Vec<Option<u64>>),
    /// Ids from this one on.
    From(u64),
}

/// What a worker does besides operations.
#[expect(missing_docs, reason = "`python/symm/_worker_verbs.py` says what each does")]
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Seed,
    NewGenerator,
    DropGenerator,
    GeneratorState,
    SetGeneratorState,
    Function,
    Define,
    Launch,
    Join,
    Zeros,
    Barrier,
    Leave,
    Collective,
}

const VERBS: [(Verb, &str); 13] = [
    (Verb::Seed, "seed"),
    (Verb::NewGenerator, "new_generator"),
    (Verb::DropGenerator, "drop_generator"),
    (Verb::GeneratorState, "generator_state"),
    (Verb::SetGeneratorState, "set_generator_state"),
    (Verb::Function, "function"),
    (Verb::Define, "define"),
    (Verb::Launch, "launch"),
    (Verb::Join, "join"),
    (Verb::Zeros, "zeros"),
    (Verb::Barrier, "barrier"),
    (Verb::Leave, "leave"),
    (Verb::Collective, "collective"),
];

impl Verb {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        VERBS[self as usize].1
    }

    pub(super) fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        let verb = VERBS.get(usize::from(from.byte()?));
        verb.map(|(verb, _)| *verb).ok_or(Malformed("a verb of another version"))
    }
}

impl Work {
    pub(super) fn write(&self, to: &mut Encoder) -> Result<(), TooLarge> {
        to.option(self.reply);
        self.outputs.write(to);
        to.count(self.args.len());
        self.args.iter().try_for_each(|value| to.value(value))?;
        to.count(self.kwargs.len());
        for (name, value) in &self.kwargs {
            to.raw(name.as_bytes());
            to.value(value)?;
        }
        Ok(())
    }

    pub(super) fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        Ok(Self { reply: from.option()?, outputs: Outputs::read(from)?, args: from.values()?, kwargs: from.pairs()? })
    }
}

impl Outputs {
    /// Writes them as a part of a [`Work`], after its `reply`.
    pub fn write(&self, to: &mut Encoder) {
        match self {
            Self::Ids(ids) => {
                to.byte(0);
                to.count(ids.len());
                for id in ids {
                    to.option(*id);
                }
            }
            Self::From(first) => {
                to.byte(1);
                to.number(*first);
            }
        }
    }

    fn read(from: &mut Decoder<'_>) -> Result<Self, Malformed> {
        match from.byte()? {
            0 => (0..from.count()?).map(|_| from.option()).collect::<Result<_, _>>().map(Self::Ids),
            1 => Ok(Self::From(from.number()?)),
            _ => Err(Malformed("outputs of another version")),
        }
    }

    /// The id of a result's tensor, from 0.
    #[must_use]
    pub fn id(&self, position: usize) -> Option<u64> {
        match self {
            Self::Ids(ids) => ids.get(position).copied().flatten(),
            Self::From(first) => first.checked_add(position as u64),
        }
    }
}
