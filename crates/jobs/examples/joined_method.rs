//! A complete new method in one file. It runs as a service, queues, reports and stops, and its table is a data set.
//!
//! `cargo run -p lehr-jobs --example joined_method`

use lehr_jobs::datasets::{Put, Take};
use lehr_jobs::jobs::{Order, Run, Wait, WaitFor};
use lehr_jobs::{Failure, Handle, Inputs, Job, Method, Outputs, Progress, Setup, Table};
use lehr_services::{Fault, Host, Version};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A method that computes the moving averages of a column.
#[derive(Clone)]
struct Smoothing;

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Options {
    /// The name of the column.
    column: String,
    /// The number of rows in each average, at least 1.
    window: usize,
}

impl Method for Smoothing {
    const NAME: &'static str = "example.org/smoothing";
    const VERSION: Version = Version::new(1, 0);
    const INPUTS: &'static [&'static str] = &["series"];
    const OUTPUTS: &'static [&'static str] = &["means"];
    type Options = Options;

    fn check(options: &Options) -> Vec<String> {
        if options.window == 0 { vec!["window: expected at least 1, found 0".to_owned()] } else { Vec::new() }
    }

    fn run(&self, job: &Job, inputs: &Inputs, options: &Options) -> Result<Outputs, Failure> {
        let values = inputs.table("series")?.numbers(&options.column);
        let values = values.ok_or_else(|| Failure::input(format!("there are no numbers {:?}", options.column)))?;
        let mut means = Vec::new();
        for (row, window) in values.windows(options.window).enumerate() {
            if job.is_stopping() {
                return Err(Failure::Stopped);
            }
            means.push(window.iter().sum::<f64>() / options.window as f64);
            job.report(Progress::new(row as f64 / values.len() as f64, "smoothing"));
        }
        Ok(Outputs::new().table("means", Table::builder().numbers(&options.column, means).build()?))
    }
}

/// Averages windows of days.
pub fn main() -> Result<(), Fault> {
    let dispatcher = lehr_runtime::Dispatcher::new(2).expect("two threads");
    let host = Host::new(dispatcher.handle());
    lehr_runtime::block_on(async {
        let setup = Setup::default();
        let datasets = setup.start_datasets(&host, "/datasets").await?;
        let smoothing = setup.start_method(&host, "/smoothing", Smoothing).await?;
        let table = Handle(Table::builder().numbers("kelvin", vec![290.0, 292.0, 297.0, 295.0]).build()?);
        datasets.call(Put { name: "week".into(), table, replace: false }).await?;
        let order = Order::new("week", &Options { column: "kelvin".into(), window: 2 });
        let job = smoothing.call(Run::of(order)).await?.job;
        let done = smoothing.call(Wait::of(WaitFor::new(job))).await?;
        let means = datasets.call(Take { name: done.outputs["means"].clone() }).await?.0;
        assert_eq!(*means.numbers("kelvin").unwrap(), [291.0, 294.5, 296.0]);
        Ok(())
    })
}
