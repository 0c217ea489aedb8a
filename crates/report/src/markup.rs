//! The frame of a report, and the parts that several reports share, as templates. A template inserts a value as text
//! unless the value's type marks it as markup.

use maud::{Markup, PreEscaped, Render, html};

use crate::figure::{Figures, harmless};

/// The parts of a report.
pub struct Page<'a> {
    /// The main result.
    pub headline: &'a str,
    /// The source of the data, for the title of the page.
    pub source: &'a str,
    /// A sentence below the headline.
    pub lead: Markup,
    /// The warnings for the user.
    pub warnings: &'a [String],
    /// The tiles, the figures' elements and the tables.
    pub main: Markup,
    /// The data of the figures.
    pub figures: Figures,
}

impl Page<'_> {
    /// Returns the whole report.
    pub fn html(self) -> String {
        let Self { headline, source, lead, warnings, main, figures } = self;
        framed(headline, source, lead, warnings, main, figures.json())
    }
}

/// Returns a report around text and figures that were made elsewhere. `main` is markup. `figures` is the JSON that the
/// script of reports reads: `{"figures": {…}}`, with each figure under the id of its element. The remaining arguments
/// are text.
pub fn page_of(headline: &str, source: &str, lead: &str, main: &str, figures: &str) -> String {
    framed(headline, source, lead.render(), &[], PreEscaped(main.to_owned()), harmless(figures.to_owned()))
}

/// Puts the parts into the frame of a report.
fn framed(headline: &str, source: &str, lead: Markup, warnings: &[String], main: Markup, figures: String) -> String {
    let version = concat!("lehr ", env!("CARGO_PKG_VERSION"));
    // The policy allows only the script with this hash, and loads nothing.
    let policy = format!(
        "default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data: blob:",
        lehr_web::REPORT_SCRIPT_HASH
    );
    let has_places = has_places(&figures);
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(version);
                meta http-equiv="Content-Security-Policy" content=(policy);
                title { (headline) " – " (source) " – lehr" }
                style { (PreEscaped(lehr_web::REPORT_STYLE)) }
            }
            body.report {
                header {
                    p.mark {
                        svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true" {
                            @for (x, y) in [(12, 4.5), (6, 12.5), (18, 12.5)] { circle cx=(x) cy=(y) r="2.6" {} }
                            @for x in [3.4, 9.4, 15.6, 21.0] { circle cx=(x) cy="20.6" r="1.9" {} }
                        }
                        "lehr"
                    }
                    h1 { (headline) }
                    p.lead { (lead) }
                }
                main {
                    @for warning in warnings { p.warning { b { "Note:" } " " (warning) } }
                    (main)
                    noscript {
                        p.warning { "A script in this page draws the pictures. The figures and tables are complete without it." }
                    }
                }
                footer { "Made by " (version) ". This page is complete in itself and loads nothing." }
                script type="application/json" id="data" { (Data(figures)) }
                @if has_places { script type="application/json" id="coast" { (PreEscaped(lehr_web::COAST)) } }
                script { (PreEscaped(lehr_web::REPORT_SCRIPT)) }
            }
        }
    };
    page.into_string()
}

/// Returns whether a figure shows a geographic map, or can show one because it has a column of longitudes. `figures` is
/// JSON.
fn has_places(figures: &str) -> bool {
    const NAME: &str = r#""name":"#;
    let is_longitude =
        |name: &str| ["lon", "lng", "long", "longitude"].iter().any(|one| name.eq_ignore_ascii_case(one));
    let text_at = |at: usize| figures[at..].trim_start().strip_prefix('"').and_then(|text| text.split('"').next());
    let mut names = figures.match_indices(NAME).filter_map(|(at, _)| text_at(at + NAME.len()));
    figures.contains(r#""degrees":"#) || names.any(is_longitude)
}

/// The data of the figures, as JSON that cannot end its element.
struct Data(String);

impl Render for Data {
    fn render_to(&self, page: &mut String) {
        // Reserve memory for the figures and the rest of the page. The figures may take megabytes, and a growing string
        // may need twice the memory.
        page.reserve_exact(self.0.len() + lehr_web::COAST.len() + lehr_web::REPORT_SCRIPT.len() + 200);
        page.push_str(&self.0);
    }
}

/// Returns a section of a report with a title and a note below it.
pub fn section(id: &str, title: &str, note: &str, content: impl Render) -> Markup {
    html! {
        section.card aria-labelledby={ (id) "-title" } {
            div.head { div { h2 id={ (id) "-title" } { (title) } @if !note.is_empty() { p.note { (typeset(note)) } } } }
            (content)
        }
    }
}

/// Whether a section is open at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The reader sees the section.
    Open,
    /// The reader sees the title, and can open the section.
    Closed,
}

impl Fold {
    /// Returns a section of a report with a title and a note below it.
    pub fn section(self, id: &str, title: &str, note: &str, content: impl Render) -> Markup {
        match self {
            Fold::Open => section(id, title, note, content),
            Fold::Closed => html! {
                details.card {
                    summary { h2 { (title) } }
                    @if !note.is_empty() { p.note { (typeset(note)) } }
                    (content)
                }
            },
        }
    }
}

/// Returns a table that is sortable by its headers. `head` names the columns. A name that ends with `\t` marks a column
/// of words. `body` has the rows.
pub fn table<'a>(id: &str, label: &str, head: impl IntoIterator<Item = &'a str>, body: impl Render) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(label) {
            table.sortable id=(id) {
                thead {
                    tr {
                        @for name in head {
                            @let words = name.strip_suffix('\t');
                            th scope="col" class=[words.and(Some("words"))] { (words.unwrap_or(name)) }
                        }
                    }
                }
                tbody { (body) }
            }
        }
    }
}

/// Returns the colour mark of a cluster. The script sets its colour.
pub fn swatch(cluster: usize) -> Markup {
    html! { i.swatch data-cluster=(cluster) {} }
}

/// The punctuation that may follow a number in a sentence.
const PUNCTUATION: [char; 4] = [',', ';', '.', ')'];

/// Typesets the numbers in a text, with typographic minus signs and superscript powers of ten.
pub fn typeset(text: &str) -> Markup {
    let minus = |figure: &str| figure.replace('-', "−");
    let is_power_of_ten =
        |(mantissa, power): &(&str, &str)| mantissa.parse::<f64>().is_ok() && power.parse::<i32>().is_ok();
    html! {
        @for (place, word) in text.split(' ').enumerate() {
            @let figure = word.trim_end_matches(PUNCTUATION);
            @if place > 0 { " " }
            @if let Some((mantissa, power)) = figure.split_once('e').filter(is_power_of_ten) {
                (minus(mantissa)) " × 10" sup { (minus(power)) } (word[figure.len()..])
            } @else if word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) {
                (minus(word))
            } @else {
                (word)
            }
        }
    }
}

/// Typesets the numbers in the value of a fact, except in facts whose value is a name, such as the column `2-e5`.
fn typeset_facts(name: &str, value: &str) -> Markup {
    match name {
        "Map" | "Fingerprint" | "Weights" | "Identifiers" => value.render(),
        _ => typeset(value),
    }
}

/// Returns a row of tiles.
pub(crate) fn tiles(label: &str, tiles: impl IntoIterator<Item = Markup>) -> Markup {
    html! { dl.tiles aria-label=(label) { @for tile in tiles { (tile) } } }
}

/// Returns a tile: the name, below it a number in large type with its unit, and a remark.
pub(crate) fn tile(name: &str, big: impl AsRef<str>, unit: &str, beside: impl AsRef<str>) -> Markup {
    html! {
        div {
            dt { (name) }
            dd.big { (typeset(big.as_ref())) @if !unit.is_empty() { " " small { (unit) } } }
            dd.sub { (typeset(beside.as_ref())) }
        }
    }
}

/// Returns lists of named facts, side by side.
pub(crate) fn facts<const N: usize>(lists: [Vec<(&str, String)>; N]) -> Markup {
    html! {
        div.sheets {
            @for list in lists {
                dl { @for (name, value) in list { div { dt { (name) } dd { (typeset_facts(name, &value)) } } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_page_around_parts_of_others_has_texts_as_texts_and_data_that_cannot_end_their_element() {
        let page = page_of("<b>5</b> rows", "a & b", "<i>", "<p>main</p>", r#"{"figures":{"a":"</script>"}}"#);
        assert!(page.starts_with("<!doctype html>\n") && page.contains("<p>main</p>"), "{page:.300}");
        assert!(
            page.contains("<h1>&lt;b&gt;5&lt;/b&gt; rows</h1>") && page.contains("<p class=\"lead\">&lt;i&gt;</p>")
        );
        assert!(page.contains(r#"{"figures":{"a":"\u003c/script>"}}"#));
        assert_eq!(page.matches("</script>").count(), 2);
    }

    #[test]
    fn a_page_has_the_coast_where_it_has_places() {
        let column = |name: &str| json!({ "figures": { "a": { "columns": [{ "name": name, "values": "" }] } } });
        let degrees = json!({ "figures": { "a": { "layouts": [{ "degrees": { "breaks": [] } }] } } });
        for (figures, has_coast) in [
            (column("lon"), true),
            (column("Longitude"), true),
            (degrees, true),
            (column("length"), false),
            (column("degrees"), false),
            (column(r#""degrees":"#), false),
        ] {
            for text in [figures.to_string(), figures.to_string().replace(':', ": ")] {
                let page = page_of("", "", "", "", &text);
                assert_eq!(page.contains(r#"<script type="application/json" id="coast">"#), has_coast, "{text}");
                assert_eq!(page.matches("</script>").count(), if has_coast { 3 } else { 2 });
            }
        }
    }

    #[test]
    fn figures_are_typeset_and_names_are_not() {
        let typeset = |text| typeset(text).into_string();
        assert_eq!(typeset("-115.1 km"), "−115.1 km");
        assert_eq!(typeset("1.5e9 km²"), "1.5 × 10<sup>9</sup> km²");
        assert_eq!(typeset("from 1.5e9, to -2e-7."), "from 1.5 × 10<sup>9</sup>, to −2 × 10<sup>−7</sup>.");
        assert_eq!(typeset("2 <b> & 3"), "2 &lt;b&gt; &amp; 3");
        assert_eq!(typeset_facts("Weights", "2-e5.csv").into_string(), "2-e5.csv");
    }
}
