//! How a thread of the edge learns that an answer has come.
//!
//! Falling asleep and being woken cost more than most handlers: who wakes makes a system call, and the system changes threads twice. So a
//! thread that has nothing else to do looks for answers some microseconds before it sleeps, and gives its core to the workers if they have no
//! other. Whoever answers meanwhile leaves a note, which costs no call.
//!
//! | the thread | an answer |
//! | --- | --- |
//! | serves one request, and looks ([`looked_for`]) | is found by it |
//! | serves several, has done what it can for each, and looks ([`Lookout::look`]) | leaves a note with its task |
//! | runs tasks, or sleeps | wakes its task, as Tokio has it |
//!
//! A note is left only while the thread looks, under the lock under which it stops looking and takes the notes: none is left behind.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context as Polling, Wake, Waker};

use crate::sync::{Arc, Count, Mutex, spin_loop, yield_now};

/// How often an answer is looked for, by a thread that has nothing else to do.
#[derive(Clone, Copy, Debug)]
struct Looks {
    /// With a pause of some tens of nanoseconds before each.
    spinning: usize,
    /// After that, each time that the system gives the core back.
    yielding: usize,
}

impl Looks {
    /// As this machine has it: on one core nobody answers while this thread spins.
    fn here() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { spinning: if cores > 1 { 40 } else { 0 }, yielding: 4 }
    }

    /// Waits a moment before it is looked again; says whether that is worth it.
    fn pause(self, looks: &mut usize) -> bool {
        *looks += 1;
        if *looks <= self.spinning {
            (0..8).for_each(|_| spin_loop());
        } else if *looks <= self.spinning + self.yielding {
            yield_now();
        } else {
            return false;
        }
        true
    }
}

/// The lookout of one thread; see the module's page.
#[derive(Debug)]
pub(crate) struct Lookout {
    looks: Looks,
    /// How many answers the thread's tasks wait for.
    awaited: Count,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    is_looking: bool,
    tasks: Vec<Waker>,
}

thread_local! {
    static HERE: RefCell<Option<Arc<Lookout>>> = const { RefCell::new(None) };
}

impl Lookout {
    /// A lookout for the thread that stands [here](Self::stand).
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { looks: Looks::here(), awaited: Count::default(), notes: Mutex::default() })
    }

    /// Makes this the lookout of the thread that calls.
    pub(crate) fn stand(self: &Arc<Self>) {
        HERE.set(Some(self.clone()));
    }

    /// Looks for answers, if any is awaited, until there is one or it is time to sleep; then wakes their tasks. The thread's runtime calls it
    /// when no task can go on.
    pub(crate) fn look(&self) {
        if self.awaited.get() == 0 {
            return;
        }
        self.notes.lock().is_looking = true;
        let mut looks = 0;
        let tasks = loop {
            let is_over = !self.looks.pause(&mut looks);
            let mut notes = self.notes.lock();
            if is_over || !notes.tasks.is_empty() {
                notes.is_looking = false;
                break std::mem::take(&mut notes.tasks);
            }
        };
        tasks.into_iter().for_each(Waker::wake);
    }
}

/// What an answer wakes: the task, or the note that it has come.
struct Notice {
    lookout: Arc<Lookout>,
    task: Waker,
}

impl Wake for Notice {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        {
            let mut notes = self.lookout.notes.lock();
            if notes.is_looking {
                notes.tasks.push(self.task.clone());
                return;
            }
        }
        self.task.wake_by_ref();
    }
}

/// An answer for which a task waits.
struct Awaited {
    lookout: Arc<Lookout>,
    task: Waker,
    notice: Waker,
    is_counted: bool,
}

impl Awaited {
    fn new(lookout: &Arc<Lookout>, task: &Waker, is_counted: bool) -> Self {
        lookout.awaited.add(usize::from(is_counted));
        let notice = Waker::from(Arc::new(Notice { lookout: lookout.clone(), task: task.clone() }));
        Self { lookout: lookout.clone(), task: task.clone(), notice, is_counted }
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        self.lookout.awaited.subtract(usize::from(self.is_counted));
    }
}

/// Waits for an answer. If `is_alone` says that this thread has nothing else to do, it looks for it a while, some microseconds at most.
pub(crate) async fn looked_for<T>(answer: impl Future<Output = T>, is_alone: impl Fn() -> bool) -> T {
    let Some(lookout) = HERE.with_borrow(Clone::clone) else { return answer.await };
    let mut answer = pin!(answer);
    let mut looks = 0;
    let mut awaited: Option<Awaited> = None;
    poll_fn(move |polling| {
        while awaited.is_none() && is_alone() {
            // Nobody is to be woken while this thread looks.
            let polled = answer.as_mut().poll(&mut Polling::from_waker(Waker::noop()));
            if polled.is_ready() {
                return polled;
            }
            if !lookout.looks.pause(&mut looks) {
                break;
            }
        }
        if awaited.as_ref().is_none_or(|awaited| !awaited.task.will_wake(polling.waker())) {
            // Who has looked for this one already does not do so again before it sleeps.
            awaited = None;
            awaited = Some(Awaited::new(&lookout, polling.waker(), looks == 0));
        }
        let notice = awaited.as_ref().map_or(polling.waker(), |awaited| &awaited.notice);
        answer.as_mut().poll(&mut Polling::from_waker(notice))
    })
    .await
}

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;
    use crate::sync::Thread;

    #[derive(Default)]
    struct Counting(Count);

    // Read by who has joined the thread that counts, or counts itself.
    impl Wake for Counting {
        fn wake(self: Arc<Self>) {
            self.0.add(1);
        }
    }

    /// A lookout that looks so often, and an answer that one task waits for.
    fn awaiting(spinning: usize) -> (Arc<Lookout>, Arc<Counting>, Awaited) {
        let looks = Looks { spinning, yielding: 0 };
        let lookout = Arc::new(Lookout { looks, awaited: Count::default(), notes: Mutex::default() });
        let task = Arc::new(Counting::default());
        let awaited = Awaited::new(&lookout, &Waker::from(task.clone()), true);
        (lookout, task, awaited)
    }

    #[test]
    fn who_does_not_look_is_woken_at_once() {
        let (_lookout, task, awaited) = awaiting(1);
        awaited.notice.wake_by_ref();
        assert_eq!(task.0.get(), 1);
    }

    #[test]
    fn who_looks_is_left_a_note_and_takes_it() {
        let (lookout, task, awaited) = awaiting(usize::MAX - 1);
        let looking = {
            let lookout = lookout.clone();
            Thread::start("looking".to_owned(), move || lookout.look()).unwrap()
        };
        while !lookout.notes.lock().is_looking {
            yield_now();
        }
        awaited.notice.wake_by_ref();
        drop(looking);
        assert_eq!(task.0.get(), 1);
        assert!(!lookout.notes.lock().is_looking && lookout.notes.lock().tasks.is_empty());
    }

    #[test]
    fn who_awaits_nothing_does_not_look_and_who_finds_nothing_stops() {
        let (lookout, task, awaited) = awaiting(100);
        lookout.look();
        assert_eq!(task.0.get(), 0);
        drop(awaited);
        // This one would look for ever.
        let (lookout, _, awaited) = awaiting(usize::MAX - 1);
        drop(awaited);
        lookout.look();
    }

    #[test]
    fn every_answer_comes_however_many_are_awaited() {
        for (alone, together) in [(true, 1), (false, 1), (false, 2), (false, 64)] {
            let (asking, asked) = std::sync::mpsc::channel::<oneshot::Sender<usize>>();
            let _answering = Thread::start("answering".to_owned(), move || {
                for (number, reply) in asked.into_iter().enumerate() {
                    // Now and then somebody falls asleep meanwhile.
                    if number % 64 == 0 {
                        std::thread::sleep(std::time::Duration::from_micros(200));
                    }
                    reply.send(number).unwrap();
                }
            })
            .unwrap();
            let lookout = Lookout::new();
            let looking = lookout.clone();
            let runtime =
                tokio::runtime::Builder::new_current_thread().on_thread_park(move || looking.look()).build().unwrap();
            lookout.stand();
            let answers: usize = runtime.block_on(async {
                let mut askers = tokio::task::JoinSet::new();
                for _ in 0..together {
                    let asking = asking.clone();
                    askers.spawn(async move {
                        let mut answers = 0;
                        for _ in 0..2000 / together {
                            let (reply, answer) = oneshot::channel();
                            asking.send(reply).unwrap();
                            looked_for(answer, || alone).await.unwrap();
                            answers += 1;
                        }
                        answers
                    });
                }
                askers.join_all().await.into_iter().sum()
            });
            drop(asking);
            assert_eq!(answers, 2000 / together * together);
            assert_eq!(lookout.awaited.get(), 0);
        }
    }
}
