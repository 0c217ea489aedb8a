//! Text and figures as HTML, and the parts that several pages have.

/// The style of all pages but those of pairs.
pub const STYLE: &str = include_str!("page.css");
/// What stands around the parts of a page.
const FRAME: &str = include_str!("frame.html");

/// A page in parts. All that is a `String` is HTML.
pub struct Page<'a> {
    /// What was found, as text.
    pub headline: &'a str,
    /// What it was found in, as text.
    pub source: &'a str,
    /// A sentence below the headline.
    pub lead: String,
    /// What an owner of the data should know.
    pub warnings: &'a [String],
    /// What stands above the headline, as HTML.
    pub mark: &'a str,
    /// Its own style, beyond [`STYLE`].
    pub style: &'a str,
    /// Tiles, pictures and tables.
    pub main: String,
    /// Scripts, if it has any.
    pub scripts: String,
}

impl Page<'_> {
    /// The whole page.
    pub fn html(self) -> String {
        let Self { headline, source, lead, warnings, mark, style, main, scripts } = self;
        fill(FRAME, |name| match name {
            "version" => env!("CARGO_PKG_VERSION").to_owned(),
            "title" => escape(&format!("{headline} – {source} – lehr")),
            "style" => STYLE.to_owned(),
            "own_style" => style.to_owned(),
            "mark" => mark.to_owned(),
            "headline" => escape(headline),
            "lead" => lead.clone(),
            "warnings" => notes(warnings),
            "main" => main.clone(),
            "script" => scripts.clone(),
            other => unreachable!("the page asks for {other}, which nobody writes"),
        })
    }
}

/// The template with each `{{name}}` replaced by what `value` gives; what is put in is not looked at again.
pub fn fill(template: &str, value: impl Fn(&str) -> String) -> String {
    let mut page = String::with_capacity(2 << 20);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let Some((name, after)) = after.split_once("}}") else { break };
        page.push_str(before);
        page.push_str(&value(name));
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

/// What may stand behind a figure in a sentence.
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

/// What an owner of the data should know, a paragraph a warning.
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
