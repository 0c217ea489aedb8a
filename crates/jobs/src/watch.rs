//! The observer of a run, for any method.

use lehr_ranks::observe::{self, AnyCheckpoint, Control, Interrupt, Observer};

use lehr_methods::splits_so_far;

use crate::job::{Job, Progress, Split};

/// An observer that reports progress and saves checkpoints for a job.
pub(crate) struct Watch<'a>(pub &'a Job);

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &observe::Progress) -> Control {
        let report = Progress::new(progress.fraction.unwrap_or(0.0), progress.stage.clone());
        self.0.report(progress.figures.iter().fold(report, |report, (name, value)| report.figure(*name, *value)));
        if self.0.is_stopping() { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.0.set_splits(splits_so_far(checkpoint).iter().map(|split| Split {
            temperature: split.temperature,
            parent: split.parent as u64,
            merged_at: split.merged_at,
            merged_into: split.merged_into.map(|other| other as u64),
        }));
        self.0.save_checkpoint(checkpoint);
    }

    fn interrupt(&self) -> Option<Interrupt> {
        Some(self.0.interrupt())
    }
}

#[cfg(test)]
mod tests {
    use lehr_mining::{Execution, pairwise, vector};
    use lehr_sync::{Arc, Mutex};

    use super::*;
    use crate::job::{Listener, Saved, Signal};

    #[derive(Clone, Default)]
    struct Taking(Arc<Mutex<Vec<Vec<Split>>>>);

    impl Listener for Taking {
        fn tell(&mut self, _: &Progress, splits: &[Split]) -> bool {
            self.0.lock().push(splits.to_vec());
            true
        }
    }

    fn watched(run: impl FnOnce(&mut Watch<'_>) -> Vec<lehr_mining::anneal::Split>) {
        let taking = Taking::default();
        let job =
            Job::new("job".into(), 1, Signal::default(), Saved::Memory(Arc::default()), Some(Box::new(taking.clone())));
        let ended = run(&mut Watch(&job));
        let told = taking.0.lock();
        assert!(told[0].is_empty(), "nothing is divided before the first step");
        // The divisions grow, and the last ones are those of the result.
        let counts: Vec<usize> = told.iter().map(Vec::len).collect();
        assert!(counts.is_sorted() && counts.iter().any(|count| (1..ended.len()).contains(count)), "{counts:?}");
        let last = told.last().unwrap();
        let temperatures = |splits: &[Split]| splits.iter().map(|split| split.temperature).collect::<Vec<_>>();
        assert_eq!(temperatures(last), ended.iter().map(|split| split.temperature).collect::<Vec<_>>());
        assert!(last.iter().zip(&ended).all(|(told, split)| told.parent == split.parent as u64));
        assert!(last.iter().zip(&ended).all(|(told, split)| told.merged_at == split.merged_at));
    }

    #[test]
    fn reports_have_the_divisions_so_far_31() {
        let values: Vec<f64> =
            (0..120u32).map(|row| f64::from(row % 8) * 10.0 + f64::from(row * 7 % 13) / 10.0).collect();
        let points = lehr_data::Points::new(values.clone(), 1).unwrap();
        watched(|watch| {
            let parameters = vector::Parameters { clusters: Some(8), ..vector::Parameters::default() };
            vector::cluster(&points, &parameters, &Execution::default(), watch).unwrap().splits
        });
        let apart = values.iter().flat_map(|a| values.iter().map(move |b| (a - b) * (a - b))).collect();
        let matrix = lehr_data::dissimilarities::Values::F64(apart);
        let matrix = lehr_data::Dissimilarities::new(120, lehr_data::dissimilarities::Form::Full, matrix, 1.0).unwrap();
        watched(|watch| {
            let parameters = pairwise::Parameters { clusters: Some(8), ..pairwise::Parameters::default() };
            pairwise::cluster(&matrix, None, &parameters, &Execution::default(), watch).unwrap().splits
        });
    }
}
