//! The page of a method that draws nothing of its own: what it reports, its figures, its tables.

use lehr_methods::numbers::{counted, significant};
use lehr_methods::{Column, Content, Data, Fit, Table, shown_label};

use crate::Run;
use crate::figure::Figures;
use crate::markup::{self, Page, escape, section, tile};

/// Rows of a table that the page shows; the file has all.
const ROWS_SHOWN: usize = 50;

/// The whole page.
pub fn page(run: &Run<'_>, data: Data<'_>, fit: &dyn Fit) -> String {
    let about = run.about;
    let figures: Vec<String> = fit
        .figures(data)
        .into_iter()
        .map(|(name, value)| tile(&capital(&name.replace('_', " ")), significant(value, 7), "", String::new()))
        .collect();
    let tables: String = about
        .files
        .iter()
        .filter_map(|file| match fit.file(file, data)? {
            Content::Table(table) => Some(section(&file.replace('.', "-"), file, "", &shown(file, &table))),
            Content::Array { .. } => None,
        })
        .collect();
    let headline = fit.headline(data);
    let headline = headline.lines().next().unwrap_or_default();
    let (lead, main) =
        (escape(&capital(about.result)), format!("<dl class=\"tiles\">{}</dl>{tables}", figures.join("\n")));
    Page { headline, source: run.source, lead, warnings: run.warnings, main, figures: Figures::default() }.html()
}

fn capital(text: &str) -> String {
    text[..1].to_uppercase() + &text[1..]
}

/// The first rows of a table.
fn shown(file: &str, table: &Table<'_>) -> String {
    let rows = table.rows();
    let body: String = (0..rows.min(ROWS_SHOWN))
        .map(|row| {
            let cells: String =
                table.columns.iter().map(|(_, column)| format!("<td>{}</td>", escape(&cell(column, row)))).collect();
            format!("<tr>{cells}</tr>\n")
        })
        .collect();
    let rest = if rows > ROWS_SHOWN {
        format!("<p>{} in the file.</p>\n", counted((rows - ROWS_SHOWN) as u64, "more row"))
    } else {
        String::new()
    };
    let names = table.columns.iter().map(|(name, _)| name.as_ref());
    markup::table(&file.replace('.', "-rows-"), file, names, &body) + &rest
}

fn cell(column: &Column<'_>, row: usize) -> String {
    match column {
        Column::Ids { given: Some(ids), .. } => ids[row].clone(),
        Column::Ids { given: None, .. } => row.to_string(),
        Column::Numbers(values) => significant(values[row], 6),
        Column::Weights(values) => significant(values[row], 6),
        Column::Labels { of_rows, .. } => shown_label(of_rows[row]).to_string(),
        Column::Counts(values) => values[row].to_string(),
        Column::Texts(values) => values[row].clone(),
    }
}
