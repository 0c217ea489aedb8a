//! The report of `lehr place`: the items of a map, and the new items placed among them.

use lehr_methods::Classes;
use lehr_methods::embed::axes;
use lehr_methods::numbers::{counted, duration, grouped, significant};
use maud::{Markup, Render, html};
use serde_json::Value;

use crate::figure::Figures;
use crate::markup::{self, section, table, tile, tiles};
use crate::picture::drawn_rows;
use crate::run_section;
use crate::scene::Scene;

/// The maximum number of new items in the table; `positions.csv` has all new items.
const ROWS: usize = 200;
/// The group of the map's items. The group of the new items follows.
const OLD: u32 = 0;
const NEW: u32 = 1;

/// Items and their positions: one row for each item, and one column for each dimension.
#[derive(Clone, Copy)]
pub struct Positioned<'a> {
    /// The identifier of each item of this set.
    pub ids: &'a [String],
    /// The coordinates; NaN for items without a position.
    pub positions: &'a [f64],
}

impl Positioned<'_> {
    fn position(&self, item: usize) -> &[f64] {
        let dimension = self.positions.len() / self.ids.len();
        &self.positions[item * dimension..][..dimension]
    }
}

/// New items placed in a map.
pub struct Placed<'a> {
    /// The file with the new items, as the user typed it.
    pub source: &'a str,
    /// The folder of the map, as the user typed it.
    pub folder: &'a str,
    /// The number of dimensions of the map.
    pub dimension: usize,
    /// The items of the map.
    pub old: Positioned<'a>,
    /// The new items.
    pub new: Positioned<'a>,
    /// The error of each new item; NaN for items without a position.
    pub errors: &'a [f64],
    /// The item of the map with the least dissimilarity to each new item; `None` for items without a position.
    pub nearest: &'a [Option<usize>],
    /// The columns of classes of the map's items, such as their clusters.
    pub classes: &'a [Classes],
    /// Whether an item of the map is not drawn because it is also among the new items.
    pub is_repeated: &'a dyn Fn(usize) -> bool,
    /// The number of nearest items of the map that determine the position of a new item.
    pub neighbours: usize,
    /// The name of the metric.
    pub metric: &'a str,
    /// The warnings for the user.
    pub warnings: &'a [String],
    /// The duration of the run in seconds.
    pub seconds: f64,
    /// The command line as typed, without the results folder; `None` if there was no command line.
    pub command: Option<&'a str>,
    /// The Unix time in milliseconds at which the run finished, if it is known.
    pub finished: Option<u64>,
}

impl Placed<'_> {
    /// Returns the whole report.
    ///
    /// # Example
    /// ```
    /// use lehr_report::placed::{Placed, Positioned};
    /// let ids = ["a", "b", "c"].map(str::to_owned);
    /// let old = Positioned { ids: &ids, positions: &[0.0, 0.0, 1.0, 0.0, 0.0, 1.0] };
    /// let new = Positioned { ids: &["n".to_owned()], positions: &[0.9, 0.1] };
    /// let placed = Placed {
    ///     source: "new.csv",
    ///     folder: "map",
    ///     dimension: 2,
    ///     old,
    ///     new,
    ///     errors: &[0.01],
    ///     nearest: &[Some(1)],
    ///     classes: &[],
    ///     is_repeated: &|_| false,
    ///     neighbours: 3,
    ///     metric: "euclidean",
    ///     warnings: &[],
    ///     seconds: 0.1,
    ///     command: None,
    ///     finished: None,
    /// };
    /// assert!(placed.page().contains("1 item placed among 3"));
    /// ```
    pub fn page(&self) -> String {
        let known: Vec<usize> = (0..self.errors.len()).filter(|item| !self.errors[*item].is_nan()).collect();
        let left_out = self.errors.len() - known.len();
        let mut errors: Vec<f64> = known.iter().map(|item| self.errors[*item]).collect();
        errors.sort_by(f64::total_cmp);
        let (median, largest) =
            (errors.get(errors.len() / 2).copied().unwrap_or_default(), errors.last().copied().unwrap_or_default());
        let headline =
            format!("{} placed among {}", counted(known.len() as u64, "item"), grouped(self.old.ids.len() as u64));
        let lead = format!(
            "{} in the map of {}. Each item is placed by its {} nearest items of the map.",
            self.source.rsplit(['/', '\\']).next().unwrap_or(self.source),
            self.folder,
            self.neighbours
        );
        let beside =
            if left_out == 0 { String::new() } else { format!("{} without a position", grouped(left_out as u64)) };
        let found = [
            tile("Placed", grouped(known.len() as u64), "", beside),
            tile("Items of the map", grouped(self.old.ids.len() as u64), "", String::new()),
            tile("Error", significant(median, 4), "", format!("median; the largest {}", significant(largest, 4))),
            tile("Time", duration(self.seconds), "", String::new()),
        ];
        let mut figures = Figures::default();
        let method = format!("Place new items in the map of {}, by their dissimilarities to its items.", self.folder);
        let seen = run_section::seen(self.source, method, self.command, self.finished, Some(self.seconds));
        let facts = vec![
            ("Map", self.folder.to_owned()),
            ("Metric", self.metric.to_owned()),
            ("Neighbours", self.neighbours.to_string()),
        ];
        let main = html! {
            (tiles("The run in figures", found))
            (self.map(&known, &mut figures))
            (self.table(&known))
            (run_section::of_facts(&seen, markup::facts([facts])))
        };
        let (source, warnings) = (self.source, self.warnings);
        markup::Page { headline: &headline, source, lead: lead.render(), warnings, main, figures }.html()
    }

    /// Draws the map: the items of the map, and the new items over them.
    fn map(&self, known: &[usize], figures: &mut Figures) -> Markup {
        let old: Vec<usize> = (0..self.old.ids.len()).filter(|item| !(self.is_repeated)(*item)).collect();
        let new: Vec<usize> = drawn_rows(known.len()).into_iter().map(|place| known[place]).collect();
        let shown = self.dimension.min(3);
        let mut scene = Scene::new(self.source, old.len() + new.len());
        let ids = old.iter().map(|item| &self.old.ids[*item]).chain(new.iter().map(|item| &self.new.ids[*item]));
        scene.name_rows(ids.cloned().collect());
        let unknown = old.iter().map(|_| f64::NAN);
        scene.column("error", unknown.chain(new.iter().map(|item| self.errors[*item])));
        let names = ["of the map", "new"].map(str::to_owned);
        scene.grouping("items", old.iter().map(|_| OLD).chain(new.iter().map(|_| NEW)), Some(&names));
        let positions =
            old.iter().map(|item| self.old.position(*item)).chain(new.iter().map(|item| self.new.position(*item)));
        let mut places: Vec<Vec<f64>> = positions.map(|position| position[..shown].to_vec()).collect();
        let mut names = ["x", "y", "z"][..shown].to_vec();
        if shown == 1 {
            names.push("");
            places.iter_mut().for_each(|place| place.push(0.0));
        }
        scene.places("map", &names, &places, Value::Null);
        let mut note = "Items with a small dissimilarity lie near each other.".to_owned();
        if self.dimension > 3 {
            note.push_str(" The first three dimensions are drawn.");
        }
        if new.len() < known.len() {
            note.push_str(&format!(" {} of the new items are drawn, evenly chosen.", grouped(new.len() as u64)));
        }
        section("map", "The map", &note, figures.add("picture", scene.figure()))
    }

    /// Returns the table of new items, largest errors first.
    fn table(&self, known: &[usize]) -> Markup {
        let mut worst = known.to_vec();
        worst.sort_by(|&a, &b| self.errors[b].total_cmp(&self.errors[a]).then(a.cmp(&b)));
        worst.truncate(ROWS);
        let body = html! {
            @for &item in &worst {
                tr {
                    td.words { (self.new.ids[item]) }
                    td { (significant(self.errors[item], 4)) }
                    td.words { (self.nearest[item].map_or("", |nearest| &self.old.ids[nearest])) }
                    @for classes in self.classes {
                        td.words { (self.nearest[item].map_or("", |nearest| classes.class(nearest))) }
                    }
                    @for coordinate in self.new.position(item) { td { (significant(*coordinate, 4)) } }
                }
            }
        };
        let axes = axes(self.dimension);
        let of_nearest: Vec<String> = self.classes.iter().map(|classes| format!("its {}\t", classes.name)).collect();
        let head = ["item\t", "error", "nearest item of the map\t"].into_iter();
        let head = head.chain(of_nearest.iter().chain(&axes).map(String::as_str));
        let mut note = "The error is the root mean square difference between the distances in the map and the \
                        dissimilarities, over the items that placed the item. An item with a much larger error than the \
                        others fits nowhere in the map."
            .to_owned();
        if known.len() > ROWS {
            note.push_str(&format!(" The table has the {ROWS} items with the largest errors; positions.csv has all."));
        }
        section("placed", "The new items", &note, table("items", "The new items", head, body))
    }
}
