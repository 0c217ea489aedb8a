//! Deterministic annealing of vectors: clusters weighted points in any dimension by squared distances.
//!
//! Sources: paper 000 section III, paper 004 eq. (1)-(3), `docs/design/annealing.md`. Annealing starts with one centre
//! just above the temperature at which this centre becomes unstable, and cools. A centre divides when the covariance of
//! its rows shows that the centre is unstable. There are no initial centres to choose, and no restarts. [`cluster`]
//! runs the whole method; [`equilibrium`] finds the fixed point at one temperature, without cooling.

mod components;
mod e_step;
mod equilibrium;
mod filling;
pub(crate) mod fit;
mod m_step;
mod merging;
mod model;
mod parameters;
mod prospects;
mod soak;
mod summarized;
mod swap;
mod system;

use lehr_ranks::Engine;
use lehr_ranks::timing::Phases;

pub use crate::borders::Borders;
pub use crate::lloyd::{Assignment, Centroids, Cluster, Listed, OUTLIER, Outliers};
pub use crate::rows::{Cost, Input, Precision};
pub use components::Mode;
pub use equilibrium::{Equilibrium, Start, equilibrium};
pub use fit::{Finish, Summarized};
pub use model::Model;
pub use parameters::Parameters;

use crate::Error;
use crate::anneal::{Control, Interrupt, Observer, Progress, Resumable, Split, Stage, run as shared};
use crate::lloyd::{Labelled, Outside, Remembered, label_all};
use crate::memory::Need;
use crate::number::{self, Number, Sample};
use crate::round::{CancellableRounds, Execution, LeafCells, Program, Rounds, drive};
use crate::rows::{Rows, Scalar, Span, Storage, UsedColumns};
use crate::summary::LeafSummary;
use fit::{Fit, State};
use model::Outcome;
use summarized::anneal_summary;

/// A clustering that can be resumed on any number of ranks and under any engine, with bit-identical results.
pub type Checkpoint = crate::anneal::Checkpoint<Parameters>;

impl Resumable for Parameters {
    const NAME: &'static str = "vector";
    const FORMAT: u32 = 6;
    type State = State;
}

impl Checkpoint {
    /// The number of temperatures that are finished.
    pub fn temperatures(&self) -> usize {
        self.state.grown.history.len()
    }

    /// The divisions so far, as [`Model::splits`] has them at the end.
    pub fn splits(&self) -> &[Split] {
        &self.state.grown.splits
    }
}

/// Clusters points, rows of bits, or sparse rows, by deterministic annealing.
///
/// Without a number of clusters or a final temperature, the run first chooses the number
/// ([`number`](mod@crate::number)). The result is then bit-identical to the result with this number given.
///
/// # Errors
/// Returns the errors of [`Parameters::check`], [`Error::TooFar`], and [`Error::Memory`] if the centres need more
/// memory than is free. Returns [`Error::MostlyOutside`] if more than half of the weight is outside the outlier radius.
/// Returns [`Error::Stopped`] if the observer requested it, after handing it the checkpoint.
///
/// # Example
/// ```
/// use lehr_data::Points;
/// use lehr_mining::{Execution, anneal::Silent, vector::{Parameters, cluster}};
/// let points = Points::new(vec![0.0, 1.0, 10.0, 11.0], 1)?;
/// let parameters = Parameters { clusters: Some(2), ..Parameters::default() };
/// let model = cluster(&points, &parameters, &Execution::default(), &mut Silent)?;
/// assert_eq!(model.labels[0], model.labels[1]);
/// assert_ne!(model.labels[0], model.labels[2]);
/// assert_eq!(model.sum_of_squares, 1.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Cost: about a hundred passes over the points, each with at most N x K exponentials, and far fewer at low
/// temperatures in few dimensions. The search by swaps follows: about K trials with up to tens of iterations each. In
/// up to 16 dimensions, a trial visits only the leaves near the moved centres; in more dimensions, it visits all
/// points. If clusters are far apart, the search ends after its first pass; `patience` 0 skips it. For rows of bits, a
/// pass takes twice N x K x (set bits) additions instead of N x K x D multiply-adds. For sparse rows, a pass takes
/// twice K x (nonzero values) multiply-adds, and K x D additions for each of about a hundred leaves. Memory: the
/// points, and a copy of them in the requested precision. For rows of bits, the copy has bits too. With 16 clusters or
/// more, the search by swaps on rows of bits also takes 4 to 8 bytes for each row and cluster. For sparse rows, the
/// copy has only the nonzero values, and the centres take several times K x D numbers. For points in a file
/// ([`Points::spilled`](lehr_data::Points::spilled)) the copy is in a file of the same folder. Memory then holds about
/// 40 bytes for each row, and the leaf in use. Each pass reads the parts of the file that the operating system has not
/// cached.
pub fn cluster<'a>(
    input: impl Into<Input<'a>>,
    parameters: &Parameters,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let input = input.into();
    parameters.check(input)?;
    dispatch(input, parameters.clone(), None, execution, observer)
}

/// Resumes an interrupted run; the result is bit-identical to an uninterrupted one.
///
/// # Errors
/// Returns [`Error::OtherData`] if the points are not those of the checkpoint; otherwise, the same errors as
/// [`cluster`].
pub fn resume<'a>(
    input: impl Into<Input<'a>>,
    checkpoint: Checkpoint,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let (input, parameters) = (input.into(), checkpoint.parameters().clone());
    parameters.check(input)?;
    dispatch(input, parameters, Some(checkpoint), execution, observer)
}

fn dispatch(
    input: Input<'_>,
    parameters: Parameters,
    checkpoint: Option<Checkpoint>,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let used = UsedColumns::of(input);
    let input = used.as_ref().map_or(input, |used| Input::Sparse(&used.rows));
    let span = if parameters.cost.is_squared() { Span::of(input, execution.threads)? } else { None };
    let input = span.as_ref().map_or(input, |span| Input::Numbers(&span.rows));
    let state = checkpoint.map(|checkpoint| checkpoint.state_on(input.fingerprint())).transpose()?;
    // If the number is not given, memory is checked after the number has been chosen.
    if !parameters.is_open() {
        need(input, &parameters, parameters.most_expected(input.len()), execution).check()?;
    }
    let mut model = match parameters.precision {
        Precision::F64 => anneal::<f64>(input, parameters, state, execution, observer),
        #[cfg(not(target_family = "wasm"))]
        Precision::F32 => anneal::<f32>(input, parameters, state, execution, observer),
        #[cfg(target_family = "wasm")]
        Precision::F32 => Err(Precision::not_in_a_browser()),
    }?;
    if let Some(span) = span {
        (model.centers, model.dimension) = (span.widened(&model.centers), span.dimension());
    }
    if let Some(used) = used {
        (model.centers, model.dimension) = (used.widened(&model.centers), used.dimension());
    }
    Ok(model)
}

/// Returns the memory that this many centres need.
fn need(input: Input<'_>, parameters: &Parameters, clusters: usize, execution: &Execution) -> Need {
    let is_sparse = Storage::of(input, parameters.cost.is_squared()) == Storage::Sparse;
    Need::of_annealing(clusters, input.dimension(), execution.ranks.min(input.len()), is_sparse)
}

fn anneal<T: Scalar>(
    input: Input<'_>,
    parameters: Parameters,
    state: Option<State>,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Model, Error> {
    let mut phases = Phases::new();
    phases.enter("arranging");
    let rows = Rows::<T>::on_threads(input, parameters.cost, execution.threads)?;
    phases.leave();
    let mut sample = None;
    let mut number = match &state {
        Some(state) => state.number.clone(),
        None if parameters.is_open() => {
            phases.enter("choosing");
            let sample = sample.insert(Sample::of(input, parameters.seed));
            let number = choose_number(sample, rows.most_centers(), &parameters, execution, observer)?;
            phases.leave();
            Some(number)
        }
        None => None,
    };
    let leaves = rows.leaves.len();
    let remembered = || LeafCells::new(leaves, |_| Remembered::default());
    let labelled = || LeafCells::new(leaves, |_| Labelled::default());
    let shared = shared::Run::new(input.fingerprint(), parameters, state, observer, phases);
    let mut run = Run {
        input,
        memory: remembered(),
        labelled: labelled(),
        cells: LeafCells::new(leaves, |_| LeafSummary::new()),
        handed_over: LeafCells::new(leaves, |_| None),
        rows,
        number: None,
        shared,
    };
    loop {
        let parameters = &run.shared.parameters;
        if let Some(number) = &number {
            let given = Parameters { clusters: Some(number.clusters), ..parameters.clone() };
            need(input, &given, given.most_expected(input.len()), execution).check()?;
        }
        run.number.clone_from(&number);
        let outcome = drive(execution, run.rows.dealt, &run)?.expect("the first loop of a process brings the outcome");
        let found = std::mem::replace(&mut run.labelled, labelled()).into_values();
        let model = Model::new(input, &run.rows, outcome, found, &run.shared.parameters);
        let compared = number.as_mut().filter(|number| {
            // The evidence holds for squared distances only.
            model.cost.is_squared() && number.clusters == model.clusters.len()
        });
        let Some(number) = compared else { return Ok(model) };
        let sample = sample.get_or_insert_with(|| Sample::of(input, run.shared.parameters.seed));
        if !number.gives_way(sample, &model.centers) {
            return Ok(model);
        }
        // Start again with the smaller number.
        (run.shared.state, run.memory) = (None, remembered());
    }
}

/// Returns the number of groups, with a valley in the density between every two of them. It is for methods that do not
/// divide rows by centres.
pub(crate) fn groups(
    points: &lehr_data::Points,
    seed: u64,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Number, Error> {
    let parameters = Parameters { seed, ..Parameters::default() };
    choose_number(&Sample::of(points.into(), seed), points.len(), &parameters, execution, observer)
}

/// Chooses the number of clusters from a sample of the rows.
fn choose_number(
    sample: &Sample,
    most_centers: usize,
    parameters: &Parameters,
    execution: &Execution,
    observer: &mut dyn Observer,
) -> Result<Number, Error> {
    // Growth continues beyond the number of clusters.
    let room = (most_centers as f64 / parameters.overshoot) as usize;
    let most = parameters.max_clusters.map_or(room, |most| most.min(room)).max(1);
    // Each process finds the same number by itself, on all its threads. If one process stopped alone, the other
    // processes would wait forever.
    let alone = Execution { engine: Engine::Loop, ranks: 1, job: None, ..*execution };
    let interrupt = observer.interrupt().filter(|_| execution.job.is_none());
    let points = sample.points();
    let grow = |cells: usize| {
        let Some(points) = &points else { return Ok(vec![0.0; sample.dimension]) };
        // The exact positions of the cells do not matter, so the second branch and the search by swaps are left out.
        let few = Parameters {
            clusters: Some(cells),
            overshoot: 1.0,
            patience: 0,
            seed: parameters.seed,
            ..Parameters::default()
        };
        let model = anneal::<f64>(points.into(), few, None, &alone, &mut Quiet(interrupt.clone()))?;
        Ok(model.centers)
    };
    let mut hear = |cells: usize| {
        let progress = Progress {
            stage: Stage::Choosing.name().into(),
            fraction: None,
            figures: vec![("clusters", cells as f64)],
        };
        let is_asked = interrupt.as_ref().is_some_and(Interrupt::is_asked);
        // Several processes can only stop together, which they do at the first step of the run.
        let stops = execution.job.is_none() && (observer.progress(&progress) == Control::Stop || is_asked);
        if stops { Control::Stop } else { Control::Continue }
    };
    number::choose(sample, most, grow, &mut hear)
}

/// Lets a run be cancelled, and ignores its reports.
struct Quiet(Option<Interrupt>);

impl Observer for Quiet {
    fn interrupt(&self) -> Option<Interrupt> {
        self.0.clone()
    }
}

/// The program of a run.
struct Run<'a, 'o, T: Scalar> {
    input: Input<'a>,
    rows: Rows<T>,
    /// How the number of clusters was chosen, if it was not given.
    number: Option<Number>,
    memory: LeafCells<Remembered>,
    labelled: LeafCells<Labelled>,
    /// The cells of the summary, if a summary is annealed instead of the rows.
    cells: LeafCells<LeafSummary>,
    /// The result of annealing the summary, in the first cell.
    handed_over: LeafCells<Option<State>>,
    shared: shared::Run<'o, Parameters>,
}

impl<T: Scalar> Program for Run<'_, '_, T> {
    type Output = Option<Outcome>;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Option<Outcome>, Error> {
        let chosen = self.number.as_ref().map(|number| number.clusters);
        let parameters =
            &Parameters { clusters: self.shared.parameters.clusters.or(chosen), ..self.shared.parameters.clone() };
        rounds.record(&self.shared.trace).await?;
        let mut phases = Phases::new();
        let state = anneal_summary(self, rounds, &mut phases, parameters).await?;
        shared::begin(rounds, &mut phases, Stage::Annealing.name());
        let mut course = match state {
            Some(state) => Fit::resume(&self.rows, parameters, &self.memory, state),
            None => {
                let interrupt = self.shared.interrupt(rounds).await?;
                let mut cancellable = CancellableRounds::new(rounds, interrupt.as_ref());
                let number = self.number.clone();
                let begun = Fit::begin(&self.rows, parameters, number, &self.memory, &mut cancellable).await;
                cancellable.outcome(begun)?
            }
        };
        phases.leave();
        self.shared.walk(rounds, &mut phases, &mut course).await?;
        shared::begin(rounds, &mut phases, Stage::Labelling.name());
        let temperature = course.state.grown.last_soft_temperature.max(f64::MIN_POSITIVE);
        let outside = course.sponge().map(|sponge| Outside { squared_radius: sponge.cost, temperature });
        let totals =
            label_all(rounds, self.input, &self.rows, course.centers(), course.last_move(), outside, &self.labelled)
                .await?;
        if let Some(sponge) = course.sponge() {
            sponge.check(totals.outside[1] / self.rows.total_weight)?;
        }
        phases.leave();
        let spent = self.shared.end(rounds, phases).await?;
        Ok(spent.map(|spent| Outcome { state: course.state, totals, spent }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::anneal::AnyCheckpoint;

    #[derive(Default)]
    struct First(Option<Checkpoint>);

    impl Observer for First {
        fn progress(&mut self, _: &Progress) -> Control {
            Control::Stop
        }
        fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
            self.0 = checkpoint.downcast_ref().cloned();
        }
    }

    #[test]
    fn the_fields_of_a_checkpoint_stand_where_every_version_of_this_format_has_put_them() {
        let points = lehr_data::Points::new(vec![0.0, 1.0, 5.0], 1).unwrap();
        let parameters = Parameters { clusters: Some(2), ..Parameters::default() };
        let mut first = First::default();
        assert!(matches!(cluster(&points, &parameters, &Execution::default(), &mut first), Err(Error::Stopped)));
        let text = serde_json::to_string(&first.0.unwrap()).unwrap();
        let state = &text[text.find("\"state\":").unwrap()..];
        let names = "phase number components critical_temperature temperature last_soft_temperature history splits plateaus snapshot persistent best search finish";
        let places: Vec<_> = names.split(' ').map(|name| state.find(&format!("\"{name}\":")).unwrap()).collect();
        assert!(places.is_sorted(), "{state}");
        assert!(text.starts_with("{\"method\":\"vector\",\"fingerprint\":") && state.ends_with("}}"), "{text}");
    }
}
