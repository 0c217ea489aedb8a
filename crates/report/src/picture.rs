//! Points on a page: two coordinates for rows of any dimension, and what to call the axes.
//!
//! - Longitude and latitude are drawn as they are, with degrees of longitude narrowed by the cosine of the middle latitude.
//!   The map is cut where the widest empty stretch of the circle is, so data across the date line stay together, and wide
//!   empty stretches inside are left out (Nevada and West Virginia fill a page; 27 degrees of nothing do not).
//! - Two columns are the two axes. One column is drawn along x, with rows spread over y so that they do not hide each other.
//! - More columns are drawn along their first two principal axes (`principal_axes.rs`).
//!
//! Above [`ROWS_MAX`] rows, every n-th is drawn.

use std::collections::HashSet;

use lehr_mining::vector::Input;

use crate::principal_axes::{PrincipalAxes, scatter};
use lehr_methods::Rows;

/// Most rows that are drawn.
pub const ROWS_MAX: usize = 250_000;

/// An empty stretch of longitude wider than this share of the whole is left out.
const BREAK_SHARE: f64 = 0.25;

/// What is drawn instead of a stretch that is left out, as a share of what remains.
const GUTTER_SHARE: f64 = 0.035;

/// Above this ratio of their ranges, two columns do not share a scale on the page.
const RANGE_RATIO_MAX: f64 = 6.0;

/// What the page draws.
pub struct Picture {
    /// The rows drawn, those of weight 0 first.
    pub rows: Vec<usize>,
    /// How many of them have weight 0.
    pub faint: usize,
    /// Where each row drawn lies, in page units (pieces left out are gone).
    pub points: Vec<(f64, f64)>,
    /// Where each centre lies, in the same units.
    pub centers: Vec<(f64, f64)>,
    /// Range of x and of y, with a margin.
    pub range: [(f64, f64); 2],
    /// Width of the picture for a height of 1, if both axes share a scale.
    pub aspect: Option<f64>,
    /// Stretches of x left out: from, to, and the width of the gutter instead.
    pub breaks: Vec<(f64, f64, f64)>,
    /// Whether the axes are degrees of longitude and latitude.
    pub degrees: bool,
    /// Whether the y axis measures anything.
    pub y_measures: bool,
    /// What x and y are, in a few words; empty for what measures nothing.
    pub names: [String; 2],
    /// What the axes are, in a sentence.
    pub caption: String,
}

impl Picture {
    /// Lays out the rows of `space` and the centres of a result (`centers`: K × d as clustered).
    pub fn new(space: &Rows, centers: &[f64]) -> Self {
        Self::without(space, centers, &[])
    }

    /// The same, but that some rows, in ascending or any order, say nothing about the axes: where they and others lie beyond, the edge
    /// has them. Maps show everything.
    pub fn without(space: &Rows, centers: &[f64], aside: &[usize]) -> Self {
        let (rows, faint) = drawn_rows(space);
        let aside: HashSet<usize> = aside.iter().copied().collect();
        let dimension = space.vectors().dimension();
        let columns = space.columns();
        let mut picture = if space.is_sphere() {
            on_the_map(space, &rows, centers)
        } else if columns.len() == 1 {
            along_a_line(space, &rows, centers)
        } else if columns.len() == 2 {
            let pair = |values: &[f64]| (values[0], values[1]);
            let points = rows.iter().map(|&row| pair(&space.row(row))).collect();
            let centers = centers.chunks_exact(dimension).map(|center| pair(&space.center(center))).collect();
            let caption = format!("Each dot is a row: {} across, {} upwards.", columns[0], columns[1]);
            let mut picture = plain(points, centers, [columns[0].clone(), columns[1].clone()], caption);
            if space.is_scaled() {
                picture.aspect = None;
            }
            picture
        } else {
            along_principal_axes(space, &rows, centers, &aside)
        };
        if !space.is_sphere() {
            let counts: Vec<bool> = rows.iter().map(|row| !aside.contains(row)).collect();
            picture.crop(&counts);
        }
        if rows.len() < space.len() {
            picture.caption.push_str(&format!(
                " {} of {} rows are drawn, evenly chosen.",
                lehr_methods::numbers::grouped(rows.len() as u64),
                lehr_methods::numbers::grouped(space.len() as u64)
            ));
        }
        if faint > 0 {
            picture.caption.push_str(" Rows of weight 0 are fainter.");
        }
        picture.caption.push_str(" Circles are centres, sized by weight.");
        picture.rows = rows;
        picture.faint = faint;
        picture
    }
}

impl Picture {
    /// Fits the axes to the rows that count, where others make them half as long again; the others are drawn
    /// at the edge.
    fn crop(&mut self, counts: &[bool]) {
        /// How much longer an axis may be than the rows that count need.
        const STRETCHED: f64 = 1.5;
        let length = |(low, high): (f64, f64)| high - low;
        let counting = || self.points.iter().zip(counts).filter(|(_, counts)| **counts).map(|(point, _)| point);
        if counting().next().is_none() {
            return;
        }
        let needed = [extent(counting().map(|point| point.0), 0.04), extent(counting().map(|point| point.1), 0.04)];
        let old = self.range;
        let stretched = |axis: usize| length(old[axis]) > STRETCHED * length(needed[axis]);
        let is_stretched = stretched(0) || self.y_measures && stretched(1);
        if !is_stretched {
            return;
        }
        self.range = if self.y_measures { needed } else { [needed[0], old[1]] };
        let [x, y] = self.range;
        let is_beyond = |(a, b): &(f64, f64)| !(x.0..=x.1).contains(a) || !(y.0..=y.1).contains(b);
        let beyond = self.points.iter().filter(|point| is_beyond(point)).count();
        for point in self.points.iter_mut().chain(&mut self.centers) {
            *point = (point.0.clamp(x.0, x.1), point.1.clamp(y.0, y.1));
        }
        let ratio = length(x) / length(y);
        self.aspect = self.aspect.map(|_| ratio.clamp(1.0 / RANGE_RATIO_MAX, RANGE_RATIO_MAX));
        if beyond > 0 {
            self.caption.push_str(&format!(
                " {} farther out {} drawn at the edge.",
                lehr_methods::numbers::counted(beyond as u64, "row"),
                if beyond == 1 { "is" } else { "are" }
            ));
        }
    }

    /// Makes room for more than rows and centres: places that are drawn as well, in the picture's units. Axes that share a scale still do.
    pub fn make_room(&mut self, places: impl Iterator<Item = (f64, f64)>) {
        let old = self.range;
        let (mut wanted, length) = (old, |(low, high): (f64, f64)| high - low);
        for (x, y) in places {
            for (range, value) in wanted.iter_mut().zip([x, y]) {
                *range = (range.0.min(value), range.1.max(value));
            }
        }
        for ((range, wanted), old) in self.range.iter_mut().zip(wanted).zip(old) {
            let room = 0.01 * length(wanted);
            *range = (
                if wanted.0 < old.0 { wanted.0 - room } else { old.0 },
                if wanted.1 > old.1 { wanted.1 + room } else { old.1 },
            );
        }
        let grown = |axis: usize| length(self.range[axis]) / length(old[axis]);
        self.aspect = self.aspect.map(|aspect| aspect * grown(0) / grown(1));
    }
}

/// At most [`ROWS_MAX`] rows, evenly chosen; those of weight 0 first, so that they lie underneath.
fn drawn_rows(space: &Rows) -> (Vec<usize>, usize) {
    let count = space.len();
    let kept = count.min(ROWS_MAX);
    let chosen = (0..kept).map(|index| (index as u128 * count as u128 / kept as u128) as usize);
    let (mut rows, rest): (Vec<usize>, Vec<usize>) = chosen.partition(|&row| space.vectors().weight(row) == 0.0);
    let faint = rows.len();
    rows.extend(rest);
    (rows, faint)
}

/// Two axes of the same kind, sharing a scale unless their ranges are too unlike.
fn plain(points: Vec<(f64, f64)>, centers: Vec<(f64, f64)>, names: [String; 2], caption: String) -> Picture {
    let everything = || points.iter().chain(&centers);
    let range = [extent(everything().map(|point| point.0), 0.02), extent(everything().map(|point| point.1), 0.02)];
    let ratio = (range[0].1 - range[0].0) / (range[1].1 - range[1].0);
    let aspect = (1.0 / RANGE_RATIO_MAX..RANGE_RATIO_MAX).contains(&ratio).then_some(ratio);
    Picture {
        rows: Vec::new(),
        faint: 0,
        points,
        centers,
        range,
        aspect,
        breaks: Vec::new(),
        degrees: false,
        y_measures: true,
        names,
        caption,
    }
}

fn on_the_map(space: &Rows, rows: &[usize], centers: &[f64]) -> Picture {
    let positions: Vec<(f64, f64)> = rows
        .iter()
        .map(|&row| {
            let row = space.row(row);
            (row[0], row[1])
        })
        .collect();
    let centers: Vec<(f64, f64)> = centers
        .chunks_exact(3)
        .map(|center| {
            let center = space.center(center);
            (center[0], center[1])
        })
        .collect();
    let meridians = Meridians::of(positions.iter().chain(&centers).map(|place| place.0));
    let laid_out = |(longitude, latitude): (f64, f64)| (meridians.place(longitude), latitude);
    let points: Vec<(f64, f64)> = positions.into_iter().map(laid_out).collect();
    let centers: Vec<(f64, f64)> = centers.into_iter().map(laid_out).collect();
    let latitudes = extent(points.iter().map(|point| point.1), 0.0);
    let narrowing = (0.5 * (latitudes.0 + latitudes.1)).to_radians().cos().max(0.2);
    let columns = space.columns();
    let mut picture = plain(
        points,
        centers,
        ["longitude".to_owned(), "latitude".to_owned()],
        format!("Each dot is a row at its longitude ({}) and latitude ({}).", columns[0], columns[1]),
    );
    let [x, y] = picture.range;
    picture.aspect = Some((narrowing * (x.1 - x.0) / (y.1 - y.0)).clamp(0.2, 8.0));
    picture.breaks = meridians.breaks;
    picture.degrees = true;
    picture
}

/// Longitudes as a page has them: the circle cut where the widest empty stretch is, and wide empty stretches left out.
pub struct Meridians {
    cut: f64,
    /// Stretches left out: from, to, and the width of the gutter instead; as longitudes eastwards from the cut.
    pub breaks: Vec<(f64, f64, f64)>,
}

impl Meridians {
    /// For data at these longitudes.
    pub fn of(longitudes: impl Iterator<Item = f64> + Clone) -> Self {
        let cut = date_line(longitudes.clone());
        let mut meridians = Meridians { cut, breaks: Vec::new() };
        meridians.breaks = breaks(longitudes.map(|longitude| meridians.unwrapped(longitude)));
        meridians
    }

    /// A longitude as one of the 360 degrees east of the cut.
    fn unwrapped(&self, longitude: f64) -> f64 {
        self.cut + (longitude - self.cut).rem_euclid(360.0)
    }

    /// Whether a longitude is in a stretch that is left out.
    pub fn is_left_out(&self, longitude: f64) -> bool {
        let longitude = self.unwrapped(longitude);
        self.breaks.iter().any(|(from, to, _)| (*from..*to).contains(&longitude))
    }

    /// Where a longitude is on the page, in degrees but for what is left out; of a stretch that is left out, within its gutter.
    pub fn place(&self, longitude: f64) -> f64 {
        let longitude = self.unwrapped(longitude);
        let gone = |(from, to, gutter): &(f64, f64, f64)| {
            ((longitude - from) / (to - from)).clamp(0.0, 1.0) * (to - from - gutter)
        };
        longitude - self.breaks.iter().map(gone).sum::<f64>()
    }
}

/// The longitude at which to cut the circle: -180, or the middle of the widest empty stretch if data lie across the date line.
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
    // Data all around: the usual cut is as good as any.
    if best.1 < 40 { -180.0 } else { -180.0 + 0.5 * (best.0 as f64 + 0.5 * best.1 as f64) }
}

/// The empty stretches that are worth leaving out, in ascending order.
fn breaks(longitudes: impl Iterator<Item = f64>) -> Vec<(f64, f64, f64)> {
    const BINS: usize = 2000;
    let longitudes: Vec<f64> = longitudes.collect();
    let (low, high) = extent(longitudes.iter().copied(), 0.0);
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
                    // Some room on both sides, so that no point touches the gutter.
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
    let caption =
        format!("Each dot is a row: {} across. The height means nothing: it keeps rows apart.", space.columns()[0]);
    let mut picture = plain(points, centers, [space.columns()[0].clone(), String::new()], caption);
    picture.range[1] = (-0.05, 1.05);
    picture.aspect = None;
    picture.y_measures = false;
    picture
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
    let caption = format!(
        "Each dot is a row along the first two principal axes of the {dimension} columns{}, with {:.0} % (across) and {:.0} % \
         (upwards) of the variance. Clusters that overlap here may be apart in other directions.",
        if space.is_scaled() { " as scaled" } else { "" },
        100.0 * axes.shares[0],
        100.0 * axes.shares[1]
    );
    let names = ["first", "second"].map(|which| format!("{which} principal axis"));
    plain(drawn, centers, names, caption)
}

/// Lowest and highest value, with a margin on both sides; never of width 0.
fn extent(values: impl Iterator<Item = f64>, margin: f64) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let room = if high > low { margin * (high - low) } else { 0.5 * low.abs().max(1.0) * 0.1 };
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
        assert!(meridians.is_left_out(-95.0) && !meridians.is_left_out(-115.0) && !meridians.is_left_out(-80.0));
        let middle = meridians.place(0.5 * (from + to));
        assert!((middle - from - 0.5 * gutter).abs() < 1e-9, "{middle}");
    }

    #[test]
    fn a_picture_makes_room_for_what_is_outside_and_keeps_its_scale() {
        let mut picture = plain(vec![(0.0, 0.0), (10.0, 5.0)], Vec::new(), Default::default(), String::new());
        let before = picture.range;
        picture.make_room([(5.0, 2.0), (9.0, 3.0)].into_iter());
        assert_eq!(picture.range, before, "nothing is outside");
        picture.make_room([(5.0, 15.0)].into_iter());
        let [x, y] = picture.range;
        assert_eq!((x, y.0), (before[0], before[1].0));
        assert!(y.1 > 15.0 && y.1 < 15.5, "{y:?}");
        // A unit is as long upwards as across.
        assert!((picture.aspect.unwrap() - (x.1 - x.0) / (y.1 - y.0)).abs() < 1e-12);
    }

    #[test]
    fn equal_values_have_an_extent() {
        assert!(extent([4.0, 4.0].into_iter(), 0.02).0 < 4.0);
    }
}
