//! Runs spawned patterns on actor libraries: a rank is an actor, and each message (or pair of messages) in its mailbox
//! invokes its handler. This form is the most similar to a persistent receiver on a port.
//!
//! A message carries its stage and its side. A mailbox keeps the order of one sender, so every rank checks each message
//! that it gets.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Instant;

use crate::{Form, Pattern, Run, units};

/// A message between ranks.
#[derive(Clone, Copy, Debug)]
pub struct Post {
    /// Whether the message comes from the left neighbour.
    pub is_from_left: bool,
    /// The stage that the message starts.
    pub stage: u64,
}

/// The state that the ranks of a run share; `A` is the address of an actor.
pub struct Ring<A> {
    run: Run,
    mailboxes: OnceLock<Vec<A>>,
    /// Whether every mailbox has its messages of stage 0.
    has_begun: AtomicBool,
    ended: Vec<AtomicUsize>,
    alive: AtomicUsize,
    waiter: Thread,
}

impl<A> Ring<A> {
    /// Makes a ring whose actors are not started yet.
    pub fn new(run: Run) -> Arc<Self> {
        Arc::new(Self {
            run,
            mailboxes: OnceLock::new(),
            has_begun: AtomicBool::new(false),
            ended: (0..run.ranks).map(|_| AtomicUsize::new(0)).collect(),
            alive: AtomicUsize::new(run.ranks),
            waiter: std::thread::current(),
        })
    }

    /// Posts the messages of stage 0 to the actors, waits for the last stage of every rank, and returns the seconds
    /// between.
    pub fn measure(&self, mailboxes: Vec<A>, post: impl Fn(&A, Post)) -> f64 {
        assert!(self.mailboxes.set(mailboxes).is_ok(), "a ring runs once");
        let start = Instant::now();
        for mailbox in self.mailboxes() {
            post(mailbox, Post { is_from_left: true, stage: 0 });
            match self.run.pattern {
                Pattern::TwoShifts => post(mailbox, Post { is_from_left: true, stage: 0 }),
                Pattern::Exchange => post(mailbox, Post { is_from_left: false, stage: 0 }),
                _ => {}
            }
        }
        self.has_begun.store(true, Release);
        while self.alive.load(Acquire) > 0 {
            std::thread::park();
        }
        let seconds = start.elapsed().as_secs_f64();
        assert!(self.ended.iter().all(|ended| ended.load(Relaxed) == 1), "a rank did not reach its last stage once");
        seconds
    }

    /// Returns the addresses of the actors, once [`measure`](Self::measure) has begun.
    pub fn mailboxes(&self) -> &[A] {
        self.mailboxes.get().expect("set before the first message")
    }

    fn end(&self, rank: usize) {
        self.ended[rank].fetch_add(1, Relaxed);
        if self.alive.fetch_sub(1, AcqRel) == 1 {
            self.waiter.unpark();
        }
    }
}

/// The state of the actor of one rank.
pub struct Rank<A> {
    ring: Arc<Ring<A>>,
    rank: usize,
    stage: u64,
    /// The numbers of messages so far, from the right and from the left.
    received: [u64; 2],
}

impl<A> Rank<A> {
    /// Makes the state of rank `rank` of a ring, before its first message.
    pub fn new(ring: &Arc<Ring<A>>, rank: usize) -> Self {
        Self { ring: ring.clone(), rank, stage: 0, received: [0; 2] }
    }

    /// Handles a message; `post` sends the next ones.
    #[inline(always)]
    pub fn handle(&mut self, message: Post, post: impl Fn(&A, Post)) {
        let run = &self.ring.run;
        if run.pattern == Pattern::None {
            for stage in 0..run.stages {
                units(stage as u64, run.units);
            }
            return self.ring.end(self.rank);
        }
        // A rank that continued earlier would send its neighbour the second stage before the first is there.
        while message.stage == 0 && !self.ring.has_begun.load(Acquire) {
            std::thread::yield_now();
        }
        let messages_a_stage = if run.pattern == Pattern::TwoShifts { 2 } else { 1 };
        let count = &mut self.received[usize::from(message.is_from_left)];
        assert_eq!(message.stage, *count / messages_a_stage, "a message of another stage");
        *count += 1;
        let due = messages_a_stage * (self.stage + 1);
        let [from_right, from_left] = self.received;
        if from_left < due || (run.pattern == Pattern::Exchange && from_right < due) {
            return;
        }
        if run.units > 0 {
            units(self.stage, run.units);
        }
        self.stage += 1;
        if self.stage >= run.stages as u64 {
            return self.ring.end(self.rank);
        }
        let all = self.ring.mailboxes();
        let (right, left) = (&all[(self.rank + 1) % run.ranks], &all[(self.rank + run.ranks - 1) % run.ranks]);
        let [rightward, leftward] = [true, false].map(|is_from_left| Post { is_from_left, stage: self.stage });
        match run.pattern {
            Pattern::None => unreachable!("answered above"),
            Pattern::Pipeline => post(&all[self.rank], rightward),
            Pattern::Shift => post(right, rightward),
            Pattern::TwoShifts => {
                post(right, rightward);
                post(right, rightward);
            }
            Pattern::Exchange => {
                post(right, rightward);
                post(left, leftward);
            }
        }
    }
}

/// Returns whether actors do this run: all runs in which every message invokes a handler, and the computation alone.
pub fn is_for_actors(run: &Run) -> bool {
    run.form == Form::Spawned || run.pattern == Pattern::None
}
