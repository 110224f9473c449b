//! What an operation's results depend on: its arguments with tensors' metadata in the place of their ids.

use symm_remote::value::Dtype;
use symm_remote::wire::{Encoder, HEAD};

/// In the place of a value; no value begins with these.
const METADATA: u8 = 255;
const LOCAL: u8 = 254;
const NUMBER: u8 = 253;

/// A key that is made while its arguments are written.
#[derive(Default)]
pub struct Key {
    bytes: Vec<u8>,
    /// Written bytes that are in the key already.
    taken: usize,
    /// Of the operation's numbers only the types count.
    pub by_type: bool,
}

/// Which type a number has.
#[repr(u8)]
#[derive(Clone, Copy)]
pub enum NumberType {
    Int,
    Float,
    Complex,
}

impl Key {
    /// Begins the key of an operation.
    pub fn begin(&mut self, operation: u64, by_type: bool) {
        self.bytes.clear();
        self.bytes.extend_from_slice(&operation.to_le_bytes());
        self.taken = HEAD;
        self.by_type = by_type;
    }

    /// Takes what was written before a value, which is left out.
    fn before(&mut self, to: &Encoder) {
        self.bytes.extend_from_slice(&to.written()[self.taken..]);
    }

    /// Writes a tensor's metadata in the place of what `write` writes.
    pub fn metadata(&mut self, to: &mut Encoder, number: u64, write: impl FnOnce(&mut Encoder)) {
        self.before(to);
        self.bytes.push(METADATA);
        self.bytes.extend_from_slice(&number.to_le_bytes());
        write(to);
        self.taken = to.written().len();
    }

    /// Writes a type in the place of a tensor without dimensions.
    pub fn local(&mut self, to: &mut Encoder, dtype: Dtype, write: impl FnOnce(&mut Encoder)) {
        self.before(to);
        self.bytes.extend_from_slice(&[LOCAL, dtype.row()]);
        write(to);
        self.taken = to.written().len();
    }

    /// Writes a type in the place of a number.
    pub fn kind(&mut self, to: &mut Encoder, kind: NumberType, write: impl FnOnce(&mut Encoder)) {
        self.before(to);
        self.bytes.extend_from_slice(&[NUMBER, kind as u8]);
        write(to);
        self.taken = to.written().len();
    }

    /// The whole key.
    pub fn finish(&mut self, to: &Encoder) -> &[u8] {
        self.before(to);
        self.taken = to.written().len();
        &self.bytes
    }
}
