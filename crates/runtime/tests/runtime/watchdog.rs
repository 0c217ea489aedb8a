use std::time::Duration;

use lehr_runtime::{Builder, Port, Stuck, block_on, blocking, named};

// Catalogue: 64
#[test]
fn the_watchdog_reports_thread_task_and_reason_of_every_stuck_worker() {
    for threads in [1, 2, 8] {
        let reports = Port::<Stuck>::new();
        let told = reports.clone();
        let dispatcher = Builder::new()
            .name("watched")
            .threads(threads)
            .spares(0)
            .watchdog(Duration::from_millis(1), move |stuck| told.post(stuck).unwrap())
            .start()
            .unwrap();
        let (inside, leave) = (Port::new(), Port::new());
        let tasks: Vec<_> = (0..threads)
            .map(|i| {
                let (inside, leave) = (inside.clone(), leave.clone());
                let body = async move {
                    let stay = || {
                        inside.post(()).unwrap();
                        crate::until(|| leave.try_receive().is_some());
                    };
                    if i == 0 { blocking("a slow disk", stay) } else { named("inner", async move { stay() }).await }
                };
                dispatcher.spawn(named(format!("task {i}"), body))
            })
            .collect();
        block_on(inside.take(threads)).unwrap();
        // On any machine, the watchdog at some time has seen each job for longer than its limit. If the machine is
        // slow, a job that ends in time on other machines may have been reported before.
        let mut stuck: Vec<Option<Stuck>> = vec![None; threads];
        let is_right = |stuck: &Stuck| stuck.task.is_some();
        while stuck.iter().any(|seen| !seen.as_ref().is_some_and(is_right)) {
            let report = block_on(reports.receive()).unwrap();
            assert_eq!(report.thread, format!("watched-{}", report.worker));
            assert!(report.since >= Duration::from_millis(1));
            let worker = report.worker;
            stuck[worker] = Some(report);
        }
        let mut names: Vec<_> =
            stuck.iter().flatten().map(|stuck| (stuck.task.clone().unwrap(), stuck.reason)).collect();
        names.sort();
        let mut expected = vec![("task 0".to_owned(), Some("a slow disk"))];
        expected.resize(threads, ("inner".to_owned(), None));
        expected.sort();
        assert_eq!(names, expected);
        (0..threads).for_each(|_| leave.post(()).unwrap());
        tasks.into_iter().for_each(|task| block_on(task).unwrap());
    }
}

#[test]
fn the_watchdog_reports_a_spare_thread_by_its_own_name() {
    let reports = Port::<Stuck>::new();
    let told = reports.clone();
    let dispatcher = Builder::new()
        .name("watched")
        .threads(1)
        .spares(1)
        .watchdog(Duration::from_millis(1), move |stuck| told.post(stuck).unwrap())
        .start()
        .unwrap();
    let (inside, leave) = (Port::new(), Port::new());
    let stay = |name: &'static str| {
        let (inside, leave) = (inside.clone(), leave.clone());
        let stay = move || {
            let thread = std::thread::current().name().unwrap().to_owned();
            inside.post((name, thread)).unwrap();
            crate::until(|| leave.try_receive().is_some());
        };
        move |is_blocking: bool| if is_blocking { blocking("a slow disk", stay) } else { stay() }
    };
    let (first, second) = (stay("first"), stay("second"));
    let tasks = [
        dispatcher.spawn(named("first", async move { first(true) })),
        dispatcher.spawn(named("second", async move { second(false) })),
    ];
    // The second task runs on the spare thread, because the first one blocks the only worker.
    let mut running = block_on(inside.take(2)).unwrap();
    running.sort();
    let expected = [("first", "watched-0"), ("second", "watched-spare-0")];
    assert_eq!(running, expected.map(|(task, thread)| (task, thread.to_owned())));
    let mut reported = [None, None];
    while reported.iter().any(Option::is_none) {
        let report = block_on(reports.receive()).unwrap();
        let place = expected.iter().position(|(task, _)| report.task.as_deref() == Some(task));
        if let Some(place) = place {
            reported[place] = Some((report.worker, report.thread));
        }
    }
    assert_eq!(reported, [Some((0, "watched-0".to_owned())), Some((1, "watched-spare-0".to_owned()))]);
    (0..2).for_each(|_| leave.post(()).unwrap());
    tasks.into_iter().for_each(|task| block_on(task).unwrap());
}

// Catalogue: 64
#[test]
fn the_watchdog_says_when_no_worker_gets_on_and_what_waits_behind() {
    let reports = Port::<Stuck>::new();
    let told = reports.clone();
    let sink = move |stuck| told.post(stuck).unwrap();
    let dispatcher = Builder::new().threads(1).watchdog(Duration::from_millis(1), sink).start().unwrap();
    let (handle, leave) = (dispatcher.handle().clone(), Port::new());
    let asked = leave.clone();
    let stuck = dispatcher.spawn(named("alone", async move {
        (0..3).for_each(|_| handle.spawn(async {}).detach());
        crate::until(|| asked.try_receive().is_some());
    }));
    let report = loop {
        let report = block_on(reports.receive()).unwrap();
        if report.task.is_some() {
            break report;
        }
    };
    assert_eq!((report.worker, report.behind, report.are_all), (0, 3, true));
    leave.post(()).unwrap();
    block_on(stuck).unwrap();
    // Dropping the dispatcher ends the watchdog, and drops its sink.
    drop(dispatcher);
}
