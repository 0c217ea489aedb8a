//! Renders a drawing as a raster image.
//! For each pixel, this module computes the share of the pixel that a shape covers. For discs, rings and lines, the
//! share follows from the distance between pixel and shape. For polygons and letters, it follows from the points where
//! a few horizontal lines through the pixel cross the outlines. The module uses only operations that round in the same
//! way on every machine, so the image is bit-identical.

use super::{Anchor, COVERS, Color, Drawing, Font, Shape, Text, WHITE, dashes, png};

/// The number of pixels for each unit of a drawing, along each axis.
const FINE: f64 = 2.0;
/// The number of horizontal lines through a pixel from which the covered share of polygons is computed.
const LINES: usize = 5;
/// The width of a halo around letters, in pixels.
const HALO: f64 = 3.0;

/// Returns the bytes of the PNG file.
pub(super) fn png(drawing: &Drawing) -> Vec<u8> {
    let [width, height] = [drawing.size.0, drawing.size.1].map(|length| (length * FINE).round() as usize);
    let mut image = Image { width, height, pixels: vec![255; 3 * width * height], font: Font::default() };
    for shape in &drawing.shapes {
        image.draw(shape);
    }
    png::encoded(width, &image.pixels)
}

type Places = Vec<(f64, f64)>;

struct Image {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
    font: Font,
}

/// Converts positions from units of the drawing to pixels.
fn finer(points: &[(f64, f64)]) -> Places {
    points.iter().map(|(x, y)| (x * FINE, y * FINE)).collect()
}

impl Image {
    fn draw(&mut self, shape: &Shape) {
        match shape {
            Shape::Rectangle((x, y), (width, height), color) => {
                self.fill(&[finer(&[(*x, *y), (x + width, *y), (x + width, y + height), (*x, y + height)])], *color);
            }
            Shape::Lines(points, width, color, false) => self.lines(&finer(points), width * FINE, *color),
            Shape::Lines(points, width, color, true) => {
                for dash in dashes(points) {
                    self.lines(&finer(&dash), width * FINE, *color);
                }
            }
            Shape::Polygon(points, color) => self.fill(&[finer(points)], *color),
            Shape::Discs(places, radius, color) => {
                let radius = radius * FINE;
                for (x, y) in finer(places) {
                    self.around((x, y), radius, *color, |distance| COVERS * (radius - distance + 0.5).clamp(0.0, 1.0));
                }
            }
            Shape::Rings(places, radius, width, color) => {
                let (radius, half) = (radius * FINE, 0.5 * width * FINE);
                for (x, y) in finer(places) {
                    let cover = |distance: f64| (half - (distance - radius).abs() + 0.5).clamp(0.0, 1.0);
                    self.around((x, y), radius + half, *color, cover);
                }
            }
            Shape::Text(text) => self.text(text),
            Shape::Cells(at, size, columns, cells) => self.cells(*at, *size, *columns, cells),
        }
    }

    /// Blends a colour into a pixel. The shape covers the share `part` of the pixel.
    fn cover(&mut self, x: usize, y: usize, color: Color, part: f64) {
        let at = 3 * (y * self.width + x);
        for (pixel, color) in self.pixels[at..at + 3].iter_mut().zip(color) {
            *pixel = (f64::from(*pixel) + (f64::from(color) - f64::from(*pixel)) * part).round() as u8;
        }
    }

    /// Returns the columns and rows of the pixels between two corners.
    fn pixels_of(&self, from: (f64, f64), to: (f64, f64)) -> [std::ops::Range<usize>; 2] {
        let range = |low: f64, high: f64, most: usize| {
            let [low, high] = [low.floor(), high.ceil()].map(|end| end.clamp(0.0, most as f64) as usize);
            low..high.max(low)
        };
        [range(from.0, to.0, self.width), range(from.1, to.1, self.height)]
    }

    /// Covers the pixels around a position. `part` returns the covered share for the distance of a pixel.
    fn around(&mut self, (x, y): (f64, f64), radius: f64, color: Color, part: impl Fn(f64) -> f64) {
        let reach = radius + 1.0;
        let [columns, rows] = self.pixels_of((x - reach, y - reach), (x + reach, y + reach));
        for row in rows {
            for column in columns.clone() {
                let (dx, dy) = (column as f64 + 0.5 - x, row as f64 + 0.5 - y);
                let part = part((dx * dx + dy * dy).sqrt());
                if part > 0.0 {
                    self.cover(column, row, color, part);
                }
            }
        }
    }

    /// Draws a polyline. A pixel where two segments meet is covered only once.
    fn lines(&mut self, points: &[(f64, f64)], width: f64, color: Color) {
        let reach = 0.5 * width + 1.0;
        let least = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).fold(f64::INFINITY, f64::min) - reach;
        let most = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).fold(f64::NEG_INFINITY, f64::max) + reach;
        let [columns, rows] = self.pixels_of((least(|p| p.0), least(|p| p.1)), (most(|p| p.0), most(|p| p.1)));
        let across = columns.len();
        let mut parts = vec![0.0f64; across * rows.len()];
        for ends in points.windows(2) {
            let (a, b) = (ends[0], ends[1]);
            let low = (a.0.min(b.0) - reach, a.1.min(b.1) - reach);
            let [inner, own] = self.pixels_of(low, (a.0.max(b.0) + reach, a.1.max(b.1) + reach));
            for row in own {
                for column in inner.clone() {
                    let distance = distance((column as f64 + 0.5, row as f64 + 0.5), a, b);
                    let part = &mut parts[(row - rows.start) * across + column - columns.start];
                    *part = part.max((0.5 * width - distance + 0.5).clamp(0.0, 1.0));
                }
            }
        }
        for (place, part) in parts.into_iter().enumerate().filter(|(_, part)| *part > 0.0) {
            self.cover(columns.start + place % across, rows.start + place / across, color, part);
        }
    }

    /// Fills the area inside closed outlines.
    fn fill(&mut self, outlines: &[Places], color: Color) {
        for (column, row, part) in self.covered(outlines) {
            self.cover(column, row, color, part);
        }
    }

    /// Returns the column and the row of each pixel that lies at least partly inside closed outlines, and the share
    /// inside.
    fn covered(&self, outlines: &[Places]) -> Vec<(usize, usize, f64)> {
        let places = || outlines.iter().flatten();
        let low = places().fold((f64::INFINITY, f64::INFINITY), |(x, y), p| (x.min(p.0), y.min(p.1)));
        let high = places().fold((f64::NEG_INFINITY, f64::NEG_INFINITY), |(x, y), p| (x.max(p.0), y.max(p.1)));
        let [columns, rows] = self.pixels_of(low, high);
        let mut found = Vec::new();
        let mut parts = vec![0.0; columns.len()];
        let mut crossings: Vec<(f64, i32)> = Vec::new();
        for row in rows {
            parts.fill(0.0);
            for line in 0..LINES {
                let y = row as f64 + (line as f64 + 0.5) / LINES as f64;
                crossings.clear();
                for outline in outlines {
                    let next = outline.iter().cycle().skip(1);
                    for ((x0, y0), (x1, y1)) in outline.iter().zip(next) {
                        if (*y0 <= y) != (*y1 <= y) {
                            let x = x0 + (y - y0) * (x1 - x0) / (y1 - y0);
                            crossings.push((x, if y1 > y0 { 1 } else { -1 }));
                        }
                    }
                }
                crossings.sort_by(|a, b| a.0.total_cmp(&b.0));
                let mut winds = 0;
                for pair in crossings.windows(2) {
                    winds += pair[0].1;
                    if winds != 0 {
                        within(&mut parts, columns.start as f64, pair[0].0, pair[1].0);
                    }
                }
            }
            let whole = 1.0 / LINES as f64;
            let of_row = parts.iter().enumerate().filter(|(_, part)| **part > 0.0);
            found.extend(of_row.map(|(place, part)| (columns.start + place, row, (part * whole).min(1.0))));
        }
        found
    }

    fn text(&mut self, text: &Text) {
        let Text { at, size, anchor, color, is_upright, has_halo, words } = text;
        let length = self.font.width(words, *size);
        let back = match anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => 0.5 * length,
            Anchor::End => length,
        };
        let placed = |(x, y): (f64, f64)| {
            let (along, down) = (x - back, y);
            let (x, y) = if *is_upright { (at.0 + down, at.1 - along) } else { (at.0 + along, at.1 + down) };
            (x * FINE, y * FINE)
        };
        let outlines: Vec<Places> = self
            .font
            .outlines(words, *size)
            .into_iter()
            .map(|outline| outline.into_iter().map(placed).collect())
            .collect();
        if *has_halo {
            for outline in &outlines {
                let closed: Places = outline.iter().chain(outline.first()).copied().collect();
                self.lines(&closed, 2.0 * HALO, WHITE);
            }
        }
        self.fill(&outlines, *color);
    }

    /// Draws coloured cells. Each pixel takes the colour of the cell that contains the centre of the pixel.
    fn cells(&mut self, at: (f64, f64), size: (f64, f64), columns: usize, cells: &[Color]) {
        let count = cells.len() / columns;
        let [from, size] = [at, size].map(|(x, y)| (x * FINE, y * FINE));
        let [across, down] = self.pixels_of(from, (from.0 + size.0, from.1 + size.1));
        for row in down {
            for column in across.clone() {
                let cell = |place: usize, from: f64, size: f64, count: usize| {
                    ((place as f64 + 0.5 - from) / size * count as f64).clamp(0.0, count as f64 - 1.0) as usize
                };
                let (x, y) = (cell(column, from.0, size.0, columns), cell(row, from.1, size.1, count));
                self.cover(column, row, cells[y * columns + x], 1.0);
            }
        }
    }
}

/// Adds, for each pixel in a row, the share that lies between two positions. The first pixel begins at `start`.
fn within(parts: &mut [f64], start: f64, from: f64, to: f64) {
    let (from, to) = (from - start, to - start);
    let last = (to.ceil().max(0.0) as usize).min(parts.len());
    for (place, part) in parts[..last].iter_mut().enumerate().skip(from.max(0.0) as usize) {
        *part += (to.min(place as f64 + 1.0) - from.max(place as f64)).max(0.0);
    }
}

/// Returns the distance of a point from a line segment.
fn distance(place: (f64, f64), a: (f64, f64), b: (f64, f64)) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let squared = dx * dx + dy * dy;
    let along = ((place.0 - a.0) * dx + (place.1 - a.1) * dy) / squared.max(f64::MIN_POSITIVE);
    let along = along.clamp(0.0, 1.0);
    let (x, y) = (place.0 - a.0 - along * dx, place.1 - a.1 - along * dy);
    (x * x + y * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(side: usize) -> Image {
        Image { width: side, height: side, pixels: vec![255; 3 * side * side], font: Font::default() }
    }

    fn ink(image: &Image) -> f64 {
        image.pixels.iter().map(|pixel| f64::from(255 - pixel)).sum::<f64>() / (3.0 * 255.0)
    }

    #[test]
    fn shapes_cover_as_many_pixels_as_their_areas() {
        let black = [0; 3];
        let mut drawn = image(40);
        drawn.fill(&[vec![(5.25, 5.0), (15.5, 5.0), (15.5, 20.0), (5.25, 20.0)]], black);
        assert!((ink(&drawn) - 10.25 * 15.0).abs() < 1.0, "{}", ink(&drawn));
        let mut drawn = image(40);
        drawn.draw(&Shape::Rings(vec![(10.0, 10.0)], 6.0, 1.0, black));
        // In pixels, the ring has the radius 12 and the width 2.
        assert!((ink(&drawn) - std::f64::consts::TAU * 12.0 * 2.0).abs() < 3.0, "{}", ink(&drawn));
        let mut drawn = image(40);
        drawn.draw(&Shape::Lines(vec![(2.0, 5.0), (15.0, 5.0), (15.0, 15.0)], 1.0, black, false));
        assert!((ink(&drawn) - 46.0 * 2.0).abs() < 6.0, "{}", ink(&drawn));
    }

    #[test]
    fn a_hole_in_an_outline_stays_white() {
        let square = |low: f64, high: f64| vec![(low, low), (high, low), (high, high), (low, high)];
        let mut drawn = image(20);
        let hole: Places = square(6.0, 14.0).into_iter().rev().collect();
        drawn.fill(&[square(2.0, 18.0), hole], [0; 3]);
        assert!((ink(&drawn) - (256.0 - 64.0)).abs() < 1e-9, "{}", ink(&drawn));
    }

    #[test]
    fn shapes_that_reach_beyond_the_picture_are_cut() {
        let mut drawn = image(10);
        drawn.draw(&Shape::Discs(vec![(-1.0, 2.0), (50.0, 50.0)], 3.0, [0; 3]));
        drawn.draw(&Shape::Rectangle((4.0, 4.0), (10.0, 10.0), [0; 3]));
        assert_eq!(&drawn.pixels[3 * 99..], [0; 3]);
        let (at, size) = ((0.0, 0.0), (5.0, 2.5));
        drawn.cells(at, size, 2, &[[1; 3], [2; 3]]);
        assert_eq!((drawn.pixels[0], drawn.pixels[3 * 9]), (1, 2));
    }
}
