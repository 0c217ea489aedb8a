//! Decides the next steps of a run: a state machine that does not wait, send or write.
//!
//! The state machine takes events and answers with commands. The machine knows the steps and their needs, the number of
//! items of a mapped step, and how often an item may be tried. The machine knows no services, values, clocks or tasks.
//! So `tests/schedules.rs` can try every order of events, over all small graphs.
//!
//! - A step is *expanded* when all steps that it needs are done. Only then is the number of its items known (one,
//!   unless the step is mapped).
//! - Each item begins, and then succeeds or fails. If another attempt may succeed, the item is tried again after a
//!   wait, as often as the step allows.
//! - After a permanent failure, no new item begins. Running items finish, and then the run has failed.
//! - If the run is cancelled, all running items are given up at once.

use std::collections::{BTreeMap, BTreeSet};

/// One step as the state machine sees it.
///
/// # Example
/// See [`Machine`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The indices of the steps that must be done before this step.
    pub needs: Vec<usize>,
    /// The maximum number of attempts at an item, at least one.
    pub attempts: u32,
    /// The maximum number of items of this step that are processed at the same time, at least one.
    pub parallel: usize,
}

/// One item of one step. A step that is not mapped has one item, number 0.
///
/// # Example
/// See [`Machine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Item {
    /// The index of the step.
    pub step: usize,
    /// The index of the item.
    pub item: usize,
}

/// The events that the state machine takes.
///
/// # Example
/// See [`Machine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The number of a step's items is known.
    Expanded {
        /// The index of the step.
        step: usize,
        /// The number of items.
        items: usize,
    },
    /// The list over which a step is mapped could not be determined.
    NotExpanded {
        /// The index of the step.
        step: usize,
    },
    /// An item is done.
    Succeeded(Item),
    /// An item has failed.
    Failed {
        /// The failed item.
        item: Item,
        /// Whether another attempt may succeed.
        may_pass: bool,
    },
    /// The wait before another attempt is over.
    Elapsed(Item),
    /// The run is no longer wanted.
    Cancel,
}

/// The commands with which the state machine answers.
///
/// # Example
/// See [`Machine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Command {
    /// Determine how many items a step has.
    Expand(usize),
    /// Begin an attempt at an item.
    Begin {
        /// The item.
        item: Item,
        /// The number of the attempt, counted from 1.
        attempt: u32,
    },
    /// Wait before the item is tried again.
    Wait {
        /// The item.
        item: Item,
        /// The number of the attempt that failed, counted from 1.
        attempt: u32,
    },
    /// Give an item up, because its answer or the end of its wait is no longer needed.
    Abort(Item),
    /// A step is done: all its items have been answered.
    Complete(usize),
    /// The run has ended, and no further commands follow.
    End(Outcome),
}

/// How a run ended.
///
/// # Example
/// See [`Machine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// All steps are done.
    Done,
    /// A step has failed.
    Failed,
    /// The run was cancelled.
    Cancelled,
}

/// The state that an earlier part of the run has left.
///
/// # Example
/// See [`Machine::resume`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Progress {
    /// The number of items of each expanded step.
    pub items: BTreeMap<usize, usize>,
    /// The items that are done.
    pub done: BTreeSet<Item>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Waiting,
    Running,
    Backing,
    Done,
    Failed,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Stage {
    Waiting,
    Expanding,
    /// The phase of each item, and the number of its attempts in this part of the run.
    Open(Vec<(Phase, u32)>),
    Done,
    Failed,
}

/// The state of a run between two events.
///
/// # Example
/// ```
/// use lehr_workflow::machine::{Command, Event, Item, Machine, Node, Outcome};
/// let node = |needs: &[usize]| Node { needs: needs.to_vec(), attempts: 1, parallel: 1 };
/// let (mut machine, first) = Machine::new(vec![node(&[]), node(&[0])], 8);
/// assert_eq!(first, [Command::Expand(0)]);
/// let read = Item { step: 0, item: 0 };
/// assert_eq!(machine.handle(Event::Expanded { step: 0, items: 1 }), [Command::Begin { item: read, attempt: 1 }]);
/// assert_eq!(machine.handle(Event::Succeeded(read)), [Command::Complete(0), Command::Expand(1)]);
/// // A step over no items is done at once.
/// assert_eq!(machine.handle(Event::Expanded { step: 1, items: 0 }), [Command::Complete(1), Command::End(Outcome::Done)]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Machine {
    nodes: Vec<Node>,
    stages: Vec<Stage>,
    parallel: usize,
    /// Whether a step has failed, so that no further item may begin.
    stopping: bool,
    outcome: Option<Outcome>,
}

impl Machine {
    /// Creates a run and returns it with its first commands. At most `parallel` items are processed at the same time.
    ///
    /// # Panics
    /// Panics if a step needs a step that does not exist, or if steps need each other in a circle. A
    /// [`Workflow`](crate::Workflow) that was read without faults has no such steps.
    ///
    /// # Example
    /// See [`Machine`].
    pub fn new(nodes: Vec<Node>, parallel: usize) -> (Self, Vec<Command>) {
        Self::resume(nodes, parallel, &Progress::default())
    }

    /// Creates a run that continues from the given progress. Finished items are not repeated, and the attempts at each
    /// item are counted from 1 again.
    ///
    /// # Panics
    /// Panics under the same conditions as [`new`](Self::new).
    ///
    /// # Example
    /// ```
    /// use lehr_workflow::machine::{Command, Item, Machine, Node, Progress};
    /// let node = |needs: &[usize]| Node { needs: needs.to_vec(), attempts: 1, parallel: 1 };
    /// let progress = Progress { items: [(0, 1)].into(), done: [Item { step: 0, item: 0 }].into() };
    /// let (_, first) = Machine::resume(vec![node(&[]), node(&[0])], 8, &progress);
    /// assert_eq!(first, [Command::Complete(0), Command::Expand(1)]);
    /// ```
    pub fn resume(nodes: Vec<Node>, parallel: usize, progress: &Progress) -> (Self, Vec<Command>) {
        assert!(is_acyclic(&nodes), "the steps of a workflow need each other in a circle");
        let stages = nodes.iter().enumerate().map(|(step, _)| match progress.items.get(&step) {
            None => Stage::Waiting,
            Some(items) => Stage::Open(
                (0..*items)
                    .map(|item| match progress.done.contains(&Item { step, item }) {
                        true => (Phase::Done, 0),
                        false => (Phase::Waiting, 0),
                    })
                    .collect(),
            ),
        });
        let stages = stages.collect();
        let mut machine = Self { nodes, stages, parallel: parallel.max(1), stopping: false, outcome: None };
        let commands = machine.advance();
        (machine, commands)
    }

    /// Returns the outcome of the run, if it has ended.
    ///
    /// # Example
    /// ```
    /// use lehr_workflow::machine::{Machine, Outcome};
    /// assert_eq!(Machine::new(vec![], 1).0.outcome(), Some(Outcome::Done));
    /// ```
    pub fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    /// Returns the commands that follow from an event. Ignores events that change nothing: events about an item that
    /// was given up, and events after the end.
    ///
    /// # Example
    /// See [`Machine`].
    pub fn handle(&mut self, event: Event) -> Vec<Command> {
        if self.outcome.is_some() {
            return Vec::new();
        }
        let mut commands = Vec::new();
        match event {
            Event::Expanded { step, items } => {
                if self.stages.get(step) == Some(&Stage::Expanding) {
                    self.stages[step] = Stage::Open(vec![(Phase::Waiting, 0); items]);
                }
            }
            Event::NotExpanded { step } => {
                if self.stages.get(step) == Some(&Stage::Expanding) {
                    self.stages[step] = Stage::Failed;
                    self.stopping = true;
                }
            }
            Event::Succeeded(item) => {
                if let Some(entry) = self.entry(item).filter(|entry| entry.0 == Phase::Running) {
                    entry.0 = Phase::Done;
                }
            }
            Event::Failed { item, may_pass } => {
                let allowed = self.nodes.get(item.step).map_or(1, |node| node.attempts);
                let stopping = self.stopping;
                let Some(entry) = self.entry(item).filter(|entry| entry.0 == Phase::Running) else { return commands };
                if may_pass && entry.1 < allowed {
                    // While the run is ending, the item does not wait for another attempt, because the wait would only
                    // delay the end.
                    entry.0 = if stopping { Phase::Waiting } else { Phase::Backing };
                    let attempt = entry.1;
                    if !stopping {
                        commands.push(Command::Wait { item, attempt });
                    }
                } else {
                    entry.0 = Phase::Failed;
                    self.stopping = true;
                }
            }
            Event::Elapsed(item) => {
                if let Some(entry) = self.entry(item).filter(|entry| entry.0 == Phase::Backing) {
                    entry.0 = Phase::Waiting;
                }
            }
            Event::Cancel => {
                for item in self.items_in(&[Phase::Running, Phase::Backing]) {
                    commands.push(Command::Abort(item));
                }
                self.outcome = Some(Outcome::Cancelled);
                commands.push(Command::End(Outcome::Cancelled));
                return commands;
            }
        }
        if self.stopping {
            // Give up items that wait for another attempt; let running items finish.
            for item in self.items_in(&[Phase::Backing]) {
                commands.push(Command::Abort(item));
                if let Some(entry) = self.entry(item) {
                    entry.0 = Phase::Waiting;
                }
            }
        }
        commands.extend(self.advance());
        commands
    }

    fn entry(&mut self, item: Item) -> Option<&mut (Phase, u32)> {
        match self.stages.get_mut(item.step) {
            Some(Stage::Open(items)) => items.get_mut(item.item),
            _ => None,
        }
    }

    fn items_in(&self, phases: &[Phase]) -> Vec<Item> {
        let mut found = Vec::new();
        for (step, stage) in self.stages.iter().enumerate() {
            if let Stage::Open(items) = stage {
                let items = items.iter().enumerate().filter(|(_, (phase, _))| phases.contains(phase));
                found.extend(items.map(|(item, _)| Item { step, item }));
            }
        }
        found
    }

    /// Completes, expands and begins all steps that are ready. Ends the run if nothing is left.
    fn advance(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        // Another step may wait for a step that was just completed.
        loop {
            let before = commands.len();
            for step in 0..self.nodes.len() {
                if let Stage::Open(items) = &self.stages[step]
                    && items.iter().all(|(phase, _)| *phase == Phase::Done)
                {
                    self.stages[step] = Stage::Done;
                    commands.push(Command::Complete(step));
                }
                let is_ready = |needs: &[usize]| needs.iter().all(|need| self.stages[*need] == Stage::Done);
                if !self.stopping && self.stages[step] == Stage::Waiting && is_ready(&self.nodes[step].needs) {
                    self.stages[step] = Stage::Expanding;
                    commands.push(Command::Expand(step));
                }
            }
            if commands.len() == before {
                break;
            }
        }
        if !self.stopping {
            self.begin(&mut commands);
        }
        let is_still =
            self.items_in(&[Phase::Running, Phase::Backing]).is_empty() && !self.stages.contains(&Stage::Expanding);
        if is_still {
            let is_done = self.stages.iter().all(|stage| *stage == Stage::Done);
            debug_assert!(is_done || self.stopping, "a run without anything to do has ended");
            let outcome = if is_done { Outcome::Done } else { Outcome::Failed };
            self.outcome = Some(outcome);
            commands.push(Command::End(outcome));
        }
        commands
    }

    fn begin(&mut self, commands: &mut Vec<Command>) {
        let mut running = self.items_in(&[Phase::Running]).len();
        for step in 0..self.nodes.len() {
            let of_step = self.nodes[step].parallel.max(1);
            let Stage::Open(items) = &mut self.stages[step] else { continue };
            let mut beside = items.iter().filter(|(phase, _)| *phase == Phase::Running).count();
            for (item, entry) in items.iter_mut().enumerate() {
                if running >= self.parallel || beside >= of_step {
                    break;
                }
                if entry.0 == Phase::Waiting {
                    *entry = (Phase::Running, entry.1 + 1);
                    (running, beside) = (running + 1, beside + 1);
                    commands.push(Command::Begin { item: Item { step, item }, attempt: entry.1 });
                }
            }
        }
    }
}

/// Returns whether the steps have an order in which each step comes after the steps that it needs.
fn is_acyclic(nodes: &[Node]) -> bool {
    let mut done = vec![false; nodes.len()];
    loop {
        let next = (0..nodes.len())
            .find(|step| !done[*step] && nodes[*step].needs.iter().all(|need| done.get(*need) == Some(&true)));
        match next {
            Some(step) => done[step] = true,
            None => return done.into_iter().all(|is_done| is_done),
        }
    }
}
