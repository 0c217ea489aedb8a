//! Tests the state machine of a run against every order of events. Covers all graphs of up to four steps, larger random
//! graphs, every choice of failures, cancellation at any moment, and resumption from any state. The rules are written
//! down again here in the simplest form.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lehr_workflow::machine::{Command, Event, Item, Machine, Node, Outcome, Progress};

/// Returns all graphs with `steps` steps whose links go from lower to higher numbers. After renumbering, any acyclic
/// graph is one of these.
fn graphs(steps: usize) -> impl Iterator<Item = Vec<Vec<usize>>> {
    let pairs: Vec<(usize, usize)> = (0..steps).flat_map(|to| (0..to).map(move |from| (from, to))).collect();
    (0..1_u32 << pairs.len()).map(move |bits| {
        let mut needs = vec![Vec::new(); steps];
        for (bit, (from, to)) in pairs.iter().enumerate() {
            if bits >> bit & 1 == 1 {
                needs[*to].push(*from);
            }
        }
        needs
    })
}

fn nodes(needs: &[Vec<usize>], attempts: u32, parallel: usize) -> Vec<Node> {
    needs.iter().map(|needs| Node { needs: needs.clone(), attempts, parallel }).collect()
}

/// A run from the view of an observer of its commands and events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Seen {
    items: BTreeMap<usize, usize>,
    expanding: BTreeSet<usize>,
    running: BTreeSet<Item>,
    waiting: BTreeSet<Item>,
    done: BTreeSet<Item>,
    failed: bool,
    attempts: BTreeMap<Item, u32>,
    completed: BTreeSet<usize>,
    ended: Option<Outcome>,
}

/// The rules that hold in every order of events.
struct Rules {
    nodes: Vec<Node>,
    parallel: usize,
    /// The items that an earlier part of the run has done.
    before: BTreeSet<Item>,
}

impl Rules {
    fn see(&self, seen: &mut Seen, commands: &[Command]) {
        for command in commands {
            assert_eq!(seen.ended, None, "nothing follows the end: {command:?}");
            match *command {
                Command::Expand(step) => {
                    assert!(
                        self.nodes[step].needs.iter().all(|need| seen.completed.contains(need)),
                        "{step} too early"
                    );
                    assert!(!seen.failed, "{step} was expanded after a failure");
                    assert!(!seen.items.contains_key(&step) && seen.expanding.insert(step), "{step} is expanded once");
                }
                Command::Begin { item, attempt } => {
                    assert!(!seen.failed, "{item:?} was begun after a failure");
                    assert!(seen.items[&item.step] > item.item);
                    assert!(!seen.done.contains(&item) && !self.before.contains(&item), "{item:?} is done already");
                    assert!(
                        !seen.waiting.contains(&item) && seen.running.insert(item),
                        "{item:?} is under way already"
                    );
                    let made = seen.attempts.entry(item).or_default();
                    *made += 1;
                    assert_eq!((*made, *made <= self.nodes[item.step].attempts), (attempt, true));
                    assert!(seen.running.len() <= self.parallel);
                    let beside = seen.running.iter().filter(|other| other.step == item.step).count();
                    assert!(beside <= self.nodes[item.step].parallel);
                }
                Command::Wait { item, attempt } => {
                    assert_eq!(seen.attempts[&item], attempt);
                    assert!(!seen.running.contains(&item) && seen.waiting.insert(item));
                }
                Command::Abort(item) => {
                    assert!(seen.running.remove(&item) || seen.waiting.remove(&item), "{item:?} is not under way");
                }
                Command::Complete(step) => {
                    let items = (0..seen.items[&step]).map(|item| Item { step, item });
                    assert!(items.into_iter().all(|item| seen.done.contains(&item)));
                    assert!(seen.completed.insert(step), "{step} is completed once");
                }
                Command::End(outcome) => {
                    assert!(seen.running.is_empty() && seen.waiting.is_empty(), "something is under way at the end");
                    assert!(seen.expanding.is_empty() || outcome == Outcome::Cancelled);
                    let is_done = seen.completed.len() == self.nodes.len();
                    assert_eq!(outcome == Outcome::Done, is_done, "done means that all steps are");
                    assert!(outcome != Outcome::Failed || seen.failed);
                    seen.ended = Some(outcome);
                }
            }
        }
        // The machine must keep working: if nothing is running, waiting or expanding, the run has ended.
        let is_idle = seen.running.is_empty() && seen.waiting.is_empty() && seen.expanding.is_empty();
        assert_eq!(is_idle, seen.ended.is_some());
    }

    /// Returns all events that may happen next.
    fn events(&self, seen: &Seen, sizes: &[usize]) -> Vec<Event> {
        let mut events = Vec::new();
        for step in &seen.expanding {
            events.push(Event::Expanded { step: *step, items: sizes[*step] });
            events.push(Event::NotExpanded { step: *step });
        }
        for item in &seen.running {
            events.push(Event::Succeeded(*item));
            events.push(Event::Failed { item: *item, may_pass: true });
            events.push(Event::Failed { item: *item, may_pass: false });
        }
        events.extend(seen.waiting.iter().map(|item| Event::Elapsed(*item)));
        if seen.ended.is_none() {
            events.push(Event::Cancel);
        }
        events
    }

    fn happen(&self, machine: &mut Machine, seen: &mut Seen, event: Event) {
        match event {
            Event::Expanded { step, items } => {
                seen.expanding.remove(&step);
                seen.items.insert(step, items);
            }
            Event::NotExpanded { step } => {
                seen.expanding.remove(&step);
                seen.failed = true;
            }
            Event::Succeeded(item) => {
                seen.running.remove(&item);
                seen.done.insert(item);
            }
            Event::Failed { item, may_pass } => {
                seen.running.remove(&item);
                let is_last = seen.attempts[&item] >= self.nodes[item.step].attempts;
                seen.failed |= !may_pass || is_last;
            }
            Event::Elapsed(item) => {
                seen.waiting.remove(&item);
            }
            Event::Cancel => seen.expanding.clear(),
        }
        let commands = machine.handle(event);
        self.see(seen, &commands);
    }
}

/// Tries every order of events, and resumes from every state. Returns the number of states.
fn explore(needs: &[Vec<usize>], sizes: &[usize], attempts: u32, parallel: usize) -> usize {
    let rules = Rules { nodes: nodes(needs, attempts, usize::MAX), parallel, before: BTreeSet::new() };
    let (machine, first) = Machine::new(rules.nodes.clone(), parallel);
    let mut seen = Seen::default();
    rules.see(&mut seen, &first);
    let (mut known, mut open, mut prefixes) = (HashSet::new(), vec![(machine, seen)], HashSet::new());
    while let Some((machine, seen)) = open.pop() {
        if !known.insert((machine.clone(), seen.clone())) {
            continue;
        }
        let progress = Progress { items: seen.items.clone(), done: seen.done.clone() };
        if prefixes.insert(progress.clone()) {
            resume(&rules, sizes, &progress);
        }
        for event in rules.events(&seen, sizes) {
            let (mut machine, mut seen) = (machine.clone(), seen.clone());
            rules.happen(&mut machine, &mut seen, event);
            assert_eq!(machine.outcome(), seen.ended);
            open.push((machine, seen));
        }
    }
    known.len()
}

/// Resumes from finished items without any failure. In the end, all items are done, and none was done twice.
fn resume(rules: &Rules, sizes: &[usize], progress: &Progress) {
    let rules = Rules { nodes: rules.nodes.clone(), parallel: rules.parallel, before: progress.done.clone() };
    let (mut machine, first) = Machine::resume(rules.nodes.clone(), rules.parallel, progress);
    let mut seen = Seen { items: progress.items.clone(), done: progress.done.clone(), ..Seen::default() };
    rules.see(&mut seen, &first);
    while seen.ended.is_none() {
        let events = rules.events(&seen, sizes);
        let good = events.into_iter().find(|event| matches!(event, Event::Expanded { .. } | Event::Succeeded(_)));
        rules.happen(&mut machine, &mut seen, good.expect("a run that has not ended does something"));
    }
    assert_eq!(seen.ended, Some(Outcome::Done));
    let all: usize = sizes.iter().sum();
    assert_eq!(seen.done.len(), all);
    assert!(seen.attempts.values().all(|attempts| *attempts == 1) && seen.attempts.len() == all - progress.done.len());
}

#[test]
fn every_order_of_events_keeps_the_rules_on_all_graphs_of_three_steps() {
    for steps in 0..=3 {
        for needs in graphs(steps) {
            assert!(explore(&needs, &vec![1; steps], 2, 8) > 0);
            assert!(explore(&needs, &vec![1; steps], 1, 1) > 0);
        }
    }
}

#[test]
fn every_order_of_events_keeps_the_rules_on_all_graphs_of_four_steps() {
    for needs in graphs(4) {
        assert!(explore(&needs, &[1; 4], 1, 8) > 0);
    }
}

#[test]
fn steps_over_no_one_and_several_items_keep_the_rules() {
    for needs in graphs(2) {
        for sizes in [[0, 0], [0, 2], [2, 0], [2, 1], [2, 2]] {
            for parallel in [1, 2, 8] {
                assert!(explore(&needs, &sizes, 2, parallel) > 0);
            }
        }
    }
}

/// Random numbers from a seed, which are the same on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % limit as u64).unwrap()
    }
}

/// Returns the steps that a run must have completed at the end, computed one step after another. A step is completed if
/// all steps that it needs are completed and none of its items fails permanently.
fn oracle(needs: &[Vec<usize>], sizes: &[usize], fails: &BTreeSet<Item>) -> BTreeSet<usize> {
    let mut done = BTreeSet::new();
    for step in 0..needs.len() {
        let is_able = needs[step].iter().all(|need| done.contains(need));
        let fails_here = (0..sizes[step]).any(|item| fails.contains(&Item { step, item }));
        if is_able && !fails_here {
            done.insert(step);
        }
    }
    done
}

#[test]
fn random_graphs_end_as_one_step_after_the_other_would() {
    for seed in 0..2000 {
        let mut random = Random(seed);
        let steps = 1 + random.below(9);
        let needs: Vec<Vec<usize>> = (0..steps).map(|to| (0..to).filter(|_| random.below(3) == 0).collect()).collect();
        let sizes: Vec<usize> = (0..steps).map(|_| random.below(4)).collect();
        let attempts = 1 + u32::try_from(random.below(3)).unwrap();
        let (of_step, parallel) = (1 + random.below(3), 1 + random.below(4));
        let all = (0..steps).flat_map(|step| (0..sizes[step]).map(move |item| Item { step, item }));
        let fails: BTreeSet<Item> = all.filter(|_| random.below(8) == 0).collect();
        let expected = oracle(&needs, &sizes, &fails);

        let rules = Rules { nodes: nodes(&needs, attempts, of_step), parallel, before: BTreeSet::new() };
        let (mut machine, first) = Machine::new(rules.nodes.clone(), parallel);
        let mut seen = Seen::default();
        rules.see(&mut seen, &first);
        while seen.ended.is_none() {
            let events: Vec<Event> = rules
                .events(&seen, &sizes)
                .into_iter()
                .filter(|event| match event {
                    Event::Succeeded(item) => !fails.contains(item),
                    Event::Failed { item, may_pass } => {
                        // Items in `fails` fail permanently in the end. All other items fail only as often as they may.
                        let is_last = seen.attempts[item] >= attempts;
                        *may_pass && (fails.contains(item) || !is_last)
                    }
                    Event::NotExpanded { .. } | Event::Cancel => false,
                    Event::Expanded { .. } | Event::Elapsed(_) => true,
                })
                .collect();
            let event = events[random.below(events.len())];
            rules.happen(&mut machine, &mut seen, event);
        }
        // A failure prevents other steps from beginning, so some completable steps remain; no other step is completed.
        // After a resumed run without failures, all steps are completed.
        assert!(seen.completed.is_subset(&expected), "seed {seed}");
        assert_eq!(seen.ended == Some(Outcome::Done), fails.is_empty() || expected.len() == steps, "seed {seed}");
        resume(&rules, &sizes, &Progress { items: seen.items.clone(), done: seen.done.clone() });
    }
}

#[test]
fn what_is_heard_too_late_changes_nothing() {
    let read = Item { step: 0, item: 0 };
    let (mut machine, _) = Machine::new(nodes(&[vec![]], 3, 1), 8);
    machine.handle(Event::Expanded { step: 0, items: 1 });
    assert_eq!(machine.handle(Event::Expanded { step: 0, items: 5 }), []);
    assert_eq!(machine.handle(Event::Elapsed(read)), []);
    assert_eq!(machine.handle(Event::Cancel), [Command::Abort(read), Command::End(Outcome::Cancelled)]);
    assert_eq!(machine.handle(Event::Succeeded(read)), []);
}

#[test]
#[should_panic(expected = "in a circle")]
fn a_circle_is_a_bug_of_the_caller() {
    let _ = Machine::new(nodes(&[vec![1], vec![0]], 1, 1), 1);
}
