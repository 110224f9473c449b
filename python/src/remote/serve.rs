//! A worker in this process: `python/symm/_worker.py` starts it.

use super::executor::Torch;
use super::raise;
use pyo3::prelude::*;
use std::path::PathBuf;
use symm_remote::credentials::{Secrets, Token};
use symm_remote::error::Error;
use symm_remote::executor::About;
use symm_remote::tls::Identity;
use symm_remote::worker::{self, Options};

/// The files of a folder with a worker's secrets, which is made if need be: token, certificate, key.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "what Python gives")]
pub fn remote_secrets(py: Python<'_>, folder: PathBuf) -> PyResult<(PathBuf, PathBuf, PathBuf)> {
    let secrets = Secrets::of(&folder).map_err(|error| raise::error(py, &error, ""))?;
    Ok((secrets.token, secrets.certificate, secrets.key))
}

/// A worker that listens.
#[pyclass(frozen, name = "Worker", module = "symm._symm")]
pub struct Worker(worker::Worker<Torch>);

#[pymethods]
impl Worker {
    #[new]
    #[pyo3(signature = (listen, verbs, token_file = None, certificate = None, key = None))]
    fn new(
        py: Python<'_>,
        listen: &str,
        verbs: Py<PyAny>,
        token_file: Option<PathBuf>,
        certificate: Option<PathBuf>,
        key: Option<PathBuf>,
    ) -> PyResult<Self> {
        let bound = verbs.bind(py);
        let about = About {
            device: bound.getattr("device")?.str()?.to_string(),
            torch: bound.getattr("torch_version")?.extract()?,
            host: bound.getattr("host")?.extract()?,
            rank: bound.getattr("rank")?.extract()?,
        };
        let device = bound.getattr("device")?.unbind();
        let executor = Torch { apart: about.device != "cpu", about, verbs, device };
        let start = || -> Result<worker::Worker<Torch>, Error> {
            let token = token_file.map(|file| Token::read(&file)).transpose()?;
            let identity = match (certificate, key) {
                (Some(certificate), Some(key)) => Some(Identity::read(&certificate, &key)?),
                (None, None) => None,
                _ => return Err(Error::Unprotected("a certificate together with its key")),
            };
            let log = Box::new(|line: &str| eprintln!("symm-worker: {line}"));
            worker::Worker::start(executor, Options { listen: listen.parse()?, token, identity, log })
        };
        py.detach(start).map(Self).map_err(|error| raise::error(py, &error, listen))
    }

    #[getter]
    fn address(&self) -> String {
        self.0.address().to_string()
    }

    #[getter]
    fn served(&self) -> usize {
        self.0.served()
    }

    #[getter]
    fn connections(&self) -> usize {
        self.0.connections()
    }

    fn stop(&self) {
        self.0.stop();
    }
}
