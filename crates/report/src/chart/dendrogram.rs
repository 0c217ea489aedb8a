//! Draws a tree of items as a [`Drawing`]: the items below each other, heights from right to left.

use super::{BOTTOM, LEGEND_MAX, NAME, NOTE, SIZE, SMALL, TITLE, TOP, axis};
use crate::dendrogram::Dendrogram;
use crate::drawing::{Anchor, Drawing, FAINT, Font, INK, QUIET, Shape, cluster_color};

/// The width of the names beside the tree.
const NAMES: f64 = LEGEND_MAX;

/// The distance between two items, if there are many and if there are few.
const LINES: (f64, f64) = (15.0, 36.0);

/// Draws a dendrogram. The drawing is as high as its items need.
pub fn draw(title: &str, note: &str, tree: &Dendrogram) -> Drawing {
    let font = Font::default();
    let line = ((SIZE.1 - TOP - BOTTOM) / tree.leaves.len() as f64).clamp(LINES.0, LINES.1);
    let (left, right) = (36.0, SIZE.0 - NAMES);
    let (top, bottom) = (TOP, TOP + line * tree.leaves.len() as f64);
    let mut drawing = Drawing { size: (SIZE.0, bottom + BOTTOM), title: title.to_owned(), shapes: Vec::new() };
    drawing.text((left, 30.0), TITLE, Anchor::Start, INK, font.fitting(title, TITLE, SIZE.0 - 2.0 * left));
    let highest = tree.joins.last().map_or(0.0, |join| join.height);
    let highest = if highest > 0.0 { highest } else { 1.0 };
    let across = |height: f64| right - (right - left) * height / highest;
    let down = |leaf: usize| top + line * (leaf as f64 + 0.5);
    for (tick, label) in axis::ticks(0.0, highest, 6) {
        drawing.line((across(tick), top), (across(tick), bottom), 0.6, FAINT);
        drawing.text((across(tick), bottom + 16.0), SMALL, Anchor::Middle, QUIET, label);
    }
    drawing.text((0.5 * (left + right), bottom + 34.0), NAME, Anchor::Middle, INK, "height");
    drawing.text((left, bottom + 52.0), NOTE, Anchor::Start, QUIET, note);
    if let Some(cut) = tree.cut {
        drawing.shapes.push(Shape::Lines(vec![(across(cut), top), (across(cut), bottom)], 1.0, QUIET, true));
    }
    let color = |cluster: Option<u32>| cluster.map_or(INK, |cluster| cluster_color(cluster as usize));
    let mut places: Vec<(f64, f64)> = (0..tree.leaves.len()).map(|leaf| (right, down(leaf))).collect();
    for join in &tree.joins {
        let ((x1, y1), (x2, y2), x) = (places[join.left], places[join.right], across(join.height));
        drawing.shapes.push(Shape::Lines(vec![(x1, y1), (x, y1), (x, y2), (x2, y2)], 1.2, color(join.cluster), false));
        places.push((x, 0.5 * (y1 + y2)));
    }
    for (place, leaf) in tree.leaves.iter().enumerate() {
        let words = font.fitting(&leaf.name, NOTE, NAMES - 16.0);
        drawing.text((right + 8.0, down(place) + 0.35 * NOTE), NOTE, Anchor::Start, color(leaf.cluster), words);
    }
    drawing
}
