import { C as e, D as t, E as n, S as r, T as i, _ as a, a as o, b as s, c, d as l, f as u, g as d, h as f, i as p, l as m, m as h, n as g, o as _, p as v, r as y, s as b, t as x, u as S, v as C, w, x as T, y as E } from "./app.js";
// node_modules/@uwdata/flechette/src/constants.js
/** Magic bytes 'ARROW1' indicating the Arrow 'file' format. */
var D = Uint8Array.of(65, 82, 82, 79, 87, 49), O = {
	/** 0.1.0 (October 2016). */
	V1: 0,
	/** 0.2.0 (February 2017). Non-backwards compatible with V1. */
	V2: 1,
	/** 0.3.0 -> 0.7.1 (May - December 2017). Non-backwards compatible with V2. */
	V3: 2,
	/** >= 0.8.0 (December 2017). Non-backwards compatible with V3. */
	V4: 3,
	/**
	* >= 1.0.0 (July 2020). Backwards compatible with V4 (V5 readers can read V4
	* metadata and IPC messages). Implementations are recommended to provide a
	* V4 compatibility mode with V5 format changes disabled.
	*
	* Incompatible changes between V4 and V5:
	* - Union buffer layout has changed.
	*   In V5, Unions don't have a validity bitmap buffer.
	*/
	V5: 4
}, k = {
	NONE: 0,
	/**
	* A Schema describes the columns in a record batch.
	*/
	Schema: 1,
	/**
	* For sending dictionary encoding information. Any Field can be
	* dictionary-encoded, but in this case none of its children may be
	* dictionary-encoded.
	* There is one vector / column per dictionary, but that vector / column
	* may be spread across multiple dictionary batches by using the isDelta
	* flag.
	*/
	DictionaryBatch: 2,
	/**
	* A data header describing the shared memory layout of a "record" or "row"
	* batch. Some systems call this a "row batch" internally and others a "record
	* batch".
	*/
	RecordBatch: 3,
	/**
	* EXPERIMENTAL: Metadata for n-dimensional arrays, aka "tensors" or
	* "ndarrays". Arrow implementations in general are not required to implement
	* this type.
	*
	* Not currently supported by Flechette.
	*/
	Tensor: 4,
	/**
	* EXPERIMENTAL: Metadata for n-dimensional sparse arrays, aka "sparse
	* tensors". Arrow implementations in general are not required to implement
	* this type.
	*
	* Not currently supported by Flechette.
	*/
	SparseTensor: 5
}, A = {
	/**
	* Dictionary types compress data by using a set of integer indices to
	* lookup potentially repeated vales in a separate dictionary of values.
	*
	* This type entry is provided for API convenience, it does not occur
	* in actual Arrow IPC binary data.
	*/
	Dictionary: -1,
	/** No data type. Included for flatbuffer compatibility. */
	NONE: 0,
	/** Null values only. */
	Null: 1,
	/** Integers, either signed or unsigned, with 8, 16, 32, or 64 bit widths. */
	Int: 2,
	/** Floating point numbers with 16, 32, or 64 bit precision. */
	Float: 3,
	/** Opaque binary data. */
	Binary: 4,
	/** Unicode with UTF-8 encoding. */
	Utf8: 5,
	/** Booleans represented as 8 bit bytes. */
	Bool: 6,
	/**
	* Exact decimal value represented as an integer value in two's complement.
	* Currently only 128-bit (16-byte) and 256-bit (32-byte) integers are used.
	* The representation uses the endianness indicated in the schema.
	*/
	Decimal: 7,
	/**
	* Date is either a 32-bit or 64-bit signed integer type representing an
	* elapsed time since UNIX epoch (1970-01-01), stored in either of two units:
	* - Milliseconds (64 bits) indicating UNIX time elapsed since the epoch (no
	* leap seconds), where the values are evenly divisible by 86400000
	* - Days (32 bits) since the UNIX epoch
	*/
	Date: 8,
	/**
	* Time is either a 32-bit or 64-bit signed integer type representing an
	* elapsed time since midnight, stored in either of four units: seconds,
	* milliseconds, microseconds or nanoseconds.
	*
	* The integer `bitWidth` depends on the `unit` and must be one of the following:
	* - SECOND and MILLISECOND: 32 bits
	* - MICROSECOND and NANOSECOND: 64 bits
	*
	* The allowed values are between 0 (inclusive) and 86400 (=24*60*60) seconds
	* (exclusive), adjusted for the time unit (for example, up to 86400000
	* exclusive for the MILLISECOND unit).
	* This definition doesn't allow for leap seconds. Time values from
	* measurements with leap seconds will need to be corrected when ingesting
	* into Arrow (for example by replacing the value 86400 with 86399).
	*/
	Time: 9,
	/**
	* Timestamp is a 64-bit signed integer representing an elapsed time since a
	* fixed epoch, stored in either of four units: seconds, milliseconds,
	* microseconds or nanoseconds, and is optionally annotated with a timezone.
	*
	* Timestamp values do not include any leap seconds (in other words, all
	* days are considered 86400 seconds long).
	*
	* The timezone is an optional string for the name of a timezone, one of:
	*
	*  - As used in the Olson timezone database (the "tz database" or
	*    "tzdata"), such as "America/New_York".
	*  - An absolute timezone offset of the form "+XX:XX" or "-XX:XX",
	*    such as "+07:30".
	*
	* Whether a timezone string is present indicates different semantics about
	* the data.
	*/
	Timestamp: 10,
	/**
	* A "calendar" interval which models types that don't necessarily
	* have a precise duration without the context of a base timestamp (e.g.
	* days can differ in length during day light savings time transitions).
	* All integers in the units below are stored in the endianness indicated
	* by the schema.
	*
	*  - YEAR_MONTH - Indicates the number of elapsed whole months, stored as
	*    4-byte signed integers.
	*  - DAY_TIME - Indicates the number of elapsed days and milliseconds (no
	*    leap seconds), stored as 2 contiguous 32-bit signed integers (8-bytes
	*    in total). Support of this IntervalUnit is not required for full arrow
	*    compatibility.
	*  - MONTH_DAY_NANO - A triple of the number of elapsed months, days, and
	*    nanoseconds. The values are stored contiguously in 16-byte blocks.
	*    Months and days are encoded as 32-bit signed integers and nanoseconds
	*    is encoded as a 64-bit signed integer. Nanoseconds does not allow for
	*    leap seconds. Each field is independent (e.g. there is no constraint
	*    that nanoseconds have the same sign as days or that the quantity of
	*    nanoseconds represents less than a day's worth of time).
	*/
	Interval: 11,
	/**
	* List (vector) data supporting variably-sized lists.
	* A list has a single child data type for list entries.
	*/
	List: 12,
	/**
	* A struct consisting of multiple named child data types.
	*/
	Struct: 13,
	/**
	* A union is a complex type with parallel child data types. By default ids
	* in the type vector refer to the offsets in the children. Optionally
	* typeIds provides an indirection between the child offset and the type id.
	* For each child `typeIds[offset]` is the id used in the type vector.
	*/
	Union: 14,
	/**
	* Binary data where each entry has the same fixed size.
	*/
	FixedSizeBinary: 15,
	/**
	* List (vector) data where every list has the same fixed size.
	* A list has a single child data type for list entries.
	*/
	FixedSizeList: 16,
	/**
	* A Map is a logical nested type that is represented as
	* List<entries: Struct<key: K, value: V>>
	*
	* In this layout, the keys and values are each respectively contiguous. We do
	* not constrain the key and value types, so the application is responsible
	* for ensuring that the keys are hashable and unique. Whether the keys are sorted
	* may be set in the metadata for this field.
	*
	* In a field with Map type, the field has a child Struct field, which then
	* has two children: key type and the second the value type. The names of the
	* child fields may be respectively "entries", "key", and "value", but this is
	* not enforced.
	*
	* Map
	* ```text
	*   - child[0] entries: Struct
	*   - child[0] key: K
	*   - child[1] value: V
	*  ```
	* Neither the "entries" field nor the "key" field may be nullable.
	*
	* The metadata is structured so that Arrow systems without special handling
	* for Map can make Map an alias for List. The "layout" attribute for the Map
	* field must have the same contents as a List.
	*/
	Map: 17,
	/**
	* An absolute length of time unrelated to any calendar artifacts. For the
	* purposes of Arrow implementations, adding this value to a Timestamp
	* ("t1") naively (i.e. simply summing the two numbers) is acceptable even
	* though in some cases the resulting Timestamp (t2) would not account for
	* leap-seconds during the elapsed time between "t1" and "t2". Similarly,
	* representing the difference between two Unix timestamp is acceptable, but
	* would yield a value that is possibly a few seconds off from the true
	* elapsed time.
	*
	* The resolution defaults to millisecond, but can be any of the other
	* supported TimeUnit values as with Timestamp and Time types. This type is
	* always represented as an 8-byte integer.
	*/
	Duration: 18,
	/**
	* Same as Binary, but with 64-bit offsets, allowing representation of
	* extremely large data values.
	*/
	LargeBinary: 19,
	/**
	* Same as Utf8, but with 64-bit offsets, allowing representation of
	* extremely large data values.
	*/
	LargeUtf8: 20,
	/**
	* Same as List, but with 64-bit offsets, allowing representation of
	* extremely large data values.
	*/
	LargeList: 21,
	/**
	* Contains two child arrays, run_ends and values. The run_ends child array
	* must be a 16/32/64-bit integer array which encodes the indices at which
	* the run with the value in each corresponding index in the values child
	* array ends. Like list/struct types, the value array can be of any type.
	*/
	RunEndEncoded: 22,
	/**
	* Logically the same as Binary, but the internal representation uses a view
	* struct that contains the string length and either the string's entire data
	* inline (for small strings) or an inlined prefix, an index of another buffer,
	* and an offset pointing to a slice in that buffer (for non-small strings).
	*
	* Since it uses a variable number of data buffers, each Field with this type
	* must have a corresponding entry in `variadicBufferCounts`.
	*/
	BinaryView: 23,
	/**
	* Logically the same as Utf8, but the internal representation uses a view
	* struct that contains the string length and either the string's entire data
	* inline (for small strings) or an inlined prefix, an index of another buffer,
	* and an offset pointing to a slice in that buffer (for non-small strings).
	*
	* Since it uses a variable number of data buffers, each Field with this type
	* must have a corresponding entry in `variadicBufferCounts`.
	*/
	Utf8View: 24,
	/**
	* Represents the same logical types that List can, but contains offsets and
	* sizes allowing for writes in any order and sharing of child values among
	* list values.
	*/
	ListView: 25,
	/**
	* Same as ListView, but with 64-bit offsets and sizes, allowing to represent
	* extremely large data values.
	*/
	LargeListView: 26
}, j = {
	/** 16-bit floating point number. */
	HALF: 0,
	/** 32-bit floating point number. */
	SINGLE: 1,
	/** 64-bit floating point number. */
	DOUBLE: 2
}, M = {
	DAY: 0,
	/**
	* Milliseconds (as 64 bit int) indicating UNIX time elapsed since the epoch
	* (no leap seconds), with values evenly divisible by 86400000.
	*/
	MILLISECOND: 1
}, N = {
	/** Seconds. */
	SECOND: 0,
	/** Milliseconds. */
	MILLISECOND: 1,
	/** Microseconds. */
	MICROSECOND: 2,
	/** Nanoseconds. */
	NANOSECOND: 3
}, P = {
	/**
	* Indicates the number of elapsed whole months, stored as 4-byte signed
	* integers.
	*/
	YEAR_MONTH: 0,
	/**
	* Indicates the number of elapsed days and milliseconds (no leap seconds),
	* stored as 2 contiguous 32-bit signed integers (8-bytes in total). Support
	* of this IntervalUnit is not required for full arrow compatibility.
	*/
	DAY_TIME: 1,
	/**
	* A triple of the number of elapsed months, days, and nanoseconds.
	* The values are stored contiguously in 16-byte blocks. Months and days are
	* encoded as 32-bit signed integers and nanoseconds is encoded as a 64-bit
	* signed integer. Nanoseconds does not allow for leap seconds. Each field is
	* independent (e.g. there is no constraint that nanoseconds have the same
	* sign as days or that the quantity of nanoseconds represents less than a
	* day's worth of time).
	*/
	MONTH_DAY_NANO: 2
}, F = {
	/** Sparse union layout with full arrays for each sub-type. */
	Sparse: 0,
	/** Dense union layout with offsets into value arrays. */
	Dense: 1
}, I = {
	/**
	* LZ4 frame compression.
	* Not to be confused with "raw" (also called "block") format.
	*/
	LZ4_FRAME: 0,
	/** Zstandard compression. */
	ZSTD: 1
}, L = { 
/**
* Each constituent buffer is first compressed with the indicated
* compressor, and then written with the uncompressed length in the first 8
* bytes as a 64-bit little-endian signed integer followed by the compressed
* buffer bytes (and then padding as required by the protocol). The
* uncompressed length may be set to -1 to indicate that the data that
* follows is not compressed, which can be useful for cases where
* compression does not yield appreciable savings.
*/
BUFFER: 0 }, R = Uint8Array, z = Uint16Array, B = Uint32Array, V = BigUint64Array, H = Int8Array, ee = Int16Array, U = Int32Array, W = BigInt64Array, G = Float32Array, te = Float64Array;
/**
* @param {unknown} value
* @returns {string}
*/
function ne(e) {
	return Object.prototype.toString.call(e);
}
/**
* Check if an input value is an ArrayBuffer or SharedArrayBuffer,
* applicable cross-realms. 
* @param {unknown} data
* @returns {data is ArrayBufferLike}
*/
function re(e) {
	return ne(e) === "[object ArrayBuffer]" || ne(e) === "[object SharedArrayBuffer]";
}
/**
* Check in an input value is a Uint8Array, applicable cross-realms. 
* @param {unknown} value 
* @returns {value is Uint8Array}
*/
function ie(e) {
	return ne(e) === "[object Uint8Array]";
}
/**
* Return the appropriate typed array constructor for the given
* integer type metadata.
* @param {number} bitWidth The integer size in bits.
* @param {boolean} signed Flag indicating if the integer is signed.
* @returns {IntArrayConstructor}
*/
function ae(e, t) {
	let n = Math.log2(e) - 3;
	return (t ? [
		H,
		ee,
		U,
		W
	] : [
		R,
		z,
		B,
		V
	])[n];
}
/**
* Determine the correct index into an offset array for a given
* full column row index. Assumes offset indices can be manipulated
* as 32-bit signed integers.
* @param {IntegerArray} offsets The offsets array.
* @param {number} index The full column row index.
*/
function oe(e, t) {
	let n = 0, r = e.length;
	if (r <= 2147483648) do {
		let i = n + r >>> 1;
		e[i] <= t ? n = i + 1 : r = i;
	} while (n < r);
	else do {
		let i = Math.trunc((n + r) / 2);
		e[i] <= t ? n = i + 1 : r = i;
	} while (n < r);
	return n;
}
// node_modules/@uwdata/flechette/src/util/objects.js
/**
* Return the input value if it passes a test.
* Otherwise throw an error using the given message generator.
* @template T
* @param {T} value The value to check.
* @param {(value: T) => boolean} test The test function.
* @param {(value: *) => string} message Message generator.
* @returns {T} The input value.
* @throws if the value does not pass the test
*/
function se(e, t, n) {
	if (t(e)) return e;
	throw Error(n(e));
}
/**
* Return the input value if it exists in the provided set.
* Otherwise throw an error using the given message generator.
* @template T
* @param {T} value The value to check.
* @param {T[] | Record<string,T>} set The set of valid values.
* @param {(value: *) => string} [message] Message generator.
* @returns {T} The input value.
* @throws if the value is not included in the set
*/
function K(e, t, n) {
	return t = Array.isArray(t) ? t : Object.values(t), se(e, (e) => t.includes(e), n ?? (() => `${e} must be one of ${t}`));
}
/**
* Return the first object key that pairs with the given value.
* @param {Record<string,any>} object The object to search.
* @param {any} value The value to lookup.
* @returns {string} The first matching key, or '<Unknown>' if not found.
*/
function ce(e, t) {
	for (let [n, r] of Object.entries(e)) if (r === t) return n;
	return "<Unknown>";
}
// node_modules/@uwdata/flechette/src/data-types.js
/**
* @import { BinaryType, BinaryViewType, BoolType, DataType, DateType, DateUnit_, DecimalType, DictionaryType, DurationType, Field, FixedSizeBinaryType, FixedSizeListType, FloatType, IntBitWidth, IntervalType, IntervalUnit_, IntType, LargeBinaryType, LargeListType, LargeListViewType, LargeUtf8Type, ListType, ListViewType, MapType, NullType, Precision_, RunEndEncodedType, StructType, TimestampType, TimeType, TimeUnit_, UnionMode_, UnionType, Utf8Type, Utf8ViewType } from './types.js'
*/
/**
* @typedef {Field | DataType} FieldInput
*/
var le = (e) => `Unsupported data type: "${ce(A, e)}" (id ${e})`, ue = (e, t, n = !0, r = null) => ({
	name: e,
	type: t,
	nullable: n,
	metadata: r
});
/**
* Checks if a value is a field instance.
* @param {any} value
* @returns {value is Field}
*/
function de(e) {
	return Object.hasOwn(e, "name") && fe(e.type);
}
/**
* Checks if a value is a data type instance.
* @param {any} value
* @returns {value is DataType}
*/
function fe(e) {
	return typeof e?.typeId == "number";
}
/**
* Return a field instance from a field or data type input.
* @param {FieldInput} value
*  The value to map to a field.
* @param {string} [defaultName] The default field name.
* @param {boolean} [defaultNullable=true] The default nullable value.
* @returns {Field} The field instance.
*/
function q(e, t = "", n = !0) {
	return de(e) ? e : ue(t, se(e, fe, () => "Data type expected."), n);
}
/**
* Return a Dictionary data type instance.  A dictionary type consists of a
* dictionary of values (which may be of any type) and corresponding integer
* indices that reference those values. If values are repeated, a dictionary
* encoding can provide substantial space savings. In the IPC format,
* dictionary indices reside alongside other columns in a record batch, while
* dictionary values are written to special dictionary batches, linked by a
* unique dictionary *id*.
* @param {DataType} type The data type of dictionary
*  values.
* @param {IntType} [indexType] The data type of
*  dictionary indices. Must be an integer type (default `int32`).
* @param {boolean} [ordered=false] Indicates if dictionary values are
*  ordered (default `false`).
* @param {number} [id=-1] The dictionary id. The default value (-1) indicates
*  the dictionary applies to a single column only. Provide an explicit id in
*  order to reuse a dictionary across columns when building, in which case
*  different dictionaries *must* have different unique ids. All dictionary
*  ids are later resolved (possibly to new values) upon IPC encoding.
* @returns {DictionaryType}
*/
var pe = (e, t, n = !1, r = -1) => ({
	typeId: A.Dictionary,
	id: r,
	dictionary: e,
	indices: t || he(),
	ordered: n
}), me = (e = 32, t = !0) => ({
	typeId: A.Int,
	bitWidth: K(e, [
		8,
		16,
		32,
		64
	]),
	signed: t,
	values: ae(e, t)
}), he = () => me(32), ge = (e = 2) => ({
	typeId: A.Float,
	precision: K(e, j),
	values: [
		z,
		G,
		te
	][e]
}), _e = () => ({
	typeId: A.Binary,
	offsets: U
}), ve = () => ({
	typeId: A.Utf8,
	offsets: U
}), ye = (e, t, n = 128) => ({
	typeId: A.Decimal,
	precision: e,
	scale: t,
	bitWidth: K(n, [
		32,
		64,
		128,
		256
	]),
	values: n === 32 ? U : V
}), be = (e) => ({
	typeId: A.Date,
	unit: K(e, M),
	values: e === M.DAY ? U : W
}), xe = (e = N.MILLISECOND) => {
	e = K(e, N);
	let t = e === N.SECOND || e === N.MILLISECOND ? 32 : 64;
	return {
		typeId: A.Time,
		unit: e,
		bitWidth: t,
		values: t === 32 ? U : W
	};
}, Se = (e = N.MILLISECOND, t = null) => ({
	typeId: A.Timestamp,
	unit: K(e, N),
	timezone: t,
	values: W
}), Ce = (e = P.MONTH_DAY_NANO) => ({
	typeId: A.Interval,
	unit: K(e, P),
	values: e === P.MONTH_DAY_NANO ? void 0 : U
}), we = (e) => ({
	typeId: A.List,
	children: [q(e)],
	offsets: U
}), Te = (e) => ({
	typeId: A.Struct,
	children: Array.isArray(e) && e.length > 0 && de(e[0]) ? e : Object.entries(e).map(([e, t]) => ue(e, t))
}), Ee = (e, t, n, r) => (n ??= t.map((e, t) => t), {
	typeId: A.Union,
	mode: K(e, F),
	typeIds: n,
	typeMap: n.reduce((e, t, n) => (e[t] = n, e), {}),
	children: t.map((e, t) => q(e, `_${t}`)),
	typeIdForValue: r,
	offsets: U
}), De = (e) => ({
	typeId: A.FixedSizeBinary,
	stride: e
}), Oe = (e, t) => ({
	typeId: A.FixedSizeList,
	stride: t,
	children: [q(e)]
}), ke = (e, t) => ({
	typeId: A.Map,
	keysSorted: e,
	children: [t],
	offsets: U
}), Ae = (e = N.MILLISECOND) => ({
	typeId: A.Duration,
	unit: K(e, N),
	values: W
}), je = () => ({
	typeId: A.LargeBinary,
	offsets: W
}), Me = () => ({
	typeId: A.LargeUtf8,
	offsets: W
}), Ne = (e) => ({
	typeId: A.LargeList,
	children: [q(e)],
	offsets: W
}), Pe = (e, t) => ({
	typeId: A.RunEndEncoded,
	children: [se(q(e, "run_ends"), (e) => e.type.typeId === A.Int, () => "Run-ends must have an integer type."), q(t, "values")]
}), Fe = (e) => ({
	typeId: A.ListView,
	children: [q(e, "value")],
	offsets: U
}), Ie = (e) => ({
	typeId: A.LargeListView,
	children: [q(e, "value")],
	offsets: W
}), Le = new te(2).buffer;
new W(Le), new B(Le), new U(Le), new R(Le);
/**
* Coerce a bigint value to a number. Throws an error if the bigint value
* lies outside the range of what a number can precisely represent.
* @param {bigint} value The value to check and possibly convert.
* @returns {number} The converted number value.
*/
function J(e) {
	if (e > 2 ** 53 - 1 || e < -(2 ** 53 - 1)) throw Error(`BigInt exceeds integer number representation: ${e}`);
	return Number(e);
}
/**
* Divide one BigInt value by another, and return the result as a number.
* The division may involve unsafe integers and a loss of precision.
* @param {bigint} num The numerator.
* @param {bigint} div The divisor.
* @returns {number} The result of the division as a floating point number.
*/
function Re(e, t) {
	return Number(e / t) + Number(e % t) / Number(t);
}
var ze = (e) => BigInt.asUintN(64, e);
/**
* Convert a 64-bit decimal value to a bigint.
* @param {BigUint64Array} buf The uint64 array containing the decimal bytes.
* @param {number} offset The starting index offset into the array.
* @returns {bigint} The converted decimal as a bigint, such that all
*  fractional digits are scaled up to integers (for example, 1.12 -> 112).
*/
function Be(e, t) {
	return BigInt.asIntN(64, e[t]);
}
/**
* Convert a 128-bit decimal value to a bigint.
* @param {BigUint64Array} buf The uint64 array containing the decimal bytes.
* @param {number} offset The starting index offset into the array.
* @returns {bigint} The converted decimal as a bigint, such that all
*  fractional digits are scaled up to integers (for example, 1.12 -> 112).
*/
function Ve(e, t) {
	let n = t << 1, r;
	return BigInt.asIntN(64, e[n + 1]) < 0 ? (r = ze(~e[n]) | ze(~e[n + 1]) << 64n, r = -(r + 1n)) : r = e[n] | e[n + 1] << 64n, r;
}
/**
* Convert a 256-bit decimal value to a bigint.
* @param {BigUint64Array} buf The uint64 array containing the decimal bytes.
* @param {number} offset The starting index offset into the array.
* @returns {bigint} The converted decimal as a bigint, such that all
*  fractional digits are scaled up to integers (for example, 1.12 -> 112).
*/
function He(e, t) {
	let n = t << 2, r;
	return BigInt.asIntN(64, e[n + 3]) < 0 ? (r = ze(~e[n]) | ze(~e[n + 1]) << 64n | ze(~e[n + 2]) << 128n | ze(~e[n + 3]) << 192n, r = -(r + 1n)) : r = e[n] | e[n + 1] << 64n | e[n + 2] << 128n | e[n + 3] << 192n, r;
}
// node_modules/@uwdata/flechette/src/util/strings.js
var Ue = new TextDecoder("utf-8");
new TextEncoder();
/**
* Return a UTF-8 string decoded from a byte buffer.
* @param {Uint8Array} buf The byte buffer.
* @returns {string} The decoded string.
*/
function We(e) {
	return Ue.decode(e);
}
/**
* Return a boolean for a single bit in a bitmap.
* @param {Uint8Array} bitmap The bitmap.
* @param {number} index The bit index to read.
* @returns {boolean} The boolean bitmap value.
*/
function Ge(e, t) {
	return !!(e[t >> 3] & 1 << t % 8);
}
/**
* Lookup helper for flatbuffer object (table) entries.
* @param {Uint8Array} buf The byte buffer.
* @param {number} index The base index of the object.
*/
function Y(e, t) {
	let n = t + Z(e, t), r = n - Z(e, n), i = X(e, r);
	/**
	* Retrieve a value from a flatbuffer table layout.
	* @template T
	* @param {number} index The table entry index.
	* @param {(buf: Uint8Array, offset: number) => T} read Read function to invoke.
	* @param {T} [fallback=null] The default fallback value.
	* @returns {T}
	*/
	return (t, a, o = null) => {
		if (t < i) {
			let i = X(e, r + t);
			if (i) return a(e, n + i);
		}
		return o;
	};
}
/**
* Return a buffer offset value.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {number}
*/
function Ke(e, t) {
	return t;
}
/**
* Return a boolean value.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {boolean}
*/
function qe(e, t) {
	return !!Je(e, t);
}
/**
* Return a signed 8-bit integer value.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {number}
*/
function Je(e, t) {
	return Ye(e, t) << 24 >> 24;
}
/**
* Return an unsigned 8-bit integer value.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {number}
*/
function Ye(e, t) {
	return e[t];
}
/**
* Return a signed 16-bit integer value.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {number}
*/
function X(e, t) {
	return Xe(e, t) << 16 >> 16;
}
/**
* Return an unsigned 16-bit integer value.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {number}
*/
function Xe(e, t) {
	return e[t] | e[t + 1] << 8;
}
/**
* Return a signed 32-bit integer value.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {number}
*/
function Z(e, t) {
	return e[t] | e[t + 1] << 8 | e[t + 2] << 16 | e[t + 3] << 24;
}
/**
* Return an unsigned 32-bit integer value.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {number}
*/
function Ze(e, t) {
	return Z(e, t) >>> 0;
}
/**
* Return a signed 64-bit integer value coerced to a JS number.
* Throws an error if the value exceeds what a JS number can represent.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {number}
*/
function Q(e, t) {
	return J(BigInt.asIntN(64, BigInt(Ze(e, t)) + (BigInt(Ze(e, t + 4)) << 32n)));
}
/**
* Create a JavaScript string from UTF-8 data stored inside the FlatBuffer.
* This allocates a new string and converts to wide chars upon each access.
* @param {Uint8Array} buf The byte buffer.
* @param {number} index The index of the string entry.
* @returns {string} The decoded string.
*/
function Qe(e, t) {
	let n = t + Z(e, t), r = Z(e, n);
	return n += 4, We(e.subarray(n, n + r));
}
/**
* Extract a flatbuffer vector to an array.
* @template T
* @param {Uint8Array} buf The byte buffer.
* @param {number} offset The offset location of the vector.
* @param {number} stride The stride between vector entries.
* @param {(buf: Uint8Array, pos: number) => T} extract Vector entry extraction function.
* @returns {T[]} The extracted vector entries.
*/
function $e(e, t, n, r) {
	if (!t) return [];
	let i = t + Z(e, t);
	return Array.from({ length: Z(e, i) }, (t, a) => r(e, i + 4 + a * n));
}
// node_modules/@uwdata/flechette/src/util/struct.js
/**
* @import { Batch } from '../batch.js';
*/
/**
* Symbol for the row index value of a struct object proxy.
*/
var et = Symbol("rowIndex");
/**
* Returns a row proxy object factory. The resulting method takes a
* batch-level row index as input and returns an object that proxies
* access to underlying batches.
* @param {string[]} names The column (property) names
* @param {Batch[]} batches The value batches.
* @returns {(index: number) => Record<string, any>}
*/
function tt(e, t) {
	class n {
		/**
		* Create a new proxy row object representing a struct or table row.
		* @param {number} index The record batch row index.
		*/
		constructor(e) {
			this[et] = e;
		}
		/**
		* Return a JSON-compatible object representation.
		*/
		toJSON() {
			return rt(e, t, this[et]);
		}
	}
	let r = n.prototype;
	for (let n = 0; n < e.length; ++n) {
		if (Object.hasOwn(r, e[n])) continue;
		let i = t[n];
		Object.defineProperty(r, e[n], {
			get() {
				return i.at(this[et]);
			},
			enumerable: !0
		});
	}
	return (e) => new n(e);
}
/**
* Returns a row object factory. The resulting method takes a
* batch-level row index as input and returns an object whose property
* values have been extracted from the batches.
* @param {string[]} names The column (property) names
* @param {Batch[]} batches The value batches.
* @returns {(index: number) => Record<string, any>}
*/
function nt(e, t) {
	return (n) => rt(e, t, n);
}
/**
* Return a vanilla object representing a struct (row object) type.
* @param {string[]} names The column (property) names
* @param {Batch[]} batches The value batches.
* @param {number} index The record batch row index.
* @returns {Record<string, any>}
*/
function rt(e, t, n) {
	let r = {};
	for (let i = 0; i < e.length; ++i) r[e[i]] = t[i].at(n);
	return r;
}
// node_modules/@uwdata/flechette/src/batch.js
/**
* @import { Column } from './column.js'
* @import { DataType, DecimalType, IntegerArray, OffsetArray, TypedArray, TypedArrayConstructor, ValueArray } from './types.js'
*/
/**
* Check if the input is a batch that supports direct access to
* binary data in the form of typed arrays.
* @param {Batch<any>?} batch The data batch to check.
* @returns {boolean} True if a direct batch, false otherwise.
*/
function it(e) {
	return e instanceof ot;
}
/**
* Column values from a single record batch.
* A column may contain multiple batches.
* @template T
*/
var at = class {
	/**
	* The array type to use when extracting data from the batch.
	* A null value indicates that the array type should match
	* the type of the batch's values array.
	* @type {ArrayConstructor | TypedArrayConstructor | null}
	*/
	static ArrayType = null;
	/**
	* Create a new column batch.
	* @param {object} options
	* @param {number} options.length The length of the batch
	* @param {number} options.nullCount The null value count
	* @param {DataType} options.type The data type.
	* @param {Uint8Array} [options.validity] Validity bitmap buffer
	* @param {TypedArray} [options.values] Values buffer
	* @param {OffsetArray} [options.offsets] Offsets buffer
	* @param {OffsetArray} [options.sizes] Sizes buffer
	* @param {Batch[]} [options.children] Children batches
	*/
	constructor({ length: e, nullCount: t, type: n, validity: r, values: i, offsets: a, sizes: o, children: s }) {
		this.length = e, this.nullCount = t, this.type = n, this.validity = r, this.values = i, this.offsets = a, this.sizes = o, this.children = s, t && this.validity || (this.at = (e) => this.value(e));
	}
	/**
	* Provide an informative object string tag.
	*/
	get [Symbol.toStringTag]() {
		return "Batch";
	}
	/**
	* Return the value at the given index.
	* @param {number} index The value index.
	* @returns {T | null} The value.
	*/
	at(e) {
		return this.isValid(e) ? this.value(e) : null;
	}
	/**
	* Check if a value at the given index is valid (non-null).
	* @param {number} index The value index.
	* @returns {boolean} True if valid, false otherwise.
	*/
	isValid(e) {
		return Ge(this.validity, e);
	}
	/**
	* Return the value at the given index. This method does not check the
	* validity bitmap and is intended primarily for internal use. In most
	* cases, callers should use the `at()` method instead.
	* @param {number} index The value index
	* @returns {T} The value, ignoring the validity bitmap.
	*/
	value(e) {
		return this.values[e];
	}
	/**
	* Extract an array of values within the given index range. Unlike
	* Array.slice, all arguments are required and may not be negative indices.
	* @param {number} start The starting index, inclusive
	* @param {number} end The ending index, exclusive
	* @returns {ValueArray<T?>} The slice of values
	*/
	slice(e, t) {
		let n = t - e, r = Array(n);
		for (let t = 0; t < n; ++t) r[t] = this.at(e + t);
		return r;
	}
	/**
	* Return an iterator over the values in this batch.
	* @returns {Iterator<T?>}
	*/
	*[Symbol.iterator]() {
		for (let e = 0; e < this.length; ++e) yield this.at(e);
	}
}, ot = class extends at {
	/**
	* Create a new column batch with direct value array access.
	* @param {object} options
	* @param {number} options.length The length of the batch
	* @param {number} options.nullCount The null value count
	* @param {DataType} options.type The data type.
	* @param {Uint8Array} [options.validity] Validity bitmap buffer
	* @param {TypedArray} options.values Values buffer
	*/
	constructor(e) {
		super(e);
		let { length: t, values: n } = this;
		this.values = n.subarray(0, t);
	}
	/**
	* Extract an array of values within the given index range. Unlike
	* Array.slice, all arguments are required and may not be negative indices.
	* When feasible, a zero-copy subarray of a typed array is returned.
	* @param {number} start The starting index, inclusive
	* @param {number} end The ending index, exclusive
	* @returns {ValueArray<T?>} The slice of values
	*/
	slice(e, t) {
		return this.nullCount ? super.slice(e, t) : this.values.subarray(e, t);
	}
	/**
	* Return an iterator over the values in this batch.
	* @returns {Iterator<T?>}
	*/
	[Symbol.iterator]() {
		return this.nullCount ? super[Symbol.iterator]() : this.values[Symbol.iterator]();
	}
}, st = class extends at {
	static ArrayType = te;
}, $ = class extends at {
	static ArrayType = Array;
}, ct = class extends $ {
	/**
	* @param {number} index The value index
	* @returns {null}
	*/
	value(e) {
		return null;
	}
}, lt = class extends st {
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return J(this.values[e]);
	}
}, ut = class extends st {
	/**
	* @param {number} index The value index
	*/
	value(e) {
		let t = this.values[e], n = (t & 31744) >> 10, r = (t & 1023) / 1024, i = (-1) ** ((t & 32768) >> 15);
		switch (n) {
			case 31: return i * (r ? NaN : 1 / 0);
			case 0: return i * (r ? 6103515625e-14 * r : 0);
		}
		return i * 2 ** (n - 15) * (1 + r);
	}
}, dt = class extends $ {
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return Ge(this.values, e);
	}
}, ft = class extends st {
	constructor(e) {
		super(e);
		let { scale: t } = this.type;
		this.scale = 10 ** t;
	}
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return this.values[e] / this.scale;
	}
}, pt = class extends at {
	constructor(e) {
		super(e);
		let { bitWidth: t, scale: n } = this.type;
		this.decimal = t === 64 ? Be : t === 128 ? Ve : He, this.scale = 10n ** BigInt(n);
	}
}, mt = class extends pt {
	static ArrayType = te;
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return Re(this.decimal(this.values, e), this.scale);
	}
}, ht = class extends pt {
	static ArrayType = Array;
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return this.decimal(this.values, e);
	}
}, gt = class extends $ {
	/**
	* Create a new date batch.
	* @param {Batch<number>} batch A batch of timestamp values.
	*/
	constructor(e) {
		super(e), this.source = e;
	}
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return new Date(this.source.value(e));
	}
}, _t = class extends st {
	/**
	* @param {number} index The value index
	* @returns {number}
	*/
	value(e) {
		return 864e5 * this.values[e];
	}
}, vt = lt, yt = class extends lt {
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return super.value(e) * 1e3;
	}
}, bt = lt, xt = class extends lt {
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return Re(this.values[e], 1000n);
	}
}, St = class extends lt {
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return Re(this.values[e], 1000000n);
	}
}, Ct = class extends $ {
	/**
	* @param {number} index The value index
	* @returns {Int32Array}
	*/
	value(e) {
		return this.values.subarray(e << 1, e + 1 << 1);
	}
}, wt = class extends $ {
	/**
	* @param {number} index The value index
	*/
	value(e) {
		let t = this.values, n = e << 4;
		return Float64Array.of(Z(t, n), Z(t, n + 4), Q(t, n + 8));
	}
}, Tt = ({ values: e, offsets: t }, n) => e.subarray(t[n], t[n + 1]), Et = ({ values: e, offsets: t }, n) => e.subarray(J(t[n]), J(t[n + 1])), Dt = class extends $ {
	/**
	* @param {number} index
	* @returns {Uint8Array}
	*/
	value(e) {
		return Tt(this, e);
	}
}, Ot = class extends $ {
	/**
	* @param {number} index
	* @returns {Uint8Array}
	*/
	value(e) {
		return Et(this, e);
	}
}, kt = class extends $ {
	/**
	* @param {number} index
	*/
	value(e) {
		return We(Tt(this, e));
	}
}, At = class extends $ {
	/**
	* @param {number} index
	*/
	value(e) {
		return We(Et(this, e));
	}
}, jt = class extends $ {
	/**
	* @param {number} index
	* @returns {ValueArray<V>}
	*/
	value(e) {
		let t = this.offsets;
		return this.children[0].slice(t[e], t[e + 1]);
	}
}, Mt = class extends $ {
	/**
	* @param {number} index
	* @returns {ValueArray<V>}
	*/
	value(e) {
		let t = this.offsets;
		return this.children[0].slice(J(t[e]), J(t[e + 1]));
	}
}, Nt = class extends $ {
	/**
	* @param {number} index
	* @returns {ValueArray<V>}
	*/
	value(e) {
		let t = this.offsets[e], n = t + this.sizes[e];
		return this.children[0].slice(t, n);
	}
}, Pt = class extends $ {
	/**
	* @param {number} index
	* @returns {ValueArray<V>}
	*/
	value(e) {
		let t = this.offsets[e], n = t + this.sizes[e];
		return this.children[0].slice(J(t), J(n));
	}
}, Ft = class extends $ {
	constructor(e) {
		/** @type {number} */
		super(e), this.stride = this.type.stride;
	}
}, It = class extends Ft {
	/**
	* @param {number} index
	* @returns {Uint8Array}
	*/
	value(e) {
		let { stride: t, values: n } = this;
		return n.subarray(e * t, (e + 1) * t);
	}
}, Lt = class extends Ft {
	/**
	* @param {number} index
	* @returns {ValueArray<V>}
	*/
	value(e) {
		let { children: t, stride: n } = this;
		return t[0].slice(e * n, (e + 1) * n);
	}
};
/**
* Extract Map key-value pairs from parallel child batches.
*/
function Rt({ children: e, offsets: t }, n) {
	let [r, i] = e[0].children, a = t[n], o = t[n + 1], s = [];
	for (let e = a; e < o; ++e) s.push([r.at(e), i.at(e)]);
	return s;
}
/**
* A batch of map (key, value) values. The map is represented as a list of
* key-value structs.
* @template K, V
* @extends {ArrayBatch<[K, V][]>}
*/
var zt = class extends $ {
	/**
	* Return the value at the given index.
	* @param {number} index The value index.
	* @returns {[K, V][]} The map entries as an array of [key, value] arrays.
	*/
	value(e) {
		return Rt(this, e);
	}
}, Bt = class extends $ {
	/**
	* Return the value at the given index.
	* @param {number} index The value index.
	* @returns {Map<K, V>} The map value.
	*/
	value(e) {
		return new Map(Rt(this, e));
	}
}, Vt = class extends $ {
	/**
	* Create a new column batch.
	* @param {object} options
	* @param {number} options.length The length of the batch
	* @param {number} options.nullCount The null value count
	* @param {DataType} options.type The data type.
	* @param {Uint8Array} [options.validity] Validity bitmap buffer
	* @param {Int32Array} [options.offsets] Offsets buffer
	* @param {Batch[]} options.children Children batches
	* @param {Int8Array} options.typeIds Union type ids buffer
	* @param {Record<string, number>} options.map A typeId to children index map
	*/
	constructor({ typeIds: e, ...t }) {
		/** @type {Record<string, number>} */
		super(t), this.typeIds = e, this.typeMap = this.type.typeMap;
	}
	/**
	* @param {number} index The value index.
	*/
	value(e, t = e) {
		let { typeIds: n, children: r, typeMap: i } = this;
		return r[i[n[e]]].at(t);
	}
}, Ht = class extends Vt {
	/**
	* @param {number} index The value index.
	*/
	value(e) {
		return super.value(e, this.offsets[e]);
	}
}, Ut = class extends $ {
	constructor(e, t = nt) {
		super(e), this.names = this.type.children.map((e) => e.name), this.factory = t(this.names, this.children);
	}
	/**
	* @param {number} index The value index.
	* @returns {Record<string, any>}
	*/
	value(e) {
		return this.factory(e);
	}
}, Wt = class extends Ut {
	constructor(e) {
		super(e, tt);
	}
}, Gt = class extends $ {
	/**
	* @param {number} index The value index.
	*/
	value(e) {
		let [{ values: t }, n] = this.children;
		return n.at(oe(t, e));
	}
}, Kt = class extends $ {
	/**
	* Register the backing dictionary. Dictionaries are added
	* after batch creation as the complete dictionary may not
	* be finished across multiple record batches.
	* @param {Column<T>} dictionary
	* The dictionary of column values.
	*/
	setDictionary(e) {
		return this.dictionary = e, this.cache = e.cache(), this;
	}
	/**
	* @param {number} index The value index.
	*/
	value(e) {
		return this.cache[this.key(e)];
	}
	/**
	* @param {number} index The value index.
	* @returns {number} The dictionary key
	*/
	key(e) {
		return this.values[e];
	}
}, qt = class extends $ {
	/**
	* Create a new view batch.
	* @param {object} options Batch options.
	* @param {number} options.length The length of the batch
	* @param {number} options.nullCount The null value count
	* @param {DataType} options.type The data type.
	* @param {Uint8Array} [options.validity] Validity bitmap buffer
	* @param {Uint8Array} options.values Values buffer
	* @param {Uint8Array[]} options.data View data buffers
	*/
	constructor({ data: e, ...t }) {
		super(t), this.data = e;
	}
	/**
	* Get the binary data at the provided index.
	* @param {number} index The value index.
	* @returns {Uint8Array}
	*/
	view(e) {
		let { values: t, data: n } = this, r = e << 4, i = r + 4, a = t, o = Z(a, r);
		return o > 12 && (i = Z(a, r + 12), a = n[Z(a, r + 8)]), a.subarray(i, i + o);
	}
}, Jt = class extends qt {
	/**
	* @param {number} index The value index.
	*/
	value(e) {
		return this.view(e);
	}
}, Yt = class extends qt {
	/**
	* @param {number} index The value index.
	*/
	value(e) {
		return We(this.view(e));
	}
};
// node_modules/@uwdata/flechette/src/column.js
/**
* @import { Batch } from './batch.js'
* @import { DataType, ValueArray } from './types.js'
*/
/**
* Build up a column from batches.
*/
function Xt(e) {
	let t = [];
	return {
		add(e) {
			return t.push(e), this;
		},
		clear: () => t = [],
		done: () => new Zt(t, e)
	};
}
/**
* A data column. A column provides a view over one or more value batches,
* each drawn from an Arrow record batch. This class supports random access
* to column values by integer index; however, extracting arrays using
* `toArray()` or iterating over values (`for (const value of column) {...}`)
* provide more efficient ways for bulk access or scanning.
* @template T
*/
var Zt = class {
	/**
	* Create a new column instance.
	* @param {Batch<T>[]} data The value batches.
	* @param {DataType} [type] The column data type.
	*  If not specified, the type is extracted from the batches.
	*/
	constructor(e, t = e[0]?.type) {
		/**
		* An array of column data batches.
		* @type {readonly Batch<T>[]}
		* @readonly
		*/
		this.type = t, this.length = e.reduce((e, t) => e + t.length, 0), this.nullCount = e.reduce((e, t) => e + t.nullCount, 0), this.data = e;
		let n = e.length, r = new Int32Array(n + 1);
		if (n === 1) {
			let [t] = e;
			r[1] = t.length, this.at = (e) => t.at(e);
		} else for (let t = 0, i = 0; t < n; ++t) r[t + 1] = i += e[t].length;
		/**
		* Index offsets for data batches.
		* Used to map a column row index to a batch-specific index.
		* @type {Int32Array}
		* @readonly
		*/
		this.offsets = r;
	}
	/**
	* Provide an informative object string tag.
	*/
	get [Symbol.toStringTag]() {
		return "Column";
	}
	/**
	* Return an iterator over the values in this column.
	* @returns {Iterator<T?>}
	*/
	[Symbol.iterator]() {
		let e = this.data;
		return e.length === 1 ? e[0][Symbol.iterator]() : Qt(e);
	}
	/**
	* Return the column value at the given index. If a column has multiple
	* batches, this method performs binary search over the batch lengths to
	* determine the batch from which to retrieve the value. The search makes
	* lookup less efficient than a standard array access. If making a full
	* scan of a column, consider extracting arrays via `toArray()` or using an
	* iterator (`for (const value of column) {...}`).
	* @param {number} index The row index.
	* @returns {T | null} The value.
	*/
	at(e) {
		let { data: t, offsets: n } = this, r = oe(n, e) - 1;
		return t[r]?.at(e - n[r]);
	}
	/**
	* Return the column value at the given index. This method is the same as
	* `at()` and is provided for better compatibility with Apache Arrow JS.
	* @param {number} index The row index.
	* @returns {T | null} The value.
	*/
	get(e) {
		return this.at(e);
	}
	/**
	* Extract column values into a single array instance. When possible,
	* a zero-copy subarray of the input Arrow data is returned.
	* @returns {ValueArray<T?>}
	*/
	toArray() {
		let { length: e, nullCount: t, data: n } = this, r = !t && it(n[0]), i = n.length;
		if (r && i === 1) return n[0].values;
		let a = new (!i || t > 0 ? Array : n[0].constructor.ArrayType ?? n[0].values.constructor)(e);
		return r ? $t(a, n) : en(a, n);
	}
	/**
	* Return an array of cached column values.
	* Used internally to accelerate dictionary types.
	*/
	cache() {
		return this._cache ??= this.toArray();
	}
};
function* Qt(e) {
	for (let t = 0; t < e.length; ++t) {
		let n = e[t][Symbol.iterator]();
		for (let e = n.next(); !e.done; e = n.next()) yield e.value;
	}
}
function $t(e, t) {
	for (let n = 0, r = 0; n < t.length; ++n) {
		let { values: i } = t[n];
		e.set(i, r), r += i.length;
	}
	return e;
}
function en(e, t) {
	let n = -1;
	for (let r = 0; r < t.length; ++r) {
		let i = t[r];
		for (let t = 0; t < i.length; ++t) e[++n] = i.at(t);
	}
	return e;
}
// node_modules/@uwdata/flechette/src/table.js
/**
* @import { Column } from './column.js'
* @import { Schema, StructFactory, TypeMap, ValueArray } from './types.js'
*/
/**
* A table consists of a collection of named columns (or 'children').
* To work with table data directly in JavaScript, use `toColumns()`
* to extract an object that maps column names to extracted value arrays,
* or `toArray()` to extract an array of row objects. For random access
* by row index, use `getChild()` to access data for a specific column.
* @template {TypeMap} [T=TypeMap]
*/
var tn = class e {
	/**
	* Create a new table with the given schema and columns (children).
	* @param {Schema} schema The table schema.
	* @param {Column[]} children The table columns.
	* @param {boolean} [useProxy=false] Flag indicating if row proxy
	*  objects should be used to represent table rows (default `false`).
	*/
	constructor(e, t, n = !1) {
		let r = e.fields.map((e) => e.name);
		/**
		* @type {StructFactory}
		* @readonly
		*/
		this.schema = e, this.names = r, this.children = t, this.factory = n ? tt : nt;
		let i = [];
		/**
		* Returns a row object generator for the given batch index.
		* @private
		* @readonly
		* @param {number} b The batch index.
		* @returns {(index: number) => { [P in keyof T]: T[P] }}
		*/
		this.getFactory = (e) => i[e] ?? (i[e] = this.factory(r, t.map((t) => t.data[e])));
	}
	/**
	* Provide an informative object string tag.
	*/
	get [Symbol.toStringTag]() {
		return "Table";
	}
	/**
	* The number of columns in this table.
	* @return {number} The number of columns.
	*/
	get numCols() {
		return this.names.length;
	}
	/**
	* The number of rows in this table.
	* @return {number} The number of rows.
	*/
	get numRows() {
		return this.children[0]?.length ?? 0;
	}
	/**
	* Return the child column at the given index position.
	* @template {T[keyof T]} R
	* @param {number} index The column index.
	* @returns {Column<R>}
	*/
	getChildAt(e) {
		return this.children[e];
	}
	/**
	* Return the first child column with the given name.
	* @template {keyof T} P
	* @param {P} name The column name.
	* @returns {Column<T[P]>}
	*/
	getChild(e) {
		let t = this.names.findIndex((t) => t === e);
		return t > -1 ? this.children[t] : void 0;
	}
	/**
	* Construct a new table containing only columns at the specified indices.
	* The order of columns in the new table matches the order of input indices.
	* @template {T[keyof T]} V
	* @param {number[]} indices The indices of columns to keep.
	* @param {string[]} [as] Optional new names for selected columns.
	* @returns {Table<{ [key: string]: V }>} A new table with selected columns.
	*/
	selectAt(t, n = []) {
		let { children: r, factory: i, schema: a } = this, { fields: o } = a;
		return new e({
			...a,
			fields: t.map((e, t) => nn(o[e], n[t]))
		}, t.map((e) => r[e]), i === tt);
	}
	/**
	* Construct a new table containing only columns with the specified names.
	* If columns have duplicate names, the first (with lowest index) is used.
	* The order of columns in the new table matches the order of input names.
	* @template {keyof T} K
	* @param {K[]} names Names of columns to keep.
	* @param {string[]} [as] Optional new names for selected columns.
	* @returns A new table with columns matching the specified names.
	*/
	select(e, t) {
		let n = this.names, r = e.map((e) => n.indexOf(e));
		return this.selectAt(r, t);
	}
	/**
	* Return an object mapping column names to extracted value arrays.
	* @returns {{ [P in keyof T]: ValueArray<T[P]> }}
	*/
	toColumns() {
		let { children: e, names: t } = this, n = {};
		return t.forEach((t, r) => n[t] = e[r]?.toArray() ?? []), n;
	}
	/**
	* Return an array of objects representing the rows of this table.
	* @returns {{ [P in keyof T]: T[P] }[]}
	*/
	toArray() {
		let { children: e, getFactory: t, numRows: n } = this, r = e[0]?.data ?? [], i = Array(n);
		for (let e = 0, n = -1; e < r.length; ++e) {
			let a = t(e);
			for (let t = 0; t < r[e].length; ++t) i[++n] = a(t);
		}
		return i;
	}
	/**
	* Return an iterator over objects representing the rows of this table.
	* @returns {Generator<{ [P in keyof T]: T[P] }, any, any>}
	*/
	*[Symbol.iterator]() {
		let { children: e, getFactory: t } = this, n = e[0]?.data ?? [];
		for (let e = 0; e < n.length; ++e) {
			let r = t(e);
			for (let t = 0; t < n[e].length; ++t) yield r(t);
		}
	}
	/**
	* Return a row object for the given index.
	* @param {number} index The row index.
	* @returns {{ [P in keyof T]: T[P] }} The row object.
	*/
	at(e) {
		let { children: t, getFactory: n, numRows: r } = this;
		if (e < 0 || e >= r) return null;
		let [{ offsets: i }] = t, a = oe(i, e) - 1;
		return n(a)(e - i[a]);
	}
	/**
	* Return a row object for the given index. This method is the same as
	* `at()` and is provided for better compatibility with Apache Arrow JS.
	* @param {number} index The row index.
	* @returns {{ [P in keyof T]: T[P] }} The row object.
	*/
	get(e) {
		return this.at(e);
	}
};
function nn(e, t) {
	return t != null && t !== e.name ? {
		...e,
		name: t
	} : e;
}
// node_modules/@uwdata/flechette/src/batch-type.js
/**
* @import { DataType, ExtractionOptions } from './types.js';
*/
/**
* Return a batch constructor for the given data type and extraction options.
* @param {DataType} type The data type.
* @param {ExtractionOptions} options The extraction options.
*/
function rn(e, t = {}) {
	let { typeId: n, bitWidth: r, mode: i, precision: a, unit: o } = e, { useBigInt: s, useBigIntTimestamp: c, useDate: l, useDecimalInt: u, useMap: d, useProxy: f } = t;
	switch (n) {
		case A.Null: return ct;
		case A.Bool: return dt;
		case A.Int:
		case A.Time:
		case A.Duration: return s || r < 64 ? ot : lt;
		case A.Float: return a ? ot : ut;
		case A.Date: return an(o === M.DAY ? _t : vt, l && gt);
		case A.Timestamp: return c ? ot : an(o === N.SECOND ? yt : o === N.MILLISECOND ? bt : o === N.MICROSECOND ? xt : St, l && gt);
		case A.Decimal: return r === 32 ? u ? ot : ft : u ? ht : mt;
		case A.Interval: return o === P.DAY_TIME ? Ct : o === P.YEAR_MONTH ? ot : wt;
		case A.FixedSizeBinary: return It;
		case A.Utf8: return kt;
		case A.LargeUtf8: return At;
		case A.Binary: return Dt;
		case A.LargeBinary: return Ot;
		case A.BinaryView: return Jt;
		case A.Utf8View: return Yt;
		case A.List: return jt;
		case A.LargeList: return Mt;
		case A.Map: return d ? Bt : zt;
		case A.ListView: return Nt;
		case A.LargeListView: return Pt;
		case A.FixedSizeList: return Lt;
		case A.Struct: return f ? Wt : Ut;
		case A.RunEndEncoded: return Gt;
		case A.Dictionary: return Kt;
		case A.Union: return i ? Ht : Vt;
	}
	throw Error(le(n));
}
function an(e, t) {
	return t ? class extends t {
		constructor(t) {
			super(new e(t));
		}
	} : e;
}
// node_modules/@uwdata/flechette/src/compression.js
/** @import { Codec, CompressionType_ } from './types.js' */
var on = -1, sn = 8;
/**
* Return an error message for a missing codec.
* @param {CompressionType_} type The codec type.
*/
function cn(e) {
	return `Missing compression codec "${ce(I, e)}" (id ${e})`;
}
/** @type {Map<CompressionType_, Codec>} */
var ln = /* @__PURE__ */ new Map();
/**
* Returns a compression codec for the provided type, or null if not found.
* Compression codecs must first be registered using *setCompressionCodec*.
* @param {CompressionType_ | null} [type] The compression type.
* @returns {Codec | null} The compression codec, or null if not registered.
*/
function un(e) {
	return e != null && ln.get(e) || null;
}
/**
* Decompress an Arrow buffer, return decompressed bytes and region metadata.
* @param {Uint8Array} body The message body.
* @param {{ offset: number, length: number }} region Buffer region metadata.
* @param {Codec} codec A compression codec.
* @returns {{ bytes: Uint8Array, offset: number, length: number }}
*/
function dn(e, { offset: t, length: n }, r) {
	if (n === 0) return {
		bytes: /* @__PURE__ */ new Uint8Array(),
		offset: 0,
		length: 0
	};
	let i = Q(e, t), a = e.subarray(t + sn, t + n), o = i === on ? a : r.decode(a, i);
	return {
		bytes: o,
		offset: 0,
		length: o.length
	};
}
// node_modules/@uwdata/flechette/src/decode/block.js
/**
* Decode a block that points to messages within an Arrow 'file' format.
* @param {Uint8Array} buf A byte buffer of binary Arrow IPC data
* @param {number} index The starting index in the byte buffer
* @returns The file block.
*/
function fn(e, t) {
	return {
		offset: Q(e, t),
		metadataLength: Z(e, t + 8),
		bodyLength: Q(e, t + 16)
	};
}
/**
* Decode a vector of blocks.
* @param {Uint8Array} buf
* @param {number} index
* @returns An array of file blocks.
*/
function pn(e, t) {
	return $e(e, t, 24, fn);
}
// node_modules/@uwdata/flechette/src/decode/body-compression.js
/**
* @import { BodyCompression, BodyCompressionMethod_, CompressionType_ } from '../types.js'
*/
/**
* Decode record batch body compression metadata.
* @param {Uint8Array} buf A byte buffer of binary Arrow IPC data
* @param {number} index The starting index in the byte buffer
* @returns {BodyCompression | undefined} The body compression metadata
*/
function mn(e, t) {
	let n = Y(e, t);
	return {
		codec: n(4, Je, I.LZ4_FRAME),
		method: n(6, Je, L.BUFFER)
	};
}
// node_modules/@uwdata/flechette/src/decode/record-batch.js
/**
* @import { RecordBatch, Version_ } from '../types.js'
*/
/**
* Decode a record batch.
* @param {Uint8Array} buf A byte buffer of binary Arrow IPC data
* @param {number} index The starting index in the byte buffer
* @param {Version_} version Arrow version value
* @returns {RecordBatch} The record batch
*/
function hn(e, t, n) {
	let r = Y(e, t), i = n < O.V4 ? 8 : 0;
	return {
		length: r(4, Q, 0),
		nodes: $e(e, r(6, Ke), 16, (e, t) => ({
			length: Q(e, t),
			nullCount: Q(e, t + 8)
		})),
		regions: $e(e, r(8, Ke), 16 + i, (e, t) => ({
			offset: Q(e, t + i),
			length: Q(e, t + i + 8)
		})),
		compression: r(10, mn),
		variadic: $e(e, r(12, Ke), 8, Q)
	};
}
// node_modules/@uwdata/flechette/src/decode/dictionary-batch.js
/**
* @import { DictionaryBatch, Version_ } from '../types.js'
*/
/**
* Decode a dictionary batch.
* @param {Uint8Array} buf A byte buffer of binary Arrow IPC data
* @param {number} index The starting index in the byte buffer
* @param {Version_} version Arrow version value
* @returns {DictionaryBatch} The dictionary batch
*/
function gn(e, t, n) {
	let r = Y(e, t);
	return {
		id: r(4, Q, 0),
		data: r(6, (e, t) => hn(e, t, n)),
		/**
		* If isDelta is true the values in the dictionary are to be appended to a
		* dictionary with the indicated id. If isDelta is false this dictionary
		* should replace the existing dictionary.
		*/
		isDelta: r(8, qe, !1)
	};
}
// node_modules/@uwdata/flechette/src/decode/data-type.js
/**
* @import { DataType, Field } from '../types.js'
*/
/**
* Decode a data type definition for a field.
* @param {Uint8Array} buf A byte buffer of binary Arrow IPC data.
* @param {number} index The starting index in the byte buffer.
* @param {number} typeId The data type id.
* @param {Field[]} [children] A list of parsed child fields.
* @returns {DataType} The data type.
*/
function _n(e, t, n, r) {
	K(n, A, le);
	let i = Y(e, t);
	switch (n) {
		case A.Binary: return _e();
		case A.Utf8: return ve();
		case A.LargeBinary: return je();
		case A.LargeUtf8: return Me();
		case A.List: return we(r[0]);
		case A.ListView: return Fe(r[0]);
		case A.LargeList: return Ne(r[0]);
		case A.LargeListView: return Ie(r[0]);
		case A.Struct: return Te(r);
		case A.RunEndEncoded: return Pe(r[0], r[1]);
		case A.Int: return me(i(4, Z, 0), i(6, qe, !1));
		case A.Float: return ge(i(4, X, j.HALF));
		case A.Decimal: return ye(i(4, Z, 0), i(6, Z, 0), i(8, Z, 128));
		case A.Date: return be(i(4, X, M.MILLISECOND));
		case A.Time: return xe(i(4, X, N.MILLISECOND));
		case A.Timestamp: return Se(i(4, X, N.SECOND), i(6, Qe));
		case A.Interval: return Ce(i(4, X, P.YEAR_MONTH));
		case A.Duration: return Ae(i(4, X, N.MILLISECOND));
		case A.FixedSizeBinary: return De(i(4, Z, 0));
		case A.FixedSizeList: return Oe(r[0], i(4, Z, 0));
		case A.Map: return ke(i(4, qe, !1), r[0]);
		case A.Union: return Ee(i(4, X, F.Sparse), r, $e(e, i(6, Ke), 4, Z));
	}
	return { typeId: n };
}
// node_modules/@uwdata/flechette/src/decode/metadata.js
/**
* @import { Metadata } from '../types.js'
*/
/**
* Decode custom metadata consisting of key-value string pairs.
* @param {Uint8Array} buf A byte buffer of binary Arrow IPC data
* @param {number} index The starting index in the byte buffer
* @returns {Metadata | null} The custom metadata map
*/
function vn(e, t) {
	let n = $e(e, t, 4, (e, t) => {
		let n = Y(e, t);
		return [n(4, Qe), n(6, Qe)];
	});
	return n.length ? new Map(n) : null;
}
// node_modules/@uwdata/flechette/src/decode/schema.js
/**
* @import { DictionaryType, Endianness_, Field, IntType, Schema, Version_ } from '../types.js'
*/
/**
* Decode a table schema describing the fields and their data types.
* @param {Uint8Array} buf A byte buffer of binary Arrow IPC data
* @param {number} index The starting index in the byte buffer
* @param {Version_} version Arrow version value
* @returns {Schema} The schema
*/
function yn(e, t, n) {
	let r = Y(e, t);
	return {
		version: n,
		endianness: r(4, X, 0),
		fields: r(6, bn, []),
		metadata: r(8, vn)
	};
}
/**
* @returns {Field[] | null}
*/
function bn(e, t) {
	return $e(e, t, 4, xn);
}
/**
* @returns {Field}
*/
function xn(e, t) {
	let n = Y(e, t), r = n(8, Ye, A.NONE), i = n(10, Ke, 0), a = n(12, Cn), o = _n(e, i, r, n(14, Sn, []));
	return a && (a.dictionary = o, o = a), {
		name: n(4, Qe),
		type: o,
		nullable: n(6, qe, !1),
		metadata: n(16, vn)
	};
}
/**
* @returns {Field[]}
*/
function Sn(e, t) {
	return $e(e, t, 4, xn);
}
/**
* @param {Uint8Array} buf
* @param {number} index
* @returns {DictionaryType}
*/
function Cn(e, t) {
	if (!t) return null;
	let n = Y(e, t);
	return pe(null, n(6, wn, he()), n(8, qe, !1), n(4, Q, 0));
}
/**
* Decode an integer data type.
* @param {Uint8Array} buf A byte buffer of binary Arrow IPC data.
* @param {number} index The starting index in the byte buffer.
* @returns {IntType}
*/
function wn(e, t) {
	return _n(e, t, A.Int);
}
// node_modules/@uwdata/flechette/src/decode/message.js
/**
* @import { Message, MessageHeader_, Version_ } from '../types.js'
*/
var Tn = (e, t) => `Expected to read ${e} metadata bytes, but only read ${t}.`, En = (e, t) => `Expected to read ${e} bytes for message body, but only read ${t}.`, Dn = (e) => `Unsupported message type: ${e} (${ce(k, e)})`;
/**
* A "message" contains a block of Apache Arrow data, such as a schema,
* record batch, or dictionary batch. This message decodes a single
* message, returning its associated metadata and content.
* @param {Uint8Array} buf A byte buffer of binary Arrow IPC data
* @param {number} index The starting index in the byte buffer
* @returns {Message} The decoded message.
*/
function On(e, t) {
	let n = Z(e, t) || 0;
	if (t += 4, n === -1 && (n = Z(e, t) || 0, t += 4), n === 0) return null;
	let r = e.subarray(t, t += n);
	if (r.byteLength < n) throw Error(Tn(n, r.byteLength));
	let i = Y(r, 0), a = i(4, X, O.V1), o = i(6, Ye, k.NONE), s = i(8, Ke, 0), c = i(10, Q, 0), l;
	if (s) {
		let n = o === k.Schema ? yn : o === k.DictionaryBatch ? gn : o === k.RecordBatch ? hn : null;
		if (!n) throw Error(Dn(o));
		if (l = n(r, s, a), c > 0) {
			let n = e.subarray(t, t += c);
			if (n.byteLength < c) throw Error(En(c, n.byteLength));
			l.body = n;
		} else o !== k.Schema && (l.body = /* @__PURE__ */ new Uint8Array());
	}
	return {
		version: a,
		type: o,
		index: t,
		content: l
	};
}
// node_modules/@uwdata/flechette/src/decode/decode-ipc.js
/**
* @import { ArrowData, Version_ } from '../types.js'
*/
/**
* Decode [Apache Arrow IPC data][1] and return parsed schema, record batch,
* and dictionary batch definitions. The input binary data may be either
* an `ArrayBuffer` or `Uint8Array`. For Arrow data in the IPC 'stream' format,
* an array of `Uint8Array` instances is also supported.
*
* This method stops short of generating views over field buffers. Use the
* `createData()` method on the result to enable column data access.
*
* [1]: https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
* @param {ArrayBufferLike | Uint8Array | Uint8Array[]} data
*  The source byte buffer, or an array of buffers. If an array, each byte
*  array may contain one or more self-contained messages. Messages may NOT
*  span multiple byte arrays.
* @returns {import('../types.js').ArrowData}
*/
function kn(e) {
	let t = re(e) ? new Uint8Array(e) : e;
	return ie(t) && An(t) ? Mn(t) : jn(t);
}
/**
* @param {Uint8Array} buf
* @returns {boolean}
*/
function An(e) {
	if (!e || e.length < 4) return !1;
	for (let t = 0; t < 6; ++t) if (D[t] !== e[t]) return !1;
	return !0;
}
/**
* Decode data in the [Arrow IPC 'stream' format][1].
*
* [1]: https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format
* @param {Uint8Array | Uint8Array[]} data The source byte buffer, or an
*  array of buffers. If an array, each byte array may contain one or more
*  self-contained messages. Messages may NOT span multiple byte arrays.
* @returns {ArrowData}
*/
function jn(e) {
	let t = [e].flat(), n, r = [], i = [], a = [];
	for (let e of t) {
		if (!ie(e)) throw Error("IPC data batch was not a Uint8Array.");
		let t = 0;
		for (;;) {
			let o = On(e, t);
			if (o === null) break;
			if (t = o.index, o.content) switch (o.type) {
				case k.Schema:
					n ||= o.content;
					break;
				case k.RecordBatch:
					r.push(o.content), a.push(i.length);
					break;
				case k.DictionaryBatch: i.push(o.content);
			}
		}
	}
	return {
		schema: n,
		dictionaries: i,
		records: r,
		dictsBeforeRecord: a,
		metadata: null
	};
}
/**
* Decode data in the [Arrow IPC 'file' format][1].
*
* [1]: https://arrow.apache.org/docs/format/Columnar.html#ipc-file-format
* @param {Uint8Array} data The source byte buffer.
* @returns {ArrowData}
*/
function Mn(e) {
	let t = e.byteLength - (D.length + 4), n = Y(e, t - Z(e, t)), r = n(4, X, O.V1), i = n(8, pn, []), a = n(10, pn, []), o = a.map((e) => i.filter((t) => t.offset < e.offset).length);
	return {
		schema: n(6, (e, t) => yn(e, t, r)),
		dictionaries: i.map(({ offset: t }) => On(e, t).content),
		records: a.map(({ offset: t }) => On(e, t).content),
		dictsBeforeRecord: o,
		metadata: n(12, vn)
	};
}
// node_modules/@uwdata/flechette/src/decode/table-from-ipc.js
/**
* @import { ArrowData, BodyCompression, ExtractionOptions, Field, RecordBatch, Schema } from '../types.js'
*/
/**
* Decode [Apache Arrow IPC data][1] and return a new Table. The input binary
* data may be either an `ArrayBuffer` or `Uint8Array`. For Arrow data in the
* [IPC 'stream' format][2], an array of `Uint8Array` values is also supported.
*
* [1]: https://arrow.apache.org/docs/format/Columnar.html#serialization-and-interprocess-communication-ipc
* [2]: https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format
* @param {ArrayBufferLike | Uint8Array | Uint8Array[]} data
*  The source byte buffer, or an array of buffers. If an array, each byte
*  array may contain one or more self-contained messages. Messages may NOT
*  span multiple byte arrays.
* @param {ExtractionOptions} [options]
*  Options for controlling how values are transformed when extracted
*  from an Arrow binary representation.
* @returns {Table} A Table instance.
*/
function Nn(e, t) {
	return Pn(kn(e), t);
}
/**
* Create a table from parsed IPC data.
* @param {ArrowData} data
*  The IPC data, as returned by parseIPC.
* @param {ExtractionOptions} [options]
*  Options for controlling how values are transformed when extracted
*  from am Arrow binary representation.
* @returns {Table} A Table instance.
*/
function Pn(e, t = {}) {
	let { schema: n = { fields: [] }, dictionaries: r, records: i, dictsBeforeRecord: a } = e, { version: o, fields: s } = n, c = /* @__PURE__ */ new Map(), l = In(t, o, c), u = /* @__PURE__ */ new Map();
	Fn(n, (e) => {
		let t = e.type;
		t.typeId === A.Dictionary && u.set(t.id, t.dictionary);
	});
	/**
	* Process a single dictionary batch by either replacing or extending the
	* Column currently registered for its id in `dictionaryMap`. A fresh
	* Column instance is always created (never mutated in place) so that any
	* record batch that previously captured the old Column reference is
	* unaffected.
	*
	* Mirrors arrow-js's `_loadDictionaryBatch`:
	*   return (dictionary && isDelta
	*     ? dictionary.concat(new Vector(data))
	*     : new Vector(data)).memoize();
	* @param {import('../types.js').DictionaryBatch} dict
	*/
	let d = (e) => {
		let { id: t, data: n, isDelta: r, body: i } = e, a = u.get(t), o = Rn(a, l({
			...n,
			body: i
		})), s = c.get(t);
		if (s) r ? c.set(t, new Zt([...s.data, o], a)) : c.set(t, new Zt([o], a));
		else {
			if (r) throw Error("Delta update can not be first dictionary batch.");
			c.set(t, new Zt([o], a));
		}
	}, f = s.map((e) => Xt(e.type)), p = 0;
	for (let e = 0; e < i.length; e++) {
		let t = a ? a[e] : r.length;
		for (; p < t;) d(r[p++]);
		let n = l(i[e]);
		s.forEach((e, t) => f[t].add(Rn(e.type, n)));
	}
	for (; p < r.length;) d(r[p++]);
	return new tn(n, f.map((e) => e.done()), t.useProxy);
}
/**
* Visit all fields within a schema.
* @param {Schema} schema
* @param {(field: Field) => void} visitor
*/
function Fn(e, t) {
	e.fields.forEach(function e(n) {
		t(n), n.type.dictionary?.children?.forEach(e), n.type.children?.forEach(e);
	});
}
/**
* Context object generator for field visitation and buffer definition.
*/
function In(e, t, n) {
	let r = {
		version: t,
		options: e,
		dictionary: (e) => n.get(e)
	};
	/**
	* Return a context generator.
	* @param {RecordBatch} batch
	*/
	return (e) => {
		let { length: t, nodes: n, regions: i, compression: a, variadic: o, body: s } = e, c = -1, l = -1, u = -1;
		return {
			...r,
			length: t,
			node: () => n[++c],
			buffer: (e) => {
				let { bytes: t, length: n, offset: r } = Ln(s, i[++l], a);
				return e ? new e(t.buffer, t.byteOffset + r, n / e.BYTES_PER_ELEMENT) : t.subarray(r, r + n);
			},
			variadic: () => o[++u],
			visit(e) {
				return e.map((e) => Rn(e.type, this));
			}
		};
	};
}
/**
* Prepare an arrow buffer for use, potentially decompressing it.
* @param {Uint8Array} body
* @param {{offset: number, length: number}} region
* @param {BodyCompression} compression
*/
function Ln(e, t, n) {
	if (!n) return {
		bytes: e,
		...t
	};
	if (n.method !== L.BUFFER) throw Error(`Unknown compression method (${n.method})`);
	{
		let r = n.codec, i = un(r);
		if (!i) throw Error(cn(r));
		return dn(e, t, i);
	}
}
/**
* Visit a field, instantiating views of buffer regions.
*/
function Rn(e, t) {
	let { typeId: n } = e, { options: r, node: i, buffer: a, variadic: o, version: s } = t, c = rn(e, r), l = {
		...i(),
		type: e
	};
	if (n === A.Null) return new c({
		...l,
		nullCount: l.length
	});
	switch (n) {
		case A.Bool:
		case A.Int:
		case A.Time:
		case A.Duration:
		case A.Float:
		case A.Decimal:
		case A.Date:
		case A.Timestamp:
		case A.Interval:
		case A.FixedSizeBinary: return new c({
			...l,
			validity: a(),
			values: a(e.values)
		});
		case A.Utf8:
		case A.LargeUtf8:
		case A.Binary:
		case A.LargeBinary: return new c({
			...l,
			validity: a(),
			offsets: a(e.offsets),
			values: a()
		});
		case A.BinaryView:
		case A.Utf8View: return new c({
			...l,
			validity: a(),
			values: a(),
			data: Array.from({ length: o() }, () => a())
		});
		case A.List:
		case A.LargeList:
		case A.Map: return new c({
			...l,
			validity: a(),
			offsets: a(e.offsets),
			children: t.visit(e.children)
		});
		case A.ListView:
		case A.LargeListView: return new c({
			...l,
			validity: a(),
			offsets: a(e.offsets),
			sizes: a(e.offsets),
			children: t.visit(e.children)
		});
		case A.FixedSizeList:
		case A.Struct: return new c({
			...l,
			validity: a(),
			children: t.visit(e.children)
		});
		case A.RunEndEncoded: return new c({
			...l,
			children: t.visit(e.children)
		});
		case A.Dictionary: {
			let { id: n, indices: r } = e;
			return new c({
				...l,
				validity: a(),
				values: a(r.values)
			}).setDictionary(t.dictionary(n));
		}
		case A.Union: return s < O.V5 && a(), new c({
			...l,
			typeIds: a(H),
			offsets: e.mode === F.Sparse ? null : a(e.offsets),
			children: t.visit(e.children)
		});
		default: throw Error(le(n));
	}
}
new Uint16Array(new Uint8Array([1, 0]).buffer)[0];
// src/api/columns.ts
var zn = "application/vnd.apache.arrow.stream";
async function Bn(e, t, n, r, i) {
	let a = /* @__PURE__ */ new Map(), o = 0;
	do {
		let c = await E(s(`${e}:read`, {
			name: t,
			from: o
		}), {
			accept: zn,
			signal: i
		}), [, l, u] = (c.headers.get("lehr-rows") ?? "").split(/[-/]/).map(Number);
		if (!(l > o) && u !== 0) throw Error(`${t}: the node sent no rows after row ${o}`);
		n = u, Vn(a, new Uint8Array(await c.arrayBuffer()), o, n), o = l, r(o);
	} while (o < n);
	return {
		rows: n,
		columns: [...a.values()]
	};
}
function Vn(e, t, n, r) {
	let i = Nn(t, { useBigInt: !1 });
	i.schema.fields.forEach((t, a) => {
		let o = i.getChildAt(a).toArray(), s = e.get(t.name);
		if (!s) {
			let n = Array.isArray(o) && Array.prototype.some.call(o, (e) => typeof e == "string"), i = n ? "text" : o instanceof Float64Array || o instanceof Float32Array ? "number" : "count";
			s = n ? {
				name: t.name,
				kind: "text",
				values: Array(r).fill("")
			} : {
				name: t.name,
				kind: i,
				values: new Float64Array(r).fill(NaN)
			}, e.set(t.name, s);
		}
		if (s.kind === "text") for (let e = 0; e < o.length; e++) s.values[n + e] = String(o[e] ?? "");
		else if (ArrayBuffer.isView(o)) s.values.set(o, n);
		else for (let e = 0; e < o.length; e++) s.values[n + e] = o[e] == null ? NaN : Number(o[e]);
	});
}
// src/colour/palette.ts
var Hn = [
	"#447dc8",
	"#721405",
	"#c87e2d",
	"#350aa6",
	"#7307db",
	"#9c470d",
	"#a039f5",
	"#610372",
	"#5b8cf8",
	"#b06018",
	"#49489a",
	"#4164b2",
	"#7a3a37",
	"#988aab",
	"#6a9b69",
	"#717595",
	"#594864",
	"#8c695c",
	"#49344e",
	"#6d5b78"
], Un = [
	"#4594fa",
	"#e73e22",
	"#f0e77b",
	"#87d9f7",
	"#a16a94",
	"#c412c5",
	"#e5a483",
	"#8e3ffe",
	"#c4ca25",
	"#f1782e",
	"#67b6fe",
	"#bef2bd",
	"#898ecb",
	"#f0c289",
	"#d08c74",
	"#96f5fa",
	"#97c6be",
	"#7b7e5b",
	"#a3a7ca",
	"#ab899c"
], Wn = {
	light: "#9aa1a9",
	dark: "#5c646d"
}, Gn = {
	light: "#d5d9de",
	dark: "#333a42"
}, Kn = {
	light: "#ffffff",
	dark: "#14181d"
};
function qn(e, t) {
	let n = t === "light" ? Hn : Un;
	return e < 0 ? Wn[t] : n[e % n.length];
}
var Jn = [
	"#00224e",
	"#123570",
	"#3b496c",
	"#575d6d",
	"#707173",
	"#8a8678",
	"#a59c74",
	"#c3b369",
	"#e1cc55",
	"#fee838"
];
function Yn(e, t) {
	if (!(e >= 0)) return Wn[t];
	let [n, r] = t === "light" ? [0, .86] : [.3, 1], i = (n + (r - n) * Math.min(1, e)) * (Jn.length - 1), a = Math.min(Jn.length - 2, Math.floor(i)), o = i - a, s = "#";
	for (let e of [
		1,
		3,
		5
	]) {
		let t = parseInt(Jn[a].slice(e, e + 2), 16), n = parseInt(Jn[a + 1].slice(e, e + 2), 16);
		s += Math.round(t + (n - t) * o).toString(16).padStart(2, "0");
	}
	return s;
}
// src/points/cloud.ts
function Xn(e, t) {
	for (; t;) [e, t] = [t, e % t];
	return e;
}
function Zn(e) {
	let t = new Uint32Array(e);
	if (e < 3) return t.map((e, t) => t);
	let n = Math.floor(e * .6180339887);
	for (; Xn(n, e) !== 1;) n++;
	let r = Math.floor(e / 3);
	for (let i = 0; i < e; i++) t[i] = r, r += n, r >= e && (r -= e);
	return t;
}
function Qn(e) {
	let [t, n] = [Infinity, -Infinity];
	for (let r = 0; r < e.length; r++) {
		let i = e[r];
		i < t && (t = i), i > n && (n = i);
	}
	return t <= n && Number.isFinite(t) && Number.isFinite(n) ? [t, n] : null;
}
function $n(e, t) {
	let n = e.map((e) => e.values), r = n[0].length, i = Zn(r), a = n.map((e) => Qn(e) ?? [0, 1]), o = a.map(([e, t]) => e / 2 + t / 2), s = a.map(([e, t]) => t / 2 - e / 2 || Math.abs(t) / 2 || .5), c = Math.max(...s), l = t ? s.map(() => c) : s, u = new Float32Array(3 * r), d = 0;
	for (let e = 0; e < r; e++) {
		let t = i[e], r = !0;
		for (let i = 0; i < n.length; i++) {
			let a = (n[i][t] - o[i]) / l[i];
			u[3 * e + i] = a, r &&= Number.isFinite(a);
		}
		r || (d++, u[3 * e] = NaN);
	}
	let f = (e, t) => [
		e[0],
		e[1],
		e[2] ?? t
	];
	return {
		count: r,
		shape: e.length === 3 ? "space" : "plane",
		positions: u,
		rowOf: i,
		missing: d,
		middle: f(o, 0),
		half: f(l, 1)
	};
}
function er(e, t) {
	let n = e.length, r = Zn(n), i = new Float32Array(3 * n), a = 0;
	for (let o = 0; o < n; o++) {
		let n = r[o];
		if (!Number.isFinite(e[n]) || !(Math.abs(t[n]) <= 90)) {
			a++, i[3 * o] = NaN;
			continue;
		}
		let [s, c, l] = tr(e[n], t[n]);
		i[3 * o] = s, i[3 * o + 1] = c, i[3 * o + 2] = l;
	}
	return {
		count: n,
		shape: "sphere",
		positions: i,
		rowOf: r,
		missing: a,
		middle: [
			0,
			0,
			0
		],
		half: [
			1,
			1,
			1
		]
	};
}
function tr(e, t) {
	let [n, r] = [e * Math.PI / 180, t * Math.PI / 180];
	return [
		Math.cos(r) * Math.sin(n),
		Math.sin(r),
		Math.cos(r) * Math.cos(n)
	];
}
// src/points/paint.ts
function nr(e, t) {
	let n = parseInt(e.slice(1), 16);
	return (t << 24 | (n & 255) << 16 | n & 65280 | n >> 16) >>> 0;
}
function rr(e) {
	let t = parseInt(e.slice(1), 16);
	return [
		t >> 16,
		t >> 8 & 255,
		t & 255
	];
}
function ir(e) {
	let t = (e - 1) / 2, n = t * (t + .6);
	return Array.from({ length: e }, (e, r) => Math.floor(Math.sqrt(Math.max(0, n - (r - t) ** 2))));
}
// src/state/clusters.ts
var ar = 2e3, or = "no cluster";
function sr(e, t) {
	let n = t.columns.find((e) => e.name === "cluster" || e.name === "component"), r = t.columns.find((e) => e.name === "probability");
	if (!n || n.kind === "text") throw Error(`${e}: its labels have no column of clusters`);
	let i = new Int32Array(t.rows), a = /* @__PURE__ */ new Map();
	for (let e = 0; e < t.rows; e++) {
		let t = n.values[e] >= 0 ? n.values[e] : -1;
		a.set(t, (a.get(t) ?? 0) + 1);
	}
	let o = [...a.keys()].filter((e) => e >= 0).sort((e, t) => e - t), s = new Map(o.map((e, t) => [e, t])), c = o.map((e) => ({
		name: String(e),
		number: e,
		rows: a.get(e)
	}));
	a.has(-1) && (s.set(-1, c.length), c.push({
		name: or,
		number: -1,
		rows: a.get(-1)
	}));
	for (let e = 0; e < t.rows; e++) i[e] = s.get(n.values[e] >= 0 ? n.values[e] : -1);
	return {
		title: e,
		groupOf: i,
		groups: c,
		scale: null,
		probability: r?.kind === "number" ? r.values : null
	};
}
function cr(e) {
	let t = e.values.length, n = new Int32Array(t).fill(-1), r = /* @__PURE__ */ new Map(), i = (e) => e === "" || e !== e, a = e.kind === "text" ? ar : 12;
	for (let n = 0; n < t && r.size <= a; n++) {
		let t = e.values[n];
		i(t) || r.set(t, (r.get(t) ?? 0) + 1);
	}
	if (r.size <= a) {
		let i = [...r.entries()].sort(([e, t], [n, r]) => typeof e == "number" ? e - n : r - t), a = new Map(i.map(([e], t) => [e, t]));
		for (let r = 0; r < t; r++) n[r] = a.get(e.values[r]) ?? -1;
		let o = i.map(([e, t], n) => ({
			name: typeof e == "number" ? c(e) : e,
			number: n,
			rows: t
		}));
		return {
			title: e.name,
			groupOf: n,
			groups: o,
			scale: null,
			probability: null
		};
	}
	if (e.kind === "text") throw Error(`${e.name} has more than ${ar} different values. Choose another column.`);
	let [o, s] = [Infinity, -Infinity];
	for (let t of e.values) t < o && (o = t), t > s && (s = t);
	let [l, u] = [0, 0];
	for (let t of e.values) t === t && ([l, u] = [l + (t - o), u + 1]);
	let d = o >= 0 && l / u < .12 * (s - o), f = d ? Math.max(o, s * 1e-6, Math.min(1, s * .001)) : 0, p = (e) => d ? Math.log(Math.max(e, f) / f) / Math.log(s / f) : (e - o) / (s - o || 1), m = new Float32Array(t);
	for (let n = 0; n < t; n++) m[n] = p(e.values[n]);
	return {
		title: e.name,
		groupOf: n,
		groups: [],
		scale: {
			place: m,
			low: o,
			high: s,
			isLog: d
		},
		probability: null
	};
}
function lr(e, t) {
	return e ? qn(e.number, t) : Wn[t];
}
function ur(e, t, n) {
	return e ? e.scale ? Yn(e.scale.place[t], n) : lr(e.groups[e.groupOf[t]], n) : qn(0, n);
}
// src/state/theme.ts
var dr = matchMedia("(prefers-color-scheme: dark)"), fr = e(dr.matches ? "dark" : "light");
dr.addEventListener("change", () => fr.value = dr.matches ? "dark" : "light");
// src/points/camera.ts
var pr = [
	1,
	0,
	0,
	0,
	1,
	0,
	0,
	0,
	1
];
function mr(e, t) {
	let n = (n, r) => e[3 * n] * t[r] + e[3 * n + 1] * t[3 + r] + e[3 * n + 2] * t[6 + r];
	return [
		0,
		1,
		2
	].flatMap((e) => [
		0,
		1,
		2
	].map((t) => n(e, t)));
}
function hr(e, t, n) {
	let [r, i] = [Math.cos(t), Math.sin(t)], [a, o] = [Math.cos(n), Math.sin(n)];
	return mr(mr([
		1,
		0,
		0,
		0,
		a,
		-o,
		0,
		o,
		a
	], [
		r,
		0,
		i,
		0,
		1,
		0,
		-i,
		0,
		r
	]), e);
}
function gr(e, t) {
	let [n, r] = [-e * Math.PI / 180, t * Math.PI / 180];
	return hr(pr, n, r);
}
function _r(e, t, n, r, i) {
	let a = e.turn;
	return [
		t.width / 2 + e.shift[0] + e.scale[0] * (a[0] * n + a[1] * r + a[2] * i),
		t.height / 2 + e.shift[1] - e.scale[1] * (a[3] * n + a[4] * r + a[5] * i),
		a[6] * n + a[7] * r + a[8] * i
	];
}
function vr(e, t, n, r, i) {
	let [a, o, s, c] = [
		Infinity,
		-Infinity,
		Infinity,
		-Infinity
	], { positions: l, count: u } = e;
	for (let t = 0; t < u; t++) {
		let [r, i, u] = [
			l[3 * t],
			l[3 * t + 1],
			l[3 * t + 2]
		];
		if (r !== r) continue;
		let d = n[0] * r + n[1] * i + n[2] * u, f = n[3] * r + n[4] * i + n[5] * u;
		e.shape === "sphere" && n[6] * r + n[7] * i + n[8] * u < 0 || (d < a && (a = d), d > o && (o = d), f < s && (s = f), f > c && (c = f));
	}
	a <= o || ([a, o, s, c] = [
		-1,
		1,
		-1,
		1
	]);
	let d = Math.max(o - a, 1e-6), f = Math.max(c - s, 1e-6), p = Math.max(10, t.width - 2 * r[0]) / d, m = Math.max(10, t.height - 2 * r[1]) / f, h = 1e7, g = i ? [Math.min(p, m, h), Math.min(p, m, h)] : [Math.min(p, h), Math.min(m, h)];
	return {
		turn: n,
		scale: g,
		shift: [-g[0] * (a + o) / 2, g[1] * (s + c) / 2]
	};
}
function yr(e, t, n, r, i) {
	let a = Math.min(Math.max(n, 1 / (e.scale[0] / 5)), 1e8 / e.scale[0]), [o, s] = [r - t.width / 2, i - t.height / 2];
	return {
		turn: e.turn,
		scale: [e.scale[0] * a, e.scale[1] * a],
		shift: [o + (e.shift[0] - o) * a, s + (e.shift[1] - s) * a]
	};
}
// src/points/raster.ts
var { fround: br } = Math;
function xr(e, { width: t, height: n }, r, i, a, o, s, c) {
	e.fill(s);
	let l = a.turn.map(br), u = br(a.scale[0]), d = br(a.scale[1]), f = br(t / 2 + a.shift[0]), p = br(n / 2 + a.shift[1]), m = r.shape === "sphere", { positions: h } = r, g = Math.min(r.count, c), _ = ir(o), v = (o - 1) / 2;
	for (let r of [254, 255]) for (let a = 0; a < g; a++) {
		let s = i[a];
		if (s >>> 24 !== r) continue;
		let c = h[3 * a], g = h[3 * a + 1], y = h[3 * a + 2];
		if (m && l[6] * c + l[7] * g + l[8] * y < 0) continue;
		let b = Math.floor(f + u * (l[0] * c + l[1] * g + l[2] * y)), x = Math.floor(p - d * (l[3] * c + l[4] * g + l[5] * y));
		if (!(b >= -v && b < t + v && x >= -v && x < n + v)) continue;
		let S = (s | 4278190080) >>> 0;
		if (v === 0) e[x * t + b] = S;
		else for (let r = 0; r < o; r++) {
			let i = x + r - v;
			if (i < 0 || i >= n) continue;
			let a = Math.max(0, b - _[r]), o = Math.min(t - 1, b + _[r]);
			for (let n = a; n <= o; n++) e[i * t + n] = S;
		}
	}
}
function Sr(e) {
	let t = e.getContext("2d", { alpha: !1 }), n = t.createImageData(1, 1), r = null, i = /* @__PURE__ */ new Uint32Array();
	return {
		kind: "cpu",
		setCloud: (e) => r = e,
		setPaint: (e) => i = e,
		resize({ width: r, height: i }) {
			e.width = r, e.height = i, n = t.createImageData(r, i);
		},
		draw(a, o, s, c) {
			r && (xr(new Uint32Array(n.data.buffer), e, r, i, a, o, nr(s, 255), c), t.putImageData(n, 0, 0));
		},
		end() {}
	};
}
// src/points/select.ts
function Cr(e, t, n, r, i) {
	let a = n.turn, [o, s] = n.scale, c = r.width / 2 + n.shift[0], l = r.height / 2 + n.shift[1], u = e.shape === "sphere", { positions: d, count: f } = e;
	for (let e = 0; e < f; e++) {
		if (!(t[e] >>> 24)) continue;
		let n = d[3 * e], r = d[3 * e + 1], f = d[3 * e + 2];
		u && a[6] * n + a[7] * r + a[8] * f < 0 || i(e, c + o * (a[0] * n + a[1] * r + a[2] * f), l - s * (a[3] * n + a[4] * r + a[5] * f));
	}
}
function wr(e, t, n, r, i, a, o) {
	let [s, c] = [-1, o * o];
	return Cr(e, t, n, r, (e, t, n) => {
		let r = (t - i) ** 2 + (n - a) ** 2;
		r <= c && ([s, c] = [e, r]);
	}), s;
}
function Tr(e, t, n, r, i) {
	let { width: a, height: o } = r, s = Er(i, a, o), c = new Uint32Array(e.count), l = 0;
	return Cr(e, t, n, r, (e, t, n) => {
		let [r, i] = [Math.floor(t), Math.floor(n)];
		r >= 0 && r < a && i >= 0 && i < o && s[i * a + r] && (c[l++] = e);
	}), c.slice(0, l);
}
function Er(e, t, n) {
	let r = new Uint8Array(t * n);
	for (let i = 0; i < n; i++) {
		let n = i + .5, a = [];
		for (let t = 0; t < e.length; t++) {
			let [r, i] = e[t], [o, s] = e[(t + 1) % e.length];
			i <= n != s <= n && a.push(r + (n - i) / (s - i) * (o - r));
		}
		a.sort((e, t) => e - t);
		for (let e = 0; e + 1 < a.length; e += 2) {
			let n = Math.max(0, Math.ceil(a[e] - .5)), o = Math.min(t, Math.ceil(a[e + 1] - .5));
			n < o && r.fill(1, i * t + n, i * t + o);
		}
	}
	return r;
}
// src/points/webgl.ts
var Dr = "#version 300 es\nlayout(location = 0) in vec3 dataPosition;\nlayout(location = 1) in vec4 paint;\nuniform mat3 turn;\nuniform vec2 size;\nuniform vec2 origin;\nuniform vec2 scale;\nuniform float pointWidth;\nuniform float layer;\nuniform bool isSphere;\nflat out vec3 colour;\nvoid main() {\n  vec3 turned = turn * dataPosition;\n  vec2 pixel = floor(origin + vec2(scale.x, -scale.y) * turned.xy) + 0.5;\n  vec2 clip = pixel / size * 2.0 - 1.0;\n  bool isDrawn = abs(paint.a * 255.0 - layer) < 0.5 && (!isSphere || turned.z >= 0.0) && !isnan(dataPosition.x);\n  gl_Position = isDrawn ? vec4(clip.x, -clip.y, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);\n  gl_PointSize = pointWidth;\n  colour = paint.rgb;\n}", Or = "#version 300 es\nprecision highp float;\nuniform float pointWidth;\nuniform float reach[32];\nflat in vec3 colour;\nout vec4 drawn;\nvoid main() {\n  vec2 at = floor(gl_PointCoord * pointWidth) - (pointWidth - 1.0) / 2.0;\n  if (abs(at.x) > reach[int(at.y + (pointWidth - 1.0) / 2.0)]) discard;\n  drawn = vec4(colour, 1.0);\n}", kr = /swiftshader|llvmpipe|softpipe|software|basic render/i;
function Ar(e, t, n) {
	let r = e.getContext("webgl2", {
		alpha: !1,
		antialias: !1,
		depth: !1,
		preserveDrawingBuffer: !0,
		failIfMajorPerformanceCaveat: !t
	});
	if (!r) return null;
	let i = r.getExtension("WEBGL_debug_renderer_info"), a = i ? String(r.getParameter(i.UNMASKED_RENDERER_WEBGL)) : "";
	if (kr.test(a) && !t) return r.getExtension("WEBGL_lose_context")?.loseContext(), null;
	e.addEventListener("webglcontextlost", n);
	let o = r.createProgram();
	for (let [e, t] of [[r.VERTEX_SHADER, Dr], [r.FRAGMENT_SHADER, Or]]) {
		let n = r.createShader(e);
		r.shaderSource(n, t), r.compileShader(n), r.attachShader(o, n);
	}
	if (r.linkProgram(o), !r.getProgramParameter(o, r.LINK_STATUS)) return null;
	r.useProgram(o);
	let s = (e) => r.getUniformLocation(o, e), c = {
		turn: s("turn"),
		size: s("size"),
		origin: s("origin"),
		scale: s("scale"),
		width: s("pointWidth"),
		layer: s("layer"),
		isSphere: s("isSphere"),
		reach: s("reach")
	}, l = r.createBuffer(), u = r.createBuffer();
	r.bindBuffer(r.ARRAY_BUFFER, l), r.enableVertexAttribArray(0), r.vertexAttribPointer(0, 3, r.FLOAT, !1, 0, 0), r.bindBuffer(r.ARRAY_BUFFER, u), r.enableVertexAttribArray(1), r.vertexAttribPointer(1, 4, r.UNSIGNED_BYTE, !0, 0, 0);
	let d = null, f = 0;
	return {
		kind: "webgl",
		setCloud(e) {
			d = e, f = 0, r.bindBuffer(r.ARRAY_BUFFER, l), r.bufferData(r.ARRAY_BUFFER, e.positions, r.STATIC_DRAW);
		},
		setPaint(e) {
			f = e.length, r.bindBuffer(r.ARRAY_BUFFER, u), r.bufferData(r.ARRAY_BUFFER, new Uint8Array(e.buffer, e.byteOffset, e.byteLength), r.DYNAMIC_DRAW);
		},
		resize({ width: t, height: n }) {
			e.width = t, e.height = n, r.viewport(0, 0, t, n);
		},
		draw(t, n, i, a) {
			let [o, s, l] = rr(i);
			if (r.clearColor(o / 255, s / 255, l / 255, 1), r.clear(r.COLOR_BUFFER_BIT), !d) return;
			let u = t.turn;
			r.uniformMatrix3fv(c.turn, !0, u), r.uniform2f(c.size, e.width, e.height), r.uniform2f(c.origin, e.width / 2 + t.shift[0], e.height / 2 + t.shift[1]), r.uniform2f(c.scale, t.scale[0], t.scale[1]), r.uniform1f(c.width, n), r.uniform1i(c.isSphere, +(d.shape === "sphere"));
			let p = /* @__PURE__ */ new Float32Array(32);
			p.set(ir(n).slice(0, 32)), r.uniform1fv(c.reach, p);
			for (let e of [254, 255]) r.uniform1f(c.layer, e), r.drawArrays(r.POINTS, 0, Math.min(d.count, a, f));
		},
		end() {
			e.removeEventListener("webglcontextlost", n), r.getExtension("WEBGL_lose_context")?.loseContext();
		}
	};
}
// src/views/cloud.tsx
var jr = 25e4, Mr = 4e5, Nr = 12, Pr = [58, 40];
function Fr(e) {
	let { cloud: t, paint: n, theme: r, tool: a, isEqual: o, pointWidth: s, names: c } = e, l = i(null), u = i(null), d = T(null), f = T({
		width: 0,
		height: 0
	}), p = T(!1), m = T(""), h = T(null), g = T(null), v = i(1), y = i({
		frame: 0,
		settle: 0,
		isMoving: !1,
		isFitted: !0
	}), b = i(e);
	b.current = e;
	let x = () => {
		let e = y.current;
		cancelAnimationFrame(e.frame), e.frame = requestAnimationFrame(() => {
			if (!u.current || !d.peek()) return;
			let { theme: t, pointWidth: n } = b.current, r = u.current.kind === "cpu" && e.isMoving ? jr : Infinity;
			u.current.draw(d.peek(), Ir(n * v.current), Kn[t], r);
		});
	}, S = (e) => {
		d.value = e;
		let t = y.current;
		t.isFitted = !1, t.isMoving = b.current.cloud.count > jr, x(), t.isMoving && (clearTimeout(t.settle), t.settle = setTimeout(() => {
			t.isMoving = !1, x();
		}, 120));
	}, C = () => {
		let { cloud: e, isEqual: t } = b.current;
		S(vr(e, f.peek(), Lr(e), Pr.map((e) => e * v.current), t || e.shape !== "plane")), y.current.isFitted = !0;
	};
	w(() => {
		let { forced: t } = e, n = document.createElement("canvas");
		n.setAttribute("aria-hidden", "true");
		let r = null;
		return t !== "cpu" && !p.value && (r = Ar(n, t === "webgl", () => p.value = !0), r || (n = document.createElement("canvas"), n.setAttribute("aria-hidden", "true"))), r ??= Sr(n), m.value = r.kind, u.current = r, r.setCloud(b.current.cloud), r.setPaint(b.current.paint), f.peek().width && r.resize(f.peek()), l.current.prepend(n), x(), () => {
			r.end(), n.remove(), u.current = null;
		};
	}, [p.value, e.forced]), w(() => {
		let e = new ResizeObserver(([e]) => {
			v.current = Math.min(2, devicePixelRatio || 1);
			let t = {
				width: Math.max(1, Math.round(e.contentRect.width * v.current)),
				height: Math.max(1, Math.round(e.contentRect.height * v.current))
			}, n = f.peek();
			if (n.width !== t.width || n.height !== t.height) {
				if (f.value = t, u.current?.resize(t), !d.peek() || y.current.isFitted) C();
				else {
					let e = Math.min(t.width / n.width, t.height / n.height), { turn: r, scale: i, shift: a } = d.peek();
					S({
						turn: r,
						scale: [i[0] * e, i[1] * e],
						shift: [a[0] * e, a[1] * e]
					});
				}
			}
		});
		return e.observe(l.current), () => e.disconnect();
	}, []), w(() => {
		u.current?.setCloud(t), u.current?.setPaint(n), g.value = null, f.peek().width && C();
	}, [t, o]), w(() => {
		u.current?.setPaint(n), x();
	}, [n]), w(x, [r, s]), e.handle.current = {
		fit: C,
		zoom: (e) => d.peek() && S(yr(d.peek(), f.peek(), e, f.peek().width / 2, f.peek().height / 2)),
		picture: () => Ur(l.current.querySelector("canvas"), b.current, d.peek(), f.peek())
	};
	let E = i(/* @__PURE__ */ new Map()), D = i({
		x: 0,
		y: 0,
		hasMoved: !1
	}), O = (e) => {
		let t = l.current.getBoundingClientRect();
		return [(e.clientX - t.left) * v.current, (e.clientY - t.top) * v.current];
	}, k = (e) => {
		if (e.button > 0 || e.target.closest("button")) return;
		l.current.setPointerCapture(e.pointerId);
		let t = O(e);
		E.current.set(e.pointerId, t), D.current = {
			x: t[0],
			y: t[1],
			hasMoved: !1
		}, g.value = null, a !== "move" && E.current.size === 1 ? h.value = [t] : h.value = null;
	}, A = (e) => {
		let n = O(e), r = E.current.get(e.pointerId);
		if (!d.peek()) return;
		if (!r) {
			e.pointerType === "mouse" && t.count <= Mr && N(n);
			return;
		}
		let i = 4 * v.current;
		if (Math.hypot(n[0] - D.current.x, n[1] - D.current.y) > i && (D.current.hasMoved = !0), E.current.size === 2) {
			let [t] = [...E.current].filter(([t]) => t !== e.pointerId).map(([, e]) => e), i = Math.hypot(n[0] - t[0], n[1] - t[1]) / Math.max(1, Math.hypot(r[0] - t[0], r[1] - t[1]));
			S(yr(d.peek(), f.peek(), i, (n[0] + t[0]) / 2, (n[1] + t[1]) / 2));
		} else if (h.value) {
			let { x: e, y: t } = D.current;
			h.value = a === "box" ? [
				[e, t],
				[n[0], t],
				n,
				[e, n[1]]
			] : [...h.value, n];
		} else if (D.current.hasMoved) {
			let [i, a] = [n[0] - r[0], n[1] - r[1]], { turn: o, scale: s, shift: c } = d.peek();
			if (t.shape === "plane" || e.shiftKey) S({
				turn: o,
				scale: s,
				shift: [c[0] + i, c[1] + a]
			});
			else {
				let e = t.shape === "sphere" ? 1 / s[0] : 1 / (.35 * Math.min(f.peek().width, f.peek().height)), n = hr(o, i * e, a * e);
				S({
					turn: n,
					scale: s,
					shift: c
				});
			}
		}
		E.current.set(e.pointerId, n);
	}, j = (r) => {
		if (!E.current.delete(r.pointerId)) return;
		let i = O(r), o = h.value;
		if (h.value = null, !d.peek() || r.type === "pointercancel") return;
		let s = r.altKey ? "subtract" : r.shiftKey ? "add" : "replace";
		o && D.current.hasMoved && o.length > 2 ? e.onSelect(Tr(t, n, d.peek(), f.peek(), o), s, a) : !D.current.hasMoved && E.current.size === 0 && e.onPick(wr(t, n, d.peek(), f.peek(), i[0], i[1], Nr * v.current));
	}, M = i(0), N = (e) => {
		cancelAnimationFrame(M.current), M.current = requestAnimationFrame(() => {
			if (!d.peek()) return;
			let t = wr(b.current.cloud, b.current.paint, d.peek(), f.peek(), e[0], e[1], Nr * v.current);
			g.value = t < 0 ? null : {
				point: t,
				x: e[0] / v.current,
				y: e[1] / v.current
			};
		});
	}, P = (e) => {
		if (!d.peek()) return;
		e.preventDefault();
		let [t, n] = O(e);
		S(yr(d.peek(), f.peek(), Math.exp(-e.deltaY * (e.deltaMode ? .05 : .0015)), t, n));
	}, F = (r) => {
		if (r.ctrlKey || r.metaKey || !d.peek()) return;
		let i = 40 * v.current, a = {
			ArrowLeft: [i, 0],
			ArrowRight: [-i, 0],
			ArrowUp: [0, i],
			ArrowDown: [0, -i]
		}[r.key], { turn: o, scale: s, shift: c } = d.peek();
		if (a && (t.shape === "plane" || r.shiftKey)) S({
			turn: o,
			scale: s,
			shift: [c[0] + a[0], c[1] + a[1]]
		});
		else if (a) S({
			turn: hr(o, a[0] / i * .1, a[1] / i * .1),
			scale: s,
			shift: c
		});
		else if (r.key === "+" || r.key === "=") e.handle.current.zoom(1.4);
		else if (r.key === "-") e.handle.current.zoom(1 / 1.4);
		else if (r.key === "0") C();
		else if (r.key === "Enter") e.onPick(wr(t, n, d.peek(), f.peek(), f.peek().width / 2, f.peek().height / 2, 1e9));
		else return;
		r.preventDefault();
	}, I = g.value && !h.value ? e.hint(g.value.point) : null, L = v.current, R = d.value;
	return /* @__PURE__ */ _("div", {
		ref: l,
		class: `cloud ${a}`,
		tabIndex: 0,
		role: "application",
		"aria-roledescription": "scatter plot",
		"aria-label": e.summary,
		"data-renderer": m.value,
		onPointerDown: k,
		onPointerMove: A,
		onPointerUp: j,
		onPointerCancel: j,
		onPointerLeave: () => g.value = null,
		onWheel: P,
		onKeyDown: F,
		children: [R && f.value.width > 0 && /* @__PURE__ */ _(Rr, {
			cloud: t,
			camera: R,
			size: f.value,
			ratio: L,
			names: c,
			marks: e.marks,
			picked: e.picked,
			drawing: h.value
		}), I && g.value && /* @__PURE__ */ _("div", {
			class: "tip",
			style: {
				left: `${Math.min(g.value.x + 14, f.value.width / L - 230)}px`,
				top: `${Math.min(g.value.y + 14, f.value.height / L - 90)}px`
			},
			children: [/* @__PURE__ */ _("b", { children: [/* @__PURE__ */ _("i", { style: { background: I.colour } }), I.title] }), /* @__PURE__ */ _("span", { children: I.text })]
		})]
	});
}
function Ir(e) {
	return Math.min(31, Math.max(1, 2 * Math.round((e - 1) / 2) + 1));
}
function Lr(e) {
	if (e.shape === "plane") return pr;
	if (e.shape === "space") return hr(pr, .6, .4);
	let [t, n, r] = [
		0,
		0,
		0
	], i = Math.max(1, Math.floor(e.count / 2e4));
	for (let a = 0; a < e.count; a += i) e.positions[3 * a] === e.positions[3 * a] && (t += e.positions[3 * a], n += e.positions[3 * a + 1], r += e.positions[3 * a + 2]);
	return gr(Math.atan2(t, r) * 180 / Math.PI, Math.atan2(n, Math.hypot(t, r)) * 180 / Math.PI);
}
function Rr({ cloud: e, camera: t, size: r, ratio: i, names: a, marks: o, picked: s, drawing: c }) {
	let [l, u] = [r.width / i, r.height / i], d = (e, n, a) => {
		let [o, s, c] = _r(t, r, e, n, a);
		return [
			o / i,
			s / i,
			c
		];
	}, f = s < 0 ? null : d(e.positions[3 * s], e.positions[3 * s + 1], e.positions[3 * s + 2]), p = n(() => zr(o.map((e) => ({
		mark: e,
		at: d(e.x, e.y, e.z)
	})), l, u, e.shape === "sphere"), [
		o,
		t,
		r
	]);
	return /* @__PURE__ */ _("svg", {
		class: "over",
		width: l,
		height: u,
		"aria-hidden": "true",
		children: [
			e.shape === "plane" && /* @__PURE__ */ _(Br, {
				cloud: e,
				camera: t,
				size: r,
				ratio: i,
				names: a
			}),
			e.shape === "space" && /* @__PURE__ */ _(Vr, {
				names: a,
				pixel: d
			}),
			e.shape === "sphere" && /* @__PURE__ */ _(Hr, {
				camera: t,
				size: r,
				pixel: d
			}),
			p.map(({ mark: e, at: [t, n] }) => /* @__PURE__ */ _("g", {
				class: "mark",
				transform: `translate(${t} ${n})`,
				children: [/* @__PURE__ */ _("circle", {
					r: e.text.length > 2 ? 13 : 10,
					fill: e.colour
				}), /* @__PURE__ */ _("text", {
					y: "4",
					"text-anchor": "middle",
					children: e.text
				})]
			}, e.text)),
			f && f[2] >= (e.shape === "sphere" ? 0 : -Infinity) && /* @__PURE__ */ _("circle", {
				class: "picked",
				cx: f[0],
				cy: f[1],
				r: "9"
			}),
			c && /* @__PURE__ */ _("polygon", {
				class: "lasso",
				points: c.map(([e, t]) => `${e / i},${t / i}`).join(" ")
			})
		]
	});
}
function zr(e, t, n, r) {
	let i = [];
	for (let a of e) {
		let [e, o, s] = a.at;
		if (!(e < 12 || o < 12 || e > t - 12 || o > n - 12 || r && s < 0) && (i.every(({ at: t }) => Math.hypot(t[0] - e, t[1] - o) > 24) && i.push(a), i.length >= 60)) break;
	}
	return i;
}
function Br({ cloud: e, camera: n, size: r, ratio: i, names: a }) {
	let [o, s] = [r.width / i, r.height / i], l = (t) => e.middle[0] + (t * i - r.width / 2 - n.shift[0]) / n.scale[0] * e.half[0], u = (t) => e.middle[1] - (t * i - r.height / 2 - n.shift[1]) / n.scale[1] * e.half[1], d = (t) => (r.width / 2 + n.shift[0] + (t - e.middle[0]) / e.half[0] * n.scale[0]) / i, f = (t) => (r.height / 2 + n.shift[1] - (t - e.middle[1]) / e.half[1] * n.scale[1]) / i, p = x(l(0), l(o), Math.max(2, Math.floor(o / 110))), m = x(u(s), u(0), Math.max(2, Math.floor(s / 80)));
	return /* @__PURE__ */ _(t, { children: /* @__PURE__ */ _("g", {
		class: "axis",
		children: [
			p.map((e) => {
				let t = d(e);
				return t < 34 || t > o - 20 ? null : /* @__PURE__ */ _("g", { children: [/* @__PURE__ */ _("line", {
					x1: t,
					x2: t,
					y1: s - 5,
					y2: s
				}), /* @__PURE__ */ _("text", {
					x: t,
					y: s - 8,
					"text-anchor": "middle",
					children: c(e, 6)
				})] }, e);
			}),
			m.map((e) => {
				let t = f(e);
				return t < 26 || t > s - 24 ? null : /* @__PURE__ */ _("g", { children: [/* @__PURE__ */ _("line", {
					x1: 0,
					x2: 5,
					y1: t,
					y2: t
				}), /* @__PURE__ */ _("text", {
					x: 8,
					y: t + 4,
					children: c(e, 6)
				})] }, e);
			}),
			/* @__PURE__ */ _("text", {
				class: "name",
				x: o - 8,
				y: s - 24,
				"text-anchor": "end",
				children: [a[0], " →"]
			}),
			/* @__PURE__ */ _("text", {
				class: "name",
				x: 8,
				y: 16,
				children: ["↑ ", a[1]]
			})
		]
	}) });
}
function Vr({ names: e, pixel: t }) {
	let [n, r] = t(-1, -1, -1);
	return /* @__PURE__ */ _("g", {
		class: "axis",
		children: [
			[
				1,
				-1,
				-1
			],
			[
				-1,
				1,
				-1
			],
			[
				-1,
				-1,
				1
			]
		].map((i, a) => {
			let [o, s] = t(...i);
			return /* @__PURE__ */ _("g", { children: [/* @__PURE__ */ _("line", {
				x1: n,
				y1: r,
				x2: o,
				y2: s
			}), /* @__PURE__ */ _("text", {
				class: "name",
				x: o + 4,
				y: s - 4,
				children: e[a]
			})] }, a);
		})
	});
}
function Hr({ camera: e, size: t, pixel: n }) {
	let r = (t) => 180 / Math.PI * (t / e.scale[0]), i = r(Math.min(t.width, t.height)), a = [
		30,
		15,
		10,
		5,
		2,
		1,
		.5,
		.2,
		.1
	].find((e) => i / e >= 3) ?? .1, o = e.turn, s = {
		longitude: Math.atan2(o[6], o[8]) * 180 / Math.PI,
		latitude: Math.asin(Math.max(-1, Math.min(1, o[7]))) * 180 / Math.PI
	}, c = Math.min(90, .75 * r(Math.max(t.width, t.height))), l = (e) => {
		let t = "", r = !1;
		for (let [i, a] of e) {
			let [e, o, s] = n(...tr(i, a));
			s < 0 ? r = !1 : (t += `${r ? "L" : "M"}${e.toFixed(1)} ${o.toFixed(1)}`, r = !0);
		}
		return t;
	}, u = Math.max(a / 4, .05), d = (e, t, n) => Array.from({ length: Math.min(800, Math.floor((t - e) / n) + 1) }, (t, r) => e + r * n), f = Math.min(180, c / Math.max(.2, Math.cos(Math.abs(s.latitude) * Math.PI / 180))), p = Math.max(-90, s.latitude - c), m = Math.min(90, s.latitude + c), h = d(Math.ceil((s.longitude - f) / a) * a, s.longitude + f, a), g = d(Math.ceil(p / a) * a, m, a), v = (e) => String(Number(e.toFixed(2))), y = (e, t, r) => {
		let [i, a, o] = n(...tr(e, t));
		return o > 0 && /* @__PURE__ */ _("text", {
			x: i + 3,
			y: a - 3,
			children: r
		}, r);
	}, b = Math.round(s.latitude / a) * a, x = Math.round(s.longitude / a) * a;
	return /* @__PURE__ */ _("g", {
		class: "graticule",
		children: [
			h.map((e) => /* @__PURE__ */ _("path", { d: l(d(p, m, u).map((t) => [e, t])) }, `m${e}`)),
			g.map((e) => /* @__PURE__ */ _("path", { d: l(d(s.longitude - f, s.longitude + f, u).map((t) => [t, e])) }, `p${e}`)),
			h.map((e) => {
				let t = (e + 540) % 360 - 180;
				return y(e, b, `${v(Math.abs(t))}°${t < 0 ? "W" : t > 0 ? "E" : ""}`);
			}),
			g.map((e) => e !== b && y(x, e, `${v(Math.abs(e))}°${e < 0 ? "S" : e > 0 ? "N" : ""}`))
		]
	});
}
async function Ur(e, { marks: t, caption: n, theme: r, cloud: i }, a, o) {
	let s = Math.min(2, devicePixelRatio || 1), c = Math.round(30 * s), l = document.createElement("canvas");
	[l.width, l.height] = [e.width, e.height + c];
	let u = l.getContext("2d");
	u.fillStyle = Kn[r], u.fillRect(0, 0, l.width, l.height), u.drawImage(e, 0, 0), u.font = `600 ${11 * s}px system-ui, sans-serif`, u.textAlign = "center";
	let d = t.map((e) => ({
		mark: e,
		at: _r(a, o, e.x, e.y, e.z).map((e, t) => t < 2 ? e / s : e)
	}));
	for (let { mark: e, at: t } of zr(d, o.width / s, o.height / s, i.shape === "sphere")) {
		let [n, i] = [t[0] * s, t[1] * s];
		u.fillStyle = e.colour, u.beginPath(), u.arc(n, i, 10 * s, 0, 2 * Math.PI), u.fill(), u.fillStyle = r === "light" ? "#ffffff" : "#0d1013", u.fillText(e.text, n, i + 4 * s);
	}
	return u.textAlign = "left", u.font = `${12 * s}px system-ui, sans-serif`, u.fillStyle = r === "light" ? "#565d66" : "#a9b1ba", u.fillText(n, 10 * s, e.height + 20 * s), new Promise((e, t) => l.toBlob((n) => n ? e(n) : t(/* @__PURE__ */ Error("The picture could not be made.")), "image/png"));
}
// src/views/icon.tsx
var Wr = {
	shown: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12Zm10 3a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
	hidden: "M3 3l18 18M10.6 5.1A9.7 9.7 0 0 1 12 5c6 0 10 7 10 7a17 17 0 0 1-3 3.7M6.6 6.6A17 17 0 0 0 2 12s4 7 10 7a9.6 9.6 0 0 0 4-.9M9.9 9.9a3 3 0 0 0 4.2 4.2",
	only: "M12 3v4m0 10v4M3 12h4m10 0h4M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
	hand: "M12 2v20M2 12h20M12 2l-3 3m3-3 3 3M12 22l-3-3m3 3 3-3M2 12l3-3m-3 3 3 3m17-3-3-3m3 3-3 3",
	lasso: "M7 17c-3-1-5-3-5-6 0-4 4.500-7 10-7s10 3 10 7-4.500 7-10 7c-1 0-2-.1-3-.3M9 15.500a2 2 0 1 1-4 0 2 2 0 0 1 4 0Zm-2 2c0 2-1 3-3 4",
	box: "M4 4h16v16H4z",
	fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
	plus: "M12 5v14M5 12h14",
	minus: "M5 12h14",
	close: "M6 6l12 12M18 6 6 18",
	up: "M12 19V5m-6 6 6-6 6 6"
};
function Gr({ name: e }) {
	return /* @__PURE__ */ _("svg", {
		class: "icon",
		viewBox: "0 0 24 24",
		width: "18",
		height: "18",
		"aria-hidden": "true",
		children: /* @__PURE__ */ _("path", { d: Wr[e] })
	});
}
// src/views/explore.tsx
var Kr = 6e8, qr = 40, Jr = 200;
function Yr() {
	let e = d(), t = e ? a(e).value : null;
	if (!e) return /* @__PURE__ */ _("p", {
		class: "empty",
		children: "This node has no service of data sets."
	});
	if (!t) return /* @__PURE__ */ _("p", {
		class: "empty",
		children: "Asking the node…"
	});
	let n = Object.keys(t.datasets).filter((e) => g(t.datasets[e])), { data: r } = u.value.settings, i = r ? t.datasets[r] : void 0, o = /* @__PURE__ */ _("label", { children: ["Data", /* @__PURE__ */ _("select", {
		value: r ?? "",
		onChange: (e) => location.hash = h("explore", { data: e.currentTarget.value }),
		children: [
			!i && /* @__PURE__ */ _("option", {
				value: "",
				children: "choose…"
			}),
			i && !n.includes(r) && /* @__PURE__ */ _("option", { children: r }),
			n.map((e) => /* @__PURE__ */ _("option", {
				value: e,
				children: e
			}, e))
		]
	})] });
	return i ? /* @__PURE__ */ _(Xr, {
		path: e,
		name: r,
		dataset: i,
		choice: o
	}, `${r} ${i.content}`) : /* @__PURE__ */ _("section", {
		class: "card",
		children: [/* @__PURE__ */ _("div", {
			class: "tools",
			children: o
		}), /* @__PURE__ */ _("p", {
			class: "empty",
			children: [r ? `There is no data set "${r}" any more. ` : "", n.length ? "Choose a data set with at least two columns of numbers." : "No data set has two columns of numbers yet. Bring one in under Data."]
		})]
	});
}
function Xr({ path: e, name: t, dataset: n, choice: r }) {
	let i = T(null), a = T(0), s = T(null);
	return w(() => {
		let r = new AbortController();
		if (n.bytes > Kr) s.value = `${t} has ${c(n.bytes / 1e6, 3)} MB of values; the page takes ${Kr / 1e6} MB. Bring in fewer columns, or fewer rows.`;
		else return Bn(e, t, n.rows, (e) => a.value = e, r.signal).then((e) => i.value = e).catch((e) => {
			r.signal.aborted || (s.value = e);
		}), () => r.abort();
	}, []), i.value ? /* @__PURE__ */ _($r, {
		path: e,
		name: t,
		dataset: n,
		columns: i.value,
		choice: r
	}) : /* @__PURE__ */ _("section", {
		class: "card",
		children: [
			/* @__PURE__ */ _("div", {
				class: "tools",
				children: r
			}),
			/* @__PURE__ */ _(o, { error: s.value }),
			!s.value && /* @__PURE__ */ _("p", {
				class: "empty",
				children: [
					/* @__PURE__ */ _("progress", {
						max: n.rows,
						value: a.value,
						"aria-label": "Rows read"
					}),
					" ",
					b(a.value),
					" of ",
					b(n.rows),
					" rows"
				]
			})
		]
	});
}
function Zr(e, t, n) {
	let r = [];
	for (let i of C()) for (let [o, s] of Object.entries(a(i.path).value?.jobs ?? {})) {
		let { labels: a } = s.outputs;
		a && e.datasets[a]?.rows === n && (Object.values(s.inputs).includes(t) || /\/(positions|places)$/.test(t)) && r.push({
			key: `job:${i.path}|${o}`,
			title: `clusters of ${o}`,
			labels: a
		});
	}
	return r.reverse();
}
function Qr(e, t) {
	return e.find((e) => e.kind !== "text" && t.test(e.name));
}
function $r({ path: e, name: t, dataset: s, columns: d, choice: p }) {
	let { settings: h } = u.value, g = fr.value, v = a(e).value, y = d.columns.filter((e) => e.kind !== "text"), x = Qr(y, /^(lon|lng|long|longitude)$/i), S = Qr(y, /^(lat|latitude)$/i), C = y.filter((e) => e.name !== s.id && e.name !== s.weights), E = C.length >= 2 ? C : y, D = (e, t) => y.find((t) => t.name === e) ?? t, O = x !== void 0 && S !== void 0 && h.view !== "flat", k = D(h.x, x ?? E[0]), A = D(h.y, S ?? E[1] ?? E[0]), j = h.z ? y.find((e) => e.name === h.z) : void 0, M = Zr(v, t, d.rows), N = h.colour ?? M[0]?.key ?? "", P = k === x && A === S || /\/(positions|places)$/.test(t), F = n(() => O ? er(x.values, S.values) : $n([
		k,
		A,
		...j ? [j] : []
	], P), [
		O,
		k,
		A,
		j,
		P
	]), I = T(null), L = T(null), R = M.find((e) => e.key === N)?.labels;
	w(() => {
		let t = new AbortController();
		return L.value = null, (async () => {
			try {
				if (R) {
					let n = await Bn(e, R, d.rows, () => {}, t.signal);
					t.signal.aborted || (I.value = sr(M.find((e) => e.key === N).title, n));
				} else {
					let e = N.startsWith("column:") ? d.columns.find((e) => e.name === N.slice(7)) : void 0;
					I.value = e ? cr(e) : null;
				}
			} catch (e) {
				t.signal.aborted || ([L.value, I.value] = [e, null]);
			}
		})(), () => t.abort();
	}, [N, R]);
	let z = T(null), B = T([]), V = T(/* @__PURE__ */ new Set()), H = T(-1), ee = T("move"), U = T(0), W = i(null), G = I.value;
	w(() => {
		V.value = /* @__PURE__ */ new Set();
	}, [G?.title]);
	let te = (e) => G !== null && V.value.size > 0 && V.value.has(G.groupOf[e]), ne = n(() => ni(F, d.rows, G, z.value, V.value, g), [
		F,
		G,
		z.value,
		V.value,
		g
	]), re = n(() => z.value ? z.value.reduce((e, t) => e + t, 0) : 0, [z.value]), ie = n(() => ri(F, G, V.value, g), [
		F,
		G,
		V.value,
		g
	]), ae = n(() => H.value < 0 ? -1 : F.rowOf.indexOf(H.value), [F, H.value]), oe = (e, t, n) => {
		let i = t === "replace" || !z.value ? new Uint8Array(d.rows) : z.value.slice();
		for (let n of e) i[n] = t === "subtract" ? 0 : 1;
		let a = i.includes(1);
		r(() => {
			z.value = a ? i : null;
			let e = {
				replace: "",
				add: "and ",
				subtract: "without "
			}[t];
			B.value = a ? t === "replace" ? [n] : [...B.value, `${e}${n}`] : [];
		}), f(a ? `${b(i.reduce((e, t) => e + t, 0))} rows selected.` : "Nothing is selected.");
	}, se = () => r(() => [z.value, B.value, H.value] = [
		null,
		[],
		-1
	]), K = () => {
		if (!z.value) return;
		let e = z.value.map((e, t) => e || te(t) ? 0 : 1);
		z.value = e.includes(1) ? e : null, B.value = [...B.value, "inverted"];
	}, ce = function* (e) {
		for (let t = 0; t < d.rows; t++) G.groupOf[t] === e && (yield t);
	}, le = () => {
		if (!z.value || !G) return;
		let e = new Set(V.value);
		z.value.forEach((t, n) => t && e.add(G.groupOf[n])), e.size < G.groups.length && (V.value = e);
	}, ue = (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
		let t = {
			l: () => ee.value = "lasso",
			b: () => ee.value = "box",
			m: () => ee.value = "move",
			i: K,
			h: le,
			Escape: se,
			f: () => W.current?.fit()
		}[e.key];
		t && (e.preventDefault(), t());
	}, de = U.value || (d.rows > 3e5 ? 1 : d.rows > 3e4 ? 2 : d.rows > 3e3 ? 4 : d.rows > 500 ? 7 : 9), fe = (e) => y.slice(0, 4).map((t) => `${t.name} ${c(t.values[e], 6)}`).join(" · "), q = d.columns.find((e) => e.name === s.id), pe = (e) => q ? String(q.kind === "text" ? q.values[e] : c(q.values[e], 12)) : `row ${b(e + 1)}`, me = (e) => {
		let t = G?.groups[G.groupOf[e]];
		return t ? t.name : "";
	}, he = `${t}: ${O ? "positions on the sphere" : `${k.name} and ${A.name}${j ? ` and ${j.name}` : ""}`}${G ? `, coloured by ${G.title}` : ""}; ${b(d.rows)} rows`, ge = `${he}.${G?.groups.length ? ` ${G.groups.length} groups; the list beside the picture has them all.` : ""}${re ? ` ${b(re)} rows are selected; the table below has them.` : ""} Arrow keys move, plus and minus zoom, Enter picks the middle point.`;
	return /* @__PURE__ */ _("div", {
		class: "scene",
		onKeyDown: ue,
		children: [
			/* @__PURE__ */ _("section", {
				class: "card picture",
				"aria-label": "Picture",
				children: [
					/* @__PURE__ */ _("div", {
						class: "tools choices",
						children: [p, /* @__PURE__ */ _(ti, {
							columns: d,
							numbers: y,
							x: k.name,
							y: A.name,
							z: j?.name ?? "",
							isSphere: O,
							canBeSphere: x !== void 0 && S !== void 0,
							sources: M,
							colourKey: N
						})]
					}),
					/* @__PURE__ */ _("div", {
						class: "stage",
						children: [/* @__PURE__ */ _(Fr, {
							cloud: F,
							paint: ne,
							theme: g,
							tool: ee.value,
							isEqual: P,
							pointWidth: de,
							names: [
								k.name,
								A.name,
								j?.name ?? ""
							],
							summary: ge,
							caption: he,
							marks: ie,
							picked: ae,
							forced: h.renderer,
							handle: W,
							onSelect: (e, t, n) => oe(ei(e, (e) => F.rowOf[e]), t, n),
							onPick: (e) => H.value = e < 0 ? -1 : F.rowOf[e],
							hint: (e) => {
								let t = F.rowOf[e], n = G?.groups.length ? me(t) : "";
								return {
									title: n && n !== "no cluster" ? `${R ? "Cluster " : ""}${n} · ${pe(t)}` : pe(t),
									text: fe(t),
									colour: ur(G, t, g)
								};
							}
						}), /* @__PURE__ */ _("div", {
							class: "palette",
							role: "toolbar",
							"aria-label": "Tools of the picture",
							children: [
								[
									[
										"move",
										"hand",
										"Move (M)"
									],
									[
										"lasso",
										"lasso",
										"Lasso (L)"
									],
									[
										"box",
										"box",
										"Box (B)"
									]
								].map(([e, t, n]) => /* @__PURE__ */ _("button", {
									type: "button",
									"aria-pressed": ee.value === e,
									title: n,
									"aria-label": n,
									onClick: () => ee.value = e,
									children: /* @__PURE__ */ _(Gr, { name: t })
								}, e)),
								/* @__PURE__ */ _("button", {
									type: "button",
									title: "Zoom in (+)",
									"aria-label": "Zoom in",
									onClick: () => W.current?.zoom(1.5),
									children: /* @__PURE__ */ _(Gr, { name: "plus" })
								}),
								/* @__PURE__ */ _("button", {
									type: "button",
									title: "Zoom out (-)",
									"aria-label": "Zoom out",
									onClick: () => W.current?.zoom(1 / 1.5),
									children: /* @__PURE__ */ _(Gr, { name: "minus" })
								}),
								/* @__PURE__ */ _("button", {
									type: "button",
									title: "Fit all (F)",
									"aria-label": "Fit all",
									onClick: () => W.current?.fit(),
									children: /* @__PURE__ */ _(Gr, { name: "fit" })
								})
							]
						})]
					}),
					/* @__PURE__ */ _("div", {
						class: "tools under",
						children: [
							/* @__PURE__ */ _("label", { children: ["Point size", /* @__PURE__ */ _("input", {
								type: "range",
								min: "1",
								max: "15",
								step: "1",
								value: de,
								onInput: (e) => U.value = Number(e.currentTarget.value)
							})] }),
							/* @__PURE__ */ _("button", {
								type: "button",
								onClick: async () => {
									try {
										l(`${t}.png`, await W.current.picture());
									} catch (e) {
										L.value = e;
									}
								},
								children: "Save picture (PNG)"
							}),
							/* @__PURE__ */ _("span", {
								class: "note",
								children: ee.value === "move" ? F.shape === "plane" ? "Drag to move, scroll to zoom, click a point to see its row." : "Drag to turn, Shift and drag to move, scroll to zoom." : "Drag around points. Shift adds, Alt takes away."
							})
						]
					}),
					F.missing > 0 && /* @__PURE__ */ _("p", {
						class: "note",
						children: [b(F.missing), " rows have a missing value in these columns and are not drawn."]
					}),
					/* @__PURE__ */ _(o, { error: L.value })
				]
			}),
			/* @__PURE__ */ _("aside", {
				class: "side",
				children: [
					H.value >= 0 && /* @__PURE__ */ _(oi, {
						columns: d,
						row: H.value,
						title: pe(H.value),
						cluster: G?.groups.length ? `${m(G.title)}: ${me(H.value)}` : "",
						probability: G?.probability?.[H.value] ?? null,
						close: () => H.value = -1
					}),
					G && G.groups.length > 0 && /* @__PURE__ */ _(ii, {
						grouping: G,
						rows: d.rows,
						theme: g,
						hidden: V.value,
						isOfJob: R !== void 0,
						hide: (e) => V.value = e,
						choose: (e, t) => oe(ce(e), t, `${R ? "cluster " : `${G.title} `}${G.groups[e].name}`)
					}),
					G?.scale && /* @__PURE__ */ _(ai, {
						title: G.title,
						...G.scale,
						theme: g
					}),
					!G && /* @__PURE__ */ _("p", {
						class: "note card",
						children: "Choose under \"Colour\" what points are coloured by. Clusters appear here when a job has found some."
					})
				]
			}),
			z.value && /* @__PURE__ */ _(si, {
				path: e,
				name: t,
				columns: d,
				chosen: z.value,
				total: re,
				recipe: B.value,
				grouping: R ? G : null,
				clear: se,
				invert: K,
				pick: (e) => H.value = e,
				picked: H.value
			})
		]
	});
}
function* ei(e, t) {
	for (let n of e) yield t(n);
}
function ti({ columns: e, numbers: n, x: r, y: i, z: a, isSphere: o, canBeSphere: s, sources: c, colourKey: l }) {
	let u = (e, t, r) => /* @__PURE__ */ _("label", { children: [e, /* @__PURE__ */ _("select", {
		value: r,
		onChange: (e) => v({ [t]: e.currentTarget.value }),
		children: [t === "z" && /* @__PURE__ */ _("option", {
			value: "",
			children: "none"
		}), n.map((e) => /* @__PURE__ */ _("option", {
			value: e.name,
			children: e.name
		}, e.name))]
	})] });
	return /* @__PURE__ */ _(t, { children: [
		/* @__PURE__ */ _("label", { children: ["Colour", /* @__PURE__ */ _("select", {
			value: l,
			onChange: (e) => v({ colour: e.currentTarget.value || "none" }),
			children: [
				/* @__PURE__ */ _("option", {
					value: "none",
					children: "one colour"
				}),
				c.map((e) => /* @__PURE__ */ _("option", {
					value: e.key,
					children: e.title
				}, e.key)),
				e.columns.map((e) => /* @__PURE__ */ _("option", {
					value: `column:${e.name}`,
					children: ["column ", e.name]
				}, e.name))
			]
		})] }),
		s && /* @__PURE__ */ _("label", { children: ["View", /* @__PURE__ */ _("select", {
			value: o ? "sphere" : "flat",
			onChange: (e) => v({ view: e.currentTarget.value === "flat" ? "flat" : null }),
			children: [/* @__PURE__ */ _("option", {
				value: "sphere",
				children: "sphere"
			}), /* @__PURE__ */ _("option", {
				value: "flat",
				children: "columns"
			})]
		})] }),
		!o && /* @__PURE__ */ _(t, { children: [
			u("Across", "x", r),
			u("Upwards", "y", i),
			n.length > 2 && u("Depth", "z", a)
		] })
	] });
}
function ni(e, t, n, r, i, a) {
	let o = new Uint32Array(e.count), s = n?.groups.map((e) => nr(lr(e, a), 255)) ?? [], c = nr(ur(n && !n.scale ? {
		...n,
		groups: []
	} : null, 0, a), 255), l = Array.from({ length: 256 }, (e, t) => nr(Yn(t / 255, a), 255)), u = nr(Yn(NaN, a), 255), d = nr(Gn[a], 254);
	for (let a = 0; a < e.count; a++) {
		let f = e.rowOf[a];
		if (f >= t) continue;
		let p = n ? n.groupOf[f] : -1;
		if (!(i.size > 0 && i.has(p))) {
			if (r && !r[f]) o[a] = d;
			else if (n?.scale) {
				let e = n.scale.place[f];
				o[a] = e >= 0 ? l[Math.round(255 * e)] : u;
			} else o[a] = s[p] ?? c;
		}
	}
	return o;
}
function ri(e, t, n, r) {
	if (!t || t.groups.length < 2) return [];
	let i = t.groups.map(() => [
		0,
		0,
		0,
		0
	]);
	for (let n = 0; n < e.count; n++) {
		let r = e.positions[3 * n], a = i[t.groupOf[e.rowOf[n]]];
		a && r === r && (a[0] += r, a[1] += e.positions[3 * n + 1], a[2] += e.positions[3 * n + 2], a[3]++);
	}
	return t.groups.map((e, t) => ({
		group: e,
		at: t,
		sum: i[t]
	})).filter(({ group: e, at: t, sum: r }) => e.number >= 0 && r[3] > 0 && !n.has(t) && e.name.length <= 6).sort((e, t) => t.sum[3] - e.sum[3]).map(({ group: t, sum: [n, i, a, o] }) => {
		let s = e.shape === "sphere" ? Math.hypot(n, i, a) || 1 : o;
		return {
			text: t.name,
			colour: lr(t, r),
			x: n / s,
			y: i / s,
			z: a / s
		};
	});
}
function ii({ grouping: e, rows: t, theme: n, hidden: r, isOfJob: i, hide: a, choose: o }) {
	let s = T(!1), l = T(""), u = e.groups.map((e, t) => t), d = u.filter((t) => e.groups[t].name.toLowerCase().includes(l.value.trim().toLowerCase())), f = s.value ? d : d.slice(0, qr), p = (e) => {
		let t = new Set(r);
		t.delete(e) || t.add(e), a(t);
	}, m = (e) => !r.has(e) && r.size === u.length - 1;
	return /* @__PURE__ */ _("section", {
		class: "card",
		"aria-labelledby": "groups",
		children: [
			/* @__PURE__ */ _("div", {
				class: "head tight",
				children: [/* @__PURE__ */ _("h2", {
					id: "groups",
					children: [
						i ? "Clusters" : e.title,
						" ",
						/* @__PURE__ */ _("span", {
							class: "soft",
							children: b(e.groups.filter((e) => e.number >= 0).length)
						})
					]
				}), r.size > 0 && /* @__PURE__ */ _("button", {
					type: "button",
					onClick: () => a(/* @__PURE__ */ new Set()),
					children: "Show all"
				})]
			}),
			e.groups.length > qr && /* @__PURE__ */ _("label", { children: [/* @__PURE__ */ _("span", {
				class: "unseen",
				children: ["Search ", i ? "clusters" : e.title]
			}), /* @__PURE__ */ _("input", {
				type: "search",
				placeholder: "Search",
				value: l.value,
				onInput: (e) => l.value = e.currentTarget.value
			})] }),
			/* @__PURE__ */ _("ul", {
				class: "groups",
				children: f.map((s) => {
					let l = e.groups[s], d = l.number < 0 || !i ? l.name : `Cluster ${l.name}`;
					return /* @__PURE__ */ _("li", {
						class: r.has(s) ? "off" : "",
						children: [
							/* @__PURE__ */ _("button", {
								type: "button",
								class: "name",
								title: "Select its rows. Shift adds, Alt takes away.",
								onClick: (e) => o(s, e.altKey ? "subtract" : e.shiftKey ? "add" : "replace"),
								children: [
									/* @__PURE__ */ _("i", {
										class: "swatch",
										style: { background: lr(l, n) }
									}),
									/* @__PURE__ */ _("span", {
										class: "text",
										children: d
									}),
									/* @__PURE__ */ _("span", {
										class: "number",
										children: b(l.rows)
									}),
									/* @__PURE__ */ _("span", {
										class: "number soft",
										children: [c(100 * l.rows / t, 2), " %"]
									})
								]
							}),
							/* @__PURE__ */ _("button", {
								type: "button",
								class: "bare",
								"aria-pressed": m(s),
								title: `Show only ${d}`,
								"aria-label": `Show only ${d}`,
								onClick: () => a(m(s) ? /* @__PURE__ */ new Set() : new Set(u.filter((e) => e !== s))),
								children: /* @__PURE__ */ _(Gr, { name: "only" })
							}),
							/* @__PURE__ */ _("button", {
								type: "button",
								class: "bare",
								"aria-pressed": r.has(s),
								title: `Hide ${d}`,
								"aria-label": `Hide ${d}`,
								onClick: () => p(s),
								children: /* @__PURE__ */ _(Gr, { name: r.has(s) ? "hidden" : "shown" })
							})
						]
					}, l.number);
				})
			}),
			d.length > f.length && /* @__PURE__ */ _("button", {
				type: "button",
				onClick: () => s.value = !0,
				children: ["Show all ", b(d.length)]
			})
		]
	});
}
function ai({ title: e, low: t, high: n, isLog: r, theme: i }) {
	return /* @__PURE__ */ _("section", {
		class: "card",
		"aria-label": `Scale of ${e}`,
		children: [
			/* @__PURE__ */ _("h2", { children: e }),
			/* @__PURE__ */ _("div", {
				class: "ramp",
				"aria-hidden": "true",
				children: Array.from({ length: 24 }, (e, t) => /* @__PURE__ */ _("i", { style: { background: Yn(t / 23, i) } }, t))
			}),
			/* @__PURE__ */ _("p", {
				class: "ends",
				children: [
					/* @__PURE__ */ _("span", { children: c(t) }),
					/* @__PURE__ */ _("span", { children: r ? "logarithmic" : "" }),
					/* @__PURE__ */ _("span", { children: c(n) })
				]
			})
		]
	});
}
function oi({ columns: e, row: t, title: n, cluster: r, probability: i, close: a }) {
	return /* @__PURE__ */ _("section", {
		class: "card",
		"aria-labelledby": "picked",
		"aria-live": "polite",
		children: [
			/* @__PURE__ */ _("div", {
				class: "head tight",
				children: [/* @__PURE__ */ _("h2", {
					id: "picked",
					children: n
				}), /* @__PURE__ */ _("button", {
					type: "button",
					class: "bare",
					"aria-label": "Close",
					onClick: a,
					children: /* @__PURE__ */ _(Gr, { name: "close" })
				})]
			}),
			r && /* @__PURE__ */ _("p", {
				class: "note",
				children: [r, i === null ? "" : `, probability ${c(i, 4)}`]
			}),
			/* @__PURE__ */ _("dl", {
				class: "facts one",
				children: e.columns.slice(0, 200).map((e) => /* @__PURE__ */ _("div", { children: [/* @__PURE__ */ _("dt", { children: e.name }), /* @__PURE__ */ _("dd", { children: e.kind === "text" ? e.values[t] : c(e.values[t], 12) })] }, e.name))
			})
		]
	});
}
function si({ path: e, name: t, columns: r, chosen: i, total: a, recipe: s, grouping: c, clear: u, invert: d, pick: m, picked: h }) {
	let g = T(null), v = T(null), x = T(!1), C = n(() => {
		let e = [];
		for (let t = 0; t < i.length && e.length < Jr; t++) i[t] && e.push(t);
		return e;
	}, [i]), w = c ? ["cluster", ...c.probability ? ["probability"] : []] : [], E = new Set(r.columns.map((e) => e.name)), D = [...r.columns.map((e) => e.name), ...w.map((e) => E.has(e) ? `${e}_` : e)], O = (e) => [...r.columns.map((t) => t.values[e]), ...c ? [c.groups[c.groupOf[e]]?.number ?? -1, ...c.probability ? [c.probability[e]] : []] : []], k = () => {
		let e = [p(D)];
		for (let t = 0; t < i.length; t++) i[t] && e.push(p(O(t)));
		return new Blob(e, { type: "text/csv" });
	}, A = async () => {
		x.value = !0, g.value = null;
		try {
			let t = r.columns.filter((e) => e.kind === "text"), n = r.columns.some((e) => e.kind === "number" && e.values.some((e, t) => i[t] && e !== e)), a = await S(e, v.value.trim(), "csv", {
				...n ? { gaps: n } : {},
				...t.length === 1 && !n ? { id: t[0].name } : {}
			}, k(), !1, () => {}, new AbortController().signal);
			f(`${v.value} is there: ${b(a.rows)} rows.`), v.value = null;
		} catch (e) {
			g.value = e;
		} finally {
			x.value = !1;
		}
	};
	return /* @__PURE__ */ _("section", {
		class: "card chosen",
		"aria-labelledby": "chosen",
		children: [
			/* @__PURE__ */ _("div", {
				class: "head",
				children: [/* @__PURE__ */ _("div", { children: [/* @__PURE__ */ _("h2", {
					id: "chosen",
					children: [b(a), " rows selected"]
				}), /* @__PURE__ */ _("p", {
					class: "note",
					children: s.join(", ")
				})] }), /* @__PURE__ */ _("div", {
					class: "tools",
					children: [
						/* @__PURE__ */ _("button", {
							type: "button",
							class: "first",
							onClick: () => l(`${t}-selection.csv`, k()),
							children: "Export CSV"
						}),
						/* @__PURE__ */ _("button", {
							type: "button",
							onClick: () => v.value = v.value === null ? `${t}-selection` : null,
							children: "Save as data set"
						}),
						/* @__PURE__ */ _("button", {
							type: "button",
							onClick: d,
							children: "Invert (I)"
						}),
						/* @__PURE__ */ _("button", {
							type: "button",
							onClick: u,
							children: "Clear (Esc)"
						})
					]
				})]
			}),
			v.value !== null && /* @__PURE__ */ _("form", {
				class: "inline",
				onSubmit: (e) => {
					e.preventDefault(), A();
				},
				children: [/* @__PURE__ */ _("label", { children: ["Name ", /* @__PURE__ */ _("input", {
					value: v.value,
					onInput: (e) => v.value = e.currentTarget.value
				})] }), /* @__PURE__ */ _("button", {
					type: "submit",
					class: "first",
					disabled: x.value,
					children: "Save"
				})]
			}),
			/* @__PURE__ */ _(o, { error: g.value }),
			/* @__PURE__ */ _(y, {
				caption: "Selected rows",
				names: ["row", ...D],
				rows: C.map((e) => [e + 1, ...O(e)]),
				on: C.indexOf(h),
				pick: (e) => m(C[e])
			}),
			a > C.length && /* @__PURE__ */ _("p", {
				class: "note",
				children: [
					"The first ",
					b(C.length),
					" are shown; the export has all ",
					b(a),
					"."
				]
			})
		]
	});
}
export { Yr as default };
