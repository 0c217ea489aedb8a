//! How a table with text, dates or missing values becomes numbers: columns, missing values, logarithms, and the text
//! format where Lehr cannot detect it.

use clap::{Args, ValueEnum};
use lehr_data::preparation::{DatePart, Missing, Wishes};
use lehr_data::read::{DateOrder, Encoding, TableForm};

/// The value of `--missing` if no value is given.
const OWN: &str = "own";

/// How a table with text, dates or missing values becomes numbers.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Preparing the table")]
pub struct PreparationArguments {
    /// Prepare an ordinary table; chooses columns, logarithms, scale, missing values and outliers, and says why
    #[arg(long)]
    pub auto: bool,

    /// Leave out these columns; by name or 0-based index
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', hide_short_help = true)]
    pub exclude: Vec<String>,

    /// Use the logarithms of these columns; results keep the columns' units
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub log: Vec<String>,

    /// Read empty cells, NA and the like as missing values, and handle them this way
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = OWN, value_parser = gaps)]
    pub missing: Option<Gaps>,

    /// Take these spellings as missing values too, such as -999
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', allow_hyphen_values = true, hide_short_help = true)]
    pub na: Vec<String>,

    /// Read these columns as numbers, even if they look like codes, dates or yes and no
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', hide_short_help = true)]
    pub as_number: Vec<String>,

    /// Read these columns as text, so that their numbers become categories
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', hide_short_help = true)]
    pub as_text: Vec<String>,

    /// Read this character as the decimal separator: . or , [default: detected by column]
    #[arg(long, value_name = "CHAR", value_parser = decimal, hide_short_help = true)]
    pub decimal: Option<char>,

    /// Read dates such as 3/4/2021 in this order [default: detected by column]
    #[arg(long, value_enum, hide_short_help = true)]
    pub dates: Option<DatesArgument>,

    /// Compare dates by these parts: the days, the day of the week, the month [default: days]
    #[arg(long, value_enum, value_delimiter = ',', hide_short_help = true)]
    pub date_parts: Vec<DatePartArgument>,

    /// Read characters in this encoding [default: detected]
    #[arg(long, value_enum, hide_short_help = true)]
    pub encoding: Option<EncodingArgument>,

    /// Skip this many lines above the header [default: detected]
    #[arg(long, value_name = "N", hide_short_help = true)]
    pub skip_lines: Option<usize>,

    /// Read this sheet of a workbook, by name or number from 1 [default: the first with a table]
    #[arg(long, value_name = "SHEET", hide_short_help = true)]
    pub sheet: Option<String>,
}

/// How to handle missing values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps {
    /// The method's own way.
    Own,
    /// The given way.
    How(Missing),
}

/// The order of the parts of dates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DatesArgument {
    /// 23.04.2021
    #[value(name = "day-first")]
    Day,
    /// 4/23/2021
    #[value(name = "month-first")]
    Month,
    /// 2021/4/23
    #[value(name = "year-first")]
    Year,
}

/// A part of a date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DatePartArgument {
    /// Days since 1970: dates near each other are alike
    Days,
    /// Day of the week, as a category: Mondays are alike
    Weekday,
    /// Month of the year, as a category: Januaries are alike
    Month,
}

impl DatePartArgument {
    fn of_data(self) -> DatePart {
        match self {
            Self::Days => DatePart::Days,
            Self::Weekday => DatePart::Weekday,
            Self::Month => DatePart::Month,
        }
    }
}

/// The character encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EncodingArgument {
    /// UTF-8
    #[value(name = "utf-8")]
    Utf8,
    /// UTF-16, the lower byte first
    #[value(name = "utf-16le")]
    Utf16Le,
    /// UTF-16, the higher byte first
    #[value(name = "utf-16be")]
    Utf16Be,
    /// Windows-1252 and Latin-1
    #[value(name = "windows-1252", alias = "latin-1")]
    Windows1252,
}

fn gaps(text: &str) -> Result<Gaps, String> {
    if text == OWN {
        return Ok(Gaps::Own);
    }
    text.parse().map(Gaps::How).map_err(|_| "expected skip, median, mode, nearest or drop".to_owned())
}

fn decimal(text: &str) -> Result<char, String> {
    match text {
        "." | "point" => Ok('.'),
        "," | "comma" => Ok(','),
        _ => Err("expected . or ,".to_owned()),
    }
}

impl PreparationArguments {
    /// Whether the table must be examined column by column before a method gets it. For `--missing` without a value
    /// this is not needed if the method itself leaves missing values out.
    pub fn is_asked_for(&self) -> bool {
        let Self {
            auto,
            exclude,
            log,
            missing,
            na,
            as_number,
            as_text,
            decimal,
            dates,
            date_parts,
            encoding,
            skip_lines,
            sheet,
        } = self;
        let is_list = [exclude, log, na, as_number, as_text].iter().any(|list| !list.is_empty());
        let is_read_otherwise =
            decimal.is_some() || dates.is_some() || encoding.is_some() || skip_lines.is_some() || sheet.is_some();
        *auto || is_list || !date_parts.is_empty() || is_read_otherwise || matches!(missing, Some(Gaps::How(_)))
    }

    /// Returns the options of the preparation, with columns as typed. `own` is the method's own way to handle missing
    /// values.
    pub fn wishes(&self, columns: Option<Vec<String>>, own: Missing) -> Wishes {
        let missing = self.missing.map(|gaps| match gaps {
            Gaps::Own => own,
            Gaps::How(how) => how,
        });
        Wishes {
            columns,
            exclude: self.exclude.clone(),
            log: self.log.clone(),
            missing,
            is_auto: self.auto,
            missing_of_method: own,
            date_parts: self.date_parts.iter().map(|part| part.of_data()).collect(),
            ..Wishes::default()
        }
    }

    /// Returns how to read the table.
    pub fn form(&self) -> TableForm {
        let dates = self.dates.map(|dates| match dates {
            DatesArgument::Day => DateOrder::DayFirst,
            DatesArgument::Month => DateOrder::MonthFirst,
            DatesArgument::Year => DateOrder::YearFirst,
        });
        let encoding = self.encoding.map(|encoding| match encoding {
            EncodingArgument::Utf8 => Encoding::Utf8,
            EncodingArgument::Utf16Le => Encoding::Utf16Le,
            EncodingArgument::Utf16Be => Encoding::Utf16Be,
            EncodingArgument::Windows1252 => Encoding::Windows1252,
        });
        TableForm {
            encoding,
            skip: self.skip_lines,
            sheet: self.sheet.clone(),
            decimal: self.decimal,
            dates,
            missing: self.na.clone(),
            number: self.as_number.clone(),
            text: self.as_text.clone(),
            ..TableForm::default()
        }
    }
}
