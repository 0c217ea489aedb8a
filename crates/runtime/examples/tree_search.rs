//! Tree search (paper 001, table 4: "spawned", figure 15 a): every node of the tree is a message, and a message starts
//! a handler.
//!
//! The search counts all ways to put queens on a board so that no queen attacks another. A handler gets a board that is
//! filled to some row, posts one message for every queen that may stand in the next row, and reports how many messages
//! it posted. Below a certain row, the handler counts the remaining solutions itself, because a message should carry
//! more work than it costs. The search is over when as many boards have been reported as were posted. No handler waits
//! for another handler.
//!
//! Checked: the number of solutions (92 for 8 queens, known since 1850), and the number of messages, by comparison with
//! a search without messages. `cargo run --release -p lehr-runtime --example tree_search`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "an example measures and prints")]

use std::time::Instant;

use lehr_runtime::{Dispatcher, Port, block_on};

/// The number of rows that are filled by messages; the remaining rows are counted in place.
const ROWS_OF_MESSAGES: u32 = 5;

/// A board: the columns and diagonals that are attacked, as seen from the next row.
#[derive(Clone, Copy)]
struct Board {
    queens: u32,
    row: u32,
    columns: u32,
    falling: u32,
    rising: u32,
}

impl Board {
    fn empty(queens: u32) -> Self {
        Self { queens, row: 0, columns: 0, falling: 0, rising: 0 }
    }

    /// Returns the boards with one more queen.
    fn next(self) -> impl Iterator<Item = Self> {
        let free = !(self.columns | self.falling | self.rising) & ((1 << self.queens) - 1);
        (0..self.queens).map(|column| 1 << column).filter(move |queen| free & queen != 0).map(move |queen| Self {
            queens: self.queens,
            row: self.row + 1,
            columns: self.columns | queen,
            falling: (self.falling | queen) << 1,
            rising: (self.rising | queen) >> 1,
        })
    }

    fn solutions(self) -> u64 {
        if self.row == self.queens { 1 } else { self.next().map(Self::solutions).sum() }
    }
}

/// The report of a handler: the number of boards that it posted, and the number of solutions that it counted itself.
struct Finding {
    posted: usize,
    solutions: u64,
}

/// Returns the number of solutions, and the number of messages that the search took.
pub fn search(dispatcher: &Dispatcher, queens: u32) -> (u64, usize) {
    let (boards, findings) = (Port::new(), Port::new());
    let (next, found) = (boards.clone(), findings.clone());
    let receiver = boards.on(dispatcher.handle(), dispatcher.threads(), move |board: Board| {
        let finding = if board.row < ROWS_OF_MESSAGES.min(queens) {
            let mut posted = 0;
            for board in board.next() {
                next.post(board).unwrap();
                posted += 1;
            }
            Finding { posted, solutions: 0 }
        } else {
            Finding { posted: 0, solutions: board.solutions() }
        };
        found.post(finding).unwrap();
        async {}
    });
    let (mut outstanding, mut solutions, mut messages) = (1, 0, 0);
    boards.post(Board::empty(queens)).unwrap();
    block_on(async {
        while outstanding > 0 {
            let finding = findings.receive().await.unwrap();
            outstanding = outstanding - 1 + finding.posted;
            solutions += finding.solutions;
            messages += 1;
        }
    });
    assert!(boards.is_empty() && findings.is_empty(), "the count of what is outstanding is the end of the search");
    drop(receiver);
    (solutions, messages)
}

fn main() {
    /// The numbers of solutions for 4, 5, 6, … queens.
    const SOLUTIONS: [u64; 9] = [2, 10, 4, 40, 92, 352, 724, 2_680, 14_200];
    for threads in [1, 2] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        for (queens, expected) in (4..).zip(SOLUTIONS) {
            let start = Instant::now();
            let (solutions, messages) = search(&dispatcher, queens);
            let seconds = start.elapsed().as_secs_f64();
            assert_eq!(solutions, expected, "{queens} queens");
            let mut row = vec![Board::empty(queens)];
            let mut boards = 1;
            for _ in 0..ROWS_OF_MESSAGES.min(queens) {
                row = row.into_iter().flat_map(Board::next).collect();
                boards += row.len();
            }
            assert_eq!(messages, boards, "one message for each board");
            if queens >= 10 {
                println!(
                    "{queens} queens, {threads} workers: {solutions} solutions, {messages} messages, {:.2} million messages/s",
                    messages as f64 / seconds / 1e6
                );
            }
        }
    }
}
