//! A worker: it lets clients in, and runs what they queue, each client's in order.

mod inbox;
mod peers;
mod session;
mod tensors;

pub use tensors::{Slot, Tensors};

use crate::address::Address;
use crate::credentials::Token;
use crate::error::{Error, Malformed};
use crate::executor::Executor;
use crate::lock::lock;
use crate::message::{Answer, Hello, Key, Request, Welcome};
use crate::socket::Socket;
use crate::tls::{Identity, random};
use crate::transport::{Incoming, Reading, Writing, shake_hands, split};
use crate::wire::{Encoder, VERSION};
use peers::Mailbox;
use std::collections::HashMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How long a client may take to greet.
const GREETING: Duration = Duration::from_secs(10);
/// A client that takes no answers for this long is considered gone.
const DEAF: Duration = Duration::from_secs(120);
/// The most bytes of a greeting.
const GREETING_BYTES: usize = 4096;
/// The most simultaneous connections.
const MOST_CONNECTIONS: usize = 256;

/// How a worker is started.
pub struct Options {
    /// Where it listens. Port 0 is any free port.
    pub listen: Address,
    /// The token that clients must have; TCP needs one.
    pub token: Option<Token>,
    /// The certificate that clients know, for TCP.
    pub identity: Option<Identity>,
    /// The log, for the operator.
    pub log: Box<dyn Fn(&str) + Send + Sync>,
}

/// A worker that listens.
pub struct Worker<E: Executor> {
    shared: Arc<Shared<E>>,
    address: Address,
}

pub(crate) struct Shared<E: Executor> {
    pub executor: E,
    pub options: Options,
    sessions: Mutex<HashMap<Key, Arc<Mailbox<E::Tensor>>>>,
    connections: Mutex<HashMap<u64, Arc<Socket>>>,
    count: AtomicU64,
    served: AtomicUsize,
    stopped: AtomicBool,
}

enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl<E: Executor> Worker<E> {
    /// Listens, and serves clients on threads of its own.
    ///
    /// # Errors
    /// The address is in use, or TCP is not protected.
    pub fn start(executor: E, options: Options) -> Result<Self, Error> {
        let (listener, address) = listen(&options)?;
        let shared = Arc::new(Shared {
            executor,
            options,
            sessions: Mutex::default(),
            connections: Mutex::default(),
            count: AtomicU64::new(0),
            served: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        });
        let accepting = shared.clone();
        thread::Builder::new().name("symm-accept".into()).spawn(move || accept_all(&accepting, &listener))?;
        Ok(Self { shared, address })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// How many clients have come and gone.
    #[must_use]
    pub fn served(&self) -> usize {
        self.shared.served.load(Ordering::Acquire)
    }

    /// How many connections there are.
    #[must_use]
    pub fn connections(&self) -> usize {
        lock(&self.shared.connections).len()
    }

    /// Ends all connections, and listens no more.
    pub fn stop(&self) {
        self.shared.stopped.store(true, Ordering::Release);
        if let Address::Unix(path) = &self.address {
            // Somebody else may have removed it.
            let _ = fs::remove_file(path);
        }
        lock(&self.shared.connections).values().for_each(|socket| socket.shut());
    }
}

impl<E: Executor> Drop for Worker<E> {
    fn drop(&mut self) {
        self.stop();
    }
}

fn listen(options: &Options) -> Result<(Listener, Address), Error> {
    match &options.listen {
        Address::Unix(path) => {
            // A socket without a listener was left by a killed worker.
            if path.exists() && std::os::unix::net::UnixStream::connect(path).is_err() {
                let _ = fs::remove_file(path);
            }
            let in_use = |error| Error::Lost(format!("cannot listen at {}: {error}", options.listen));
            let listener = UnixListener::bind(path).map_err(in_use)?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
            listener.set_nonblocking(true)?;
            Ok((Listener::Unix(listener), options.listen.clone()))
        }
        Address::Tcp(host, port) => {
            if options.identity.is_none() {
                return Err(Error::Unprotected("a certificate and its key"));
            }
            if options.token.is_none() {
                return Err(Error::Unprotected("a file with a token"));
            }
            let in_use = |error| Error::Lost(format!("cannot listen at {}: {error}", options.listen));
            let listener = TcpListener::bind((host.as_str(), *port)).map_err(in_use)?;
            listener.set_nonblocking(true)?;
            let port = listener.local_addr()?.port();
            Ok((Listener::Tcp(listener), Address::Tcp(host.clone(), port)))
        }
    }
}

fn accept_all<E: Executor>(shared: &Arc<Shared<E>>, listener: &Listener) {
    while !shared.stopped.load(Ordering::Acquire) {
        let accepted = match listener {
            Listener::Unix(listener) => {
                listener.accept().and_then(|(socket, _)| socket.set_nonblocking(false).map(|()| Socket::Unix(socket)))
            }
            Listener::Tcp(listener) => {
                listener.accept().and_then(|(socket, _)| socket.set_nonblocking(false).map(|()| Socket::Tcp(socket)))
            }
        };
        // No connection now, or too many files are open: both pass.
        let Ok(socket) = accepted else {
            thread::sleep(Duration::from_millis(5));
            continue;
        };
        let serving = shared.clone();
        let spawned =
            thread::Builder::new().name("symm-client".into()).spawn(move || connection(&serving, &Arc::new(socket)));
        if let Err(error) = spawned {
            (shared.options.log)(&format!("no thread for a client: {error}"));
        }
    }
}

fn connection<E: Executor>(shared: &Arc<Shared<E>>, socket: &Arc<Socket>) {
    let number = shared.count.fetch_add(1, Ordering::Relaxed) + 1;
    let peer = socket.peer();
    let full = {
        let mut connections = lock(&shared.connections);
        connections.insert(number, socket.clone());
        connections.len() > MOST_CONNECTIONS
    };
    let served = if full { Err(Error::Refused("too many connections".into())) } else { serve(shared, number, socket) };
    match served {
        Ok(()) => {}
        Err(Error::Refused(reason)) => (shared.options.log)(&format!("refused {peer}: {reason}")),
        Err(error) => (shared.options.log)(&format!("{peer}: {error}")),
    }
    socket.shut();
    lock(&shared.connections).remove(&number);
}

fn serve<E: Executor>(shared: &Arc<Shared<E>>, number: u64, socket: &Arc<Socket>) -> Result<(), Error> {
    socket.prepare()?;
    socket.set_timeouts(Some(GREETING), Some(GREETING))?;
    let tls = match (&shared.options.identity, &shared.options.listen) {
        (Some(identity), Address::Tcp(..)) => {
            let mut tls = identity.accept()?;
            shake_hands(socket, &mut tls)?;
            Some(tls)
        }
        _ => None,
    };
    let (mut reading, mut writing) = split(socket.clone(), tls);
    let hello = match hello(shared, socket, &mut reading) {
        Ok(hello) => hello,
        Err(error) => {
            answer(&mut writing, &Answer::Refused(error.to_string()))?;
            return Err(error);
        }
    };
    if let Some(key) = hello.gives_to {
        return peers::receive_tensors(shared, &key, reading, writing, socket);
    }
    let session = random()?;
    let about = shared.executor.about();
    let welcome = Welcome {
        session,
        pid: std::process::id().into(),
        device: about.device,
        host: about.host,
        torch: about.torch,
        rank: about.rank,
    };
    let mailbox = Arc::new(Mailbox::default());
    lock(&shared.sessions).insert(session, mailbox.clone());
    let served = answer(&mut writing, &Answer::Welcome(Box::new(welcome)))
        .and_then(|()| Ok(socket.set_timeouts(None, Some(DEAF))?))
        .and_then(|()| session::run(shared, number, &mailbox, reading, writing));
    lock(&shared.sessions).remove(&session);
    shared.served.fetch_add(1, Ordering::AcqRel);
    served
}

fn hello<E: Executor>(shared: &Shared<E>, socket: &Socket, reading: &mut Reading<Incoming>) -> Result<Hello, Error> {
    let me = rustix::process::geteuid().as_raw();
    if let Some(user) = socket.user()?.filter(|user| *user != me) {
        return Err(Error::Refused(format!("user {user} is not the user of this worker ({me})")));
    }
    let nothing = || Error::Refused("the connection ended before a greeting".into());
    let (kind, body) = reading.message(GREETING_BYTES)?.ok_or_else(nothing)?;
    let Request::Hello(hello) = Request::read(kind, body)? else {
        return Err(Malformed("something else than a greeting").into());
    };
    if hello.version != VERSION {
        let reason =
            format!("the client speaks version {}, this worker {VERSION}: install the same symm", hello.version);
        return Err(Error::Refused(reason));
    }
    match (&shared.options.token, &hello.token) {
        (None, _) => Ok(hello),
        (Some(token), Some(given)) if token.is(given) => Ok(hello),
        (Some(_), Some(_)) => Err(Error::Refused("wrong token".into())),
        (Some(_), None) => Err(Error::Refused("this worker wants a token".into())),
    }
}

pub(crate) fn answer(writing: &mut Writing, answer: &Answer) -> Result<(), Error> {
    let mut encoder = Encoder::default();
    let frame = answer.write(&mut encoder).map_err(|error| Error::Refused(error.to_string()))?;
    Ok(writing.frames(frame)?)
}
