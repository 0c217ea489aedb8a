//! Scripts of `lehr job`, with stand-ins for Slurm's programs. `tests/slurm.rs` submits scripts to a real Slurm.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;

use super::sandbox::{Outcome, Sandbox, census};

const CLUSTER: [&str; 9] =
    ["cluster", "blocks.csv.gz", "--columns", "lon,lat", "--weights", "pop", "--lonlat", "-k", "30"];

/// Takes srun's options as Slurm documents them. On the first run it sends SIGTERM once the run reports temperatures,
/// as Slurm does before the time limit.
const SRUN: &str = r#"#!/bin/bash
options=
while [[ "$1" == --* ]]; do options+=" $1"; shift; done
echo "srun$options" >> calls
[ -n "$SLURM_RESTART_COUNT" ] && exec "$@"
"$@" 2> progress &
until grep -q temperature progress; do sleep 0.01; done
kill -TERM $!
wait $!
"#;

fn blocks() -> Sandbox {
    Sandbox::with("blocks.csv.gz", std::fs::read(census()).unwrap())
}

fn with_programs() -> Sandbox {
    let sandbox = blocks();
    for (name, text) in [("srun", SRUN), ("scontrol", "#!/bin/bash\necho \"scontrol $*\" >> calls\n")] {
        let path = format!("bin/{name}");
        sandbox.write(&path, text);
        std::fs::set_permissions(sandbox.path(&path), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    sandbox
}

/// `lehr job`, with these options and this command.
fn job(sandbox: &Sandbox, options: &[&str], command: &[&str]) -> Outcome {
    sandbox.lehr(&[&["job"], options, &["--"], command].concat())
}

#[test]
fn a_script_reserves_what_the_command_needs_and_resumes_it() {
    let sandbox = blocks();
    let options = ["--nodes", "4", "--tasks", "2", "--threads", "8", "--time", "2-0", "--partition", "long"];
    let more = ["--memory", "12G", "--grace", "300", "--restarts", "3", "--mpi", "pmix", "--sbatch", "account=a b"];
    let script = job(&sandbox, &[options, more].concat(), &[&CLUSTER[..], &["--out", "o u t"]].concat()).succeeded();
    assert_eq!(script.stderr, "");
    let directives: Vec<&str> = script.stdout.lines().filter(|line| line.starts_with("#SBATCH")).collect();
    let expected = [
        "job-name=lehr-cluster",
        "nodes=4",
        "ntasks-per-node=2",
        "cpus-per-task=8",
        "mem=12G",
        "time=2-0",
        "partition=long",
        "signal=TERM@300",
        "requeue",
        "open-mode=append",
        "account=a b",
    ];
    assert_eq!(directives, expected.map(|option| format!("#SBATCH --{option}")));
    let run = "run=(srun --ntasks=8 --ntasks-per-node=2 --cpus-per-task=8 --mpi=pmix /";
    assert!(script.stdout.lines().any(|line| line.starts_with(run)), "{}", script.stdout);
    let typed = "blocks.csv.gz --columns lon,lat --weights pop --lonlat -k 30";
    for line in [
        format!("    \"${{run[@]}}\" cluster {typed} --resume 'o u t' --threads 8"),
        format!("    \"${{run[@]}}\" cluster {typed} --out 'o u t' --threads 8"),
        "if [ -e 'o u t/checkpoint' ]; then".to_owned(),
    ] {
        assert!(script.stdout.lines().any(|found| found == line), "{line}\n{}", script.stdout);
    }
}

#[test]
fn memory_is_estimated_where_the_input_states_its_size() {
    let sandbox = blocks();
    // 200,000 rows of 20 numbers: 32 MB of zeros, which take no room on the disk.
    let mut array = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (200000, 20), }";
    array.extend(format!("{header:<117}\n").bytes());
    sandbox.write("a.npy", array);
    let file = std::fs::OpenOptions::new().write(true).open(sandbox.path("a.npy")).unwrap();
    file.set_len(128 + 200_000 * 20 * 8).unwrap();
    let memory = |options: &[&str], command: &[&str]| {
        let script = job(&sandbox, options, command).succeeded();
        let line = script.stdout.lines().find_map(|line| line.strip_prefix("#SBATCH --mem=")).map(str::to_owned);
        assert_eq!(line.is_none(), script.stderr.contains("the script reserves no memory"), "{}", script.stderr);
        line
    };
    // Four times 32,000,000 bytes, and 256 MiB, for each process of a machine.
    assert_eq!(memory(&[], &["mixture", "a.npy"]).as_deref(), Some("379M"));
    assert_eq!(memory(&["--nodes", "3", "--tasks", "2"], &["mixture", "a.npy"]).as_deref(), Some("757M"));
    // The pairs of 200,000 rows.
    assert_eq!(memory(&[], &["distances", "a.npy"]).as_deref(), Some("305553M"));
    assert_eq!(memory(&[], &CLUSTER), None);
}

#[test]
fn a_command_that_cannot_run_so_is_refused_before_it_waits_in_a_queue() {
    let sandbox = blocks();
    for (options, command, code, said) in [
        (&[][..], &["serve"][..], 2, "the command cannot be continued after a time limit"),
        (&[], &["cluster", "blocks.csv.gz", "--threads", "4"], 2, "--threads and --layout: expected before the --"),
        (&[], &["cluster", "blocks.csv.gz", "--resume", "out"], 2, "--resume: the script resumes by itself"),
        (&[], &["cluster", "blocks.csv.gz", "--clusters", "0"], 2, "--clusters"),
        (&[], &["cluster", "blocks.csv.gz", "--clustres", "3"], 2, "--clustres"),
        (&[], &["cluster", "no.csv"], 4, "no.csv: "),
        (&[], &["minibatch", "-", "-k", "3"], 2, "-: a job of Slurm has no standard input"),
        (&["--tasks", "2"], &["cluster", "blocks.csv.gz", "--spill", "."], 2, "--spill works in one process"),
        (&["--tasks", "2"], &["minibatch", "blocks.csv.gz", "-k", "3"], 2, "a stream is read by one process"),
        (&["--time", "2"], &["cluster", "blocks.csv.gz"], 2, "--time 2: expected more than the 120 seconds of --grace"),
        (&["--time", "1h"], &["cluster", "blocks.csv.gz"], 2, "expected minutes, M:SS"),
    ] {
        let refused = job(&sandbox, options, command);
        assert_eq!((refused.code, refused.stdout.as_str()), (code, ""), "{command:?}: {}", refused.stderr);
        assert!(refused.stderr.contains(said), "{command:?}: {}", refused.stderr);
    }
}

#[test]
fn a_script_returns_its_job_to_the_queue_and_the_next_run_ends_with_the_same_bytes() {
    let sandbox = with_programs();
    let command = [&CLUSTER[..], &["--cooling", "0.99", "--out", "out"]].concat();
    sandbox.write("job.sh", job(&sandbox, &["--time", "5"], &command).succeeded().stdout);
    sandbox.lehr(&[&command[..command.len() - 1], &["whole"]].concat()).succeeded();
    sandbox.shell("PATH=$PWD/bin:$PATH SLURM_JOB_ID=7 bash job.sh").succeeded();
    assert_eq!(sandbox.list("out"), ["checkpoint"]);
    let calls = sandbox.read("calls");
    let srun = "srun --ntasks=1 --ntasks-per-node=1 --cpus-per-task=1 --mpi=pmi2";
    assert_eq!(calls.lines().collect::<Vec<_>>(), [srun, "scontrol requeue 7"]);
    sandbox.shell("PATH=$PWD/bin:$PATH SLURM_JOB_ID=7 SLURM_RESTART_COUNT=1 bash job.sh").succeeded();
    // It did not begin anew, and the job ended.
    assert_eq!(sandbox.read("calls"), format!("{calls}{srun}\n"));
    for table in ["labels.csv", "centers.csv"] {
        assert_eq!(sandbox.read(&format!("out/{table}")), sandbox.read(&format!("whole/{table}")), "{table}");
    }
}

#[test]
fn a_script_ends_with_the_code_of_its_command_and_says_when_it_restarts_no_more() {
    let sandbox = with_programs();
    sandbox.write("job.sh", job(&sandbox, &["--restarts", "0"], &CLUSTER).succeeded().stdout);
    let ended = sandbox.shell("PATH=$PWD/bin:$PATH SLURM_JOB_ID=7 bash job.sh");
    assert_eq!(ended.code, 130, "{}", ended.stderr);
    assert!(ended.stderr.contains("submit this script again to continue it"), "{}", ended.stderr);
    assert!(!sandbox.read("calls").contains("scontrol"));
    std::fs::remove_file(sandbox.path("blocks.csv.gz")).unwrap();
    std::fs::remove_dir_all(sandbox.path("lehr-out")).unwrap();
    assert_eq!(sandbox.shell("PATH=$PWD/bin:$PATH SLURM_RESTART_COUNT=1 bash job.sh").code, 4);
}
