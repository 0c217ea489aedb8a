use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};

use lehr_runtime::{Port, Reason, Refusal, Reply, block_on};

use crate::{on_each, poll_once};

/// A question with a value to drop and a reply to answer.
struct Question {
    number: u64,
    reply: Reply<u64>,
}

/// A waker that counts its calls.
struct Bell(AtomicUsize);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

// Catalogue: 13
#[test]
fn a_reply_dropped_unanswered_is_an_answer_at_once() {
    let (reply, answer) = Reply::<u8>::new();
    let mut answer = pin!(answer);
    let bell = Arc::new(Bell(AtomicUsize::new(0)));
    let waker = Waker::from(bell.clone());
    assert!(answer.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
    drop(reply);
    assert_eq!(bell.0.load(Ordering::Relaxed), 1, "the asker is woken, and once");
    assert_eq!(poll_once(answer), Poll::Ready(Err(Refusal::NoReply)));
}

// Catalogue: 13
#[test]
fn a_handler_that_panics_a_discarded_question_and_a_dropped_port_all_answer() {
    on_each(|dispatcher| {
        let port = Port::new();
        let receiver = port.on(dispatcher.handle(), 1, |question: Question| async move {
            assert!(question.number != 13, "no thirteens");
            question.reply.answer(question.number).unwrap();
        });
        let good = port.ask(|reply| Question { number: 12, reply }).unwrap();
        assert_eq!(block_on(good), Ok(12));
        let bad = port.ask(|reply| Question { number: 13, reply }).unwrap();
        assert_eq!(block_on(bad), Err(Refusal::NoReply));
        assert!(block_on(receiver.ended()).is_err());
        let late = port.ask(|reply| Question { number: 14, reply }).unwrap();
        drop(port);
        assert_eq!(block_on(late), Err(Refusal::NoReply));
    });
}

#[test]
fn a_question_that_a_port_refuses_comes_back_with_its_reply() {
    let port = Port::new();
    port.close();
    let refused = port.ask(|reply| Question { number: 1, reply }).unwrap_err();
    assert_eq!((refused.item.number, refused.reason), (1, Reason::Closed));
    assert!(!refused.item.reply.is_wanted(), "the asker has learnt of it by the refusal");
}

#[test]
fn each_reason_reaches_the_asker() {
    let failed = Refusal::Failed("out of paper".into());
    for reason in [Refusal::Overloaded, Refusal::Stopping, Refusal::DeadlineExceeded, failed] {
        let (reply, answer) = Reply::<u8>::new();
        reply.refuse(reason.clone());
        assert!(answer.is_ready());
        assert_eq!(block_on(answer), Err(reason));
    }
}

#[test]
fn values_are_dropped_once_whoever_gives_up() {
    let value = Arc::new(());
    // The reply is answered, and the answer is never fetched.
    let (reply, answer) = Reply::new();
    reply.answer(value.clone()).unwrap();
    assert_eq!(Arc::strong_count(&value), 2);
    drop(answer);
    assert_eq!(Arc::strong_count(&value), 1);
    // The answer is given up before the reply is answered, so the value comes back.
    let (reply, answer) = Reply::new();
    drop(answer);
    let back = reply.answer(value.clone()).unwrap_err();
    assert_eq!(Arc::strong_count(&value), 2);
    drop(back);
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn an_answer_may_be_dropped_inside_itself() {
    // The value of the answer is itself an answer, of another request. No lock may be held while the value is dropped.
    let (inner_reply, inner) = Reply::<u8>::new();
    let (reply, answer) = Reply::new();
    assert!(reply.answer(inner).is_ok());
    drop(answer);
    assert!(!inner_reply.is_wanted());
}

#[test]
fn many_questions_are_each_answered_once() {
    const EACH: u64 = 2_000;
    on_each(|dispatcher| {
        let port = Port::new();
        let servers = port.on(dispatcher.handle(), 2, |Question { number, reply }| async move {
            reply.answer(2 * number).unwrap();
        });
        let askers = (0..4)
            .map(|asker| {
                let port = port.clone();
                dispatcher.spawn(async move {
                    for number in asker * EACH..(asker + 1) * EACH {
                        assert_eq!(port.ask(|reply| Question { number, reply }).unwrap().await, Ok(2 * number));
                    }
                })
            })
            .collect();
        assert!(block_on(lehr_runtime::all(askers)).iter().all(Result::is_ok));
        port.close();
        block_on(servers.ended()).unwrap();
    });
}
