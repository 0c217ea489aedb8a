//! Stopwatches, nested timers by phase, and the spread of these times over all ranks. No result of a method depends on
//! the measured times.

use lehr_sync::Moment;

use crate::communicator::Communicator;
use crate::error::Error;

/// A clock that measures the seconds since it was started.
///
/// # Example
/// ```
/// let stopwatch = lehr_ranks::timing::Stopwatch::start();
/// assert!(stopwatch.seconds() >= 0.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    start: Moment,
}

impl Stopwatch {
    /// Starts a stopwatch.
    pub fn start() -> Self {
        Self { start: Moment::now() }
    }

    /// Returns the seconds since the stopwatch was started.
    pub fn seconds(&self) -> f64 {
        self.start.elapsed().as_secs_f64()
    }
}

/// The seconds spent in each phase. Phases can be nested: a phase counts only the time during which it is the innermost
/// phase.
///
/// # Example
/// ```
/// let mut phases = lehr_ranks::timing::Phases::new();
/// phases.enter("anneal");
/// phases.enter("split");
/// phases.leave();
/// phases.leave();
/// let names: Vec<_> = phases.seconds().into_iter().map(|(name, _)| name).collect();
/// assert_eq!(names, ["anneal", "split"]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Phases {
    /// The phases and their seconds, in order of first entry.
    totals: Vec<(&'static str, f64)>,
    /// The open phases, as positions in `totals`, the innermost last.
    open: Vec<usize>,
    since: Option<Stopwatch>,
}

impl Phases {
    /// Creates an empty set of phases.
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins a phase inside the current phase.
    pub fn enter(&mut self, name: &'static str) {
        self.charge();
        let phase = self.place(name);
        self.open.push(phase);
    }

    fn place(&mut self, name: &'static str) -> usize {
        self.totals.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            self.totals.push((name, 0.0));
            self.totals.len() - 1
        })
    }

    /// Ends the innermost phase.
    ///
    /// # Panics
    /// Panics if no phase is open.
    pub fn leave(&mut self) {
        self.charge();
        assert!(self.open.pop().is_some(), "a phase is left after it was entered");
    }

    /// Adds seconds measured elsewhere to a phase.
    ///
    /// # Example
    /// ```
    /// let mut phases = lehr_ranks::timing::Phases::new();
    /// phases.add("waiting", 0.25);
    /// assert_eq!(phases.seconds(), [("waiting".to_owned(), 0.25)]);
    /// ```
    pub fn add(&mut self, name: &'static str, seconds: f64) {
        let phase = self.place(name);
        self.totals[phase].1 += seconds;
    }

    /// Returns the seconds of each phase, in order of first entry; the time since the last call of
    /// [`enter`](Self::enter) or [`leave`](Self::leave) is not included.
    pub fn seconds(&self) -> Vec<(String, f64)> {
        self.totals.iter().map(|(name, seconds)| ((*name).to_owned(), *seconds)).collect()
    }

    /// Adds the time since the last call of `enter` or `leave` to the innermost phase.
    fn charge(&mut self) {
        let now = Stopwatch::start();
        if let (Some(since), Some(&phase)) = (self.since, self.open.last()) {
            self.totals[phase].1 += now.start.since(since.start).as_secs_f64();
        }
        self.since = Some(now);
    }
}

/// The spread over the ranks of the seconds that they spent in a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The phase.
    pub name: String,
    /// The number of ranks that entered the phase.
    pub ranks: usize,
    /// The shortest time of the ranks that entered the phase, in seconds.
    pub min_s: f64,
    /// The mean time of the ranks that entered the phase, in seconds.
    pub mean_s: f64,
    /// The longest time of the ranks that entered the phase, in seconds.
    pub max_s: f64,
    /// The rank with the longest time; if several ranks have the longest time, the lowest of these ranks.
    pub slowest: usize,
}

impl Communicator {
    /// Collects the phases of all ranks. All ranks get the same table. The table has the phases of rank 0 in order of
    /// first entry, then the further phases of rank 1, and so on.
    ///
    /// # Errors
    /// Returns the errors of [`all_gather_v`](Self::all_gather_v).
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::timing::Phases;
    /// use lehr_ranks::{Layout, run};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let tables = run(&dispatcher, Layout::threads(3), |mut comm| async move {
    ///     let mut phases = Phases::new();
    ///     phases.enter(if comm.rank() == 2 { "write" } else { "compute" });
    ///     phases.leave();
    ///     comm.gather_phases(&phases).await.unwrap()
    /// })
    /// .unwrap();
    /// let names: Vec<_> = tables[1].iter().map(|spread| (spread.name.as_str(), spread.ranks)).collect();
    /// assert_eq!(names, [("compute", 2), ("write", 1)]);
    /// assert_eq!(tables[1][1].slowest, 2);
    /// ```
    pub async fn gather_phases(&mut self, phases: &Phases) -> Result<Vec<Spread>, Error> {
        let own = postcard::to_stdvec(&phases.totals).expect("names and numbers can be serialised");
        let mut spreads = Vec::<Spread>::new();
        for (rank, bytes) in self.all_gather_v(&own).await?.iter().enumerate() {
            let totals: Vec<(String, f64)> = postcard::from_bytes(bytes)
                .map_err(|error| Error::Decoding { source: rank, message: error.to_string() })?;
            for (name, seconds) in totals {
                let place = spreads.iter().position(|spread| spread.name == name).unwrap_or_else(|| {
                    let none = Spread { name, ranks: 0, min_s: f64::INFINITY, mean_s: 0.0, max_s: -1.0, slowest: rank };
                    spreads.push(none);
                    spreads.len() - 1
                });
                let spread = &mut spreads[place];
                spread.ranks += 1;
                spread.min_s = spread.min_s.min(seconds);
                // `mean_s` holds the sum until all ranks have been seen.
                spread.mean_s += seconds;
                if seconds > spread.max_s {
                    (spread.max_s, spread.slowest) = (seconds, rank);
                }
            }
        }
        spreads.iter_mut().for_each(|spread| spread.mean_s /= spread.ranks as f64);
        Ok(spreads)
    }
}
