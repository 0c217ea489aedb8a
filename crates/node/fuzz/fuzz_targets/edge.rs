//! Whatever bytes come over a connection: the node answers or closes, and never with a fault of its own.
#![no_main]

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::OnceLock;

use lehr_node::{INSPECTOR, Inspector, Node, Records, Settings};
use lehr_services::Host;
use libfuzzer_sys::fuzz_target;

/// The node that all inputs are for.
fn node() -> SocketAddr {
    static NODE: OnceLock<SocketAddr> = OnceLock::new();
    *NODE.get_or_init(|| {
        let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
        let host = Host::new(dispatcher.handle());
        lehr_runtime::block_on(async {
            host.start("/notes", Records::default).await.unwrap();
            host.start(INSPECTOR, Inspector::default).await.unwrap();
        });
        let settings = Settings { address: ([127, 0, 0, 1], 0).into(), ..Settings::new() };
        let node = Node::start(host, settings).unwrap();
        let address = node.address();
        // They serve to the end of the process.
        std::mem::forget((node, dispatcher));
        address
    })
}

fuzz_target!(|bytes: &[u8]| {
    let mut stream = TcpStream::connect(node()).unwrap();
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    assert!(!answer.windows(12).any(|part| part == b"HTTP/1.1 500"), "{}", String::from_utf8_lossy(&answer));
});
