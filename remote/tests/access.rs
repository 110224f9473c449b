//! Who gets in: users, tokens, certificates.
#![allow(missing_docs, reason = "tests say what they show")]
#![allow(clippy::cast_precision_loss, reason = "the numbers are small")]

mod common;

use common::*;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;
use symm_remote::address::Address;
use symm_remote::client::{Client, Endpoint};
use symm_remote::credentials::Token;
use symm_remote::error::Error;
use symm_remote::message::{Answer, Hello, Request};
use symm_remote::tls::{Identity, read_certificate};
use symm_remote::wire::{Encoder, VERSION};
use symm_remote::worker::{Options, Worker};

const TOKEN: &str = "a token of many characters";

fn certificate(folder: &Path, name: &str) -> (std::path::PathBuf, std::path::PathBuf) {
    let made = rcgen::generate_simple_self_signed(vec!["symm-worker".into()]).unwrap();
    let (certificate, key) = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    (certificate, key)
}

fn tcp(folder: &Path) -> (Worker<Vectors>, Vectors) {
    let (certificate, key) = certificate(folder, "worker");
    let executor = Vectors::default();
    let log = executor.log.clone();
    let options = Options {
        listen: "tcp:127.0.0.1:0".parse().unwrap(),
        token: Some(Token::new(TOKEN).unwrap()),
        identity: Some(Identity::read(&certificate, &key).unwrap()),
        log: Box::new(move |line| log.lock().unwrap().push(line.into())),
    };
    (Worker::start(executor.clone(), options).unwrap(), executor)
}

fn reach(address: &Address, token: &str, certificate: &Path) -> Result<Client, Error> {
    let certificate = Some(read_certificate(certificate).unwrap().to_vec());
    let endpoint = Endpoint { address: address.clone(), token: Some(token.into()), certificate };
    Client::connect(endpoint, Duration::from_secs(10))
}

#[test]
fn tensors_go_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, _) = tcp(folder.path());
    let client = reach(worker.address(), TOKEN, &folder.path().join("worker.pem")).unwrap();
    let numbers: Vec<f32> = (0..1_000_003).map(|number| number as f32).collect();
    upload(&client, 1, &numbers);
    assert!(fetch(&client, 1, numbers.len()) == Ok(numbers));
}

#[test]
fn a_wrong_token_is_refused_and_logged() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, executor) = tcp(folder.path());
    let refused = reach(worker.address(), "another token of many letters", &folder.path().join("worker.pem"));
    assert!(matches!(refused, Err(Error::Refused(reason)) if reason == "wrong token"));
    eventually("it is logged", || executor.log.lock().unwrap().iter().any(|line| line.contains("wrong token")));
}

#[test]
fn another_certificate_is_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, executor) = tcp(folder.path());
    let (other, _) = certificate(folder.path(), "other");
    let refused = reach(worker.address(), TOKEN, &other);
    assert!(matches!(refused, Err(Error::Refused(reason)) if reason.contains("another certificate")));
    eventually("the worker logs it", || executor.log.lock().unwrap().iter().any(|line| line.contains("TLS")));
}

#[test]
fn tcp_without_tls_or_token_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let (certificate, key) = certificate(folder.path(), "worker");
    let options = |token, identity| Options {
        listen: "tcp:127.0.0.1:0".parse().unwrap(),
        token,
        identity,
        log: Box::new(|_| ()),
    };
    let token = Some(Token::new(TOKEN).unwrap());
    let identity = Some(Identity::read(&certificate, &key).unwrap());
    let start = |options| Worker::start(Vectors::default(), options).map(|_| ());
    assert!(matches!(start(options(token, None)), Err(Error::Unprotected(_))));
    assert!(matches!(start(options(None, identity)), Err(Error::Unprotected(_))));
}

#[test]
fn a_client_that_speaks_no_tls_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, executor) = tcp(folder.path());
    let Address::Tcp(host, port) = worker.address() else { unreachable!() };
    let mut stream = std::net::TcpStream::connect((host.as_str(), *port)).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    eventually("it is logged", || !executor.log.lock().unwrap().is_empty());
}

#[test]
fn another_version_is_refused_and_logged() {
    let folder = tempfile::tempdir().unwrap();
    let (worker, executor) = worker(folder.path(), "a");
    let Address::Unix(path) = worker.address() else { unreachable!() };
    assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    let mut stream = std::os::unix::net::UnixStream::connect(path).unwrap();
    let hello = Request::Hello(Hello { version: VERSION + 1, token: None, gives_to: None });
    stream.write_all(hello.write(&mut Encoder::default()).unwrap()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let read = Answer::read(answer[4], &answer[5..]);
    assert!(matches!(&read, Ok(Answer::Refused(reason)) if reason.contains("install the same symm")), "{read:?}");
    eventually("it is logged", || logged(&executor, "install the same symm"));
}

#[test]
fn another_user_is_refused_and_logged() {
    if !rustix::process::geteuid().is_root() {
        println!("not tested: only root can be another user");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (worker, executor) = worker(folder.path(), "a");
    // Let the other user as far as the socket.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(folder.path().join("a"), fs::Permissions::from_mode(0o666)).unwrap();
    let address = worker.address().clone();
    let refused = thread::spawn(move || {
        let nobody = rustix::process::Uid::from_raw(65534);
        // This thread alone becomes the other user.
        rustix::thread::set_thread_uid(nobody).unwrap();
        Client::connect(Endpoint { address, token: None, certificate: None }, Duration::from_secs(10)).map(|_| ())
    });
    let refused = refused.join().unwrap();
    assert!(matches!(&refused, Err(Error::Refused(reason)) if reason.contains("65534")), "{refused:?}");
    eventually("it is logged", || executor.log.lock().unwrap().iter().any(|line| line.contains("user 65534")));
}
