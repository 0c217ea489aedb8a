//! The pages of demonstrations.

pub mod application;
pub mod demography;
