//! An executor of its own for these tests: vectors of float32, and a few operations on them.
#![allow(dead_code, missing_docs, reason = "each test uses a part of this")]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "the numbers are small")]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use symm_remote::address::Address;
use symm_remote::client::{Client, Endpoint, Outcome};
use symm_remote::error::Failure;
use symm_remote::executor::{About, Executor, Produced};
use symm_remote::memory::Memory;
use symm_remote::message::{Announced, Outputs, Request, Verb, Work};
use symm_remote::value::{Dtype, Meta, Value};
use symm_remote::worker::{Options, Tensors, Worker};

/// A vector that counts itself.
pub struct Vector {
    numbers: Box<[f32]>,
    alive: Arc<AtomicUsize>,
}

impl Drop for Vector {
    fn drop(&mut self) {
        self.alive.fetch_sub(1, Ordering::SeqCst);
    }
}

#[derive(Clone, Default)]
pub struct Vectors {
    pub alive: Arc<AtomicUsize>,
    pub log: Arc<Mutex<Vec<String>>>,
}

impl Vectors {
    fn vector(&self, numbers: Vec<f32>) -> Arc<Vector> {
        self.alive.fetch_add(1, Ordering::SeqCst);
        Arc::new(Vector { numbers: numbers.into(), alive: self.alive.clone() })
    }
}

pub fn float() -> Dtype {
    Dtype::named("float32").unwrap()
}

impl Executor for Vectors {
    type Tensor = Arc<Vector>;
    type Op = String;

    fn about(&self) -> About {
        About { device: "cpu".into(), torch: "none".into(), host: "here".into(), rank: None }
    }

    fn enter(&self, work: &mut dyn FnMut()) {
        work();
    }

    fn outside(&self, work: &mut (dyn FnMut() + Send)) {
        work();
    }

    fn resolve(&self, name: &str) -> Result<String, Failure> {
        let name = name.strip_prefix("test::").ok_or_else(|| Failure::refused(format!("{name}: only test")))?;
        Ok(name.into())
    }

    fn call(
        &self,
        op: &String,
        args: &[Value],
        _: &[(String, Value)],
        tensors: &Tensors<Self::Tensor>,
        _: bool,
    ) -> Result<Produced<Self::Tensor>, Failure> {
        let made = match (op.as_str(), args) {
            ("full", [Value::Int(length), Value::Float(value)]) => {
                self.vector(vec![*value as f32; usize::try_from(*length).unwrap()])
            }
            ("add", [Value::Tensor(a), Value::Tensor(b)]) => {
                let (a, b) = (tensors.tensor(*a)?, tensors.tensor(*b)?);
                if a.numbers.len() != b.numbers.len() {
                    return Err(Failure::new("IndexError", "sizes differ"));
                }
                self.vector(a.numbers.iter().zip(&*b.numbers).map(|(a, b)| a + b).collect())
            }
            ("sleep", [Value::Float(seconds)]) => {
                thread::sleep(Duration::from_secs_f64(*seconds));
                return Ok(Produced { tensors: Vec::new(), value: Value::None });
            }
            ("note", _) => {
                self.log.lock().unwrap().push("note".into());
                return Ok(Produced { tensors: Vec::new(), value: Value::None });
            }
            ("many", [Value::Int(count)]) => {
                let tensors: Vec<_> = (0..*count).map(|_| Some(self.vector(vec![0.0]))).collect();
                let value = Value::List(vec![Value::None; tensors.len()]);
                return Ok(Produced { tensors, value });
            }
            ("sum", [Value::Tensor(a)]) => {
                let sum = tensors.tensor(*a)?.numbers.iter().sum::<f32>();
                return Ok(Produced { tensors: Vec::new(), value: Value::Float(sum.into()) });
            }
            _ => return Err(Failure::new("TypeError", format!("{op} takes something else"))),
        };
        Ok(Produced { tensors: vec![Some(made)], value: Value::None })
    }

    fn verb(
        &self,
        verb: Verb,
        _: &[Value],
        _: &[(String, Value)],
        _: &Tensors<Self::Tensor>,
    ) -> Result<Produced<Self::Tensor>, Failure> {
        Err(Failure::refused(verb.name()))
    }

    fn meta(&self, tensor: &Self::Tensor) -> Result<Meta, Failure> {
        let shape = vec![tensor.numbers.len() as i64];
        Ok(Meta { id: None, dtype: float(), shape, strides: vec![1], offset: 0 })
    }

    fn receive(&self, dtype: Dtype, shape: &[i64]) -> Result<(Self::Tensor, Memory), Failure> {
        let bytes = dtype.bytes(shape).unwrap();
        if bytes > 1 << 30 {
            return Err(Failure::new("OutOfMemoryError", "too large"));
        }
        let tensor = self.vector(vec![0.0; bytes.div_ceil(4)]);
        let address = tensor.numbers.as_ptr().cast_mut().cast();
        // SAFETY: the numbers live as long as the tensor, and nobody reads them before they have come.
        let memory = unsafe { Memory::new(address, bytes, Box::new(tensor.clone())) };
        Ok((tensor, memory))
    }

    fn received(&self, tensor: Self::Tensor) -> Result<Self::Tensor, Failure> {
        Ok(tensor)
    }

    fn bytes(&self, tensor: &Self::Tensor) -> Result<(Meta, Memory), Failure> {
        let address = tensor.numbers.as_ptr().cast_mut().cast();
        // SAFETY: the numbers live as long as the tensor, and nobody writes them.
        let memory = unsafe { Memory::new(address, tensor.numbers.len() * 4, Box::new(tensor.clone())) };
        Ok((self.meta(tensor)?, memory))
    }

    fn synchronize(&self) -> Result<(), Failure> {
        Ok(())
    }

    fn ended(&self, session: u64) {
        self.log.lock().unwrap().push(format!("session {session} ended"));
    }
}

/// A worker at a unix socket in this folder, with what it logs.
pub fn worker(folder: &Path, name: &str) -> (Worker<Vectors>, Vectors) {
    let executor = Vectors::default();
    let log = executor.log.clone();
    let options = Options {
        listen: Address::Unix(folder.join(name)),
        token: None,
        identity: None,
        log: Box::new(move |line| log.lock().unwrap().push(line.into())),
    };
    (Worker::start(executor.clone(), options).unwrap(), executor)
}

pub fn connect(address: &Address) -> Client {
    let endpoint = Endpoint { address: address.clone(), token: None, certificate: None };
    Client::connect(endpoint, Duration::from_secs(10)).unwrap()
}

/// Whether this has been logged.
pub fn logged(executor: &Vectors, text: &str) -> bool {
    executor.log.lock().unwrap().iter().any(|line| line.contains(text))
}

/// Waits until it is true, at most a minute.
pub fn eventually(what: &str, check: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !check() {
        assert!(Instant::now() < until, "never: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}

pub fn op(client: &Client, index: u32, name: &str) {
    client.request(&Request::Op { index, name: name.into() }).unwrap();
}

pub fn call(client: &Client, op: u32, args: Vec<Value>, ids: &[u64], reply: Option<u64>) -> u64 {
    let outputs = Outputs::Ids(ids.iter().map(|id| Some(*id)).collect());
    client.request(&Request::Call { op, work: Work { reply, outputs, args, kwargs: Vec::new() } }).unwrap()
}

pub fn answer(client: &Client, request: u64) -> Outcome {
    client.flush();
    client.wait(request, Instant::now() + Duration::from_secs(20)).expect("an answer in time")
}

pub fn sync(client: &Client) -> Outcome {
    let request = client.expect(None);
    client.request(&Request::Sync { request }).unwrap();
    answer(client, request)
}

/// Memory of its own.
pub fn owned(mut bytes: Vec<u8>) -> Memory {
    let (address, length) = (bytes.as_mut_ptr(), bytes.len());
    // SAFETY: a vector's bytes stay where they are while nobody changes it.
    unsafe { Memory::new(address, length, Box::new(bytes)) }
}

pub fn upload(client: &Client, id: u64, numbers: &[f32]) {
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let shape = vec![numbers.len() as i64];
    client.upload(&Request::Upload(Announced { id, dtype: float(), shape }), owned(bytes)).unwrap();
}

/// The numbers of a tensor on a worker.
pub fn fetch(client: &Client, id: u64, length: usize) -> Result<Vec<f32>, Outcome> {
    let place = Arc::new(Mutex::new(vec![0f32; length]));
    let address = place.lock().unwrap().as_mut_ptr().cast();
    // SAFETY: the vector is not changed before the bytes have come.
    let memory = unsafe { Memory::new(address, length * 4, Box::new(place.clone())) };
    let request = client.expect(Some(memory));
    client.request(&Request::Fetch { request, id }).unwrap();
    match answer(client, request) {
        Outcome::Received(..) => Ok(place.lock().unwrap().clone()),
        outcome => Err(outcome),
    }
}
