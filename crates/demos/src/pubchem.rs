//! A stand-in for PubChem on this machine, and the workflow that asks it.
//!
//! The stand-in answers as PubChem's PUG REST interface is documented, from the built-in compounds of the NCI's
//! antiviral screen. Its CIDs are the numbers of their ids (`DTP10645` has CID 10645), not PubChem's own. So the
//! demonstration needs no network, and gives the same result every time.

use std::fmt::Write as _;
use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use lehr_data::Fingerprints;
use lehr_data::datasets::{self, Compound};
use lehr_sync::Arc;
use lehr_sync::thread::{self, JoinHandle};
use serde_json::{Map, Value, json};

/// The workflow, as readable text.
pub const WORKFLOW: &str = include_str!("../workflows/pubchem.toml");

/// The number of PubChem's keys. They come first among the keys of the built-in compounds.
const KEYS: usize = 881;

/// Names by which compounds are found, beside their ids.
const NAMES: [(&str, u64); 2] = [("didanosine", 10_645), ("resveratrol", 17_602)];

/// The longest request that is read, in bytes.
const REQUEST_BYTES: u64 = 1 << 20;

/// The longest time that a client may take for its request.
const PATIENCE: Duration = Duration::from_secs(10);

/// A stand-in that serves until it is dropped.
///
/// # Example
/// ```
/// let stand_in = lehr_demos::pubchem::StandIn::start()?;
/// assert!(stand_in.base().starts_with("http://127.0.0.1:"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct StandIn {
    address: SocketAddr,
    /// The thread ends when nothing holds this any more.
    is_wanted: Option<Arc<()>>,
    serving: Option<JoinHandle<()>>,
}

impl StandIn {
    /// Starts to listen on a free port of this machine, which no other machine reaches.
    ///
    /// # Errors
    /// Returns the error of the system if there is no free port or no thread.
    pub fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let (address, is_wanted) = (listener.local_addr()?, Arc::new(()));
        let wanted = Arc::downgrade(&is_wanted);
        let serve = move || {
            let compounds = Compounds::read();
            for stream in listener.incoming() {
                if wanted.strong_count() == 0 {
                    return;
                }
                // A client that goes away loses only its own answer.
                let _told = stream.and_then(|stream| compounds.serve(stream));
            }
        };
        let serving = thread::spawn("PubChem's stand-in", serve)?;
        Ok(Self { address, is_wanted: Some(is_wanted), serving: Some(serving) })
    }

    /// Returns the base URL of its interface.
    pub fn base(&self) -> String {
        format!("http://{}/rest/pug", self.address)
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        drop(self.is_wanted.take());
        // Wakes the thread, which waits for a connection.
        let woken = TcpStream::connect(self.address);
        if let (Ok(_), Some(serving)) = (woken, self.serving.take()) {
            let _ended = serving.join();
        }
    }
}

/// The compounds that the stand-in has.
struct Compounds {
    keys: Fingerprints,
    facts: Vec<Compound>,
    cids: Vec<u64>,
}

/// A response: its status and its document.
struct Response(&'static str, Value);

impl Response {
    fn fault(status: &'static str, code: &str, message: &str) -> Self {
        Self(status, json!({ "Fault": { "Code": code, "Message": message } }))
    }

    fn not_found() -> Self {
        Self::fault("404 PUGREST.NotFound", "PUGREST.NotFound", "No CID found")
    }

    fn bad_request(message: &str) -> Self {
        Self::fault("400 PUGREST.BadRequest", "PUGREST.BadRequest", message)
    }
}

impl Compounds {
    fn read() -> Self {
        let (keys, facts) = datasets::compounds();
        let cids = keys.ids().iter().map(|id| number_of(id).unwrap_or_default()).collect();
        Self { keys, facts, cids }
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let Some((path, body)) = request(&stream)? else { return Ok(()) };
        let Response(status, document) = self.answer(&path, &body);
        let text = document.to_string();
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
            text.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(text.as_bytes())?;
        stream.shutdown(Shutdown::Write)
    }

    /// Answers a request for a path below `/rest/pug`.
    fn answer(&self, path: &str, body: &str) -> Response {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        match parts[..] {
            ["rest", "pug", "compound", by @ ("name" | "smiles"), "cids", "JSON"] => match self.find(by, body) {
                Some(cid) => Response("200 OK", json!({ "IdentifierList": { "CID": [cid] } })),
                None => Response::not_found(),
            },
            ["rest", "pug", "compound", "fastsimilarity_2d", "cid", cid, "cids", "JSON"] => {
                let row = cid.parse().ok().and_then(|cid| self.row(cid));
                row.map_or_else(Response::not_found, |row| self.similar(row, query))
            }
            ["rest", "pug", "compound", "cid", "property", names, "JSON"] => self.properties(names, body),
            _ => Response::bad_request("the stand-in does not have this part of PUG REST"),
        }
    }

    fn row(&self, cid: u64) -> Option<usize> {
        self.cids.iter().position(|own| *own == cid)
    }

    fn find(&self, by: &str, body: &str) -> Option<u64> {
        let text = decoded(body.strip_prefix(by)?.strip_prefix('=')?)?;
        if by == "smiles" {
            return self.facts.iter().position(|compound| compound.smiles == text).map(|row| self.cids[row]);
        }
        let known = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(&text)).map(|(_, cid)| *cid);
        known.or_else(|| number_of(&text)).filter(|cid| self.row(*cid).is_some())
    }

    /// Returns the compounds with at least a given similarity, the most similar first.
    fn similar(&self, row: usize, query: &str) -> Response {
        let value = |name: &str| {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(key, _)| *key == name).find_map(|(_, value)| value.parse::<usize>().ok())
        };
        let (Some(percent), Some(most)) = (value("Threshold"), value("MaxRecords")) else {
            return Response::bad_request("Threshold and MaxRecords are numbers");
        };
        let one = self.keys_of(row);
        let mut found: Vec<(f64, u64)> = (0..self.cids.len())
            .map(|other| (tanimoto(&one, &self.keys_of(other)), self.cids[other]))
            .filter(|(similarity, _)| similarity * 100.0 >= percent as f64)
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let cids: Vec<u64> = found.into_iter().take(most).map(|(_, cid)| cid).collect();
        Response("200 OK", json!({ "IdentifierList": { "CID": cids } }))
    }

    /// Returns properties of the compounds in a form. Unknown compounds have only their CID, as in PubChem.
    fn properties(&self, names: &str, body: &str) -> Response {
        let cids = body.strip_prefix("cid=").and_then(decoded);
        let cids: Option<Vec<u64>> = cids.and_then(|list| list.split(',').map(|cid| cid.parse().ok()).collect());
        let Some(cids) = cids else { return Response::bad_request("cid is a list of numbers") };
        let mut rows = Vec::new();
        for cid in cids {
            let mut row = Map::from_iter([("CID".to_owned(), json!(cid))]);
            if let Some(known) = self.row(cid) {
                for name in names.split(',') {
                    let Some(value) = self.property(known, name) else {
                        return Response::bad_request(&format!("the stand-in has no property {name}"));
                    };
                    row.insert(name.to_owned(), value);
                }
            }
            rows.push(Value::Object(row));
        }
        Response("200 OK", json!({ "PropertyTable": { "Properties": rows } }))
    }

    fn property(&self, row: usize, name: &str) -> Option<Value> {
        Some(match name {
            "Fingerprint2D" => packed(&self.keys_of(row)).into(),
            "SMILES" => self.facts[row].smiles.clone().into(),
            "Title" => {
                let known = NAMES.iter().find(|(_, cid)| *cid == self.cids[row]);
                known.map_or(self.keys.ids()[row].as_str(), |(name, _)| name).into()
            }
            _ => return None,
        })
    }

    /// Returns PubChem's keys of a compound, without the other keys of the built-in data.
    fn keys_of(&self, row: usize) -> Vec<u64> {
        let mut words = self.keys.row(row)[..KEYS.div_ceil(64)].to_vec();
        if let Some(last) = words.last_mut() {
            *last &= u64::MAX >> (64 - KEYS % 64);
        }
        words
    }
}

/// Returns the number in an id of the built-in compounds.
fn number_of(id: &str) -> Option<u64> {
    id.strip_prefix("DTP").and_then(|digits| digits.parse().ok())
}

/// Returns the Tanimoto similarity: bits in both, divided by bits in either. It is 1 for two empty rows.
fn tanimoto(one: &[u64], other: &[u64]) -> f64 {
    let count = |bits: fn(u64, u64) -> u64| -> u32 {
        one.iter().zip(other).map(|(one, other)| bits(*one, *other).count_ones()).sum()
    };
    let (both, either) = (count(|one, other| one & other), count(|one, other| one | other));
    if either == 0 { 1.0 } else { f64::from(both) / f64::from(either) }
}

/// Packs keys as PubChem does: the Base64 of their number (four bytes, big-endian) and the bits, the most significant
/// first.
fn packed(keys: &[u64]) -> String {
    let bits = keys.iter().flat_map(|word| word.to_le_bytes()).take(KEYS.div_ceil(8)).map(u8::reverse_bits);
    STANDARD.encode((KEYS as u32).to_be_bytes().into_iter().chain(bits).collect::<Vec<u8>>())
}

/// Decodes the value of a form. Returns `None` if it is not UTF-8 or has a `%` without two digits.
fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digits = String::new();
                write!(digits, "{}{}", char::from(rest.next()?), char::from(rest.next()?)).ok()?;
                u8::from_str_radix(&digits, 16).ok()?
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

/// Reads a request: its path and its body. Returns `None` if it has another form.
fn request(stream: &TcpStream) -> io::Result<Option<(String, String)>> {
    let mut reader = BufReader::new(stream.take(REQUEST_BYTES));
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let Some(path) = line.split(' ').nth(1).map(str::to_owned) else { return Ok(None) };
    let mut length = 0;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 {
            return Ok(None);
        }
        let Some((name, value)) = header.split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    let mut body = String::new();
    reader.take(length).read_to_string(&mut body)?;
    Ok(Some((path, body)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compounds_are_found_by_name_and_structure() {
        let compounds = Compounds::read();
        let cid = |by: &str, body: &str| {
            let Response(status, document) = compounds.answer(&format!("/rest/pug/compound/{by}/cids/JSON"), body);
            (status.starts_with("200"), document["IdentifierList"]["CID"][0].as_u64())
        };
        assert_eq!(cid("name", "name=Didanosine"), (true, Some(10_645)));
        assert_eq!(cid("name", "name=DTP00001"), (true, Some(1)));
        assert_eq!(cid("name", "name=DTP00002"), (false, None));
        let structure = "smiles=O%3DS%28%3DO%29%28O%29CCS%28%3DO%29%28%3DO%29O";
        assert_eq!(cid("smiles", structure), (true, Some(5)));
        assert_eq!(cid("smiles", "smiles=%2"), (false, None));
    }

    #[test]
    fn similar_compounds_come_with_the_most_similar_first() {
        let compounds = Compounds::read();
        let path = "/rest/pug/compound/fastsimilarity_2d/cid/10645/cids/JSON?Threshold=80&MaxRecords=20";
        let Response(_, document) = compounds.answer(path, "");
        let cids: Vec<u64> =
            document["IdentifierList"]["CID"].as_array().unwrap().iter().filter_map(Value::as_u64).collect();
        assert_eq!((cids[0], cids.len()), (10_645, 20));
        let one = compounds.keys_of(compounds.row(10_645).unwrap());
        let to = |cid: u64| tanimoto(&one, &compounds.keys_of(compounds.row(cid).unwrap()));
        assert!(cids.windows(2).all(|pair| to(pair[0]) >= to(pair[1])) && to(cids[19]) >= 0.8);
    }

    #[test]
    fn keys_are_packed_as_pubchem_packs_them() {
        let mut keys = vec![0_u64; 14];
        (keys[0], keys[13]) = (1 | 1 << 8, 1 << (880 % 64));
        assert_eq!(packed(&keys), format!("AAADcYCA{}gA==", "A".repeat(144)));
        let compounds = Compounds::read();
        let Response(_, document) =
            compounds.answer("/rest/pug/compound/cid/property/Fingerprint2D,SMILES,Title/JSON", "cid=1,2");
        let rows = &document["PropertyTable"]["Properties"];
        assert_eq!(rows[0]["Title"], "DTP00001");
        assert_eq!(rows[0]["Fingerprint2D"].as_str().unwrap().len(), 156);
        // Compound 2 is not among the built-in ones.
        assert_eq!(rows[1], json!({ "CID": 2 }));
    }
}
