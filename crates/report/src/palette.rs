//! Colours for clusters: far apart to the eye, and furthest apart where clusters are neighbours.
//!
//! Colours are chosen in OKLab (Ottosson 2020), where equal distances look about equally different: lightness is kept
//! in a band that stands out from the page (one band for light pages, one for dark), chroma is high, and the set is
//! grown by always adding the candidate furthest from those already taken. Which cluster gets which colour is then
//! decided by where the clusters lie: swapping colours until close neighbours differ most. Both steps are functions
//! of their arguments, so a report has the same colours each time.
//!
//! Deliberately absent: a list of hand-picked colours. They run out at ten or twelve, and runs have eighty clusters.

/// Most colours that are told apart; clusters beyond take the same colours again.
pub const COLORS_MAX: usize = 96;

/// Swapping costs K^2 a pass; above this many clusters nobody could name the colours anyway.
const SWAP_MAX: usize = 256;

/// The colours of the clusters, as `#rrggbb`, for a light and for a dark page.
pub struct Palette {
    /// One colour a cluster, each at least 3:1 against white.
    pub light: Vec<String>,
    /// The same hues, lighter, each at least 3:1 against the dark page.
    pub dark: Vec<String>,
}

/// Lightness bands, by page: three tiers each.
const LIGHT_TIERS: [f64; 3] = [0.42, 0.53, 0.635];
const DARK_TIERS: [f64; 3] = [0.62, 0.72, 0.82];
const HUES: usize = 72;
const CHROMAS: [f64; 3] = [0.07, 0.12, 0.19];

#[derive(Clone, Copy)]
struct Candidate {
    tier: usize,
    chroma: f64,
    hue: f64,
}

impl Candidate {
    fn color(self, tiers: &[f64; 3]) -> [f64; 3] {
        in_gamut(tiers[self.tier], self.chroma, self.hue)
    }
}

/// Colours for the clusters whose centres are drawn at `positions` (any unit, the same on both axes).
///
/// Cost: K squared for each of at most 12 passes.
pub fn palette(positions: &[(f64, f64)]) -> Palette {
    let clusters = positions.len();
    let set = spread_out(clusters.min(COLORS_MAX));
    let lab: Vec<[f64; 3]> = set.iter().map(|candidate| candidate.color(&LIGHT_TIERS)).collect();
    let order = assign(positions, &lab);
    let page = |tiers: &[f64; 3]| order.iter().map(|&color| hex(set[color].color(tiers))).collect();
    Palette { light: page(&LIGHT_TIERS), dark: page(&DARK_TIERS) }
}

/// The first `count` colours of the sequence in which each is the furthest from all before it.
fn spread_out(count: usize) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    for tier in 0..LIGHT_TIERS.len() {
        for chroma in CHROMAS {
            for hue in 0..HUES {
                candidates.push(Candidate { tier, chroma, hue: std::f64::consts::TAU * hue as f64 / HUES as f64 });
            }
        }
    }
    let lab: Vec<[f64; 3]> = candidates.iter().map(|candidate| candidate.color(&LIGHT_TIERS)).collect();
    // A quiet blue of the middle tier comes first: reports with one cluster should look like something.
    let first = (LIGHT_TIERS.len() / 2 * CHROMAS.len() + 1) * HUES + HUES * 255 / 360;
    let mut nearest = vec![f64::INFINITY; candidates.len()];
    let mut taken = Vec::with_capacity(count);
    let mut next = first;
    while taken.len() < count {
        taken.push(candidates[next]);
        let chosen = lab[next];
        for (slot, color) in nearest.iter_mut().zip(&lab) {
            *slot = slot.min(difference(*color, chosen));
        }
        next = (0..nearest.len()).fold(0, |best, index| if nearest[index] > nearest[best] { index } else { best });
    }
    taken
}

/// For each cluster the number of its colour: starts in order, then swaps while the crowding falls.
fn assign(positions: &[(f64, f64)], lab: &[[f64; 3]]) -> Vec<usize> {
    let clusters = positions.len();
    let mut color: Vec<usize> = (0..clusters).map(|cluster| cluster % lab.len().max(1)).collect();
    if !(2..=SWAP_MAX).contains(&clusters) {
        return color;
    }
    let closeness = closeness(positions);
    let clash: Vec<Vec<f64>> =
        lab.iter().map(|&a| lab.iter().map(|&b| (0.02 + difference(a, b)).powi(-2)).collect()).collect();
    for _ in 0..12 {
        let mut changed = false;
        for a in 0..clusters {
            for b in a + 1..clusters {
                let (ca, cb) = (color[a], color[b]);
                let gain: f64 = (0..clusters)
                    .filter(|&other| other != a && other != b)
                    .map(|other| {
                        let co = color[other];
                        (closeness[a][other] - closeness[b][other]) * (clash[ca][co] - clash[cb][co])
                    })
                    .sum();
                if gain > 1e-9 {
                    color.swap(a, b);
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    color
}

/// How much two clusters crowd each other on the picture: 1 for the same place, falling with the square of the distance
/// in units of the typical distance to the nearest neighbour.
fn closeness(positions: &[(f64, f64)]) -> Vec<Vec<f64>> {
    let apart = |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).powi(2) + (a.1 - b.1).powi(2);
    let mut nearest: Vec<f64> = (0..positions.len())
        .map(|a| {
            let others = (0..positions.len()).filter(|&b| b != a);
            others.map(|b| apart(positions[a], positions[b])).fold(f64::INFINITY, f64::min)
        })
        .collect();
    nearest.sort_by(f64::total_cmp);
    let unit = nearest[nearest.len() / 2].max(f64::MIN_POSITIVE);
    positions.iter().map(|&a| positions.iter().map(|&b| 1.0 / (1.0 + apart(a, b) / unit)).collect()).collect()
}

/// Euclidean distance in OKLab.
fn difference(a: [f64; 3], b: [f64; 3]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).powi(2)).sum::<f64>().sqrt()
}

/// The colour of this lightness and hue with as much of `chroma` as a screen can show.
fn in_gamut(lightness: f64, chroma: f64, hue: f64) -> [f64; 3] {
    let at = |chroma: f64| [lightness, chroma * hue.cos(), chroma * hue.sin()];
    let shown = |lab: [f64; 3]| linear_rgb(lab).iter().all(|channel| (-1e-6..=1.0 + 1e-6).contains(channel));
    if shown(at(chroma)) {
        return at(chroma);
    }
    let (mut low, mut high) = (0.0, chroma);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if shown(at(middle)) { low = middle } else { high = middle }
    }
    at(low)
}

/// OKLab to linear sRGB, by the published matrices.
fn linear_rgb([lightness, a, b]: [f64; 3]) -> [f64; 3] {
    let l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
    let m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
    let s = (lightness - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
    [
        4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
        -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
        -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701_0 * s,
    ]
}

fn hex(lab: [f64; 3]) -> String {
    let channel = |linear: f64| {
        let linear = linear.clamp(0.0, 1.0);
        let encoded = if linear <= 0.003_130_8 { 12.92 * linear } else { 1.055 * linear.powf(1.0 / 2.4) - 0.055 };
        (255.0 * encoded).round() as u8
    };
    let [red, green, blue] = linear_rgb(lab).map(channel);
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(color: &str) -> f64 {
        let channel = |at: usize| {
            let encoded = f64::from(u8::from_str_radix(&color[at..at + 2], 16).unwrap()) / 255.0;
            if encoded <= 0.040_45 { encoded / 12.92 } else { ((encoded + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: f64, b: f64) -> f64 {
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    fn grid(side: usize) -> Vec<(f64, f64)> {
        (0..side * side).map(|cell| ((cell % side) as f64, (cell / side) as f64)).collect()
    }

    #[test]
    fn white_and_black_are_where_oklab_puts_them() {
        assert_eq!(hex([1.0, 0.0, 0.0]), "#ffffff");
        assert_eq!(hex([0.0, 0.0, 0.0]), "#000000");
    }

    #[test]
    fn every_colour_stands_out_from_its_page() {
        let palette = palette(&grid(9));
        for color in &palette.light {
            assert!(contrast(luminance(color), 1.0) >= 3.0, "{color} on white");
        }
        for color in &palette.dark {
            assert!(contrast(luminance(color), luminance("#14181d")) >= 3.0, "{color} on the dark page");
        }
    }

    #[test]
    fn twenty_and_eighty_colours_are_told_apart() {
        // A just noticeable difference is about 0.02 in OKLab.
        for (count, apart) in [(20, 0.09), (80, 0.035)] {
            let lab: Vec<_> = spread_out(count).iter().map(|candidate| candidate.color(&LIGHT_TIERS)).collect();
            for a in 0..count {
                for b in 0..a {
                    assert!(difference(lab[a], lab[b]) > apart, "{count}: {a} and {b}: {}", difference(lab[a], lab[b]));
                }
            }
        }
    }

    #[test]
    fn neighbours_differ_more_than_chance_would_have_it() {
        let positions = grid(8);
        let lab: Vec<_> = spread_out(64).iter().map(|candidate| candidate.color(&LIGHT_TIERS)).collect();
        let order = assign(&positions, &lab);
        let mean = |are_counted: &dyn Fn(usize, usize) -> bool| {
            let pairs = (0..64).flat_map(|a| (0..a).map(move |b| (a, b))).filter(|&(a, b)| are_counted(a, b));
            let apart: Vec<f64> = pairs.map(|(a, b)| difference(lab[order[a]], lab[order[b]])).collect();
            apart.iter().sum::<f64>() / apart.len() as f64
        };
        let mut seen = order.clone();
        seen.sort_unstable();
        assert_eq!(seen, (0..64).collect::<Vec<_>>(), "every colour is used once");
        let neighbours = mean(&|a, b| a - b == 8 || (a - b == 1 && a % 8 > 0));
        let any = mean(&|_, _| true);
        assert!(neighbours > 1.1 * any, "{neighbours} between neighbours, {any} between any two");
    }

    #[test]
    fn more_clusters_than_colours_take_them_again() {
        let positions: Vec<(f64, f64)> = (0..300).map(|cell| (cell as f64, 0.0)).collect();
        let palette = palette(&positions);
        assert_eq!(palette.light.len(), 300);
        assert_eq!(palette.light[0], palette.light[COLORS_MAX]);
    }
}
