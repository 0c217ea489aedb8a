//! Tests NPY arrays of every element type, byte order and layout against another library.

use expect_test::expect;
use lehr_data::read::{Selection, incomplete_from, points_from};
use lehr_data::{Error, Points, write};
use npyz::WriterBuilder;

use crate::{columns, gzip};

fn read(bytes: &[u8]) -> Result<Points, Error> {
    points_from(bytes, "a.npy", &Selection::default())
}

/// Returns an array of 3 x 2 (or another shape) written by the `npyz` crate.
fn foreign<T: npyz::Serialize>(dtype: &str, shape: &[u64], order: npyz::Order, values: Vec<T>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let dtype = npyz::DType::Plain(dtype.parse().unwrap());
    let options = npyz::WriteOptions::new().dtype(dtype).shape(shape).order(order).writer(&mut bytes);
    let mut writer = options.begin_nd().unwrap();
    writer.extend(values).unwrap();
    writer.finish().unwrap();
    bytes
}

/// Returns an array with this header, followed by these bytes.
fn array(header: &str, data: &[u8]) -> Vec<u8> {
    [b"\x93NUMPY\x01\x00", &(header.len() as u16).to_le_bytes()[..], header.as_bytes(), data].concat()
}

#[test]
fn every_element_type_and_byte_order_reads() {
    macro_rules! check {
        ($($type:ty: $name:literal),*) => {$(
            for order in ["<", ">"] {
                let order = if size_of::<$type>() == 1 { "|" } else { order };
                let values: Vec<$type> = [1u8, 2, 3, 4, 5, 100].map(<$type>::from).to_vec();
                let bytes = foreign(&format!("{order}{}", $name), &[3, 2], npyz::Order::C, values);
                assert_eq!(read(&bytes).unwrap().values(), [1.0, 2.0, 3.0, 4.0, 5.0, 100.0], "{order}{}", $name);
            }
        )*};
    }
    check!(f32: "f4", f64: "f8", i16: "i2", i32: "i4", i64: "i8", u8: "u1", u16: "u2", u32: "u4", u64: "u8");
    let bytes = foreign("|i1", &[1, 2], npyz::Order::C, vec![-1i8, 7]);
    assert_eq!(read(&bytes).unwrap().values(), [-1.0, 7.0]);
    let bytes = foreign("<i4", &[2], npyz::Order::C, vec![-5i32, i32::MIN]);
    assert_eq!(read(&bytes).unwrap().values(), [-5.0, -2_147_483_648.0]);
}

#[test]
fn fortran_order_is_turned() {
    let bytes = foreign("<f8", &[3, 2], npyz::Order::Fortran, vec![1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
    let points = read(&bytes).unwrap();
    assert_eq!((points.len(), points.values()), (3, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..]));
}

#[test]
fn one_dimension_is_one_column() {
    let points = read(&foreign("<f8", &[3], npyz::Order::C, vec![1.0, 2.0, 3.0])).unwrap();
    assert_eq!((points.len(), points.dimension(), points.columns()), (3, 1, &["x0".to_string()][..]));
}

#[test]
fn columns_weights_and_ids_are_chosen_by_index() {
    let bytes = foreign("<f8", &[2, 4], npyz::Order::C, vec![7.0, 1.0, 2.0, 0.5, 8.0, 3.0, 4.0, 0.0]);
    let selection = Selection { weights: Some("3".into()), id: Some("0".into()), ..Selection::default() };
    let points = points_from(&bytes[..], "a", &selection).unwrap();
    assert_eq!((points.values(), points.weights()), (&[1.0, 2.0, 3.0, 4.0][..], Some(&[0.5, 0.0][..])));
    assert_eq!(
        (points.ids().unwrap(), points.columns()),
        (&["7".to_string(), "8".into()][..], &["x1".to_string(), "x2".into()][..])
    );
    let selection = Selection { columns: columns(&["x2", "1"]), ..Selection::default() };
    assert_eq!(points_from(&bytes[..], "a", &selection).unwrap().values(), [2.0, 1.0, 4.0, 3.0]);
}

#[test]
fn columns_and_ids_of_rows_with_gaps_are_chosen_as_those_of_whole_rows() {
    let (gap, far) = (f64::NAN, f64::INFINITY);
    let bytes = foreign("<f8", &[2, 4], npyz::Order::C, vec![7.0, 1.0, gap, far, 8.0, gap, 4.0, 0.0]);
    let chosen = |asked: Option<Vec<String>>, id: Option<&str>, weights: Option<&str>| {
        let (id, weights) = (id.map(str::to_owned), weights.map(str::to_owned));
        let selection = Selection { columns: asked, id, weights, ..Selection::default() };
        incomplete_from(&bytes[..], "a.npy", &selection)
    };
    let records = chosen(columns(&["x2", "1"]), Some("0"), None).unwrap();
    assert_eq!((records.columns(), records.missing()), (&["x2".to_string(), "x1".into()][..], 2));
    assert_eq!(records.ids().unwrap(), ["7", "8"]);
    assert!(records.values()[0].is_nan() && records.values()[3].is_nan());
    assert_eq!(records.values()[1..3], [1.0, 4.0]);
    // The columns of ids and weights are not columns of the points.
    let records = chosen(None, Some("x0"), Some("3")).unwrap();
    assert_eq!((records.columns(), records.len()), (&["x1".to_string(), "x2".into()][..], 2));
    let said = [
        chosen(columns(&["x2", "9"]), Some("name"), None).unwrap_err().to_string(),
        chosen(columns(&["x2", "1", "2"]), None, None).unwrap_err().to_string(),
        // A fault is reported with its position in the file.
        chosen(columns(&["x3", "x1"]), None, None).unwrap_err().to_string(),
    ];
    expect![[r#"
        a.npy: expected a column of index 9 (counted from 0), found 4 columns: "x0", "x1", "x2", "x3"
        a.npy: expected a column "name", found the columns "x0", "x1", "x2", "x3"
        a.npy: expected each column to be chosen once, found "x2" twice
        a.npy, row 1, column 4: expected a finite number, or a missing one, found inf"#]]
    .assert_eq(&said.join("\n"));
}

#[test]
fn packed_arrays_and_long_ones_read() {
    let values: Vec<f64> = (0..60_000).map(f64::from).collect();
    let mut bytes = Vec::new();
    write::npy::array(&mut bytes, &values, 3).unwrap();
    assert_eq!(read(&bytes).unwrap().values(), values);
    assert_eq!(read(&gzip(&bytes)).unwrap().values(), values);
}

#[test]
fn what_we_write_another_library_reads() {
    let mut bytes = Vec::new();
    write::npy::array(&mut bytes, &[0.1, -0.0, 1e300, 5e-324], 2).unwrap();
    let file = npyz::NpyFile::new(&bytes[..]).unwrap();
    assert_eq!((file.shape(), file.order()), (&[2, 2][..], npyz::Order::C));
    assert_eq!((bytes.len() - 4 * 8) % 64, 0, "values are aligned");
    let values: Vec<f64> = file.into_vec().unwrap();
    assert_eq!(values.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), [0.1, -0.0, 1e300, 5e-324].map(f64::to_bits));
}

#[test]
fn truth_values_and_floating_point_in_16_bits_are_numbers_and_an_order_may_be_left_out() {
    let header = |descr: &str| format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (2, 2), }}\n");
    for descr in ["|b1", "b1", "?", "|?"] {
        let points = read(&array(&header(descr), &[0, 1, 1, 0])).unwrap();
        assert_eq!(points.values(), [0.0, 1.0, 1.0, 0.0], "{descr}");
    }
    let halves = [0x3c00u16, 0xc000, 0x3555, 0x7bff];
    let numbers = [1.0, -2.0, 0.333251953125, 65504.0];
    for (descr, bytes) in [
        ("<f2", halves.map(u16::to_le_bytes).concat()),
        (">f2", halves.map(u16::to_be_bytes).concat()),
        ("f2", halves.map(u16::to_ne_bytes).concat()),
    ] {
        assert_eq!(read(&array(&header(descr), &bytes)).unwrap().values(), numbers, "{descr}");
    }
    let doubles = [0.5f64, 1.5, -3.0, 1e300];
    let points = read(&array(&header("f8"), &doubles.map(f64::to_ne_bytes).concat())).unwrap();
    assert_eq!(points.values(), doubles);
    let message = read(&array(&header("<f2"), &[0x00, 0x7c, 0, 0, 0, 0, 0, 0])).unwrap_err().to_string();
    assert_eq!(message, "a.npy, row 1, column 1: expected a finite number, found inf");
}

#[test]
fn arrays_that_are_not_points_are_refused_in_words() {
    let header = |descr: &str, order: &str, shape: &str| {
        format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n")
    };
    let plain = |shape: &str| header("'<f8'", "False", shape);
    let nan = [1f64.to_le_bytes(), f64::NAN.to_le_bytes()].concat();
    let cases = [
        b"1,2\n3,4\n5,6\n".to_vec(),
        b"\x93NUM".to_vec(),
        b"\x93NUMPY\x01\x00\x76\x00{'desc".to_vec(),
        b"\x93NUMPY\x04\x00\x76\x00{'desc".to_vec(),
        array("{'descr': '<f8', 'shape': (1, 1)}", &[]),
        array(&header("'<c16'", "False", "(2, 2)"), &[0; 64]),
        array(&header("'|f4'", "False", "(1, 1)"), &[0; 4]),
        array(&header("'<f16'", "False", "(1, 1)"), &[0; 16]),
        array(&header("'<U5'", "False", "(2,)"), &[0; 40]),
        array(&header("[('a', '<f8'), ('b]', '<i4')]", "False", "(2,)"), &[0; 24]),
        array(&plain("(2, 3, 4)"), &[0; 192]),
        array(&plain("()"), &[0; 8]),
        array(&plain("(0, 4)"), &[]),
        array(&plain("(4, 0)"), &[]),
        array(&plain("(1000000000000, 1000000000000)"), &[]),
        array(&plain("(1000000000, 8)"), &[0; 20]),
        array(&plain("(1, 2)"), &[0; 17]),
        array(&plain("(2, 1)"), &nan),
    ];
    let said: Vec<String> = cases.iter().map(|bytes| read(bytes).unwrap_err().to_string()).collect();
    expect![[r#"
        a.npy: expected an NPY file, found "1,2\n3,"
        a.npy: expected an NPY file, found "�NUM"
        a.npy: expected a whole NPY header, found the end of the file after 16 bytes
        a.npy: expected an NPY file of version 1, 2 or 3, found version 4
        a.npy: expected an NPY header with descr, fortran_order and shape, found "{'descr': '<f8', 'shape': (1, 1)}"
        a.npy: expected elements of type f2, f4, f8, i1 to i8, u1 to u8 or b1, found "<c16", complex numbers; save their real and imaginary parts
        a.npy: expected an order of bytes, < or >, before "f4", found "|f4"
        a.npy: expected elements of type f2, f4, f8, i1 to i8, u1 to u8 or b1, found "<f16", floating point of another size; convert it with astype(float)
        a.npy: expected elements of type f2, f4, f8, i1 to i8, u1 to u8 or b1, found "<U5", text; convert it with astype(float)
        a.npy: expected elements of type f2, f4, f8, i1 to i8, u1 to u8 or b1, found records of several fields
        a.npy: expected an array of 1 or 2 dimensions, found one of 3: [2, 3, 4]
        a.npy: expected an array of 1 or 2 dimensions, found one of 0: []
        a.npy: expected rows of numbers, found an array of no rows
        a.npy: expected an array with columns, found one of 0 columns
        a.npy: expected an array that fits in memory, found one of 1000000000000 x 1000000000000 values
        a.npy: expected 1000000000 x 8 values in 64000000000 bytes, found the end of the file after 20 bytes of them
        a.npy: expected the end of the file after 1 x 2 values, found more bytes
        a.npy, row 2, column 1: expected a finite number, found NaN"#]]
    .assert_eq(&said.join("\n"));
}
