//! Lays out points in a report: two coordinates for rows of any dimension, and the names of the axes.
//!
//! - Longitude and latitude become a map, with degrees of longitude shortened by the cosine of the middle latitude. The
//!   map is cut at the widest empty stretch of the circle, so that data across the date line stay together. Wide empty
//!   stretches inside the map are left out. For example, Nevada and West Virginia fill the figure, without the 27
//!   degrees between them.
//! - Two columns become the two axes. A single column is drawn along x, and the rows are spread over y so that they do
//!   not hide each other.
//! - More columns are drawn along their first two principal axes (`principal_axes.rs`).
//!
//! If there are more than [`ROWS_MAX`] rows, the picture shows a sample from the whole length of the table.

use std::collections::HashSet;

use lehr_mining::vector::Input;

use crate::principal_axes::{PrincipalAxes, scatter};
use lehr_methods::Rows;

/// The maximum number of rows that are drawn.
pub const ROWS_MAX: usize = 250_000;

/// The map leaves out an empty stretch of longitude if it is longer than this share of the whole extent.
const BREAK_SHARE: f64 = 0.25;

/// The width of the gap that replaces a stretch that is left out, as a share of the remaining extent.
const GUTTER_SHARE: f64 = 0.035;

/// Two columns do not share a scale if the ratio of their ranges is above this number.
const RANGE_RATIO_MAX: f64 = 6.0;

/// The layout of points in a report.
pub struct Picture {
    /// The rows that are drawn, in ascending order.
    pub rows: Vec<usize>,
    /// The position of each drawn row, in units of the picture. A stretch that is left out takes only the width of its
    /// gap.
    pub points: Vec<(f64, f64)>,
    /// The position of each centre, in the same units.
    pub centers: Vec<(f64, f64)>,
    /// Whether both axes share a scale.
    pub is_equal: bool,
    /// The stretches of x that are left out: start, end, and the width of the gap that replaces the stretch.
    pub breaks: Vec<(f64, f64, f64)>,
    /// Whether the axes are degrees of longitude and latitude.
    pub degrees: bool,
    /// The length of a degree of longitude, if a degree of latitude has length 1.
    pub narrowing: f64,
    /// The names of x and y; empty for an axis that measures nothing.
    pub names: [String; 2],
    /// The title of the picture.
    pub title: String,
    /// A note for the reader.
    pub note: String,
}

impl Picture {
    /// Lays out the rows of `space` and the centres of a result. `centers` has K × d numbers in the scale of the
    /// clustering. Rows in `aside` do not influence the principal axes, except in sparse tables.
    pub fn new(space: &Rows, centers: &[f64], aside: &[usize]) -> Self {
        let (mut rows, without_values) = (drawn_rows(space.len()), space.without_values());
        let is_sample = rows.len() < space.len();
        // A row without any value is nowhere.
        rows.retain(|row| without_values.binary_search(row).is_err());
        let columns = space.columns();
        let mut picture = if space.is_sphere() {
            on_the_map(space, &rows, centers)
        } else if columns.len() == 1 {
            along_a_line(space, &rows, centers)
        } else if columns.len() == 2 {
            let dimension = space.vectors().dimension();
            let pair = |values: &[f64]| (values[0], values[1]);
            let points = rows.iter().map(|&row| pair(&space.row(row))).collect();
            let centers = centers.chunks_exact(dimension).map(|center| pair(&space.center(center))).collect();
            let title = format!("{} and {}", columns[0], columns[1]);
            let mut picture = plain(points, centers, [columns[0].clone(), columns[1].clone()], title);
            picture.is_equal &= !space.is_scaled();
            picture
        } else {
            along_principal_axes(space, &rows, centers, &aside.iter().copied().collect())
        };
        if is_sample {
            let [drawn, all] = [rows.len(), space.len()].map(|rows| lehr_methods::numbers::grouped(rows as u64));
            picture.note.push_str(&format!(" {drawn} of {all} rows are drawn, evenly chosen."));
        }
        picture.rows = rows;
        picture
    }
}

/// Lays out the centres of a streaming clustering. `centers` has K × d numbers in the scale of the clustering, `own`
/// the same centres in the columns' units. Heavier centres have more influence on the principal axes.
pub fn of_centers(columns: &[String], centers: &[f64], own: &[Vec<f64>], weights: &[f64]) -> Picture {
    let dimension = columns.len();
    let (points, names, note) = match dimension {
        1 => {
            let points = own.iter().map(|center| (center[0], 0.5)).collect();
            (points, [columns[0].clone(), String::new()], String::new())
        }
        2 => (
            own.iter().map(|center| (center[0], center[1])).collect(),
            [columns[0].clone(), columns[1].clone()],
            String::new(),
        ),
        _ => {
            let axes = PrincipalAxes::of(dimension, own.len(), |place, row| {
                row.copy_from_slice(&centers[place * dimension..(place + 1) * dimension]);
                weights[place]
            });
            let points = centers.chunks_exact(dimension).map(|center| axes.project(center)).collect();
            let names = ["first", "second"].map(|which| format!("{which} principal axis of the centres"));
            let note =
                format!("The axes are the two directions in which the centres vary most over {dimension} columns.");
            (points, names, note)
        }
    };
    Picture { note, ..plain(points, Vec::new(), names, "centres".to_owned()) }
}

/// Returns the rows to draw, at most [`ROWS_MAX`], from the whole length of the table.
pub fn drawn_rows(count: usize) -> Vec<usize> {
    lehr_mining::drawn::drawn(count, ROWS_MAX)
}

/// Creates a picture with two axes of the same kind. The axes share a scale unless their ranges differ too much.
pub fn plain(points: Vec<(f64, f64)>, centers: Vec<(f64, f64)>, names: [String; 2], title: String) -> Picture {
    let length = |of: fn(&(f64, f64)) -> f64| {
        let (low, high) = extent(points.iter().chain(&centers).map(of));
        high - low
    };
    let ratio = length(|point| point.0) / length(|point| point.1);
    let is_equal = (1.0 / RANGE_RATIO_MAX..RANGE_RATIO_MAX).contains(&ratio);
    Picture {
        rows: Vec::new(),
        points,
        centers,
        is_equal,
        breaks: Vec::new(),
        degrees: false,
        narrowing: 1.0,
        names,
        title,
        note: String::new(),
    }
}

fn on_the_map(space: &Rows, rows: &[usize], centers: &[f64]) -> Picture {
    let place = |row: Vec<f64>| (row[0], row[1]);
    let positions: Vec<(f64, f64)> = rows.iter().map(|&row| place(space.row(row))).collect();
    let centers: Vec<(f64, f64)> = centers.chunks_exact(3).map(|center| place(space.center(center))).collect();
    Picture::of_degrees(positions, centers)
}

impl Picture {
    /// Creates a map that draws all of these positions, given in degrees east and north.
    pub fn of_degrees(places: Vec<(f64, f64)>, centers: Vec<(f64, f64)>) -> Self {
        let meridians = Meridians::of(places.iter().chain(&centers).map(|place| place.0));
        let laid_out = |(longitude, latitude): (f64, f64)| (meridians.place(longitude), latitude);
        let rows = (0..places.len()).collect();
        let points: Vec<(f64, f64)> = places.into_iter().map(laid_out).collect();
        let centers = centers.into_iter().map(laid_out).collect();
        let latitudes = extent(points.iter().map(|point| point.1));
        let narrowing = libm::cos((0.5 * (latitudes.0 + latitudes.1)).to_radians()).max(0.2);
        let names = ["longitude".to_owned(), "latitude".to_owned()];
        let breaks = meridians.breaks;
        Picture { rows, breaks, degrees: true, narrowing, ..plain(points, centers, names, "map".to_owned()) }
    }
}

/// The longitudes of a map, without wide empty stretches. The circle is cut at -180 degrees. If the data cross the date
/// line, it is cut in the widest empty stretch of at least 20 degrees.
pub struct Meridians {
    cut: f64,
    /// The stretches that are left out: start, end, and the width of the gap that replaces the stretch. Start and end
    /// are longitudes in the 360 degrees east of the cut.
    pub breaks: Vec<(f64, f64, f64)>,
}

impl Meridians {
    /// Chooses the cut and the stretches to leave out for data at these longitudes.
    pub fn of(longitudes: impl Iterator<Item = f64> + Clone) -> Self {
        let cut = date_line(longitudes.clone());
        let mut meridians = Meridians { cut, breaks: Vec::new() };
        meridians.breaks = breaks(longitudes.map(|longitude| meridians.unwrapped(longitude)));
        meridians
    }

    /// Returns the same longitude as a number in the 360 degrees east of the cut.
    fn unwrapped(&self, longitude: f64) -> f64 {
        self.cut + (longitude - self.cut).rem_euclid(360.0)
    }

    /// Returns the position of a longitude on the map, in degrees, without the stretches that are left out. A longitude
    /// inside a stretch that is left out has a position in the gap.
    pub fn place(&self, longitude: f64) -> f64 {
        let longitude = self.unwrapped(longitude);
        let gone = |(from, to, gutter): &(f64, f64, f64)| {
            ((longitude - from) / (to - from)).clamp(0.0, 1.0) * (to - from - gutter)
        };
        longitude - self.breaks.iter().map(gone).sum::<f64>()
    }
}

/// Returns the longitude at which to cut the circle: -180, or the middle of the widest empty stretch if the data cross
/// the date line.
fn date_line(longitudes: impl Iterator<Item = f64>) -> f64 {
    const BINS: usize = 720;
    let mut taken = [false; BINS];
    for longitude in longitudes {
        taken[((longitude + 180.0).rem_euclid(360.0) * 2.0) as usize % BINS] = true;
    }
    if !taken[0] || !taken[BINS - 1] {
        return -180.0;
    }
    let (mut best, mut length) = ((0, 0), 0);
    for (bin, taken) in taken.into_iter().enumerate() {
        length = if taken { 0 } else { length + 1 };
        if length > best.1 {
            best = (bin + 1 - length, length);
        }
    }
    // If the data have no gap of at least 20 degrees, the usual cut is as good as any other.
    if best.1 < 40 { -180.0 } else { -180.0 + 0.5 * (best.0 as f64 + 0.5 * best.1 as f64) }
}

/// Returns the empty stretches that are wide enough to leave out, in ascending order.
fn breaks(longitudes: impl Iterator<Item = f64>) -> Vec<(f64, f64, f64)> {
    const BINS: usize = 2000;
    let longitudes: Vec<f64> = longitudes.collect();
    let (low, high) = extent(longitudes.iter().copied());
    let width = (high - low) / BINS as f64;
    let mut taken = vec![false; BINS];
    for longitude in longitudes {
        taken[(((longitude - low) / width) as usize).min(BINS - 1)] = true;
    }
    let mut stretches = Vec::new();
    let mut start = None;
    for (bin, taken) in taken.into_iter().enumerate() {
        match (taken, start) {
            (false, None) => start = Some(bin),
            (true, Some(first)) => {
                if (bin - first) as f64 > BREAK_SHARE * BINS as f64 {
                    // Keep a margin on both sides, so that no point touches the gap.
                    let room = 0.012 * (high - low);
                    stretches.push((low + first as f64 * width + room, low + bin as f64 * width - room));
                }
                start = None;
            }
            _ => {}
        }
    }
    let remaining = (high - low) - stretches.iter().map(|(from, to)| to - from).sum::<f64>();
    stretches.into_iter().map(|(from, to)| (from, to, GUTTER_SHARE * remaining)).collect()
}

fn along_a_line(space: &Rows, rows: &[usize], centers: &[f64]) -> Picture {
    let points = rows.iter().enumerate().map(|(index, &row)| (space.row(row)[0], scatter(index))).collect();
    let dimension = space.vectors().dimension();
    let centers = centers.chunks_exact(dimension).map(|center| (space.center(center)[0], 0.5)).collect();
    let name = &space.columns()[0];
    let note = "The height means nothing: it keeps rows apart.".to_owned();
    Picture { is_equal: false, note, ..plain(points, centers, [name.clone(), String::new()], name.clone()) }
}

fn along_principal_axes(space: &Rows, rows: &[usize], centers: &[f64], aside: &HashSet<usize>) -> Picture {
    let input = space.vectors();
    let dimension = input.dimension();
    let mut drawn = Vec::with_capacity(rows.len());
    let axes = if let Input::Sparse(sparse) = input {
        let axes = PrincipalAxes::of_sparse(sparse, rows);
        drawn.extend(rows.iter().map(|row| axes.project_sparse(sparse.row(*row))));
        axes
    } else {
        let axes = PrincipalAxes::of(dimension, rows.len(), |place, row| {
            input.read(rows[place], row);
            if aside.contains(&rows[place]) { 0.0 } else { input.weight(rows[place]) }
        });
        let mut row = vec![0.0; dimension];
        for &index in rows {
            input.read(index, &mut row);
            drawn.push(axes.project(&row));
        }
        axes
    };
    let centers = centers.chunks_exact(dimension).map(|center| axes.project(center)).collect();
    let scaled = if space.is_scaled() { " as scaled" } else { "" };
    let note = format!(
        "The axes are the two directions in which the {dimension} columns{scaled} vary most. Clusters that overlap here may be apart in other directions."
    );
    let mut shares = axes.shares.iter();
    let names = ["first", "second"].map(|which| {
        let share = 100.0 * shares.next().copied().unwrap_or_default();
        format!("{which} principal axis ({share:.0} % of the variance)")
    });
    Picture { note, ..plain(drawn, centers, names, "principal axes".to_owned()) }
}

/// Returns the lowest and the highest value, with a margin if they are equal, or 0 and 1 if there is no value.
fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let room = if high > low { 0.0 } else { 0.05 * low.abs().max(1.0) };
    (low - room, high + room)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_across_the_date_line_stay_together() {
        let cut = date_line([179.0, -179.9, 179.9, -178.0].into_iter());
        let place = |longitude: f64| cut + (longitude - cut).rem_euclid(360.0);
        assert!((place(-178.0) - place(179.0) - 3.0).abs() < 1e-9);
        assert_eq!(date_line([-117.0, -80.0].into_iter()), -180.0);
        assert_eq!(date_line((0..720).map(|bin| f64::from(bin) * 0.5)), -180.0, "data all around");
    }

    #[test]
    fn a_wide_empty_stretch_is_left_out_and_a_narrow_one_is_not() {
        let coast = |low: f64, high: f64| (0..500).map(move |i| low + (high - low) * f64::from(i) / 499.0);
        let found = breaks(coast(-120.0, -109.0).chain(coast(-82.6, -77.7)));
        assert_eq!(found.len(), 1);
        let (from, to, gutter) = found[0];
        assert!(from > -109.0 && from < -108.0 && to < -82.6 && to > -83.6, "{from} {to}");
        assert!(gutter < 1.0);
        assert!(breaks(coast(0.0, 10.0).chain(coast(12.0, 20.0))).is_empty());
    }

    #[test]
    fn what_lies_behind_a_stretch_that_is_left_out_moves_up_to_it() {
        let coast = |low: f64, high: f64| (0..500).map(move |i| low + (high - low) * f64::from(i) / 499.0);
        let meridians = Meridians::of(coast(-120.0, -109.0).chain(coast(-82.6, -77.7)));
        let (from, to, gutter) = meridians.breaks[0];
        assert_eq!(meridians.place(-115.0), -115.0);
        assert!((meridians.place(to) - meridians.place(from) - gutter).abs() < 1e-9);
        assert!((meridians.place(-80.0) - meridians.place(-81.0) - 1.0).abs() < 1e-9);
        let middle = meridians.place(0.5 * (from + to));
        assert!((middle - from - 0.5 * gutter).abs() < 1e-9, "{middle}");
    }

    #[test]
    fn equal_values_have_an_extent() {
        assert!(extent([4.0, 4.0].into_iter()).0 < 4.0);
    }
}
