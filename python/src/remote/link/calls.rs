//! Operations and verbs of a link.

use super::super::encode::{outputs, too_large};
use super::super::raise;
use super::super::types::types;
use super::{Link, arguments};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple};
use std::sync::Arc;
use symm_remote::lock::lock;
use symm_remote::message::{Outputs, Request, Verb, Work, kind};
use symm_remote::value::Value;
use symm_remote::wire::Encoder;

/// Where random numbers begin: 64 bits, which torch takes with a sign or without.
#[derive(FromPyObject)]
enum Seed {
    Signed(i64),
    Unsigned(u64),
}

impl Seed {
    fn value(self) -> Value {
        match self {
            Self::Signed(seed) => Value::Int(seed),
            Self::Unsigned(seed) => Value::Unsigned(seed),
        }
    }
}

#[pymethods]
impl Link {
    #[pyo3(signature = (op, args, kwargs, outputs, place))]
    fn call<'py>(
        this: &Bound<'py, Self>,
        op: &Bound<'py, PyString>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        outputs: &Bound<'py, PyAny>,
        place: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        this.get().send_call(this, op, args, kwargs, outputs, place, None)
    }

    #[pyo3(signature = (op, args, kwargs, outputs, place, deadline = None))]
    fn ask<'py>(
        this: &Bound<'py, Self>,
        op: &Bound<'py, PyString>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        outputs: &Bound<'py, PyAny>,
        place: &Bound<'py, PyAny>,
        deadline: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        let link = this.get();
        let request = link.client.expect(None);
        if let Err(error) = link.send_call(this, op, args, kwargs, outputs, place, Some(request)) {
            link.client.forget(request);
            return Err(error);
        }
        link.answer(this.py(), request, op.to_str()?, Some(place), deadline)
    }

    #[pyo3(signature = (module, name, args, kwargs, first_id, place, deadline = None))]
    #[expect(clippy::too_many_arguments, reason = "Python's caller gives them by name")]
    fn run_function<'py>(
        this: &Bound<'py, Self>,
        module: &Bound<'py, PyAny>,
        name: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        first_id: u64,
        place: &Bound<'py, PyAny>,
        deadline: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        let kwargs = kwargs.map_or_else(|| PyDict::new(this.py()), Clone::clone);
        let all = PyTuple::new(this.py(), [module, name, args.as_any(), kwargs.as_any()])?;
        this.get().wait_verb(this, Verb::Function, &all, &Outputs::From(first_id), Some(place), deadline)
    }

    #[pyo3(signature = (name, kernel, grid, args, kwargs, place))]
    fn launch<'py>(
        this: &Bound<'py, Self>,
        name: &Bound<'py, PyAny>,
        kernel: &Bound<'py, PyAny>,
        grid: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        place: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let kwargs = kwargs.map_or_else(|| PyDict::new(this.py()), Clone::clone);
        let all = PyTuple::new(this.py(), [name, kernel, grid, args.as_any(), kwargs.as_any()])?;
        this.get().queue_verb(this, Verb::Launch, &all, &Outputs::Ids(Vec::new()), place)
    }

    #[pyo3(signature = (name, source, deadline = None))]
    fn define_source(
        this: &Bound<'_, Self>,
        name: &Bound<'_, PyAny>,
        source: &Bound<'_, PyAny>,
        deadline: Option<f64>,
    ) -> PyResult<()> {
        let all = PyTuple::new(this.py(), [name, source])?;
        this.get().wait_verb(this, Verb::Define, &all, &Outputs::Ids(Vec::new()), None, deadline).map(|_| ())
    }

    #[pyo3(signature = (seed, generator = None))]
    fn seed(&self, py: Python<'_>, seed: Seed, generator: Option<u64>) -> PyResult<()> {
        self.plain_verb(py, Verb::Seed, vec![seed.value(), generator.map_or(Value::None, Value::Generator)])
    }

    fn new_generator(&self, py: Python<'_>, id: u64, seed: Seed) -> PyResult<()> {
        self.plain_verb(py, Verb::NewGenerator, vec![Value::Int(id.cast_signed()), seed.value()])
    }

    fn drop_generator(&self, py: Python<'_>, id: u64) {
        // As with `drop`: a worker that is lost has dropped it.
        let _ = self.plain_verb(py, Verb::DropGenerator, vec![Value::Int(id.cast_signed())]);
    }

    #[pyo3(signature = (generator = None))]
    fn generator_state(&self, py: Python<'_>, generator: Option<u64>) -> PyResult<Py<PyAny>> {
        let reply = self.client.expect(None);
        let args = vec![generator.map_or(Value::None, Value::Generator)];
        let work = Work { reply: Some(reply), outputs: Outputs::Ids(Vec::new()), args, kwargs: Vec::new() };
        self.request(py, &Request::Verb { verb: Verb::GeneratorState, work })?;
        self.answer(py, reply, "generator_state", None, None)
    }

    #[pyo3(signature = (state, generator = None))]
    fn set_generator_state(&self, py: Python<'_>, state: &Bound<'_, PyBytes>, generator: Option<u64>) -> PyResult<()> {
        let generator = generator.map_or(Value::None, Value::Generator);
        self.plain_verb(py, Verb::SetGeneratorState, vec![Value::Bytes(state.as_bytes().to_vec()), generator])
    }

    #[pyo3(signature = (heap_size = None, deadline = None))]
    fn join(this: &Bound<'_, Self>, heap_size: Option<u64>, deadline: Option<f64>) -> PyResult<()> {
        let all = (heap_size, deadline).into_pyobject(this.py())?;
        this.get().wait_verb(this, Verb::Join, &all, &Outputs::Ids(Vec::new()), None, deadline).map(|_| ())
    }

    #[pyo3(signature = (heap_size, place))]
    fn join_start(this: &Bound<'_, Self>, heap_size: Option<u64>, place: &Bound<'_, PyAny>) -> PyResult<()> {
        // Ranks that wait for one that hangs say which, before their client gives up.
        let timeout = *lock(&this.get().deadline);
        let all = (heap_size, timeout).into_pyobject(this.py())?;
        this.get().queue_verb(this, Verb::Join, &all, &Outputs::Ids(Vec::new()), place)
    }

    fn zeros(
        this: &Bound<'_, Self>,
        id: u64,
        shape: &Bound<'_, PyAny>,
        dtype: &Bound<'_, PyAny>,
        place: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let all = PyTuple::new(this.py(), [shape, dtype])?;
        this.get().queue_verb(this, Verb::Zeros, &all, &Outputs::Ids(vec![Some(id)]), place)
    }

    fn barrier(this: &Bound<'_, Self>, place: &Bound<'_, PyAny>) -> PyResult<()> {
        this.get().queue_verb(this, Verb::Barrier, &PyTuple::empty(this.py()), &Outputs::Ids(Vec::new()), place)
    }

    #[pyo3(signature = (name, args, kwargs, outputs, place))]
    fn collective<'py>(
        this: &Bound<'py, Self>,
        name: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
        outputs: Vec<Option<u64>>,
        place: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let all = PyTuple::new(this.py(), [name, args.as_any(), kwargs.as_any()])?;
        this.get().queue_verb(this, Verb::Collective, &all, &Outputs::Ids(outputs), place)
    }

    fn leave(this: &Bound<'_, Self>, place: &Bound<'_, PyAny>) -> PyResult<()> {
        this.get().queue_verb(this, Verb::Leave, &PyTuple::empty(this.py()), &Outputs::Ids(Vec::new()), place)
    }
}

impl Link {
    /// Queues an operation whose arguments have been written.
    pub fn issue(
        this: &Bound<'_, Self>,
        name: &str,
        outputs: impl ExactSizeIterator<Item = Option<u64>>,
        arguments: &Encoder,
        place: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let (link, py) = (this.get(), this.py());
        link.room(py)?;
        let (op, index) = link.op(py, name)?;
        let mut encoder = std::mem::take(&mut *lock(&link.encoder));
        encoder.begin(kind::CALL);
        encoder.number(index.into());
        encoder.option(None);
        encoder.byte(0);
        encoder.count(outputs.len());
        outputs.for_each(|id| encoder.option(id));
        encoder.append(arguments);
        link.send(this, Ok(()), encoder, op, place)
    }

    #[expect(clippy::too_many_arguments, reason = "one for each part of the message")]
    fn send_call<'py>(
        &self,
        this: &Bound<'py, Self>,
        op: &Bound<'py, PyString>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
        ids: &Bound<'py, PyAny>,
        place: &Bound<'py, PyAny>,
        reply: Option<u64>,
    ) -> PyResult<()> {
        let py = this.py();
        self.room(py)?;
        let name = op.to_str()?;
        let (op, index) = self.op(py, name)?;
        // Nobody else has it while Python's code may run here.
        let mut encoder = std::mem::take(&mut *lock(&self.encoder));
        encoder.begin(kind::CALL);
        encoder.number(index.into());
        encoder.option(reply);
        let written = outputs(&mut encoder, ids).and_then(|()| arguments(this, &mut encoder, types(py)?, args, kwargs));
        self.send(this, written, encoder, op, place)
    }

    /// Queues what has been written.
    fn send(
        &self,
        this: &Bound<'_, Self>,
        written: PyResult<()>,
        mut encoder: Encoder,
        op: Arc<str>,
        place: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let py = this.py();
        let queued = written.and_then(|()| {
            let frame = encoder.finish().map_err(too_large)?;
            self.client.queue(frame).map_err(|error| match error {
                symm_remote::error::Error::Lost(reason) => self.lost(py, &op, Some(place.clone().unbind()), &reason),
                error => raise::error(py, &error, &self.name),
            })
        });
        *lock(&self.encoder) = encoder;
        self.note(queued?, op, place);
        Ok(())
    }

    /// The number that stands for an operation.
    fn op(&self, py: Python<'_>, name: &str) -> PyResult<(Arc<str>, u32)> {
        let mut ops = lock(&self.ops);
        if let Some((name, index)) = ops.get_key_value(name) {
            return Ok((name.clone(), *index));
        }
        let index = u32::try_from(ops.len()).unwrap_or(u32::MAX);
        self.client.request(&Request::Op { index, name: name.into() }).map_err(|error| self.unsent(py, &error))?;
        let name: Arc<str> = name.into();
        ops.insert(name.clone(), index);
        Ok((name, index))
    }

    fn write_verb(
        this: &Bound<'_, Self>,
        verb: Verb,
        args: &Bound<'_, PyTuple>,
        outputs: &Outputs,
        reply: Option<u64>,
    ) -> (Encoder, PyResult<()>) {
        let mut encoder = Encoder::default();
        encoder.begin(kind::VERB);
        encoder.byte(verb as u8);
        encoder.option(reply);
        outputs.write(&mut encoder);
        let written = types(this.py()).and_then(|types| arguments(this, &mut encoder, types, args, None));
        (encoder, written)
    }

    fn queue_verb(
        &self,
        this: &Bound<'_, Self>,
        verb: Verb,
        args: &Bound<'_, PyTuple>,
        outputs: &Outputs,
        place: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.room(this.py())?;
        let (encoder, written) = Self::write_verb(this, verb, args, outputs, None);
        self.send(this, written, encoder, verb.name().into(), place)
    }

    fn wait_verb(
        &self,
        this: &Bound<'_, Self>,
        verb: Verb,
        args: &Bound<'_, PyTuple>,
        outputs: &Outputs,
        place: Option<&Bound<'_, PyAny>>,
        deadline: Option<f64>,
    ) -> PyResult<Py<PyAny>> {
        let py = this.py();
        let request = self.client.expect(None);
        let (encoder, written) = Self::write_verb(this, verb, args, outputs, Some(request));
        let none = py.None().into_bound(py);
        if let Err(error) = self.send(this, written, encoder, verb.name().into(), place.unwrap_or(&none)) {
            self.client.forget(request);
            return Err(error);
        }
        self.answer(py, request, verb.name(), place, deadline)
    }

    fn plain_verb(&self, py: Python<'_>, verb: Verb, args: Vec<Value>) -> PyResult<()> {
        let work = Work { reply: None, outputs: Outputs::Ids(Vec::new()), args, kwargs: Vec::new() };
        self.request(py, &Request::Verb { verb, work }).map(|_| ())
    }
}
