//! Writes messages.

use super::{HEAD, MOST_BYTES, MOST_DEPTH, MOST_DIMENSIONS, MOST_VALUES, Tag};
use crate::value::{Dtype, Meta, Value};
use thiserror::Error;

/// More than a message may hold.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error(
    "too much for one operation: at most {MOST_VALUES} values, {MOST_BYTES} bytes, {MOST_DEPTH} lists in one another \
     and {MOST_DIMENSIONS} dimensions"
)]
pub struct TooLarge;

/// One message, value by value.
#[derive(Default)]
pub struct Encoder {
    bytes: Vec<u8>,
    values: u32,
    depth: u32,
}

impl Encoder {
    /// Begins a message of this kind; the memory of the last one is used again.
    pub fn begin(&mut self, kind: u8) {
        self.bytes.clear();
        self.values = 0;
        self.depth = 0;
        self.bytes.extend_from_slice(&[0, 0, 0, 0, kind]);
    }

    /// The whole frame.
    ///
    /// # Errors
    /// The message is too large.
    pub fn finish(&mut self) -> Result<&[u8], TooLarge> {
        let length = self.bytes.len() - HEAD;
        if length > MOST_BYTES || self.values > MOST_VALUES {
            return Err(TooLarge);
        }
        let length = u32::try_from(length).map_err(|_| TooLarge)?;
        self.bytes[..4].copy_from_slice(&length.to_le_bytes());
        Ok(&self.bytes)
    }

    /// What has been written, with the frame's head.
    #[must_use]
    pub fn written(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds what another one has, without its head.
    pub fn append(&mut self, other: &Self) {
        self.bytes.extend_from_slice(&other.bytes[HEAD..]);
        self.values += other.values;
    }

    fn tag(&mut self, tag: Tag) {
        self.values += 1;
        self.bytes.push(tag as u8);
    }

    /// A byte without a tag.
    pub fn byte(&mut self, byte: u8) {
        self.bytes.push(byte);
    }

    /// A number without a tag, seven bits a byte.
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number.to_le_bytes()[0] | 0x80);
            number >>= 7;
        }
        self.bytes.push(number.to_le_bytes()[0]);
    }

    /// A count without a tag.
    pub fn count(&mut self, count: usize) {
        if count > MOST_VALUES as usize {
            self.refuse();
        }
        self.number(count as u64);
    }

    /// Has [`Encoder::finish`] fail: nobody would read this.
    fn refuse(&mut self) {
        self.values = MOST_VALUES + 1;
    }

    /// A signed number without a tag.
    pub fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)).cast_unsigned());
    }

    /// A number or none, without a tag.
    pub fn option(&mut self, number: Option<u64>) {
        match number {
            None => self.byte(0),
            Some(number) => {
                self.byte(1);
                self.number(number);
            }
        }
    }

    /// Bytes without a tag.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        // What is too long is refused at the end, and need not be copied.
        if bytes.len() <= MOST_BYTES {
            self.bytes.extend_from_slice(bytes);
        } else {
            self.refuse();
        }
    }

    /// Sizes without a tag.
    pub fn sizes(&mut self, sizes: &[i64]) {
        if sizes.len() > MOST_DIMENSIONS {
            self.refuse();
        }
        self.count(sizes.len());
        for size in sizes {
            self.signed(*size);
        }
    }

    /// [`Value::None`].
    pub fn none(&mut self) {
        self.tag(Tag::None);
    }

    /// [`Value::Bool`].
    pub fn bool(&mut self, value: bool) {
        self.tag(if value { Tag::True } else { Tag::False });
    }

    /// [`Value::Int`].
    pub fn int(&mut self, value: i64) {
        self.tag(Tag::Int);
        self.signed(value);
    }

    /// [`Value::Unsigned`].
    pub fn unsigned(&mut self, value: u64) {
        self.tag(Tag::Unsigned);
        self.number(value);
    }

    /// [`Value::Float`].
    pub fn float(&mut self, value: f64) {
        self.tag(Tag::Float);
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// [`Value::Complex`].
    pub fn complex(&mut self, real: f64, imaginary: f64) {
        self.tag(Tag::Complex);
        self.bytes.extend_from_slice(&real.to_le_bytes());
        self.bytes.extend_from_slice(&imaginary.to_le_bytes());
    }

    /// [`Value::Text`].
    pub fn text(&mut self, value: &str) {
        self.tag(Tag::Text);
        self.raw(value.as_bytes());
    }

    /// [`Value::Bytes`].
    pub fn bytes(&mut self, value: &[u8]) {
        self.tag(Tag::Bytes);
        self.raw(value);
    }

    /// [`Value::Dtype`].
    pub fn dtype(&mut self, value: Dtype) {
        self.tag(Tag::Dtype);
        self.byte(value.row());
    }

    /// [`Value::Layout`].
    pub fn layout(&mut self, value: u8) {
        self.tag(Tag::Layout);
        self.byte(value);
    }

    /// [`Value::MemoryFormat`].
    pub fn memory_format(&mut self, value: u8) {
        self.tag(Tag::MemoryFormat);
        self.byte(value);
    }

    /// [`Value::Device`].
    pub fn device(&mut self) {
        self.tag(Tag::Device);
    }

    /// [`Value::Tensor`].
    pub fn tensor(&mut self, id: u64) {
        self.tag(Tag::Tensor);
        self.number(id);
    }

    /// [`Value::Generator`].
    pub fn generator(&mut self, id: u64) {
        self.tag(Tag::Generator);
        self.number(id);
    }

    /// [`Value::Scalar`].
    pub fn scalar(&mut self, dtype: Dtype, bytes: &[u8]) {
        self.tag(Tag::Scalar);
        self.byte(dtype.row());
        self.bytes.extend_from_slice(bytes);
    }

    /// [`Value::Context`].
    pub fn context(&mut self) {
        self.tag(Tag::Context);
    }

    /// [`Value::Meta`].
    pub fn meta(&mut self, meta: &Meta) {
        self.tag(Tag::Meta);
        self.option(meta.id);
        self.byte(meta.dtype.row());
        self.sizes(&meta.shape);
        self.sizes(&meta.strides);
        self.signed(meta.offset);
    }

    /// Begins a [`Value::List`] of this many values, which come next; then [`Encoder::close`].
    ///
    /// # Errors
    /// Too many lists in one another.
    pub fn list(&mut self, length: usize) -> Result<(), TooLarge> {
        self.open(Tag::List, length)
    }

    /// Begins a [`Value::Tuple`] as [`Encoder::list`].
    ///
    /// # Errors
    /// Too many lists in one another.
    pub fn tuple(&mut self, length: usize) -> Result<(), TooLarge> {
        self.open(Tag::Tuple, length)
    }

    /// Begins a [`Value::Dict`] as [`Encoder::list`]: each key ([`Encoder::raw`]) with its value.
    ///
    /// # Errors
    /// Too many lists in one another.
    pub fn dict(&mut self, length: usize) -> Result<(), TooLarge> {
        self.open(Tag::Dict, length)
    }

    fn open(&mut self, tag: Tag, length: usize) -> Result<(), TooLarge> {
        self.tag(tag);
        self.count(length);
        self.depth += 1;
        if self.depth > MOST_DEPTH || length > MOST_VALUES as usize { Err(TooLarge) } else { Ok(()) }
    }

    /// Ends a list.
    pub fn close(&mut self) {
        self.depth -= 1;
    }

    /// Any value.
    ///
    /// # Errors
    /// Too many lists in one another.
    pub fn value(&mut self, value: &Value) -> Result<(), TooLarge> {
        match value {
            Value::None => self.none(),
            Value::Bool(value) => self.bool(*value),
            Value::Int(value) => self.int(*value),
            Value::Unsigned(value) => self.unsigned(*value),
            Value::Float(value) => self.float(*value),
            Value::Complex(real, imaginary) => self.complex(*real, *imaginary),
            Value::Text(value) => self.text(value),
            Value::Bytes(value) => self.bytes(value),
            Value::Dtype(value) => self.dtype(*value),
            Value::Layout(value) => self.layout(*value),
            Value::MemoryFormat(value) => self.memory_format(*value),
            Value::Device => self.device(),
            Value::Tensor(id) => self.tensor(*id),
            Value::Generator(id) => self.generator(*id),
            Value::Scalar(dtype, bytes) => self.scalar(*dtype, bytes),
            Value::Context => self.context(),
            Value::Meta(meta) => self.meta(meta),
            Value::List(values) => {
                self.list(values.len())?;
                values.iter().try_for_each(|value| self.value(value))?;
                self.close();
            }
            Value::Tuple(values) => {
                self.tuple(values.len())?;
                values.iter().try_for_each(|value| self.value(value))?;
                self.close();
            }
            Value::Dict(values) => {
                self.dict(values.len())?;
                for (key, value) in values {
                    self.raw(key.as_bytes());
                    self.value(value)?;
                }
                self.close();
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_are_appended_are_as_written_at_once() {
        let (mut whole, mut part) = (Encoder::default(), Encoder::default());
        let values = [Value::Int(-3), Value::List(vec![Value::Text("a".into())])];
        part.begin(7);
        whole.begin(2);
        whole.number(300);
        for value in &values {
            part.value(value).unwrap();
            whole.value(value).unwrap();
        }
        let mut made = Encoder::default();
        made.begin(2);
        made.number(300);
        made.append(&part);
        assert_eq!(made.finish(), whole.finish());
        assert_eq!(made.values, whole.values);
    }
}
