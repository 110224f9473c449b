//! A client and a worker: order, failures, transfers, ends.
#![allow(missing_docs, reason = "tests say what they show")]
#![allow(clippy::cast_precision_loss, reason = "the numbers are small")]

mod common;

use common::*;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};
use symm_remote::address::Address;
use symm_remote::client::{Client, Outcome};
use symm_remote::message::{Copy, Hello, Outputs, Request, Work};
use symm_remote::value::Value;
use symm_remote::wire::{Encoder, VERSION};
use symm_remote::worker::Worker;

#[test]
fn operations_run_in_order_and_tensors_are_freed() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, executor) = worker(folder.path(), "a");
    let client = connect(worker.address());
    op(&client, 0, "test::full");
    op(&client, 1, "test::add");
    call(&client, 0, vec![Value::Int(4), Value::Float(1.0)], &[1], None);
    for id in 1..1000 {
        call(&client, 1, vec![Value::Tensor(id), Value::Tensor(1)], &[id + 1], None);
    }
    assert_eq!(fetch(&client, 1000, 4), Ok(vec![1000.0; 4]));
    let dropped = client.request(&Request::Drop((1..1000).collect())).unwrap();
    sync(&client);
    assert_eq!(executor.alive.load(Ordering::SeqCst), 1);
    eventually("all is acknowledged", || client.acknowledged() > dropped);
    client.close(Duration::from_secs(5));
    eventually("the last one is freed", || executor.alive.load(Ordering::SeqCst) == 0);
    eventually("the executor hears of the end", || logged(&executor, "session 1 ended"));
}

#[test]
fn a_failure_is_told_once_and_poisons_its_results() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, _) = worker(folder.path(), "a");
    let client = connect(worker.address());
    op(&client, 0, "test::full");
    op(&client, 1, "test::add");
    op(&client, 2, "test::sleep");
    call(&client, 0, vec![Value::Int(4), Value::Float(1.0)], &[1], None);
    call(&client, 0, vec![Value::Int(5), Value::Float(1.0)], &[2], None);
    call(&client, 2, vec![Value::Float(0.2)], &[], None);
    let bad = call(&client, 1, vec![Value::Tensor(1), Value::Tensor(2)], &[3], None);
    call(&client, 1, vec![Value::Tensor(3), Value::Tensor(1)], &[4], None);
    call(&client, 1, vec![Value::Tensor(1), Value::Tensor(1)], &[5], None);
    call(&client, 1, vec![Value::List(vec![Value::Tensor(4)])], &[6], None);
    let kwargs = vec![("other".into(), Value::Tensor(6))];
    let work = Work { reply: None, outputs: Outputs::Ids(vec![Some(7)]), args: Vec::new(), kwargs };
    client.request(&Request::Call { op: 1, work }).unwrap();
    client.flush();
    eventually("it is acknowledged", || client.acknowledged() >= bad);
    assert!(client.has_failures(), "a failure is told before its message is acknowledged");
    sync(&client);
    let failures = client.failures();
    assert!(!client.has_failures());
    assert_eq!(failures.len(), 1);
    assert_eq!((failures[0].0, failures[0].1.kind.as_str()), (bad, "IndexError"));
    for id in [4, 6, 7] {
        assert_eq!(fetch(&client, id, 4), Err(Outcome::Poisoned(bad)));
    }
    assert_eq!(fetch(&client, 5, 4), Ok(vec![2.0; 4]));
}

#[test]
fn an_operation_of_another_namespace_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, _) = worker(folder.path(), "a");
    let client = connect(worker.address());
    op(&client, 0, "os::system");
    call(&client, 0, vec![Value::Text("true".into())], &[], None);
    sync(&client);
    assert_eq!(client.failures()[0].1.kind, symm_remote::error::REFUSED);
}

#[test]
fn a_number_of_results_that_differs_is_a_failure() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, _) = worker(folder.path(), "a");
    let client = connect(worker.address());
    op(&client, 0, "test::full");
    call(&client, 0, vec![Value::Int(4), Value::Float(1.0)], &[1, 2], None);
    sync(&client);
    assert!(client.failures()[0].1.text.contains("gave 1 tensors"));
}

#[test]
fn results_that_no_answer_can_hold_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, executor) = worker(folder.path(), "a");
    let client = connect(worker.address());
    op(&client, 0, "test::many");
    for (count, fits) in [(3, true), (70_000, false)] {
        let request = client.expect(None);
        let work =
            Work { reply: Some(request), outputs: Outputs::From(1), args: vec![Value::Int(count)], kwargs: Vec::new() };
        client.request(&Request::Call { op: 0, work }).unwrap();
        assert_eq!(matches!(answer(&client, request), Outcome::Value(_)), fits);
        sync(&client);
        assert_eq!(executor.alive.load(Ordering::SeqCst), 3);
    }
}

#[test]
fn large_tensors_go_and_come() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, _) = worker(folder.path(), "a");
    let client = connect(worker.address());
    for length in [0, 1, 1 << 14, (1 << 20) + 3] {
        let numbers: Vec<f32> = (0..length).map(|number| number as f32).collect();
        upload(&client, 7, &numbers);
        assert!(fetch(&client, 7, numbers.len()) == Ok(numbers), "{length} numbers");
    }
    assert!(matches!(fetch(&client, 7, 5), Err(Outcome::Mismatch(..))));
    assert_eq!(sync(&client), Outcome::Value(Value::None));
}

#[test]
fn a_tensor_without_memory_fails_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, _) = worker(folder.path(), "a");
    let client = connect(worker.address());
    upload(&client, 1, &vec![0.5; (1 << 28) + 1]);
    assert!(matches!(fetch(&client, 1, 1), Err(Outcome::Poisoned(_))));
    assert_eq!(client.failures()[0].1.kind, "OutOfMemoryError");
    upload(&client, 2, &[3.0]);
    assert_eq!(fetch(&client, 2, 1), Ok(vec![3.0]));
}

#[test]
fn a_wait_ends_in_time_and_the_late_answer_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, _) = worker(folder.path(), "a");
    let client = connect(worker.address());
    op(&client, 0, "test::sleep");
    call(&client, 0, vec![Value::Float(0.5)], &[], None);
    let request = client.expect(None);
    client.request(&Request::Sync { request }).unwrap();
    client.flush();
    let start = Instant::now();
    assert_eq!(client.wait(request, start + Duration::from_millis(50)), None);
    assert!(start.elapsed() < Duration::from_millis(450));
    client.forget(request);
    assert_eq!(sync(&client), Outcome::Value(Value::None));
}

#[test]
fn a_client_that_dies_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, executor) = worker(folder.path(), "a");
    let (client, other) = (connect(worker.address()), connect(worker.address()));
    upload(&client, 1, &[1.0; 100]);
    upload(&other, 1, &[2.0; 100]);
    sync(&client);
    sync(&other);
    assert_eq!(executor.alive.load(Ordering::SeqCst), 2);
    drop(client);
    eventually("the client's tensor is freed", || executor.alive.load(Ordering::SeqCst) == 1);
    assert_eq!(fetch(&other, 1, 100), Ok(vec![2.0; 100]));
    eventually("its connection is gone", || worker.connections() == 1);
}

#[test]
fn nobody_does_what_a_client_wanted_that_has_died() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, executor) = worker(folder.path(), "a");
    let Address::Unix(path) = worker.address() else { unreachable!() };
    let work = |args| Work { reply: None, outputs: Outputs::Ids(Vec::new()), args, kwargs: Vec::new() };
    let mut requests = vec![
        Request::Hello(Hello { version: VERSION, token: None, gives_to: None }),
        Request::Op { index: 0, name: "test::sleep".into() },
        Request::Op { index: 1, name: "test::note".into() },
    ];
    // More than are taken at once.
    requests.extend((0..100).map(|_| Request::Call { op: 0, work: work(vec![Value::Float(0.03)]) }));
    requests.push(Request::Call { op: 1, work: work(Vec::new()) });
    let mut stream = UnixStream::connect(path).unwrap();
    for request in requests {
        stream.write_all(request.write(&mut Encoder::default()).unwrap()).unwrap();
    }
    // The session has begun when its client is welcome.
    stream.read_exact(&mut [0]).unwrap();
    drop(stream);
    eventually("its session ends", || logged(&executor, "session 1 ended"));
    assert!(!logged(&executor, "note"));
}

#[test]
fn what_a_client_wanted_that_says_goodbye_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, executor) = worker(folder.path(), "a");
    let client = connect(worker.address());
    op(&client, 0, "test::sleep");
    op(&client, 1, "test::note");
    for _ in 0..100 {
        call(&client, 0, vec![Value::Float(0.005)], &[], None);
    }
    call(&client, 1, Vec::new(), &[], None);
    client.close(Duration::from_secs(5));
    eventually("all is done", || logged(&executor, "note"));
}

#[test]
fn a_tensor_is_waited_for_only_as_long_as_its_client_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, executor) = worker(folder.path(), "a");
    let client = connect(worker.address());
    client.request(&Request::Expect { id: 1, milliseconds: 3_600_000 }).unwrap();
    drop(client);
    eventually("its session ends", || logged(&executor, "session 1 ended"));
}

#[test]
fn a_client_has_no_room_for_more_than_its_worker_takes() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, _) = worker(folder.path(), "a");
    let client = connect(worker.address());
    op(&client, 0, "test::sleep");
    op(&client, 1, "test::note");
    call(&client, 0, vec![Value::Float(2.0)], &[], None);
    let mut sent = 0;
    // While the worker is busy, room is made only for what waits there, which is bounded too.
    let until = Instant::now() + Duration::from_secs(1);
    while Instant::now() < until && sent < 400 {
        if client.has_room() {
            call(&client, 1, vec![Value::Bytes(vec![0; 1 << 18])], &[], None);
            sent += 1;
        } else {
            client.await_room(until);
        }
    }
    assert!((1..120).contains(&sent), "{sent} times 256 KiB");
    assert_eq!(sync(&client), Outcome::Value(Value::None));
}

#[test]
fn a_worker_that_stops_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, _) = worker(folder.path(), "a");
    let client = connect(worker.address());
    op(&client, 0, "test::sleep");
    call(&client, 0, vec![Value::Float(0.3)], &[], None);
    let request = client.expect(None);
    client.request(&Request::Sync { request }).unwrap();
    client.flush();
    thread::sleep(Duration::from_millis(50));
    worker.stop();
    assert!(matches!(answer(&client, request), Outcome::Lost(_)));
    assert!(client.request(&Request::Drop(vec![1])).is_err());
    assert!(!folder.path().join("a").exists());
}

/// Has one client's worker send a tensor to the other's.
fn give(from: &Client, id: u64, to: &Worker<Vectors>, there: &Client, new_id: u64) {
    let session = there.welcome().session;
    let address = to.address().to_string();
    let copy = Copy { id, address, token: None, certificate: None, session, new_id, milliseconds: 10_000 };
    from.request(&Request::Copy(Box::new(copy))).unwrap();
}

#[test]
fn workers_give_tensors_to_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let ((a, executor), (b, _)) = (worker(folder.path(), "a"), worker(folder.path(), "b"));
    let (there, here) = (connect(a.address()), connect(b.address()));
    let numbers: Vec<f32> = (0..300_000).map(|number| number as f32).collect();
    upload(&there, 1, &numbers);
    let copy = |id, new_id| {
        give(&there, id, &b, &here, new_id);
        here.request(&Request::Expect { id: new_id, milliseconds: 10_000 }).unwrap();
    };
    copy(1, 5);
    copy(1, 6);
    assert!(fetch(&here, 5, numbers.len()).as_deref() == Ok(&numbers));
    assert!(fetch(&here, 6, numbers.len()).as_deref() == Ok(&numbers));
    // A tensor that is not there is an error on both sides.
    copy(99, 7);
    assert!(matches!(fetch(&here, 7, 1), Err(Outcome::Poisoned(_))));
    sync(&there);
    assert_eq!((there.failures().len(), here.failures().len()), (1, 1));
    drop(there);
    eventually("the giver has freed its tensors", || executor.alive.load(Ordering::SeqCst) == 0);
}

#[test]
fn a_worker_that_waits_takes_all_that_comes_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let ((a, _), (b, executor)) = (worker(folder.path(), "a"), worker(folder.path(), "b"));
    let (there, here) = (connect(a.address()), connect(b.address()));
    upload(&there, 1, &[3.0]);
    // What the session waits for comes last.
    let last = 5000;
    for new_id in 2..last {
        give(&there, 1, &b, &here, new_id);
    }
    here.request(&Request::Expect { id: last, milliseconds: 60_000 }).unwrap();
    give(&there, 1, &b, &here, last);
    for id in 2..last {
        here.request(&Request::Expect { id, milliseconds: 10_000 }).unwrap();
    }
    assert_eq!(fetch(&here, 2, 1), Ok(vec![3.0]));
    assert_eq!(sync(&there), Outcome::Value(Value::None));
    assert_eq!((there.failures(), here.failures()), (Vec::new(), Vec::new()));
    assert_eq!(executor.alive.load(Ordering::SeqCst) as u64, last - 1);
}

#[test]
fn a_tensor_that_comes_too_late_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let ((a, _), (b, executor)) = (worker(folder.path(), "a"), worker(folder.path(), "b"));
    let (there, here) = (connect(a.address()), connect(b.address()));
    upload(&there, 1, &[3.0]);
    here.request(&Request::Expect { id: 5, milliseconds: 1 }).unwrap();
    assert!(matches!(fetch(&here, 5, 1), Err(Outcome::Poisoned(_))));
    give(&there, 1, &b, &here, 5);
    assert_eq!(sync(&there), Outcome::Value(Value::None));
    eventually("it is dropped", || executor.alive.load(Ordering::SeqCst) == 0);
}

#[test]
fn a_tensor_that_does_not_come_is_waited_for_in_vain_so_long() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, _) = worker(folder.path(), "a");
    let client = connect(worker.address());
    client.request(&Request::Expect { id: 1, milliseconds: 100 }).unwrap();
    assert!(matches!(fetch(&client, 1, 1), Err(Outcome::Poisoned(_))));
    assert_eq!(client.failures()[0].1.kind, "TimeoutError");
}

#[test]
fn a_worker_that_takes_nothing_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, _) = worker(folder.path(), "a");
    let client = connect(worker.address());
    upload(&client, 1, &[1.0; 10]);
    // It takes connections, and says nothing.
    let silent = folder.path().join("silent");
    let _listener = std::os::unix::net::UnixListener::bind(&silent).unwrap();
    let address = format!("unix:{}", silent.display());
    let copy = Copy { id: 1, address, token: None, certificate: None, session: [0; 16], new_id: 2, milliseconds: 200 };
    let start = Instant::now();
    client.request(&Request::Copy(Box::new(copy))).unwrap();
    assert_eq!(fetch(&client, 1, 10), Ok(vec![1.0; 10]));
    assert!(start.elapsed() < Duration::from_secs(5));
    assert_eq!(client.failures()[0].1.kind, "TimeoutError");
}
