mod densities;
mod dissimilarities;
mod http;
#[cfg(unix)]
mod processes;
mod restarts;
mod running;
mod samples;
mod tables;
mod uploads;
