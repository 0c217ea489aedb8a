//! Results are bit-identical for any engine, number of ranks and number of threads.

use lehr_data::{Points, datasets, synthetic};
use lehr_mining::anneal::Silent;
use lehr_mining::vector::{Model, Parameters, Precision, cluster};
use lehr_mining::{Engine, Execution};

fn run(points: &Points, parameters: &Parameters, execution: Execution) -> Model {
    let mut model = cluster(points, parameters, &execution, &mut Silent).unwrap();
    // Times and the distribution of leaves may differ.
    model.phases.clear();
    model.timers.clear();
    model.imbalance = 1.0;
    model
}

pub fn executions() -> Vec<Execution> {
    let mut executions = Vec::new();
    for ranks in [1, 2, 3, 4, 7, 8] {
        executions.push(Execution { engine: Engine::Ranks, ranks, threads: 2, job: None });
    }
    for ranks in [1, 3, 8] {
        executions.push(Execution { engine: Engine::MapReduce, ranks, threads: 2, job: None });
    }
    for engine in [Engine::Loop, Engine::Ports] {
        for threads in [1, 2, 3] {
            executions.push(Execution { engine, ranks: 1, threads, job: None });
        }
    }
    executions
}

#[test]
fn a_run_has_the_same_bits_on_every_layout() {
    let (plane, _) = synthetic::gaussian_mixture(5000, &synthetic::random_components(9, 2, 10.0, 0.9, 1), 1);
    let weights = (0..plane.len()).map(|row| (row % 5) as f64).collect();
    let plane = plane.with_weights(weights).unwrap();
    for (points, clusters, precision) in
        [(&plane, 9, Precision::F64), (&plane, 9, Precision::F32), (&datasets::digits().0, 6, Precision::F64)]
    {
        let parameters = Parameters { clusters: Some(clusters), precision, ..Parameters::default() };
        let reference = run(points, &parameters, Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None });
        for execution in executions() {
            let model = run(points, &parameters, execution);
            let bits = |model: &Model| model.centers.iter().map(|y| y.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&model), bits(&reference), "{execution:?}");
            assert_eq!(model, reference, "{execution:?}");
        }
    }
}
