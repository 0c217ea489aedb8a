mod densities;
mod dissimilarities;
mod http;
mod predictions;
#[cfg(unix)]
mod processes;
mod restarts;
mod running;
mod samples;
mod tables;
mod uploads;
