//! A compiled program as bytes: a line of JSON, and after it the object and the kernels' images. symm-run makes it once
//! for all the processes that it starts, and each reads it from its standard input.

use crate::call::Entry;
use crate::compile::Compiled;
use crate::options::Driver;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use symm_codegen::{Jit, Signature};
use symm_runtime::{Device, DeviceCode};

/// A compiled program that is not loaded.
pub struct Image {
    /// What tells the program from another one.
    pub fingerprint: Vec<u8>,
    /// The name of the host function's entry.
    pub entry: String,
    /// What the host function takes and returns.
    pub signature: Signature,
    /// The host's code, relocatable.
    pub object: Vec<u8>,
    /// The code for the GPUs.
    pub kernels: Vec<DeviceCode>,
}

/// What comes before the code.
#[derive(Serialize, Deserialize)]
struct Header {
    fingerprint: Vec<u8>,
    entry: String,
    signature: Signature,
    /// The object's length in bytes.
    object: usize,
    /// Name and length of each module for the GPUs.
    kernels: Vec<(String, usize)>,
}

impl Image {
    /// Loads the host's code into this process.
    pub fn load(self, driver: Driver) -> anyhow::Result<Compiled> {
        let jit = Jit::load(&self.object, &symm_runtime::symbols())?;
        let device = match driver {
            Driver::Cpu => Device::Cpu,
            Driver::Cuda => Device::Cuda(self.kernels),
            Driver::Hip => Device::Hip(self.kernels),
        };
        Ok(Compiled { entry: Entry::new(jit, &self.entry)?, signature: self.signature, device })
    }

    /// The bytes that [`Image::from_bytes`] reads.
    pub fn bytes(&self) -> anyhow::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec(&Header {
            fingerprint: self.fingerprint.clone(),
            entry: self.entry.clone(),
            signature: self.signature.clone(),
            object: self.object.len(),
            kernels: self.kernels.iter().map(|code| (code.module.clone(), code.image.len())).collect(),
        })?;
        bytes.push(b'\n');
        bytes.extend_from_slice(&self.object);
        self.kernels.iter().for_each(|code| bytes.extend_from_slice(&code.image));
        Ok(bytes)
    }

    /// The program that another process has compiled.
    ///
    /// # Errors
    /// If the bytes are something else, or not all of it.
    pub fn from_bytes(bytes: &[u8]) -> anyhow::Result<Self> {
        let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
        let header: Header = serde_json::from_slice(&bytes[..end]).context("it has no header")?;
        let mut rest = bytes.get(end + 1..).unwrap_or_default();
        let mut take = |length: usize| {
            let (taken, after) = rest.split_at_checked(length).context("it is cut off")?;
            rest = after;
            anyhow::Ok(taken.to_vec())
        };
        let object = take(header.object)?;
        let of_module = |(module, length)| Ok(DeviceCode { module, image: take(length)? });
        let kernels = header.kernels.into_iter().map(of_module).collect::<anyhow::Result<_>>()?;
        anyhow::ensure!(rest.is_empty(), "{} bytes follow it", rest.len());
        let Header { fingerprint, entry, signature, .. } = header;
        Ok(Self { fingerprint, entry, signature, object, kernels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use symm_codegen::{Argument, ArgumentType, Element};

    fn image() -> Image {
        let argument = Argument {
            name: "a\nb".into(),
            ty: ArgumentType::Array { element: Element::Bf16, shape: vec![None, Some(3)] },
            default: Some("1".into()),
        };
        let code = |module: &str, image: &[u8]| DeviceCode { module: module.into(), image: image.into() };
        Image {
            fingerprint: vec![0, 255],
            entry: "main".into(),
            signature: Signature { arguments: vec![argument], outputs: Vec::new() },
            object: b"\nobject\n".into(),
            kernels: vec![code("first", b""), code("second", b"\0\n")],
        }
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let (written, read) = (image(), Image::from_bytes(&image().bytes().unwrap()).unwrap());
        assert_eq!(
            (read.fingerprint, read.entry, read.signature, read.object),
            (written.fingerprint, written.entry, written.signature, written.object)
        );
        let codes = |kernels: Vec<DeviceCode>| kernels.into_iter().map(|code| (code.module, code.image));
        assert!(codes(read.kernels).eq(codes(written.kernels)));
    }

    #[test]
    fn what_is_cut_off_or_too_long_or_something_else_is_refused() {
        let bytes = image().bytes().unwrap();
        for length in 0..bytes.len() {
            assert!(Image::from_bytes(&bytes[..length]).is_err(), "{length} bytes");
        }
        assert!(Image::from_bytes(&[&bytes[..], b"!"].concat()).is_err());
        assert!(Image::from_bytes(b"func.func @main() { return }\n").is_err());
    }
}
