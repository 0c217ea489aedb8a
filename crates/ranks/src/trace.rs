//! What each rank did when, for a viewer: computing, waiting for others, the rest of a communication.
//!
//! A [`Trace`] is shared by the ranks of a run; each rank that [records](Communicator::record) into it has a track of its own. Every collective and every
//! receive is noted with its name, and within it the time in which the rank waited; what lies between two of them is noted as computing.
//! [`json`](Trace::json) gives the Trace Event Format, which Perfetto (ui.perfetto.dev) and chrome://tracing open.

use std::fmt::Write;

use crate::communicator::Communicator;
use crate::sync::{Arc, Mutex};
use crate::timing::Stopwatch;

/// What a rank was doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// The program's own work.
    Compute,
    /// A call of the communicator, with the waiting in it.
    Communication,
    /// Waiting for another rank.
    Wait,
}

impl Activity {
    /// Its name in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Communication => "communication",
            Self::Wait => "wait",
        }
    }
}

/// A stretch of time of one rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// What it was doing.
    pub activity: Activity,
    /// The call or, for computing, what the program calls it.
    pub name: &'static str,
    /// When it began, in seconds since the beginning of the trace.
    pub start_s: f64,
    /// How long it took, in seconds.
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
    /// With the ranks that they belong to, by the world's numbers.
    tracks: Arc<Mutex<Tracks>>,
}

type Tracks = Vec<(usize, Arc<Track>)>;

/// One rank's spans.
#[derive(Debug)]
pub(crate) struct Track {
    start: Stopwatch,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    spans: Vec<Span>,
    /// When the last call ended: since then the rank computes.
    idle_since_s: f64,
}

impl Default for Trace {
    fn default() -> Self {
        Self::new()
    }
}

impl Trace {
    /// An empty one, whose time begins now.
    pub fn new() -> Self {
        Self { start: Stopwatch::start(), tracks: Arc::default() }
    }

    /// What a rank did, in the order in which it ended; nothing if the rank did not record.
    pub fn spans(&self, rank: usize) -> Vec<Span> {
        let tracks = self.tracks.lock();
        let of = tracks.iter().filter(|(other, _)| *other == rank);
        of.flat_map(|(_, track)| track.state.lock().spans.clone()).collect()
    }

    /// All of it as a file for a viewer. Ranks are threads of one process there, named after their numbers.
    pub fn json(&self) -> String {
        let mut json = String::from(r#"{"displayTimeUnit":"ns","traceEvents":["#);
        let tracks = self.tracks.lock();
        let mut separator = "\n";
        for (rank, track) in tracks.iter() {
            let name =
                format!(r#"{{"ph":"M","pid":0,"tid":{rank},"name":"thread_name","args":{{"name":"rank {rank}"}}}}"#);
            json += separator;
            json += &name;
            separator = ",\n";
            for span in &track.state.lock().spans {
                let (start_us, duration_us) = (span.start_s * 1e6, span.duration_s * 1e6);
                let (name, category) = (span.name, span.activity.name());
                // Names are identifiers of this crate or literals of the program; only quotes and backslashes could break the file.
                let name = name.replace('\\', "\\\\").replace('"', "\\\"");
                let _ = write!(
                    json,
                    r#",
{{"ph":"X","pid":0,"tid":{rank},"cat":"{category}","name":"{name}","ts":{start_us:.3},"dur":{duration_us:.3}}}"#
                );
            }
        }
        json + "\n]}\n"
    }
}

impl Communicator {
    /// Notes from now on what this rank does, with this communicator and with those made from it later.
    ///
    /// Cost: two looks at the clock a call, and memory for its spans.
    ///
    /// # Example
    /// See [`Trace`].
    pub fn record(&mut self, trace: &Trace) {
        let idle_since_s = trace.start.seconds();
        let track =
            Arc::new(Track { start: trace.start, state: Mutex::new(State { spans: Vec::new(), idle_since_s }) });
        trace.tracks.lock().push((self.group.world(self.rank()), track.clone()));
        self.settings.track = Some(track);
    }

    /// Names what the rank computes until the next call of the communicator; nothing if nobody records.
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
            track.compute(name);
        }
    }

    /// Begins to note a call.
    pub(crate) fn noting(&self, activity: Activity, name: &'static str) -> Option<Noting> {
        self.settings.track.as_ref().map(|track| track.begin(activity, name))
    }
}

impl Track {
    fn compute(&self, name: &'static str) {
        let now_s = self.start.seconds();
        let mut state = self.state.lock();
        let start_s = std::mem::replace(&mut state.idle_since_s, now_s);
        state.spans.push(Span { activity: Activity::Compute, name, start_s, duration_s: now_s - start_s });
    }

    pub(crate) fn begin(self: &Arc<Self>, activity: Activity, name: &'static str) -> Noting {
        // What a call does within another call is no computing.
        if activity == Activity::Communication {
            self.compute("compute");
        }
        Noting { track: self.clone(), activity, name, start_s: self.start.seconds() }
    }
}

/// Notes a span when it is dropped.
pub(crate) struct Noting {
    track: Arc<Track>,
    activity: Activity,
    name: &'static str,
    start_s: f64,
}

impl Drop for Noting {
    fn drop(&mut self) {
        let Self { activity, name, start_s, .. } = *self;
        let now_s = self.track.start.seconds();
        let mut state = self.track.state.lock();
        state.idle_since_s = now_s;
        state.spans.push(Span { activity, name, start_s, duration_s: now_s - start_s });
    }
}
