//! The wire between two nodes, which tests can break.
#![allow(clippy::disallowed_types, reason = "the wire's own threads look at how it is")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// How a wire is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// What goes in comes out.
    Whole,
    /// Connections are closed as they come.
    Cut,
    /// Connections are taken, and nothing comes out.
    Silent,
    /// What goes in waits, and comes out once it is whole again.
    Held,
}

struct Inner {
    state: State,
    to: SocketAddr,
    streams: Vec<TcpStream>,
    /// Connections that were closed as they came.
    refused: usize,
    /// Pieces that wait to come out.
    held: usize,
}

/// Passes connections on to a node.
#[derive(Clone)]
pub struct Wire {
    address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
    /// Told of each new state, and of each piece that is held.
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

    /// Makes it be like this. What was on it breaks, unless it is held or was.
    pub fn be(&self, state: State) {
        let mut inner = self.inner.lock().unwrap();
        // A silent wire stays silent to those who use it: only what is made whole or cut is felt.
        if !matches!(state, State::Silent | State::Held) && inner.state != State::Held {
            inner.streams.drain(..).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
        }
        inner.state = state;
        self.changed.notify_all();
    }

    /// Waits until something is held.
    pub fn wait_until_held(&self) {
        let inner = self.inner.lock().unwrap();
        drop(self.changed.wait_while(inner, |inner| inner.held == 0).unwrap());
    }

    /// How it is once it holds nothing back.
    fn state_once_released(&self) -> State {
        let mut inner = self.inner.lock().unwrap();
        inner.held += 1;
        self.changed.notify_all();
        let mut inner = self.changed.wait_while(inner, |inner| inner.state == State::Held).unwrap();
        inner.held -= 1;
        inner.state
    }

    /// Leads to another node from now on.
    pub fn lead_to(&self, to: SocketAddr) {
        self.inner.lock().unwrap().to = to;
        self.be(State::Whole);
    }

    /// How many connections were closed as they came.
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
