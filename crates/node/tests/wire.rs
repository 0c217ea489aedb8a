//! What lies between two nodes, and breaks when a test says so.
#![allow(clippy::disallowed_types, reason = "the wire's own threads look at how it is")]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// How a wire is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// What goes in comes out.
    Whole,
    /// Connections are closed as they come.
    Cut,
    /// Connections are taken, and nothing comes out.
    Silent,
}

struct Inner {
    state: State,
    to: SocketAddr,
    streams: Vec<TcpStream>,
    /// Connections that were closed as they came.
    refused: usize,
}

/// Passes connections on to a node.
#[derive(Clone)]
pub struct Wire {
    address: SocketAddr,
    inner: Arc<Mutex<Inner>>,
}

impl Wire {
    pub fn to(to: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let inner = Inner { state: State::Whole, to, streams: Vec::new(), refused: 0 };
        let wire = Self { address: listener.local_addr().unwrap(), inner: Arc::new(Mutex::new(inner)) };
        let passing = wire.clone();
        std::thread::Builder::new()
            .spawn(move || listener.incoming().for_each(|client| passing.pass(client.unwrap())))
            .unwrap();
        wire
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Makes it be like this. What was on it breaks.
    pub fn be(&self, state: State) {
        let mut inner = self.inner.lock().unwrap();
        // A silent wire stays silent to those who use it: only what is made whole or cut is felt.
        if state != State::Silent {
            inner.streams.drain(..).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
        }
        inner.state = state;
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

    fn state(&self) -> State {
        self.inner.lock().unwrap().state
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
            match self.state() {
                State::Whole => {
                    if into.write_all(&bytes[..count]).is_err() {
                        break;
                    }
                }
                State::Silent => {}
                State::Cut => break,
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = into.shutdown(Shutdown::Both);
    }
}
