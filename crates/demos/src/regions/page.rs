//! The page of `lehr demo demography`: a map and a table of profiles for each view. Drawn here as SVG: it needs no script.

use lehr_data::Points;

use super::found::{Found, agreements, title};
use super::{Profile, Regions, View};
use lehr_methods::numbers::{column, counted, fixed, grouped, share, significant};
use lehr_report::axes::{Axis, framed, gridlines};
use lehr_report::markup::{Page, escape, fill, typeset};
use lehr_report::packed;
use lehr_report::palette::{Palette, palette};
use lehr_report::picture::Meridians;

const MAIN: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");

/// Most regions that are drawn.
const DRAWN: usize = 12_000;
/// A map's width, and its least and greatest height.
const WIDTH: f64 = 1000.0;
const HEIGHTS: (f64, f64) = (240.0, 900.0);
/// Width of the dot of a region, at least and of one with the most people.
const DOTS: (f64, f64) = (2.0, 9.0);
/// Classes of dots by people.
const SIZES: usize = 4;
/// Attributes of a profile that the page shows, those that differ most first; profiles.csv has all.
const SHOWN: usize = 12;

/// The whole page.
pub fn page(regions: &Regions, found: &[Found], mix: f64, warnings: &[String]) -> String {
    let people: f64 = regions.people.iter().sum();
    let headline =
        format!("{} of {} people", counted(regions.ids.len() as u64, regions.one), grouped(people.round() as u64));
    let views: Vec<String> = found.iter().map(|found| section(regions, found, mix)).collect();
    let main = fill(MAIN, |name| match name {
        "views" => views.join("\n"),
        "agreements" => agreements(regions, found)
            .iter()
            .map(|(one, other, rand)| {
                format!(
                    "<tr><td>{} and {}</td><td>{}</td></tr>",
                    one.name(),
                    other.name(),
                    typeset(&significant(*rand, 3))
                )
            })
            .collect::<Vec<_>>()
            .join("\n"),
        other => unreachable!("the page asks for {other}, which nobody writes"),
    });
    let attributes = counted(regions.attributes.dimension() as u64, "attribute");
    let lead = escape(&format!("{}: {attributes}, clustered by annealing.", regions.source));
    let (headline, source) = (&headline, &regions.source);
    Page { headline, source, lead, warnings, mark: "", style: STYLE, main, scripts: String::new() }.html()
}

/// Whether clusters of this view lie somewhere. By attributes they lie everywhere, and the middles of their people where none of them lives.
fn lie_somewhere(view: View) -> bool {
    view != View::Attributes
}

fn note(view: View, mix: f64) -> String {
    match view {
        View::Attributes => "Standardised attributes, regions weighted by their people.".to_owned(),
        View::Position => "Distances through the Earth in km.".to_owned(),
        View::Both => format!(
            "Positions and standardised attributes side by side: positions have {} of the variance, regions are weighted by their people.",
            share(mix, 1.0)
        ),
    }
}

fn section(regions: &Regions, found: &Found, mix: f64) -> String {
    let name = found.view.name();
    let middles: Vec<(f64, f64)> = found.profiles.iter().map(|profile| profile.middle.unwrap_or_default()).collect();
    let colours = palette(&middles);
    let map = regions.position.as_ref().map_or_else(String::new, |position| map(regions, position, found, &colours));
    let caption = if map.is_empty() {
        String::new()
    } else {
        let circles = if lie_somewhere(found.view) { "; circles the middles of the clusters' people" } else { "" };
        format!(" Dots are regions, larger with more people{circles}.")
    };
    format!(
        "<section class=\"card\" aria-labelledby=\"{name}-title\"><div class=\"head\"><div><h2 id=\"{name}-title\">By {}</h2><p class=\"note\">{}{caption}</p></div></div>\n{map}\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"{name}-title\"><table class=\"plain\">{}</table></div></section>",
        escape(&title(regions, found.view)),
        escape(&note(found.view, mix)),
        profiles(regions, found, &colours)
    )
}

/// The profiles: attributes as means, with deviations from those of all.
fn profiles(regions: &Regions, found: &Found, colours: &Palette) -> String {
    let columns = regions.attributes.columns();
    // Those by which clusters differ most.
    let spread = |j: usize| found.profiles.iter().map(|profile| profile.deviations[j].abs()).fold(0.0, f64::max);
    let mut shown: Vec<usize> = (0..columns.len()).collect();
    shown.sort_by(|&a, &b| spread(b).total_cmp(&spread(a)));
    shown.truncate(SHOWN);
    let people: f64 = regions.people.iter().sum();
    let of_subgroup: f64 = regions.subgroup.iter().flat_map(|(_, of)| of).sum();
    let mut head: Vec<String> = ["cluster", "regions", "people"].map(str::to_owned).to_vec();
    head.extend(regions.subgroup.as_ref().map(|(name, _)| name.clone()));
    head.extend(shown.iter().map(|&j| columns[j].clone()));
    let head: String = head.iter().map(|name| format!("<th scope=\"col\">{}</th>", escape(name))).collect();
    let means = |&j: &usize| column(&found.profiles.iter().map(|profile| profile.means[j]).collect::<Vec<_>>(), 4);
    let means: Vec<Vec<String>> = shown.iter().map(means).collect();
    let row = |(cluster, profile): (usize, &Profile)| {
        let mut cells = vec![
            format!("<i class=\"swatch\" style=\"display:inline-block\"></i> {cluster}"),
            escape(&grouped(profile.regions as u64)),
            escape(&share(profile.people, people)),
        ];
        cells.extend(profile.subgroup.map(|subgroup| escape(&share(subgroup, of_subgroup))));
        cells.extend(shown.iter().zip(&means).map(|(&j, means)| {
            let (mean, by) = (typeset(&means[cluster]), typeset(&format!("{:+.2}", profile.deviations[j])));
            format!("{mean}<br><small>{by} sd</small>")
        }));
        let cells: String = cells.iter().map(|cell| format!("<td>{cell}</td>")).collect();
        format!("<tr style=\"--light:{};--dark:{}\">{cells}</tr>", colours.light[cluster], colours.dark[cluster])
    };
    let rows: Vec<String> = found.profiles.iter().enumerate().map(row).collect();
    format!("<thead><tr>{head}</tr></thead><tbody>\n{}\n</tbody>", rows.join("\n"))
}

/// The regions where they are, in the colours of their clusters.
fn map(regions: &Regions, position: &Points, found: &Found, colours: &Palette) -> String {
    let lived_in = || (0..regions.ids.len()).filter(|&row| regions.people[row] > 0.0);
    let meridians = Meridians::of(lived_in().map(|row| position.row(row)[0]));
    let ends = |values: &mut dyn Iterator<Item = f64>| {
        let (least, most) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
        let room = (0.02 * (most - least)).max(1e-3);
        (least - room, most + room)
    };
    let east = ends(&mut lived_in().map(|row| meridians.place(position.row(row)[0])));
    let north = ends(&mut lived_in().map(|row| position.row(row)[1]));
    // A degree of longitude is shorter away from the equator.
    let stretch = (0.5 * (north.0 + north.1)).to_radians().cos().max(0.1);
    let height = (WIDTH * (north.1 - north.0) / ((east.1 - east.0) * stretch)).clamp(HEIGHTS.0, HEIGHTS.1);
    let scale = (WIDTH / ((east.1 - east.0) * stretch)).min(height / (north.1 - north.0));
    let middle = (0.5 * (east.0 + east.1), 0.5 * (north.0 + north.1));
    let place = |lon: f64, lat: f64| {
        (0.5 * WIDTH + scale * stretch * (meridians.place(lon) - middle.0), 0.5 * height - scale * (lat - middle.1))
    };
    let axes = axes(&meridians, (WIDTH, height), (WIDTH / (scale * stretch), height / scale), middle);
    let weights = regions.weights(found.view);
    let most = weights.iter().copied().fold(0.0, f64::max);
    let counted_in: Vec<usize> = (0..regions.ids.len()).filter(|&row| weights[row] > 0.0).collect();
    let kept = counted_in.len().min(DRAWN);
    let mut dots = vec![[const { String::new() }; SIZES]; found.profiles.len()];
    for row in (0..kept).map(|index| counted_in[index * counted_in.len() / kept]) {
        let (x, y) = place(position.row(row)[0], position.row(row)[1]);
        let size = ((weights[row] / most).sqrt() * SIZES as f64).ceil() as usize;
        dots[found.model.labels[row] as usize][size.clamp(1, SIZES) - 1].push_str(&format!("M{x:.1} {y:.1}h0"));
    }
    let mut drawn = gridlines(WIDTH, height, &axes[0], &axes[1]);
    for (from, to, _) in &meridians.breaks {
        let [left, right] = [from, to].map(|lon| place(*lon, 0.0).0);
        drawn.push_str(&format!(
            "<rect class=\"gutter\" x=\"{left:.1}\" y=\"0\" width=\"{:.1}\" height=\"{height:.1}\"><title>{:.0}° without regions, left out</title></rect>",
            right - left,
            to - from
        ));
    }
    for (cluster, sizes) in dots.iter().enumerate() {
        drawn.push_str(&format!("<g style=\"--light:{};--dark:{}\">", colours.light[cluster], colours.dark[cluster]));
        for (size, path) in sizes.iter().enumerate().filter(|(_, path)| !path.is_empty()) {
            let width = DOTS.0 + (DOTS.1 - DOTS.0) * packed::fraction(size as f64, (0.0, (SIZES - 1) as f64));
            drawn.push_str(&format!("<path class=\"regions\" stroke-width=\"{width:.1}\" d=\"{path}\"/>"));
        }
        if let Some((lon, lat)) = found.profiles[cluster].middle
            && lie_somewhere(found.view)
        {
            let (x, y) = place(lon, lat);
            drawn.push_str(&format!(
                "<circle class=\"middle\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"7\"><title>cluster {cluster}</title></circle>"
            ));
        }
        drawn.push_str("</g>");
    }
    let svg = format!(
        "<svg class=\"drawn\" viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-label=\"{}\">{drawn}</svg>",
        escape(&format!(
            "Regions in the colours of {}, by {}",
            counted(found.profiles.len() as u64, "cluster"),
            title(regions, found.view)
        ))
    );
    framed(&svg, &axes[0], &axes[1], "")
}

/// Degrees east and north beside a map of that size, which shows so many of them (`shown`: as the page has them) around a middle.
fn axes(meridians: &Meridians, size: (f64, f64), shown: (f64, f64), middle: (f64, f64)) -> [Axis; 2] {
    // One step for both: whole degrees or a round part of one, with room for its numbers.
    let room = (shown.0 / (size.0 / 110.0)).max(shown.1 / (size.1 / 60.0));
    let steps = [0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 30.0];
    let step = steps.into_iter().find(|step| *step >= room).unwrap_or(45.0);
    let decimals = (-step.log10().floor()).max(0.0) as usize;
    let degrees = |value: f64, sides: [&str; 2]| {
        // Greenwich, the equator and the date line are on neither side.
        let side = if value == 0.0 || value.abs() == 180.0 { "" } else { sides[usize::from(value < 0.0)] };
        format!("{}° {side}", fixed(value.abs(), decimals)).trim_end().to_owned()
    };
    let within = |share: &f64| (0.0..=1.0).contains(share);
    let multiples = |end: f64| (-(end / step) as i64..=(end / step) as i64).map(move |n| n as f64 * step);
    let mut east: Vec<(f64, String)> = multiples(180.0)
        .filter(|lon| *lon > -180.0 && !meridians.is_left_out(*lon))
        .map(|lon| (0.5 + (meridians.place(lon) - middle.0) / shown.0, degrees(lon, ["E", "W"])))
        .filter(|(share, _)| within(share))
        .collect();
    east.sort_by(|a, b| a.0.total_cmp(&b.0));
    let north = multiples(90.0)
        .map(|lat| (0.5 + (lat - middle.1) / shown.1, degrees(lat, ["N", "S"])))
        .filter(|(share, _)| within(share));
    [Axis { name: String::new(), marks: east }, Axis { name: String::new(), marks: north.collect() }]
}
