//! Bytes: a frame is its length (32 bits, little endian), its kind (8 bits) and its body; a body is made of tagged
//! values.

mod decode;
mod encode;

pub use decode::Decoder;
pub use encode::{Encoder, TooLarge};

/// The version of the wire: both ends must have the same.
pub const VERSION: u32 = 3;
/// The most bytes in a frame that is not data.
pub const MOST_BYTES: usize = 1 << 20;
/// The most values in a message.
pub const MOST_VALUES: u32 = 1 << 16;
/// The most dimensions of a tensor: torch's own.
pub const MOST_DIMENSIONS: usize = 64;
/// How deep lists may nest.
pub const MOST_DEPTH: u32 = 32;
/// The bytes of a tensor come in frames of at most this many.
pub const CHUNK: usize = 1 << 20;
/// The bytes before a frame's body.
pub const HEAD: usize = 5;

/// A value's tag.
#[repr(u8)]
#[derive(Clone, Copy)]
enum Tag {
    None,
    False,
    True,
    Int,
    Unsigned,
    Float,
    Complex,
    Text,
    Bytes,
    Dtype,
    Layout,
    MemoryFormat,
    Device,
    Tensor,
    Generator,
    Scalar,
    Context,
    Meta,
    List,
    Tuple,
    Dict,
}

const TAGS: [Tag; 21] = [
    Tag::None,
    Tag::False,
    Tag::True,
    Tag::Int,
    Tag::Unsigned,
    Tag::Float,
    Tag::Complex,
    Tag::Text,
    Tag::Bytes,
    Tag::Dtype,
    Tag::Layout,
    Tag::MemoryFormat,
    Tag::Device,
    Tag::Tensor,
    Tag::Generator,
    Tag::Scalar,
    Tag::Context,
    Tag::Meta,
    Tag::List,
    Tag::Tuple,
    Tag::Dict,
];
