//! Measures Lehr in comparison with its peers and with the limits of the machine.
//!
//! A measurement consists of a definition (`lab/definitions`), sides that do the same work, and rounds in which the
//! sides take turns. It checks every answer, and ends with a record and a table of minimum, median and maximum. For the
//! reasons behind each step, see `lab/METHOD.md`.
//!
//! The program is `lehr-lab`: its labs ([`ports`], [`ranks`], [`services`], [`overhead`], [`scale`], [`growth`],
//! [`chemistry`]) keep records case by case; `bench` and `quality` ([`command`]) write tables.
#![forbid(unsafe_code)]

pub mod arguments;
pub mod bench;
pub mod beside_numbers;
pub mod bit_step;
pub mod chemistry;
pub mod command;
pub mod compare;
pub mod cost;
pub mod definition;
pub mod dissimilarities;
pub mod environment;
pub mod exit;
pub mod growth;
pub mod inputs;
pub mod interrupt;
pub mod machine;
pub mod measure;
pub mod output;
pub mod overhead;
pub mod ports;
pub mod process;
pub mod program;
pub mod ranks;
pub mod record;
pub mod results;
pub mod runner;
pub mod scale;
pub mod score;
pub mod services;
pub mod sparse_step;
pub mod unit;
