//! A picture in a separate file: shapes on a white background, written as SVG or PNG.
//!
//! Later shapes cover earlier shapes. Both writers draw the same shapes at the same positions and in the same colours.
//! The SVG files need no style sheet.

mod font;
mod png;
mod raster;
mod svg;

pub use font::Font;

/// A colour: red, green and blue, 0 to 255 each.
pub type Color = [u8; 3];

/// The colour of the background, and of the halo around text over points.
pub const WHITE: Color = [255, 255, 255];
/// The colour of text and axes.
pub const INK: Color = [0x1d, 0x23, 0x2a];
/// The colour of less important text.
pub const QUIET: Color = [0x56, 0x5d, 0x66];
/// The colour of guide lines.
pub const FAINT: Color = [0xe3, 0xe6, 0xea];
/// The colour of points without a cluster and of missing values, as in the viewer (`web/src/colour/palette.ts`).
pub const NOTHING: Color = [0x9a, 0xa1, 0xa9];

/// The colours of clusters on a light background, as in the viewer (`web/src/colour/palette.ts`).
const CLUSTERS: [u32; 20] = [
    0x447dc8, 0x721405, 0xc87e2d, 0x350aa6, 0x7307db, 0x9c470d, 0xa039f5, 0x610372, 0x5b8cf8, 0xb06018, 0x49489a,
    0x4164b2, 0x7a3a37, 0x988aab, 0x6a9b69, 0x717595, 0x594864, 0x8c695c, 0x49344e, 0x6d5b78,
];

/// Cividis (Nuñez, Anderton and Renslow 2018), a scale that people with and without colour blindness see alike.
const SCALE: [u32; 10] =
    [0x00224e, 0x123570, 0x3b496c, 0x575d6d, 0x707173, 0x8a8678, 0xa59c74, 0xc3b369, 0xe1cc55, 0xfee838];
/// The share of the scale that is used. The brightest colours are left out, because they would be hard to see on white.
const SCALE_USED: f64 = 0.86;

const fn color(rgb: u32) -> Color {
    [(rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8]
}

/// Returns the colour of a cluster; the colours repeat from the 21st cluster on.
pub fn cluster_color(cluster: usize) -> Color {
    color(CLUSTERS[cluster % CLUSTERS.len()])
}

/// Returns the colour of a number from 0 to 1, or [`NOTHING`] for NaN.
pub fn scale_color(value: f64) -> Color {
    if value.is_nan() {
        return NOTHING;
    }
    let place = SCALE_USED * value.clamp(0.0, 1.0) * (SCALE.len() - 1) as f64;
    let below = (place as usize).min(SCALE.len() - 2);
    let part = place - below as f64;
    mixed(color(SCALE[below]), color(SCALE[below + 1]), part)
}

/// Mixes two colours: returns `from` if `part` is 0, and `to` if it is 1.
pub fn mixed(from: Color, to: Color, part: f64) -> Color {
    std::array::from_fn(|at| (f64::from(from[at]) + (f64::from(to[at]) - f64::from(from[at])) * part).round() as u8)
}

/// The part of a text that is at its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The start of the text.
    Start,
    /// The middle of the text.
    Middle,
    /// The end of the text.
    End,
}

/// A text at a position on its baseline.
#[derive(Clone, Debug)]
pub struct Text {
    /// The position.
    pub at: (f64, f64),
    /// The font size.
    pub size: f64,
    /// The part of the text that is at the position.
    pub anchor: Anchor,
    /// The colour.
    pub color: Color,
    /// Whether the text runs upwards.
    pub is_upright: bool,
    /// Whether the text has a white halo, so that it is readable over points.
    pub has_halo: bool,
    /// The text.
    pub words: String,
}

/// A shape of a drawing.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A rectangle, given by its corner, its size and its colour.
    Rectangle((f64, f64), (f64, f64), Color),
    /// A polyline, given by its points, its width, its colour, and whether it is dashed.
    Lines(Vec<(f64, f64)>, f64, Color, bool),
    /// A filled polygon.
    Polygon(Vec<(f64, f64)>, Color),
    /// Slightly translucent discs of the same radius and colour.
    Discs(Vec<(f64, f64)>, f64, Color),
    /// Circles of the same radius, given by their centres, the radius, the line width and the colour.
    Rings(Vec<(f64, f64)>, f64, f64, Color),
    /// A text.
    Text(Text),
    /// Coloured cells over a rectangle, given by its corner, its size, the number of columns, and the colours, row by
    /// row from the top.
    Cells((f64, f64), (f64, f64), usize, Vec<Color>),
}

/// The opacity of a disc.
const COVERS: f64 = 0.8;
/// The length of a dash, and of a gap between dashes, in units of the drawing.
const DASH: f64 = 5.0;

/// A file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A vector image: shapes and text stay sharp.
    Svg,
    /// A raster image with two pixels for each unit of the drawing.
    Png,
}

impl Format {
    /// Returns the format for a file name's extension.
    pub fn of(extension: &str) -> Option<Self> {
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Some(Format::Svg),
            "png" => Some(Format::Png),
            _ => None,
        }
    }

    /// Returns whether a file with these first bytes is a drawing that Lehr wrote.
    pub fn is_ours(self, head: &[u8]) -> bool {
        match self {
            Format::Svg => head.starts_with(svg::HEAD.as_bytes()),
            Format::Png => png::is_ours(head),
        }
    }
}

/// A picture.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The width and height, in units of the drawing.
    pub size: (f64, f64),
    /// A description for readers who cannot see the picture.
    pub title: String,
    /// The shapes, from bottom to top.
    pub shapes: Vec<Shape>,
}

impl Drawing {
    /// Returns the file's bytes.
    pub fn bytes(&self, format: Format) -> Vec<u8> {
        match format {
            Format::Svg => svg::text(self).into_bytes(),
            Format::Png => raster::png(self),
        }
    }

    /// Adds a text that runs from left to right.
    pub fn text(&mut self, at: (f64, f64), size: f64, anchor: Anchor, color: Color, words: impl Into<String>) {
        let text = Text { at, size, anchor, color, is_upright: false, has_halo: false, words: words.into() };
        self.shapes.push(Shape::Text(text));
    }

    /// Adds a line between two points.
    pub fn line(&mut self, from: (f64, f64), to: (f64, f64), width: f64, color: Color) {
        self.shapes.push(Shape::Lines(vec![from, to], width, color, false));
    }
}

/// Cuts a line into dashes.
fn dashes(points: &[(f64, f64)]) -> Vec<Vec<(f64, f64)>> {
    let mut found = Vec::new();
    let mut dash = points.first().map(|first| vec![*first]);
    let mut left = DASH;
    for pair in points.windows(2) {
        let ((mut x, mut y), (to_x, to_y)) = (pair[0], pair[1]);
        loop {
            let length = ((to_x - x) * (to_x - x) + (to_y - y) * (to_y - y)).sqrt();
            if length <= left {
                left -= length;
                dash.iter_mut().for_each(|dash| dash.push((to_x, to_y)));
                break;
            }
            (x, y) = (x + (to_x - x) * left / length, y + (to_y - y) * left / length);
            left = DASH;
            dash = match dash.take() {
                Some(mut dash) => {
                    dash.push((x, y));
                    found.push(dash);
                    None
                }
                None => Some(vec![(x, y)]),
            };
        }
    }
    found.extend(dash.filter(|dash| dash.len() > 1));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_dashed_from_its_beginning() {
        let found = dashes(&[(0.0, 0.0), (12.0, 0.0), (12.0, 6.0)]);
        assert_eq!(found[0], [(0.0, 0.0), (5.0, 0.0)]);
        assert_eq!(found[1], [(10.0, 0.0), (12.0, 0.0), (12.0, 3.0)]);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn the_scale_has_its_ends_and_a_colour_for_what_is_missing() {
        assert_eq!(scale_color(0.0), [0, 0x22, 0x4e]);
        assert_eq!(scale_color(f64::NAN), NOTHING);
        assert_ne!(scale_color(1.0), scale_color(0.9));
        assert_eq!(cluster_color(20), cluster_color(0));
    }

    #[test]
    fn a_format_knows_its_files() {
        let drawing = Drawing { size: (4.0, 4.0), title: "nothing".into(), shapes: Vec::new() };
        for (name, other) in [("svg", "png"), ("PNG", "svg")] {
            let (format, other) = (Format::of(name).unwrap(), Format::of(other).unwrap());
            let bytes = drawing.bytes(format);
            assert!(format.is_ours(&bytes) && !other.is_ours(&bytes));
        }
        assert_eq!(Format::of("pdf"), None);
    }
}
