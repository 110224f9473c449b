//! Tensors of a link that go and come.

use super::super::memory::{self, shape};
use super::super::types::types;
use super::{LOOK, Link, seconds};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::cell::Cell;
use std::time::{Duration, Instant};
use symm_remote::client::Outcome;
use symm_remote::lock::lock;
use symm_remote::message::{Announced, Copy, Request};

/// A program hears of a transfer's progress so often.
const REPORT: Duration = Duration::from_millis(100);

#[pymethods]
impl Link {
    #[pyo3(signature = (id, into, deadline = None, progress = None))]
    fn fetch(
        &self,
        py: Python<'_>,
        id: u64,
        into: &Bound<'_, PyAny>,
        deadline: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (dtype, memory) = memory::of(into, types(py)?)?;
        let total = memory.bytes().len();
        let request = self.client.expect(Some(memory));
        self.request(py, &Request::Fetch { request, id })?;
        let reported = Cell::new(Instant::now());
        let outcome = self.outcome(py, request, deadline, |done| report(progress, &reported, done, total))?;
        self.raise_pending(py)?;
        let outcome = match outcome {
            Outcome::Received(found, sizes) if found != dtype || sizes != shape(into)? => {
                Outcome::Mismatch(found, sizes)
            }
            outcome => outcome,
        };
        self.value(py, outcome, "fetch", None)?;
        progress.map_or(Ok(()), |progress| progress.call1((total, total)).map(|_| ()))
    }

    #[pyo3(signature = (id, tensor, deadline = None, progress = None))]
    fn upload(
        &self,
        py: Python<'_>,
        id: u64,
        tensor: &Bound<'_, PyAny>,
        deadline: Option<f64>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        self.room(py)?;
        let (dtype, memory) = memory::of(tensor, types(py)?)?;
        let total = memory.bytes().len();
        let announced = Request::Upload(Announced { id, dtype, shape: shape(tensor)? });
        let upload = self.client.upload(&announced, memory).map_err(|error| self.unsent(py, &error))?;
        let (until, reported) = (self.until(deadline), Cell::new(Instant::now()));
        while !upload.done() {
            py.detach(|| self.client.await_upload(&upload, until.min(Instant::now() + LOOK)));
            py.check_signals()?;
            if let Some(reason) = self.client.lost() {
                return Err(self.lost(py, "upload", None, &reason));
            }
            if Instant::now() >= until {
                return Err(self.late(py));
            }
            report(progress, &reported, upload.sent(), total)?;
        }
        progress.map_or(Ok(()), |progress| progress.call1((total, total)).map(|_| ()))
    }

    #[pyo3(signature = (id, target, new_id, place))]
    fn copy(
        &self,
        py: Python<'_>,
        id: u64,
        target: &Bound<'_, Link>,
        new_id: u64,
        place: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let there = target.get();
        if std::ptr::eq(self, there) {
            return Err(PyValueError::new_err("a copy on one worker is an operation (aten::clone)"));
        }
        types(py)?;
        let way = there.client.endpoint();
        let milliseconds = u64::try_from(seconds(*lock(&there.deadline)).as_millis()).unwrap_or(u64::MAX);
        let copy = Copy {
            id,
            address: there.inside().into(),
            token: way.token.clone(),
            certificate: way.certificate.clone(),
            session: there.client.welcome().session,
            new_id,
            milliseconds,
        };
        let message = self.request(py, &Request::Copy(Box::new(copy)))?;
        self.note(message, format!("copy to {}", there.name).into(), place);
        let message = there.request(py, &Request::Expect { id: new_id, milliseconds })?;
        there.note(message, format!("copy from {}", self.name).into(), place);
        Ok(())
    }
}

/// Tells the program how far a transfer has come, but not all the time.
fn report(progress: Option<&Bound<'_, PyAny>>, reported: &Cell<Instant>, done: usize, total: usize) -> PyResult<()> {
    let Some(progress) = progress.filter(|_| reported.get().elapsed() >= REPORT) else { return Ok(()) };
    reported.set(Instant::now());
    progress.call1((done, total)).map(|_| ())
}
