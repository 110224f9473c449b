//! What Triton compiles for, as an option of passes.

use crate::pass::{OptionKind, PassOption};
use std::fmt;
use std::str::FromStr;

/// The option of the passes that ask for it.
pub const TARGET: PassOption = PassOption {
    name: "target",
    kind: OptionKind::Form("cuda:90 or hip:gfx942, or another such", |text| text.parse::<TritonTarget>().is_ok()),
    initial: "cuda:90",
    help: "the GPU that Triton compiles for",
};

/// What Triton compiles for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TritonTarget {
    /// An NVIDIA GPU of this compute capability: 90.
    Cuda(u32),
    /// An AMD GPU: `gfx942`.
    Hip(String),
}

impl FromStr for TritonTarget {
    type Err = String;

    /// Reads `cuda:90` and `hip:gfx942`.
    fn from_str(text: &str) -> Result<Self, String> {
        let complaint = || format!("'{text}' is not a Triton target: cuda:90, hip:gfx942");
        match text.split_once(':').ok_or_else(complaint)? {
            ("cuda", capability) => Ok(Self::Cuda(capability.parse().map_err(|_| complaint())?)),
            ("hip", chip) if chip.starts_with("gfx") && chip.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
                Ok(Self::Hip(chip.to_owned()))
            }
            _ => Err(complaint()),
        }
    }
}

impl fmt::Display for TritonTarget {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Cuda(capability) => write!(f, "sm_{capability}"),
            Self::Hip(chip) => f.write_str(chip),
        }
    }
}
