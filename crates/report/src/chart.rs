//! Draws points with axes and a legend as a [`Drawing`].
//!
//! The rows in clusters set the limits of the axes. An outlier within the limits is drawn with a ring, and a point
//! beyond the limits as a triangle at the edge. So a few distant rows do not squeeze all other rows together.

mod axis;
pub mod dendrogram;
pub mod matrix;

use std::collections::HashSet;

use lehr_methods::numbers::{counted, grouped};

use crate::drawing::{
    Anchor, Color, Drawing, FAINT, Font, INK, NOTHING, QUIET, Shape, Text, WHITE, cluster_color, scale_color,
};
use crate::picture::Picture;

/// The width and height of the whole picture.
const SIZE: (f64, f64) = (960.0, 640.0);
/// The text size of the title. The text sizes of names, of ticks and the legend, and of the note follow.
const TITLE: f64 = 17.0;
const NAME: f64 = 13.0;
const SMALL: f64 = 12.0;
const NOTE: f64 = 11.0;
/// The width of the left margin. The heights of the top margin, and of the bottom margin without the note, follow.
const LEFT: f64 = 82.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 64.0;
/// The width of the right margin without a legend. The maximum width of a legend follows.
const RIGHT: f64 = 24.0;
const LEGEND_MAX: f64 = 280.0;
/// The minimum width of a colour scale with its numbers.
const SCALE_WIDTH: f64 = 110.0;
/// The maximum number of groups in the legend, which is also the number of colours.
const LEGEND_GROUPS: usize = 20;
/// The maximum number of clusters whose centres are numbered.
const NUMBERED_MAX: usize = 60;
/// The maximum number of outliers with a ring; more rings would hide the clusters.
const RINGED_MAX: usize = 500;
/// The empty margin inside the axes, as a share of the extent.
const MARGIN: f64 = 0.04;
/// The number of colours of a scale, minus one.
const LEVELS: f64 = 63.0;
/// The group of a point without a group.
const NONE: u32 = u32::MAX;

/// The outline of a component.
#[derive(Clone, Copy, Debug)]
pub struct Outline {
    /// The mean of the component.
    pub mean: (f64, f64),
    /// The covariance matrix: variance along x, covariance, variance along y.
    pub covariance: [f64; 3],
}

/// The meaning of the points' colours.
pub enum Colors {
    /// Groups: the group of each point ([`u32::MAX`] for a point without a group), and a description of each group.
    Groups(Vec<u32>, Vec<String>),
    /// A colour scale: its name, and the value of each point.
    Scale(String, Vec<f64>),
}

/// Coloured cells behind the points.
pub struct Ground {
    /// The corner with the smallest coordinates, and the corner with the largest coordinates.
    pub corners: [(f64, f64); 2],
    /// The number of cells along x.
    pub columns: usize,
    /// The colours of the cells, row by row from the bottom.
    pub cells: Vec<Color>,
    /// The meaning of the darkest colour.
    pub meaning: String,
}

/// A chart of points.
pub struct Chart {
    /// The title.
    pub title: String,
    /// The points and centres, and the meaning of the axes.
    pub picture: Picture,
    /// The name of a centre in the legend; empty if centres are not marked.
    pub center: &'static str,
    /// The colours of the points.
    pub colors: Colors,
    /// For each point, whether it is an outlier, which does not affect the limits of the axes; empty if there are no
    /// outliers.
    pub is_out: Vec<bool>,
    /// The outlines of the groups.
    pub outlines: Vec<Outline>,
    /// The radius of each point as a share of the largest radius; empty if all radii are equal.
    pub radii: Vec<f64>,
    /// The cells behind the points.
    pub ground: Option<Ground>,
}

/// A mark in the legend.
enum Mark {
    Disc(Color),
    Ring,
    Edge,
    Cross,
    Line(bool),
    Square(Color),
    Nothing,
}

/// The rectangle that holds the points, and the values at its edges.
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
    x: (f64, f64),
    y: (f64, f64),
}

impl Frame {
    fn place(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let along = |value: f64, (low, high): (f64, f64)| (value - low) / (high - low);
        (
            self.left + along(x, self.x) * (self.right - self.left),
            self.bottom - along(y, self.y) * (self.bottom - self.top),
        )
    }

    fn has(&self, place: (f64, f64)) -> bool {
        is_within(place, [self.x, self.y])
    }
}

impl Chart {
    /// Creates a chart without outlines, radii or background.
    pub fn new(title: String, picture: Picture, colors: Colors) -> Self {
        let (is_out, outlines, radii) = (Vec::new(), Vec::new(), Vec::new());
        Self { title, picture, center: "", colors, is_out, outlines, radii, ground: None }
    }

    /// Draws the chart.
    pub fn draw(&self) -> Drawing {
        let font = Font::default();
        let mut drawing = Drawing { size: SIZE, title: self.title.clone(), shapes: Vec::new() };
        let note = font.wrapped(&self.picture.note, NOTE, SIZE.0 - LEFT - RIGHT);
        let bottom = SIZE.1 - BOTTOM - 15.0 * note.len() as f64;
        let limits = self.limits();
        // The frame may widen an axis, and depends on the width of the legend. So the legend is first measured with the
        // points beyond the narrowest limits, and then made again with the points beyond the frame.
        let legend = self.legend(self.drawn().filter(|(_, place)| !is_within(*place, limits)).count());
        let scale = if let Colors::Scale(name, _) = &self.colors { Some(name) } else { None };
        let words = legend.iter().map(|(_, words)| words).chain(scale);
        let longest = words.map(|words| font.width(words, SMALL)).fold(0.0, f64::max);
        let legend_width = if longest == 0.0 { RIGHT } else { (longest + 60.0).clamp(SCALE_WIDTH, LEGEND_MAX) };
        let frame = self.frame((LEFT, SIZE.0 - legend_width, TOP, bottom), limits);
        let legend = self.legend(self.drawn().filter(|(_, place)| !frame.has(*place)).count());

        drawing.text((LEFT, 30.0), TITLE, Anchor::Start, INK, font.fitting(&self.title, TITLE, SIZE.0 - LEFT - RIGHT));
        for (line, words) in note.into_iter().enumerate() {
            drawing.text((LEFT, bottom + BOTTOM + 15.0 * line as f64), NOTE, Anchor::Start, QUIET, words);
        }
        self.ground(&mut drawing, &frame);
        self.axes(&mut drawing, &frame, &font);
        self.points(&mut drawing, &frame);
        self.outlines(&mut drawing, &frame);
        self.centers(&mut drawing, &frame);
        let left = frame.right + 18.0;
        let top = self.scale(&mut drawing, left, &font);
        add_legend(&mut drawing, (left, top), &legend, &font);
        drawing
    }

    fn is_out(&self, point: usize) -> bool {
        let is_of_none = matches!(&self.colors, Colors::Groups(of, _) if of[point] == NONE);
        is_of_none || self.is_out.get(point).copied().unwrap_or_default()
    }

    fn outliers(&self) -> usize {
        self.drawn().filter(|(point, _)| self.is_out(*point)).count()
    }

    fn drawn(&self) -> impl Iterator<Item = (usize, (f64, f64))> + '_ {
        let is_finite = |(_, point): &(usize, (f64, f64))| point.0.is_finite() && point.1.is_finite();
        self.picture.points.iter().copied().enumerate().filter(is_finite)
    }

    /// Returns the smallest and largest coordinates of the points that are not outliers, with a margin; or of all
    /// points if all are outliers.
    fn limits(&self) -> [(f64, f64); 2] {
        let mut inside: Vec<(f64, f64)> =
            self.drawn().filter(|(point, _)| !self.is_out(*point)).map(|(_, place)| place).collect();
        if inside.is_empty() {
            inside = self.drawn().map(|(_, place)| place).collect();
        } else {
            inside.extend(self.picture.centers.iter().filter(|place| place.0.is_finite() && place.1.is_finite()));
        }
        if let Some(ground) = &self.ground {
            inside.extend(ground.corners);
        }
        [extent(inside.iter().map(|place| place.0)), extent(inside.iter().map(|place| place.1))]
    }

    /// Returns the frame with these limits. If the axes share a scale, widens the limits of one axis.
    fn frame(&self, (left, right, top, bottom): (f64, f64, f64, f64), [x, y]: [(f64, f64); 2]) -> Frame {
        let mut frame = Frame { left, right, top, bottom, x, y };
        if self.picture.is_equal {
            let (across, up) = ((x.1 - x.0) * self.picture.narrowing / (right - left), (y.1 - y.0) / (bottom - top));
            let widened = |(low, high): (f64, f64), times: f64| {
                let more = 0.5 * (high - low) * (times - 1.0);
                (low - more, high + more)
            };
            if across < up {
                frame.x = widened(x, up / across);
            } else {
                frame.y = widened(y, across / up);
            }
        }
        frame
    }

    fn ground(&self, drawing: &mut Drawing, frame: &Frame) {
        let Some(Ground { corners: [low, high], columns, cells, .. }) = &self.ground else { return };
        let (low, high) = (frame.place(*low), frame.place(*high));
        let from_above = cells.chunks_exact(*columns).rev().flatten().copied().collect();
        let size = (high.0 - low.0, low.1 - high.1);
        drawing.shapes.push(Shape::Cells((low.0, high.1), size, *columns, from_above));
    }

    fn axes(&self, drawing: &mut Drawing, frame: &Frame, font: &Font) {
        let Frame { left, right, top, bottom, .. } = *frame;
        let across = ((right - left) / 110.0) as usize;
        let picture = &self.picture;
        let [is_x, is_y] = [0, 1].map(|axis| !picture.names[axis].is_empty());
        for (value, text) in self.ticks_of_x(frame, across).into_iter().filter(|_| is_x) {
            let x = frame.place((value, frame.y.0)).0;
            if self.ground.is_none() {
                drawing.line((x, top), (x, bottom), 1.0, FAINT);
            }
            drawing.line((x, bottom), (x, bottom + 5.0), 1.0, QUIET);
            drawing.text((x, bottom + 19.0), SMALL, Anchor::Middle, QUIET, text);
        }
        let up = ((bottom - top) / 60.0) as usize;
        let ticks = if picture.degrees {
            axis::degrees(frame.y.0, frame.y.1, up, false)
        } else {
            axis::ticks(frame.y.0, frame.y.1, up)
        };
        for (value, text) in ticks.into_iter().filter(|_| is_y) {
            let y = frame.place((frame.x.0, value)).1;
            if self.ground.is_none() {
                drawing.line((left, y), (right, y), 1.0, FAINT);
            }
            drawing.line((left - 5.0, y), (left, y), 1.0, QUIET);
            drawing.text((left - 9.0, y + 4.0), SMALL, Anchor::End, QUIET, text);
        }
        for (from, _, gutter) in self.breaks() {
            let ends = [from, from + gutter].map(|x| frame.place((x, frame.y.0)).0);
            drawing.shapes.push(Shape::Rectangle((ends[0], top), (ends[1] - ends[0], bottom - top), WHITE));
            for x in ends {
                drawing.shapes.push(Shape::Lines(vec![(x, top), (x, bottom)], 1.0, QUIET, true));
            }
        }
        let corners = vec![(left, top), (left, bottom), (right, bottom), (right, top), (left, top)];
        drawing.shapes.push(Shape::Lines(corners, 1.0, QUIET, false));
        let name = |axis: usize, length: f64| font.fitting(&picture.names[axis], NAME, length);
        drawing.text((0.5 * (left + right), bottom + 42.0), NAME, Anchor::Middle, INK, name(0, right - left));
        let (at, words) = ((20.0, 0.5 * (top + bottom)), name(1, bottom - top));
        let (size, anchor, color) = (NAME, Anchor::Middle, INK);
        drawing.shapes.push(Shape::Text(Text { at, size, anchor, color, is_upright: true, has_halo: false, words }));
    }

    /// Returns the stretches of x that are left out: the position in the picture, the length left out, and the width of
    /// the gap.
    fn breaks(&self) -> Vec<(f64, f64, f64)> {
        let mut gone = 0.0;
        let drawn = self.picture.breaks.iter().map(|&(from, to, gutter)| {
            let at = from - gone;
            gone += to - from - gutter;
            (at, to - from - gutter, gutter)
        });
        drawn.collect()
    }

    /// Returns the ticks of the x axis. On a map, they are at longitudes outside the stretches that are left out, as in
    /// the report.
    fn ticks_of_x(&self, frame: &Frame, most: usize) -> Vec<axis::Tick> {
        if !self.picture.degrees {
            return axis::ticks(frame.x.0, frame.x.1, most);
        }
        let breaks = self.breaks();
        let gone: f64 = breaks.iter().map(|(_, longer, _)| longer).sum();
        let mut found = Vec::new();
        let ticks = axis::degrees(frame.x.0, frame.x.1 + gone, most * if gone > 0.0 { 3 } else { 1 }, true);
        for (longitude, text) in ticks {
            let mut place = Some(longitude);
            for (&(from, to, gutter), &(_, longer, _)) in self.picture.breaks.iter().zip(&breaks) {
                if longitude >= to {
                    place = place.map(|place| place - longer);
                } else if longitude > from - gutter {
                    place = None;
                }
            }
            let is_free =
                |place: &f64| breaks.iter().all(|(at, _, gutter)| *place < at - gutter || *place > at + 2.0 * gutter);
            found.extend(place.filter(is_free).map(|place| (place, text)));
        }
        found
    }

    fn radius(&self) -> f64 {
        match self.picture.points.len() {
            ..=500 => 3.2,
            501..=5_000 => 2.4,
            5_001..=50_000 => 1.6,
            _ => 1.1,
        }
    }

    /// Returns the points by colour, in the order of drawing: first points without a group, then the groups, largest
    /// first. With a colour scale: first points without a value, then the largest values.
    fn by_color(&self) -> Vec<(Color, Vec<usize>)> {
        let drawn = self.drawn().map(|(point, _)| point);
        let mut found: Vec<(Color, Vec<usize>)> = match &self.colors {
            Colors::Groups(of, names) => {
                let groups = of.iter().filter(|group| **group != NONE).max().map_or(0, |most| *most as usize + 1);
                let mut members = vec![Vec::new(); groups.max(names.len()) + 1];
                let last = members.len() - 1;
                drawn.for_each(|point| members[(of[point] as usize).min(last)].push(point));
                let color = |group| if group == last { NOTHING } else { cluster_color(group) };
                members.into_iter().enumerate().map(|(group, members)| (color(group), members)).collect()
            }
            Colors::Scale(_, values) => {
                let (low, high) = extent_of(values);
                let mut members = vec![Vec::new(); LEVELS as usize + 2];
                for point in drawn {
                    let level = (LEVELS * (values[point] - low) / (high - low)).round();
                    let at = if level.is_nan() { members.len() - 1 } else { level.clamp(0.0, LEVELS) as usize };
                    members[at].push(point);
                }
                let color = |at: usize| if at > LEVELS as usize { NOTHING } else { scale_color(at as f64 / LEVELS) };
                let levels = members.into_iter().enumerate().map(|(at, members)| (color(at), members));
                return levels.rev().filter(|(_, members)| !members.is_empty()).collect();
            }
        };
        found.retain(|(_, members)| !members.is_empty());
        found.sort_by_key(|(color, members)| (*color != NOTHING, std::cmp::Reverse(members.len())));
        found
    }

    fn points(&self, drawing: &mut Drawing, frame: &Frame) {
        let radius = self.radius();
        let has_rings = self.outliers() <= RINGED_MAX;
        let mut edges: Vec<Shape> = Vec::new();
        for (color, members) in self.by_color() {
            let (mut discs, mut rings) = (Vec::new(), Vec::new());
            // Points with the same colour and position are drawn once.
            let mut taken = HashSet::new();
            for point in members {
                let value = self.picture.points[point];
                if !frame.has(value) {
                    let (at, out) = at_edge(frame, value);
                    if taken.insert((true, (at.0 / 3.0) as i32, (at.1 / 3.0) as i32)) {
                        edges.push(Shape::Polygon(triangle(at, out), color));
                    }
                    continue;
                }
                let place = frame.place(value);
                if let Some(part) = self.radii.get(point) {
                    drawing.shapes.push(Shape::Discs(vec![place], 3.0 + 17.0 * part, color));
                } else if taken.insert((false, (2.0 * place.0) as i32, (2.0 * place.1) as i32)) {
                    discs.push(place);
                    if has_rings && self.is_out(point) {
                        rings.push(place);
                    }
                }
            }
            if self.ground.is_some() {
                // The white rings keep points visible on cells of about the same colour.
                drawing.shapes.push(Shape::Rings(discs.clone(), radius + 0.8, 1.2, WHITE));
            }
            drawing.shapes.push(Shape::Discs(discs, radius, color));
            if !rings.is_empty() {
                drawing.shapes.push(Shape::Rings(rings, radius + 2.5, 1.2, color));
            }
        }
        drawing.shapes.extend(edges);
    }

    fn outlines(&self, drawing: &mut Drawing, frame: &Frame) {
        const CORNERS: usize = 120;
        for (group, outline) in self.outlines.iter().enumerate() {
            let [xx, xy, yy] = outline.covariance;
            for (times, is_dashed) in [(1.0, false), (2.0, true)] {
                let color = cluster_color(group);
                if self.picture.names[1].is_empty() {
                    // With one column, the outline is two vertical lines.
                    for x in [-1.0, 1.0].map(|side| outline.mean.0 + side * times * xx.sqrt()) {
                        if frame.has((x, frame.y.0)) {
                            let ends = [(x, frame.y.0), (x, frame.y.1)].map(|end| frame.place(end));
                            drawing.shapes.push(Shape::Lines(ends.to_vec(), 1.5, color, is_dashed));
                        }
                    }
                    continue;
                }
                // The Cholesky factor maps a circle to the ellipse.
                let a = xx.max(0.0).sqrt();
                let b = if a > 0.0 { xy / a } else { 0.0 };
                let c = (yy - b * b).max(0.0).sqrt();
                let corner = |place: usize| {
                    let angle = std::f64::consts::TAU * place as f64 / CORNERS as f64;
                    let (x, y) = (times * libm::cos(angle), times * libm::sin(angle));
                    (outline.mean.0 + a * x, outline.mean.1 + b * x + c * y)
                };
                let corners: Vec<(f64, f64)> = (0..=CORNERS).map(corner).collect();
                for part in corners.split(|corner| !frame.has(*corner)).filter(|part| part.len() > 1) {
                    let part = part.iter().map(|corner| frame.place(*corner)).collect();
                    drawing.shapes.push(Shape::Lines(part, 1.5, color, is_dashed));
                }
            }
        }
    }

    fn centers(&self, drawing: &mut Drawing, frame: &Frame) {
        if self.center.is_empty() {
            return;
        }
        let centers = &self.picture.centers;
        for (group, center) in centers.iter().enumerate().filter(|(_, center)| frame.has(**center)) {
            let (x, y) = frame.place(*center);
            if centers.len() <= NUMBERED_MAX {
                let (at, size, words) = ((x, y + 5.0), 14.0, group.to_string());
                let (anchor, color) = (Anchor::Middle, INK);
                let text = Text { at, size, anchor, color, is_upright: false, has_halo: true, words };
                drawing.shapes.push(Shape::Text(text));
            } else {
                cross(drawing, (x, y));
            }
        }
    }

    /// Returns the entries of the legend. `beyond` is the number of points beyond the edge of the frame.
    fn legend(&self, beyond: usize) -> Vec<(Mark, String)> {
        let mut found = Vec::new();
        let Colors::Groups(of, names) = &self.colors else {
            return self.ground_in_legend().into_iter().collect();
        };
        for (group, name) in names.iter().enumerate().take(LEGEND_GROUPS) {
            found.push((Mark::Disc(cluster_color(group)), name.clone()));
        }
        if names.len() > LEGEND_GROUPS {
            let rest = names.len() - LEGEND_GROUPS;
            found.push((Mark::Nothing, format!("and {} more, colours again", grouped(rest as u64))));
        }
        let of_none = of.iter().filter(|group| **group == NONE).count();
        if of_none > 0 {
            found.push((Mark::Disc(NOTHING), format!("in none ({})", grouped(of_none as u64))));
        }
        match self.outliers() {
            0 => {}
            outliers @ ..=RINGED_MAX => found.push((Mark::Ring, counted(outliers as u64, "outlier"))),
            outliers => {
                found.push((Mark::Nothing, format!("{}, not ringed", counted(outliers as u64, "outlier"))));
            }
        }
        if beyond > 0 {
            found.push((Mark::Edge, format!("beyond the edge ({})", grouped(beyond as u64))));
        }
        if !self.center.is_empty() && self.picture.centers.len() > NUMBERED_MAX {
            found.push((Mark::Cross, self.center.to_owned()));
        }
        if !self.outlines.is_empty() {
            found.push((Mark::Line(false), "1 standard deviation".to_owned()));
            found.push((Mark::Line(true), "2 standard deviations".to_owned()));
        }
        found
    }

    fn ground_in_legend(&self) -> Option<(Mark, String)> {
        let ground = self.ground.as_ref()?;
        let deepest =
            ground.cells.iter().copied().min_by_key(|cell| cell.iter().map(|part| u32::from(*part)).sum::<u32>());
        Some((Mark::Square(deepest?), ground.meaning.clone()))
    }

    /// Draws the colour scale, if there is one. Returns the vertical position at which the legend begins.
    fn scale(&self, drawing: &mut Drawing, left: f64, font: &Font) -> f64 {
        let Colors::Scale(name, values) = &self.colors else { return TOP };
        let name = font.fitting(name, SMALL, LEGEND_MAX - 60.0);
        color_bar(drawing, (left, TOP), &name, extent_of(values), scale_color)
    }
}

/// Draws a colour bar with its ticks. Returns the vertical position of the bar's lower end.
fn color_bar(
    drawing: &mut Drawing,
    (left, top): (f64, f64),
    name: &str,
    (low, high): (f64, f64),
    color: impl Fn(f64) -> Color,
) -> f64 {
    const HEIGHT: f64 = 200.0;
    const WIDTH: f64 = 16.0;
    drawing.text((left, top + 10.0), SMALL, Anchor::Start, INK, name);
    let top = top + 22.0;
    let cells = (0..100).map(|cell| color((99 - cell) as f64 / 99.0)).collect();
    drawing.shapes.push(Shape::Cells((left, top), (WIDTH, HEIGHT), 1, cells));
    for (value, text) in axis::ticks(low, high, 5) {
        let y = top + HEIGHT * (high - value) / (high - low);
        drawing.line((left + WIDTH, y), (left + WIDTH + 4.0, y), 1.0, QUIET);
        drawing.text((left + WIDTH + 8.0, y + 4.0), SMALL, Anchor::Start, QUIET, text);
    }
    top + HEIGHT + 24.0
}

fn add_legend(drawing: &mut Drawing, (left, top): (f64, f64), legend: &[(Mark, String)], font: &Font) {
    // Lines that do not fit are left out.
    for (line, (mark, words)) in legend.iter().enumerate() {
        let y = top + 8.0 + 19.0 * line as f64;
        let x = left + 7.0;
        match mark {
            Mark::Disc(color) => drawing.shapes.push(Shape::Discs(vec![(x, y)], 5.0, *color)),
            Mark::Ring => {
                drawing.shapes.push(Shape::Discs(vec![(x, y)], 2.4, NOTHING));
                drawing.shapes.push(Shape::Rings(vec![(x, y)], 5.0, 1.2, NOTHING));
            }
            Mark::Edge => drawing.shapes.push(Shape::Polygon(triangle((x + 4.0, y), (1.0, 0.0)), NOTHING)),
            Mark::Cross => cross(drawing, (x, y)),
            Mark::Line(is_dashed) => {
                let ends = vec![(left - 3.0, y), (left + 17.0, y)];
                drawing.shapes.push(Shape::Lines(ends, 1.5, QUIET, *is_dashed));
            }
            Mark::Square(color) => drawing.shapes.push(Shape::Rectangle((x - 5.0, y - 5.0), (10.0, 10.0), *color)),
            Mark::Nothing => {}
        }
        let words = font.fitting(words, SMALL, SIZE.0 - left - 26.0);
        drawing.text((left + 22.0, y + 4.0), SMALL, Anchor::Start, INK, words);
    }
}

fn cross(drawing: &mut Drawing, (x, y): (f64, f64)) {
    for (width, color) in [(4.5, WHITE), (1.8, INK)] {
        drawing.line((x - 4.0, y - 4.0), (x + 4.0, y + 4.0), width, color);
        drawing.line((x - 4.0, y + 4.0), (x + 4.0, y - 4.0), width, color);
    }
}

fn is_within((x, y): (f64, f64), limits: [(f64, f64); 2]) -> bool {
    let [of_x, of_y] = limits;
    (of_x.0..=of_x.1).contains(&x) && (of_y.0..=of_y.1).contains(&y)
}

/// Returns the point of the edge that is nearest to a value beyond the edge, and the direction from the edge outwards.
fn at_edge(frame: &Frame, value: (f64, f64)) -> ((f64, f64), (f64, f64)) {
    let side = |value: f64, (low, high): (f64, f64)| f64::from(i8::from(value > high) - i8::from(value < low));
    let within = (value.0.clamp(frame.x.0, frame.x.1), value.1.clamp(frame.y.0, frame.y.1));
    let (x, y) = (side(value.0, frame.x), -side(value.1, frame.y));
    let length = (x * x + y * y).sqrt().max(1.0);
    (frame.place(within), (x / length, y / length))
}

/// Returns a triangle with its tip at `tip` that points in the direction `out`.
fn triangle(tip: (f64, f64), out: (f64, f64)) -> Vec<(f64, f64)> {
    let at = |back: f64, aside: f64| (tip.0 - back * out.0 - aside * out.1, tip.1 - back * out.1 + aside * out.0);
    vec![tip, at(9.0, 4.5), at(9.0, -4.5)]
}

/// Returns the smallest and the largest value with a margin. The two are never equal.
fn extent(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    if low > high {
        return (0.0, 1.0);
    }
    let margin = MARGIN * (high - low);
    let margin = if margin > 0.0 && margin.is_finite() { margin } else { 0.5 * low.abs().max(1.0) };
    (low - margin, high + margin)
}

/// Returns the smallest and the largest finite value.
fn extent_of(values: &[f64]) -> (f64, f64) {
    let known = values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = known.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), value| (a.min(value), b.max(value)));
    if low < high {
        (low, high)
    } else if low == high {
        (low - 0.5, low + 0.5)
    } else {
        (0.0, 1.0)
    }
}
