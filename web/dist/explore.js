import { C as e, E as t, S as n, T as r, _ as i, a, b as o, c as s, d as c, f as l, g as u, h as d, i as f, l as p, m, n as h, o as g, p as _, r as v, s as y, t as b, u as x, v as S, w as C, x as w, y as T } from "./app.js";
import { a as E, i as D, n as ee, o as te, r as O, s as ne } from "./chart.js";
// node_modules/@uwdata/flechette/src/constants.js
/** Magic bytes 'ARROW1' indicating the Arrow 'file' format. */
var k = Uint8Array.of(65, 82, 82, 79, 87, 49), A = {
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
}, j = {
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
}, M = {
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
}, N = {
	/** 16-bit floating point number. */
	HALF: 0,
	/** 32-bit floating point number. */
	SINGLE: 1,
	/** 64-bit floating point number. */
	DOUBLE: 2
}, P = {
	DAY: 0,
	/**
	* Milliseconds (as 64 bit int) indicating UNIX time elapsed since the epoch
	* (no leap seconds), with values evenly divisible by 86400000.
	*/
	MILLISECOND: 1
}, F = {
	/** Seconds. */
	SECOND: 0,
	/** Milliseconds. */
	MILLISECOND: 1,
	/** Microseconds. */
	MICROSECOND: 2,
	/** Nanoseconds. */
	NANOSECOND: 3
}, re = {
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
}, I = {
	/** Sparse union layout with full arrays for each sub-type. */
	Sparse: 0,
	/** Dense union layout with offsets into value arrays. */
	Dense: 1
}, ie = {
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
BUFFER: 0 }, ae = Uint8Array, R = Uint16Array, oe = Uint32Array, se = BigUint64Array, z = Int8Array, B = Int16Array, V = Int32Array, H = BigInt64Array, U = Float32Array, W = Float64Array;
/**
* @param {unknown} value
* @returns {string}
*/
function G(e) {
	return Object.prototype.toString.call(e);
}
/**
* Check if an input value is an ArrayBuffer or SharedArrayBuffer,
* applicable cross-realms. 
* @param {unknown} data
* @returns {data is ArrayBufferLike}
*/
function K(e) {
	return G(e) === "[object ArrayBuffer]" || G(e) === "[object SharedArrayBuffer]";
}
/**
* Check in an input value is a Uint8Array, applicable cross-realms. 
* @param {unknown} value 
* @returns {value is Uint8Array}
*/
function q(e) {
	return G(e) === "[object Uint8Array]";
}
/**
* Return the appropriate typed array constructor for the given
* integer type metadata.
* @param {number} bitWidth The integer size in bits.
* @param {boolean} signed Flag indicating if the integer is signed.
* @returns {IntArrayConstructor}
*/
function ce(e, t) {
	let n = Math.log2(e) - 3;
	return (t ? [
		z,
		B,
		V,
		H
	] : [
		ae,
		R,
		oe,
		se
	])[n];
}
/**
* Determine the correct index into an offset array for a given
* full column row index. Assumes offset indices can be manipulated
* as 32-bit signed integers.
* @param {IntegerArray} offsets The offsets array.
* @param {number} index The full column row index.
*/
function le(e, t) {
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
function ue(e, t, n) {
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
function J(e, t, n) {
	return t = Array.isArray(t) ? t : Object.values(t), ue(e, (e) => t.includes(e), n ?? (() => `${e} must be one of ${t}`));
}
/**
* Return the first object key that pairs with the given value.
* @param {Record<string,any>} object The object to search.
* @param {any} value The value to lookup.
* @returns {string} The first matching key, or '<Unknown>' if not found.
*/
function de(e, t) {
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
var fe = (e) => `Unsupported data type: "${de(M, e)}" (id ${e})`, Y = (e, t, n = !0, r = null) => ({
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
function pe(e) {
	return Object.hasOwn(e, "name") && me(e.type);
}
/**
* Checks if a value is a data type instance.
* @param {any} value
* @returns {value is DataType}
*/
function me(e) {
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
function he(e, t = "", n = !0) {
	return pe(e) ? e : Y(t, ue(e, me, () => "Data type expected."), n);
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
var ge = (e, t, n = !1, r = -1) => ({
	typeId: M.Dictionary,
	id: r,
	dictionary: e,
	indices: t || ve(),
	ordered: n
}), _e = (e = 32, t = !0) => ({
	typeId: M.Int,
	bitWidth: J(e, [
		8,
		16,
		32,
		64
	]),
	signed: t,
	values: ce(e, t)
}), ve = () => _e(32), ye = (e = 2) => ({
	typeId: M.Float,
	precision: J(e, N),
	values: [
		R,
		U,
		W
	][e]
}), be = () => ({
	typeId: M.Binary,
	offsets: V
}), xe = () => ({
	typeId: M.Utf8,
	offsets: V
}), Se = (e, t, n = 128) => ({
	typeId: M.Decimal,
	precision: e,
	scale: t,
	bitWidth: J(n, [
		32,
		64,
		128,
		256
	]),
	values: n === 32 ? V : se
}), Ce = (e) => ({
	typeId: M.Date,
	unit: J(e, P),
	values: e === P.DAY ? V : H
}), we = (e = F.MILLISECOND) => {
	e = J(e, F);
	let t = e === F.SECOND || e === F.MILLISECOND ? 32 : 64;
	return {
		typeId: M.Time,
		unit: e,
		bitWidth: t,
		values: t === 32 ? V : H
	};
}, Te = (e = F.MILLISECOND, t = null) => ({
	typeId: M.Timestamp,
	unit: J(e, F),
	timezone: t,
	values: H
}), Ee = (e = re.MONTH_DAY_NANO) => ({
	typeId: M.Interval,
	unit: J(e, re),
	values: e === re.MONTH_DAY_NANO ? void 0 : V
}), De = (e) => ({
	typeId: M.List,
	children: [he(e)],
	offsets: V
}), Oe = (e) => ({
	typeId: M.Struct,
	children: Array.isArray(e) && e.length > 0 && pe(e[0]) ? e : Object.entries(e).map(([e, t]) => Y(e, t))
}), ke = (e, t, n, r) => (n ??= t.map((e, t) => t), {
	typeId: M.Union,
	mode: J(e, I),
	typeIds: n,
	typeMap: n.reduce((e, t, n) => (e[t] = n, e), {}),
	children: t.map((e, t) => he(e, `_${t}`)),
	typeIdForValue: r,
	offsets: V
}), Ae = (e) => ({
	typeId: M.FixedSizeBinary,
	stride: e
}), je = (e, t) => ({
	typeId: M.FixedSizeList,
	stride: t,
	children: [he(e)]
}), Me = (e, t) => ({
	typeId: M.Map,
	keysSorted: e,
	children: [t],
	offsets: V
}), Ne = (e = F.MILLISECOND) => ({
	typeId: M.Duration,
	unit: J(e, F),
	values: H
}), Pe = () => ({
	typeId: M.LargeBinary,
	offsets: H
}), Fe = () => ({
	typeId: M.LargeUtf8,
	offsets: H
}), Ie = (e) => ({
	typeId: M.LargeList,
	children: [he(e)],
	offsets: H
}), Le = (e, t) => ({
	typeId: M.RunEndEncoded,
	children: [ue(he(e, "run_ends"), (e) => e.type.typeId === M.Int, () => "Run-ends must have an integer type."), he(t, "values")]
}), Re = (e) => ({
	typeId: M.ListView,
	children: [he(e, "value")],
	offsets: V
}), ze = (e) => ({
	typeId: M.LargeListView,
	children: [he(e, "value")],
	offsets: H
}), Be = new W(2).buffer;
new H(Be), new oe(Be), new V(Be), new ae(Be);
/**
* Coerce a bigint value to a number. Throws an error if the bigint value
* lies outside the range of what a number can precisely represent.
* @param {bigint} value The value to check and possibly convert.
* @returns {number} The converted number value.
*/
function Ve(e) {
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
function He(e, t) {
	return Number(e / t) + Number(e % t) / Number(t);
}
var Ue = (e) => BigInt.asUintN(64, e);
/**
* Convert a 64-bit decimal value to a bigint.
* @param {BigUint64Array} buf The uint64 array containing the decimal bytes.
* @param {number} offset The starting index offset into the array.
* @returns {bigint} The converted decimal as a bigint, such that all
*  fractional digits are scaled up to integers (for example, 1.12 -> 112).
*/
function We(e, t) {
	return BigInt.asIntN(64, e[t]);
}
/**
* Convert a 128-bit decimal value to a bigint.
* @param {BigUint64Array} buf The uint64 array containing the decimal bytes.
* @param {number} offset The starting index offset into the array.
* @returns {bigint} The converted decimal as a bigint, such that all
*  fractional digits are scaled up to integers (for example, 1.12 -> 112).
*/
function Ge(e, t) {
	let n = t << 1, r;
	return BigInt.asIntN(64, e[n + 1]) < 0 ? (r = Ue(~e[n]) | Ue(~e[n + 1]) << 64n, r = -(r + 1n)) : r = e[n] | e[n + 1] << 64n, r;
}
/**
* Convert a 256-bit decimal value to a bigint.
* @param {BigUint64Array} buf The uint64 array containing the decimal bytes.
* @param {number} offset The starting index offset into the array.
* @returns {bigint} The converted decimal as a bigint, such that all
*  fractional digits are scaled up to integers (for example, 1.12 -> 112).
*/
function Ke(e, t) {
	let n = t << 2, r;
	return BigInt.asIntN(64, e[n + 3]) < 0 ? (r = Ue(~e[n]) | Ue(~e[n + 1]) << 64n | Ue(~e[n + 2]) << 128n | Ue(~e[n + 3]) << 192n, r = -(r + 1n)) : r = e[n] | e[n + 1] << 64n | e[n + 2] << 128n | e[n + 3] << 192n, r;
}
// node_modules/@uwdata/flechette/src/util/strings.js
var qe = new TextDecoder("utf-8");
new TextEncoder();
/**
* Return a UTF-8 string decoded from a byte buffer.
* @param {Uint8Array} buf The byte buffer.
* @returns {string} The decoded string.
*/
function Je(e) {
	return qe.decode(e);
}
/**
* Return a boolean for a single bit in a bitmap.
* @param {Uint8Array} bitmap The bitmap.
* @param {number} index The bit index to read.
* @returns {boolean} The boolean bitmap value.
*/
function Ye(e, t) {
	return !!(e[t >> 3] & 1 << t % 8);
}
/**
* Lookup helper for flatbuffer object (table) entries.
* @param {Uint8Array} buf The byte buffer.
* @param {number} index The base index of the object.
*/
function Xe(e, t) {
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
function Ze(e, t) {
	return t;
}
/**
* Return a boolean value.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {boolean}
*/
function Qe(e, t) {
	return !!$e(e, t);
}
/**
* Return a signed 8-bit integer value.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {number}
*/
function $e(e, t) {
	return et(e, t) << 24 >> 24;
}
/**
* Return an unsigned 8-bit integer value.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {number}
*/
function et(e, t) {
	return e[t];
}
/**
* Return a signed 16-bit integer value.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {number}
*/
function X(e, t) {
	return tt(e, t) << 16 >> 16;
}
/**
* Return an unsigned 16-bit integer value.
* @param {Uint8Array} buf
* @param {number} offset
* @returns {number}
*/
function tt(e, t) {
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
function nt(e, t) {
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
	return Ve(BigInt.asIntN(64, BigInt(nt(e, t)) + (BigInt(nt(e, t + 4)) << 32n)));
}
/**
* Create a JavaScript string from UTF-8 data stored inside the FlatBuffer.
* This allocates a new string and converts to wide chars upon each access.
* @param {Uint8Array} buf The byte buffer.
* @param {number} index The index of the string entry.
* @returns {string} The decoded string.
*/
function rt(e, t) {
	let n = t + Z(e, t), r = Z(e, n);
	return n += 4, Je(e.subarray(n, n + r));
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
function it(e, t, n, r) {
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
var at = Symbol("rowIndex");
/**
* Returns a row proxy object factory. The resulting method takes a
* batch-level row index as input and returns an object that proxies
* access to underlying batches.
* @param {string[]} names The column (property) names
* @param {Batch[]} batches The value batches.
* @returns {(index: number) => Record<string, any>}
*/
function ot(e, t) {
	class n {
		/**
		* Create a new proxy row object representing a struct or table row.
		* @param {number} index The record batch row index.
		*/
		constructor(e) {
			this[at] = e;
		}
		/**
		* Return a JSON-compatible object representation.
		*/
		toJSON() {
			return ct(e, t, this[at]);
		}
	}
	let r = n.prototype;
	for (let n = 0; n < e.length; ++n) {
		if (Object.hasOwn(r, e[n])) continue;
		let i = t[n];
		Object.defineProperty(r, e[n], {
			get() {
				return i.at(this[at]);
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
function st(e, t) {
	return (n) => ct(e, t, n);
}
/**
* Return a vanilla object representing a struct (row object) type.
* @param {string[]} names The column (property) names
* @param {Batch[]} batches The value batches.
* @param {number} index The record batch row index.
* @returns {Record<string, any>}
*/
function ct(e, t, n) {
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
function lt(e) {
	return e instanceof dt;
}
/**
* Column values from a single record batch.
* A column may contain multiple batches.
* @template T
*/
var ut = class {
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
		return Ye(this.validity, e);
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
}, dt = class extends ut {
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
}, ft = class extends ut {
	static ArrayType = W;
}, $ = class extends ut {
	static ArrayType = Array;
}, pt = class extends $ {
	/**
	* @param {number} index The value index
	* @returns {null}
	*/
	value(e) {
		return null;
	}
}, mt = class extends ft {
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return Ve(this.values[e]);
	}
}, ht = class extends ft {
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
}, gt = class extends $ {
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return Ye(this.values, e);
	}
}, _t = class extends ft {
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
}, vt = class extends ut {
	constructor(e) {
		super(e);
		let { bitWidth: t, scale: n } = this.type;
		this.decimal = t === 64 ? We : t === 128 ? Ge : Ke, this.scale = 10n ** BigInt(n);
	}
}, yt = class extends vt {
	static ArrayType = W;
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return He(this.decimal(this.values, e), this.scale);
	}
}, bt = class extends vt {
	static ArrayType = Array;
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return this.decimal(this.values, e);
	}
}, xt = class extends $ {
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
}, St = class extends ft {
	/**
	* @param {number} index The value index
	* @returns {number}
	*/
	value(e) {
		return 864e5 * this.values[e];
	}
}, Ct = mt, wt = class extends mt {
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return super.value(e) * 1e3;
	}
}, Tt = mt, Et = class extends mt {
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return He(this.values[e], 1000n);
	}
}, Dt = class extends mt {
	/**
	* @param {number} index The value index
	*/
	value(e) {
		return He(this.values[e], 1000000n);
	}
}, Ot = class extends $ {
	/**
	* @param {number} index The value index
	* @returns {Int32Array}
	*/
	value(e) {
		return this.values.subarray(e << 1, e + 1 << 1);
	}
}, kt = class extends $ {
	/**
	* @param {number} index The value index
	*/
	value(e) {
		let t = this.values, n = e << 4;
		return Float64Array.of(Z(t, n), Z(t, n + 4), Q(t, n + 8));
	}
}, At = ({ values: e, offsets: t }, n) => e.subarray(t[n], t[n + 1]), jt = ({ values: e, offsets: t }, n) => e.subarray(Ve(t[n]), Ve(t[n + 1])), Mt = class extends $ {
	/**
	* @param {number} index
	* @returns {Uint8Array}
	*/
	value(e) {
		return At(this, e);
	}
}, Nt = class extends $ {
	/**
	* @param {number} index
	* @returns {Uint8Array}
	*/
	value(e) {
		return jt(this, e);
	}
}, Pt = class extends $ {
	/**
	* @param {number} index
	*/
	value(e) {
		return Je(At(this, e));
	}
}, Ft = class extends $ {
	/**
	* @param {number} index
	*/
	value(e) {
		return Je(jt(this, e));
	}
}, It = class extends $ {
	/**
	* @param {number} index
	* @returns {ValueArray<V>}
	*/
	value(e) {
		let t = this.offsets;
		return this.children[0].slice(t[e], t[e + 1]);
	}
}, Lt = class extends $ {
	/**
	* @param {number} index
	* @returns {ValueArray<V>}
	*/
	value(e) {
		let t = this.offsets;
		return this.children[0].slice(Ve(t[e]), Ve(t[e + 1]));
	}
}, Rt = class extends $ {
	/**
	* @param {number} index
	* @returns {ValueArray<V>}
	*/
	value(e) {
		let t = this.offsets[e], n = t + this.sizes[e];
		return this.children[0].slice(t, n);
	}
}, zt = class extends $ {
	/**
	* @param {number} index
	* @returns {ValueArray<V>}
	*/
	value(e) {
		let t = this.offsets[e], n = t + this.sizes[e];
		return this.children[0].slice(Ve(t), Ve(n));
	}
}, Bt = class extends $ {
	constructor(e) {
		/** @type {number} */
		super(e), this.stride = this.type.stride;
	}
}, Vt = class extends Bt {
	/**
	* @param {number} index
	* @returns {Uint8Array}
	*/
	value(e) {
		let { stride: t, values: n } = this;
		return n.subarray(e * t, (e + 1) * t);
	}
}, Ht = class extends Bt {
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
function Ut({ children: e, offsets: t }, n) {
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
var Wt = class extends $ {
	/**
	* Return the value at the given index.
	* @param {number} index The value index.
	* @returns {[K, V][]} The map entries as an array of [key, value] arrays.
	*/
	value(e) {
		return Ut(this, e);
	}
}, Gt = class extends $ {
	/**
	* Return the value at the given index.
	* @param {number} index The value index.
	* @returns {Map<K, V>} The map value.
	*/
	value(e) {
		return new Map(Ut(this, e));
	}
}, Kt = class extends $ {
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
}, qt = class extends Kt {
	/**
	* @param {number} index The value index.
	*/
	value(e) {
		return super.value(e, this.offsets[e]);
	}
}, Jt = class extends $ {
	constructor(e, t = st) {
		super(e), this.names = this.type.children.map((e) => e.name), this.factory = t(this.names, this.children);
	}
	/**
	* @param {number} index The value index.
	* @returns {Record<string, any>}
	*/
	value(e) {
		return this.factory(e);
	}
}, Yt = class extends Jt {
	constructor(e) {
		super(e, ot);
	}
}, Xt = class extends $ {
	/**
	* @param {number} index The value index.
	*/
	value(e) {
		let [{ values: t }, n] = this.children;
		return n.at(le(t, e));
	}
}, Zt = class extends $ {
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
}, Qt = class extends $ {
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
}, $t = class extends Qt {
	/**
	* @param {number} index The value index.
	*/
	value(e) {
		return this.view(e);
	}
}, en = class extends Qt {
	/**
	* @param {number} index The value index.
	*/
	value(e) {
		return Je(this.view(e));
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
function tn(e) {
	let t = [];
	return {
		add(e) {
			return t.push(e), this;
		},
		clear: () => t = [],
		done: () => new nn(t, e)
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
var nn = class {
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
		return e.length === 1 ? e[0][Symbol.iterator]() : rn(e);
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
		let { data: t, offsets: n } = this, r = le(n, e) - 1;
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
		let { length: e, nullCount: t, data: n } = this, r = !t && lt(n[0]), i = n.length;
		if (r && i === 1) return n[0].values;
		let a = new (!i || t > 0 ? Array : n[0].constructor.ArrayType ?? n[0].values.constructor)(e);
		return r ? an(a, n) : on(a, n);
	}
	/**
	* Return an array of cached column values.
	* Used internally to accelerate dictionary types.
	*/
	cache() {
		return this._cache ??= this.toArray();
	}
};
function* rn(e) {
	for (let t = 0; t < e.length; ++t) {
		let n = e[t][Symbol.iterator]();
		for (let e = n.next(); !e.done; e = n.next()) yield e.value;
	}
}
function an(e, t) {
	for (let n = 0, r = 0; n < t.length; ++n) {
		let { values: i } = t[n];
		e.set(i, r), r += i.length;
	}
	return e;
}
function on(e, t) {
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
var sn = class e {
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
		this.schema = e, this.names = r, this.children = t, this.factory = n ? ot : st;
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
			fields: t.map((e, t) => cn(o[e], n[t]))
		}, t.map((e) => r[e]), i === ot);
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
		let [{ offsets: i }] = t, a = le(i, e) - 1;
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
function cn(e, t) {
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
function ln(e, t = {}) {
	let { typeId: n, bitWidth: r, mode: i, precision: a, unit: o } = e, { useBigInt: s, useBigIntTimestamp: c, useDate: l, useDecimalInt: u, useMap: d, useProxy: f } = t;
	switch (n) {
		case M.Null: return pt;
		case M.Bool: return gt;
		case M.Int:
		case M.Time:
		case M.Duration: return s || r < 64 ? dt : mt;
		case M.Float: return a ? dt : ht;
		case M.Date: return un(o === P.DAY ? St : Ct, l && xt);
		case M.Timestamp: return c ? dt : un(o === F.SECOND ? wt : o === F.MILLISECOND ? Tt : o === F.MICROSECOND ? Et : Dt, l && xt);
		case M.Decimal: return r === 32 ? u ? dt : _t : u ? bt : yt;
		case M.Interval: return o === re.DAY_TIME ? Ot : o === re.YEAR_MONTH ? dt : kt;
		case M.FixedSizeBinary: return Vt;
		case M.Utf8: return Pt;
		case M.LargeUtf8: return Ft;
		case M.Binary: return Mt;
		case M.LargeBinary: return Nt;
		case M.BinaryView: return $t;
		case M.Utf8View: return en;
		case M.List: return It;
		case M.LargeList: return Lt;
		case M.Map: return d ? Gt : Wt;
		case M.ListView: return Rt;
		case M.LargeListView: return zt;
		case M.FixedSizeList: return Ht;
		case M.Struct: return f ? Yt : Jt;
		case M.RunEndEncoded: return Xt;
		case M.Dictionary: return Zt;
		case M.Union: return i ? qt : Kt;
	}
	throw Error(fe(n));
}
function un(e, t) {
	return t ? class extends t {
		constructor(t) {
			super(new e(t));
		}
	} : e;
}
// node_modules/@uwdata/flechette/src/compression.js
/** @import { Codec, CompressionType_ } from './types.js' */
var dn = -1, fn = 8;
/**
* Return an error message for a missing codec.
* @param {CompressionType_} type The codec type.
*/
function pn(e) {
	return `Missing compression codec "${de(ie, e)}" (id ${e})`;
}
/** @type {Map<CompressionType_, Codec>} */
var mn = /* @__PURE__ */ new Map();
/**
* Returns a compression codec for the provided type, or null if not found.
* Compression codecs must first be registered using *setCompressionCodec*.
* @param {CompressionType_ | null} [type] The compression type.
* @returns {Codec | null} The compression codec, or null if not registered.
*/
function hn(e) {
	return e != null && mn.get(e) || null;
}
/**
* Decompress an Arrow buffer, return decompressed bytes and region metadata.
* @param {Uint8Array} body The message body.
* @param {{ offset: number, length: number }} region Buffer region metadata.
* @param {Codec} codec A compression codec.
* @returns {{ bytes: Uint8Array, offset: number, length: number }}
*/
function gn(e, { offset: t, length: n }, r) {
	if (n === 0) return {
		bytes: /* @__PURE__ */ new Uint8Array(),
		offset: 0,
		length: 0
	};
	let i = Q(e, t), a = e.subarray(t + fn, t + n), o = i === dn ? a : r.decode(a, i);
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
function _n(e, t) {
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
function vn(e, t) {
	return it(e, t, 24, _n);
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
function yn(e, t) {
	let n = Xe(e, t);
	return {
		codec: n(4, $e, ie.LZ4_FRAME),
		method: n(6, $e, L.BUFFER)
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
function bn(e, t, n) {
	let r = Xe(e, t), i = n < A.V4 ? 8 : 0;
	return {
		length: r(4, Q, 0),
		nodes: it(e, r(6, Ze), 16, (e, t) => ({
			length: Q(e, t),
			nullCount: Q(e, t + 8)
		})),
		regions: it(e, r(8, Ze), 16 + i, (e, t) => ({
			offset: Q(e, t + i),
			length: Q(e, t + i + 8)
		})),
		compression: r(10, yn),
		variadic: it(e, r(12, Ze), 8, Q)
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
function xn(e, t, n) {
	let r = Xe(e, t);
	return {
		id: r(4, Q, 0),
		data: r(6, (e, t) => bn(e, t, n)),
		/**
		* If isDelta is true the values in the dictionary are to be appended to a
		* dictionary with the indicated id. If isDelta is false this dictionary
		* should replace the existing dictionary.
		*/
		isDelta: r(8, Qe, !1)
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
function Sn(e, t, n, r) {
	J(n, M, fe);
	let i = Xe(e, t);
	switch (n) {
		case M.Binary: return be();
		case M.Utf8: return xe();
		case M.LargeBinary: return Pe();
		case M.LargeUtf8: return Fe();
		case M.List: return De(r[0]);
		case M.ListView: return Re(r[0]);
		case M.LargeList: return Ie(r[0]);
		case M.LargeListView: return ze(r[0]);
		case M.Struct: return Oe(r);
		case M.RunEndEncoded: return Le(r[0], r[1]);
		case M.Int: return _e(i(4, Z, 0), i(6, Qe, !1));
		case M.Float: return ye(i(4, X, N.HALF));
		case M.Decimal: return Se(i(4, Z, 0), i(6, Z, 0), i(8, Z, 128));
		case M.Date: return Ce(i(4, X, P.MILLISECOND));
		case M.Time: return we(i(4, X, F.MILLISECOND));
		case M.Timestamp: return Te(i(4, X, F.SECOND), i(6, rt));
		case M.Interval: return Ee(i(4, X, re.YEAR_MONTH));
		case M.Duration: return Ne(i(4, X, F.MILLISECOND));
		case M.FixedSizeBinary: return Ae(i(4, Z, 0));
		case M.FixedSizeList: return je(r[0], i(4, Z, 0));
		case M.Map: return Me(i(4, Qe, !1), r[0]);
		case M.Union: return ke(i(4, X, I.Sparse), r, it(e, i(6, Ze), 4, Z));
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
function Cn(e, t) {
	let n = it(e, t, 4, (e, t) => {
		let n = Xe(e, t);
		return [n(4, rt), n(6, rt)];
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
function wn(e, t, n) {
	let r = Xe(e, t);
	return {
		version: n,
		endianness: r(4, X, 0),
		fields: r(6, Tn, []),
		metadata: r(8, Cn)
	};
}
/**
* @returns {Field[] | null}
*/
function Tn(e, t) {
	return it(e, t, 4, En);
}
/**
* @returns {Field}
*/
function En(e, t) {
	let n = Xe(e, t), r = n(8, et, M.NONE), i = n(10, Ze, 0), a = n(12, On), o = Sn(e, i, r, n(14, Dn, []));
	return a && (a.dictionary = o, o = a), {
		name: n(4, rt),
		type: o,
		nullable: n(6, Qe, !1),
		metadata: n(16, Cn)
	};
}
/**
* @returns {Field[]}
*/
function Dn(e, t) {
	return it(e, t, 4, En);
}
/**
* @param {Uint8Array} buf
* @param {number} index
* @returns {DictionaryType}
*/
function On(e, t) {
	if (!t) return null;
	let n = Xe(e, t);
	return ge(null, n(6, kn, ve()), n(8, Qe, !1), n(4, Q, 0));
}
/**
* Decode an integer data type.
* @param {Uint8Array} buf A byte buffer of binary Arrow IPC data.
* @param {number} index The starting index in the byte buffer.
* @returns {IntType}
*/
function kn(e, t) {
	return Sn(e, t, M.Int);
}
// node_modules/@uwdata/flechette/src/decode/message.js
/**
* @import { Message, MessageHeader_, Version_ } from '../types.js'
*/
var An = (e, t) => `Expected to read ${e} metadata bytes, but only read ${t}.`, jn = (e, t) => `Expected to read ${e} bytes for message body, but only read ${t}.`, Mn = (e) => `Unsupported message type: ${e} (${de(j, e)})`;
/**
* A "message" contains a block of Apache Arrow data, such as a schema,
* record batch, or dictionary batch. This message decodes a single
* message, returning its associated metadata and content.
* @param {Uint8Array} buf A byte buffer of binary Arrow IPC data
* @param {number} index The starting index in the byte buffer
* @returns {Message} The decoded message.
*/
function Nn(e, t) {
	let n = Z(e, t) || 0;
	if (t += 4, n === -1 && (n = Z(e, t) || 0, t += 4), n === 0) return null;
	let r = e.subarray(t, t += n);
	if (r.byteLength < n) throw Error(An(n, r.byteLength));
	let i = Xe(r, 0), a = i(4, X, A.V1), o = i(6, et, j.NONE), s = i(8, Ze, 0), c = i(10, Q, 0), l;
	if (s) {
		let n = o === j.Schema ? wn : o === j.DictionaryBatch ? xn : o === j.RecordBatch ? bn : null;
		if (!n) throw Error(Mn(o));
		if (l = n(r, s, a), c > 0) {
			let n = e.subarray(t, t += c);
			if (n.byteLength < c) throw Error(jn(c, n.byteLength));
			l.body = n;
		} else o !== j.Schema && (l.body = /* @__PURE__ */ new Uint8Array());
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
function Pn(e) {
	let t = K(e) ? new Uint8Array(e) : e;
	return q(t) && Fn(t) ? Ln(t) : In(t);
}
/**
* @param {Uint8Array} buf
* @returns {boolean}
*/
function Fn(e) {
	if (!e || e.length < 4) return !1;
	for (let t = 0; t < 6; ++t) if (k[t] !== e[t]) return !1;
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
function In(e) {
	let t = [e].flat(), n, r = [], i = [], a = [];
	for (let e of t) {
		if (!q(e)) throw Error("IPC data batch was not a Uint8Array.");
		let t = 0;
		for (;;) {
			let o = Nn(e, t);
			if (o === null) break;
			if (t = o.index, o.content) switch (o.type) {
				case j.Schema:
					n ||= o.content;
					break;
				case j.RecordBatch:
					r.push(o.content), a.push(i.length);
					break;
				case j.DictionaryBatch: i.push(o.content);
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
function Ln(e) {
	let t = e.byteLength - (k.length + 4), n = Xe(e, t - Z(e, t)), r = n(4, X, A.V1), i = n(8, vn, []), a = n(10, vn, []), o = a.map((e) => i.filter((t) => t.offset < e.offset).length);
	return {
		schema: n(6, (e, t) => wn(e, t, r)),
		dictionaries: i.map(({ offset: t }) => Nn(e, t).content),
		records: a.map(({ offset: t }) => Nn(e, t).content),
		dictsBeforeRecord: o,
		metadata: n(12, Cn)
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
function Rn(e, t) {
	return zn(Pn(e), t);
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
function zn(e, t = {}) {
	let { schema: n = { fields: [] }, dictionaries: r, records: i, dictsBeforeRecord: a } = e, { version: o, fields: s } = n, c = /* @__PURE__ */ new Map(), l = Vn(t, o, c), u = /* @__PURE__ */ new Map();
	Bn(n, (e) => {
		let t = e.type;
		t.typeId === M.Dictionary && u.set(t.id, t.dictionary);
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
		let { id: t, data: n, isDelta: r, body: i } = e, a = u.get(t), o = Un(a, l({
			...n,
			body: i
		})), s = c.get(t);
		if (s) r ? c.set(t, new nn([...s.data, o], a)) : c.set(t, new nn([o], a));
		else {
			if (r) throw Error("Delta update can not be first dictionary batch.");
			c.set(t, new nn([o], a));
		}
	}, f = s.map((e) => tn(e.type)), p = 0;
	for (let e = 0; e < i.length; e++) {
		let t = a ? a[e] : r.length;
		for (; p < t;) d(r[p++]);
		let n = l(i[e]);
		s.forEach((e, t) => f[t].add(Un(e.type, n)));
	}
	for (; p < r.length;) d(r[p++]);
	return new sn(n, f.map((e) => e.done()), t.useProxy);
}
/**
* Visit all fields within a schema.
* @param {Schema} schema
* @param {(field: Field) => void} visitor
*/
function Bn(e, t) {
	e.fields.forEach(function e(n) {
		t(n), n.type.dictionary?.children?.forEach(e), n.type.children?.forEach(e);
	});
}
/**
* Context object generator for field visitation and buffer definition.
*/
function Vn(e, t, n) {
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
				let { bytes: t, length: n, offset: r } = Hn(s, i[++l], a);
				return e ? new e(t.buffer, t.byteOffset + r, n / e.BYTES_PER_ELEMENT) : t.subarray(r, r + n);
			},
			variadic: () => o[++u],
			visit(e) {
				return e.map((e) => Un(e.type, this));
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
function Hn(e, t, n) {
	if (!n) return {
		bytes: e,
		...t
	};
	if (n.method !== L.BUFFER) throw Error(`Unknown compression method (${n.method})`);
	{
		let r = n.codec, i = hn(r);
		if (!i) throw Error(pn(r));
		return gn(e, t, i);
	}
}
/**
* Visit a field, instantiating views of buffer regions.
*/
function Un(e, t) {
	let { typeId: n } = e, { options: r, node: i, buffer: a, variadic: o, version: s } = t, c = ln(e, r), l = {
		...i(),
		type: e
	};
	if (n === M.Null) return new c({
		...l,
		nullCount: l.length
	});
	switch (n) {
		case M.Bool:
		case M.Int:
		case M.Time:
		case M.Duration:
		case M.Float:
		case M.Decimal:
		case M.Date:
		case M.Timestamp:
		case M.Interval:
		case M.FixedSizeBinary: return new c({
			...l,
			validity: a(),
			values: a(e.values)
		});
		case M.Utf8:
		case M.LargeUtf8:
		case M.Binary:
		case M.LargeBinary: return new c({
			...l,
			validity: a(),
			offsets: a(e.offsets),
			values: a()
		});
		case M.BinaryView:
		case M.Utf8View: return new c({
			...l,
			validity: a(),
			values: a(),
			data: Array.from({ length: o() }, () => a())
		});
		case M.List:
		case M.LargeList:
		case M.Map: return new c({
			...l,
			validity: a(),
			offsets: a(e.offsets),
			children: t.visit(e.children)
		});
		case M.ListView:
		case M.LargeListView: return new c({
			...l,
			validity: a(),
			offsets: a(e.offsets),
			sizes: a(e.offsets),
			children: t.visit(e.children)
		});
		case M.FixedSizeList:
		case M.Struct: return new c({
			...l,
			validity: a(),
			children: t.visit(e.children)
		});
		case M.RunEndEncoded: return new c({
			...l,
			children: t.visit(e.children)
		});
		case M.Dictionary: {
			let { id: n, indices: r } = e;
			return new c({
				...l,
				validity: a(),
				values: a(r.values)
			}).setDictionary(t.dictionary(n));
		}
		case M.Union: return s < A.V5 && a(), new c({
			...l,
			typeIds: a(z),
			offsets: e.mode === I.Sparse ? null : a(e.offsets),
			children: t.visit(e.children)
		});
		default: throw Error(fe(n));
	}
}
new Uint16Array(new Uint8Array([1, 0]).buffer)[0];
// src/api/columns.ts
var Wn = "application/vnd.apache.arrow.stream", Gn = 2;
async function Kn(e, t, n, r, { columns: i, every: a = 1 } = {}) {
	let o = /* @__PURE__ */ new Map(), [s, c, l, u] = [
		-1,
		0,
		0,
		0
	], d = async (c, l) => {
		let d = await S(T(`${e}:read`, {
			name: t,
			columns: i && JSON.stringify(i),
			from: c,
			to: l,
			every: a > 1 ? a : null
		}), {
			accept: Wn,
			signal: r
		}), [, f, p] = (d.headers.get("lehr-rows") ?? "").split(/[-/]/).map(Number);
		if (!(f > c) && p !== 0) throw Error(`${t}: the node sent no rows after row ${c}`);
		if (s >= 0 && p !== s) throw Error(`${t} has changed while it was read. Load the page again.`);
		return s = p, qn(o, new Uint8Array(await d.arrayBuffer()), c / a, Math.ceil(s / a)), n(u += f - c), f;
	};
	return l = c = await d(0), await Promise.all(Array.from({ length: Gn }, async () => {
		for (; c < s;) {
			let e = c, t = Math.min(s, c += l);
			for (; e < t;) e = await d(e, t);
		}
	})), {
		rows: Math.ceil(s / a),
		columns: [...o.values()]
	};
}
function qn(e, t, n, r) {
	let i = Rn(t, { useBigInt: !1 });
	i.schema.fields.forEach((t, a) => {
		let o = i.getChildAt(a), s = Jn(o), c = s ?? o.toArray(), l = e.get(t.name);
		if (!l) {
			let n = Array.isArray(c) && Array.prototype.some.call(c, (e) => typeof e == "string"), i = !s && (c instanceof Float64Array || c instanceof Float32Array), a = n ? "text" : i ? "number" : "count";
			l = n ? {
				name: t.name,
				kind: "text",
				values: Array(r).fill("")
			} : {
				name: t.name,
				kind: a,
				values: new Float64Array(r).fill(NaN)
			}, e.set(t.name, l);
		}
		if (l.kind === "text") for (let e = 0; e < c.length; e++) l.values[n + e] = String(c[e] ?? "");
		else if (ArrayBuffer.isView(c)) l.values.set(c, n);
		else for (let e = 0; e < c.length; e++) l.values[n + e] = c[e] == null ? NaN : Number(c[e]);
	});
}
function Jn({ data: e, length: t }) {
	let [{ values: n, nullCount: r }] = e.length === 1 ? e : [{ values: null }];
	if (!(n instanceof BigUint64Array) || r) return null;
	let i = new Uint32Array(n.buffer, n.byteOffset, 2 * t), a = new Float64Array(t);
	for (let e = 0; e < t; e++) a[e] = i[2 * e] + i[2 * e + 1] * 2 ** 32;
	return a;
}
// src/colour/palette.ts
var Yn = [
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
], Xn = [
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
], Zn = {
	light: "#9aa1a9",
	dark: "#5c646d"
}, Qn = {
	light: "#d5d9de",
	dark: "#333a42"
}, $n = {
	light: "#ffffff",
	dark: "#14181d"
};
function er(e, t) {
	let n = t === "light" ? Yn : Xn;
	return e < 0 ? Zn[t] : n[e % n.length];
}
var tr = [
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
function nr(e, t) {
	if (!(e >= 0)) return Zn[t];
	let [n, r] = t === "light" ? [0, .86] : [.3, 1], i = (n + (r - n) * Math.min(1, e)) * (tr.length - 1), a = Math.min(tr.length - 2, Math.floor(i)), o = i - a, s = "#";
	for (let e of [
		1,
		3,
		5
	]) {
		let t = parseInt(tr[a].slice(e, e + 2), 16), n = parseInt(tr[a + 1].slice(e, e + 2), 16);
		s += Math.round(t + (n - t) * o).toString(16).padStart(2, "0");
	}
	return s;
}
// src/state/clusters.ts
var rr = 2e3, ir = "no cluster", ar = "no value";
function or(e, t) {
	let n = t.columns.find((e) => e.name === "cluster" || e.name === "component"), r = t.columns.find((e) => e.name === "probability");
	if (!n || n.kind === "text") throw Error(`${e}: its labels have no column of clusters`);
	return dr(e, n.values, r?.kind === "number" ? r.values : null);
}
function sr(e, t) {
	return e.columns.find((e) => e.name === t)?.values;
}
function cr(e, t) {
	let [n, r, i, a] = [
		"cluster",
		"name",
		"probability",
		"merges_with"
	].map((e) => sr(t, e)), o = new Map(Array.from({ length: t.rows }, (e, t) => [Number(n?.[t]), t]));
	for (let t of e.groups) {
		let e = o.get(t.number);
		e !== void 0 && (t.about ??= String(r?.[e] ?? "") || void 0, i && (t.probability = Number(i[e])), t.partners = String(a?.[e] ?? "") || void 0);
	}
}
function lr(e, t) {
	let [n, r] = ["id", "distance"].map((t) => sr(e, t));
	if (!t) return Array.from(n, Number);
	let [i, a] = ["id", "distance"].map((e) => sr(t, e)), o = /* @__PURE__ */ new Map();
	for (let t = 0; t < e.rows; t++) o.set(r[t], [...o.get(r[t]) ?? [], t]);
	let s = Array(e.rows).fill(-1);
	for (let e = 0; e < t.rows; e++) for (let t of o.get(a[e]) ?? []) String(i[e]) === String(n[t]) && (s[t] = e);
	return s;
}
function ur(e, t, n) {
	let [r, i] = ["cluster", "columns"].map((e) => sr(t, e));
	e.outliers = n.map((e, t) => ({
		row: e,
		cluster: Number(r?.[t]),
		about: String(i?.[t] ?? "")
	})).filter(({ row: t }) => t >= 0 && t < e.groupOf.length);
}
function dr(e, t, n, { names: r, about: i, means: a, partners: o } = {}) {
	let s = t.length, c = new Int32Array(s), l = -1;
	for (let e = 0; e < s; e++) t[e] > l && (l = t[e]);
	let u = new Int32Array(l + 2);
	for (let e = 0; e < s; e++) u[t[e] >= 0 ? t[e] : l + 1]++;
	let d = [];
	u.forEach((e, t) => {
		if (e === 0) return;
		u[t] = d.length;
		let n = t <= l ? t : -1;
		d.push({
			name: n < 0 ? r ? ar : ir : r?.[n] ?? String(n),
			number: n,
			rows: e,
			...n < 0 ? {} : {
				about: i?.[n],
				probability: a?.[n],
				partners: o?.[n]
			}
		});
	});
	for (let e = 0; e < s; e++) c[e] = u[t[e] >= 0 ? t[e] : l + 1];
	return {
		title: e,
		groupOf: c,
		groups: d,
		scale: null,
		probability: n
	};
}
var fr = .5;
function pr(e) {
	let { groups: t, groupOf: n, probability: r } = e;
	if (!r) return e;
	let i = (e) => Math.min(1, (1 - e) / .5), a = Float32Array.from(r, (e, r) => t[n[r]]?.number >= 0 ? i(e) : NaN), o = t.map(() => [0, 0]), s = 0;
	for (let e = 0; e < a.length; e++) {
		let t = o[n[e]];
		a[e] >= 0 ? [t[0], t[1]] = [t[0] + r[e], t[1] + 1] : s++;
	}
	let c = t.map((e, t) => ({
		...e,
		place: i(e.probability ?? o[t][0] / o[t][1])
	}));
	return {
		...e,
		groups: c,
		scale: {
			place: a,
			low: fr,
			high: 1,
			isLog: !1,
			gaps: s
		},
		isSure: !0
	};
}
function* mr({ groups: e, groupOf: t, probability: n }, r) {
	for (let i = 0; i < t.length; i++) n[i] < r && e[t[i]]?.number >= 0 && (yield i);
}
function hr(e) {
	let t = e.values.length, n = new Int32Array(t).fill(-1), r = /* @__PURE__ */ new Map(), i = (e) => e === "" || e !== e, a = e.kind === "text" ? rr : 12;
	for (let n = 0; n < t && r.size <= a; n++) {
		let t = e.values[n];
		i(t) || r.set(t, (r.get(t) ?? 0) + 1);
	}
	if (r.size <= a) {
		let i = [...r.entries()].sort(([e, t], [n, r]) => typeof e == "number" ? e - n : r - t), a = new Map(i.map(([e], t) => [e, t])), o = i.map(([e, t], n) => ({
			name: typeof e == "number" ? y(e) : e,
			number: n,
			rows: t
		}));
		for (let r = 0; r < t; r++) n[r] = a.get(e.values[r]) ?? o.length;
		let s = t - i.reduce((e, [, t]) => e + t, 0);
		return s > 0 && o.length > 0 && o.push({
			name: ar,
			number: -1,
			rows: s
		}), {
			title: e.name,
			groupOf: n,
			groups: o,
			scale: null,
			probability: null
		};
	}
	if (e.kind === "text") throw Error(`${e.name} has more than ${rr} different values. Choose another column.`);
	let [o, s] = [Infinity, -Infinity];
	for (let t of e.values) t < o && (o = t), t > s && (s = t);
	let [c, l] = [0, 0];
	for (let t of e.values) t === t && ([c, l] = [c + (t - o), l + 1]);
	let u = o >= 0 && c / l < .12 * (s - o), d = u ? Math.max(o, s * 1e-6, Math.min(1, s * .001)) : 0, f = (e) => u ? Math.log(Math.max(e, d) / d) / Math.log(s / d) : (e - o) / (s - o || 1), p = new Float32Array(t);
	for (let n = 0; n < t; n++) p[n] = f(e.values[n]);
	return {
		title: e.name,
		groupOf: n,
		groups: [],
		scale: {
			place: p,
			low: o,
			high: s,
			isLog: u,
			gaps: t - l
		},
		probability: null
	};
}
function gr(e, t) {
	return e ? e.place === void 0 ? er(e.number, t) : nr(e.place, t) : Zn[t];
}
function _r(e, t, n) {
	return e ? e.scale ? nr(e.scale.place[t], n) : gr(e.groups[e.groupOf[t]], n) : er(0, n);
}
// src/points/cloud.ts
function vr(e, t) {
	for (; t;) [e, t] = [t, e % t];
	return e;
}
function yr(e) {
	let t = new Uint32Array(e);
	if (e < 3) return t.map((e, t) => t);
	let n = Math.floor(e * .6180339887);
	for (; vr(n, e) !== 1;) n++;
	let r = Math.floor(e / 3);
	for (let i = 0; i < e; i++) t[i] = r, r += n, r >= e && (r -= e);
	return t;
}
function br(e) {
	let t = /* @__PURE__ */ new WeakMap();
	return (n) => {
		let r = t.get(n);
		return r || t.set(n, r = { result: e(n) }), r.result;
	};
}
var xr = br((e) => {
	let [t, n] = [Infinity, -Infinity];
	for (let r = 0; r < e.length; r++) {
		let i = e[r];
		i < t && (t = i), i > n && (n = i);
	}
	return t <= n && Number.isFinite(t) && Number.isFinite(n) ? [t, n] : null;
}), Sr = .02, Cr = 2e4, wr = br((e) => {
	let [t, n] = xr(e) ?? [0, 1], r = Math.max(1, Math.floor(e.length / Cr)), i = new Float64Array(Math.ceil(e.length / r)).map((t, n) => e[n * r]).filter(Number.isFinite).sort(), a = (e) => i[Math.min(i.length - 1, Math.floor(e * i.length))], [o, s] = [a(.25), a(.75)], c = 3 * (s - o);
	if (!(c > 0)) return [t, n];
	let [l, u] = [Infinity, -Infinity], d = 0;
	for (let t = 0; t < e.length; t++) {
		let n = e[t];
		n < o - c || n > s + c ? d++ : (n < l && (l = n), n > u && (u = n));
	}
	let f = .04 * (u - l), p = [Math.max(t, l - f), Math.min(n, u + f)];
	return n - t > 1.5 * (p[1] - p[0]) && d > 0 && d <= Math.max(5, Sr * e.length) ? p : [t, n];
}), [Tr, Er] = [.12, 100];
function Dr(e) {
	let t = xr(e);
	if (!t || !(t[0] > 0) || !(t[1] / t[0] > Er)) return !1;
	let n = 0, r = 0;
	for (let i = 0; i < e.length; i++) Number.isFinite(e[i]) && (n += e[i] / t[1], r++);
	let [i, a] = wr(e);
	return n / r < Tr && i === t[0] && a === t[1];
}
var Or = /* @__PURE__ */ new WeakMap();
function kr(e) {
	let t = Or.get(e);
	return t || Or.set(e, t = {
		name: e.name,
		kind: "number",
		values: Float64Array.from(e.values, Math.log10)
	}), t;
}
function Ar(e, { isEqual: t = !1, stretch: n, isEdged: r = !1 }) {
	let i = e.map((e) => e.values), a = i[0].length, o = yr(a), s = i.map((e) => r ? wr(e) : xr(e) ?? [0, 1]), c = s.map(([e, t]) => e / 2 + t / 2), l = s.map(([e, t], r) => (t / 2 - e / 2 || Math.abs(t) / 2 || .5) * (n?.[r] ?? 1)), u = Math.max(...l), d = (t || n ? l.map(() => u) : l).map((e, t) => e / (n?.[t] ?? 1)), f = new Float32Array(3 * a), p = new Uint8Array(a);
	for (let e = 0; e < i.length; e++) {
		let t = i[e], [n, r] = s[e], [l, u] = [c[e], d[e]];
		for (let i = 0; i < a; i++) {
			let a = t[o[i]], s = a;
			a < n ? s = n : a > r && (s = r), Number.isFinite(a) ? s !== a && (p[i] |= 1) : p[i] = 2, f[3 * i + e] = (s - l) / u;
		}
	}
	let m = 0, h = 0;
	for (let e = 0; e < a; e++) p[e] > 1 ? (m++, f[3 * e] = NaN) : h += p[e];
	let g = (e, t) => [
		e[0],
		e[1],
		e[2] ?? t
	];
	return {
		count: a,
		shape: e.length === 3 ? "space" : "plane",
		positions: f,
		rowOf: o,
		missing: m,
		beyond: h,
		middle: g(c, 0),
		half: g(d, 1)
	};
}
var jr = /* @__PURE__ */ new WeakMap();
function Mr(e) {
	let t = jr.get(e);
	if (t) return t;
	let [n, r] = [[
		0,
		0,
		0
	], [
		0,
		0,
		0
	]];
	for (let t = 0; t < 3 * e.count; t++) {
		let i = e.positions[t];
		i < n[t % 3] ? n[t % 3] = i : i > r[t % 3] && (r[t % 3] = i);
	}
	let i = [
		-1,
		0,
		1,
		2
	].map((e) => [
		0,
		1,
		2
	].map((t) => t === e ? r[t] : n[t]));
	return jr.set(e, i), i;
}
function Nr(e, t) {
	let n = e.length, r = yr(n), i = new Float32Array(3 * n), a = 0;
	for (let o = 0; o < n; o++) {
		let n = r[o];
		if (!Number.isFinite(e[n]) || !(Math.abs(t[n]) <= 90)) {
			a++, i[3 * o] = NaN;
			continue;
		}
		let [s, c, l] = Pr(e[n], t[n]);
		i[3 * o] = s, i[3 * o + 1] = c, i[3 * o + 2] = l;
	}
	return {
		count: n,
		shape: "sphere",
		positions: i,
		rowOf: r,
		missing: a,
		beyond: 0,
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
function Pr(e, t) {
	let [n, r] = [e * Math.PI / 180, t * Math.PI / 180];
	return [
		Math.cos(r) * Math.sin(n),
		Math.sin(r),
		Math.cos(r) * Math.cos(n)
	];
}
// src/points/camera.ts
var Fr = [
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
function Ir(e, t) {
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
function Lr(e, t, n) {
	let [r, i] = [Math.cos(t), Math.sin(t)], [a, o] = [Math.cos(n), Math.sin(n)];
	return Ir(Ir([
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
function Rr(e, t) {
	let [n, r] = [-e * Math.PI / 180, t * Math.PI / 180];
	return Lr(Fr, n, r);
}
function zr(e, t, n, r, i) {
	let a = e.turn;
	return [
		t.width / 2 + e.shift[0] + e.scale[0] * (a[0] * n + a[1] * r + a[2] * i),
		t.height / 2 + e.shift[1] - e.scale[1] * (a[3] * n + a[4] * r + a[5] * i),
		a[6] * n + a[7] * r + a[8] * i
	];
}
function Br(e, t, n, r, i) {
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
	if (e.shape === "space") for (let [t, r, i] of Mr(e)) {
		let e = n[0] * t + n[1] * r + n[2] * i, l = n[3] * t + n[4] * r + n[5] * i;
		[a, o, s, c] = [
			Math.min(a, e),
			Math.max(o, e),
			Math.min(s, l),
			Math.max(c, l)
		];
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
function Vr(e, t, n, r, i) {
	let a = Math.min(Math.max(n, 1 / (e.scale[0] / 5)), 1e8 / e.scale[0]), [o, s] = [r - t.width / 2, i - t.height / 2];
	return {
		turn: e.turn,
		scale: [e.scale[0] * a, e.scale[1] * a],
		shift: [o + (e.shift[0] - o) * a, s + (e.shift[1] - s) * a]
	};
}
// src/points/coast.ts
var Hr = [
	"coast",
	"borders",
	"states"
], Ur = 61;
function Wr(e) {
	let t = JSON.parse(e), n = (e) => {
		let [n, r, i] = [
			0,
			0,
			0
		], a = () => {
			let [t, r] = [0, 1];
			for (;;) {
				let i = e.charCodeAt(n++) - Ur;
				if (t += r * (i & 31), i < 32) return t;
				r *= 32;
			}
		}, o = () => {
			let e = a();
			return e % 2 ? -(e + 1) / 2 : e / 2;
		};
		return {
			isMore: () => n < e.length,
			number: a,
			point: () => [(r += o()) / t.grid, (i += o()) / t.grid]
		};
	}, r = (e) => {
		let { isMore: t, number: r, point: i } = n(e), a = [];
		for (; t();) a.push(Array.from({ length: r() }, i).flat());
		return a;
	}, { point: i } = n(t.places), a = t.cities.split("|").map((e) => {
		let [t, n] = i();
		return {
			name: e,
			longitude: t,
			latitude: n
		};
	});
	return {
		coast: r(t.coast),
		borders: r(t.borders),
		states: r(t.states),
		cities: a
	};
}
function Gr([e, t], [n, r]) {
	return e >= -360 && t <= 540 && t - e <= 360 && n >= -90 && r <= 90;
}
var Kr = class {
	values = [];
	starts = /* @__PURE__ */ new Set();
	add(e, t, n, r) {
		r && this.starts.add(this.values.length / 3), this.values.push(e, t, n);
	}
	shore(e) {
		return {
			kind: e,
			positions: Float32Array.from(this.values),
			starts: this.starts
		};
	}
}, qr = 2;
function Jr(e) {
	return Hr.map((t) => {
		let n = new Kr();
		for (let r of e[t]) for (let e = 0; e < r.length; e += 2) {
			let [t, i] = [r[e], r[e + 1]], [a, o] = e ? [r[e - 2], r[e - 1]] : [t, i], s = Math.max(1, Math.ceil(Math.max(Math.abs(t - a), Math.abs(i - o)) / qr));
			for (let r = 1; r <= s; r++) n.add(...Pr(a + (t - a) * r / s, o + (i - o) * r / s), e === 0);
		}
		return n.shore(t);
	});
}
function Yr(e) {
	return {
		isOut: (t) => e.some(([e, n]) => t > e && t < n),
		place: (t) => t - e.reduce((e, [n, r, i]) => e + (t >= (n + r) / 2 ? r - n - i : 0), 0)
	};
}
function Xr({ cities: e }) {
	return e.map(({ name: e, longitude: t, latitude: n }) => ({
		name: e,
		position: Pr(t, n)
	}));
}
function Zr({ cities: e }, { middle: t, half: n }, r, i) {
	let { isOut: a, place: o } = Yr(i);
	return e.flatMap(({ name: e, longitude: i, latitude: s }) => {
		let c = i - 360 * Math.floor((i - r) / 360);
		return a(c) ? [] : [{
			name: e,
			position: [
				(o(c) - t[0]) / n[0],
				(s - t[1]) / n[1],
				0
			]
		}];
	});
}
function Qr(e, { middle: t, half: n }, r, i) {
	let a = i.flatMap(([e, t]) => [e, t]), { isOut: o, place: s } = Yr(i);
	return Hr.map((i) => {
		let c = new Kr();
		for (let l of e[i]) {
			let e = !0;
			for (let i = 2; i < l.length; i += 2) {
				let [u, d, f, p] = [
					l[i - 2],
					l[i - 1],
					l[i],
					l[i + 1]
				], m = [u, f].map((e) => Math.floor((e - r) / 360));
				for (let i = Math.min(...m); i <= Math.max(...m); i++) {
					m[0] !== m[1] && (e = !0);
					let [l, h] = [u - 360 * i, f - 360 * i], g = (e) => (e - l) / (h - l), _ = [
						0,
						1,
						...[
							r,
							r + 360,
							...a
						].map(g).filter((e) => e > 0 && e < 1)
					].sort((e, t) => e - t);
					for (let i = 1; i < _.length; i++) {
						let [a, u] = [l + (h - l) * _[i - 1], l + (h - l) * _[i]], f = (a + u) / 2;
						if (f < r || f > r + 360 || o(f)) {
							e = !0;
							continue;
						}
						let m = (e, r, i) => c.add((s(e) - t[0]) / n[0], (d + (p - d) * r - t[1]) / n[1], 0, i);
						e && m(a, _[i - 1], !0), m(u, _[i], !1), e = !1;
					}
				}
				m[0] !== m[1] && (e = !0);
			}
		}
		return c.shore(i);
	});
}
var [$r, ei] = [7, 400];
function ti(e, t) {
	return t <= ei && (e !== "states" || t >= $r);
}
function ni({ positions: e, starts: t }, n, r, i, a) {
	let o = [], [s, c, l, u] = [
		0,
		0,
		!0,
		!1
	];
	for (let d = 0; d < e.length / 3; d++) {
		let [f, p, m] = zr(n, r, e[3 * d], e[3 * d + 1], e[3 * d + 2]), h = a && m < 0, g = Math.max(f, s) < 0 || Math.max(p, c) < 0 || Math.min(f, s) > r.width || Math.min(p, c) > r.height;
		t.has(d) || h || l || g ? u = !1 : (u || o.push("M", (s / i).toFixed(1), " ", (c / i).toFixed(1)), o.push("L", (f / i).toFixed(1), " ", (p / i).toFixed(1)), u = !0), [s, c, l] = [
			f,
			p,
			h
		];
	}
	return o.join("");
}
function ri(e, t, n, r) {
	return e[0] < t[2] + n && e[2] > t[0] - n && e[1] < t[3] + r && e[3] > t[1] - r;
}
var [ii, ai] = [6.2, 7], [oi, si] = [26, 12], ci = .25, li = 40;
function ui(e, t, n, r, i, a, o) {
	let s = [], c = [];
	for (let { name: l, position: u } of e) {
		let [e, d, f] = zr(t, n, ...u), [p, m] = [e / r, d / r];
		if (!(i && f < ci)) {
			for (let e of [!1, !0]) {
				let [t, n] = e ? [p - 5 - ii * l.length, p + 3] : [p - 3, p + 5 + ii * l.length], r = [
					t,
					m - ai,
					n,
					m + ai
				];
				if (!(!(r[0] >= a[0] && r[1] >= a[1] && r[2] <= a[2] && r[3] <= a[3]) || o.some((e) => ri(r, e, 2, 2)) || c.some((e) => ri(r, e, oi, si)))) {
					c.push(r), s.push({
						name: l,
						x: p,
						y: m,
						isLeft: e
					});
					break;
				}
			}
			if (s.length >= li) break;
		}
	}
	return s;
}
// src/points/paint.ts
function di(e, t) {
	let n = parseInt(e.slice(1), 16);
	return (t << 24 | (n & 255) << 16 | n & 65280 | n >> 16) >>> 0;
}
function fi(e) {
	let t = parseInt(e.slice(1), 16);
	return [
		t >> 16,
		t >> 8 & 255,
		t & 255
	];
}
function pi(e) {
	let t = (e - 1) / 2, n = t * (t + .6);
	return Array.from({ length: e }, (e, r) => Math.floor(Math.sqrt(Math.max(0, n - (r - t) ** 2))));
}
// src/state/coast.ts
var mi = n(null), hi = !1;
async function gi(e) {
	if (!hi) {
		hi = !0;
		try {
			mi.value = Wr(await e());
		} catch {
			hi = !1;
		}
	}
}
// src/state/theme.ts
var _i = matchMedia("(prefers-color-scheme: dark)"), vi = n(_i.matches ? "dark" : "light");
_i.addEventListener("change", () => vi.value = _i.matches ? "dark" : "light");
// src/state/boxes.ts
var yi = 1.5;
function bi(e, t, n) {
	let r = new Uint32Array(n + 1), i = (n) => t[n] >= 0 && Number.isFinite(e[n]);
	for (let e = 0; e < t.length; e++) i(e) && r[t[e] + 1]++;
	for (let e = 0; e < n; e++) r[e + 1] += r[e];
	let a = new Float64Array(r[n]), o = r.slice(0, n);
	for (let n = 0; n < t.length; n++) i(n) && (a[o[t[n]]++] = e[n]);
	return Array.from({ length: n }, (e, t) => {
		let n = a.subarray(r[t], r[t + 1]).sort();
		return n.length ? Ci(n) : null;
	});
}
function xi(e, t, n) {
	let [r, i] = [e[0], -1];
	for (let a of e) {
		let e = Si(a.values, t, n);
		e > i && ([r, i] = [a, e]);
	}
	return r;
}
function Si(e, t, n) {
	let [r, i] = [new Float64Array(n), new Float64Array(n)], [a, o, s] = [
		0,
		0,
		0
	];
	for (let n = 0; n < t.length; n++) {
		let [c, l] = [t[n], e[n]];
		if (c < 0 || !Number.isFinite(l)) continue;
		a++, r[c]++, i[c] += l;
		let u = l - o;
		o += u / a, s += u * (l - o);
	}
	let c = 0;
	for (let e = 0; e < n; e++) r[e] && (c += r[e] * (i[e] / r[e] - o) ** 2);
	return c / s;
}
function Ci(e) {
	let t = (t) => {
		let n = t * (e.length - 1), [r, i] = [e[Math.floor(n)], e[Math.ceil(n)]], a = n - Math.floor(n);
		return r * (1 - a) + i * a;
	}, n = [
		t(.25),
		t(.5),
		t(.75)
	], r = yi * (n[2] - n[0]), i = e.findIndex((e) => e >= n[0] - r), a = e.findLastIndex((e) => e <= n[2] + r), o = [Math.min(e[i], n[0]), Math.max(e[a], n[2])];
	return {
		rows: e.length,
		quartiles: n,
		whiskers: o,
		beyond: i + e.length - 1 - a
	};
}
// src/views/boxes.tsx
var wi = 12e6, Ti = 1e5, Ei = 40, Di = 24, [Oi, ki, Ai] = [
	4,
	26,
	14
], ji = 7, Mi = "\0probability";
function Ni({ suffix: t, columns: n, grouping: i, hidden: s, theme: c, column: l, settle: u, nameOf: d, choose: f }) {
	let p = C(null), m = C(null), _ = o(480), v = o(-1);
	e(() => {
		let e = new ResizeObserver(([e]) => _.value = Math.max(240, Math.round(e.contentRect.width)));
		return e.observe(p.current), () => e.disconnect();
	}, []);
	let { groupOf: b, groups: x, probability: S } = i, w = o(b.length <= Ti);
	e(() => {
		let e = setTimeout(() => w.value = !0, 100);
		return () => clearTimeout(e);
	}, []);
	let T = n.map((e) => [
		e.name,
		e.name,
		e
	]), E = r(() => S && {
		name: "probability",
		kind: "number",
		values: S
	}, [S]);
	E && T.push([
		Mi,
		"probability (how sure)",
		E
	]);
	let k = r(() => w.value && b.length * n.length <= wi ? xi(n, b, x.length)?.name : void 0, [
		n,
		b,
		w.value
	]), A = l ?? k ?? "", j = T.find(([e]) => e === A), M = j?.[2], N = r(() => M !== void 0 && Dr(M.values), [M]), P = r(() => M && w.value ? bi((N ? kr(M) : M).values, b, x.length) : [], [
		M,
		N,
		b,
		w.value
	]).flatMap((e, t) => e && !s.has(t) ? [{
		group: t,
		box: e
	}] : []), F = P.slice(0, Ei), re = (e) => N ? 10 ** e : e, I = (e, t = 4) => y(re(e), t), ie = ({ rows: e, quartiles: t, whiskers: n, beyond: r }) => `median ${I(t[1])}, half of the rows from ${I(t[0])} to ${I(t[2])}, whiskers from ${I(n[0])} to ${I(n[1])}, ${g(r)} of ${g(e)} rows beyond`, L = _.value, ae = F.map(({ group: e }) => d(e)), R = Math.min(.36 * L, 260, ji * Math.max(0, ...ae.map((e) => e.length)) + 20), oe = Math.floor((R - 20) / ji), se = Oi + Di * F.length + ki, [z, B] = F.reduce(([e, t], { box: { whiskers: n } }) => [Math.min(e, n[0]), Math.max(t, n[1])], [Infinity, -Infinity]);
	z === B && ([z, B] = [z - .5, B + .5]);
	let V = (e) => {
		let t = Math.max(Math.abs(z), Math.abs(B)) || 1;
		return R + (L - R - Ai) * (e / t - z / t) / (B / t - z / t || 1);
	}, H = Math.max(2, Math.floor((L - R) / 64)), U = F.length ? N ? ee(re(z), re(B), H).map(Math.log10) : O(z, B, H) : [], W = (e) => e.altKey ? "subtract" : e.shiftKey ? "add" : "replace", G = (e, t) => {
		let n = {
			ArrowDown: t + 1,
			ArrowUp: t - 1,
			Home: 0,
			End: F.length - 1
		}[e.key];
		if (n !== void 0) m.current.querySelectorAll("[role=button]")[n]?.focus();
		else if (e.key === "Enter" || e.key === " ") f(F[t].group, W(e));
		else return;
		e.preventDefault();
	}, K = v.value >= 0 && v.value < F.length ? v.value : 0;
	return /* @__PURE__ */ a("section", {
		class: "card",
		style: { minWidth: 0 },
		"aria-labelledby": `boxes${t}`,
		children: [
			/* @__PURE__ */ a("div", {
				class: "head",
				children: [/* @__PURE__ */ a("h2", {
					id: `boxes${t}`,
					children: "Box plots"
				}), /* @__PURE__ */ a("div", {
					class: "tools choices",
					children: [/* @__PURE__ */ a("label", { children: ["Values", /* @__PURE__ */ a("select", {
						value: j ? A : "",
						onChange: (e) => u(e.currentTarget.value || "none"),
						children: [/* @__PURE__ */ a("option", {
							value: "",
							children: "none"
						}), T.map(([e, t]) => /* @__PURE__ */ a("option", {
							value: e,
							children: t
						}, e))]
					})] }), F.length > 0 && /* @__PURE__ */ a(D, {
						name: `${M.name} by ${i.title}`,
						make: () => ne(m.current, L, se, te())
					})]
				})]
			}),
			M && /* @__PURE__ */ a("p", {
				class: "note",
				children: v.value >= 0 && F[v.value] ? `${ae[v.value]}: ${ie(F[v.value].box)}.` : `Each box holds the middle half of its rows, with a line at the median. Whiskers end at the farthest rows within one and a half boxes. Click a box to select its rows.${N ? " The axis is logarithmic." : ""}`
			}),
			/* @__PURE__ */ a("div", {
				ref: p,
				children: F.length > 0 && /* @__PURE__ */ a("svg", {
					ref: m,
					class: "boxes",
					width: L,
					height: se,
					role: "group",
					"aria-label": `${M.name} by ${i.title}`,
					onPointerLeave: () => v.value = -1,
					style: { display: "block" },
					children: [
						U.map((e) => /* @__PURE__ */ a("path", {
							d: `M${V(e)} ${Oi}V${se - ki + 4}`,
							stroke: "var(--line)"
						}, e)),
						U.map((e) => /* @__PURE__ */ a("text", {
							x: V(e),
							y: se - 6,
							"text-anchor": V(e) > L - 30 ? "end" : "middle",
							children: I(e, 5)
						}, e)),
						F.map(({ group: e, box: { quartiles: t, whiskers: n } }, r) => {
							let i = gr(x[e], c), [o, s, l] = t.map(V), u = ae[r], d = Oi + Di * (r + .5);
							return /* @__PURE__ */ a("g", {
								style: { cursor: "pointer" },
								onClick: (t) => f(e, W(t)),
								onPointerEnter: () => v.value = r,
								children: [
									/* @__PURE__ */ a("rect", {
										width: L,
										y: Oi + Di * r,
										height: Di,
										fill: "var(--wash)",
										"fill-opacity": +(r === v.value)
									}),
									/* @__PURE__ */ a("circle", {
										cx: "6",
										cy: d,
										r: "5",
										fill: i
									}),
									/* @__PURE__ */ a("text", {
										x: "18",
										y: d + 4,
										children: u.length > oe ? `${u.slice(0, Math.max(1, oe - 1))}…` : u
									}),
									/* @__PURE__ */ a("g", {
										role: "button",
										tabIndex: r === K ? 0 : -1,
										"aria-label": `Box of ${u}: ${ie(F[r].box)}`,
										onKeyDown: (e) => G(e, r),
										onFocus: () => v.value = r,
										children: [
											/* @__PURE__ */ a("path", {
												d: `M${V(n[0])} ${d - 4}v8m0 -4H${o}M${l} ${d}H${V(n[1])}m0 -4v8`,
												fill: "none",
												stroke: i,
												"stroke-width": "1.5"
											}),
											/* @__PURE__ */ a("rect", {
												x: o,
												y: d - 6,
												width: Math.max(1, l - o),
												height: "12",
												fill: i,
												"fill-opacity": "0.4",
												stroke: i,
												"stroke-width": "1.5"
											}),
											/* @__PURE__ */ a("path", {
												d: `M${s} ${d - 9}v18`,
												stroke: "var(--ink)",
												"stroke-width": "2.5"
											})
										]
									})
								]
							}, e);
						})
					]
				})
			}),
			P.length > Ei && /* @__PURE__ */ a("p", {
				class: "note",
				children: [
					"The first ",
					Ei,
					" of ",
					g(P.length),
					" are drawn; the table has all."
				]
			}),
			P.length > 0 && /* @__PURE__ */ a("details", { children: [/* @__PURE__ */ a("summary", { children: "Box plots as a table" }), /* @__PURE__ */ a(h, {
				caption: `${M.name} by ${i.title}`,
				names: [
					i.title,
					"rows",
					"lower whisker",
					"lower quartile",
					"median",
					"upper quartile",
					"upper whisker",
					"rows beyond"
				],
				rows: P.map(({ group: e, box: t }) => [
					d(e),
					t.rows,
					...[
						t.whiskers[0],
						...t.quartiles,
						t.whiskers[1]
					].map(re),
					t.beyond
				]),
				pick: (e) => f(P[e].group, "replace")
			})] })
		]
	});
}
// src/points/raster.ts
var { fround: Pi } = Math;
function Fi(e, { width: t, height: n }, r, i, a, o, s, c) {
	e.fill(s);
	let l = a.turn.map(Pi), u = Pi(a.scale[0]), d = Pi(a.scale[1]), f = Pi(t / 2 + a.shift[0]), p = Pi(n / 2 + a.shift[1]), m = r.shape === "sphere", { positions: h } = r, g = Math.min(r.count, c), _ = pi(o), v = (o - 1) / 2;
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
function Ii(e) {
	let t = e.getContext("2d"), n = t.createImageData(1, 1), r = null, i = /* @__PURE__ */ new Uint32Array();
	return {
		kind: "cpu",
		setCloud: (e) => r = e,
		setPaint: (e) => i = e,
		resize({ width: r, height: i }) {
			e.width = r, e.height = i, n = t.createImageData(r, i);
		},
		draw(a, o, s, c) {
			r && (Fi(new Uint32Array(n.data.buffer), e, r, i, a, o, s ? di(s, 255) : 0, c), t.putImageData(n, 0, 0));
		},
		end() {}
	};
}
// src/points/select.ts
function Li(e, t, n, r, i) {
	let a = n.turn, [o, s] = n.scale, c = r.width / 2 + n.shift[0], l = r.height / 2 + n.shift[1], u = e.shape === "sphere", { positions: d, count: f } = e;
	for (let e = 0; e < f; e++) {
		if (!(t[e] >>> 24)) continue;
		let n = d[3 * e], r = d[3 * e + 1], f = d[3 * e + 2];
		u && a[6] * n + a[7] * r + a[8] * f < 0 || i(e, c + o * (a[0] * n + a[1] * r + a[2] * f), l - s * (a[3] * n + a[4] * r + a[5] * f));
	}
}
function Ri(e, t, n, r, i, a, o) {
	let [s, c] = [-1, o * o];
	return Li(e, t, n, r, (e, t, n) => {
		let r = (t - i) ** 2 + (n - a) ** 2;
		r <= c && ([s, c] = [e, r]);
	}), s;
}
function zi(e, t, n, r, i) {
	let { width: a, height: o } = r, s = Bi(i, a, o), c = new Uint32Array(e.count), l = 0;
	return Li(e, t, n, r, (e, t, n) => {
		let [r, i] = [Math.floor(t), Math.floor(n)];
		r >= 0 && r < a && i >= 0 && i < o && s[i * a + r] && (c[l++] = e);
	}), c.slice(0, l);
}
function Bi(e, t, n) {
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
var Vi = "#version 300 es\nlayout(location = 0) in vec3 dataPosition;\nlayout(location = 1) in vec4 paint;\nuniform mat3 turn;\nuniform vec2 size;\nuniform vec2 origin;\nuniform vec2 scale;\nuniform float pointWidth;\nuniform float layer;\nuniform bool isSphere;\nflat out vec3 colour;\nvoid main() {\n  vec3 turned = turn * dataPosition;\n  vec2 pixel = floor(origin + vec2(scale.x, -scale.y) * turned.xy) + 0.5;\n  vec2 clip = pixel / size * 2.0 - 1.0;\n  bool isDrawn = abs(paint.a * 255.0 - layer) < 0.5 && (!isSphere || turned.z >= 0.0) && !isnan(dataPosition.x);\n  gl_Position = isDrawn ? vec4(clip.x, -clip.y, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);\n  gl_PointSize = pointWidth;\n  colour = paint.rgb;\n}", Hi = "#version 300 es\nprecision highp float;\nuniform float pointWidth;\nuniform float reach[32];\nflat in vec3 colour;\nout vec4 drawn;\nvoid main() {\n  vec2 at = floor(gl_PointCoord * pointWidth) - (pointWidth - 1.0) / 2.0;\n  if (abs(at.x) > reach[int(at.y + (pointWidth - 1.0) / 2.0)]) discard;\n  drawn = vec4(colour, 1.0);\n}", Ui = /swiftshader|llvmpipe|softpipe|software|basic render/i;
function Wi(e, t, n) {
	let r = e.getContext("webgl2", {
		antialias: !1,
		depth: !1,
		preserveDrawingBuffer: !0,
		failIfMajorPerformanceCaveat: !t
	});
	if (!r) return null;
	let i = r.getExtension("WEBGL_debug_renderer_info"), a = i ? String(r.getParameter(i.UNMASKED_RENDERER_WEBGL)) : "";
	if (Ui.test(a) && !t) return r.getExtension("WEBGL_lose_context")?.loseContext(), null;
	e.addEventListener("webglcontextlost", n);
	let o = r.createProgram();
	for (let [e, t] of [[r.VERTEX_SHADER, Vi], [r.FRAGMENT_SHADER, Hi]]) {
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
			let [o, s, l] = fi(i ?? "#000000");
			if (r.clearColor(o / 255, s / 255, l / 255, +!!i), r.clear(r.COLOR_BUFFER_BIT), !d) return;
			let u = t.turn;
			r.uniformMatrix3fv(c.turn, !0, u), r.uniform2f(c.size, e.width, e.height), r.uniform2f(c.origin, e.width / 2 + t.shift[0], e.height / 2 + t.shift[1]), r.uniform2f(c.scale, t.scale[0], t.scale[1]), r.uniform1f(c.width, n), r.uniform1i(c.isSphere, +(d.shape === "sphere"));
			let p = /* @__PURE__ */ new Float32Array(32);
			p.set(pi(n).slice(0, 32)), r.uniform1fv(c.reach, p);
			for (let e of [254, 255]) r.uniform1f(c.layer, e), r.drawArrays(r.POINTS, 0, Math.min(d.count, a, f));
		},
		end() {
			e.removeEventListener("webglcontextlost", n), r.getExtension("WEBGL_lose_context")?.loseContext();
		}
	};
}
// src/views/cloud.tsx
var Gi = 25e4, Ki = 4e5, qi = 12, Ji = [58, 40], Yi = [44, 40], Xi = 460;
function Zi(t) {
	let { cloud: n, paint: r, theme: i, tool: s, isEqual: c, pointWidth: l, names: u } = t, d = C(null), f = C(null), p = o(null), m = o({
		width: 0,
		height: 0
	}), h = o(!1), g = o(""), _ = o(null), v = o(null), y = C(1), b = C({
		frame: 0,
		settle: 0,
		isMoving: !1,
		isFitted: !0
	}), x = C(t);
	x.current = t;
	let S = () => {
		let e = b.current;
		cancelAnimationFrame(e.frame), e.frame = requestAnimationFrame(() => {
			if (!f.current || !p.peek()) return;
			let { theme: t, pointWidth: n, shores: r } = x.current, i = f.current.kind === "cpu" && e.isMoving ? Gi : Infinity;
			f.current.draw(p.peek(), Qi(n * y.current), r ? null : $n[t], i);
		});
	}, w = (e) => {
		p.value = e;
		let t = b.current;
		t.isFitted = !1, t.isMoving = x.current.cloud.count > Gi, S(), t.isMoving && (clearTimeout(t.settle), t.settle = setTimeout(() => {
			t.isMoving = !1, S();
		}, 120));
	}, T = () => {
		let { cloud: e, isEqual: t } = x.current, n = m.peek().width / y.current < Xi ? Yi : Ji;
		w(Br(e, m.peek(), $i(e), n.map((e) => e * y.current), t || e.shape !== "plane")), b.current.isFitted = !0;
	};
	e(() => {
		let { forced: e } = t, n = document.createElement("canvas");
		n.setAttribute("aria-hidden", "true");
		let r = null;
		return e !== "cpu" && !h.value && (r = Wi(n, e === "webgl", () => h.value = !0), r || (n = document.createElement("canvas"), n.setAttribute("aria-hidden", "true"))), r ??= Ii(n), g.value = r.kind, f.current = r, r.setCloud(x.current.cloud), r.setPaint(x.current.paint), m.peek().width && r.resize(m.peek()), d.current.prepend(n), S(), () => {
			r.end(), n.remove(), f.current = null;
		};
	}, [h.value, t.forced]), e(() => {
		let e = new ResizeObserver(([e]) => {
			y.current = Math.min(2, devicePixelRatio || 1);
			let t = {
				width: Math.max(1, Math.round(e.contentRect.width * y.current)),
				height: Math.max(1, Math.round(e.contentRect.height * y.current))
			}, n = m.peek();
			if (n.width !== t.width || n.height !== t.height) {
				if (m.value = t, f.current?.resize(t), !p.peek() || b.current.isFitted) T();
				else {
					let e = Math.min(t.width / n.width, t.height / n.height), { turn: r, scale: i, shift: a } = p.peek();
					w({
						turn: r,
						scale: [i[0] * e, i[1] * e],
						shift: [a[0] * e, a[1] * e]
					});
				}
			}
		});
		return e.observe(d.current), () => e.disconnect();
	}, []), e(() => {
		f.current?.setCloud(n), f.current?.setPaint(r), v.value = null, m.peek().width && T();
	}, [n, c]), e(() => {
		f.current?.setPaint(r), S();
	}, [r]), e(S, [
		i,
		l,
		t.shores
	]), t.handle.current = {
		fit: T,
		zoom: (e) => p.peek() && w(Vr(p.peek(), m.peek(), e, m.peek().width / 2, m.peek().height / 2)),
		svg: () => Sa(d.current, x.current, p.peek(), m.peek())
	};
	let E = C(/* @__PURE__ */ new Map()), D = C({
		x: 0,
		y: 0,
		hasMoved: !1
	}), ee = (e) => {
		let t = d.current.getBoundingClientRect();
		return [(e.clientX - t.left) * y.current, (e.clientY - t.top) * y.current];
	}, te = (e) => {
		if (e.button > 0 || e.target.closest("button")) return;
		d.current.setPointerCapture(e.pointerId);
		let t = ee(e);
		E.current.set(e.pointerId, t), D.current = {
			x: t[0],
			y: t[1],
			hasMoved: !1
		}, v.value = null, s !== "move" && E.current.size === 1 ? _.value = [t] : _.value = null;
	}, O = (e) => {
		let t = ee(e), r = E.current.get(e.pointerId);
		if (!p.peek()) return;
		if (!r) {
			e.pointerType === "mouse" && n.count <= Ki && A(t);
			return;
		}
		let i = 4 * y.current;
		if (Math.hypot(t[0] - D.current.x, t[1] - D.current.y) > i && (D.current.hasMoved = !0), E.current.size === 2) {
			let [n] = [...E.current].filter(([t]) => t !== e.pointerId).map(([, e]) => e), i = Math.hypot(t[0] - n[0], t[1] - n[1]) / Math.max(1, Math.hypot(r[0] - n[0], r[1] - n[1]));
			w(Vr(p.peek(), m.peek(), i, (t[0] + n[0]) / 2, (t[1] + n[1]) / 2));
		} else if (_.value) {
			let { x: e, y: n } = D.current;
			_.value = s === "box" ? [
				[e, n],
				[t[0], n],
				t,
				[e, t[1]]
			] : [..._.value, t];
		} else if (D.current.hasMoved) {
			let [i, a] = [t[0] - r[0], t[1] - r[1]], { turn: o, scale: s, shift: c } = p.peek();
			if (n.shape === "plane" || e.shiftKey) w({
				turn: o,
				scale: s,
				shift: [c[0] + i, c[1] + a]
			});
			else {
				let e = n.shape === "sphere" ? 1 / s[0] : 1 / (.35 * Math.min(m.peek().width, m.peek().height)), t = Lr(o, i * e, a * e);
				w({
					turn: t,
					scale: s,
					shift: c
				});
			}
		}
		E.current.set(e.pointerId, t);
	}, ne = (e) => {
		if (!E.current.delete(e.pointerId)) return;
		let i = ee(e), a = _.value;
		if (_.value = null, !p.peek() || e.type === "pointercancel") return;
		let o = e.altKey ? "subtract" : e.shiftKey ? "add" : "replace";
		a && D.current.hasMoved && a.length > 2 ? t.onSelect(zi(n, r, p.peek(), m.peek(), a), o, s) : !D.current.hasMoved && E.current.size === 0 && t.onPick(Ri(n, r, p.peek(), m.peek(), i[0], i[1], qi * y.current));
	}, k = C(0), A = (e) => {
		cancelAnimationFrame(k.current), k.current = requestAnimationFrame(() => {
			if (!p.peek()) return;
			let t = Ri(x.current.cloud, x.current.paint, p.peek(), m.peek(), e[0], e[1], qi * y.current);
			v.value = t < 0 ? null : {
				point: t,
				x: e[0] / y.current,
				y: e[1] / y.current
			};
		});
	}, j = (e) => {
		if (!p.peek()) return;
		e.preventDefault();
		let [t, n] = ee(e);
		w(Vr(p.peek(), m.peek(), Math.exp(-e.deltaY * (e.deltaMode ? .05 : .0015)), t, n));
	}, M = (e) => {
		if (e.ctrlKey || e.metaKey || !p.peek()) return;
		let i = 40 * y.current, a = {
			ArrowLeft: [i, 0],
			ArrowRight: [-i, 0],
			ArrowUp: [0, i],
			ArrowDown: [0, -i]
		}[e.key], { turn: o, scale: s, shift: c } = p.peek();
		if (a && (n.shape === "plane" || e.shiftKey)) w({
			turn: o,
			scale: s,
			shift: [c[0] + a[0], c[1] + a[1]]
		});
		else if (a) w({
			turn: Lr(o, a[0] / i * .1, a[1] / i * .1),
			scale: s,
			shift: c
		});
		else if (e.key === "+" || e.key === "=") t.handle.current.zoom(1.4);
		else if (e.key === "-") t.handle.current.zoom(1 / 1.4);
		else if (e.key === "0") T();
		else if (e.key === "Enter") t.onPick(Ri(n, r, p.peek(), m.peek(), m.peek().width / 2, m.peek().height / 2, 1e9));
		else return;
		e.preventDefault();
	}, N = v.value && !_.value ? t.hint(v.value.point) : null, P = y.current, F = p.value;
	return /* @__PURE__ */ a("div", {
		ref: d,
		class: `cloud ${s}`,
		tabIndex: 0,
		role: "application",
		"aria-roledescription": "scatter plot",
		"aria-label": t.summary,
		"data-renderer": g.value,
		onPointerDown: te,
		onPointerMove: O,
		onPointerUp: ne,
		onPointerCancel: ne,
		onPointerLeave: () => v.value = null,
		onWheel: j,
		onKeyDown: M,
		children: [
			F && m.value.width > 0 && t.shores && /* @__PURE__ */ a(ia, {
				cloud: n,
				shores: t.shores,
				camera: F,
				size: m.value,
				ratio: P
			}),
			F && m.value.width > 0 && /* @__PURE__ */ a(aa, {
				cloud: n,
				camera: F,
				size: m.value,
				ratio: P,
				names: u,
				marks: t.marks,
				picked: t.picked,
				drawing: _.value,
				theme: i,
				logs: t.logs,
				degrees: t.degrees,
				outlines: t.outlines,
				ground: t.ground,
				towns: t.towns
			}),
			N && v.value && /* @__PURE__ */ a("div", {
				class: "tip",
				style: {
					left: `${Math.min(v.value.x + 14, m.value.width / P - 230)}px`,
					top: `${Math.min(v.value.y + 14, m.value.height / P - 90)}px`
				},
				children: [/* @__PURE__ */ a("b", { children: [/* @__PURE__ */ a("i", { style: { background: N.colour } }), N.title] }), /* @__PURE__ */ a("span", { children: N.text })]
			})
		]
	});
}
function Qi(e) {
	return Math.min(31, Math.max(1, 2 * Math.round((e - 1) / 2) + 1));
}
function $i(e) {
	if (e.shape === "plane") return Fr;
	if (e.shape === "space") return Lr(Fr, .6, .4);
	let [t, n, r] = [
		0,
		0,
		0
	], i = Math.max(1, Math.floor(e.count / 2e4));
	for (let a = 0; a < e.count; a += i) e.positions[3 * a] === e.positions[3 * a] && (t += e.positions[3 * a], n += e.positions[3 * a + 1], r += e.positions[3 * a + 2]);
	return Rr(Math.atan2(t, r) * 180 / Math.PI, Math.atan2(n, Math.hypot(t, r)) * 180 / Math.PI);
}
function ea(e, t, n) {
	return (e.shape === "sphere" ? t.scale[1] * Math.PI / 180 : t.scale[1] / e.half[1]) / n;
}
var [ta, na, ra] = [
	[58, 34],
	6,
	[60, 258]
];
function ia({ cloud: e, shores: t, camera: n, size: r, ratio: i }) {
	let o = e.shape === "sphere", s = ea(e, n, i), c = n.scale[0] / i, [l, u] = [r.width / i, r.height / i];
	return /* @__PURE__ */ a("svg", {
		class: "lands",
		width: l,
		height: u,
		"aria-hidden": "true",
		children: /* @__PURE__ */ a("g", {
			class: "shores",
			children: [o && c < l + u && /* @__PURE__ */ a("circle", {
				cx: l / 2 + n.shift[0] / i,
				cy: u / 2 + n.shift[1] / i,
				r: c
			}), t.map((e) => ti(e.kind, s) && /* @__PURE__ */ a("path", {
				class: e.kind,
				d: ni(e, n, r, i, o)
			}, e.kind))]
		})
	});
}
function aa({ cloud: e, camera: t, size: n, ratio: i, names: o, logs: s, marks: c, picked: l, drawing: u, theme: d, degrees: f, outlines: p, ground: m, towns: h }) {
	let [g, _] = [n.width / i, n.height / i], v = e.shape === "sphere", y = (e, r, a) => {
		let [o, s, c] = zr(t, n, e, r, a);
		return [
			o / i,
			s / i,
			c
		];
	}, b = l < 0 ? null : y(e.positions[3 * l], e.positions[3 * l + 1], e.positions[3 * l + 2]), x = r(() => sa(c.map((e) => ({
		mark: e,
		at: y(e.x, e.y, e.z)
	})), g, _, v), [
		c,
		t,
		n
	]), S = v ? [
		na,
		na,
		g - na,
		_ - na
	] : [
		ta[0],
		24,
		g - na,
		_ - ta[1]
	], C = x.map(({ mark: e, at: [t, n] }) => [
		t - oa(e),
		n - 10,
		t + oa(e),
		n + 10
	]);
	f && C.push(...ma(ca(e, t, n, i), f).map(({ left: e, right: t }) => [
		e,
		0,
		t,
		_
	]));
	let w = v && ba(t, n, g, y, C);
	return g >= Xi && C.push([
		g - ra[0],
		0,
		g,
		ra[1]
	]), /* @__PURE__ */ a("svg", {
		class: "over",
		width: g,
		height: _,
		"aria-hidden": "true",
		children: [
			e.shape === "plane" && m && /* @__PURE__ */ a(va, {
				ground: m,
				plane: ca(e, t, n, i)
			}),
			e.shape === "plane" && p && /* @__PURE__ */ a(_a, {
				outlines: p,
				plane: ca(e, t, n, i),
				theme: d
			}),
			e.shape === "plane" && /* @__PURE__ */ a(ha, {
				plane: ca(e, t, n, i),
				size: n,
				ratio: i,
				names: o,
				logs: s,
				degrees: f
			}),
			e.shape === "space" && /* @__PURE__ */ a(ya, {
				cloud: e,
				names: o,
				pixel: y,
				width: g,
				height: _
			}),
			w && /* @__PURE__ */ a("g", {
				class: "graticule",
				children: [w.paths.map((e, t) => /* @__PURE__ */ a("path", { d: e }, t)), w.labels.map(({ text: e, box: t }) => /* @__PURE__ */ a("text", {
					x: t[0],
					y: t[3] - 3,
					children: e
				}, e))]
			}),
			h && ti("coast", ea(e, t, i)) && ui(h, t, n, i, v, S, C).map(({ name: e, x: t, y: n, isLeft: r }, i) => /* @__PURE__ */ a("g", {
				class: "city",
				transform: `translate(${t} ${n})`,
				children: [/* @__PURE__ */ a("circle", { r: "2" }), /* @__PURE__ */ a("text", {
					x: r ? -5 : 5,
					y: "4",
					"text-anchor": r ? "end" : "start",
					children: e
				})]
			}, i)),
			x.map(({ mark: e, at: [t, n] }) => /* @__PURE__ */ a("g", {
				class: "mark",
				transform: `translate(${t} ${n})`,
				children: [/* @__PURE__ */ a("rect", {
					x: -oa(e),
					y: "-10",
					width: 2 * oa(e),
					height: "20",
					rx: "10",
					fill: e.colour
				}), /* @__PURE__ */ a("text", {
					y: "4",
					"text-anchor": "middle",
					children: e.text
				})]
			}, e.text)),
			b && b[2] >= (v ? 0 : -Infinity) && /* @__PURE__ */ a("circle", {
				class: "picked",
				cx: b[0],
				cy: b[1],
				r: "9"
			}),
			u && /* @__PURE__ */ a("polygon", {
				class: "lasso",
				points: u.map(([e, t]) => `${e / i},${t / i}`).join(" ")
			})
		]
	});
}
function oa(e) {
	return Math.max(10, 3.6 * e.text.length + 6);
}
function sa(e, t, n, r) {
	let i = [];
	for (let a of e) {
		let [e, o, s] = a.at;
		if (!(e < 12 || o < 12 || e > t - 12 || o > n - 12 || r && s < 0) && (i.every(({ mark: t, at: n }) => Math.abs(n[0] - e) > oa(t) + oa(a.mark) + 2 || Math.abs(n[1] - o) > 22) && i.push(a), i.length >= 60)) break;
	}
	return i;
}
function ca({ middle: e, half: t }, { scale: n, shift: r }, i, a) {
	return {
		toX: (o) => e[0] + (o * a - i.width / 2 - r[0]) / n[0] * t[0],
		toY: (o) => e[1] - (o * a - i.height / 2 - r[1]) / n[1] * t[1],
		fromX: (o) => (i.width / 2 + r[0] + (o - e[0]) / t[0] * n[0]) / a,
		fromY: (o) => (i.height / 2 + r[1] - (o - e[1]) / t[1] * n[1]) / a
	};
}
function la(e, t, n) {
	let r = O(e, t, n), i = r.length > 1 ? r[1] - r[0] : 1;
	return i > 10 ? [
		15,
		30,
		45,
		90
	].find((r) => (t - e) / r <= n) ?? 90 : i;
}
function ua(e, t, n) {
	let r = la(e, t, n), i = Math.ceil(Math.max(e, -90) / r);
	return Array.from({ length: Math.max(0, Math.floor(Math.min(t, 90) / r) - i + 1) }, (e, t) => [(i + t) * r, fa((i + t) * r, "N", "S")]);
}
function da(e, t, n, r) {
	let i = r.reduce((e, [t, n, r]) => e + n - t - r, 0), a = [], o = la(e, t, n);
	for (let n = Math.ceil(e / o) * o; n <= t + i; n += o) {
		let i = 0, o = !1;
		for (let [e, t, a] of r) n >= t ? i += t - e - a : n > e && (o = !0);
		let s = n - i;
		!o && s >= e && s <= t && a.push([s, fa((n + 540) % 360 - 180, "E", "W")]);
	}
	return a;
}
function fa(e, t, n) {
	let r = `${Number(Math.abs(e).toFixed(4))}°`;
	return e === 0 || Math.abs(e) === 180 ? r : `${r} ${e > 0 ? t : n}`;
}
function pa(e, t, n) {
	let r = (e) => 10 ** Math.min(300, Math.max(-300, e));
	return ee(r(e), r(t), n).map((e) => [Math.log10(e), y(e, 6)]);
}
function ma({ fromX: e }, t) {
	let n = 0;
	return (t?.breaks ?? []).map(([t, r, i]) => {
		let [a, o] = [e(t - n), e(t - n + i)];
		return n += r - t - i, {
			left: a,
			right: o,
			text: `${Math.round(r - t)}° without rows, left out`
		};
	});
}
function ha({ plane: e, size: n, ratio: r, names: i, logs: o = [], degrees: s }) {
	let { toX: c, toY: l, fromX: u, fromY: d } = e, [f, p] = [n.width / r, n.height / r], m = [Math.max(2, Math.floor(f / 110)), Math.max(2, Math.floor(p / 80))], h = s ? da(c(0), c(f), m[0], s.breaks) : o[0] ? pa(c(0), c(f), m[0]) : O(c(0), c(f), m[0]).map((e) => [e, y(e, 6)]), g = s ? ua(l(p), l(0), m[1]) : o[1] ? pa(l(p), l(0), m[1]) : O(l(p), l(0), m[1]).map((e) => [e, y(e, 6)]), _ = ma(e, s);
	return /* @__PURE__ */ a(t, { children: [_.map(({ left: e, right: t, text: n }) => /* @__PURE__ */ a("g", {
		class: "gutter",
		children: [/* @__PURE__ */ a("rect", {
			x: e,
			y: "0",
			width: Math.max(1, t - e),
			height: p
		}), /* @__PURE__ */ a("text", {
			transform: `translate(${(e + t) / 2 + 4} ${p / 2}) rotate(-90)`,
			"text-anchor": "middle",
			children: n
		})]
	}, e)), /* @__PURE__ */ a("g", {
		class: "axis",
		children: [
			h.map(([e, t]) => {
				let n = u(e);
				return n < 34 || n > f - 20 ? null : /* @__PURE__ */ a("g", { children: [/* @__PURE__ */ a("line", {
					x1: n,
					x2: n,
					y1: p - 5,
					y2: p
				}), /* @__PURE__ */ a("text", {
					x: n,
					y: p - 8,
					"text-anchor": "middle",
					children: t
				})] }, e);
			}),
			i[1] && g.map(([e, t]) => {
				let n = d(e);
				return n < 26 || n > p - 24 ? null : /* @__PURE__ */ a("g", { children: [/* @__PURE__ */ a("line", {
					x1: 0,
					x2: 5,
					y1: n,
					y2: n
				}), /* @__PURE__ */ a("text", {
					x: 8,
					y: n + 4,
					children: t
				})] }, e);
			}),
			/* @__PURE__ */ a("text", {
				class: "name",
				x: f - 8,
				y: p - 24,
				"text-anchor": "end",
				children: [i[0], " →"]
			}),
			i[1] && /* @__PURE__ */ a("text", {
				class: "name",
				x: 8,
				y: 16,
				children: ["↑ ", i[1]]
			})
		]
	})] });
}
function ga({ mean: e, covariance: [t, n, r] }, i, { fromX: a, fromY: o }) {
	let s = Math.sqrt(Math.max(0, t)), c = s > 0 ? n / s : 0, l = Math.sqrt(Math.max(0, r - c * c));
	return `M${Array.from({ length: 73 }, (t, n) => {
		let [r, u] = [Math.cos(n * Math.PI / 36), Math.sin(n * Math.PI / 36)];
		return `${a(e[0] + i * s * r).toFixed(1)} ${o(e[1] + i * (c * r + l * u)).toFixed(1)}`;
	}).join("L")}Z`;
}
function _a({ outlines: e, plane: t, theme: n }) {
	return /* @__PURE__ */ a("g", {
		class: "outlines",
		children: e.map((e) => /* @__PURE__ */ a("g", {
			stroke: er(e.group, n),
			fill: er(e.group, n),
			children: [/* @__PURE__ */ a("path", {
				d: ga(e, 1, t),
				"fill-opacity": ".07"
			}), /* @__PURE__ */ a("path", {
				d: ga(e, 2, t),
				"fill-opacity": "0",
				"stroke-dasharray": "5 4"
			})]
		}, e.group))
	});
}
function va({ ground: e, plane: { fromX: t, fromY: n } }) {
	let { columns: r, rows: i, low: o, high: s, shade: c } = e, l = (e) => t(o[0] + (s[0] - o[0]) * e / r), u = (e) => n(o[1] + (s[1] - o[1]) * e / i);
	return /* @__PURE__ */ a("g", {
		class: "ground",
		children: Array.from({ length: r * i }, (e, t) => {
			let [n, r] = [Math.floor(t / i), t % i];
			return /* @__PURE__ */ a("rect", {
				x: l(n),
				y: u(r + 1),
				width: l(n + 1) - l(n),
				height: u(r) - u(r + 1),
				"fill-opacity": (.65 * c[t]).toFixed(3)
			}, t);
		})
	});
}
function ya({ cloud: e, names: t, pixel: n, width: r, height: i }) {
	let [o, ...s] = Mr(e), [c, l] = n(...o);
	return /* @__PURE__ */ a("g", {
		class: "axis",
		children: s.map((e, o) => {
			let [s, u] = n(...e);
			return /* @__PURE__ */ a("g", { children: [/* @__PURE__ */ a("line", {
				x1: c,
				y1: l,
				x2: s,
				y2: u
			}), /* @__PURE__ */ a("text", {
				class: "name",
				x: Math.min(r - 8 - 7 * t[o].length, Math.max(8, s + 4)),
				y: Math.min(i - 8, Math.max(16, u - 4)),
				children: t[o]
			})] }, o);
		})
	});
}
function ba(e, t, n, r, i) {
	let a = (t) => 180 / Math.PI * (t / e.scale[0]), o = a(Math.min(t.width, t.height)), s = [
		30,
		15,
		10,
		5,
		2,
		1,
		.5,
		.2,
		.1
	].find((e) => o / e >= 3) ?? .1, c = e.turn, l = {
		longitude: Math.atan2(c[6], c[8]) * 180 / Math.PI,
		latitude: Math.asin(Math.max(-1, Math.min(1, c[7]))) * 180 / Math.PI
	}, u = Math.min(90, .75 * a(Math.max(t.width, t.height))), d = (e) => {
		let t = "", n = !1;
		for (let [i, a] of e) {
			let [e, o, s] = r(...Pr(i, a));
			s < 0 ? n = !1 : (t += `${n ? "L" : "M"}${e.toFixed(1)} ${o.toFixed(1)}`, n = !0);
		}
		return t;
	}, f = Math.max(s / 4, .05), p = (e, t, n) => Array.from({ length: Math.min(800, Math.floor((t - e) / n) + 1) }, (t, r) => e + r * n), m = Math.min(180, u / Math.max(.2, Math.cos(Math.abs(l.latitude) * Math.PI / 180))), h = Math.max(-90, l.latitude - u), g = Math.min(90, l.latitude + u), _ = p(Math.ceil((l.longitude - m) / s) * s, l.longitude + m, s), v = p(Math.ceil(h / s) * s, g, s), y = (e) => String(Number(e.toFixed(2))), b = [], x = (e, t, a) => {
		let [o, s, c] = r(...Pr(e, t)), l = [
			o + 3,
			s - 15,
			o + 3 + 7 * a.length,
			s
		];
		c > 0 && l[0] >= 0 && l[2] <= n && !i.some((e) => ri(l, e, 2, 0)) && (b.push({
			text: a,
			box: l
		}), i.push(l));
	}, S = Math.min(90 - s, Math.max(s - 90, Math.round(l.latitude / s) * s)), C = Math.round(l.longitude / s) * s;
	for (let e of _) {
		let t = (e + 540) % 360 - 180;
		x(e, S, `${y(Math.abs(t))}°${t < 0 ? "W" : t > 0 ? "E" : ""}`);
	}
	for (let e of v) e !== S && x(C, e, `${y(Math.abs(e))}°${e < 0 ? "S" : e > 0 ? "N" : ""}`);
	return {
		paths: [..._.map((e) => d(p(h, g, f).map((t) => [e, t]))), ...v.map((e) => d(p(l.longitude - m, l.longitude + m, f).map((t) => [t, e])))],
		labels: b
	};
}
var xa = 2e4;
function Sa(e, { caption: t, cloud: n, paint: r, theme: i, pointWidth: a }, o, s) {
	let c = Math.min(2, devicePixelRatio || 1), [l, u] = [s.width / c, s.height / c], d = e.querySelector(".over"), f = ne(d, l, u + 30, $n[i]), p = E("g", {});
	if (n.count <= xa) {
		let e = Qi(a * c) / c / 2, t = /* @__PURE__ */ new Map();
		for (let e = 0; e < n.count; e++) {
			if (!(r[e] >>> 24)) continue;
			let [i, a, l] = zr(o, s, n.positions[3 * e], n.positions[3 * e + 1], n.positions[3 * e + 2]);
			!(i >= 0 && a >= 0 && i <= s.width && a <= s.height) || n.shape === "sphere" && l < 0 || t.set(r[e], `${t.get(r[e]) ?? ""}M${(i / c).toFixed(2)} ${(a / c).toFixed(2)}h0`);
		}
		for (let [n, r] of [...t].sort(([e], [t]) => (e >>> 24) - (t >>> 24))) {
			let t = `#${[
				n & 255,
				n >> 8 & 255,
				n >> 16 & 255
			].map((e) => e.toString(16).padStart(2, "0")).join("")}`;
			p.append(E("path", {
				d: r,
				stroke: t,
				"stroke-width": String(2 * e),
				"stroke-linecap": "round",
				fill: "none"
			}));
		}
	} else p.append(E("image", {
		href: e.querySelector("canvas").toDataURL("image/png"),
		width: String(l),
		height: String(u)
	}));
	let m = f.querySelector(".ground");
	m ? m.after(p) : f.querySelector("rect").after(p);
	let h = e.querySelector(".lands");
	if (h) {
		let e = E("svg", {
			width: String(l),
			height: String(u)
		});
		e.append(ne(h, l, u, $n[i]).querySelector(".shores")), p.before(e);
	}
	let g = E("text", {
		x: "10",
		y: String(u + 20),
		"font-size": "12",
		"font-family": "system-ui, sans-serif",
		fill: i === "light" ? "#565d66" : "#a9b1ba"
	});
	return g.textContent = t, f.append(g), f;
}
// src/state/compare.ts
function Ca(e, t) {
	let [n, r, i] = [
		0,
		0,
		0
	];
	for (let a = 0; a < t.length; a++) {
		let o = e[a];
		if (!t[a] || !Number.isFinite(o)) continue;
		n++;
		let s = o - r;
		r += s / n, i += s * (o - r);
	}
	return {
		n,
		mean: n ? r : NaN,
		squares: i
	};
}
function wa(e, t, n) {
	let r = [];
	for (let i of e.columns) {
		if (i.kind === "text") continue;
		let [e, a] = [Ca(i.values, t), Ca(i.values, n)], o = Math.sqrt((e.squares + a.squares) / Math.max(1, e.n + a.n - 2));
		r.push({
			name: i.name,
			a: e.mean,
			b: a.mean,
			effect: o > 0 ? (e.mean - a.mean) / o : NaN
		});
	}
	let i = ({ effect: e }) => Number.isNaN(e) ? -1 : Math.abs(e);
	return r.sort((e, t) => i(t) - i(e));
}
function Ta(e, t, n) {
	let r = e.groups.map(({ name: e }) => ({
		name: e,
		a: 0,
		b: 0
	}));
	return e.groupOf.forEach((e, i) => {
		r[e] && (r[e].a += t[i], r[e].b += n[i]);
	}), r.filter((e) => e.a + e.b > 0);
}
function Ea(e) {
	return e.reduce((e, t) => e + t, 0);
}
// src/views/compare.tsx
var Da = 60;
function Oa({ suffix: e, columns: t, grouping: n, kept: r, chosen: i, recipe: o, close: s }) {
	let c = !i || i === r.rows, l = c ? r.rows.map((e) => 1 - e) : i, u = c ? "all other rows" : o, d = c ? 0 : r.rows.reduce((e, t, n) => e + (t & l[n]), 0), f = (e, t) => t ? `${y(100 * e / t, 3)} %` : "–", [p, m] = [Ea(r.rows), Ea(l)];
	return /* @__PURE__ */ a("section", {
		class: "card chosen",
		"aria-labelledby": `compare${e}`,
		children: [
			/* @__PURE__ */ a("div", {
				class: "head",
				children: [/* @__PURE__ */ a("div", { children: [/* @__PURE__ */ a("h2", {
					id: `compare${e}`,
					children: "A and B"
				}), /* @__PURE__ */ a("p", {
					class: "note",
					children: [
						"A: ",
						g(p),
						" rows, ",
						r.recipe,
						". B: ",
						g(m),
						" rows, ",
						u,
						".",
						d ? ` ${g(d)} rows are in both.` : "",
						" ",
						c ? "Select other rows to compare A with them." : ""
					]
				})] }), /* @__PURE__ */ a("div", {
					class: "tools",
					children: /* @__PURE__ */ a("button", {
						type: "button",
						onClick: s,
						children: "End the comparison"
					})
				})]
			}),
			/* @__PURE__ */ a(h, {
				caption: "Columns of A and B, those that differ most first",
				names: [
					"column",
					"mean of A",
					"mean of B",
					"difference in standard deviations"
				],
				rows: wa(t, r.rows, l).map(({ name: e, a: t, b: n, effect: r }) => [
					e,
					t,
					n,
					Number.isNaN(r) ? "–" : Number(r.toPrecision(3))
				])
			}),
			n && n.groups.length > 1 && /* @__PURE__ */ a(h, {
				caption: `${n.title} of A and B`,
				names: [
					n.title,
					"rows of A",
					"share of A",
					"rows of B",
					"share of B"
				],
				rows: Ta(n, r.rows, l).slice(0, Da).map((e) => [
					e.name,
					e.a,
					f(e.a, p),
					e.b,
					f(e.b, m)
				])
			})
		]
	});
}
// src/views/icon.tsx
var ka = {
	shown: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12Zm10 3a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
	hidden: "M3 3l18 18M10.6 5.1A9.7 9.7 0 0 1 12 5c6 0 10 7 10 7a17 17 0 0 1-3 3.7M6.6 6.6A17 17 0 0 0 2 12s4 7 10 7a9.6 9.6 0 0 0 4-.9M9.9 9.9a3 3 0 0 0 4.2 4.2",
	only: "M12 3v4m0 10v4M3 12h4m10 0h4M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z",
	hand: "M12 2v20M2 12h20M12 2l-3 3m3-3 3 3M12 22l-3-3m3 3 3-3M2 12l3-3m-3 3 3 3m17-3-3-3m3 3-3 3",
	lasso: "M7 17c-3-1-5-3-5-6 0-4 4.500-7 10-7s10 3 10 7-4.500 7-10 7c-1 0-2-.1-3-.3M9 15.500a2 2 0 1 1-4 0 2 2 0 0 1 4 0Zm-2 2c0 2-1 3-3 4",
	box: "M4 4h16v16H4z",
	fit: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
	plus: "M12 5v14M5 12h14",
	minus: "M5 12h14",
	pen: "M4 20l1-4L16 5l3 3L8 19l-4 1Zm10-13 3 3",
	close: "M6 6l12 12M18 6 6 18",
	up: "M12 19V5m-6 6 6-6 6 6"
};
function Aa({ name: e }) {
	return /* @__PURE__ */ a("svg", {
		class: "icon",
		viewBox: "0 0 24 24",
		width: "18",
		height: "18",
		"aria-hidden": "true",
		children: /* @__PURE__ */ a("path", { d: ka[e] })
	});
}
// src/views/scene.tsx
var ja = 40, Ma = 16, Na = 6, Pa = 200, Fa = "sure:";
function Ia(e, t = e[0]?.key) {
	return e.find((e) => e.key === (t?.startsWith(Fa) ? t.slice(5) : t));
}
function La(e, t) {
	return e.find((e) => e.kind !== "text" && t.test(e.name));
}
function Ra({ source: n, settings: i, settle: c, choice: l, asked: u }) {
	let d = vi.value, { name: p, columns: h, sources: _, layouts: v, suffix: b = "" } = n, x = h.columns.filter((e) => e.kind !== "text"), S = La(x, /^(lon|lng|long|longitude)$/i), T = La(x, /^(lat|latitude)$/i), E = x.filter((e) => e.name !== n.id && e.name !== n.weights), ee = E.length >= 2 ? E : x, te = (e, t) => x.find((t) => t.name === e) ?? t, O = v.map((e) => [e.key, e.title]);
	S && T && O.push(["sphere", "sphere"]), ee.length >= 2 && O.push(["flat", "columns"]);
	let ne = O.find(([e]) => e === i.view)?.[0] ?? O[0]?.[0] ?? "flat", k = v.find((e) => e.key === ne), A = ne === "sphere", j = k?.x ?? te(i.x, S ?? ee[0]), M = k?.y ?? te(i.y, T ?? ee[1] ?? ee[0]), N = k ? k.z : i.z ? x.find((e) => e.name === i.z) : void 0, P = i.colour ?? _[0]?.key ?? n.colour ?? "", F = k ? k.isEqual : j === S && M === T || n.isEqual, re = i.edge !== "no" && !k?.degrees, I = [
		j,
		M,
		...N ? [N] : []
	], ie = r(() => I.map((e) => !k && !A && !F && Dr(e.values)), [
		j,
		M,
		N,
		A,
		F
	]), L = i.log === "no" ? I.map(() => !1) : ie, ae = i.log !== "no" && ie.includes(!0), R = r(() => A ? Nr(S.values, T.values) : Ar(I.map((e, t) => L[t] ? kr(e) : e), {
		isEqual: F,
		stretch: k?.stretch,
		isEdged: re
	}), [
		A,
		j,
		M,
		N,
		F,
		re,
		ae
	]), oe = k ? k.degrees : !A && j === S && M === T && !N ? { breaks: [] } : void 0, se = A || oe !== void 0;
	e(() => {
		se && n.coast && gi(n.coast);
	}, [se]);
	let z = r(() => {
		if (!se || !mi.value) return null;
		if (A) return {
			shores: Jr(mi.value),
			towns: Xr(mi.value)
		};
		let [e, t] = [j, M].map((e) => xr(e.values)), n = oe.breaks;
		if (!e || !t) return null;
		let r = n.reduce((e, [t, n, r]) => e + n - t - r, e[1]);
		if (!Gr([e[0], r], t)) return null;
		let i = e[0] >= -180 && r <= 180 ? -180 : (e[0] + r) / 2 - 180;
		return {
			shores: Qr(mi.value, R, i, n),
			towns: Zr(mi.value, R, i, n)
		};
	}, [
		mi.value,
		R,
		se
	]), B = o(null), V = o(null), H = P.startsWith(Fa), U = Ia(_, P);
	e(() => {
		let e = new AbortController();
		return V.value = null, (async () => {
			try {
				if (U) {
					let t = U.ready ?? await U.load(e.signal);
					e.signal.aborted || (B.value = t);
				} else {
					let e = P.startsWith("column:") ? h.columns.find((e) => e.name === P.slice(7)) : void 0;
					B.value = e ? hr(e) : null;
				}
			} catch (t) {
				e.signal.aborted || ([V.value, B.value] = [t, null]);
			}
		})(), () => e.abort();
	}, [U?.key ?? P, U?.version]);
	let W = o(null), G = o([]), K = o(/* @__PURE__ */ new Set()), q = o(-1), ce = o("move"), le = o(0), ue = C(null), J = o(/* @__PURE__ */ new Map()), de = o(null), fe = U?.ready ?? (B.value?.groupOf.length === h.rows ? B.value : null), Y = r(() => {
		let e = fe && H ? pr(fe) : fe;
		return e && J.value.size ? {
			...e,
			groups: e.groups.map((e) => ({
				...e,
				name: J.value.get(e.number) ?? e.name
			}))
		} : e;
	}, [
		fe,
		H,
		J.value
	]);
	e(() => {
		K.value = /* @__PURE__ */ new Set(), J.value = /* @__PURE__ */ new Map();
	}, [fe?.title]);
	let pe = (e) => Y !== null && K.value.size > 0 && K.value.has(Y.groupOf[e]), me = r(() => Va(R, h.rows, Y, W.value, K.value, d), [
		R,
		Y,
		W.value,
		K.value,
		d
	]), he = r(() => W.value ? W.value.reduce((e, t) => e + t, 0) : 0, [W.value]), ge = r(() => Ha(R, Y, K.value, d), [
		R,
		Y,
		K.value,
		d
	]), _e = r(() => q.value < 0 ? -1 : R.rowOf.indexOf(q.value), [R, q.value]), ve = (e, t, n) => {
		let r = t === "replace" || !W.value ? new Uint8Array(h.rows) : W.value.slice();
		for (let n of e) r[n] = t === "subtract" ? 0 : 1;
		let i = r.includes(1);
		w(() => {
			W.value = i ? r : null;
			let e = {
				replace: "",
				add: "and ",
				subtract: "without "
			}[t];
			G.value = i ? t === "replace" ? [n] : [...G.value, `${e}${n}`] : [];
		}), m(i ? `${g(r.reduce((e, t) => e + t, 0))} rows selected.` : "Nothing is selected.");
	}, ye = () => w(() => [W.value, G.value, q.value] = [
		null,
		[],
		-1
	]), be = () => {
		if (!W.value) return;
		let e = W.value.map((e, t) => e || pe(t) ? 0 : 1);
		W.value = e.includes(1) ? e : null, G.value = [...G.value, "inverted"];
	}, xe = function* (e) {
		for (let t = 0; t < h.rows; t++) Y.groupOf[t] === e && (yield t);
	}, Se = (e, t) => ve(xe(e), t, `${U ? "cluster " : `${Y.title} `}${Y.groups[e].name}`), Ce = (e, t) => ve(mr(Y, e), t, `probability below ${e}`), we = () => {
		if (!W.value || !Y) return;
		let e = new Set(K.value);
		W.value.forEach((t, n) => t && e.add(Y.groupOf[n])), e.size < Y.groups.length && (K.value = e);
	}, Te = (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
		let t = {
			l: () => ce.value = "lasso",
			b: () => ce.value = "box",
			m: () => ce.value = "move",
			i: be,
			h: we,
			Escape: ye,
			f: () => ue.current?.fit()
		}[e.key];
		t && (e.preventDefault(), t());
	}, Ee = u?.value;
	e(() => {
		if (!Ee || !Y) return;
		let e = Y.groups.findIndex((e) => e.number === Ee.group);
		e >= 0 && ve(xe(e), "replace", `cluster ${Y.groups[e].name}`);
	}, [Ee]);
	let De = r(() => ee, [h]), Oe = !n.sampled && Y !== null && Y.groups.length > 0 && De.length > 0, ke = le.value || (h.rows > 3e5 ? 1 : h.rows > 3e4 ? 2 : h.rows > 3e3 ? 4 : h.rows > 500 ? 7 : 9), Ae = (e) => h.columns.filter((e) => e.name !== n.id).slice(0, 6).map((t) => `${t.name} ${t.kind === "text" ? t.values[e] : y(t.values[e], 6)}`).join(" · "), je = h.columns.find((e) => e.name === n.id), Me = (e) => n.titleOf ? n.titleOf(e) : je ? String(je.kind === "text" ? je.values[e] : y(je.values[e], 12)) : `row ${g(e + 1)}`, Ne = (e) => {
		let t = Y?.groups[Y.groupOf[e]];
		return t ? t.name : "";
	}, Pe = `${p}: ${k ? k.title : A ? "positions on the sphere" : `${j.name} and ${M.name}${N ? ` and ${N.name}` : ""}`}${Y ? `, coloured by ${Y.isSure ? "how sure they are in " : ""}${Y.title}` : ""}; ${g(h.rows)} rows`, Fe = `${Pe}.${Y?.groups.length ? ` ${Y.groups.length} groups; the list beside the picture has them all.` : ""}${he ? ` ${g(he)} rows are selected; the table below has them.` : ""} Arrow keys move, plus and minus zoom, Enter picks the middle point.`;
	return /* @__PURE__ */ a("div", {
		class: "scene",
		style: { gridTemplateRows: Oe ? "auto 1fr" : void 0 },
		onKeyDown: Te,
		children: [
			/* @__PURE__ */ a("section", {
				class: "card picture",
				"aria-label": "Picture",
				children: [
					/* @__PURE__ */ a("div", {
						class: "tools choices",
						children: [l, /* @__PURE__ */ a(Ba, {
							columns: h,
							numbers: x,
							x: j.name,
							y: M.name,
							z: N?.name ?? "",
							view: ne,
							views: O,
							sources: _,
							colourKey: P,
							settle: c
						})]
					}),
					/* @__PURE__ */ a("div", {
						class: "framed",
						inert: n.sampled !== void 0,
						children: [/* @__PURE__ */ a("div", {
							class: "stage",
							children: /* @__PURE__ */ a(Zi, {
								cloud: R,
								paint: me,
								theme: d,
								tool: ce.value,
								isEqual: F || k?.stretch !== void 0,
								pointWidth: ke,
								degrees: k?.degrees ?? (z ? oe : void 0),
								shores: z?.shores,
								towns: z?.towns,
								ground: k?.ground,
								outlines: Y && k?.outlines && k.outlines.filter(({ group: e }) => !K.value.has(e)),
								names: [
									0,
									1,
									2
								].map((e) => I[e] ? `${I[e].name}${L[e] ? " (log)" : ""}` : ""),
								logs: L,
								summary: Fe,
								caption: Pe,
								marks: ge,
								picked: _e,
								forced: i.renderer,
								handle: ue,
								onSelect: (e, t, n) => ve(za(e, (e) => R.rowOf[e]), t, n),
								onPick: (e) => q.value = e < 0 ? -1 : R.rowOf[e],
								hint: (e) => {
									let t = R.rowOf[e], n = Y?.groups.length ? Ne(t) : "";
									return {
										title: n && n !== "no cluster" && n !== "no value" ? `${U ? "Cluster " : ""}${n} · ${Me(t)}` : Me(t),
										text: `${Y?.isSure ? `probability ${y(Y.probability[t], 3)} · ` : ""}${Ae(t)}`,
										colour: _r(Y, t, d)
									};
								}
							})
						}), /* @__PURE__ */ a("div", {
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
								].map(([e, t, n]) => /* @__PURE__ */ a("button", {
									type: "button",
									"aria-pressed": ce.value === e,
									title: n,
									"aria-label": n,
									onClick: () => ce.value = e,
									children: /* @__PURE__ */ a(Aa, { name: t })
								}, e)),
								/* @__PURE__ */ a("button", {
									type: "button",
									title: "Zoom in (+)",
									"aria-label": "Zoom in",
									onClick: () => ue.current?.zoom(1.5),
									children: /* @__PURE__ */ a(Aa, { name: "plus" })
								}),
								/* @__PURE__ */ a("button", {
									type: "button",
									title: "Zoom out (-)",
									"aria-label": "Zoom out",
									onClick: () => ue.current?.zoom(1 / 1.5),
									children: /* @__PURE__ */ a(Aa, { name: "minus" })
								}),
								/* @__PURE__ */ a("button", {
									type: "button",
									title: "Fit all (F)",
									"aria-label": "Fit all",
									onClick: () => ue.current?.fit(),
									children: /* @__PURE__ */ a(Aa, { name: "fit" })
								})
							]
						})]
					}),
					n.sampled ? /* @__PURE__ */ a("p", {
						class: "note",
						children: ["A sample. ", n.sampled]
					}) : /* @__PURE__ */ a("div", {
						class: "tools under",
						children: [
							/* @__PURE__ */ a("label", { children: ["Point size", /* @__PURE__ */ a("input", {
								type: "range",
								min: "1",
								max: "15",
								step: "1",
								value: ke,
								onInput: (e) => le.value = Number(e.currentTarget.value)
							})] }),
							/* @__PURE__ */ a(D, {
								name: p,
								make: () => ue.current.svg(),
								fail: (e) => V.value = e
							}),
							/* @__PURE__ */ a("span", {
								class: "note",
								children: ce.value === "move" ? R.shape === "plane" ? "Drag to move, scroll to zoom, click a point to see its row." : "Drag to turn, Shift and drag to move, scroll to zoom." : "Drag around points. Shift adds, Alt takes away."
							})
						]
					}),
					R.missing > 0 && /* @__PURE__ */ a("p", {
						class: "note",
						children: [
							g(R.missing),
							" ",
							R.missing === 1 ? "row has" : "rows have",
							" a missing value in these columns and ",
							R.missing === 1 ? "is" : "are",
							" not drawn."
						]
					}),
					(R.beyond > 0 || i.edge === "no") && /* @__PURE__ */ a("p", {
						class: "note",
						children: [R.beyond > 0 ? `${g(R.beyond)} ${R.beyond === 1 ? "row lies" : "rows lie"} farther out and ${R.beyond === 1 ? "is" : "are"} drawn at the edge. ` : "", /* @__PURE__ */ a("button", {
							type: "button",
							class: "link",
							onClick: () => c({ edge: i.edge === "no" ? null : "no" }),
							children: i.edge === "no" ? "Draw rows that lie far out at the edge" : "Show where they lie"
						})]
					}),
					ie.includes(!0) && /* @__PURE__ */ a("p", {
						class: "note",
						children: [ae ? `${I.filter((e, t) => L[t]).map(({ name: e }) => e).join(" and ")}: drawn by the logarithm, since most values lie near the low end. ` : "", /* @__PURE__ */ a("button", {
							type: "button",
							class: "link",
							onClick: () => c({ log: ae ? "no" : null }),
							children: ae ? "Draw values as they are" : "Draw crowded values by their logarithm"
						})]
					}),
					k?.note && /* @__PURE__ */ a("p", {
						class: "note",
						children: k.note
					}),
					/* @__PURE__ */ a(f, { error: V.value })
				]
			}),
			/* @__PURE__ */ a("aside", {
				class: "side",
				style: { gridRow: Oe ? "span 2" : void 0 },
				children: !n.sampled && /* @__PURE__ */ a(t, { children: [
					q.value >= 0 && /* @__PURE__ */ a(Za, {
						suffix: b,
						columns: h,
						row: q.value,
						title: Me(q.value),
						cluster: Y?.groups.length ? `${s(Y.title)}: ${Ne(q.value)}` : "",
						probability: Y?.probability?.[q.value] ?? null,
						close: () => q.value = -1
					}),
					Y?.isSure && /* @__PURE__ */ a(Ya, {
						suffix: b,
						grouping: Y,
						theme: d,
						choose: Ce
					}),
					Y && Y.groups.length > 0 && /* @__PURE__ */ a(Ga, {
						suffix: b,
						grouping: Y,
						rows: h.rows,
						theme: d,
						hidden: K.value,
						isOfJob: U !== void 0,
						hide: (e) => K.value = e,
						rename: (e, t) => J.value = new Map(J.value).set(e, t),
						choose: Se
					}),
					Y && U?.hasProbability && Y.probability && !Y.isSure && /* @__PURE__ */ a(Ya, {
						suffix: b,
						grouping: Y,
						theme: d,
						choose: Ce
					}),
					Y?.outliers && Y.outliers.length > 0 && /* @__PURE__ */ a(qa, {
						suffix: b,
						outliers: Y.outliers,
						titleOf: Me,
						pick: (e) => q.value = e,
						choose: () => ve(Y.outliers.map(({ row: e }) => e), "replace", "out of the ordinary")
					}),
					Y?.scale && !Y.isSure && /* @__PURE__ */ a(Xa, {
						title: Y.title,
						...Y.scale,
						theme: d
					}),
					!Y && /* @__PURE__ */ a("div", {
						class: "card",
						children: [/* @__PURE__ */ a("p", {
							class: "note",
							children: "Choose under \"Colour\" what points are coloured by. Clusters appear here when a job has found some."
						}), n.find && !_.length && /* @__PURE__ */ a("p", {
							class: "note",
							children: /* @__PURE__ */ a("a", {
								class: "button",
								href: n.find,
								children: "Find clusters"
							})
						})]
					})
				] })
			}),
			Oe && /* @__PURE__ */ a(Ni, {
				suffix: b,
				columns: De,
				grouping: Y,
				hidden: K.value,
				theme: d,
				column: i.box,
				settle: (e) => c({ box: e }),
				nameOf: (e) => Ua(Y.groups[e], U !== void 0),
				choose: Se
			}),
			de.value && /* @__PURE__ */ a(Oa, {
				suffix: b,
				columns: h,
				grouping: Y,
				kept: de.value,
				chosen: W.value,
				recipe: G.value.join(", "),
				close: () => de.value = null
			}),
			W.value && /* @__PURE__ */ a(Qa, {
				keep: () => de.value = {
					rows: W.value,
					recipe: G.value.join(", ")
				},
				source: n,
				titleOf: Me,
				columns: h,
				chosen: W.value,
				total: he,
				recipe: G.value,
				grouping: U ? Y : null,
				clear: ye,
				invert: be,
				pick: (e) => q.value = e,
				picked: q.value
			})
		]
	});
}
function* za(e, t) {
	for (let n of e) yield t(n);
}
function Ba({ columns: e, numbers: n, x: r, y: i, z: o, view: s, views: c, sources: l, colourKey: u, settle: d }) {
	let f = (e, t, r) => /* @__PURE__ */ a("label", { children: [e, /* @__PURE__ */ a("select", {
		value: r,
		onChange: (e) => d({ [t]: e.currentTarget.value }),
		children: [t === "z" && /* @__PURE__ */ a("option", {
			value: "",
			children: "none"
		}), n.map((e) => /* @__PURE__ */ a("option", {
			value: e.name,
			children: e.name
		}, e.name))]
	})] });
	return /* @__PURE__ */ a(t, { children: [
		/* @__PURE__ */ a("label", { children: ["Colour", /* @__PURE__ */ a("select", {
			value: u || "none",
			onChange: (e) => d({ colour: e.currentTarget.value || "none" }),
			children: [
				/* @__PURE__ */ a("option", {
					value: "none",
					children: "one colour"
				}),
				l.map((e) => /* @__PURE__ */ a(t, { children: [/* @__PURE__ */ a("option", {
					value: e.key,
					children: e.title
				}), e.hasProbability && /* @__PURE__ */ a("option", {
					value: Fa + e.key,
					children: ["how sure: ", e.title.replace("clusters of ", "")]
				})] }, e.key)),
				e.columns.map((e) => /* @__PURE__ */ a("option", {
					value: `column:${e.name}`,
					children: ["column ", e.name]
				}, e.name))
			]
		})] }),
		c.length > 1 && /* @__PURE__ */ a("label", { children: ["View", /* @__PURE__ */ a("select", {
			value: s,
			onChange: (e) => d({ view: e.currentTarget.value === c[0][0] ? null : e.currentTarget.value }),
			children: c.map(([e, t]) => /* @__PURE__ */ a("option", {
				value: e,
				children: t
			}, e))
		})] }),
		s === "flat" && /* @__PURE__ */ a(t, { children: [
			f("Across", "x", r),
			f("Upwards", "y", i),
			n.length > 2 && f("Depth", "z", o)
		] })
	] });
}
function Va(e, t, n, r, i, a) {
	let o = new Uint32Array(e.count), s = n?.groups.map((e) => di(gr(e, a), 255)) ?? [], c = di(_r(n && !n.scale ? {
		...n,
		groups: []
	} : null, 0, a), 255), l = Array.from({ length: 256 }, (e, t) => di(nr(t / 255, a), 255)), u = di(nr(NaN, a), 255), d = di(Qn[a], 254);
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
function Ha(e, t, n, r) {
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
	})).filter(({ group: e, at: t, sum: r }) => e.number >= 0 && r[3] > 0 && !n.has(t)).sort((e, t) => t.sum[3] - e.sum[3]).map(({ group: t, sum: [n, i, a, o] }) => {
		let s = e.shape === "sphere" ? Math.hypot(n, i, a) || 1 : o;
		return {
			text: t.name.length <= Ma ? t.name : `${t.name.slice(0, 15)}…`,
			colour: t.place === void 0 ? gr(t, r) : "var(--soft)",
			x: n / s,
			y: i / s,
			z: a / s
		};
	});
}
function Ua({ number: e, name: t }, n) {
	return e < 0 || !n || t !== String(e) ? t : `Cluster ${t}`;
}
function Wa({ probability: e, partners: t }) {
	let n = t?.split("+") ?? [], r = n.length > Na ? `${n.slice(0, Na).join("+")} and ${g(n.length - Na)} more` : t;
	return [...e === void 0 ? [] : [`sure ${e.toFixed(2)}`], ...r ? [`merges with ${r}`] : []].join(", ");
}
function Ga({ suffix: e, grouping: t, rows: n, theme: r, hidden: i, isOfJob: s, hide: c, rename: l, choose: u }) {
	let d = o(!1), f = o(null), p = o(""), m = t.groups.map((e, t) => t), h = m.filter((e) => t.groups[e].name.toLowerCase().includes(p.value.trim().toLowerCase())), _ = d.value ? h : h.slice(0, ja), v = (e) => {
		let t = new Set(i);
		t.delete(e) || t.add(e), c(t);
	}, b = (e) => !i.has(e) && i.size === m.length - 1;
	return /* @__PURE__ */ a("section", {
		class: "card",
		"aria-labelledby": `groups${e}`,
		children: [
			/* @__PURE__ */ a("div", {
				class: "head tight",
				children: [/* @__PURE__ */ a("h2", {
					id: `groups${e}`,
					children: [
						s ? "Clusters" : t.title,
						" ",
						/* @__PURE__ */ a("span", {
							class: "soft",
							children: g(t.groups.filter((e) => e.number >= 0).length)
						})
					]
				}), i.size > 0 && /* @__PURE__ */ a("button", {
					type: "button",
					onClick: () => c(/* @__PURE__ */ new Set()),
					children: "Show all"
				})]
			}),
			t.groups.length > ja && /* @__PURE__ */ a("label", { children: [/* @__PURE__ */ a("span", {
				class: "unseen",
				children: ["Search ", s ? "clusters" : t.title]
			}), /* @__PURE__ */ a("input", {
				type: "search",
				placeholder: "Search",
				value: p.value,
				onInput: (e) => p.value = e.currentTarget.value
			})] }),
			/* @__PURE__ */ a("ul", {
				class: "groups",
				children: _.map((e) => {
					let o = t.groups[e], d = Ua(o, s), p = Wa(o);
					return f.value === o.number ? /* @__PURE__ */ a("li", { children: /* @__PURE__ */ a("form", {
						class: "inline",
						onSubmit: (e) => {
							e.preventDefault();
							let t = e.currentTarget.querySelector("input").value.trim();
							l(o.number, t || String(o.number)), f.value = null;
						},
						children: [/* @__PURE__ */ a("input", {
							"aria-label": `New name of ${d}`,
							defaultValue: o.name,
							maxLength: 80,
							ref: (e) => e?.focus(),
							onKeyDown: (e) => e.key === "Escape" && (e.stopPropagation(), f.value = null)
						}), /* @__PURE__ */ a("button", {
							type: "submit",
							children: "Name"
						})]
					}) }, o.number) : /* @__PURE__ */ a("li", {
						class: i.has(e) ? "off" : "",
						children: [
							/* @__PURE__ */ a("button", {
								type: "button",
								class: "name",
								title: "Select its rows. Shift adds, Alt takes away.",
								onClick: (t) => u(e, t.altKey ? "subtract" : t.shiftKey ? "add" : "replace"),
								children: [
									/* @__PURE__ */ a("i", {
										class: "swatch",
										style: { background: gr(o, r) }
									}),
									/* @__PURE__ */ a("span", {
										class: "text",
										children: d
									}),
									/* @__PURE__ */ a("span", {
										class: "number",
										children: g(o.rows)
									}),
									/* @__PURE__ */ a("span", {
										class: "number soft",
										children: [y(100 * o.rows / n, 2), " %"]
									}),
									o.about && /* @__PURE__ */ a("small", { children: o.about }),
									p && /* @__PURE__ */ a("small", {
										title: "The mean probability of its rows; the clusters with which it would merge first",
										children: p
									})
								]
							}),
							s && o.number >= 0 && /* @__PURE__ */ a("button", {
								type: "button",
								class: "bare",
								title: `Rename ${d}`,
								"aria-label": `Rename ${d}`,
								onClick: () => f.value = o.number,
								children: /* @__PURE__ */ a(Aa, { name: "pen" })
							}),
							/* @__PURE__ */ a("button", {
								type: "button",
								class: "bare",
								"aria-pressed": b(e),
								title: `Show only ${d}`,
								"aria-label": `Show only ${d}`,
								onClick: () => c(b(e) ? /* @__PURE__ */ new Set() : new Set(m.filter((t) => t !== e))),
								children: /* @__PURE__ */ a(Aa, { name: "only" })
							}),
							/* @__PURE__ */ a("button", {
								type: "button",
								class: "bare",
								"aria-pressed": i.has(e),
								title: `Hide ${d}`,
								"aria-label": `Hide ${d}`,
								onClick: () => v(e),
								children: /* @__PURE__ */ a(Aa, { name: i.has(e) ? "hidden" : "shown" })
							})
						]
					}, o.number);
				})
			}),
			h.length > _.length && /* @__PURE__ */ a("button", {
				type: "button",
				onClick: () => d.value = !0,
				children: ["Show all ", g(h.length)]
			})
		]
	});
}
var Ka = 12;
function qa({ suffix: e, outliers: t, titleOf: n, pick: r, choose: i }) {
	return /* @__PURE__ */ a("section", {
		class: "card",
		"aria-labelledby": `far${e}`,
		children: [
			/* @__PURE__ */ a("div", {
				class: "head tight",
				children: [/* @__PURE__ */ a("h2", {
					id: `far${e}`,
					children: ["Outliers ", /* @__PURE__ */ a("span", {
						class: "soft",
						children: g(t.length)
					})]
				}), /* @__PURE__ */ a("button", {
					type: "button",
					onClick: i,
					children: "Select them"
				})]
			}),
			/* @__PURE__ */ a("p", {
				class: "note",
				children: "Rows unusually far from the centre of their cluster, and the columns that make it so."
			}),
			/* @__PURE__ */ a("ul", {
				class: "plainlist",
				children: t.slice(0, Ka).map(({ row: e, cluster: t, about: i }) => /* @__PURE__ */ a("li", { children: [
					/* @__PURE__ */ a("button", {
						type: "button",
						class: "link",
						onClick: () => r(e),
						children: n(e)
					}),
					" ",
					/* @__PURE__ */ a("span", {
						class: "soft",
						children: [
							"cluster ",
							t,
							": ",
							i
						]
					})
				] }, e))
			}),
			t.length > Ka && /* @__PURE__ */ a("p", {
				class: "note",
				children: [
					"The farthest ",
					Ka,
					" of ",
					g(t.length),
					"."
				]
			})
		]
	});
}
var Ja = .8;
function Ya({ suffix: e, grouping: n, theme: i, choose: s }) {
	let c = o(Ja), l = r(() => {
		let e = 0;
		for (let t of mr(n, c.value)) e++;
		return e;
	}, [n, c.value]), u = n.scale?.gaps ?? 0;
	return /* @__PURE__ */ a("section", {
		class: "card",
		"aria-labelledby": `sure${e}`,
		children: [
			/* @__PURE__ */ a("h2", {
				id: `sure${e}`,
				children: "How sure"
			}),
			n.isSure && /* @__PURE__ */ a(t, { children: [
				/* @__PURE__ */ a("div", {
					class: "ramp",
					"aria-hidden": "true",
					children: Array.from({ length: 24 }, (e, t) => /* @__PURE__ */ a("i", { style: { background: nr(1 - t / 23, i) } }, t))
				}),
				/* @__PURE__ */ a("p", {
					class: "ends",
					children: [/* @__PURE__ */ a("span", { children: [.5, " or less, unsure"] }), /* @__PURE__ */ a("span", { children: "1, sure" })]
				}),
				u > 0 && /* @__PURE__ */ a("p", {
					class: "note",
					children: [
						g(u),
						" ",
						u === 1 ? "row is" : "rows are",
						" in no cluster, and grey."
					]
				})
			] }),
			/* @__PURE__ */ a("p", {
				class: "note",
				children: "The probability that a row belongs to its cluster, and not to a neighbouring one."
			}),
			/* @__PURE__ */ a("div", {
				class: "tools",
				children: [/* @__PURE__ */ a("label", {
					class: "check",
					children: [
						"Below ",
						c.value.toFixed(2),
						/* @__PURE__ */ a("input", {
							type: "range",
							min: "0",
							max: "1",
							step: "0.01",
							value: c.value,
							onInput: (e) => c.value = Number(e.currentTarget.value)
						})
					]
				}), /* @__PURE__ */ a("button", {
					type: "button",
					disabled: l === 0,
					title: "Select these rows. Shift adds, Alt takes away.",
					onClick: (e) => s(c.value, e.altKey ? "subtract" : e.shiftKey ? "add" : "replace"),
					children: [
						"Select ",
						g(l),
						" ",
						l === 1 ? "row" : "rows"
					]
				})]
			})
		]
	});
}
function Xa({ title: e, low: t, high: n, isLog: r, gaps: i, theme: o }) {
	return /* @__PURE__ */ a("section", {
		class: "card",
		"aria-label": `Scale of ${e}`,
		children: [
			/* @__PURE__ */ a("h2", { children: e }),
			/* @__PURE__ */ a("div", {
				class: "ramp",
				"aria-hidden": "true",
				children: Array.from({ length: 24 }, (e, t) => /* @__PURE__ */ a("i", { style: { background: nr(t / 23, o) } }, t))
			}),
			/* @__PURE__ */ a("p", {
				class: "ends",
				children: [
					/* @__PURE__ */ a("span", { children: y(t) }),
					/* @__PURE__ */ a("span", { children: r ? "logarithmic" : "" }),
					/* @__PURE__ */ a("span", { children: y(n) })
				]
			}),
			i > 0 && /* @__PURE__ */ a("p", {
				class: "note",
				children: [
					g(i),
					" ",
					i === 1 ? "row has" : "rows have",
					" no value, and ",
					i === 1 ? "is" : "are",
					" grey."
				]
			})
		]
	});
}
function Za({ suffix: e, columns: t, row: n, title: r, cluster: i, probability: o, close: s }) {
	return /* @__PURE__ */ a("section", {
		class: "card",
		"aria-labelledby": `picked${e}`,
		"aria-live": "polite",
		children: [
			/* @__PURE__ */ a("div", {
				class: "head tight",
				children: [/* @__PURE__ */ a("h2", {
					id: `picked${e}`,
					children: r
				}), /* @__PURE__ */ a("button", {
					type: "button",
					class: "bare",
					"aria-label": "Close",
					onClick: s,
					children: /* @__PURE__ */ a(Aa, { name: "close" })
				})]
			}),
			i && /* @__PURE__ */ a("p", {
				class: "note",
				children: [i, o === null ? "" : `, probability ${y(o, 4)}`]
			}),
			/* @__PURE__ */ a("dl", {
				class: "facts one",
				children: t.columns.slice(0, 200).map((e) => /* @__PURE__ */ a("div", { children: [/* @__PURE__ */ a("dt", { children: e.name }), /* @__PURE__ */ a("dd", { children: e.kind === "text" ? e.values[n] : y(e.values[n], 12) })] }, e.name))
			})
		]
	});
}
function Qa({ keep: e, source: t, titleOf: n, columns: i, chosen: s, total: c, recipe: l, grouping: u, clear: d, invert: p, pick: _, picked: y }) {
	let { name: b, suffix: S = "" } = t, C = o(null), w = o(null), T = o(!1), E = r(() => {
		let e = [];
		for (let t = 0; t < s.length && e.length < Pa; t++) s[t] && e.push(t);
		return e;
	}, [s]), D = u !== null && u.groups.some(({ name: e, number: t }) => t >= 0 && e !== String(t)), ee = u ? [
		"cluster",
		...D ? ["cluster_name"] : [],
		...u.probability ? ["probability"] : []
	] : [], te = new Set(i.columns.map((e) => e.name)), O = [...i.columns.map((e) => e.name), ...ee.map((e) => te.has(e) ? `${e}_` : e)], ne = (e) => [...i.columns.map((t) => t.values[e]), ...u ? [
		u.groups[u.groupOf[e]]?.number ?? -1,
		...D ? [u.groups[u.groupOf[e]]?.name ?? ""] : [],
		...u.probability ? [u.probability[e]] : []
	] : []], k = () => {
		let e = t.titleOf !== void 0, r = [v(e ? ["id", ...O] : O)];
		for (let t = 0; t < s.length; t++) s[t] && r.push(v(e ? [n(t), ...ne(t)] : ne(t)));
		return new Blob(r, { type: "text/csv" });
	}, A = async () => {
		T.value = !0, C.value = null;
		try {
			let e = await t.save(w.value.trim(), k(), s);
			m(`${w.value} is there: ${g(e)} rows.`), w.value = null;
		} catch (e) {
			C.value = e;
		} finally {
			T.value = !1;
		}
	};
	return /* @__PURE__ */ a("section", {
		class: "card chosen",
		"aria-labelledby": `chosen${S}`,
		children: [
			/* @__PURE__ */ a("div", {
				class: "head",
				children: [/* @__PURE__ */ a("div", { children: [/* @__PURE__ */ a("h2", {
					id: `chosen${S}`,
					children: [g(c), " rows selected"]
				}), /* @__PURE__ */ a("p", {
					class: "note",
					children: l.join(", ")
				})] }), /* @__PURE__ */ a("div", {
					class: "tools",
					children: [
						/* @__PURE__ */ a("button", {
							type: "button",
							class: "first",
							onClick: () => x(`${b}-selection.csv`, k()),
							children: "Export CSV"
						}),
						t.save && /* @__PURE__ */ a("button", {
							type: "button",
							onClick: () => w.value = w.value === null ? `${b}-selection` : null,
							children: "Save as data set"
						}),
						/* @__PURE__ */ a("button", {
							type: "button",
							onClick: e,
							children: "Compare"
						}),
						/* @__PURE__ */ a("button", {
							type: "button",
							onClick: p,
							children: "Invert (I)"
						}),
						/* @__PURE__ */ a("button", {
							type: "button",
							onClick: d,
							children: "Clear (Esc)"
						})
					]
				})]
			}),
			w.value !== null && /* @__PURE__ */ a("form", {
				class: "inline",
				onSubmit: (e) => {
					e.preventDefault(), A();
				},
				children: [/* @__PURE__ */ a("label", { children: ["Name ", /* @__PURE__ */ a("input", {
					value: w.value,
					onInput: (e) => w.value = e.currentTarget.value
				})] }), /* @__PURE__ */ a("button", {
					type: "submit",
					class: "first",
					disabled: T.value,
					children: "Save"
				})]
			}),
			/* @__PURE__ */ a(f, { error: C.value }),
			/* @__PURE__ */ a(h, {
				caption: "Selected rows",
				names: ["row", ...O],
				rows: E.map((e) => [t.titleOf ? n(e) : e + 1, ...ne(e)]),
				on: E.indexOf(y),
				pick: (e) => _(E[e])
			}),
			c > E.length && /* @__PURE__ */ a("p", {
				class: "note",
				children: [
					"The first ",
					g(E.length),
					" are shown; the export has all ",
					g(c),
					"."
				]
			})
		]
	});
}
// src/views/explore.tsx
async function $a() {
	let e = await fetch("./coast.json");
	if (!e.ok) throw Error(`coast.json: ${e.status}`);
	return e.text();
}
var eo = 6e8, to = 6e4, no = 11;
function ro(e) {
	let t = Math.max(no, Math.ceil(e / to));
	for (let e = 2; e * e <= t; e++) t % e === 0 && ([t, e] = [t + 1, 1]);
	return t;
}
function io() {
	let e = d(), t = e ? u(e).value : null;
	if (!e) return /* @__PURE__ */ a("p", {
		class: "empty",
		children: "This node has no service of data sets."
	});
	if (!t) return /* @__PURE__ */ a("p", {
		class: "empty",
		children: "Asking the node…"
	});
	let n = Object.keys(t.datasets).filter((e) => b(t.datasets[e])), { data: r } = c.value.settings, i = r ? t.datasets[r] : void 0, o = /* @__PURE__ */ a("label", { children: ["Data", /* @__PURE__ */ a("select", {
		value: r ?? "",
		onChange: (e) => location.hash = _("explore", { data: e.currentTarget.value }),
		children: [
			!i && /* @__PURE__ */ a("option", {
				value: "",
				children: "choose…"
			}),
			i && !n.includes(r) && /* @__PURE__ */ a("option", { children: r }),
			n.map((e) => /* @__PURE__ */ a("option", {
				value: e,
				children: e
			}, e))
		]
	})] });
	return i ? /* @__PURE__ */ a(oo, {
		path: e,
		name: r,
		dataset: i,
		choice: o
	}, `${r} ${i.content}`) : /* @__PURE__ */ a("section", {
		class: "card",
		children: [/* @__PURE__ */ a("div", {
			class: "tools",
			children: o
		}), /* @__PURE__ */ a("p", {
			class: "empty",
			children: [r ? `There is no data set "${r}" any more. ` : "", n.length ? "Choose a data set with at least two columns of numbers." : "No data set has two columns of numbers yet. Bring one in under Data."]
		})]
	});
}
function ao({ done: e, rows: n }) {
	return /* @__PURE__ */ a(t, { children: [
		/* @__PURE__ */ a("progress", {
			max: n,
			value: e.value,
			"aria-label": "Rows read"
		}),
		" ",
		g(e.value),
		" of ",
		g(n),
		" rows"
	] });
}
function oo({ path: t, name: n, dataset: r, choice: i }) {
	let s = o(null), l = o(0), u = o(null);
	e(() => {
		let e = new AbortController();
		if (r.bytes > eo) {
			u.value = `${n} has ${y(r.bytes / 1e6, 3)} MB of values; the page takes ${eo / 1e6} MB. Bring in fewer columns, or fewer rows.`;
			return;
		}
		let i = async (i) => {
			l.value = 0;
			let a = Ia(so(t, n, r, i), c.peek().settings.colour), [o, s] = await Promise.all([Kn(t, n, (e) => l.value = e, e.signal, { every: i }), a?.load(e.signal).catch(() => null)]);
			return {
				columns: o,
				every: i,
				labels: a && s ? {
					source: a,
					colouring: s
				} : null
			};
		}, a = (t) => {
			e.signal.aborted || (s.value = t);
		};
		return (async () => {
			let e = r.rows > 2 * to ? await i(ro(r.rows)) : null, t = i(1);
			e && a(e), a(await t);
		})().catch((t) => {
			e.signal.aborted || (u.value = t);
		}), () => e.abort();
	}, []);
	let d = /* @__PURE__ */ a(ao, {
		done: l,
		rows: r.rows
	});
	return !s.value || u.value ? /* @__PURE__ */ a("section", {
		class: "card",
		children: [
			/* @__PURE__ */ a("div", {
				class: "tools",
				children: i
			}),
			/* @__PURE__ */ a(f, { error: u.value }),
			!u.value && /* @__PURE__ */ a("p", {
				class: "empty",
				children: d
			})
		]
	}) : /* @__PURE__ */ a(co, {
		path: t,
		name: n,
		dataset: r,
		read: s.value,
		choice: i,
		progress: d
	});
}
function so(e, t, n, r) {
	let { datasets: a } = u(e).value, o = [];
	for (let s of i()) for (let [i, c] of Object.entries(u(s.path).value?.jobs ?? {})) {
		let { labels: l, centers: u, outliers: d } = c.outputs, f = l && a[l];
		if (!f || f.rows !== n.rows) continue;
		let p = Object.values(c.inputs).includes(t);
		if (!p && !/\/(positions|places)$/.test(t)) continue;
		let m = `clusters of ${i}`, h = async (t) => {
			let i = (n, i) => n && a[n]?.rows ? Kn(e, n, () => {}, t, {
				columns: i,
				every: n === l ? r : 1
			}) : null, o = f.columns.map((e) => e.name).filter((e) => /^(cluster|component|probability)$/.test(e)), [s, h, g] = await Promise.all([
				i(l, o),
				i(u),
				r > 1 ? null : i(d)
			]), _ = or(m, s);
			return h && cr(_, h), g && ur(_, g, lr(g, p && !c.options.id && !n.id ? null : await i(l, ["id", "distance"]))), _;
		}, g = f.columns.some((e) => e.name === "probability");
		o.push({
			key: `job:${s.path}|${i}`,
			title: m,
			version: `${l} ${r}`,
			load: h,
			hasProbability: g
		});
	}
	return o.reverse();
}
function co({ path: e, name: t, dataset: n, read: i, choice: o, progress: s }) {
	let { columns: u, every: d, labels: f } = i, m = async (t, n, r) => {
		let i = u.columns.filter((e) => e.kind === "text"), a = u.columns.some((e) => e.kind === "number" && e.values.some((e, t) => r[t] && e !== e)), o = {
			...a ? { gaps: a } : {},
			...i.length === 1 && !a ? { id: i[0].name } : {}
		};
		return (await p(e, t, "csv", o, n, !1, () => {}, new AbortController().signal)).rows;
	}, h = r(() => ({
		name: t,
		columns: u,
		id: n.id,
		weights: n.weights,
		layouts: [],
		find: _("jobs", {
			new: "1",
			data: t
		}),
		isEqual: /\/(positions|places)$/.test(t),
		coast: $a,
		save: m
	}), [u]), g = so(e, t, n, d).map((e) => e.key === f?.source.key && e.version === f.source.version ? {
		...e,
		ready: f.colouring
	} : e), v = {
		...h,
		sources: g,
		sampled: d > 1 ? s : void 0
	};
	return /* @__PURE__ */ a(Ra, {
		source: v,
		settings: c.value.settings,
		settle: l,
		choice: o
	});
}
export { io as default };
