//! The only file of the harness that prints: results to standard output, notes and progress to standard error.
#![allow(clippy::disallowed_macros, reason = "the harness's door to printing")]

use std::io::Write;

/// Prints a line of the result.
pub fn line(text: &str) {
    println!("{text}");
    // A measurement takes long, so a reader of the pipe should get each line at once.
    let _ = std::io::stdout().flush();
}

/// Prints a result unchanged.
///
/// # Errors
/// Returns the error of the operating system. A closed pipe is not an error.
pub fn answer(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(cause) if cause.kind() != std::io::ErrorKind::BrokenPipe => Err(cause),
        _ => Ok(()),
    }
}

/// Prints a note that is not part of the result.
pub fn note(text: &str) {
    eprintln!("{text}");
}

/// Prints a table line with these column widths: the first column is flush left, the others flush right.
pub fn row(widths: &[usize], cells: &[String]) {
    line(&laid_out(widths, cells));
}

/// Formats one table line.
pub fn laid_out(widths: &[usize], cells: &[String]) -> String {
    let mut text = String::new();
    for (column, (width, cell)) in widths.iter().zip(cells).enumerate() {
        if column == 0 {
            text.push_str(&format!("{cell:<width$}"));
        } else {
            text.push_str(&format!("  {cell:>width$}"));
        }
    }
    text.trim_end().to_string()
}

/// Formats a value with three significant digits.
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_column_is_flush_left_and_the_others_flush_right() {
        assert_eq!(laid_out(&[5, 4], &["ab".into(), "1".into()]), "ab        1");
    }
}
