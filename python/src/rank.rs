//! The rank of this process, for the host API: `python/symm/_symm.pyi` says what each method is.

use crate::failure::raise;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use symm_runtime::{Bootstrap, Config, Device, Error, Ranks, join, set_place};

/// A rank that has joined a run; empty when it has left.
#[pyclass(frozen, name = "Rank", module = "symm._symm")]
pub struct JoinedRank(Mutex<Option<symm_runtime::Rank>>);

/// Joins the run that the environment describes, or one of a single rank.
#[pyfunction]
pub fn join_run(
    py: Python<'_>,
    heap_size: u64,
    device: &str,
    timeout: Option<f64>,
    place: &str,
) -> PyResult<JoinedRank> {
    let device = match device {
        "cpu" => Device::Cpu,
        "cuda" => Device::Cuda(Vec::new()),
        "hip" => Device::Hip(Vec::new()),
        _ => return Err(PyValueError::new_err(format!("no device {device:?}: cpu, cuda or hip"))),
    };
    let timeout = timeout.map(Duration::try_from_secs_f64).transpose();
    let timeout = timeout.map_err(|error| PyValueError::new_err(format!("timeout: {error}")))?;
    let joined = py.detach(|| {
        set_place(Some(place));
        let ranks = if Bootstrap::is_launched() {
            let mut bootstrap = Bootstrap::from_env()?;
            bootstrap.deadline = timeout.map_or(bootstrap.deadline, |timeout| timeout.min(bootstrap.deadline));
            Ranks::Process(bootstrap)
        } else {
            Ranks::Threads(1)
        };
        join(&Config { heap_size, timeout, device, ..Config::new(ranks) })
    });
    let rank = joined.map_err(|error| raise(py, &error))?.pop();
    Ok(JoinedRank(Mutex::new(rank)))
}

impl JoinedRank {
    /// Calls the runtime without holding Python's lock. `place` is the caller's, for what errors say.
    fn act<T: Send>(
        &self,
        py: Python<'_>,
        place: &str,
        body: impl FnOnce(&symm_runtime::Rank) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let outcome = py.detach(|| {
            let rank = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let rank = rank.as_ref().ok_or_else(|| Error::Program("this rank has left the run".to_owned()))?;
            set_place(Some(place));
            body(rank)
        });
        outcome.map_err(|error| raise(py, &error))
    }
}

#[pymethods]
impl JoinedRank {
    #[getter]
    fn rank(&self, py: Python<'_>) -> PyResult<u32> {
        self.act(py, "", |rank| Ok(rank.rank()))
    }

    #[getter]
    fn num_ranks(&self, py: Python<'_>) -> PyResult<u32> {
        self.act(py, "", |rank| Ok(rank.num_ranks()))
    }

    #[getter]
    fn heap_size(&self, py: Python<'_>) -> PyResult<u64> {
        self.act(py, "", |rank| Ok(rank.heap_size()))
    }

    #[getter]
    fn heap_bases(&self, py: Python<'_>) -> PyResult<Vec<i64>> {
        self.act(py, "", |rank| Ok(rank.heap_bases()[..rank.num_ranks() as usize].to_vec()))
    }

    #[getter]
    fn table(&self, py: Python<'_>) -> PyResult<u64> {
        self.act(py, "", |rank| Ok(rank.device_ctx()))
    }

    fn is_symmetric(&self, py: Python<'_>, address: usize) -> PyResult<bool> {
        self.act(py, "", |rank| Ok(rank.is_symmetric(address as *const u8)))
    }

    fn as_remote(&self, py: Python<'_>, address: usize, rank: u32, place: &str) -> PyResult<usize> {
        self.act(py, place, |this| Ok(this.as_remote(address as *const u8, rank)? as usize))
    }

    fn alloc(&self, py: Python<'_>, bytes: u64, align: u64, place: &str) -> PyResult<usize> {
        self.act(py, place, |rank| Ok(rank.alloc(bytes, align)? as usize))
    }

    fn free(&self, py: Python<'_>, address: usize, place: &str) -> PyResult<()> {
        self.act(py, place, |rank| rank.free(address as *mut u8))
    }

    fn check(&self, py: Python<'_>, place: &str) -> PyResult<()> {
        self.act(py, place, symm_runtime::Rank::check)
    }

    fn barrier(&self, py: Python<'_>, place: &str) -> PyResult<()> {
        self.act(py, place, symm_runtime::Rank::barrier)
    }

    fn stream_barrier(&self, py: Python<'_>, stream: usize, place: &str) -> PyResult<()> {
        // SAFETY: the caller names a stream of this rank's device, which lives during the call.
        self.act(py, place, |rank| unsafe { rank.borrow_stream(stream) }.barrier())
    }

    fn broadcast<'py>(&self, py: Python<'py>, root: u32, bytes: &[u8], place: &str) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = bytes.to_vec();
        self.act(py, place, |rank| rank.broadcast(root, &mut bytes))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn leave(&self, py: Python<'_>, place: &str) -> PyResult<()> {
        let left = py.detach(|| {
            let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            set_place(Some(place));
            slot.take().map_or(Ok(()), |rank| {
                rank.try_leave().map_err(|(error, stays)| {
                    *slot = stays;
                    error
                })
            })
        });
        left.map_err(|error| raise(py, &error))
    }
}
