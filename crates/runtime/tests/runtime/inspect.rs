use std::time::Duration;

use lehr_runtime::{
    Builder, Clock, Context, Inspector, Overflow, Port, TaskView, block_on, choice, join, named, sleep, timeout,
};

use crate::on_each;

fn reasons(task: &TaskView) -> Vec<&str> {
    let mut reasons: Vec<_> = task.waits.iter().map(|wait| wait.reason.as_str()).collect();
    reasons.sort_unstable();
    reasons
}

#[test]
fn every_wait_has_an_owner_a_reason_and_a_deadline() {
    for threads in [1, 2, 8] {
        let clock = Clock::virtual_time();
        let dispatcher = Builder::new().threads(threads).clock(clock.clone()).start().unwrap();
        let (left, right) = (Port::<u8>::named("left"), Port::<u8>::named("right"));
        let inspector = Inspector::new();
        inspector.watch_dispatcher("main", dispatcher.handle());
        inspector.watch_port(&left);
        inspector.watch_port(&right);

        let (a, b) = (left.clone(), right.clone());
        let pairing = dispatcher.spawn(named("pairing", async move { join((&a, &b)).await }));
        let a = left.clone();
        let taking = dispatcher.spawn(named("taking", async move { a.take(3).await }));
        let (b, second) = (right.clone(), Duration::from_secs(1));
        let patient = dispatcher.spawn(named("patient", async move { timeout(second, b.receive()).await }));
        let request = Context::named("request").timeout(&clock, second * 2).build();
        let sleeping = request.run(|| dispatcher.spawn(async move { sleep(second * 5).await }));
        clock.wait_for_timers(3);
        crate::until(|| (left.waiting(), right.waiting()) == (2, 2));

        let seen = inspector.look();
        let tasks = &seen.dispatchers[0].tasks;
        assert_eq!((tasks.len(), seen.dispatchers[0].timers, seen.other_waits.len()), (4, 3, 0), "{seen}");
        let called = |name| tasks.iter().find(|task| task.name.as_deref() == name).unwrap();
        let both =
            ["1 at, together with other ports, port \"left\"", "1 at, together with other ports, port \"right\""];
        assert_eq!(reasons(called(Some("pairing"))), both);
        assert_eq!(reasons(called(Some("taking"))), ["take 3 at port \"left\""]);
        assert_eq!(reasons(called(Some("patient"))), ["receive at port \"right\"", "sleep"]);
        assert!(called(Some("patient")).waits.iter().any(|wait| wait.until == Some(second)));
        let sleeper = called(None);
        assert_eq!((sleeper.context.as_deref(), sleeper.deadline), (Some("request"), Some(second * 2)));
        assert_eq!((reasons(sleeper), sleeper.waits[0].until), (vec!["sleep"], Some(second * 5)));
        let text = seen.to_string();
        let line = "task \"taking\": waits for take 3 at port \"left\"\n";
        assert!(text.contains(line) && text.contains("port \"right\": 0 items, 2 receivers"), "{text}");

        // Waiters that are gone are not shown, and their names and contexts are forgotten.
        drop((pairing, taking, patient, sleeping, request));
        crate::until(|| left.waiting() + right.waiting() + clock.pending() == 0);
        drop(left);
        let after = dispatcher.spawn(async {});
        block_on(after).unwrap();
        let seen = inspector.look();
        assert!(seen.dispatchers[0].tasks.iter().all(|task| task.name.is_none() && task.context.is_none()), "{seen}");
        assert_eq!(seen.ports.len(), 1, "an inspector keeps no port");
    }
}

#[test]
fn counters_are_exposed_as_text() {
    on_each(|dispatcher| {
        let port = Port::bounded(1, Overflow::DropOldest);
        let queue = dispatcher.queue("slow \"lane\"").build().unwrap();
        let inspector = Inspector::new();
        inspector.watch_dispatcher("main", dispatcher.handle());
        inspector.watch_port(&port);
        (0..3).for_each(|item| port.post(item).unwrap());
        block_on(queue.spawn(async {}).ok().unwrap()).unwrap();
        // The last task leaves the list a moment after its handle has the result.
        let text = loop {
            let text = inspector.look().prometheus();
            if text.contains("lehr_tasks_living{dispatcher=\"main\"} 0\n") {
                break text;
            }
            std::thread::yield_now();
        };
        let name = port.name();
        for line in [
            "# TYPE lehr_port_items gauge".to_owned(),
            "# TYPE lehr_port_posted_total counter".to_owned(),
            format!("lehr_port_items{{port=\"{name}\"}} 1"),
            format!("lehr_port_posted_total{{port=\"{name}\"}} 3"),
            format!("lehr_port_discarded_total{{port=\"{name}\"}} 2"),
            "lehr_tasks_finished_total{dispatcher=\"main\"} 1".to_owned(),
            "lehr_queue_scheduled_total{dispatcher=\"main\",queue=\"slow \\\"lane\\\"\"} 1".to_owned(),
        ] {
            assert!(text.lines().any(|known| known == line), "{line}\nis not in\n{text}");
        }
        let workers = text.lines().filter(|line| line.starts_with("lehr_worker_polls_total{")).count();
        assert_eq!(workers, dispatcher.threads());
    });
}

#[test]
fn a_choice_is_one_task_with_several_waits() {
    on_each(|dispatcher| {
        let (a, b) = (Port::<u8>::named("a"), Port::<u8>::named("b"));
        let inspector = Inspector::new();
        inspector.watch_dispatcher("main", dispatcher.handle());
        inspector.watch_port(&a);
        inspector.watch_port(&b);
        let (first, second) = (a.clone(), b.clone());
        let task = dispatcher.spawn(async move {
            choice! { item = first.receive() => item, item = second.receive() => item }
        });
        crate::until(|| b.waiting() != 0);
        let seen = inspector.look();
        assert_eq!(reasons(&seen.dispatchers[0].tasks[0]), ["receive at port \"a\"", "receive at port \"b\""]);
        a.post(1).unwrap();
        assert_eq!(block_on(task), Ok(Ok(1)));
    });
}

#[test]
fn an_inspector_that_remembers_says_since_which_look_somebody_waits() {
    on_each(|dispatcher| {
        let (clock, second) = (Clock::virtual_time(), Duration::from_secs(1));
        let (items, others) = (Port::<u8>::named("items"), Port::<u8>::named("others"));
        let inspector = Inspector::remembering(&clock);
        inspector.watch_dispatcher("main", dispatcher.handle());
        inspector.watch_port(&items);
        let since = || {
            let seen = inspector.look();
            let tasks = seen.dispatchers.into_iter().flat_map(|dispatcher| dispatcher.tasks);
            let mut since: Vec<_> = tasks.flat_map(|task| task.waits).map(|wait| wait.since.unwrap()).collect();
            since.sort_unstable();
            since
        };
        let join = {
            let (items, others) = (items.clone(), others.clone());
            dispatcher.spawn(async move { join((&items, &others)).await })
        };
        crate::until(|| items.waiting() == 1);
        clock.advance(second);
        assert_eq!(since(), [second]);
        // The join keeps waiting while items come and go; a persistent receiver begins a new wait for each item.
        let handled = Port::new();
        let out = handled.clone();
        let receiver = items.on(dispatcher.handle(), 1, move |item| {
            out.post(item).unwrap();
            async {}
        });
        crate::until(|| items.waiting() == 2);
        clock.advance(second);
        assert_eq!(since(), [second, 2 * second]);
        clock.advance(second);
        assert_eq!(since(), [second, 2 * second], "neither has moved");
        items.post(1).unwrap();
        block_on(handled.receive()).unwrap();
        crate::until(|| items.waiting() == 2);
        assert_eq!(since(), [second, 3 * second]);
        drop((receiver, join));
    });
}
