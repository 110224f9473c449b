//! Reads messages, and validates everything in them.

use super::{MOST_DEPTH, MOST_DIMENSIONS, MOST_VALUES, TAGS, Tag};
use crate::error::Malformed;
use crate::value::{Dtype, LAYOUTS, MEMORY_FORMATS, Meta, Value};

/// What is left of a message's body.
pub struct Decoder<'a> {
    rest: &'a [u8],
    values: u32,
    depth: u32,
}

type Read<T> = Result<T, Malformed>;

impl<'a> Decoder<'a> {
    /// Begins at the body of a frame.
    #[must_use]
    pub fn new(body: &'a [u8]) -> Self {
        Self { rest: body, values: MOST_VALUES, depth: MOST_DEPTH + 1 }
    }

    /// All must have been read.
    ///
    /// # Errors
    /// Something is left.
    pub fn end(&self) -> Read<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(Malformed("bytes after its end")) }
    }

    fn take(&mut self, count: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Malformed("cut short"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Read<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| Malformed("cut short"))
    }

    /// See [`super::Encoder::byte`].
    ///
    /// # Errors
    /// As all of these: the bytes are something else.
    pub fn byte(&mut self) -> Read<u8> {
        Ok(self.array::<1>()?[0])
    }

    /// See [`super::Encoder::number`].
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn number(&mut self) -> Read<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if shift == 63 && bits > 1 {
                break;
            }
            number |= bits << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Malformed("a number of more than 64 bits"))
    }

    /// A number of things of which each takes at least a byte.
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn count(&mut self) -> Read<usize> {
        let count = self.number()?;
        let count = usize::try_from(count).ok().filter(|count| *count <= self.rest.len());
        let count = count.ok_or(Malformed("a count beyond its end"))?;
        if count > MOST_VALUES as usize { Err(Malformed("too many values")) } else { Ok(count) }
    }

    /// See [`super::Encoder::signed`].
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn signed(&mut self) -> Read<i64> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    /// See [`super::Encoder::option`].
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn option(&mut self) -> Read<Option<u64>> {
        match self.byte()? {
            0 => Ok(None),
            1 => Ok(Some(self.number()?)),
            _ => Err(Malformed("an option that is neither there nor not")),
        }
    }

    /// See [`super::Encoder::raw`].
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn raw(&mut self) -> Read<&'a [u8]> {
        let length = usize::try_from(self.number()?).map_err(|_| Malformed("cut short"))?;
        self.take(length)
    }

    /// Text without a tag.
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn string(&mut self) -> Read<String> {
        let text = str::from_utf8(self.raw()?).map_err(|_| Malformed("text that is not UTF-8"))?;
        Ok(text.to_owned())
    }

    /// See [`super::Encoder::sizes`].
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn sizes(&mut self) -> Read<Vec<i64>> {
        let count = self.count()?;
        if count > MOST_DIMENSIONS {
            return Err(Malformed("a tensor of more than 64 dimensions"));
        }
        (0..count).map(|_| self.signed()).collect()
    }

    /// A row of [`crate::value::DTYPES`].
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn dtype(&mut self) -> Read<Dtype> {
        Dtype::new(self.byte()?).ok_or(Malformed("a dtype of another version"))
    }

    fn float(&mut self) -> Read<f64> {
        self.array().map(f64::from_le_bytes)
    }

    fn row(&mut self, rows: usize) -> Read<u8> {
        let row = self.byte()?;
        if usize::from(row) < rows { Ok(row) } else { Err(Malformed("a name of another version")) }
    }

    /// Any value.
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn value(&mut self) -> Read<Value> {
        self.values = self.values.checked_sub(1).ok_or(Malformed("too many values"))?;
        let tag = usize::from(self.byte()?);
        Ok(match TAGS.get(tag).ok_or(Malformed("a value of another version"))? {
            Tag::None => Value::None,
            Tag::False => Value::Bool(false),
            Tag::True => Value::Bool(true),
            Tag::Int => Value::Int(self.signed()?),
            Tag::Unsigned => Value::Unsigned(self.number()?),
            Tag::Float => Value::Float(self.float()?),
            Tag::Complex => Value::Complex(self.float()?, self.float()?),
            Tag::Text => Value::Text(self.string()?),
            Tag::Bytes => Value::Bytes(self.raw()?.to_vec()),
            Tag::Dtype => Value::Dtype(self.dtype()?),
            Tag::Layout => Value::Layout(self.row(LAYOUTS.len())?),
            Tag::MemoryFormat => Value::MemoryFormat(self.row(MEMORY_FORMATS.len())?),
            Tag::Device => Value::Device,
            Tag::Tensor => Value::Tensor(self.number()?),
            Tag::Generator => Value::Generator(self.number()?),
            Tag::Scalar => {
                let dtype = self.dtype()?;
                Value::Scalar(dtype, self.take(dtype.size())?.to_vec())
            }
            Tag::Context => Value::Context,
            Tag::Meta => Value::Meta(self.meta()?),
            Tag::List => Value::List(self.nested(Self::value)?),
            Tag::Tuple => Value::Tuple(self.nested(Self::value)?),
            Tag::Dict => Value::Dict(self.nested(Self::pair)?),
        })
    }

    /// Values that a count comes before.
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn values(&mut self) -> Read<Vec<Value>> {
        self.nested(Self::value)
    }

    /// Names with values that a count comes before.
    ///
    /// # Errors
    /// The bytes are something else.
    pub fn pairs(&mut self) -> Read<Vec<(String, Value)>> {
        self.nested(Self::pair)
    }

    fn pair(&mut self) -> Read<(String, Value)> {
        Ok((self.string()?, self.value()?))
    }

    fn nested<T>(&mut self, mut item: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let count = self.count()?;
        // The values' own budget bounds the memory: a list of lists of counts would not.
        if count > self.values as usize {
            return Err(Malformed("too many values"));
        }
        self.depth = self.depth.checked_sub(1).ok_or(Malformed("too many lists in one another"))?;
        let mut items = Vec::new();
        for _ in 0..count {
            items.push(item(self)?);
        }
        self.depth += 1;
        Ok(items)
    }

    fn meta(&mut self) -> Read<Meta> {
        Ok(Meta {
            id: self.option()?,
            dtype: self.dtype()?,
            shape: self.sizes()?,
            strides: self.sizes()?,
            offset: self.signed()?,
        })
    }
}
