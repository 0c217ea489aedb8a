//! Methods for tests, and functions that upload data.

use lehr_jobs::datasets::{Append, Begin, Dataset, Datasets, Finish};
use lehr_jobs::jobs::{Jobs, Named, Order, Record, Run, Wait, WaitFor};
use lehr_jobs::{Bytes, Failure, Form, Inputs, Job, Method, Outputs, Progress, Table};
use lehr_runtime::Port;
use lehr_services::{Fault, Reference, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A method that counts to a number. Each step needs a token from the gate and is saved. Its table has the numbers.
#[derive(Clone, Debug, Default)]
pub struct Counting {
    /// The job whose step begins, and the number of steps that are saved.
    pub begun: Port<(String, u64)>,
    /// The gate with the tokens for which steps wait.
    pub gate: Port<()>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Steps {
    pub steps: u64,
    pub panics: bool,
}

impl Method for Counting {
    const NAME: &'static str = "test.counting";
    const VERSION: Version = Version::new(1, 0);
    const INPUTS: &'static [&'static str] = &["table", "other"];
    const OUTPUTS: &'static [&'static str] = &["numbers"];
    type Options = Steps;

    fn check(options: &Steps) -> Vec<String> {
        if options.steps > 100 { vec![format!("steps: expected at most 100, found {}", options.steps)] } else { vec![] }
    }

    fn run(&self, job: &Job, inputs: &Inputs, options: &Steps) -> Result<Outputs, Failure> {
        inputs.table("other")?;
        let mut at = job.saved()?.map_or(0, |bytes| u64::from(bytes[0]));
        while at < options.steps {
            self.begun.post((job.id().to_owned(), at)).unwrap();
            while self.gate.try_receive().is_none() {
                if job.is_stopping() {
                    job.save(&[at as u8])?;
                    return Err(Failure::Stopped);
                }
                std::thread::yield_now();
            }
            assert!(!options.panics, "asked to");
            at += 1;
            job.report(Progress::new(at as f64 / options.steps as f64, "counting").figure("at", at as f64));
            job.save(&[at as u8])?;
        }
        let table = Table::builder().counts("number", (0..options.steps).collect()).build()?;
        Ok(Outputs::new().table("numbers", table).figure("steps", options.steps as f64))
    }
}

/// A method whose jobs begin only when they have been told to stop, as long as `holds` has tokens. Such a job ends
/// before its first step, however short it is.
#[derive(Clone, Debug, Default)]
pub struct Held<M> {
    pub method: M,
    /// A token for each job that is to be held.
    pub holds: Port<()>,
    /// The job that begins, and whether it has a checkpoint to continue from.
    pub begun: Port<(String, bool)>,
}

impl<M: Method> Method for Held<M> {
    const NAME: &'static str = M::NAME;
    const VERSION: Version = M::VERSION;
    const INPUTS: &'static [&'static str] = M::INPUTS;
    const INPUTS_OPTIONAL: &'static [&'static str] = M::INPUTS_OPTIONAL;
    const OUTPUTS: &'static [&'static str] = M::OUTPUTS;
    type Options = M::Options;

    fn run(&self, job: &Job, inputs: &Inputs, options: &M::Options) -> Result<Outputs, Failure> {
        let is_held = self.holds.try_receive().is_some();
        let has_saved = job.saved()?.is_some() || job.log()?.is_file();
        self.begun.post((job.id().to_owned(), has_saved)).unwrap();
        while is_held && !job.is_stopping() {
            std::thread::yield_now();
        }
        self.method.run(job, inputs, options)
    }
}

/// Declares methods as types, for tests that hold their jobs.
macro_rules! held {
    ($($name:ident $contract:literal $method:path, $inputs:expr, $optional:expr;)*) => {$(
        #[derive(Clone, Copy, Default)]
        struct $name;

        impl lehr_jobs::Method for $name {
            const NAME: &'static str = $contract;
            const VERSION: lehr_services::Version = lehr_services::Version::new(1, 0);
            const INPUTS: &'static [&'static str] = $inputs;
            const INPUTS_OPTIONAL: &'static [&'static str] = $optional;
            const OUTPUTS: &'static [&'static str] = <$method as lehr_methods::Declared>::ABOUT.outputs;
            type Options = lehr_jobs::jobs::Options;

            fn run(
                &self,
                job: &lehr_jobs::Job,
                inputs: &lehr_jobs::Inputs,
                options: &Self::Options,
            ) -> Result<lehr_jobs::Outputs, lehr_jobs::Failure> {
                lehr_jobs::declared::run(&$method, job, inputs, options)
            }
        }
    )*};
}
pub(crate) use held;

/// Uploads a data set in two pieces.
pub async fn upload(datasets: &Reference<Datasets>, begin: Begin, bytes: &[u8]) -> Result<Dataset, Fault> {
    let name = begin.name.clone();
    datasets.call(begin).await?;
    let middle = bytes.len() / 2;
    for (offset, part) in [(0, &bytes[..middle]), (middle as u64, &bytes[middle..])] {
        datasets.call(Append { name: name.clone(), offset, data: Bytes::from(part.to_vec()) }).await?;
    }
    datasets.call(Finish { name }).await
}

pub async fn upload_csv(datasets: &Reference<Datasets>, name: &str, text: &str) -> Result<Dataset, Fault> {
    upload(datasets, Begin::new(name, Form::Csv), text.as_bytes()).await
}

pub async fn run(jobs: &Reference<Jobs>, order: Order) -> Result<String, Fault> {
    jobs.call(Run::of(order)).await.map(|named| named.job)
}

pub async fn wait(jobs: &Reference<Jobs>, job: &str) -> Record {
    jobs.call(Wait::of(WaitFor::new(job))).await.unwrap()
}

pub fn named(job: &str) -> Named {
    Named::new(job)
}

/// Returns three clouds of points with weights as a text file of a few hundred rows.
pub fn clouds() -> String {
    let mut text = String::from("site,x,y,people\n");
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    for row in 0..300 {
        let (x, y) = [(0.0, 0.0), (10.0, 1.0), (4.0, 9.0)][row % 3];
        text.push_str(&format!("s{row},{},{},{}\n", x + next(), y + next(), row % 5));
    }
    text
}
