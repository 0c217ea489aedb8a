//! The content of a trace: consecutive spans, waits inside calls, and a file that a viewer can read.

use lehr_ranks::fabric::Kind;
use lehr_ranks::trace::{Activity, Trace};
use lehr_ranks::{Layout, Wanted, run_on};
use lehr_runtime::Dispatcher;

#[test]
fn every_call_is_noted_and_waits_lie_inside_of_calls() {
    let dispatcher = Dispatcher::new(2).unwrap();
    for kind in Kind::ALL {
        let trace = Trace::new();
        run_on(&dispatcher, kind, Layout::threads(3), |mut comm| {
            comm.record(&trace);
            async move {
                for _ in 0..2 {
                    comm.barrier().await.unwrap();
                    comm.note_compute("between");
                    comm.all_reduce(&mut [1.0], |left, right| left[0] += right[0]).await.unwrap();
                }
                let rank = comm.rank();
                comm.send_receive((rank + 1) % 3, &[0_u8], (rank + 2) % 3, 0).await.unwrap();
            }
        })
        .unwrap();
        for rank in 0..3 {
            let spans = trace.spans(rank);
            let calls: Vec<_> = spans.iter().filter(|span| span.activity == Activity::Communication).collect();
            let names: Vec<_> = calls.iter().map(|span| span.name).collect();
            assert_eq!(names, ["barrier", "all_reduce", "barrier", "all_reduce", "receive"], "{kind:?}");
            for pair in calls.windows(2) {
                assert!(pair[0].start_s + pair[0].duration_s <= pair[1].start_s + 1e-9);
            }
            let inside = |wait: &lehr_ranks::trace::Span| {
                calls.iter().any(|call| {
                    call.start_s <= wait.start_s
                        && wait.start_s + wait.duration_s <= call.start_s + call.duration_s + 1e-9
                })
            };
            assert!(spans.iter().filter(|span| span.activity == Activity::Wait).all(inside));
            assert_eq!(spans.iter().filter(|span| span.name == "between").count(), 2);
        }
        // The file has a line for each span, two lines of the frame, and the lines with the names of the process and
        // its three tracks.
        let json = trace.json();
        let spans: usize = (0..3).map(|rank| trace.spans(rank).len()).sum();
        assert_eq!(json.matches(r#""ph":"X""#).count(), spans);
        assert_eq!(json.matches(r#""ph":"M""#).count(), 4);
        assert_eq!(json.matches('{').count(), json.matches('}').count());
        assert!(json.starts_with('{') && json.ends_with("]}\n"));
    }
}

#[test]
fn a_probe_is_a_call_whose_wait_is_subtracted_once() {
    let dispatcher = Dispatcher::new(2).unwrap();
    for kind in Kind::ALL {
        let trace = Trace::new();
        run_on(&dispatcher, kind, Layout::threads(2), |mut comm| {
            comm.record(&trace);
            async move {
                if comm.rank() == 0 {
                    comm.probe(Wanted::ANY).await.unwrap();
                    comm.receive::<u8>(1, 0).await.unwrap();
                } else {
                    comm.send(0, 0, &[7_u8]).await.unwrap();
                }
                let sums = comm.stop_recording().unwrap();
                assert!(sums.communication_s >= -1e-9 && sums.wait_s >= 0.0, "{kind:?}: {sums:?}");
            }
        })
        .unwrap();
        let spans = trace.spans(0);
        let calls: Vec<_> = spans.iter().filter(|span| span.activity == Activity::Communication).collect();
        assert_eq!(calls.iter().map(|span| span.name).collect::<Vec<_>>(), ["probe", "receive"], "{kind:?}");
    }
}

#[test]
fn traces_of_several_processes_come_together_on_one_time() {
    let dispatcher = Dispatcher::new(2).unwrap();
    // Four ranks act as if they were in two processes. Each process has its own trace, and the clock of the second
    // trace began later.
    let traces = [Trace::new(), Trace::new()];
    let sums = run_on(&dispatcher, Kind::Bytes, Layout::threads(4), |mut comm| {
        let trace = &traces[comm.rank() / 2];
        async move {
            comm.record(trace);
            comm.align_trace(trace).await.unwrap();
            comm.note_phase("annealing");
            comm.begin_compute("e_step");
            comm.barrier().await.unwrap();
            comm.note_phase("labelling");
            comm.barrier().await.unwrap();
            let sums = comm.stop_recording().unwrap();
            comm.gather_trace(trace).await.unwrap();
            sums
        }
    })
    .unwrap();
    let json = traces[0].json();
    for rank in 0..4 {
        assert_eq!(json.matches(&format!(r#""args":{{"name":"rank {rank}"}}"#)).count(), 1);
        let of_rank = format!(r#""pid":{},"tid":{rank},"cat":"phase","name":"annealing""#, rank / 2 * 2);
        assert_eq!(json.matches(&of_rank).count(), 1, "{json}");
        let sums = sums[rank];
        assert!(sums.compute_s >= 0.0 && sums.wait_s >= 0.0 && sums.communication_s >= -1e-9, "{sums:?}");
    }
    assert!(json.contains("process of ranks 2 to 3"));
    assert_eq!(json.matches(r#""name":"e_step""#).count(), 4);
    // Aligning is a barrier and a broadcast. Gathering is not in the trace, because no rank records any more.
    assert_eq!(json.matches(r#""cat":"communication","name":"barrier""#).count(), 4 * 3);
    assert_eq!(json.matches(r#""cat":"communication","name":"broadcast""#).count(), 4);
    assert!(traces[1].json().len() < json.len());
}
