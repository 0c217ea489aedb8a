use std::future::Future;
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use lehr_runtime::{Dispatcher, Once, Overflow, Port, Shutdown, block_on};

use crate::on_each;

// Catalogue: 1, 24
#[test]
fn one_item_is_handled_and_the_rest_stays() {
    on_each(|dispatcher| {
        let (port, out) = (Port::new(), Port::new());
        (1..=5).for_each(|item| port.post(item).unwrap());
        let seen = out.clone();
        port.once(dispatcher.handle(), move |item| seen.post(item).unwrap()).detach();
        assert_eq!(block_on(out.receive()), Ok(1));
        assert_eq!((port.len(), port.waiting(), out.len()), (4, 0, 0));
    });
}

#[test]
fn each_of_many_gets_one_in_order_of_registration() {
    on_each(|dispatcher| {
        let (port, out) = (Port::new(), Port::new());
        for receiver in 0..1000 {
            let out = out.clone();
            port.once(dispatcher.handle(), move |item: usize| out.post((receiver, item)).unwrap()).detach();
        }
        assert_eq!(port.waiting(), 1000);
        (0..1000).for_each(|item| port.post(item).unwrap());
        let mut pairs = block_on(out.take(1000)).unwrap();
        pairs.sort_unstable();
        assert!(pairs.iter().enumerate().all(|(place, &(receiver, item))| receiver == place && item == place));
        assert_eq!((port.len(), port.waiting()), (0, 0));
    });
}

// Catalogue: 21
#[test]
fn a_dropped_receiver_leaves_its_item_and_drops_its_handler() {
    on_each(|dispatcher| {
        let (port, held) = (Port::new(), Arc::new(()));
        let inside = held.clone();
        let waiting = port.once(dispatcher.handle(), move |_: u8| drop(inside));
        drop(waiting);
        assert_eq!((port.waiting(), Arc::strong_count(&held)), (0, 1));
        port.post(7).unwrap();
        assert_eq!(port.try_receive(), Some(7));
    });
}

#[test]
fn a_port_that_closes_or_goes_away_drops_the_handler() {
    on_each(|dispatcher| {
        let held = Arc::new(());
        let port = Port::<u8>::new();
        let out = Port::<()>::new();
        struct Tells(Port<()>);
        impl Drop for Tells {
            fn drop(&mut self) {
                self.0.post(()).unwrap();
            }
        }
        let tells = Tells(out.clone());
        port.once(dispatcher.handle(), move |_| drop(tells)).detach();
        port.close();
        block_on(out.receive()).unwrap();
        let port = Port::<u8>::new();
        let inside = held.clone();
        port.once(dispatcher.handle(), move |_| drop(inside)).detach();
        drop(port);
        crate::until(|| Arc::strong_count(&held) <= 1);
    });
}

// Catalogue: 76
#[test]
fn an_item_for_a_receiver_whose_dispatcher_has_ended_goes_to_the_next() {
    for threads in [1, 2, 8] {
        let (gone, here) = (Dispatcher::new(threads).unwrap(), Dispatcher::new(threads).unwrap());
        let (port, out) = (Port::new(), Port::new());
        port.once(gone.handle(), |_| unreachable!("its dispatcher has ended")).detach();
        let seen = out.clone();
        port.once(here.handle(), move |item: u8| seen.post(item).unwrap()).detach();
        gone.shutdown(Shutdown::Abort);
        port.post(7).unwrap();
        assert_eq!(block_on(out.receive()), Ok(7));
        assert_eq!((port.len(), port.waiting()), (0, 0));
    }
}

// Catalogue: 17, 21
#[test]
fn receivers_that_come_and_go_while_items_are_posted_lose_none() {
    on_each(|dispatcher| {
        let (port, out) = (Port::new(), Port::new());
        let poster = {
            let port = port.clone();
            std::thread::spawn(move || (0..20_000).for_each(|item: usize| port.post(item).unwrap()))
        };
        for round in 0..20_000 {
            let out = out.clone();
            let waiting = port.once(dispatcher.handle(), move |item| out.post(item).unwrap());
            if round % 3 == 0 {
                drop(waiting);
            } else {
                waiting.detach();
            }
        }
        poster.join().unwrap();
        let mut seen = Vec::new();
        while seen.len() < 20_000 {
            // Waits until the handlers have posted an item, or until there is an item for this thread.
            crate::until(|| !out.is_empty() || (port.waiting() == 0 && !port.is_empty()));
            seen.extend(out.try_receive().into_iter().chain(if port.waiting() == 0 {
                port.try_receive()
            } else {
                None
            }));
        }
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..20_000));
    });
}

// Catalogue: 76
#[test]
fn an_item_that_was_there_is_in_its_port_until_the_handler_is_called() {
    let dispatcher = Dispatcher::new(1).unwrap();
    let (port, entered) = (Port::new(), Port::new());
    port.post(7).unwrap();
    let (tell, handle) = (entered.clone(), dispatcher.handle().clone());
    // The only worker is busy until the dispatcher's end has begun.
    let busy = dispatcher.spawn(async move {
        tell.post(()).unwrap();
        while handle.execute(|| ()).is_ok() {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
    block_on(entered.receive()).unwrap();
    port.once(dispatcher.handle(), |_: u8| unreachable!("it is dropped before it is called")).detach();
    assert_eq!(port.len(), 1);
    dispatcher.shutdown(Shutdown::Abort);
    busy.detach();
    assert_eq!((port.len(), port.waiting()), (1, 0));
}

#[test]
fn whoever_gets_the_place_of_its_item_may_drop_the_receiver() {
    /// A waker that drops a receiver when it is called.
    struct Dropper(Mutex<Option<Once>>, Port<()>);
    impl Wake for Dropper {
        fn wake(self: Arc<Self>) {
            drop(self.0.lock().unwrap().take());
            self.1.post(()).unwrap();
        }
    }
    on_each(|dispatcher| {
        let (port, out) = (Port::bounded(1, Overflow::Wait), Port::new());
        port.post(1).unwrap();
        let dropper = Arc::new(Dropper(Mutex::new(None), Port::new()));
        let mut waiting = std::pin::pin!(port.post_wait(2));
        let waker = Waker::from(dropper.clone());
        assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        let seen = out.clone();
        {
            let mut slot = dropper.0.lock().unwrap();
            *slot = Some(port.once(dispatcher.handle(), move |item: u8| seen.post(item).unwrap()));
        }
        block_on(dropper.1.receive()).unwrap();
        assert_eq!(block_on(out.receive()), Ok(1));
        block_on(waiting).unwrap();
        assert_eq!(port.drain(), [2]);
    });
}
