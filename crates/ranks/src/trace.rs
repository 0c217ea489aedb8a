//! A trace that shows each rank over time in a viewer: computing, waiting for other ranks, and other communication.
//!
//! A [`Trace`] is shared by the ranks of a run; each rank that [records](Communicator::record) into it has its own
//! track. A track records every collective and every receive with its name, and within it the time in which the rank
//! waited. The time between two calls counts as computing. Phases of the program enclose calls, waits and computing.
//! [`json`](Trace::json) returns the Trace Event Format, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
//!
//! If ranks are in several processes, each process has a trace. [`align_trace`](Communicator::align_trace) aligns their
//! times; [`gather_trace`](Communicator::gather_trace) collects the records of all processes in the process of rank 0.
//! If you need only the sums, [`sums_only`](Trace::sums_only) keeps no spans.

use std::fmt::Write;

use lehr_sync::{Arc, Mutex};

use crate::communicator::Communicator;
use crate::error::Error;
use crate::timing::Stopwatch;

/// The kinds of activity of a rank that a trace records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// The program's own work.
    Compute,
    /// A call of the communicator, including the waits in it.
    Communication,
    /// A wait for another rank.
    Wait,
    /// A part of the program, including everything in it.
    Phase,
}

impl Activity {
    /// Returns the activity's category in the trace file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Communication => "communication",
            Self::Wait => "wait",
            Self::Phase => "phase",
        }
    }
}

/// A span of time of one rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// The activity.
    pub activity: Activity,
    /// The name of the call or, for computing and for phases, the name that the program gives.
    pub name: &'static str,
    /// The time when the span begins, in seconds since the beginning of the trace.
    pub start_s: f64,
    /// The duration of the span, in seconds.
    pub duration_s: f64,
}

/// The spans of all ranks of a run.
///
/// # Example
/// ```
/// use lehr_ranks::trace::{Activity, Trace};
/// use lehr_ranks::{Layout, run};
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let trace = Trace::new();
/// run(&dispatcher, Layout::threads(2), |mut comm| {
///     comm.record(&trace);
///     async move { comm.barrier().await.unwrap() }
/// })
/// .unwrap();
/// for rank in 0..2 {
///     let spans = trace.spans(rank);
///     assert!(spans.iter().any(|span| (span.activity, span.name) == (Activity::Communication, "barrier")));
/// }
/// assert!(trace.json().contains(r#""cat":"communication""#));
/// ```
#[derive(Clone, Debug)]
pub struct Trace {
    start: Stopwatch,
    keeps_spans: bool,
    noted: Arc<Mutex<Noted>>,
}

#[derive(Debug, Default)]
struct Noted {
    /// The tracks of this process, each with its rank's number in the world.
    tracks: Vec<(usize, Arc<Track>)>,
    /// The spans of ranks in other processes, as events of the trace file.
    elsewhere: Vec<String>,
    /// The number of nanoseconds to add to this process's times, so that they match the times of rank 0's process.
    shift_ns: i64,
}

/// One rank's track: its spans and its sums of time.
#[derive(Debug)]
pub(crate) struct Track {
    start: Stopwatch,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// The rank's spans; `None` if the trace keeps only sums.
    spans: Option<Vec<Span>>,
    sums: Sums,
    /// The end of the last call, since which the rank has been computing.
    idle_since_s: f64,
    /// The program's name for the current computation.
    computing: &'static str,
    /// The phase of the program that this rank is in, and the time when it began, in seconds.
    phase: Option<(&'static str, f64)>,
}

/// The name of a computation to which the program gives no name.
const COMPUTE: &str = "compute";

/// The time of a rank by kind of activity, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sums {
    /// The time spent computing.
    pub compute_s: f64,
    /// The time in calls of the communicator, without the waits in them.
    pub communication_s: f64,
    /// The time spent waiting for other ranks.
    pub wait_s: f64,
}

impl State {
    fn note(&mut self, span: Span) {
        match span.activity {
            Activity::Compute => self.sums.compute_s += span.duration_s,
            Activity::Communication => self.sums.communication_s += span.duration_s,
            Activity::Wait => {
                self.sums.wait_s += span.duration_s;
                self.sums.communication_s -= span.duration_s;
            }
            Activity::Phase => {}
        }
        if let Some(spans) = &mut self.spans {
            spans.push(span);
        }
    }

    /// Records the computation until now; the next computation is named `next`.
    fn compute(&mut self, now_s: f64, next: &'static str) {
        let start_s = std::mem::replace(&mut self.idle_since_s, now_s);
        let name = std::mem::replace(&mut self.computing, next);
        self.note(Span { activity: Activity::Compute, name, start_s, duration_s: now_s - start_s });
    }

    fn phase(&mut self, now_s: f64, next: Option<&'static str>) {
        // A computation does not cross the boundary of a phase.
        self.compute(now_s, COMPUTE);
        if let Some((name, start_s)) = self.phase.take() {
            self.note(Span { activity: Activity::Phase, name, start_s, duration_s: now_s - start_s });
        }
        self.phase = next.map(|name| (name, now_s));
    }
}

impl Default for Trace {
    fn default() -> Self {
        Self::new()
    }
}

impl Trace {
    /// Creates an empty trace, whose time begins now.
    pub fn new() -> Self {
        Self { start: Stopwatch::start(), keeps_spans: true, noted: Arc::default() }
    }

    /// Creates a trace that keeps no spans, only the time of each rank by kind of activity
    /// ([`Communicator::stop_recording`]).
    pub fn sums_only() -> Self {
        Self { keeps_spans: false, ..Self::new() }
    }

    /// Whether the trace keeps spans.
    pub fn keeps_spans(&self) -> bool {
        self.keeps_spans
    }

    /// Returns the spans of a rank of this process, in the order in which they ended; empty if the rank did not record.
    pub fn spans(&self, rank: usize) -> Vec<Span> {
        let noted = self.noted.lock();
        let of = noted.tracks.iter().filter(|(other, _)| *other == rank);
        of.flat_map(|(_, track)| track.state.lock().spans.clone().unwrap_or_default()).collect()
    }

    /// Returns the content of a trace file for a viewer. The viewer shows ranks as threads of their processes, named by
    /// their numbers.
    pub fn json(&self) -> String {
        let noted = self.noted.lock();
        let mut events = Vec::new();
        if !noted.tracks.is_empty() {
            events.push(noted.process_name());
            events.extend(noted.tracks.iter().map(|(rank, track)| noted.events(*rank, track)));
        }
        events.extend(noted.elsewhere.iter().cloned());
        format!("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}\n]}}\n", events.join(",\n"))
    }
}

impl Noted {
    /// Returns the lowest rank of this process, which is the process's number in the trace file.
    fn first(&self) -> usize {
        self.tracks.iter().map(|(rank, _)| *rank).min().unwrap_or(0)
    }

    fn process_name(&self) -> String {
        let (first, last) = (self.first(), self.tracks.iter().map(|(rank, _)| *rank).max().unwrap_or(0));
        let name = if first == last { format!("rank {first}") } else { format!("ranks {first} to {last}") };
        format!(r#"{{"ph":"M","pid":{first},"name":"process_name","args":{{"name":"process of {name}"}}}}"#)
    }

    /// Returns a rank's track as events of the trace file, without a comma at the end.
    fn events(&self, rank: usize, track: &Track) -> String {
        let process = self.first();
        let mut json = format!(
            r#"{{"ph":"M","pid":{process},"tid":{rank},"name":"thread_name","args":{{"name":"rank {rank}"}}}}"#
        );
        for span in track.state.lock().spans.iter().flatten() {
            // Times are rounded to whole nanoseconds, as the clock gave them, so that a span begins exactly where the
            // span before it ends.
            let ns = |seconds: f64| (seconds * 1e9).round() as i64;
            let start_ns = ns(span.start_s);
            let duration_ns = ns(span.start_s + span.duration_s) - start_ns;
            let (start, duration) = (microseconds(start_ns + self.shift_ns), microseconds(duration_ns));
            let category = span.activity.name();
            // Names are identifiers of this crate or literals of the program; only quotes and backslashes could break
            // the file.
            let name = span.name.replace('\\', "\\\\").replace('"', "\\\"");
            let _ = write!(
                json,
                r#",
{{"ph":"X","pid":{process},"tid":{rank},"cat":"{category}","name":"{name}","ts":{start},"dur":{duration}}}"#
            );
        }
        json
    }
}

/// Returns a time in nanoseconds as text in microseconds, the unit of the trace file.
fn microseconds(ns: i64) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    format!("{sign}{}.{:03}", ns.unsigned_abs() / 1000, ns.unsigned_abs() % 1000)
}

impl Communicator {
    /// Records the actions of this rank from now on, with this communicator and with communicators made from it later.
    ///
    /// Cost: two reads of the clock for each call and for each wait in a call. If the trace keeps spans, also memory
    /// for the spans.
    ///
    /// # Example
    /// See [`Trace`].
    pub fn record(&mut self, trace: &Trace) {
        let state = State {
            spans: trace.keeps_spans.then(Vec::new),
            sums: Sums::default(),
            idle_since_s: trace.start.seconds(),
            computing: COMPUTE,
            phase: None,
        };
        let track = Arc::new(Track { start: trace.start, state: Mutex::new(state) });
        trace.noted.lock().tracks.push((self.group.world(self.rank()), track.clone()));
        self.settings.track = Some(track);
    }

    /// Aligns the times of the traces in all processes. All times are then times of rank 0's process, to within the
    /// duration of a barrier. Call this method on all ranks after [`record`](Self::record).
    ///
    /// Differences between the speeds of the clocks are not corrected.
    ///
    /// # Errors
    /// Returns the errors of [`broadcast`](Self::broadcast).
    ///
    /// # Example
    /// See [`gather_trace`](Self::gather_trace).
    pub async fn align_trace(&mut self, trace: &Trace) -> Result<(), Error> {
        self.barrier().await?;
        let own_s = trace.start.seconds();
        let mut lead_s = [own_s];
        self.broadcast(0, &mut lead_s).await?;
        // After the barrier, all ranks have their tracks. So the lowest rank of each process knows that it is the
        // lowest, and sets the process's `shift_ns`.
        let mut noted = trace.noted.lock();
        if noted.first() == self.group.world(self.rank()) && self.rank() > 0 {
            noted.shift_ns = ((lead_s[0] - own_s) * 1e9).round() as i64;
        }
        Ok(())
    }

    /// Collects the records of ranks in other processes in the trace of rank 0, for its [`json`](Trace::json). Call
    /// this method on all ranks that record, after all of them have [stopped](Self::stop_recording).
    ///
    /// # Errors
    /// Returns the errors of [`gather`](Self::gather).
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::trace::Trace;
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// // As if each rank had a process of its own.
    /// let traces: Vec<Trace> = (0..2).map(|_| Trace::new()).collect();
    /// run(&dispatcher, Layout::threads(2), |mut comm| {
    ///     let trace = &traces[comm.rank()];
    ///     async move {
    ///         comm.record(trace);
    ///         comm.align_trace(trace).await.unwrap();
    ///         comm.stop_recording();
    ///         comm.gather_trace(trace).await.unwrap();
    ///     }
    /// })
    /// .unwrap();
    /// assert!(traces[0].json().contains("process of rank 1"));
    /// ```
    pub async fn gather_trace(&mut self, trace: &Trace) -> Result<(), Error> {
        // After this barrier, the times of all processes are aligned, so each rank may write its events.
        self.barrier().await?;
        let own = self.group.world(self.rank());
        let events = {
            let noted = trace.noted.lock();
            let mut events = Vec::new();
            if noted.first() == own {
                events.push(noted.process_name());
            }
            events.extend(
                noted.tracks.iter().filter(|(rank, _)| *rank == own).map(|(rank, track)| noted.events(*rank, track)),
            );
            events.join(",\n")
        };
        let Some(all) = self.gather(0, events.as_bytes()).await? else { return Ok(()) };
        let mut noted = trace.noted.lock();
        for (rank, events) in all.into_iter().enumerate() {
            let world = self.group.world(rank);
            if !events.is_empty() && noted.tracks.iter().all(|(here, _)| *here != world) {
                noted.elsewhere.push(String::from_utf8_lossy(&events).into_owned());
            }
        }
        Ok(())
    }

    /// Stops recording, and returns the time of this rank by kind of activity, if it recorded.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::trace::Trace;
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let trace = Trace::sums_only();
    /// let sums = run(&dispatcher, Layout::threads(2), |mut comm| {
    ///     comm.record(&trace);
    ///     async move {
    ///         comm.barrier().await.unwrap();
    ///         comm.stop_recording().unwrap()
    ///     }
    /// });
    /// assert!(sums.unwrap()[1].wait_s >= 0.0);
    /// ```
    pub fn stop_recording(&mut self) -> Option<Sums> {
        let track = self.settings.track.take()?;
        let now_s = track.start.seconds();
        let mut state = track.state.lock();
        state.phase(now_s, None);
        Some(state.sums)
    }

    /// Names the computation of this rank since its last call of the communicator; does nothing if this rank records no
    /// trace.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::trace::{Activity, Trace};
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// let trace = Trace::new();
    /// run(&dispatcher, Layout::threads(1), |mut comm| {
    ///     comm.record(&trace);
    ///     async move {
    ///         // The E-step would stand here.
    ///         comm.note_compute("e_step");
    ///         comm.barrier().await.unwrap();
    ///     }
    /// })
    /// .unwrap();
    /// assert_eq!((trace.spans(0)[0].activity, trace.spans(0)[0].name), (Activity::Compute, "e_step"));
    /// ```
    pub fn note_compute(&self, name: &'static str) {
        if let Some(track) = &self.settings.track {
            let now_s = track.start.seconds();
            let mut state = track.state.lock();
            state.computing = name;
            state.compute(now_s, COMPUTE);
        }
    }

    /// Names the computation of this rank from now until its next call of the communicator; does nothing if this rank
    /// records no trace.
    ///
    /// # Example
    /// See [`note_phase`](Self::note_phase).
    pub fn begin_compute(&self, name: &'static str) {
        if let Some(track) = &self.settings.track {
            let now_s = track.start.seconds();
            track.state.lock().compute(now_s, name);
        }
    }

    /// Begins a phase of the program and ends the previous phase; does nothing if this rank records no trace.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::trace::{Activity, Trace};
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// let trace = Trace::new();
    /// run(&dispatcher, Layout::threads(1), |mut comm| {
    ///     comm.record(&trace);
    ///     async move {
    ///         comm.note_phase("annealing");
    ///         comm.begin_compute("e_step");
    ///         comm.barrier().await.unwrap();
    ///         comm.stop_recording();
    ///     }
    /// })
    /// .unwrap();
    /// let spans = trace.spans(0);
    /// let has = |activity, name| spans.iter().any(|span| (span.activity, span.name) == (activity, name));
    /// assert!(has(Activity::Phase, "annealing") && has(Activity::Compute, "e_step"));
    /// ```
    pub fn note_phase(&self, name: &'static str) {
        if let Some(track) = &self.settings.track {
            let now_s = track.start.seconds();
            track.state.lock().phase(now_s, Some(name));
        }
    }

    /// Begins a span, which ends when the returned value is dropped; returns `None` if this rank records no trace.
    pub(crate) fn noting(&self, activity: Activity, name: &'static str) -> Option<OpenSpan> {
        self.settings.track.as_ref().map(|track| track.begin(activity, name))
    }
}

impl Track {
    pub(crate) fn begin(self: &Arc<Self>, activity: Activity, name: &'static str) -> OpenSpan {
        let start_s = self.start.seconds();
        // A call ends the computation before it. A wait does not, because it is part of a call.
        if activity == Activity::Communication {
            self.state.lock().compute(start_s, COMPUTE);
        }
        OpenSpan { track: self.clone(), activity, name, start_s }
    }
}

/// A span that has begun, and that is recorded when this value is dropped.
pub(crate) struct OpenSpan {
    track: Arc<Track>,
    activity: Activity,
    name: &'static str,
    start_s: f64,
}

impl Drop for OpenSpan {
    fn drop(&mut self) {
        let Self { activity, name, start_s, .. } = *self;
        let now_s = self.track.start.seconds();
        let mut state = self.track.state.lock();
        state.idle_since_s = now_s;
        state.note(Span { activity, name, start_s, duration_s: now_s - start_s });
    }
}
