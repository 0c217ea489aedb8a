//! The nearest items of chosen items, from the dissimilarities of all pairs, as a step after `lehr.distances`.

use lehr_runtime::blocking;
use lehr_services::{
    Call, Code, Concurrent, Contract, Fault, Handlers, Operation, Partners, Reference, Service, Starting, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::datasets::Datasets;
use crate::format::lines;
use crate::matrix::SMILES;
use crate::table::Table;
use crate::transfer::fetch;

/// The largest number of neighbours in one answer, over all chosen items.
const NEIGHBORS_MAX: usize = 2_000;

/// The state of [`Neighbors`], which is empty.
///
/// # Example
/// See [`Neighbors`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NeighborsState {}

impl Contract for NeighborsState {
    const NAME: &'static str = "lehr/neighbors";
    const VERSION: Version = Version::new(1, 0);
}

/// Finds the items that are most like the chosen items.
///
/// Reads the whole matrix: the time is proportional to its size, and to the number of items for each chosen item.
///
/// # Errors
/// Returns [`Code::UnknownEntry`] if there is no such data set or item, and [`Code::InvalidValue`] for a data set that is
/// no matrix, and for too many neighbours.
///
/// # Example
/// See [`Neighbors`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = NeighborsState, verb = Query, name = "find", reply = Found)]
#[serde(deny_unknown_fields)]
pub struct Find {
    /// The data set with the dissimilarities of all pairs, such as the output `matrix` of `lehr.distances`.
    pub matrix: String,
    /// The data set with the ids of the items, such as the output `items`. Default: the items are numbered from 0.
    #[serde(default)]
    pub items: Option<String>,
    /// The ids of the chosen items.
    #[schemars(length(min = 1))]
    pub of: Vec<ItemId>,
    /// The maximum number of neighbours of each chosen item. Default: 10.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 2000))]
    pub count: usize,
    /// The largest dissimilarity of a neighbour. Default: no limit.
    #[serde(default)]
    pub within: Option<f64>,
}

fn ten() -> usize {
    10
}

/// The id of an item: a text, or a number such as PubChem's.
///
/// # Example
/// See [`Neighbors`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum ItemId {
    /// A text.
    Text(String),
    /// A number.
    Number(u64),
}

impl std::fmt::Display for ItemId {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Number(number) => write!(formatter, "{number}"),
        }
    }
}

/// The neighbours of the chosen items.
///
/// # Example
/// See [`Neighbors`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Found {
    /// The neighbours of the chosen items: item by item in the order of the request, and for each item the nearest
    /// first. Items at the same distance are in the order of the matrix. A pair without a dissimilarity is left out.
    pub neighbors: Vec<Neighbor>,
    /// The same as CSV with a header.
    pub csv: String,
}

/// A neighbour of a chosen item.
///
/// # Example
/// See [`Neighbors`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Neighbor {
    /// The chosen item.
    pub of: String,
    /// The position among the neighbours of the chosen item, from 1.
    pub rank: u64,
    /// The neighbour.
    pub id: String,
    /// The dissimilarity of the two.
    pub dissimilarity: f64,
    /// The structure of the neighbour as SMILES, if the items have structures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smiles: Option<String>,
}

/// The service that finds neighbours.
///
/// # Example
/// ```
/// use lehr_jobs::neighbors::{Find, ItemId, Neighbors};
/// use lehr_jobs::{Handle, Setup, Table, datasets::Put};
/// # let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// # let host = lehr_services::Host::new(dispatcher.handle());
/// # lehr_runtime::block_on(async {
/// let datasets = Setup::default().start_datasets(&host, "/datasets").await?;
/// let neighbors = host.start("/neighbors", Neighbors::default).await?;
/// // The pairs (0,1), (0,2), (1,2).
/// let matrix = Table::builder().numbers("dissimilarity", vec![3.0, 4.0, 5.0]).build()?;
/// datasets.call(Put { name: "triangle".into(), table: Handle(matrix), replace: false }).await?;
/// let of = vec![ItemId::Number(2)];
/// let find = Find { matrix: "triangle".into(), items: None, of, count: 1, within: None };
/// let found = neighbors.call(find).await?;
/// assert_eq!(found.csv, "of,rank,id,dissimilarity\n2,1,0,4\n");
/// # Ok::<(), lehr_services::Fault>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Debug, Default)]
pub struct Neighbors {
    document: NeighborsState,
    datasets: Option<Reference<Datasets>>,
}

impl Service for Neighbors {
    type Document = NeighborsState;

    fn document(&self) -> &NeighborsState {
        &self.document
    }

    fn document_mut(&mut self) -> &mut NeighborsState {
        &mut self.document
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Find>();
    }

    fn partners(needs: &mut Partners) {
        needs.existing::<Datasets>("datasets");
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        self.datasets = Some(starting.partner::<Datasets>("datasets")?);
        Ok(())
    }
}

impl Concurrent<Find> for Neighbors {
    async fn handle(&self, find: Find, _: &Call) -> Result<Found, Fault> {
        let unavailable = || Fault::new(Code::Unavailable, "the service of the data sets has not started");
        let datasets = self.datasets.as_ref().ok_or_else(unavailable)?;
        let matrix = fetch(datasets, &find.matrix).await?;
        let items = match &find.items {
            Some(items) => Some(fetch(datasets, items).await?),
            None => None,
        };
        blocking("finding neighbours", || found(&find, &matrix, items.as_ref()))
    }
}

fn found(find: &Find, matrix: &Table, items: Option<&Table>) -> Result<Found, Fault> {
    let invalid = |reason: String| Fault::new(Code::InvalidValue, reason);
    let dissimilarities = matrix.dissimilarities(&find.matrix).map_err(|failure| invalid(failure.to_string()))?;
    let number = dissimilarities.items();
    if let Some(items) = items
        && items.rows() != number
    {
        let (name, rows) = (find.items.as_deref().unwrap_or_default(), items.rows());
        return Err(invalid(format!(
            "{name}: expected {number} rows, one for each item of {}, found {rows}",
            find.matrix
        )));
    }
    let asked = find.of.len().saturating_mul(find.count.min(number));
    if find.count == 0 || asked > NEIGHBORS_MAX {
        return Err(invalid(format!(
            "count: expected 1 to {NEIGHBORS_MAX} neighbours over all items of the request, found {asked}"
        )));
    }
    let numbered = || (0..number).map(|item| item.to_string()).collect();
    let ids: Vec<String> = items.and_then(|items| items.texts(items.id()?)).unwrap_or_else(numbered);
    let smiles = items.and_then(|items| items.texts(SMILES));
    let mut neighbors = Vec::new();
    for of in &find.of {
        let of = of.to_string();
        let Some(chosen) = ids.iter().position(|id| *id == of) else {
            let known: Vec<&str> = ids.iter().take(5).map(String::as_str).collect();
            let reason = format!("of: expected the id of an item, such as {}, found {of:?}", known.join(", "));
            return Err(Fault::new(Code::UnknownEntry, reason));
        };
        let others = (0..number).filter(|other| *other != chosen);
        let mut near: Vec<(f64, usize)> = others
            .filter_map(|other| Some((dissimilarities.get(chosen, other).filter(|value| !value.is_nan())?, other)))
            .filter(|(value, _)| find.within.is_none_or(|within| *value <= within))
            .collect();
        near.sort_by(|(one, first), (other, second)| one.total_cmp(other).then(first.cmp(second)));
        neighbors.extend(near.into_iter().take(find.count).zip(1..).map(|((dissimilarity, item), rank)| Neighbor {
            of: of.clone(),
            rank,
            id: ids[item].clone(),
            dissimilarity,
            smiles: smiles.as_ref().map(|smiles| smiles[item].clone()),
        }));
    }
    let csv = lines(&table(&neighbors, smiles.is_some())?, true);
    Ok(Found { neighbors, csv })
}

/// Returns the neighbours as a table.
fn table(neighbors: &[Neighbor], has_structures: bool) -> Result<Table, Fault> {
    let texts = |of: fn(&Neighbor) -> String| neighbors.iter().map(of).collect();
    let mut table = Table::builder()
        .texts("of", texts(|neighbor| neighbor.of.clone()))
        .counts("rank", neighbors.iter().map(|neighbor| neighbor.rank).collect())
        .texts("id", texts(|neighbor| neighbor.id.clone()))
        .numbers("dissimilarity", neighbors.iter().map(|neighbor| neighbor.dissimilarity).collect());
    if has_structures {
        table = table.texts(SMILES, texts(|neighbor| neighbor.smiles.clone().unwrap_or_default()));
    }
    table.build().map_err(|failure| Fault::new(Code::OperationFailed, failure.to_string()))
}
