//! Replies that are answered, refused, forgotten and given up, in any order.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use lehr_runtime::{Port, Refusal, Reply, block_on};
use shuttle::thread;

use super::explore;

#[test]
fn an_asker_is_always_answered() {
    explore(2000, || {
        let port = Port::<(u32, Reply<u32>)>::new();
        let server = {
            let port = port.clone();
            thread::spawn(move || {
                for _ in 0..3 {
                    let (number, reply) = block_on(port.receive()).unwrap();
                    match number {
                        0 => drop(reply),
                        1 => reply.refuse(Refusal::Overloaded),
                        _ => reply.answer(2 * number).unwrap(),
                    }
                }
            })
        };
        let askers: Vec<_> = (0..3)
            .map(|number| {
                let port = port.clone();
                thread::spawn(move || block_on(port.ask(|reply| (number, reply)).unwrap()))
            })
            .collect();
        let answers: Vec<_> = askers.into_iter().map(|asker| asker.join().unwrap()).collect();
        assert_eq!(answers, [Err(Refusal::NoReply), Err(Refusal::Overloaded), Ok(4)]);
        server.join().unwrap();
    });
}

#[test]
fn an_answer_and_a_waiver_that_cross_drop_the_value_once() {
    explore(2000, || {
        let value = std::sync::Arc::new(());
        let (reply, answer) = Reply::new();
        let asker = thread::spawn(move || {
            let mut answer = pin!(answer);
            match answer.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Ready(fetched) => fetched.is_ok(),
                Poll::Pending => false,
            }
        });
        let back = reply.answer(value.clone());
        let fetched = asker.join().unwrap();
        assert!(!fetched || back.is_ok(), "what was fetched did not come back");
        drop(back);
        assert_eq!(std::sync::Arc::strong_count(&value), 1);
    });
}
