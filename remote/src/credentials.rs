//! Who may use a worker.

use crate::error::Error;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use subtle::ConstantTimeEq;

/// The fewest characters of a token.
const FEWEST: usize = 16;

/// A secret that the worker and its clients have in common.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// A token from text.
    ///
    /// # Errors
    /// It is too short to be a secret.
    pub fn new(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.len() < FEWEST {
            return Err(format!("a token has at least {FEWEST} characters: make one with `openssl rand -hex 32`"));
        }
        Ok(Self(text.into()))
    }

    /// Reads a token from a file that only its owner can read.
    ///
    /// # Errors
    /// The file cannot be read, others can read it, or it holds no token.
    pub fn read(file: &Path) -> Result<Self, Error> {
        let wrong = |reason: String| Error::File { file: file.display().to_string(), reason };
        let mode = fs::metadata(file).map_err(|error| wrong(error.to_string()))?.mode();
        if mode & 0o077 != 0 {
            return Err(wrong("others can read this token: chmod 600".into()));
        }
        let text = fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
        Self::new(&text).map_err(wrong)
    }

    /// Whether this is the token, in a time that says nothing about it.
    #[must_use]
    pub fn is(&self, other: &str) -> bool {
        self.0.as_bytes().ct_eq(other.trim().as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_token_that_others_can_read_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        fs::write(&file, "0123456789abcdef\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(matches!(Token::read(&file), Err(Error::File { reason, .. }) if reason.contains("chmod 600")));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let token = Token::read(&file).unwrap();
        assert!(token.is("0123456789abcdef"));
        assert!(!token.is("0123456789abcdeF"));
        assert!(!token.is(""));
        assert!(Token::new("short").is_err());
    }
}
