//! The commands of `lehr`, one file each. Commands run plans; they do not read the command line.

pub mod application;
pub mod apply;
pub mod ask;
mod cluster_environment;
pub mod demo;
pub mod demography;
pub mod distances;
pub mod evaluate;
pub mod export;
pub mod job;
pub mod keep;
pub mod lab;
pub mod manual;
pub mod method;
pub mod part;
pub mod place;
pub mod predict;
pub mod pubchem;
pub mod run;
pub mod serve;
mod telemetry;
pub mod upload;
