//! Regions with inhabitants, clustered in three ways: by the attributes of their people, by the places where a subgroup
//! lives, and by both.
//!
//! Papers 000 and 004 cluster a census like this. The first way uses standardised attributes and weights regions by
//! their people. The second uses positions on the sphere and weights regions by the subgroup's people. The third puts
//! attributes and positions side by side and gives each a share of the variance.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lehr_data::read::{self, Selection};
use lehr_data::scale::{Scale, Scaling};
use lehr_data::{Points, datasets, geography};
use lehr_mining::agreement::Agreement;

pub mod found;
pub mod page;

use crate::Error;

/// The number of digits of a block's code that identify its tract: state, county and tract.
const TRACT: usize = 11;
/// The maximum number of people in a small block.
const SMALL: f64 = 20.0;

/// A table of regions and the roles of its columns.
#[derive(Debug, Clone, Default)]
pub struct Roles {
    /// The table. Default: the census tracts of three states, made from the built-in blocks. With them, no other option
    /// is needed.
    pub table: Option<PathBuf>,
    /// The columns that are used as attributes unchanged.
    pub attributes: Vec<String>,
    /// The columns that count people; each count becomes a share of all people in the region.
    pub shares: Vec<String>,
    /// The column with the number of inhabitants. Default: all regions count equally.
    pub people: Option<String>,
    /// The columns of longitude and latitude in degrees; may be empty.
    pub position: Vec<String>,
    /// The column that counts the people of a subgroup. These counts weight the positions. Default: all people.
    pub subgroup: Option<String>,
    /// The column of identifiers. Default: the row number, counted from 0.
    pub id: Option<String>,
}

/// Regions and their attributes.
#[derive(Debug)]
pub struct Regions {
    /// The source of the regions.
    pub source: String,
    /// The noun for one region.
    pub one: &'static str,
    /// The identifier of each region.
    pub ids: Vec<String>,
    /// The attributes, one in each column, weighted by people.
    pub attributes: Points,
    /// The longitude and latitude of each region, in degrees.
    pub position: Option<Points>,
    /// The number of inhabitants of each region; 1 for each region if the numbers are not given.
    pub people: Vec<f64>,
    /// The name of the subgroup, and its number of people in each region.
    pub subgroup: Option<(String, Vec<f64>)>,
}

/// A way to cluster regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// By the attributes of the people in the regions.
    Attributes,
    /// By the places where the subgroup lives, or where all people live if there is no subgroup.
    Position,
    /// By attributes and positions together.
    Both,
}

impl View {
    /// Returns the view's name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            View::Attributes => "attributes",
            View::Position => "position",
            View::Both => "both",
        }
    }
}

/// A cluster of regions, described by its people.
#[derive(Debug, Clone, PartialEq)]
pub struct Profile {
    /// The number of regions, including uninhabited ones.
    pub regions: usize,
    /// The number of inhabitants.
    pub people: f64,
    /// The number of people in the subgroup.
    pub subgroup: Option<f64>,
    /// The mean position of the people in the cluster, as longitude and latitude in degrees.
    pub middle: Option<(f64, f64)>,
    /// The mean of each attribute over the people in the cluster.
    pub means: Vec<f64>,
    /// The difference of each mean from the mean of all people, in standard deviations over all people.
    pub deviations: Vec<f64>,
}

fn usage(message: &str) -> Error {
    Error::Usage(message.to_owned())
}

impl Regions {
    /// Reads the regions and computes the attributes from the roles of the columns.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] for columns that contradict each other. Returns [`Error::Data`] for a table that lacks
    /// columns or has impossible values.
    pub fn new(roles: &Roles) -> Result<Self, Error> {
        match &roles.table {
            None => Ok(tracts(&datasets::census_blocks())),
            Some(path) => Self::read(path, roles),
        }
    }

    fn read(path: &Path, roles: &Roles) -> Result<Self, Error> {
        let Roles { attributes, shares, position, people, subgroup, id, .. } = roles;
        if attributes.is_empty() && shares.is_empty() {
            return Err(usage(
                "a table of regions has attributes: name them with --attributes, or counts of people with --shares",
            ));
        }
        if !shares.is_empty() && people.is_none() {
            return Err(usage("--shares: counts are shares of the people, whose column is --people"));
        }
        if !(position.is_empty() || position.len() == 2) {
            return Err(usage("--position: expected two columns, longitude and latitude"));
        }
        if subgroup.is_some() && position.is_empty() {
            return Err(usage("--subgroup: also give the subgroup's position with --position LONGITUDE,LATITUDE"));
        }
        // A column may have several roles, but the reader returns each column once.
        let mut wanted: Vec<String> = Vec::new();
        let all = attributes.iter().chain(shares).chain(position).chain(people).chain(subgroup);
        all.for_each(|name| {
            if !wanted.contains(name) {
                wanted.push(name.clone())
            }
        });
        let selection = Selection { columns: Some(wanted.clone()), id: id.clone(), ..Selection::default() };
        let table = read::points(path, &selection)?;
        let rows = table.len();
        let column = |name: &String| -> Vec<f64> {
            let at = wanted.iter().position(|wanted| wanted == name).expect("every role is wanted");
            table.column(at).collect()
        };
        let counts = people.as_ref().map_or_else(|| vec![1.0; rows], column);
        let mut columns: Vec<(String, Vec<f64>)> = attributes.iter().map(|name| (name.clone(), column(name))).collect();
        for name in shares {
            let of = column(name);
            let all: f64 = of.iter().sum::<f64>() / counts.iter().sum::<f64>();
            // An uninhabited region gets the overall share, but its weight is 0.
            let share = of.iter().zip(&counts).map(|(of, people)| if *people > 0.0 { of / people } else { all });
            columns.push((name.clone(), share.collect()));
        }
        let names: Vec<String> = columns.iter().map(|(name, _)| name.clone()).collect();
        let values = (0..rows).flat_map(|row| columns.iter().map(move |(_, values)| values[row])).collect();
        let ids = table.ids().map_or_else(|| (0..rows).map(|row| row.to_string()).collect(), <[String]>::to_vec);
        let named = table.name();
        let points = |values: Vec<f64>, names: Vec<String>| Points::new(values, names.len())?.with_columns(names);
        // The error for a negative count names the row of the count.
        let attributes = points(values, names)?.with_name(named).with_weights(counts.clone())?;
        let position = if let [longitude, latitude] = &position[..] {
            let (lon, lat) = (column(longitude), column(latitude));
            let values = lon.into_iter().zip(lat).flat_map(|(lon, lat)| [lon, lat]).collect();
            Some(points(values, vec![longitude.clone(), latitude.clone()])?.with_name(named))
        } else {
            None
        };
        let subgroup = subgroup.as_ref().map(|name| (name.clone(), column(name)));
        Ok(Self {
            source: path.display().to_string(),
            one: "region",
            ids,
            attributes,
            position,
            people: counts,
            subgroup,
        })
    }

    /// Returns the views that are possible for the regions.
    pub fn views(&self) -> &'static [View] {
        if self.position.is_some() { &[View::Attributes, View::Position, View::Both] } else { &[View::Attributes] }
    }

    /// Returns the weights of the regions in a view.
    pub fn weights(&self, view: View) -> &[f64] {
        match (view, &self.subgroup) {
            (View::Position, Some((_, subgroup))) => subgroup,
            _ => &self.people,
        }
    }

    /// Returns the points of a view: standardised attributes, positions in km, or both side by side. If both, positions
    /// have the share `mix` of the variance.
    ///
    /// # Errors
    /// Returns [`Error::Data`] if coordinates are not degrees, or if the total weight is 0.
    pub fn points(&self, view: View, mix: f64) -> Result<Points, Error> {
        let standardised = || Scaling::fit(&self.attributes, Scale::Std).apply(&self.attributes);
        let Some(position) = self.position.as_ref().filter(|_| view != View::Attributes) else {
            return Ok(standardised()?);
        };
        let sphere = geography::on_sphere(position)?.with_weights(self.weights(view).to_vec())?;
        if view == View::Position {
            return Ok(sphere);
        }
        let attributes = standardised()?;
        let (near, like) = (variance(&sphere), variance(&attributes));
        let scale = |share: f64, of: f64| if of > 0.0 { (share / of).sqrt() } else { 0.0 };
        let (near, like) = (scale(mix, near), scale(1.0 - mix, like));
        let values = (0..sphere.len())
            .flat_map(|row| {
                let place = sphere.row(row).iter().map(move |x| near * x);
                place.chain(attributes.row(row).iter().map(move |x| like * x))
            })
            .collect();
        Ok(Points::new(values, 3 + attributes.dimension())?.with_weights(self.people.clone())?)
    }

    /// Returns the profile of each cluster.
    pub fn profiles(&self, labels: &[u32], clusters: usize) -> Vec<Profile> {
        let (attributes, whole) = (&self.attributes, Scaling::fit(&self.attributes, Scale::Std));
        let dimension = attributes.dimension();
        let sphere = self.position.as_ref().and_then(|position| geography::on_sphere(position).ok());
        let mut profiles = vec![
            Profile {
                regions: 0,
                people: 0.0,
                subgroup: self.subgroup.as_ref().map(|_| 0.0),
                middle: None,
                means: vec![0.0; dimension],
                deviations: vec![0.0; dimension],
            };
            clusters
        ];
        let mut middles = vec![[0.0; 3]; clusters];
        for (row, &label) in labels.iter().enumerate() {
            let (profile, people) = (&mut profiles[label as usize], self.people[row]);
            profile.regions += 1;
            profile.people += people;
            if let (Some(sum), Some((_, subgroup))) = (&mut profile.subgroup, &self.subgroup) {
                *sum += subgroup[row];
            }
            profile.means.iter_mut().zip(attributes.row(row)).for_each(|(sum, x)| *sum += people * x);
            if let Some(sphere) = &sphere {
                let middle = &mut middles[label as usize];
                middle.iter_mut().zip(sphere.row(row)).for_each(|(sum, x)| *sum += people * x);
            }
        }
        for (profile, middle) in profiles.iter_mut().zip(middles) {
            profile.means.iter_mut().for_each(|mean| *mean /= profile.people.max(f64::MIN_POSITIVE));
            let scale = whole.shifts().iter().zip(whole.divisors());
            profile.deviations =
                profile.means.iter().zip(scale).map(|(mean, (shift, divisor))| (mean - shift) / divisor).collect();
            profile.middle = sphere.as_ref().map(|_| geography::lon_lat(middle));
        }
        profiles
    }

    /// Returns the attributes in which a profile differs most from the overall means, largest difference first.
    pub fn marks<'a>(&'a self, profile: &'a Profile, most: usize) -> Vec<(&'a str, f64)> {
        let mut marks: Vec<(&str, f64)> =
            self.attributes.columns().iter().map(String::as_str).zip(profile.deviations.iter().copied()).collect();
        marks.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        marks.truncate(most);
        marks
    }
}

/// Returns the agreement of two views over the inhabited regions.
pub fn agreement(regions: &Regions, one: &[u32], other: &[u32]) -> f64 {
    let lived_in = |labels: &[u32]| -> Vec<u32> {
        labels.iter().zip(&regions.people).filter(|(_, people)| **people > 0.0).map(|(label, _)| *label).collect()
    };
    Agreement::new(&lived_in(one), &lived_in(other)).adjusted_rand
}

/// Returns the weighted mean squared distance from the mean.
fn variance(points: &Points) -> f64 {
    let total = points.total_weight();
    (0..points.dimension())
        .map(|j| {
            let weighted = || points.column(j).enumerate().map(|(row, x)| (points.weight(row) / total, x));
            let mean: f64 = weighted().map(|(share, x)| share * x).sum();
            weighted().map(|(share, x)| share * (x - mean) * (x - mean)).sum::<f64>()
        })
        .sum()
}

/// Builds census tracts from the built-in blocks. The attributes say how densely and how evenly people live in a tract,
/// and how many of them live in small blocks.
fn tracts(blocks: &Points) -> Regions {
    let mut of: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (row, id) in blocks.ids().unwrap_or_default().iter().enumerate() {
        of.entry(&id[..TRACT]).or_default().push(row);
    }
    let (mut ids, mut people, mut small) = (Vec::new(), Vec::new(), Vec::new());
    let (mut values, mut places) = (Vec::new(), Vec::new());
    for (tract, rows) in of {
        let lived_in: Vec<usize> = rows.iter().copied().filter(|&row| blocks.weight(row) > 0.0).collect();
        let inhabitants: f64 = lived_in.iter().map(|&row| blocks.weight(row)).sum();
        // Tracts of lakes and mountains may have no inhabitants.
        if inhabitants == 0.0 {
            continue;
        }
        let mean =
            |at: usize| lived_in.iter().map(|&row| blocks.weight(row) * blocks.row(row)[at]).sum::<f64>() / inhabitants;
        let (lon, lat) = (mean(0), mean(1));
        let from = |row: usize| {
            let (east, north) = ((blocks.row(row)[0] - lon) * libm::cos(lat.to_radians()), blocks.row(row)[1] - lat);
            (east * east + north * north) * (std::f64::consts::PI / 180.0 * 6371.0088).powi(2)
        };
        let square: f64 = lived_in.iter().map(|&row| blocks.weight(row) * from(row)).sum();
        let largest = lived_in.iter().map(|&row| blocks.weight(row)).fold(0.0, f64::max);
        let in_small = lived_in.iter().map(|&row| blocks.weight(row)).filter(|people| *people <= SMALL).sum::<f64>();
        ids.push(tract.to_owned());
        people.push(inhabitants);
        small.push(in_small);
        places.extend([lon, lat]);
        values.extend([
            libm::log10(inhabitants / lived_in.len() as f64),
            1.0 - lived_in.len() as f64 / rows.len() as f64,
            libm::log10((square / inhabitants).sqrt().max(0.01)),
            largest / inhabitants,
            in_small / inhabitants,
        ]);
    }
    let columns = ["log_people_a_block", "empty_blocks", "log_spread_km", "in_largest_block", "in_small_blocks"];
    let sound = "tracts of sound blocks are sound, as a test shows";
    let attributes = Points::new(values, columns.len())
        .and_then(|points| points.with_columns(columns.map(str::to_owned).to_vec()))
        .and_then(|points| points.with_weights(people.clone()));
    let position =
        Points::new(places, 2).and_then(|points| points.with_columns(["lon", "lat"].map(str::to_owned).to_vec()));
    Regions {
        source: "census tracts of Nevada, Utah and West Virginia, 2020, from the blocks that are built in".to_owned(),
        one: "census tract",
        ids,
        attributes: attributes.expect(sound),
        position: Some(position.expect(sound)),
        people,
        subgroup: Some((format!("people in blocks of up to {SMALL}"), small)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes the table and reads it as regions. `roles` gives the columns of each role.
    fn regions(roles: &[(&str, &str)], table: &str) -> Result<Regions, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("regions.csv");
        std::fs::write(&path, table).unwrap();
        let mut given = Roles { table: Some(path), ..Roles::default() };
        for (role, columns) in roles {
            let many = columns.split(',').map(str::to_owned).collect();
            match *role {
                "attributes" => given.attributes = many,
                "shares" => given.shares = many,
                "position" => given.position = many,
                "people" => given.people = Some((*columns).to_owned()),
                "subgroup" => given.subgroup = Some((*columns).to_owned()),
                "id" => given.id = Some((*columns).to_owned()),
                role => panic!("no role {role}"),
            }
        }
        Regions::new(&given)
    }

    /// Two regions in the west, one in the east, and one uninhabited.
    const TABLE: &str =
        "name,lon,lat,people,young,income\nA,0,0,100,50,1\nB,0,1,100,10,3\nC,90,0,200,40,2\nD,90,1,0,0,9\n";
    const ROLES: [(&str, &str); 5] = [
        ("attributes", "income"),
        ("shares", "young"),
        ("people", "people"),
        ("position", "lon,lat"),
        ("subgroup", "young"),
    ];

    #[test]
    fn counts_become_shares_and_a_column_may_have_two_roles() {
        let found = regions(&[&ROLES[..], &[("id", "name")]].concat(), TABLE).unwrap();
        assert_eq!(found.ids, ["A", "B", "C", "D"]);
        assert_eq!(found.attributes.columns(), ["income", "young"]);
        let shares: Vec<f64> = found.attributes.column(1).collect();
        assert_eq!(shares, [0.5, 0.1, 0.2, 0.25]);
        assert_eq!(found.weights(View::Position), [50.0, 10.0, 40.0, 0.0]);
        assert_eq!(found.weights(View::Both), [100.0, 100.0, 200.0, 0.0]);
    }

    #[test]
    fn profiles_are_means_over_people() {
        let found = regions(&ROLES, TABLE).unwrap();
        let profiles = found.profiles(&[0, 0, 1, 1], 2);
        assert_eq!((profiles[0].regions, profiles[0].people, profiles[0].subgroup), (2, 200.0, Some(60.0)));
        assert_eq!(profiles[0].means, [2.0, 0.3]);
        assert_eq!(profiles[1].means, [2.0, 0.2]);
        let (lon, lat) = profiles[0].middle.unwrap();
        assert!(lon.abs() < 1e-12 && (lat - 0.5).abs() < 1e-12);
        // The incomes are 1, 3, 2 and 2, each for 100 people, so their mean is 2 and neither cluster differs from it.
        // The shares have a mean of 1/4.
        assert_eq!(found.marks(&profiles[0], 1)[0].0, "young");
        assert!(profiles[0].deviations[0].abs() < 1e-12 && profiles[0].deviations[1] > 0.0);
    }

    #[test]
    fn in_both_views_together_each_has_its_share_of_the_variance() {
        let found = regions(&ROLES, TABLE).unwrap();
        for mix in [0.0, 0.3, 1.0] {
            let points = found.points(View::Both, mix).unwrap();
            assert_eq!(points.dimension(), 5);
            let part = |columns: std::ops::Range<usize>| {
                let values = (0..points.len()).flat_map(|row| points.row(row)[columns.clone()].to_vec()).collect();
                variance(&Points::new(values, columns.len()).unwrap().with_weights(found.people.clone()).unwrap())
            };
            assert!((part(0..3) - mix).abs() < 1e-12 && (part(3..5) - (1.0 - mix)).abs() < 1e-12);
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused_in_words() {
        let income = ("attributes", "income");
        for (roles, expected) in [
            (&[("people", "people")][..], "name them with --attributes"),
            (&[("shares", "young")], "--shares: counts are shares of the people"),
            (&[income, ("position", "lon")], "--position: expected two columns"),
            (&[income, ("subgroup", "young")], "--subgroup: also give the subgroup's position"),
            (&[("attributes", "height")], "expected a column \"height\""),
            (&[income, ("people", "lon,lat")], "expected a column \"lon,lat\""),
        ] {
            let error = regions(roles, TABLE).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
        let error = regions(&[income, ("people", "people")], "people,income\n5,1\n-3,2\n").unwrap_err().to_string();
        assert!(error.contains("-3"), "{error}");
    }

    #[test]
    fn tracts_have_everybody_of_the_blocks_they_are_made_of() {
        let found = tracts(&datasets::census_blocks());
        assert_eq!(found.people.iter().sum::<f64>(), 8_169_946.0);
        assert!(found.ids.len() > 1800 && found.ids.iter().all(|id| id.len() == TRACT), "{}", found.ids.len());
        let (_, small) = found.subgroup.as_ref().unwrap();
        assert!(small.iter().zip(&found.people).all(|(small, people)| small <= people));
        assert!(found.attributes.column(1).all(|share| (0.0..1.0).contains(&share)));
    }
}
