//! What arguments and results are made of.

/// One argument or result.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing.
    None,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A whole number that is too large for [`Value::Int`].
    Unsigned(u64),
    /// A number.
    Float(f64),
    /// A complex number: real and imaginary part.
    Complex(f64, f64),
    /// Text.
    Text(String),
    /// Plain bytes.
    Bytes(Vec<u8>),
    /// The type of elements.
    Dtype(Dtype),
    /// One of [`LAYOUTS`].
    Layout(u8),
    /// One of [`MEMORY_FORMATS`].
    MemoryFormat(u8),
    /// The worker's own device.
    Device,
    /// A tensor that the worker holds.
    Tensor(u64),
    /// A generator of random numbers that the worker holds.
    Generator(u64),
    /// A tensor without dimensions, by value.
    Scalar(Dtype, Vec<u8>),
    /// The context of the worker's rank.
    Context,
    /// What a result says of a tensor.
    Meta(Meta),
    /// A list.
    List(Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A dictionary with text as keys, in order.
    Dict(Vec<(String, Value)>),
}

/// A tensor without its data.
#[derive(Clone, Debug, PartialEq)]
pub struct Meta {
    /// Its id, if the worker keeps it.
    pub id: Option<u64>,
    /// The type of its elements.
    pub dtype: Dtype,
    /// Its sizes.
    pub shape: Vec<i64>,
    /// Its strides, in elements.
    pub strides: Vec<i64>,
    /// Where it begins in its storage, in elements.
    pub offset: i64,
}

/// The type of a tensor's elements: a row of [`DTYPES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dtype(u8);

/// torch's names and sizes in bytes. The place in the table is what is on the wire: rows are only added.
pub const DTYPES: [(&str, usize); 21] = [
    ("bool", 1),
    ("uint8", 1),
    ("int8", 1),
    ("int16", 2),
    ("int32", 4),
    ("int64", 8),
    ("float16", 2),
    ("bfloat16", 2),
    ("float32", 4),
    ("float64", 8),
    ("complex32", 4),
    ("complex64", 8),
    ("complex128", 16),
    ("float8_e4m3fn", 1),
    ("float8_e5m2", 1),
    ("float8_e4m3fnuz", 1),
    ("float8_e5m2fnuz", 1),
    ("float8_e8m0fnu", 1),
    ("uint16", 2),
    ("uint32", 4),
    ("uint64", 8),
];

/// torch's layouts.
pub const LAYOUTS: [&str; 6] = ["strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"];

/// torch's memory formats.
pub const MEMORY_FORMATS: [&str; 4] = ["contiguous_format", "preserve_format", "channels_last", "channels_last_3d"];

impl Dtype {
    /// The type in this row of [`DTYPES`].
    #[must_use]
    pub fn new(row: u8) -> Option<Self> {
        (usize::from(row) < DTYPES.len()).then_some(Self(row))
    }

    /// The type of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let row = DTYPES.iter().position(|(dtype, _)| *dtype == name)?;
        u8::try_from(row).ok().map(Self)
    }

    /// The row in [`DTYPES`].
    #[must_use]
    pub fn row(self) -> u8 {
        self.0
    }

    /// torch's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        DTYPES[usize::from(self.0)].0
    }

    /// Bytes an element.
    #[must_use]
    pub fn size(self) -> usize {
        DTYPES[usize::from(self.0)].1
    }

    /// The bytes of a contiguous tensor, or nothing where that is no number of bytes.
    #[must_use]
    pub fn bytes(self, shape: &[i64]) -> Option<usize> {
        let sizes = shape.iter().map(|size| usize::try_from(*size).ok()).collect::<Option<Vec<_>>>()?;
        if sizes.contains(&0) {
            return Some(0);
        }
        let bytes = sizes.iter().try_fold(self.size(), |product, size| product.checked_mul(*size))?;
        isize::try_from(bytes).is_ok().then_some(bytes)
    }
}
