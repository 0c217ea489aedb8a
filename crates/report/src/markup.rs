//! Text and figures as HTML, and the parts that several pages have.

use crate::figure::Figures;

/// The text around the parts of a page.
const FRAME: &str = include_str!("frame.html");

/// A page in parts. All that is a `String` is HTML.
pub struct Page<'a> {
    /// The finding, as text.
    pub headline: &'a str,
    /// The source of the data, as text.
    pub source: &'a str,
    /// A sentence below the headline.
    pub lead: String,
    /// Warnings for the owner of the data.
    pub warnings: &'a [String],
    /// Tiles, places of figures, and tables.
    pub main: String,
    /// The figures at those places.
    pub figures: Figures,
}

impl Page<'_> {
    /// The whole page.
    pub fn html(self) -> String {
        let Self { headline, source, lead, warnings, mut main, mut figures } = self;
        fill(FRAME, |name| match name {
            "version" => env!("CARGO_PKG_VERSION").to_owned(),
            // Only the script that is known runs; nothing is loaded from anywhere.
            "policy" => format!(
                "default-src 'none'; script-src 'sha256-{}'; style-src 'unsafe-inline'; img-src data: blob:",
                lehr_web::REPORT_SCRIPT_HASH
            ),
            "title" => escape(&format!("{headline} – {source} – lehr")),
            "style" => lehr_web::REPORT_STYLE.to_owned(),
            "headline" => escape(headline),
            "lead" => lead.clone(),
            "warnings" => notes(warnings),
            // Each stands once in the frame.
            "main" => std::mem::take(&mut main),
            "data" => std::mem::take(&mut figures).json(),
            "script" => lehr_web::REPORT_SCRIPT.to_owned(),
            other => unreachable!("the page asks for {other}, which nobody writes"),
        })
    }
}

/// A part of a page under its title, with a note below that.
pub fn section(id: &str, title: &str, note: &str, content: &str) -> String {
    let note = if note.is_empty() { String::new() } else { format!("<p class=\"note\">{}</p>", typeset(note)) };
    format!(
        "<section class=\"card\" aria-labelledby=\"{id}-title\"><div class=\"head\"><div><h2 id=\"{id}-title\">{}</h2>\
         {note}</div></div>{content}</section>\n",
        escape(title)
    )
}

/// A table with heads that sort it. `head` names the columns; of those whose names end with `\t` cells are words. `body`: its rows as HTML.
pub fn table<'a>(id: &str, label: &str, head: impl IntoIterator<Item = &'a str>, body: &str) -> String {
    let cell = |name: &str| match name.strip_suffix('\t') {
        Some(name) => format!("<th scope=\"col\" class=\"words\">{}</th>", escape(name)),
        None => format!("<th scope=\"col\">{}</th>", escape(name)),
    };
    let head: String = head.into_iter().map(cell).collect();
    format!(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table class=\"sortable\" id=\"{id}\">\
         <thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>",
        escape(label)
    )
}

/// The mark of a cluster in its colour, which the script gives it.
pub fn swatch(cluster: usize) -> String {
    format!("<i class=\"swatch\" data-cluster=\"{cluster}\"></i>")
}

/// The template with each `{{name}}` replaced by what `value` gives; what is put in is not looked at again.
pub fn fill(template: &str, mut value: impl FnMut(&str) -> String) -> String {
    let mut page = String::with_capacity(2 << 20);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        page.push_str(before);
        let value = value(name);
        // Room for it and for what follows in the template: a value may be megabytes, and a page that grows takes twice its room.
        page.reserve_exact(value.len() + after.len());
        page.push_str(&value);
        rest = after;
    }
    page.push_str(rest);
    page
}

/// Text as HTML, in elements and in quoted attributes.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}

/// The punctuation that may follow a figure in a sentence.
const PUNCTUATION: [char; 4] = [',', ';', '.', ')'];

/// Figures, or a sentence with figures, as HTML: a true minus sign, and powers of ten as such.
pub fn typeset(text: &str) -> String {
    let words: Vec<String> = text
        .split(' ')
        .map(|word| match word.trim_end_matches(PUNCTUATION).split_once('e') {
            Some((mantissa, power)) if mantissa.parse::<f64>().is_ok() && power.parse::<i32>().is_ok() => {
                let rest = &word[mantissa.len() + 1 + power.len()..];
                format!("{} × 10<sup>{}</sup>{rest}", mantissa.replace('-', "−"), power.replace('-', "−"))
            }
            _ if word.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) => {
                escape(&word.replace('-', "−"))
            }
            _ => escape(word),
        })
        .collect();
    words.join(" ")
}

/// Facts are figures, except those that are names: a name such as `2-e5` stays as it is.
fn typeset_facts(name: &str, value: &str) -> String {
    if matches!(name, "Input" | "Fingerprint" | "Weights" | "Identifiers") { escape(value) } else { typeset(value) }
}

/// Warnings for the owner of the data, a paragraph each.
pub(crate) fn notes(warnings: &[String]) -> String {
    warnings.iter().map(|warning| note(warning)).collect::<Vec<_>>().join("\n")
}

/// One such paragraph.
pub(crate) fn note(warning: &str) -> String {
    format!("<p class=\"warning\"><b>Note:</b> {}</p>", escape(warning))
}

/// A figure in large letters under its name, with its unit and what there is to say beside it.
pub(crate) fn tile(name: &str, big: String, unit: &str, beside: String) -> String {
    let unit = if unit.is_empty() { String::new() } else { format!(" <small>{}</small>", escape(unit)) };
    format!(
        "<div><dt>{}</dt><dd class=\"big\">{}{unit}</dd><dd class=\"sub\">{}</dd></div>",
        escape(name),
        typeset(&big),
        typeset(&beside)
    )
}

/// A list of facts by name.
pub(crate) fn facts(facts: Vec<(&str, String)>) -> String {
    let row = |(name, value): (&str, String)| {
        format!("<div><dt>{}</dt><dd>{}</dd></div>", escape(name), typeset_facts(name, &value))
    };
    format!("<dl>{}</dl>", facts.into_iter().map(row).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_filled_once() {
        assert_eq!(fill("a {{x}} b {{y}}", |name| format!("<{name}{{{{x}}}}>")), "a <x{{x}}> b <y{{x}}>");
    }

    #[test]
    fn text_of_the_data_cannot_become_markup() {
        assert_eq!(escape("<a href=\"x\">&'"), "&lt;a href=&quot;x&quot;&gt;&amp;&#39;");
    }

    #[test]
    fn figures_are_typeset_and_names_are_not() {
        assert_eq!(typeset("-115.1 km"), "−115.1 km");
        assert_eq!(typeset("1.5e9 km²"), "1.5 × 10<sup>9</sup> km²");
        assert_eq!(typeset("from 1.5e9, to -2e-7."), "from 1.5 × 10<sup>9</sup>, to −2 × 10<sup>−7</sup>.");
        assert_eq!(typeset_facts("Input", "2-e5.csv"), "2-e5.csv");
    }
}
