//! Writes a drawing as SVG. Text stays text, and cells become an embedded image.

use std::fmt::Write;

use super::{Anchor, COVERS, Color, DASH, Drawing, Shape, Text, WHITE, png};
use crate::packed::base64;

/// The first bytes of every SVG that Lehr writes.
pub(super) const HEAD: &str = "<!-- a figure of lehr -->\n<svg ";

/// The fonts of texts, which are not wider than the font with which Lehr measures text.
const FONTS: &str = "DejaVu Sans, Verdana, Helvetica, Arial, sans-serif";

/// Returns the whole file.
pub(super) fn text(drawing: &Drawing) -> String {
    let (width, height) = drawing.size;
    let mut text = format!(
        "{HEAD}xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"{FONTS}\" role=\"img\">\n<title>{}</title>\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n",
        escaped(&drawing.title)
    );
    for shape in &drawing.shapes {
        add(&mut text, shape).expect("a text takes all");
    }
    text + "</svg>\n"
}

fn hex([red, green, blue]: Color) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            // XML cannot contain these characters.
            letter if letter < ' ' || letter == '\u{fffe}' || letter == '\u{ffff}' => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// Formats a number with up to two decimals, without trailing zeros.
fn short(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn points(of: &[(f64, f64)]) -> String {
    of.iter().map(|(x, y)| format!("{},{}", short(*x), short(*y))).collect::<Vec<_>>().join(" ")
}

fn add(text: &mut String, shape: &Shape) -> std::fmt::Result {
    match shape {
        Shape::Rectangle((x, y), (width, height), color) => writeln!(
            text,
            "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"/>",
            short(*x),
            short(*y),
            short(*width),
            short(*height),
            hex(*color)
        ),
        Shape::Lines(of, width, color, is_dashed) => {
            let dashes = if *is_dashed { format!(" stroke-dasharray=\"{DASH}\"") } else { String::new() };
            let (points, color) = (points(of), hex(*color));
            writeln!(
                text,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"{dashes}/>"
            )
        }
        Shape::Polygon(of, color) => writeln!(text, "<polygon points=\"{}\" fill=\"{}\"/>", points(of), hex(*color)),
        Shape::Discs(of, radius, color) => {
            writeln!(text, "<g fill=\"{}\" fill-opacity=\"{COVERS}\">", hex(*color))?;
            circles(text, of, *radius)
        }
        Shape::Rings(of, radius, width, color) => {
            writeln!(text, "<g fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\">", hex(*color))?;
            circles(text, of, *radius)
        }
        Shape::Text(words) => add_words(text, words),
        Shape::Cells((x, y), (width, height), columns, cells) => writeln!(
            text,
            "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" \
             href=\"data:image/png;base64,{}\"/>",
            short(*x),
            short(*y),
            short(*width),
            short(*height),
            base64(&png::encoded(*columns, &cells.concat()))
        ),
    }
}

/// Writes the circles of a group, and closes the group.
fn circles(text: &mut String, of: &[(f64, f64)], radius: f64) -> std::fmt::Result {
    for (x, y) in of {
        writeln!(text, "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>", short(*x), short(*y), short(radius))?;
    }
    writeln!(text, "</g>")
}

fn add_words(text: &mut String, words: &Text) -> std::fmt::Result {
    let Text { at: (x, y), size, anchor, color, is_upright, has_halo, words } = words;
    let (x, y) = (short(*x), short(*y));
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    write!(text, "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"{anchor}\" fill=\"{}\"", hex(*color))?;
    if *is_upright {
        write!(text, " transform=\"rotate(-90 {x} {y})\"")?;
    }
    if *has_halo {
        write!(text, " stroke=\"{}\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"", hex(WHITE))?;
    }
    writeln!(text, ">{}</text>", escaped(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_escaped_and_coordinates_are_short() {
        assert_eq!(escaped("a<b & c\u{7}"), "a&lt;b &amp; c\u{fffd}");
        assert_eq!([short(3.0), short(0.126), short(-2.5)], ["3", "0.13", "-2.5"]);
    }
}
