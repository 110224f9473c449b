//! A client's link to a worker.

mod calls;
mod transfers;

use super::journal::{Entry, Failed, Journal};
use super::raise::{self, Origin};
use super::types::{Remote, Types, remote, types};
use super::{decode, encode};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use symm_remote::client::{Client, Endpoint, Outcome};
use symm_remote::error::Error;
use symm_remote::lock::lock;
use symm_remote::message::Request;
use symm_remote::tls;
use symm_remote::wire::Encoder;

/// How often a wait looks for signals.
const LOOK: Duration = Duration::from_millis(50);
/// The default length of a wait.
const DEADLINE: f64 = 600.0;
/// How long a link that is closed may still send.
const GOODBYE: Duration = Duration::from_secs(5);

/// A link to a worker.
#[pyclass(frozen, module = "symm._symm")]
pub struct Link {
    client: Client,
    address: String,
    /// Where other workers reach this one.
    inside: Option<String>,
    /// What errors call the worker.
    name: String,
    remote: Option<Arc<Remote>>,
    deadline: Mutex<f64>,
    /// Held only while no Python code can run.
    encoder: Mutex<Encoder>,
    ops: Mutex<HashMap<Arc<str>, u32>>,
    journal: Mutex<Journal>,
    specs: Py<PyDict>,
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds.clamp(0.0, 1e6)).unwrap_or(Duration::ZERO)
}

#[pymethods]
impl Link {
    #[staticmethod]
    #[pyo3(signature = (address, token = None, certificate = None, deadline = 10.0, inside = None))]
    fn connect(
        py: Python<'_>,
        address: &str,
        token: Option<String>,
        certificate: Option<PathBuf>,
        deadline: f64,
        inside: Option<String>,
    ) -> PyResult<Self> {
        let connected = py.detach(|| {
            let certificate = certificate.map(|file| tls::read_certificate(&file)).transpose()?;
            let certificate = certificate.map(|certificate| certificate.to_vec());
            Client::connect(Endpoint { address: address.parse()?, token, certificate }, seconds(deadline))
        });
        let client = connected.map_err(|error| raise::error(py, &error, address))?;
        let rank = client.welcome().rank.map(|(rank, _)| format!(" (rank {rank})"));
        Ok(Self {
            client,
            address: address.into(),
            inside,
            name: format!("{address}{}", rank.unwrap_or_default()),
            remote: remote(),
            deadline: Mutex::new(DEADLINE),
            encoder: Mutex::default(),
            ops: Mutex::default(),
            journal: Mutex::default(),
            specs: PyDict::new(py).unbind(),
        })
    }

    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    #[getter]
    fn inside(&self) -> &str {
        self.inside.as_ref().unwrap_or(&self.address)
    }

    #[getter]
    fn device(&self) -> &str {
        &self.client.welcome().device
    }

    #[getter]
    fn pid(&self) -> u64 {
        self.client.welcome().pid
    }

    #[getter]
    fn host(&self) -> &str {
        &self.client.welcome().host
    }

    #[getter]
    fn torch(&self) -> &str {
        &self.client.welcome().torch
    }

    #[getter]
    fn rank(&self) -> Option<u64> {
        self.client.welcome().rank.map(|(rank, _)| rank)
    }

    #[getter]
    fn num_ranks(&self) -> Option<u64> {
        self.client.welcome().rank.map(|(_, count)| count)
    }

    #[getter]
    fn alive(&self) -> bool {
        self.client.lost().is_none()
    }

    #[getter]
    fn deadline(&self) -> f64 {
        *lock(&self.deadline)
    }

    #[setter]
    fn set_deadline(&self, seconds: f64) {
        *lock(&self.deadline) = seconds;
    }

    fn drop(&self, ids: &Bound<'_, PyAny>) {
        // Who drops cannot do anything about an error; when the link is lost, the worker has dropped everything.
        let ids = ids.extract::<u64>().map(|id| vec![id]).or_else(|_| ids.extract::<Vec<u64>>());
        for ids in ids.unwrap_or_default().chunks(1024) {
            let _ = self.client.request(&Request::Drop(ids.to_vec()));
        }
    }

    #[getter]
    fn get_specs(&self, py: Python<'_>) -> Py<PyDict> {
        self.specs.clone_ref(py)
    }

    fn flush(&self) {
        self.client.flush();
    }

    #[pyo3(signature = (deadline = None))]
    fn sync(&self, py: Python<'_>, deadline: Option<f64>) -> PyResult<()> {
        let request = self.client.expect(None);
        self.request(py, &Request::Sync { request })?;
        self.answer(py, request, "sync", None, deadline).map(|_| ())
    }

    #[pyo3(signature = (id, deadline = None))]
    fn meta(&self, py: Python<'_>, id: u64, deadline: Option<f64>) -> PyResult<Py<PyAny>> {
        let request = self.client.expect(None);
        self.request(py, &Request::Meta { request, id })?;
        self.answer(py, request, "meta", None, deadline)
    }

    fn close(&self, py: Python<'_>) {
        py.detach(|| self.client.close(GOODBYE));
    }
}

impl Link {
    /// What operations on this worker return, by their keys.
    pub fn specs<'py>(&self, py: Python<'py>) -> &Bound<'py, PyDict> {
        self.specs.bind(py)
    }

    /// Frees a tensor. When the link is lost, the worker has freed them all.
    pub fn forget(&self, id: u64) {
        let _ = self.client.request(&Request::Drop(vec![id]));
    }

    fn until(&self, deadline: Option<f64>) -> Instant {
        Instant::now() + seconds(deadline.unwrap_or_else(|| *lock(&self.deadline)))
    }

    fn origin<'a>(&'a self, op: &'a str, place: Option<Py<PyAny>>) -> Origin<'a> {
        Origin { worker: &self.name, op: Some(op), place }
    }

    fn lost(&self, py: Python<'_>, op: &str, place: Option<Py<PyAny>>, reason: &str) -> PyErr {
        let text = format!("the worker at {} is lost: {reason}", self.name);
        raise::exception(py, "WorkerLostError", &text, self.origin(op, place))
    }

    fn request(&self, py: Python<'_>, request: &Request) -> PyResult<u64> {
        self.client.request(request).map_err(|error| self.unsent(py, &error))
    }

    fn unsent(&self, py: Python<'_>, error: &Error) -> PyErr {
        match error {
            Error::Lost(reason) => self.lost(py, "", None, reason),
            error => raise::error(py, error, &self.name),
        }
    }

    /// Waits for an answer, and gives its value, or what it or an operation before it has raised.
    fn answer(
        &self,
        py: Python<'_>,
        request: u64,
        op: &str,
        place: Option<&Bound<'_, PyAny>>,
        deadline: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        let outcome = self.outcome(py, request, deadline, |_| Ok(()))?;
        self.raise_pending(py)?;
        self.value(py, outcome, op, place.map(|place| place.clone().unbind()))
    }

    /// Waits for an answer, and calls `look` now and then.
    fn outcome(
        &self,
        py: Python<'_>,
        request: u64,
        deadline: Option<f64>,
        look: impl Fn(usize) -> PyResult<()>,
    ) -> PyResult<Outcome> {
        self.client.flush();
        let until = self.until(deadline);
        loop {
            let slice = until.min(Instant::now() + LOOK);
            if let Some(outcome) = py.detach(|| self.client.wait(request, slice)) {
                return Ok(outcome);
            }
            let looked = py.check_signals().and_then(|()| look(self.client.received(request)));
            let raised = match looked {
                Ok(()) if Instant::now() < until => continue,
                Ok(()) => self.late(py),
                Err(error) => error,
            };
            self.client.forget(request);
            return Err(raised);
        }
    }

    fn late(&self, py: Python<'_>) -> PyErr {
        self.settle();
        let oldest = lock(&self.journal).oldest(py);
        let running = oldest.as_ref().map_or(String::new(), |(op, _)| format!("; it is running {op}"));
        let text = format!("the worker at {} has not answered in time{running}", self.name);
        let (op, place) = oldest.unzip();
        let origin = Origin { worker: &self.name, op: op.as_deref(), place };
        raise::exception(py, "DeadlineError", &text, origin)
    }

    /// Raises the first failure of an operation that no call waited for.
    fn raise_pending(&self, py: Python<'_>) -> PyResult<()> {
        self.settle();
        let pending = lock(&self.journal).take_pending();
        pending.map_or(Ok(()), |failed| Err(self.failed(py, failed)))
    }

    fn failed(&self, py: Python<'_>, failed: Failed) -> PyErr {
        let place = failed.place.map(|place| place.clone_ref(py));
        raise::failure(py, &failed.failure, self.origin(&failed.op, place))
    }

    fn value(&self, py: Python<'_>, outcome: Outcome, op: &str, place: Option<Py<PyAny>>) -> PyResult<Py<PyAny>> {
        match outcome {
            Outcome::Value(value) => decode::answer(py, types(py)?, &value).map(Bound::unbind),
            Outcome::Received(..) => Ok(py.None()),
            Outcome::Mismatch(dtype, shape) => {
                let text = format!("the worker's tensor is {} {shape:?}, not what this place holds", dtype.name());
                Err(raise::exception(py, "RemoteError", &text, self.origin(op, place)))
            }
            Outcome::Error(failure) => Err(raise::failure(py, &failure, self.origin(op, place))),
            Outcome::Poisoned(message) => {
                let failed = lock(&self.journal).failed(message);
                Err(failed.map_or_else(
                    || {
                        let text = "the operation that makes this tensor has failed, too long ago to say how";
                        raise::exception(py, "RemoteError", text, self.origin(op, place))
                    },
                    |failed| self.failed(py, failed),
                ))
            }
            Outcome::Lost(reason) => {
                // What was running when it died is more use than who waited.
                let oldest = lock(&self.journal).oldest(py);
                let (running, place) = oldest.map_or((op.into(), place), |(op, place)| (op, Some(place)));
                Err(self.lost(py, &running, place, &reason))
            }
        }
    }

    fn settle(&self) {
        let removed = lock(&self.journal).settle(&self.client);
        drop(removed);
    }

    fn note(&self, message: u64, op: Arc<str>, place: &Bound<'_, PyAny>) {
        let mut journal = lock(&self.journal);
        journal.push(Entry { message, op, place: place.clone().unbind() });
        let settle = journal.is_long();
        drop(journal);
        if settle && (self.client.acknowledged() + 64 > message || message.is_multiple_of(64)) {
            self.settle();
        }
    }

    /// Makes room for a message, and waits for it if there is none.
    fn room(&self, py: Python<'_>) -> PyResult<()> {
        if self.client.has_room() {
            return Ok(());
        }
        let until = self.until(None);
        while !self.client.has_room() {
            py.detach(|| self.client.await_room(until.min(Instant::now() + LOOK)));
            py.check_signals()?;
            if Instant::now() >= until {
                return Err(self.late(py));
            }
        }
        Ok(())
    }
}

/// Writes the arguments of an operation of this link.
fn arguments<'py>(
    link: &Bound<'py, Link>,
    to: &mut Encoder,
    types: &Types,
    args: &Bound<'py, PyTuple>,
    kwargs: Option<&Bound<'py, PyDict>>,
) -> PyResult<()> {
    let remote = link.get().remote.as_deref();
    encode::Arguments { to, types, remote, link: Some(link.as_any()), first: None, key: None }.all(args, kwargs)
}
