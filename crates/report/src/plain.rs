//! The page of a method that draws nothing of its own: what it reports, its figures, its tables.

use lehr_methods::numbers::{counted, significant};
use lehr_methods::{Column, Content, Data, Fit, Table, shown_label};

use crate::Run;
use crate::markup::{STYLE, escape, note};

/// Rows of a table that the page shows; the file has all.
const ROWS_SHOWN: usize = 50;

/// The whole page.
pub fn page(run: &Run<'_>, data: Data<'_>, fit: &dyn Fit) -> String {
    let about = run.about;
    let title = escape(&format!("{} of {} – lehr", about.result, run.source));
    let warnings: String = run.warnings.iter().map(|warning| note(warning) + "\n").collect();
    let figures: String = fit
        .figures(data)
        .into_iter()
        .map(|(name, value)| {
            format!("<tr><th>{}</th><td>{}</td></tr>\n", escape(&name.replace('_', " ")), significant(value, 7))
        })
        .collect();
    let tables: String = about
        .files
        .iter()
        .filter_map(|file| match fit.file(file, data)? {
            Content::Table(table) => Some(format!("<h2>{file}</h2>\n{}", shown(&table))),
            Content::Array { .. } => None,
        })
        .collect();
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{}</h1>\n{warnings}<p>{}</p>\n<table>\n{figures}</table>\n{tables}</main>\n</body>\n</html>\n",
        escape(&format!("{}{}", about.result[..1].to_uppercase(), &about.result[1..])),
        escape(fit.headline(data).lines().next().unwrap_or_default()),
    )
}

/// The first rows of a table.
fn shown(table: &Table<'_>) -> String {
    let head: String = table.columns.iter().map(|(name, _)| format!("<th>{}</th>", escape(name))).collect();
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
    format!("<table>\n<tr>{head}</tr>\n{body}</table>\n{rest}")
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
