//! Who may use a worker.

use crate::error::Error;
use crate::tls::random;
use std::fmt::Write as _;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;
use subtle::ConstantTimeEq;

/// The fewest characters of a token.
const FEWEST: usize = 16;

/// A secret shared by the worker and its clients.
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

    /// Whether this is the token, compared in constant time.
    #[must_use]
    pub fn is(&self, other: &str) -> bool {
        self.0.as_bytes().ct_eq(other.trim().as_bytes()).into()
    }
}

/// What a worker needs to listen on TCP, as files of one folder.
pub struct Secrets {
    /// The token: its clients have it too.
    pub token: PathBuf,
    /// The certificate, PEM: its clients have it too.
    pub certificate: PathBuf,
    /// The certificate's key, PEM: only the worker has it.
    pub key: PathBuf,
}

impl Secrets {
    /// Those of a folder. Where it is not there, or is empty, it is made with new ones that only its owner can read.
    ///
    /// # Errors
    /// The folder holds something else, or cannot be made.
    pub fn of(folder: &Path) -> Result<Self, Error> {
        let found = Self::within(folder);
        let is_there = || [&found.token, &found.certificate, &found.key].into_iter().all(|file| file.exists());
        if is_there() {
            return Ok(found);
        }
        let wrong = |reason: String| Error::File { file: folder.display().to_string(), reason };
        // Whole or not at all: other workers may be doing the same.
        let made = folder.with_extension(format!("new-{}", process::id()));
        let written = Self::write(&made).and_then(|()| fs::rename(&made, folder));
        // Only what could not be written or moved is left.
        let _ = fs::remove_dir_all(&made);
        match written {
            Ok(()) => Ok(found),
            Err(_) if is_there() => Ok(found),
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {
                Err(wrong("it holds other files: give a folder that is empty or does not exist".into()))
            }
            Err(error) => Err(wrong(error.to_string())),
        }
    }

    fn within(folder: &Path) -> Self {
        let file = |name| folder.join(name);
        Self { token: file("token"), certificate: file("certificate.pem"), key: file("key.pem") }
    }

    fn write(folder: &Path) -> io::Result<()> {
        DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
        let made = rcgen::generate_simple_self_signed(vec!["symm-worker".into()]).map_err(io::Error::other)?;
        let bytes = random::<32>().map_err(io::Error::other)?;
        let token = bytes.iter().fold(String::new(), |mut text, byte| {
            // Text can always be written to.
            let _ = write!(text, "{byte:02x}");
            text
        });
        let files = Self::within(folder);
        let texts =
            [(files.token, token), (files.certificate, made.cert.pem()), (files.key, made.signing_key.serialize_pem())];
        for (file, text) in texts {
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?.write_all(text.as_bytes())?;
        }
        Ok(())
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

    #[test]
    fn secrets_are_made_once_and_are_the_owners() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("secrets");
        let first = Secrets::of(&place).unwrap();
        let read = |file: &Path| fs::read_to_string(file).unwrap();
        let (token, key) = (read(&first.token), read(&first.key));
        assert_eq!(token.len(), 64);
        assert!(Token::read(&first.token).unwrap().is(&token));
        for file in [&first.token, &first.key] {
            assert_eq!(fs::metadata(file).unwrap().mode() & 0o777, 0o600);
        }
        crate::tls::Identity::read(&first.certificate, &first.key).unwrap();
        let again = Secrets::of(&place).unwrap();
        assert_eq!((read(&again.token), read(&again.key)), (token.clone(), key));
        assert_ne!(read(&Secrets::of(&folder.path().join("others")).unwrap().token), token);
        // Nothing of the user's is overwritten.
        let refused = Secrets::of(folder.path());
        assert!(matches!(refused, Err(Error::File { reason, .. }) if reason.contains("empty")));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
