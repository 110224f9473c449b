//! Bytes that are no messages: no crash, no hang, little memory.
#![allow(missing_docs, reason = "tests say what they show")]
#![allow(clippy::cast_possible_truncation, reason = "any bits will do")]

mod common;

use common::*;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;
use symm_remote::address::Address;
use symm_remote::error::Failure;
use symm_remote::message::{Announced, Answer, Copy, Hello, Outputs, Request, Verb, Welcome, Work};
use symm_remote::value::{Dtype, Meta, Value};
use symm_remote::wire::{Encoder, VERSION};

/// Numbers that look random, the same in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most.max(1) as u64) as usize
    }
}

fn values() -> Vec<Value> {
    let meta = Meta { id: Some(3), dtype: float(), shape: vec![2, 3], strides: vec![3, 1], offset: -1 };
    vec![
        Value::None,
        Value::Bool(true),
        Value::Int(i64::MIN),
        Value::Unsigned(u64::MAX),
        Value::Float(-0.5),
        Value::Complex(1.0, -2.0),
        Value::Text("größer".into()),
        Value::Bytes(vec![0, 255]),
        Value::Dtype(Dtype::named("bfloat16").unwrap()),
        Value::Layout(5),
        Value::MemoryFormat(3),
        Value::Device,
        Value::Tensor(u64::MAX),
        Value::Generator(1),
        Value::Scalar(float(), vec![1, 2, 3, 4]),
        Value::Context,
        Value::Meta(meta),
        Value::List(vec![Value::Tuple(vec![Value::Int(1)]), Value::Dict(vec![("a".into(), Value::None)])]),
    ]
}

fn requests() -> Vec<Request> {
    let work = |outputs| Work { reply: Some(9), outputs, args: values(), kwargs: vec![("dim".into(), Value::Int(-1))] };
    let announced = Announced { id: 1, dtype: float(), shape: vec![2, 0] };
    let copy = Copy {
        id: 1,
        address: "unix:/tmp/x".into(),
        token: Some("token".into()),
        certificate: Some(vec![1; 9]),
        session: [7; 16],
        new_id: 2,
        milliseconds: 3,
    };
    vec![
        Request::Hello(Hello { version: VERSION, token: Some("token".into()), gives_to: Some([7; 16]) }),
        Request::Op { index: 3, name: "aten::add.Tensor".into() },
        Request::Call { op: 3, work: work(Outputs::Ids(vec![Some(1), None])) },
        Request::Verb { verb: Verb::Leave, work: work(Outputs::From(7)) },
        Request::Drop(vec![1, 2, u64::MAX]),
        Request::Upload(announced.clone()),
        Request::Fetch { request: 1, id: 2 },
        Request::Meta { request: 1, id: 2 },
        Request::Sync { request: 1 },
        Request::Copy(Box::new(copy)),
        Request::Expect { id: 1, milliseconds: 100 },
        Request::Give(announced),
        Request::NoGift { id: 1, failure: Failure::new("IndexError", "text") },
        Request::Bye,
    ]
}

fn answers() -> Vec<Answer> {
    let failure = Failure::new("IndexError", "text");
    let text = String::from;
    let welcome = Welcome {
        session: [1; 16],
        pid: 1,
        device: text("cpu"),
        host: text("here"),
        torch: text("2"),
        rank: Some((1, 2)),
    };
    vec![
        Answer::Welcome(Box::new(welcome)),
        Answer::Refused("why".into()),
        Answer::Ack(5),
        Answer::Failed { message: 5, failure: failure.clone() },
        Answer::Reply { request: 1, value: Value::List(values()) },
        Answer::Error { request: 1, failure },
        Answer::Poisoned { request: 1, message: 5 },
        Answer::Tensor { request: 1, dtype: float(), shape: vec![3] },
    ]
}

fn frames() -> Vec<Vec<u8>> {
    let mut encoder = Encoder::default();
    let mut frames: Vec<Vec<u8>> = Vec::new();
    frames.extend(requests().iter().map(|request| request.write(&mut encoder).unwrap().to_vec()));
    frames.extend(answers().iter().map(|answer| answer.write(&mut encoder).unwrap().to_vec()));
    frames
}

fn mutate(random: &mut Random, frame: &mut Vec<u8>) {
    for _ in 0..=random.below(4) {
        let at = random.below(frame.len());
        match random.below(5) {
            0 => frame[at] ^= 1 << random.below(8),
            1 => frame[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
            2 => frame.truncate(at.max(6)),
            3 => frame.insert(at, random.next() as u8),
            _ => {
                let end = (at + random.below(16)).min(frame.len());
                let piece = frame[at..end].to_vec();
                frame.extend(piece);
            }
        }
    }
}

#[test]
fn messages_come_back_as_they_were() {
    let mut encoder = Encoder::default();
    for request in requests() {
        let frame = request.write(&mut encoder).unwrap();
        assert_eq!(Request::read(frame[4], &frame[5..]), Ok(request));
        assert!(Request::read(frame[4], &[&frame[5..], &[0]].concat()).is_err());
    }
    for answer in answers() {
        let frame = answer.write(&mut encoder).unwrap();
        assert_eq!(Answer::read(frame[4], &frame[5..]), Ok(answer));
        assert!(Answer::read(frame[4], &[&frame[5..], &[0]].concat()).is_err());
    }
}

/// Whether a request can be written; if so, it can be read.
fn written(request: &Request, encoder: &mut Encoder) -> bool {
    let frame = request.write(encoder);
    frame.is_ok_and(|frame| Request::read(frame[4], &frame[5..]).as_ref() == Ok(request))
}

#[test]
fn what_is_too_large_is_refused_at_both_ends() {
    let mut deep = Value::None;
    for _ in 0..33 {
        deep = Value::List(vec![deep]);
    }
    let reply = |value| Answer::Reply { request: 1, value };
    let mut encoder = Encoder::default();
    assert!(reply(deep).write(&mut encoder).is_err());
    assert!(reply(Value::Bytes(vec![0; 1 << 21])).write(&mut encoder).is_err());
    assert!(reply(Value::List(vec![Value::None; 70_000])).write(&mut encoder).is_err());
    assert!(reply(Value::List(vec![Value::None; 60_000])).write(&mut encoder).is_ok());
    for count in [65_536, 65_537] {
        let outputs = Outputs::Ids(vec![None; count]);
        let call = Request::Call { op: 1, work: Work { reply: None, outputs, args: Vec::new(), kwargs: Vec::new() } };
        assert_eq!(written(&call, &mut encoder), count == 65_536);
    }
    for dimensions in [64, 65] {
        let upload = Request::Upload(Announced { id: 1, dtype: Dtype::new(0).unwrap(), shape: vec![1; dimensions] });
        assert_eq!(written(&upload, &mut encoder), dimensions == 64);
    }
    // Lists that say that they have many values, one in another: each level may not claim them all.
    let mut body = vec![1];
    for _ in 0..32 {
        body.extend([17, 0xff, 0x7f]);
    }
    body.resize(1 << 15, 0);
    assert!(Answer::read(4, &body).is_err());
}

#[test]
fn mutated_frames_are_errors_or_other_messages() {
    let frames = frames();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut refused = 0;
    for round in 0..100_000 {
        let mut frame = frames[round % frames.len()].clone();
        mutate(&mut random, &mut frame);
        refused += usize::from(Request::read(frame[4], &frame[5..]).is_err());
        refused += usize::from(Answer::read(frame[4], &frame[5..]).is_err());
    }
    assert!(refused > 100_000, "{refused}");
}

#[test]
fn a_worker_outlives_mutated_clients() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, executor) = worker(folder.path(), "a");
    let Address::Unix(path) = worker.address() else { unreachable!() };
    let mut encoder = Encoder::default();
    let hello = Request::Hello(Hello { version: VERSION, token: None, gives_to: None });
    let hello = hello.write(&mut encoder).unwrap().to_vec();
    let frames = frames();
    let mut random = Random(42);
    for round in 0..300 {
        let mut stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        // The worker may have ended the connection before all is written.
        let _ = stream.write_all(&hello);
        for _ in 0..=random.below(20) {
            let mut frame = frames[random.below(frames.len())].clone();
            mutate(&mut random, &mut frame);
            if round % 2 == 0 {
                let length = u32::try_from(frame.len() - 5).unwrap();
                frame[..4].copy_from_slice(&length.to_le_bytes());
            }
            if stream.write_all(&frame).is_err() {
                break;
            }
        }
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut rest = Vec::new();
        match stream.read_to_end(&mut rest) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "round {round}: {error}"),
        }
    }
    let client = connect(worker.address());
    upload(&client, 1, &[1.5]);
    assert_eq!(fetch(&client, 1, 1), Ok(vec![1.5]));
    drop(client);
    eventually("all is freed", || executor.alive.load(std::sync::atomic::Ordering::SeqCst) == 0);
}
