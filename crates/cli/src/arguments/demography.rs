//! The arguments of `lehr demo demography`: regions and the roles of their columns, the views to cluster, the results.

use std::path::PathBuf;

use clap::Args;
use lehr_demos::regions::Roles;

use super::at_least_one;
use super::execution::ExecutionArguments;

/// The arguments of `lehr demo demography`.
#[derive(Debug, Args)]
#[command(after_help = DEMOGRAPHY_HELP)]
pub struct DemographyArguments {
    /// Table with one row per region; .csv, .tsv, .txt (each may be gzipped), .npy or .parquet [default: census tracts
    /// of three states]
    #[arg(value_name = "TABLE")]
    pub table: Option<PathBuf>,

    /// Use these columns as attributes
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', requires = "table", help_heading = "The table")]
    pub attributes: Vec<String>,

    /// Use these counts of people as shares of the region's people
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', requires = "table", help_heading = "The table")]
    pub shares: Vec<String>,

    /// Weight regions by this column of inhabitants [default: all the same]
    #[arg(long, value_name = "COLUMN", requires = "table", help_heading = "The table")]
    pub people: Option<String>,

    /// Use these columns of longitude and latitude; in degrees. Without them, regions are clustered by attributes alone
    #[arg(long, value_name = "LON,LAT", value_delimiter = ',', requires = "table", help_heading = "The table")]
    pub position: Vec<String>,

    /// Weight positions by this count of the people of a subgroup [default: all people]
    #[arg(long, value_name = "COLUMN", requires = "table", help_heading = "The table")]
    pub subgroup: Option<String>,

    /// Use this column as identifiers; copied to the results [default: the 0-based row]
    #[arg(long, value_name = "COLUMN", requires = "table", help_heading = "The table")]
    pub id: Option<String>,

    /// Find this many clusters in each view
    #[arg(long, short = 'k', value_name = "K", value_parser = at_least_one, default_value_t = 6)]
    pub clusters: usize,

    /// Give positions this share of the variance; from 0 to 1, when both are clustered together
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true, default_value_t = 0.5)]
    pub mix: f64,

    /// Random seed: breaks ties
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,

    /// The engine and its settings.
    #[command(flatten)]
    pub execution: ExecutionArguments,

    /// The options of the results.
    #[command(flatten)]
    pub results: DemographyResults,
}

/// The options of the results.
#[derive(Debug, Args)]
#[command(next_help_heading = "The results")]
pub struct DemographyResults {
    /// Write the results to this folder; labels.csv, profiles.csv, summary.json and report.html. Replaces results of an
    /// earlier run of the same command
    #[arg(long, value_name = "FOLDER", default_value = "lehr-demography")]
    pub out: PathBuf,

    /// Replace files that Lehr may not have written
    #[arg(long, hide_short_help = true)]
    pub force: bool,

    /// Print summary.json to standard output
    #[arg(long, hide_short_help = true)]
    pub json: bool,

    /// Show no progress; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,
}

impl DemographyArguments {
    /// Returns the table, and the roles of its columns.
    pub fn roles(&self) -> Roles {
        Roles {
            table: self.table.clone(),
            attributes: self.attributes.clone(),
            shares: self.shares.clone(),
            people: self.people.clone(),
            position: self.position.clone(),
            subgroup: self.subgroup.clone(),
            id: self.id.clone(),
        }
    }
}

const DEMOGRAPHY_HELP: &str = "\
Example:
  lehr demo demography
      census tracts by how people live together, by where those in small blocks live, and by both;
      open lehr-demography/report.html

  lehr demo demography precincts.csv --id geoid --people pop --shares pop_hisp,pop_black,pop_asian \\
      --position lon,lat --subgroup pop_asian -k 8
      your own table: counts of people as shares, where one group of them lives, and both

  lehr demo demography communities.csv --people population --attributes medIncome,PctUnemployed,PctBSorMore
      without positions: by attributes alone

Exit codes: 0 done, 1 no result, 2 usage, 3 data, 4 environment, 130 stopped.";

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}
