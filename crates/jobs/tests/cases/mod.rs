mod densities;
mod dissimilarities;
mod http;
mod restarts;
mod running;
mod samples;
mod uploads;
