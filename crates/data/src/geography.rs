//! Longitude and latitude as points in space.
//!
//! A degree of longitude is shorter than a degree of latitude, and vanishes at the poles, so distances between raw
//! degrees mean nothing. Positions therefore become vectors in kilometres on a sphere with the Earth's mean radius. The
//! distance between two positions is the length of the chord. Chords order pairs exactly as arcs along the surface do,
//! and differ from arcs by less than 0.1 % up to 980 km. A mean of positions is inside the sphere; [`lon_lat`] returns
//! the point on the surface above it.
//!
//! The sphere is a model: real distances differ by up to 0.6 %, because the Earth is flattened.

use lehr_spill::Builder;

use crate::error::{Error, Faults};
use crate::points::Points;

/// The Earth's mean radius in kilometres, as the IUGG defines it: (2 × equatorial radius + polar radius) / 3.
pub const EARTH_RADIUS_KM: f64 = 6371.0088;

/// Words in names that mean longitude or latitude, in lower case.
const LONGITUDES: [&str; 6] = ["lon", "lng", "long", "longitude", "decimallongitude", "intptlon"];
const LATITUDES: [&str; 4] = ["lat", "latitude", "decimallatitude", "intptlat"];

/// Converts longitude and latitude (n × 2, in degrees) to positions on the sphere (n × 3, in kilometres); weights and
/// ids stay.
///
/// `x` points to longitude 0 on the equator, `y` to longitude 90° east, `z` to the north pole.
///
/// A name means longitude or latitude if one of its words does: `lon`, `start_lng`, `pickupLongitude`, `Long. (deg)`.
/// If neither name does, Lehr takes the first column as the longitude, and [`order_warning`] says so.
///
/// Each place has exactly one position: 180° west equals 180° east, and a pole has any longitude.
///
/// # Errors
/// - [`Error::Shape`] if there are not exactly two columns, or if the first is called latitude or the second longitude.
/// - [`Error::Faults`] with each longitude outside of -180 to 360 and each latitude outside of -90 to 90 degrees.
/// - [`Error::Spill`] if the points are in a file and its folder cannot store another one.
///
/// # Example
/// ```
/// use lehr_data::{geography, Points};
/// let equator_and_pole = Points::new(vec![0.0, 0.0, 0.0, 90.0], 2)?;
/// let positions = geography::on_sphere(&equator_and_pole)?;
/// assert_eq!(positions.row(0), [6371.0088, 0.0, 0.0]);
/// assert_eq!(positions.row(1)[2], 6371.0088);
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn on_sphere(points: &Points) -> Result<Points, Error> {
    let columns = points.columns();
    let shape = |found: String| {
        let expected = "two columns, longitude then latitude".into();
        Err(Error::Shape { what: points.name().into(), expected, found })
    };
    let [longitude, latitude] = columns else {
        return shape(format!("{}: {}", points.dimension(), columns.join(", ")));
    };
    if says(longitude) == Some(Degrees::Latitude) || says(latitude) == Some(Degrees::Longitude) {
        return shape(format!("{longitude:?} then {latitude:?}; give the columns in the other order"));
    }
    let mut faults = Faults::new(points.name());
    let kept = |error| Error::kept(points.name(), error);
    let mut values = Builder::new(points.spill(), points.len() * 3).map_err(kept)?;
    for row in 0..points.len() {
        let [lon, lat] = [points.row(row)[0], points.row(row)[1]];
        if !(-180.0..=360.0).contains(&lon) {
            faults.add_with(|| points.fault(row, 0, "a longitude of -180 to 360 degrees", lon.to_string()));
        }
        if !(-90.0..=90.0).contains(&lat) {
            faults.add_with(|| points.fault(row, 1, "a latitude of -90 to 90 degrees", lat.to_string()));
        }
        let ((lon_sin, lon_cos), (lat_sin, lat_cos)) = (sin_cos_of_degrees(lon), sin_cos_of_degrees(lat));
        // Adding 0.0 turns -0 into 0, because the two have different bits.
        let position = [lat_cos * lon_cos, lat_cos * lon_sin, lat_sin].map(|unit| unit * EARTH_RADIUS_KM + 0.0);
        values.extend(&position).map_err(kept)?;
    }
    faults.or(())?;
    points.with_stored(values.finish()?, vec!["x_km".into(), "y_km".into(), "z_km".into()])
}

/// Returns the sine and cosine of an angle from -180 to 360 degrees. Equal directions give bit-identical results, and
/// multiples of 90 degrees give exact results; angles in radians would give neither.
fn sin_cos_of_degrees(angle: f64) -> (f64, f64) {
    let angle = if angle > 180.0 { angle - 360.0 } else { angle };
    match angle {
        0.0 => (0.0, 1.0),
        90.0 => (1.0, 0.0),
        -90.0 => (-1.0, 0.0),
        180.0 | -180.0 => (0.0, -1.0),
        _ => libm::sincos(angle.to_radians()),
    }
}

/// Returns a warning if the columns' names do not say which is longitude and which is latitude. It names the order that
/// was assumed.
///
/// # Example
/// ```
/// use lehr_data::{geography::order_warning, Points};
/// let places = Points::new(vec![8.5, 47.4], 2)?.with_columns(vec!["u".into(), "v".into()])?;
/// assert!(order_warning(&places).unwrap().contains("Lehr reads u as longitude and v as latitude"));
/// assert_eq!(order_warning(&places.with_columns(vec!["start_lng".into(), "start_lat".into()])?), None);
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn order_warning(points: &Points) -> Option<String> {
    let [longitude, latitude] = points.columns() else { return None };
    if says(longitude).is_some() || says(latitude).is_some() {
        return None;
    }
    Some(format!(
        "{}: Lehr reads {longitude} as longitude and {latitude} as latitude, because of their order; put \"lon\" and \"lat\" into the names to make this explicit",
        points.name()
    ))
}

/// Returns longitude (-180 to 180) and latitude in degrees of the point on the surface above or below a position.
///
/// The length of `position` does not matter; the Earth's centre gives (0, 0).
///
/// # Example
/// ```
/// assert_eq!(lehr_data::geography::lon_lat([0.0, -100.0, 0.0]), (-90.0, 0.0));
/// ```
pub fn lon_lat(position: [f64; 3]) -> (f64, f64) {
    let [x, y, z] = position;
    (libm::atan2(y, x).to_degrees(), libm::atan2(z, libm::hypot(x, y)).to_degrees())
}

/// Returns the distance in kilometres along the surface between two points whose straight-line distance is `chord_km`.
///
/// A chord longer than the diameter, because of rounding, counts as the diameter.
///
/// # Example
/// ```
/// use lehr_data::geography::{arc_km, EARTH_RADIUS_KM};
/// assert!((arc_km(2.0 * EARTH_RADIUS_KM) - std::f64::consts::PI * EARTH_RADIUS_KM).abs() < 1e-9);
/// assert!((arc_km(100.0) - 100.001).abs() < 1e-4);
/// ```
pub fn arc_km(chord_km: f64) -> f64 {
    2.0 * EARTH_RADIUS_KM * libm::asin((chord_km / (2.0 * EARTH_RADIUS_KM)).min(1.0))
}

/// Returns whether two of the columns seem to be longitude and latitude in degrees, so that raw distances deserve a
/// warning.
///
/// If the columns have names, a longitude and a latitude must be among them (such as `lon` and `Latitude`), with all
/// values in range. Columns with generated names (`x0`, `x1`) count as degrees if there are exactly two, both in range.
/// A value must have a fraction, and a longitude must exceed 90, which a latitude never does. Smaller numbers could be
/// anything.
///
/// # Example
/// ```
/// use lehr_data::{geography, Points};
/// let points = Points::new(vec![-117.6, 39.9, -81.6, 38.3], 2)?;
/// assert!(geography::looks_like_degrees(&points));
/// assert!(!geography::looks_like_degrees(&points.with_columns(vec!["u".into(), "v".into()])?));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn looks_like_degrees(points: &Points) -> bool {
    let columns = points.columns();
    let all = |column: usize, low: f64, high: f64| points.column(column).all(|value| (low..=high).contains(&value));
    let called = |degrees| columns.iter().position(|column| says(column) == Some(degrees));
    if let (Some(longitude), Some(latitude)) = (called(Degrees::Longitude), called(Degrees::Latitude)) {
        return all(longitude, -180.0, 360.0) && all(latitude, -90.0, 90.0);
    }
    columns.iter().enumerate().all(|(index, name)| *name == format!("x{index}"))
        && points.dimension() == 2
        && all(0, -180.0, 360.0)
        && all(1, -90.0, 90.0)
        && points.column(0).any(|longitude| longitude.abs() > 90.0)
        && points.values().iter().any(|value| value.fract() != 0.0)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Degrees {
    Longitude,
    Latitude,
}

/// Returns longitude or latitude, if a word of the name means it and no word means the other.
fn says(name: &str) -> Option<Degrees> {
    let (mut longitude, mut latitude) = (false, false);
    for word in words(name) {
        longitude |= LONGITUDES.contains(&word.as_str());
        latitude |= LATITUDES.contains(&word.as_str());
    }
    match (longitude, latitude) {
        (true, false) => Some(Degrees::Longitude),
        (false, true) => Some(Degrees::Latitude),
        _ => None,
    }
}

/// Returns the words of a name in lower case: runs of letters; a capital after a small letter starts a new word
/// (`startLat`, `GPSLat`).
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (place, letter) in letters.iter().enumerate() {
        let before = place.checked_sub(1).map(|before| letters[before]);
        let is_small = |letter: Option<&char>| letter.is_some_and(|letter| letter.is_lowercase());
        let begins = letter.is_uppercase()
            && before.is_some_and(|before| {
                before.is_lowercase() || (before.is_uppercase() && is_small(letters.get(place + 1)))
            });
        if begins || !letter.is_alphabetic() {
            words.push(String::new());
        }
        if letter.is_alphabetic()
            && let Some(word) = words.last_mut()
        {
            word.extend(letter.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(values: Vec<f64>, columns: &[&str]) -> Points {
        let columns: Vec<String> = columns.iter().map(|name| name.to_string()).collect();
        Points::new(values, columns.len()).unwrap().with_columns(columns).unwrap()
    }

    #[test]
    fn there_and_back_is_the_same_place() {
        let places = [(0.0, 0.0), (-117.596211, 39.950025), (179.5, -89.0), (-180.0, 12.0), (45.0, 89.5)];
        let values = places.iter().flat_map(|(lon, lat)| [*lon, *lat]).collect();
        let positions = on_sphere(&named(values, &["lon", "lat"])).unwrap();
        for (row, (lon, lat)) in places.iter().enumerate() {
            let position = positions.row(row);
            assert!((position.iter().map(|x| x * x).sum::<f64>().sqrt() - EARTH_RADIUS_KM).abs() < 1e-9);
            let (lon_back, lat_back) = lon_lat([position[0], position[1], position[2]]);
            assert!(
                (lat_back - lat).abs() < 1e-12 && ((lon_back - lon + 540.0) % 360.0 - 180.0).abs() < 1e-9,
                "{lon} {lat}"
            );
        }
    }

    #[test]
    fn longitudes_may_run_from_0_to_360() {
        let positions = on_sphere(&named(vec![270.0, 10.0, -90.0, 10.0], &["lon", "lat"])).unwrap();
        for axis in 0..3 {
            assert!((positions.row(0)[axis] - positions.row(1)[axis]).abs() < 1e-9);
        }
    }

    #[test]
    fn a_known_distance_comes_out() {
        // This is a quarter of a great circle: from Quito's longitude on the equator to the pole.
        let positions = on_sphere(&named(vec![-78.5, 0.0, -78.5, 90.0], &["lon", "lat"])).unwrap();
        let chord = positions.row(0).iter().zip(positions.row(1)).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
        assert!((chord - EARTH_RADIUS_KM * 2f64.sqrt()).abs() < 1e-9);
        assert!((arc_km(chord) - 10_007.557).abs() < 1e-3);
    }

    #[test]
    fn degrees_out_of_range_are_named_by_row_and_column() {
        let points = named(vec![-190.0, 95.5, 0.0, 0.0, 361.0, -91.0], &["lon", "lat"]).with_name("sites.csv");
        assert_eq!(
            on_sphere(&points).unwrap_err().to_string(),
            "sites.csv, row 1, column 1 (\"lon\"): expected a longitude of -180 to 360 degrees, found -190\n\
             sites.csv, row 1, column 2 (\"lat\"): expected a latitude of -90 to 90 degrees, found 95.5\n\
             sites.csv, row 3, column 1 (\"lon\"): expected a longitude of -180 to 360 degrees, found 361\n\
             sites.csv, row 3, column 2 (\"lat\"): expected a latitude of -90 to 90 degrees, found -91\n\
             sites.csv: 4 faults in all"
        );
    }

    #[test]
    fn columns_in_the_wrong_order_or_number_are_refused() {
        let swapped = on_sphere(&named(vec![39.0, 40.0], &["Lat", "Lon"])).unwrap_err().to_string();
        assert_eq!(
            swapped,
            "points: expected two columns, longitude then latitude, found \"Lat\" then \"Lon\"; give the columns in the other order"
        );
        let three = on_sphere(&named(vec![1.0, 2.0, 3.0], &["a", "b", "c"])).unwrap_err().to_string();
        assert_eq!(three, "points: expected two columns, longitude then latitude, found 3: a, b, c");
    }

    #[test]
    fn a_word_of_a_name_says_what_it_is() {
        for name in ["lon", "LNG", "start_lng", "pickupLongitude", "GPSLong", "Long. (deg)", "lon_deg", "lon2", "X-Lon"]
        {
            assert_eq!(says(name), Some(Degrees::Longitude), "{name}");
        }
        for name in ["lat", "Latitude", "startLat", "start lat", "lat1", "INTPTLAT", "decimalLatitude", "stop.lat"] {
            assert_eq!(says(name), Some(Degrees::Latitude), "{name}");
        }
        for name in ["", "plate", "latency", "longer", "x", "lat_lon", "colon", "x0"] {
            assert_eq!(says(name), None, "{name}");
        }
        let wrong = |columns: &[&str]| on_sphere(&named(vec![47.4, 8.5], columns)).is_err();
        assert!(wrong(&["start_lat", "start_lng"]) && wrong(&["lat", "x"]) && wrong(&["y", "lng"]));
        assert!(!wrong(&["start_lng", "start_lat"]) && !wrong(&["x", "lat"]) && !wrong(&["x", "y"]));
    }

    #[test]
    fn a_place_is_one_position_however_it_is_written() {
        let values =
            vec![180.0, 10.0, -180.0, 10.0, 0.0, 20.0, 360.0, 20.0, 7.0, 90.0, -133.5, 90.0, 270.0, 5.0, -90.0, 5.0];
        let positions = on_sphere(&named(values, &["lon", "lat"])).unwrap();
        for pair in 0..4 {
            let bits = |row: usize| positions.row(row).iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(2 * pair), bits(2 * pair + 1), "pair {pair}");
        }
    }

    #[test]
    fn degrees_are_suspected_by_name_or_by_range() {
        assert!(looks_like_degrees(&named(vec![3.0, 8.5, 47.4], &["pop", "LON", "Latitude"])));
        assert!(!looks_like_degrees(&named(vec![8500.0, 47.4], &["lon", "lat"])));
        assert!(!looks_like_degrees(&named(vec![-120.0, 30.0], &["x0", "x1"])), "whole numbers");
        assert!(!looks_like_degrees(&named(vec![0.5, 0.25], &["x0", "x1"])), "too small to say");
        assert!(!looks_like_degrees(&named(vec![-120.5, 30.0, 1.0], &["x0", "x1", "x2"])));
    }
}
