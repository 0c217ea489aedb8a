//! Draws the dissimilarities of all pairs, in the order of the clusters, as a [`Drawing`].

use super::{BOTTOM, LEGEND_GROUPS, LEGEND_MAX, Mark, NAME, NOTE, SIZE, SMALL, TITLE, TOP, add_legend, color_bar};
use crate::drawing::{Anchor, Drawing, Font, INK, NOTHING, QUIET, Shape, WHITE, cluster_color, mixed};
use crate::heat::Heat;

/// The colour of the dissimilarity 0. Larger dissimilarities are lighter.
const NEAR: [u8; 3] = [0x0b, 0x2a, 0x4a];
/// The width of the bars beside the matrix that mark the clusters.
const BAR: f64 = 8.0;

fn shade(share: f64) -> [u8; 3] {
    mixed(NEAR, WHITE, share.clamp(0.0, 1.0))
}

/// Draws the dissimilarities. `names` has a short description of each cluster.
pub fn draw(title: &str, note: &str, heat: &Heat, names: &[String]) -> Drawing {
    let font = Font::default();
    let mut drawing = Drawing { size: SIZE, title: title.to_owned(), shapes: Vec::new() };
    let side = SIZE.1 - TOP - BOTTOM - BAR;
    let left = SIZE.0 - LEGEND_MAX - side - 36.0;
    let top = TOP + BAR + 4.0;
    drawing.text((left - BAR, 30.0), TITLE, Anchor::Start, INK, font.fitting(title, TITLE, SIZE.0 - left));
    let cell = |level: &Option<f64>| match level {
        Some(_) if heat.largest == 0.0 => shade(0.0),
        Some(level) => shade(level / heat.largest),
        None => NOTHING,
    };
    let cells = heat.levels.iter().map(cell).collect();
    drawing.shapes.push(Shape::Cells((left, top), (side, side), heat.cells, cells));
    for block in &heat.blocks {
        let [from, to] = [block.from, block.to].map(|share| share * side);
        let color = cluster_color(block.cluster);
        drawing.shapes.push(Shape::Rectangle((left - BAR - 3.0, top + from), (BAR, to - from), color));
        drawing.shapes.push(Shape::Rectangle((left + from, top - BAR - 3.0), (to - from, BAR), color));
        if to - from >= SMALL {
            let middle = top + 0.5 * (from + to) + 4.0;
            drawing.text((left - BAR - 9.0, middle), SMALL, Anchor::End, INK, block.cluster.to_string());
        }
        if from > 0.0 {
            for (a, b) in
                [((left + from, top), (left + from, top + side)), ((left, top + from), (left + side, top + from))]
            {
                drawing.line(a, b, 0.6, WHITE);
            }
        }
    }
    drawing.text((left + 0.5 * side, top + side + 22.0), NAME, Anchor::Middle, INK, "items, by cluster");
    drawing.text((left, top + side + 42.0), NOTE, Anchor::Start, QUIET, note);
    let right = left + side + 24.0;
    let largest = if heat.largest > 0.0 { heat.largest } else { 1.0 };
    let below = color_bar(&mut drawing, (right, TOP), "dissimilarity", (0.0, largest), shade);
    let room = ((SIZE.1 - below) / 19.0) as usize - 1;
    let shown = names.len().min(LEGEND_GROUPS).min(room);
    let mut legend: Vec<(Mark, String)> = names
        .iter()
        .enumerate()
        .take(shown)
        .map(|(group, name)| (Mark::Disc(cluster_color(group)), name.clone()))
        .collect();
    if names.len() > shown {
        legend.pop();
        legend.push((Mark::Nothing, format!("and {} more", names.len() - legend.len())));
    }
    add_legend(&mut drawing, (right, below), &legend, &font);
    drawing
}
