//! What `lehr demo demography` takes: regions and the roles of their columns, what is clustered, what becomes of the results.

use std::path::PathBuf;

use clap::Args;
use lehr_demos::regions::Roles;

use super::at_least_one;
use super::execution::ExecutionArguments;

/// The arguments of `lehr demo demography`.
#[derive(Debug, Args)]
#[command(after_help = DEMOGRAPHY_HELP)]
pub struct DemographyArguments {
    /// A table with a row a region: .csv, .tsv, .txt (each may be gzipped), .npy or .parquet [default: census tracts of three states, made of the blocks that are built in]
    #[arg(value_name = "TABLE")]
    pub table: Option<PathBuf>,

    /// Columns that are attributes as they are
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', requires = "table", help_heading = "The table")]
    pub attributes: Vec<String>,

    /// Columns that count people, which become shares of all people of the region
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', requires = "table", help_heading = "The table")]
    pub shares: Vec<String>,

    /// The column of inhabitants: how much a region counts [default: each the same]
    #[arg(long, value_name = "COLUMN", requires = "table", help_heading = "The table")]
    pub people: Option<String>,

    /// The columns of longitude and latitude in degrees; without them regions are clustered by attributes alone
    #[arg(long, value_name = "LON,LAT", value_delimiter = ',', requires = "table", help_heading = "The table")]
    pub position: Vec<String>,

    /// The column that counts the people of a subgroup, by whom positions are weighted [default: all people]
    #[arg(long, value_name = "COLUMN", requires = "table", help_heading = "The table")]
    pub subgroup: Option<String>,

    /// The column of identifiers, copied to the results [default: the 0-based row]
    #[arg(long, value_name = "COLUMN", requires = "table", help_heading = "The table")]
    pub id: Option<String>,

    /// The number of clusters of each view
    #[arg(long, short = 'k', value_name = "K", value_parser = at_least_one, default_value_t = 6)]
    pub clusters: usize,

    /// Where attributes and positions are clustered together: the share of positions in the variance, 0 to 1
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true, default_value_t = 0.5)]
    pub mix: f64,

    /// Decides between equals; the same seed gives the same result
    #[arg(long, value_name = "SEED", default_value_t = 0)]
    pub seed: u64,

    /// How it is computed.
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
    /// The folder for labels.csv, profiles.csv, summary.json and report.html; results of an earlier run of the same command in it are replaced, other files are left alone
    #[arg(long, value_name = "FOLDER", default_value = "lehr-demography")]
    pub out: PathBuf,

    /// Replace files that look like results but are not known to be Lehr's
    #[arg(long)]
    pub force: bool,

    /// Print the content of summary.json to standard output, and nothing else there
    #[arg(long)]
    pub json: bool,

    /// No progress on standard error; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,
}

impl DemographyArguments {
    /// The table, and what its columns are.
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
      a table of one's own: counts of people as shares, where one group of them lives, and both

  lehr demo demography communities.csv --people population --attributes medIncome,PctUnemployed,PctBSorMore
      without positions: by attributes alone

Exit codes: 0 done, 1 no result, 2 usage, 3 bad data, 4 environment, 130 stopped.";

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}
