//! The rank of this process, for the host API: `python/symm/_symm.pyi` says what each method is.

use crate::failure::{LEFT, OUT_OF_STEP, raise};
use crate::interrupt::{interrupted, raised};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::Duration;
use symm_remote::lock::lock;
use symm_runtime::{
    Bootstrap, Config, Device, EngineOfGpus, Error, NVSHMEM, Ranks, Watch, join, set_call, set_call_site, set_interrupt,
};

/// What a user can do whose ranks are on several hosts.
const OTHER_HOSTS: &str = "without an engine ranks reach each other through shared memory: give engine='nvshmem', or \
                           start all on one host";
/// Time between two attempts to make a call while another thread makes one.
const RETRY: Duration = Duration::from_millis(1);

/// A rank that has joined a run.
#[pyclass(frozen, name = "Rank", module = "symm._symm")]
pub struct JoinedRank {
    /// Empty when it has left. Held during a call, which may wait for other ranks.
    rank: Mutex<Option<symm_runtime::Rank>>,
    /// The run, for callers that do not wait; empty after the same. Never held for long.
    watch: Mutex<Option<Watch>>,
    /// The process that is the rank: one that it forks has a copy of this, and is not a rank.
    process: u32,
    number: u32,
    heap_size: u64,
    heap_bases: Vec<i64>,
    table: u64,
}

/// Keeps the heaps of a run mapped.
#[pyclass(frozen, module = "symm._symm")]
pub struct Heaps {
    watch: Watch,
    process: u32,
}

/// Joins the run that the environment describes, or one of a single rank.
#[pyfunction]
pub fn join_run(
    py: Python<'_>,
    heap_size: u64,
    device: &str,
    timeout: Option<f64>,
    place: &str,
    reached_by: (Option<String>, Option<u32>),
) -> PyResult<JoinedRank> {
    let (name, domain) = reached_by;
    let engine = match &name {
        None => None,
        Some(name) if name == NVSHMEM => Some(EngineOfGpus { domain }),
        Some(name) => return Err(PyValueError::new_err(format!("no engine {name:?}: {NVSHMEM:?}"))),
    };
    let domain = domain.map(|ranks| ranks.to_string());
    let terms = [("the engine", name), ("the domain", domain)];
    let device = match device {
        "cpu" => Device::Cpu,
        "cuda" => Device::Cuda(Vec::new()),
        "hip" => Device::Hip(Vec::new()),
        _ => return Err(PyValueError::new_err(format!("no device {device:?}: cpu, cuda or hip"))),
    };
    let timeout = timeout.map(Duration::try_from_secs_f64).transpose();
    let timeout = timeout.map_err(|error| PyValueError::new_err(format!("timeout: {error}")))?;
    outcome(py, "symm.init", place, || {
        let ranks = if Bootstrap::is_launched() {
            let otherwise = matches!(device, Device::Cuda(_)).then_some(OTHER_HOSTS);
            let mut bootstrap = Bootstrap::for_engine(engine.as_ref(), otherwise)?;
            let terms = terms.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
            bootstrap.options = terms.collect();
            bootstrap.deadline = timeout.map_or(bootstrap.deadline, |timeout| timeout.min(bootstrap.deadline));
            Ranks::Process(bootstrap)
        } else {
            Ranks::Threads(1)
        };
        let joined = join(&Config { heap_size, timeout, device, engine, ..Config::new(ranks) })?.pop();
        joined.map(JoinedRank::new).ok_or_else(|| Error::Program("this process has no rank".to_owned()))
    })
}

/// Tells the other ranks of the run that the environment describes why this one cannot take part.
#[pyfunction]
pub fn decline_run(py: Python<'_>, reason: &str) {
    py.detach(|| {
        let launched = Bootstrap::is_launched().then(|| Bootstrap::wherever().ok()).flatten();
        if let Some(bootstrap) = launched.filter(|bootstrap| bootstrap.num_ranks() > 1) {
            bootstrap.decline(reason);
        }
    });
}

/// Calls the runtime without holding Python's lock; `call` and `place` are what errors say of the caller's code.
fn outcome<T: Send>(
    py: Python<'_>,
    call: &str,
    place: &str,
    body: impl FnOnce() -> Result<T, Error> + Send,
) -> PyResult<T> {
    let done = py.detach(|| {
        set_call_site(Some(place));
        set_call(call);
        set_interrupt(interrupted);
        body()
    });
    match raised() {
        Some(error) => Err(error),
        None => done.map_err(|error| raise(py, &error)),
    }
}

fn has_left() -> Error {
    Error::Program(LEFT.to_owned())
}

impl JoinedRank {
    fn new(rank: symm_runtime::Rank) -> Self {
        Self {
            watch: Mutex::new(Some(rank.watch())),
            process: std::process::id(),
            number: rank.rank(),
            heap_size: rank.heap_size(),
            heap_bases: rank.heap_bases()[..rank.num_ranks() as usize].to_vec(),
            table: rank.device_ctx(),
            rank: Mutex::new(Some(rank)),
        }
    }

    /// An error in a process that was forked from the rank's. Locks are not touched there: another thread may have held
    /// them at the fork.
    fn check_process(&self, py: Python<'_>) -> PyResult<()> {
        if std::process::id() == self.process {
            return Ok(());
        }
        let (rank, num_ranks) = (self.number, self.heap_bases.len());
        let message = format!(
            "this process was forked from rank {rank} of {num_ranks} (process {}), and is not a rank: use symm there, \
             or start this process in another way, as multiprocessing's \"spawn\"",
            self.process
        );
        Err(PyErr::from_value(py.import("symm.errors")?.getattr("ForkedError")?.call1((message,))?))
    }

    /// The run, if this rank is in it.
    fn watch(&self, py: Python<'_>) -> PyResult<Watch> {
        self.check_process(py)?;
        let watch = lock(&self.watch).clone();
        watch.ok_or_else(|| raise(py, &has_left()))
    }

    /// The rank, when no other thread makes a call.
    fn seat(&self) -> Result<MutexGuard<'_, Option<symm_runtime::Rank>>, Error> {
        loop {
            match self.rank.try_lock() {
                Ok(seat) => return Ok(seat),
                Err(TryLockError::Poisoned(seat)) => return Ok(seat.into_inner()),
                Err(TryLockError::WouldBlock) if interrupted() => {
                    return Err(Error::Interrupted { report: String::new() });
                }
                Err(TryLockError::WouldBlock) => thread::sleep(RETRY),
            }
        }
    }

    /// What a call comes to. Ranks that have called different things are out of step, and would wait for each other
    /// from here on: that ends the run.
    fn act<T: Send>(
        &self,
        py: Python<'_>,
        call: &str,
        place: &str,
        body: impl FnOnce(&mut Option<symm_runtime::Rank>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let watch = self.watch(py)?;
        outcome(py, call, place, || {
            body(&mut *self.seat()?).inspect_err(|error| {
                if matches!(error.cause(), Error::CollectiveMismatch { .. }) {
                    watch.end(OUT_OF_STEP);
                }
            })
        })
    }

    fn call<T: Send>(
        &self,
        py: Python<'_>,
        call: &str,
        place: &str,
        body: impl FnOnce(&symm_runtime::Rank) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        self.act(py, call, place, |rank| body(rank.as_ref().ok_or_else(has_left)?))
    }

    /// What is left of it for a time without Python: its number, its run, and itself if no call is made for it.
    pub fn take(&self, py: Python<'_>) -> PyResult<(u32, Watch, Option<symm_runtime::Rank>)> {
        let watch = self.watch(py)?;
        Ok((self.number, watch, self.rank.try_lock().ok().and_then(|mut rank| rank.take())))
    }

    /// The offset in the heap, if an address is in this rank's.
    fn offset(&self, address: u64) -> Option<u64> {
        let offset = address.wrapping_sub(self.heap_bases[self.number as usize].cast_unsigned());
        (offset < self.heap_size).then_some(offset)
    }
}

#[pymethods]
impl JoinedRank {
    #[getter]
    fn rank(&self, py: Python<'_>) -> PyResult<u32> {
        self.watch(py).map(|_| self.number)
    }

    #[getter]
    fn num_ranks(&self, py: Python<'_>) -> PyResult<usize> {
        self.watch(py).map(|_| self.heap_bases.len())
    }

    #[getter]
    fn heap_size(&self, py: Python<'_>) -> PyResult<u64> {
        self.watch(py).map(|_| self.heap_size)
    }

    #[getter]
    fn heap_bases(&self, py: Python<'_>) -> PyResult<Vec<i64>> {
        self.watch(py).map(|_| self.heap_bases.clone())
    }

    #[getter]
    fn table(&self, py: Python<'_>) -> PyResult<u64> {
        self.watch(py).map(|_| self.table)
    }

    fn is_symmetric(&self, py: Python<'_>, address: u64) -> PyResult<bool> {
        self.watch(py).map(|_| self.offset(address).is_some())
    }

    fn as_remote(&self, py: Python<'_>, address: u64, rank: u32) -> PyResult<u64> {
        self.watch(py)?;
        let base = self.heap_bases.get(rank as usize).map(|base| base.cast_unsigned());
        let place = base.zip(self.offset(address)).map(|(base, offset)| base + offset);
        place.ok_or_else(|| PyValueError::new_err(format!("{address:#x} has no counterpart on rank {rank}")))
    }

    fn hold(&self, py: Python<'_>) -> PyResult<Heaps> {
        Ok(Heaps { watch: self.watch(py)?, process: self.process })
    }

    fn check(&self, py: Python<'_>) -> PyResult<()> {
        let watch = self.watch(py)?;
        watch.check().map_err(|error| raise(py, &error))
    }

    fn end(&self, py: Python<'_>, reason: &str) -> PyResult<()> {
        self.watch(py).map(|watch| watch.end(reason))
    }

    fn alloc(&self, py: Python<'_>, bytes: u64, call: &str, place: &str) -> PyResult<usize> {
        self.call(py, call, place, |rank| Ok(rank.alloc(bytes, 0)? as usize))
    }

    fn free(&self, py: Python<'_>, address: usize, place: &str) -> PyResult<()> {
        self.call(py, "", place, |rank| rank.free(address as *mut u8))
    }

    #[pyo3(signature = (place, call = "World.barrier"))]
    fn barrier(&self, py: Python<'_>, place: &str, call: &str) -> PyResult<()> {
        self.call(py, call, place, symm_runtime::Rank::barrier)
    }

    fn stream_barrier(&self, py: Python<'_>, stream: usize, place: &str) -> PyResult<()> {
        // SAFETY: the caller names a stream of this rank's device, which lives during the call.
        self.call(py, "World.device_barrier", place, |rank| unsafe { rank.borrow_stream(stream) }.barrier())
    }

    fn broadcast<'py>(
        &self,
        py: Python<'py>,
        root: u32,
        bytes: &[u8],
        call: &str,
        place: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = bytes.to_vec();
        self.call(py, call, place, |rank| rank.broadcast(root, &mut bytes))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn leave(&self, py: Python<'_>, place: &str) -> PyResult<()> {
        self.act(py, "World.close", place, |slot| {
            let left = slot.take().map_or(Ok(()), |rank| {
                rank.try_leave().map_err(|(error, stays)| {
                    *slot = stays;
                    error
                })
            });
            if slot.is_none() {
                // Memory that no tensor holds goes with the run.
                *lock(&self.watch) = None;
            }
            left
        })
    }
}

impl Drop for JoinedRank {
    fn drop(&mut self) {
        if std::process::id() != self.process {
            // The run goes on without this process: nothing of it is to end here.
            std::mem::forget(self.rank.get_mut().unwrap_or_else(PoisonError::into_inner).take());
            std::mem::forget(self.watch.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

impl Drop for Heaps {
    fn drop(&mut self) {
        if std::process::id() != self.process {
            std::mem::forget(self.watch.clone());
        }
    }
}
