//! Lehr's ranks on MPI as a program of the lab: `mpiexec -n RANKS lehr_rank_side SOCKET`. Each process is a rank.
//! Process 0 answers the requests of `lab/runners/mpi/runner.py`.
//!
//! ```text
//! ranks exchange 1 0 500000    -> {"seconds": S}  or  {"wrong": "..."}     operation, doubles, units of computation, stages
//! unit                         -> {"ns": N, "value": V}
//! ```
//!
//! Between requests, process 0 sleeps on its input, and the others sleep on a socket at SOCKET. Both are outside MPI,
//! since a rank that waits inside MPI would use a core while other sides are measured. The clocks of two processes
//! cannot be compared. So the time is the maximum over the ranks, from a rank's first stage to the end of its last
//! stage. All ranks begin after a barrier.
#![forbid(unsafe_code)]

use std::cell::Cell;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use anyhow::{Context, Result, bail};
use lehr_lab::measure::{Spread, pause, timed};
use lehr_lab::ranks::operation::Work;
use lehr_lab::ranks::program::{self, Part, Witness};
use lehr_lab::unit::units;
use lehr_ranks::Communicator;
use lehr_ranks_mpi::{Launcher, Process};
use lehr_runtime::Dispatcher;

/// The number of measurements of the unit, as many as other runners make.
const LOOKS: usize = 9;

/// The number of barriers that connect the processes within MPI, before the first of them sleeps outside MPI.
const WARMING: usize = 10;

/// The seconds between attempts to connect to the socket of process 0.
const LOOK_SECONDS: f64 = 0.002;

const USAGE: &str = "usage: mpiexec -n RANKS lehr_rank_side SOCKET";

fn main() -> Result<()> {
    let place = std::env::args().nth(1).context(USAGE)?;
    let launcher = Launcher::of_this_process().context(USAGE)?;
    // This comes before MPI starts: a process that waits for a connection must not keep MPI waiting.
    let lines = connected(Path::new(&place), launcher.process(), launcher.processes().context(USAGE)?)?;
    let process = Process::join()?.context(USAGE)?;
    let dispatcher = Dispatcher::new(1)?;
    let lines = Cell::new(lines);
    let ended = process.run(&dispatcher, 1, |comm| serve(comm, lines.take()))?;
    ended.into_iter().collect::<Result<Vec<()>>>()?;
    process.finish()?;
    Ok(())
}

async fn serve(mut comm: Communicator, lines: Vec<Line>) -> Result<()> {
    for _ in 0..WARMING {
        comm.barrier().await?;
    }
    if comm.rank() == 0 { lead(&mut comm, lines).await } else { follow(&mut comm, lines).await }
}

/// Returns the connections of process 0 to all others, in order, or the connection of another process to process 0.
fn connected(place: &Path, process: usize, processes: usize) -> Result<Vec<Line>> {
    if process != 0 {
        let connect = || -> Result<UnixStream> {
            loop {
                match UnixStream::connect(place) {
                    Ok(mut stream) => {
                        stream.write_all(&(process as u64).to_le_bytes())?;
                        return Ok(stream);
                    }
                    // Process 0 does not listen yet.
                    Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::ConnectionRefused) => {
                        pause(LOOK_SECONDS);
                    }
                    Err(error) => return Err(error).with_context(|| format!("cannot connect to {}", place.display())),
                }
            }
        };
        return Ok(vec![Line::new(connect()?, connect()?)?]);
    }
    let listener = UnixListener::bind(place).with_context(|| format!("cannot listen at {}", place.display()))?;
    let mut streams: Vec<Vec<UnixStream>> = (0..processes).map(|_| Vec::new()).collect();
    for _ in 0..2 * (processes - 1) {
        let (mut stream, _) = listener.accept()?;
        let mut number = [0; 8];
        stream.read_exact(&mut number)?;
        let number = u64::from_le_bytes(number) as usize;
        streams.get_mut(number).with_context(|| format!("there is no process {number}"))?.push(stream);
    }
    let line = |of: Vec<UnixStream>| {
        // Each process opens its second connection after its first.
        let [words, signs] = <[UnixStream; 2]>::try_from(of).ok().context("a process connects twice")?;
        Line::new(words, signs)
    };
    streams.into_iter().skip(1).map(line).collect()
}

/// The two connections between process 0 and another process: one for requests and answers, and one on which each shows
/// that it has come to a barrier.
struct Line {
    words: BufReader<UnixStream>,
    signs: UnixStream,
}

impl Line {
    fn new(words: UnixStream, signs: UnixStream) -> Result<Self> {
        // Nobody waits for a sign: it has arrived or not.
        signs.set_nonblocking(true)?;
        Ok(Self { words: BufReader::new(words), signs })
    }

    /// Sends a line of text.
    fn say(&mut self, text: &str) -> Result<()> {
        writeln!(self.words.get_mut(), "{text}").context("a process has gone")
    }

    /// Waits for a line of text.
    fn hear(&mut self) -> Result<String> {
        let mut text = String::new();
        if self.words.read_line(&mut text).context("a process has gone")? == 0 {
            bail!("a process has gone");
        }
        Ok(text.trim_end().to_owned())
    }
}

/// The connections on which a process sees signs: process 0 those of all others, the others that of process 0.
struct Signs<'a> {
    of: Vec<&'a mut UnixStream>,
    heard: Vec<usize>,
}

impl<'a> Signs<'a> {
    fn new(lines: &'a mut [Line]) -> Self {
        let of: Vec<_> = lines.iter_mut().map(|line| &mut line.signs).collect();
        Self { heard: vec![0; of.len()], of }
    }
}

impl Witness for Signs<'_> {
    fn tell(&mut self) {
        for sign in &mut self.of {
            // A process that misses a lost sign reports it.
            let _ = sign.write_all(&[1]);
        }
    }

    fn have_all_told(&mut self, barriers: usize) -> bool {
        let mut signs = [0; 64];
        for (sign, heard) in self.of.iter_mut().zip(&mut self.heard) {
            *heard += sign.read(&mut signs).unwrap_or(0);
        }
        self.heard.iter().all(|heard| *heard == barriers)
    }
}

/// Runs process 0: answers requests until the input ends.
async fn lead(comm: &mut Communicator, mut lines: Vec<Line>) -> Result<()> {
    let mut out = std::io::stdout();
    let mut request = String::new();
    while std::io::stdin().read_line(&mut request)? > 0 {
        let asked = request.trim_end();
        let answer = if asked == "unit" {
            unit()
        } else {
            let work = Work::read(asked, comm.size()).with_context(|| format!("no request: {asked:?}"))?;
            for line in &mut lines {
                line.say(asked)?;
            }
            let own = program::run(comm, &work, &mut Signs::new(&mut lines)).await?;
            let mut reports = vec![report(&own)];
            for line in &mut lines {
                reports.push(line.hear()?);
            }
            judged(&reports)
        };
        writeln!(out, "{answer}").and_then(|()| out.flush())?;
        request.clear();
    }
    for line in &mut lines {
        line.say("end")?;
    }
    Ok(())
}

/// Runs another process: carries out the requests of process 0 until process 0 ends.
async fn follow(comm: &mut Communicator, mut lines: Vec<Line>) -> Result<()> {
    loop {
        let request = lines[0].hear()?;
        if request == "end" {
            return Ok(());
        }
        let work = Work::read(&request, comm.size()).context("process 0 passes requests on as they are")?;
        let part = program::run(comm, &work, &mut Signs::new(&mut lines)).await?;
        lines[0].say(&report(&part))?;
    }
}

/// Formats the report of a process: its seconds, or its error.
fn report(part: &Part) -> String {
    part.wrong.clone().unwrap_or_else(|| format!("{:e}", (part.end - part.start).as_secs_f64()))
}

/// Returns the answer to a request: the maximum of the reported seconds, or the first report that is not a number.
fn judged(reports: &[String]) -> String {
    let mut most: f64 = 0.0;
    for report in reports {
        match report.parse::<f64>() {
            Ok(seconds) => most = most.max(seconds),
            Err(_) => return serde_json::json!({ "wrong": report }).to_string(),
        }
    }
    serde_json::json!({ "seconds": most }).to_string()
}

fn unit() -> String {
    let looks: Vec<f64> = (0..LOOKS).map(|_| timed(|| units(1, 100)).0 * 1e7).collect();
    serde_json::json!({ "ns": Spread::of(&looks).median, "value": units(7, 1) }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_rank_counts_and_a_wrong_one_more() {
        let reports = |texts: &[&str]| judged(&texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
        assert_eq!(reports(&["1.5e-3", "2.5e-3"]), "{\"seconds\":0.0025}");
        assert_eq!(reports(&["1.5e-3", "rank 1 of 2: stage 7"]), "{\"wrong\":\"rank 1 of 2: stage 7\"}");
    }

    #[test]
    fn a_sign_that_was_not_given_is_missed() {
        let ((a, b), (c, d)) = (UnixStream::pair().unwrap(), UnixStream::pair().unwrap());
        let (mut here, mut there) = ([Line::new(a, c).unwrap()], [Line::new(b, d).unwrap()]);
        let (mut here, mut there) = (Signs::new(&mut here), Signs::new(&mut there));
        assert!(!here.have_all_told(1));
        there.tell();
        assert!(here.have_all_told(1));
        assert!(!here.have_all_told(2));
    }
}
