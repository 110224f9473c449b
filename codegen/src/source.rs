//! Where a program comes from: a file, or standard input.

use crate::{Error, Frontend};
use melior::ir::Module;
use std::io::{Error as IoError, ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use symm_dialect::nesting;

/// A program that has not been parsed.
#[derive(Clone, Debug)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// What came from standard input.
    Input(Vec<u8>),
}

impl Source {
    /// The file `path`; `-` is standard input. That and what can be read only once, such as a pipe, is read to its end.
    ///
    /// # Errors
    /// [`Error::Read`] if it can't be read or holds nothing. A file is not opened here.
    pub fn new(path: &Path) -> Result<Self, Error> {
        let is_input = path.as_os_str() == "-";
        if !is_input && !std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Ok(Self::File(path.to_owned()));
        }
        let mut bytes = Vec::new();
        let mut read = if is_input {
            std::io::stdin().lock().read_to_end(&mut bytes)
        } else {
            std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
        };
        if matches!(read, Ok(0)) {
            // A launcher may give its standard input to one rank only.
            let what = if is_input { "standard input" } else { "it" };
            read = Err(IoError::new(ErrorKind::UnexpectedEof, format!("{what} holds no program; give a file")));
        }
        read.map_err(|source| Error::Read { path: path.to_owned(), source })?;
        Ok(Self::Input(bytes))
    }

    /// The program, parsed and verified.
    ///
    /// # Errors
    /// As for [`Frontend::parse`].
    pub fn parse<'c>(&self, frontend: &'c Frontend) -> Result<Module<'c>, Error> {
        if let Some((line, column)) = nesting::too_deep(&self.bytes()) {
            let path = match self {
                Self::File(path) => path.clone(),
                Self::Input(_) => "-".into(),
            };
            return Err(Error::TooDeep { path, line, column });
        }
        let bytes = match self {
            Self::File(path) => return frontend.parse(path),
            Self::Input(bytes) => bytes,
        };
        // SAFETY: the context outlives the module; the bytes live during the call.
        let module = unsafe {
            let text = mlir_sys::MlirStringRef { data: bytes.as_ptr().cast(), length: bytes.len() };
            Module::from_option_raw(mlir_sys::mlirModuleCreateParse(frontend.context().to_raw(), text))
        };
        module.ok_or_else(|| Error::Parse { path: "-".into() })
    }

    /// The program's text or bytecode.
    ///
    /// # Errors
    /// [`Error::Read`] if the file can't be read.
    pub fn read(&self) -> Result<Vec<u8>, Error> {
        match self {
            Self::File(path) => std::fs::read(path).map_err(|source| Error::Read { path: path.clone(), source }),
            Self::Input(bytes) => Ok(bytes.clone()),
        }
    }

    /// The same; nothing if the file can't be read.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.read().unwrap_or_default()
    }
}
