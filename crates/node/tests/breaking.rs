//! Connections that break while changes are being sent.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

use lehr_node::{Client, Node};
use lehr_runtime::{Port, block_on};
use lehr_services::{Call, Code, Contract, Exclusive, Fault, Handlers, Host, Operation, Reference, Service, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{FOR_EVER, dispatcher, settings};

/// Starts a proxy that passes connections on to a node, and returns its address. For the number of each connection,
/// `cuts` returns how many answers are passed back before the connection is cut, or `None` for a connection that is
/// never cut.
pub fn proxy(to: SocketAddr, cuts: impl Fn(usize) -> Option<usize> + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::Builder::new()
        .spawn(move || {
            for (number, client) in listener.incoming().enumerate() {
                let (client, server) = (client.unwrap(), TcpStream::connect(to).unwrap());
                // Without this option, a small frame would wait until the frame before it is acknowledged.
                [&client, &server].iter().for_each(|stream| stream.set_nodelay(true).unwrap());
                let (from, mut into) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                let copied = move || {
                    let _ = std::io::copy(&mut &from, &mut into);
                    let _ = into.shutdown(Shutdown::Both);
                };
                std::thread::Builder::new().spawn(copied).unwrap();
                let answers = cuts(number);
                std::thread::Builder::new().spawn(move || answer(&server, &client, answers)).unwrap();
            }
        })
        .unwrap();
    address
}

/// Passes frames back to the client. After the given number of answers, it cuts the connection in place of the next
/// answer. A frame of headers marks an answer.
fn answer(mut server: &TcpStream, mut client: &TcpStream, mut answers: Option<usize>) {
    const HEADERS: u8 = 1;
    const HEAD: usize = 9;
    let mut frame = vec![0; HEAD];
    while server.read_exact(&mut frame[..HEAD]).is_ok() {
        let length = usize::from(frame[0]) << 16 | usize::from(frame[1]) << 8 | usize::from(frame[2]);
        frame.resize(HEAD + length, 0);
        if server.read_exact(&mut frame[HEAD..]).is_err() {
            break;
        }
        if frame[3] == HEADERS
            && let Some(left) = &mut answers
        {
            let Some(less) = left.checked_sub(1) else { break };
            *left = less;
        }
        if client.write_all(&frame).is_err() {
            break;
        }
    }
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
struct Tally {
    count: u64,
}

impl Contract for Tally {
    const NAME: &'static str = "example.org/tally";
    const VERSION: Version = Version::new(1, 0);
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Tally, verb = Update, name = "note", reply = u64)]
struct Note {
    number: u64,
}

/// Counts the notes, and posts their numbers to `made` in the order of the calls.
#[derive(Clone)]
struct Tallier {
    tally: Tally,
    made: Port<u64>,
}

impl Service for Tallier {
    type Document = Tally;

    fn document(&self) -> &Tally {
        &self.tally
    }

    fn document_mut(&mut self) -> &mut Tally {
        &mut self.tally
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.exclusive::<Note>();
    }
}

impl Exclusive<Note> for Tallier {
    async fn handle(&mut self, Note { number }: Note, _: &Call) -> Result<u64, Fault> {
        self.tally.count += 1;
        self.made.post(number).unwrap();
        Ok(self.tally.count)
    }
}

/// Makes `changes` changes, one after the other, over connections that are cut after some answers.
fn over_connections_that_break(changes: u64, cuts: impl Fn(usize) -> Option<usize> + Send + Sync + 'static) {
    let (dispatcher, _clock) = dispatcher(2);
    let node = Node::start(Host::new(dispatcher.handle()), settings()).unwrap();
    block_on(async {
        let made = Port::new();
        let tallier = Tallier { tally: Tally::default(), made: made.clone() };
        node.host().start("/tally", move || tallier.clone()).await.unwrap();
        let link = Client::new(None).unwrap().link(&format!("http://{}/tally", proxy(node.address(), cuts))).unwrap();
        let far = Reference::<Tally>::over(link).within(FOR_EVER);
        // For each call in order: true if it was answered, false if its outcome is unknown.
        let mut fates = Vec::new();
        for number in 0..changes {
            let answered = far.call(Note { number }).await;
            if let Err(fault) = &answered {
                assert_eq!(fault.code(), Code::Unavailable, "{fault}");
            }
            fates.push(answered.is_ok());
        }
        let mut made = made.drain().into_iter().peekable();
        for (number, was_answered) in (0..).zip(&fates) {
            let is_next = made.next_if_eq(&number).is_some();
            assert!(is_next || !was_answered, "{number} was answered and is not in its place");
        }
        assert_eq!(made.next(), None, "made in order, and once");
        assert!(fates.contains(&false) && fates.contains(&true));
    });
}

// Catalogue: 117
#[test]
fn over_connections_that_break_every_change_is_made_at_most_once_in_order_and_its_fate_is_known() {
    // Every other connection is cut at its first answer.
    over_connections_that_break(60, |number| (number % 2 == 0).then_some(0));
    // Each connection is cut after 20 to 26 answers, so about a hundred connections are enough for the 2000 changes.
    over_connections_that_break(2_000, |number| Some(20 + number % 7));
}

// Catalogue: 117, in full
#[test]
#[ignore = "takes half a minute: `make load`"]
fn full_size_over_connections_that_break_each_of_100000_changes_is_made_at_most_once_in_order() {
    over_connections_that_break(100_000, |number| Some(100 + number % 7));
}
