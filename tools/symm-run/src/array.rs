//! Arrays as NumPy files.

use crate::output;
use half::f16;
use npyz::{DType, NpyHeader, Order, TypeStr, WriterBuilder};
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;
use symm_codegen::Element;

/// A row-major array.
#[derive(Clone, Debug)]
pub struct Array {
    /// The element type.
    pub element: Element,
    /// The shape.
    pub shape: Vec<u64>,
    /// The elements, little endian.
    pub bytes: Vec<u8>,
}

/// Why a file does not hold the array that the program takes.
#[derive(Debug, thiserror::Error)]
pub enum ArrayError {
    /// The file could not be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It holds elements of another type.
    #[error("holds {found}, but the program takes {expected}")]
    Type {
        /// NumPy's name of its type.
        found: String,
        /// What the program takes.
        expected: &'static str,
    },
    /// It has another shape.
    #[error("has shape {found:?}, but the program takes {expected}")]
    Shape {
        /// Its shape.
        found: Vec<u64>,
        /// The shape that the program takes.
        expected: String,
    },
    /// Its first index runs fastest.
    #[error("is in Fortran order; save it with numpy.ascontiguousarray")]
    FortranOrder,
    /// Its data end early.
    #[error("is cut short: {expected} bytes of data for its shape, got {found}")]
    CutShort {
        /// Bytes that its shape takes.
        expected: u64,
        /// Bytes that are there.
        found: u64,
    },
    /// There is more after its data.
    #[error("is longer than its shape says: {expected} bytes of data, and then more; save it again with numpy.save")]
    TooLong {
        /// Bytes that its shape takes.
        expected: u64,
    },
    /// Its header ends early.
    #[error("ends within its header, or is empty: save it with numpy.save")]
    HeaderCutShort,
    /// Nothing came in time.
    #[error("was not read within {0:?} (--timeout): if it is a pipe, see whether anything writes to it")]
    Late(Duration),
    /// Its size is no number of 64 bits.
    #[error("is too large: its shape needs more bytes than there are addresses")]
    TooLarge,
}

/// The NumPy types that hold elements of a type, the one we write first.
fn type_names(element: Element) -> &'static [&'static str] {
    match element {
        Element::Bool => &["|b1"],
        Element::Int(8) => &["|i1", "|u1"],
        Element::Int(16) => &["<i2", "<u2"],
        Element::Int(32) => &["<i4", "<u4"],
        Element::Int(_) => &["<i8", "<u8"],
        Element::F16 => &["<f2"],
        // NumPy has no bfloat16: its bits, or ml_dtypes' opaque type.
        Element::Bf16 => &["<u2", "<V2", "|V2"],
        Element::F32 => &["<f4"],
        Element::F64 => &["<f8"],
    }
}

impl Array {
    /// Likewise, within a time if there is one: who writes into a pipe may never come.
    pub fn read_within(
        limit: Option<Duration>,
        path: &Path,
        element: Element,
        shape: &[Option<u64>],
    ) -> Result<Self, ArrayError> {
        let Some(limit) = limit else { return Self::read(path, element, shape) };
        let (result, outcome) = mpsc::channel();
        let (path, shape) = (path.to_owned(), shape.to_vec());
        // Nobody hears of one that comes late.
        thread::spawn(move || drop(result.send(Self::read(&path, element, &shape))));
        outcome.recv_timeout(limit).unwrap_or(Err(ArrayError::Late(limit)))
    }

    /// Reads an array that must have this element type and match this shape (`None`: any size).
    pub fn read(path: &Path, element: Element, shape: &[Option<u64>]) -> Result<Self, ArrayError> {
        let mut file = BufReader::new(File::open(path)?);
        if file.fill_buf()?.is_empty() {
            return Err(ArrayError::HeaderCutShort);
        }
        let header = NpyHeader::from_reader(&mut file).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => ArrayError::HeaderCutShort,
            _ => error.into(),
        })?;
        let found = match header.dtype() {
            DType::Plain(ty) => ty.to_string(),
            other => other.descr(),
        };
        let names = type_names(element);
        if !names.contains(&found.as_str()) {
            return Err(ArrayError::Type { found, expected: names[0] });
        }
        if header.order() == Order::Fortran && header.shape().len() > 1 {
            return Err(ArrayError::FortranOrder);
        }
        let fits = header.shape().len() == shape.len()
            && header.shape().iter().zip(shape).all(|(found, wanted)| wanted.is_none_or(|wanted| wanted == *found));
        if !fits {
            let sizes: Vec<String> =
                shape.iter().map(|size| size.map_or_else(|| "?".into(), |size| size.to_string())).collect();
            return Err(ArrayError::Shape {
                found: header.shape().to_vec(),
                expected: format!("[{}]", sizes.join(", ")),
            });
        }
        let shape = header.shape().to_vec();
        let expected = shape.iter().try_fold(element.bytes() as u64, |bytes, size| bytes.checked_mul(*size));
        let expected = expected.filter(|bytes| *bytes < 1 << 46).ok_or(ArrayError::TooLarge)?;
        let mut bytes = Vec::new();
        file.by_ref().take(expected).read_to_end(&mut bytes)?;
        if bytes.len() as u64 != expected {
            return Err(ArrayError::CutShort { expected, found: bytes.len() as u64 });
        }
        if file.read(&mut [0])? != 0 {
            return Err(ArrayError::TooLong { expected });
        }
        Ok(Self { element, shape, bytes })
    }

    /// Writes the array.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        output::write(path, |file| Ok(self.write_to(file)?))
    }

    fn write_to(&self, file: impl Write) -> std::io::Result<()> {
        match self.element {
            Element::Bool => self.write_as(file, |bytes: [u8; 1]| bytes[0] != 0),
            Element::Int(8) => self.write_as(file, i8::from_le_bytes),
            Element::Int(16) => self.write_as(file, i16::from_le_bytes),
            Element::Int(32) => self.write_as(file, i32::from_le_bytes),
            Element::Int(_) => self.write_as(file, i64::from_le_bytes),
            Element::F16 => self.write_as(file, f16::from_le_bytes),
            Element::Bf16 => self.write_as(file, u16::from_le_bytes),
            Element::F32 => self.write_as(file, f32::from_le_bytes),
            Element::F64 => self.write_as(file, f64::from_le_bytes),
        }
    }

    fn write_as<T: npyz::Serialize, const N: usize>(
        &self,
        file: impl Write,
        decode: impl Fn([u8; N]) -> T,
    ) -> std::io::Result<()> {
        let name = type_names(self.element)[0];
        let ty: TypeStr = name.parse().expect("the table above holds NumPy type names");
        let mut writer =
            npyz::WriteOptions::new().dtype(DType::Plain(ty)).shape(&self.shape).writer(file).begin_nd()?;
        let (elements, _) = self.bytes.as_chunks::<N>();
        writer.extend(elements.iter().map(|element| decode(*element)))?;
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("symm-array-{}-{name}.npy", std::process::id()))
    }

    #[test]
    fn what_is_written_is_read() {
        for element in [Element::Bool, Element::Int(8), Element::Int(64), Element::F16, Element::Bf16, Element::F64] {
            let bytes: Vec<u8> = (0..6 * element.bytes()).map(|byte| u8::try_from(byte % 2).unwrap()).collect();
            let array = Array { element, shape: vec![2, 3], bytes };
            let path = path(&format!("{element:?}"));
            array.write(&path).unwrap();
            let back = Array::read(&path, element, &[None, Some(3)]).unwrap();
            std::fs::remove_file(&path).unwrap();
            assert_eq!((back.shape, back.bytes), (array.shape, array.bytes));
        }
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let path = path("refused");
        let array = Array { element: Element::F32, shape: vec![4], bytes: vec![0; 16] };
        array.write(&path).unwrap();
        assert!(matches!(Array::read(&path, Element::F64, &[None]), Err(ArrayError::Type { .. })));
        assert!(matches!(Array::read(&path, Element::F32, &[Some(5)]), Err(ArrayError::Shape { .. })));
        assert!(matches!(Array::read(&path, Element::F32, &[None, None]), Err(ArrayError::Shape { .. })));
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        assert!(matches!(Array::read(&path, Element::F32, &[None]), Err(ArrayError::CutShort { .. })));
        std::fs::write(&path, &whole[..30]).unwrap();
        assert!(matches!(Array::read(&path, Element::F32, &[None]), Err(ArrayError::HeaderCutShort)));
        std::fs::write(&path, [&whole[..], b"more"].concat()).unwrap();
        assert!(matches!(Array::read(&path, Element::F32, &[None]), Err(ArrayError::TooLong { expected: 16 })));
        std::fs::write(&path, b"no array").unwrap();
        assert!(matches!(Array::read(&path, Element::F32, &[None]), Err(ArrayError::Io(_))));
        std::fs::remove_file(&path).unwrap();
    }
}
