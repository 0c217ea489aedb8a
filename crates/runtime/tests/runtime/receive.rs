use std::pin::pin;
use std::sync::Arc;
use std::sync::OnceLock;
use std::task::Poll;

use lehr_runtime::{Port, ReceiveError, ReceiveErrorKind, block_on, yield_now};

use crate::{on_each, poll_once};

// Catalogue: 2
#[test]
fn a_persistent_receiver_first_gets_what_is_already_there_in_order() {
    on_each(|dispatcher| {
        let (port, seen) = (Port::new(), Port::new());
        (1..=3).for_each(|i| port.post(i).unwrap());
        let out = seen.clone();
        let receiver = port.on(dispatcher.handle(), 1, move |item| {
            out.post(item).unwrap();
            std::future::ready(())
        });
        assert_eq!(block_on(seen.take(3)), Ok(vec![1, 2, 3]));
        assert!(port.is_empty());
        drop(receiver);
    });
}

// Catalogue: 2
#[test]
fn what_a_predicate_refuses_stays_in_order() {
    let port = Port::new();
    (1..=3).for_each(|i| port.post(i).unwrap());
    assert!(poll_once(pin!(port.receive_if(|_| false))).is_pending());
    assert_eq!(block_on(port.take(3)), Ok(vec![1, 2, 3]));
}

// Catalogue: 3
#[test]
fn the_persistent_receiver_registered_first_gets_every_item_it_is_free_for() {
    on_each(|dispatcher| {
        let (port, seen) = (Port::new(), Port::new());
        let receivers = ["first", "second"].map(|name| {
            let out = seen.clone();
            let receiver = port.on(dispatcher.handle(), 1, move |item: u32| {
                out.post((name, item)).unwrap();
                std::future::ready(())
            });
            crate::until(|| port.waiting() != usize::from(name == "second"));
            receiver
        });
        for item in 0..10 {
            port.post(item).unwrap();
            assert_eq!(block_on(seen.receive()), Ok(("first", item)));
            crate::until(|| port.waiting() >= 2);
        }
        drop(receivers);
    });
}

#[test]
fn receivers_are_served_in_order_of_registration() {
    let port = Port::new();
    let mut receives: Vec<_> = (0..3).map(|_| Box::pin(port.receive())).collect();
    for receive in &mut receives {
        assert!(poll_once(receive.as_mut()).is_pending());
    }
    (0..3).for_each(|i| port.post(i).unwrap());
    // In whichever order the receivers are polled, each item is for the receiver to which it was offered.
    for i in [2, 0, 1] {
        assert_eq!(poll_once(receives[i].as_mut()), Poll::Ready(Ok(i)));
    }
}

#[test]
fn a_late_comer_does_not_overtake() {
    let port = Port::new();
    let mut early = pin!(port.receive());
    assert!(poll_once(early.as_mut()).is_pending());
    port.post("for the early one").unwrap();
    let mut late = pin!(port.receive());
    assert!(poll_once(late.as_mut()).is_pending());
    assert_eq!(poll_once(early.as_mut()), Poll::Ready(Ok("for the early one")));
}

#[test]
fn try_receive_takes_even_an_offered_item_and_the_receiver_waits_on_at_its_place() {
    let port = Port::new();
    let (mut first, mut second) = (pin!(port.receive()), pin!(port.receive()));
    assert!(poll_once(first.as_mut()).is_pending() && poll_once(second.as_mut()).is_pending());
    port.post(1).unwrap();
    assert_eq!(port.try_receive(), Some(1));
    assert!(poll_once(first.as_mut()).is_pending());
    port.post(2).unwrap();
    assert!(poll_once(second.as_mut()).is_pending());
    assert_eq!(poll_once(first.as_mut()), Poll::Ready(Ok(2)));
}

// Catalogue: 4
#[test]
fn a_refused_item_stays_while_a_later_one_is_taken() {
    let port = Port::new();
    let mut even = pin!(port.receive_if(|item| item % 2 == 0));
    port.post(1).unwrap();
    assert!(poll_once(even.as_mut()).is_pending());
    port.post(2).unwrap();
    assert_eq!(poll_once(even.as_mut()), Poll::Ready(Ok(2)));
    assert_eq!(port.try_receive(), Some(1));
}

// Catalogue: 19
#[test]
fn a_predicate_that_panics_fails_its_receive_alone() {
    let port = Port::named("risky");
    let picky = |item: &i32| if *item == 13 { panic!("no thirteens") } else { true };
    let mut waiting = pin!(port.receive_if(picky));
    assert!(poll_once(waiting.as_mut()).is_pending());
    port.post(13).unwrap();
    let expected = ReceiveError::from(ReceiveErrorKind::Predicate {
        port: "port \"risky\"".to_owned(),
        message: "no thirteens".to_owned(),
    });
    assert_eq!(poll_once(waiting.as_mut()), Poll::Ready(Err(expected.clone())));
    // The item stays, the same predicate fails on it again, and later items can be received.
    assert_eq!(block_on(port.receive_if(picky)), Err(expected));
    port.post(14).unwrap();
    assert_eq!(block_on(port.receive_if(|item| *item != 13)), Ok(14));
    assert_eq!(block_on(port.receive()), Ok(13));
}

// Catalogue: 20
#[test]
fn a_limit_of_one_keeps_handlers_apart_and_in_order() {
    on_each(|dispatcher| {
        let (port, seen) = (Port::new(), Port::new());
        let (token, out) = (Port::new(), seen.clone());
        token.post(()).unwrap();
        let receiver = port.on(dispatcher.handle(), 1, move |item: u32| {
            let (token, out) = (token.clone(), out.clone());
            async move {
                token.try_receive().expect("no other turn of the handler holds the token");
                yield_now().await;
                out.post(item).unwrap();
                token.post(()).unwrap();
            }
        });
        (0..10).for_each(|i| port.post(i).unwrap());
        assert!(block_on(seen.take(10)).unwrap().into_iter().eq(0..10));
        drop(receiver);
    });
}

// Catalogue: 20
#[test]
fn a_higher_limit_lets_handlers_overlap() {
    on_each(|dispatcher| {
        let (port, here, go) = (Port::new(), Port::new(), Port::new());
        let (inside, release) = (here.clone(), go.clone());
        let receiver = port.on(dispatcher.handle(), 3, move |_: u32| {
            let (inside, release) = (inside.clone(), release.clone());
            async move {
                inside.post(()).unwrap();
                release.receive().await.unwrap();
            }
        });
        (0..10).for_each(|i| port.post(i).unwrap());
        // Three handlers are in progress at once, and none has ended.
        block_on(here.take(3)).unwrap();
        assert_eq!((port.len(), here.len()), (7, 0));
        (0..10).for_each(|_| go.post(()).unwrap());
        block_on(here.take(7)).unwrap();
        port.close();
        block_on(receiver.ended()).unwrap();
    });
}

#[test]
fn a_dropped_receiver_leaves_its_port() {
    on_each(|dispatcher| {
        let port = Port::<u8>::new();
        let receiver = port.on(dispatcher.handle(), 2, |_| async { panic!("nobody posted before it left") });
        crate::until(|| port.waiting() >= 2);
        drop(receiver);
        crate::until(|| port.waiting() == 0);
        port.post(1).unwrap();
        assert_eq!(port.try_receive(), Some(1));
    });
}

// Catalogue: 21
#[test]
fn a_dropped_receive_takes_nothing() {
    let port = Port::new();
    {
        let mut receive = pin!(port.receive());
        assert!(poll_once(receive.as_mut()).is_pending());
    }
    port.post(1).unwrap();
    assert_eq!(port.len(), 1);
    // The first receiver was dropped between the offer and the fetch. The item keeps its position, and the next
    // receiver gets it.
    let (mut second, mut third) = (Box::pin(port.receive()), Box::pin(port.receive()));
    assert_eq!(poll_once(second.as_mut()), Poll::Ready(Ok(1)));
    let mut fourth = Box::pin(port.receive());
    assert!(poll_once(third.as_mut()).is_pending() && poll_once(fourth.as_mut()).is_pending());
    port.post(2).unwrap();
    port.post(3).unwrap();
    drop(third);
    assert_eq!(poll_once(fourth.as_mut()), Poll::Ready(Ok(2)));
    assert_eq!(port.try_receive(), Some(3));
}

#[test]
fn dropping_user_values_may_use_the_port() {
    struct Bell(Port<u8>);
    impl Drop for Bell {
        fn drop(&mut self) {
            let _ = self.0.post(1);
        }
    }
    let port = Port::<u8>::new();
    let bell = Arc::new(Bell(port.clone()));
    let held: OnceLock<Arc<Bell>> = OnceLock::new();
    held.set(bell).unwrap_or_else(|_| unreachable!("the cell is empty"));
    {
        // The predicate owns the bell, which rings when the predicate is dropped. The predicate must not be dropped
        // under the port's lock.
        let mut receive = pin!(port.receive_if(move |item| held.get().is_some() && *item == 2));
        assert!(poll_once(receive.as_mut()).is_pending());
    }
    assert_eq!(port.try_receive(), Some(1));
}

#[test]
fn what_a_dropped_receive_was_offered_goes_to_the_first_that_waits_and_wants_it() {
    let port = Port::new();
    let (mut leaver, mut even, mut any) =
        (Box::pin(port.receive()), Box::pin(port.receive_if(|item| item % 2 == 0)), Box::pin(port.receive()));
    assert!(poll_once(leaver.as_mut()).is_pending());
    assert!(poll_once(even.as_mut()).is_pending());
    assert!(poll_once(any.as_mut()).is_pending());
    port.post(2).unwrap();
    port.post(3).unwrap();
    drop(leaver);
    // The items go to the receivers as if the dropped receiver had never been there: 2 to the second receiver, and 3 to
    // the third.
    assert_eq!(poll_once(any.as_mut()), Poll::Ready(Ok(3)));
    assert_eq!(poll_once(even.as_mut()), Poll::Ready(Ok(2)));
}

// Catalogue: 19
#[test]
fn what_a_predicate_panics_with_may_use_the_port_when_it_is_dropped() {
    /// A value that asks the port for its length when the value is dropped.
    struct Asks(Port<u8>, Port<usize>);
    impl Drop for Asks {
        fn drop(&mut self) {
            self.1.post(self.0.len()).unwrap();
        }
    }
    let (port, seen) = (Port::new(), Port::new());
    let payload = std::sync::Mutex::new(Some(Asks(port.clone(), seen.clone())));
    let panics = move |_: &u8| -> bool { std::panic::panic_any(payload.lock().unwrap().take()) };
    let mut receive = std::pin::pin!(port.receive_if(panics));
    assert!(crate::poll_once(receive.as_mut()).is_pending());
    port.post(1).unwrap();
    assert_eq!(seen.try_receive(), Some(1), "dropped after the lock, before the post returned");
    let error = block_on(receive).unwrap_err();
    assert!(matches!(error.kind(), ReceiveErrorKind::Predicate { .. }), "{error}");
    assert_eq!(port.drain(), [1]);
}
