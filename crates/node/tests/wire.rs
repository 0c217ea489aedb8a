//! The wire between two nodes, which tests can break.
#![allow(clippy::disallowed_types, reason = "the wire's own threads look at how it is")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// What a wire does with connections and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The wire passes all bytes on.
    Whole,
    /// The wire closes all new connections.
    Cut,
    /// The wire accepts connections, but drops all bytes.
    Silent,
    /// The wire holds all bytes, and passes them on when it is whole again.
    Held,
}

struct Inner {
    state: State,
    to: SocketAddr,
    streams: Vec<TcpStream>,
    /// The number of connections that were closed at once.
    refused: usize,
    /// The number of held pieces of data.
    held: usize,
}

/// A wire that passes connections on to a node.
#[derive(Clone)]
pub struct Wire {
    address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
    /// Notified of each new state and of each held piece.
    changed: Arc<Condvar>,
}

impl Wire {
    pub fn to(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let inner = Inner { state: State::Whole, to, streams: Vec::new(), refused: 0, held: 0 };
        let wire = Self {
            address: listener.local_addr().unwrap(),
            inner: Arc::new(Mutex::new(inner)),
            changed: Arc::default(),
        };
        let passing = wire.clone();
        std::thread::Builder::new()
            .spawn(move || listener.incoming().for_each(|client| passing.pass(client.unwrap())))
            .unwrap();
        wire
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Sets the state. If the new state is whole or cut and the old state was not held, all existing connections are
    /// closed.
    pub fn be(&self, state: State) {
        let mut inner = self.inner.lock().unwrap();
        // A client of a silent or held wire notices nothing, so its connections stay open.
        if !matches!(state, State::Silent | State::Held) && inner.state != State::Held {
            inner.streams.drain(..).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
        }
        inner.state = state;
        self.changed.notify_all();
    }

    /// Waits until the wire holds data.
    pub fn wait_until_held(&self) {
        let inner = self.inner.lock().unwrap();
        drop(self.changed.wait_while(inner, |inner| inner.held == 0).unwrap());
    }

    /// Waits until the wire holds no data back, and returns its state then.
    fn state_once_released(&self) -> State {
        let mut inner = self.inner.lock().unwrap();
        inner.held += 1;
        self.changed.notify_all();
        let mut inner = self.changed.wait_while(inner, |inner| inner.state == State::Held).unwrap();
        inner.held -= 1;
        inner.state
    }

    /// Makes the wire whole, and leads new connections to another node.
    pub fn lead_to(&self, to: SocketAddr) {
        self.inner.lock().unwrap().to = to;
        self.be(State::Whole);
    }

    /// Returns the number of connections that were closed at once.
    pub fn refused(&self) -> usize {
        self.inner.lock().unwrap().refused
    }

    fn pass(&self, client: TcpStream) {
        let mut inner = self.inner.lock().unwrap();
        if inner.state == State::Cut {
            inner.refused += 1;
            return;
        }
        let Ok(server) = TcpStream::connect(inner.to) else { return };
        for stream in [&client, &server] {
            inner.streams.push(stream.try_clone().unwrap());
        }
        for (from, into) in [(client.try_clone().unwrap(), server.try_clone().unwrap()), (server, client)] {
            let wire = self.clone();
            std::thread::Builder::new().spawn(move || wire.copy(from, into)).unwrap();
        }
    }

    fn copy(&self, mut from: TcpStream, mut into: TcpStream) {
        let mut bytes = vec![0; 65_536];
        while let Ok(count) = from.read(&mut bytes) {
            if count == 0 {
                break;
            }
            match self.state_once_released() {
                State::Whole => {
                    if into.write_all(&bytes[..count]).is_err() {
                        break;
                    }
                }
                State::Silent | State::Held => {}
                State::Cut => break,
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = into.shutdown(Shutdown::Both);
    }
}
