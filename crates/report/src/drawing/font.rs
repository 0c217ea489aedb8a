//! The font for raster images: DejaVu Sans, reduced to Latin, Greek and Cyrillic letters and the symbols that figures
//! use (`font/README.md`). Characters outside this set are drawn as empty boxes.

use ttf_parser::{Face, GlyphId, OutlineBuilder};

const BYTES: &[u8] = include_bytes!("../../font/DejaVuSans-subset.ttf");

/// The number of line segments that approximate each curve in the outline of a letter.
const STEPS: usize = 6;

/// The font in which Lehr measures and draws text.
pub struct Font(Face<'static>);

impl Default for Font {
    fn default() -> Self {
        Self(Face::parse(BYTES, 0).expect("the font is part of the program"))
    }
}

impl std::fmt::Debug for Font {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Font")
    }
}

impl Font {
    fn glyph(&self, letter: char) -> GlyphId {
        self.0.glyph_index(letter).unwrap_or(GlyphId(0))
    }

    fn advance(&self, glyph: GlyphId) -> f64 {
        f64::from(self.0.glyph_hor_advance(glyph).unwrap_or_default()) / f64::from(self.0.units_per_em())
    }

    /// Returns the width of a text at a font size.
    pub fn width(&self, text: &str, size: f64) -> f64 {
        text.chars().map(|letter| self.advance(self.glyph(letter))).sum::<f64>() * size
    }

    /// Shortens a text to the width `length`. A shortened text ends with `…`.
    pub fn fitting(&self, text: &str, size: f64, length: f64) -> String {
        if self.width(text, size) <= length {
            return text.to_owned();
        }
        let mut kept = text.to_owned();
        while !kept.is_empty() && self.width(&kept, size) + self.width("…", size) > length {
            kept.pop();
        }
        kept.truncate(kept.trim_end().len());
        kept + "…"
    }

    /// Breaks a text between words into lines of at most the width `length`, if no single word is wider.
    pub fn wrapped(&self, text: &str, size: f64, length: f64) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for word in text.split_whitespace() {
            match lines.last_mut() {
                Some(line) if self.width(line, size) + self.width(&format!(" {word}"), size) <= length => {
                    line.push(' ');
                    line.push_str(word);
                }
                _ => lines.push(word.to_owned()),
            }
        }
        lines
    }

    /// Returns the outlines of a text's letters as closed polygons, relative to the start of the baseline: x to the
    /// right, y downwards.
    pub(super) fn outlines(&self, text: &str, size: f64) -> Vec<Vec<(f64, f64)>> {
        let scale = size / f64::from(self.0.units_per_em());
        let mut outlines = Outlines { scale, origin: 0.0, found: Vec::new() };
        for letter in text.chars() {
            let glyph = self.glyph(letter);
            self.0.outline_glyph(glyph, &mut outlines);
            outlines.origin += self.advance(glyph) * size;
        }
        outlines.found
    }
}

struct Outlines {
    scale: f64,
    origin: f64,
    found: Vec<Vec<(f64, f64)>>,
}

impl Outlines {
    fn place(&self, x: f32, y: f32) -> (f64, f64) {
        (self.origin + f64::from(x) * self.scale, -f64::from(y) * self.scale)
    }

    fn last(&mut self) -> &mut Vec<(f64, f64)> {
        self.found.last_mut().expect("an outline begins with a move")
    }

    fn curve(&mut self, of: impl Fn((f64, f64), f64) -> (f64, f64)) {
        let points = self.last();
        let from = points[points.len() - 1];
        points.extend((1..=STEPS).map(|step| of(from, step as f64 / STEPS as f64)));
    }
}

impl OutlineBuilder for Outlines {
    fn move_to(&mut self, x: f32, y: f32) {
        let place = self.place(x, y);
        self.found.push(vec![place]);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let place = self.place(x, y);
        self.last().push(place);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (a, b) = (self.place(x1, y1), self.place(x, y));
        self.curve(|from, t| {
            let s = 1.0 - t;
            let along = |from: f64, a: f64, b: f64| s * s * from + 2.0 * s * t * a + t * t * b;
            (along(from.0, a.0, b.0), along(from.1, a.1, b.1))
        });
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (a, b, c) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.curve(|from, t| {
            let s = 1.0 - t;
            let along = |from: f64, a: f64, b: f64, c: f64| {
                s * s * s * from + 3.0 * s * s * t * a + 3.0 * s * t * t * b + t * t * t * c
            };
            (along(from.0, a.0, b.0, c.0), along(from.1, a.1, b.1, c.1))
        });
    }

    fn close(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_many_languages_have_outlines_of_their_own() {
        let font = Font::default();
        let box_of_none = font.outlines("\u{4e00}", 10.0);
        for letter in "aÄßłμЖ−°²…".chars() {
            let outlines = font.outlines(&letter.to_string(), 10.0);
            assert!(!outlines.is_empty() && outlines != box_of_none, "{letter}");
        }
    }

    #[test]
    fn a_text_is_cut_to_a_length_and_wrapped_between_words() {
        let font = Font::default();
        let cut = font.fitting("high revenue, low visits", 12.0, 80.0);
        assert!(cut.ends_with('…') && cut.starts_with("high") && font.width(&cut, 12.0) <= 80.0, "{cut}");
        assert_eq!(font.fitting("short", 12.0, 80.0), "short");
        let lines = font.wrapped("one two three four", 12.0, 60.0);
        assert!(lines.len() > 1 && lines.iter().all(|line| font.width(line, 12.0) <= 60.0), "{lines:?}");
    }
}
