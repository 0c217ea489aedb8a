//! The end of a dispatcher while threads still wake its tasks and post to its receivers: work that comes too late is
//! dropped, by whichever thread, and no work stays in a queue into which no thread looks.

use std::sync::Arc;

use lehr_runtime::{Builder, Idle, Port, Shutdown, block_on};
use shuttle::sync::Mutex;
use shuttle::thread;

use super::explore;

#[test]
fn a_task_that_is_woken_while_its_dispatcher_ends_is_dropped() {
    explore(2000, || {
        let dispatcher = Builder::new().threads(1).idle(Idle::SLEEP).start().unwrap();
        let (port, held) = (Port::new(), Arc::new(()));
        let task = {
            let (port, held) = (port.clone(), held.clone());
            dispatcher.spawn(async move {
                let _held = held;
                port.receive().await.unwrap();
            })
        };
        // The receiver's task waits at the port, so the post wakes the task.
        while port.waiting() == 0 {
            thread::yield_now();
        }
        let poster = thread::spawn(move || port.post(()).unwrap());
        dispatcher.shutdown(Shutdown::Abort);
        poster.join().unwrap();
        // The task has ended, in whichever way.
        let _ = block_on(task);
        assert_eq!(Arc::strong_count(&held), 1);
    });
}

#[test]
fn who_wakes_under_a_lock_does_not_drop_what_takes_it() {
    /// A stream, which takes the lock of its connection when it is dropped.
    struct Stream(Arc<Mutex<()>>);
    impl Drop for Stream {
        fn drop(&mut self) {
            drop(self.0.lock());
        }
    }

    explore(2000, || {
        let dispatcher = Builder::new().threads(1).idle(Idle::SLEEP).start().unwrap();
        let (port, connection) = (Port::new(), Arc::new(Mutex::new(())));
        let task = {
            let (port, stream) = (port.clone(), Stream(connection.clone()));
            dispatcher.spawn(async move {
                let _stream = stream;
                port.receive().await.unwrap();
            })
        };
        while port.waiting() == 0 {
            thread::yield_now();
        }
        let poster = thread::spawn(move || {
            let _held = connection.lock();
            port.post(()).unwrap();
        });
        dispatcher.shutdown(Shutdown::Abort);
        poster.join().unwrap();
        let _ = block_on(task);
    });
}

#[test]
fn an_item_for_a_one_time_receiver_of_a_dispatcher_that_ends_is_handled_or_another_s() {
    explore(2000, || {
        let dispatcher = Builder::new().threads(1).idle(Idle::SLEEP).start().unwrap();
        let (port, handled) = (Port::new(), Port::new());
        let out = handled.clone();
        port.once(dispatcher.handle(), move |item: u8| out.post(item).unwrap()).detach();
        let poster = {
            let port = port.clone();
            thread::spawn(move || port.post(1).unwrap())
        };
        dispatcher.shutdown(Shutdown::Abort);
        poster.join().unwrap();
        if handled.try_receive().is_none() {
            assert_eq!(block_on(port.receive()), Ok(1));
        }
    });
}
