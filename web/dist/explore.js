import { C as e, D as t, E as n, S as r, T as i, _ as a, a as o, b as s, c, d as l, f as u, g as d, h as f, i as p, l as m, m as h, n as g, o as _, p as v, r as y, s as b, t as x, u as S, v as C, w, x as T, y as E } from "./app.js";
import { a as D, i as ee, n as te, o as ne, r as re, s as O } from "./chart.js";
// node_modules/@uwdata/flechette/src/constants.js
var k = Uint8Array.of(65, 82, 82, 79, 87, 49), A = {
	V1: 0,
	V2: 1,
	V3: 2,
	V4: 3,
	V5: 4
}, j = {
	NONE: 0,
	Schema: 1,
	DictionaryBatch: 2,
	RecordBatch: 3,
	Tensor: 4,
	SparseTensor: 5
}, M = {
	Dictionary: -1,
	NONE: 0,
	Null: 1,
	Int: 2,
	Float: 3,
	Binary: 4,
	Utf8: 5,
	Bool: 6,
	Decimal: 7,
	Date: 8,
	Time: 9,
	Timestamp: 10,
	Interval: 11,
	List: 12,
	Struct: 13,
	Union: 14,
	FixedSizeBinary: 15,
	FixedSizeList: 16,
	Map: 17,
	Duration: 18,
	LargeBinary: 19,
	LargeUtf8: 20,
	LargeList: 21,
	RunEndEncoded: 22,
	BinaryView: 23,
	Utf8View: 24,
	ListView: 25,
	LargeListView: 26
}, N = {
	HALF: 0,
	SINGLE: 1,
	DOUBLE: 2
}, P = {
	DAY: 0,
	MILLISECOND: 1
}, F = {
	SECOND: 0,
	MILLISECOND: 1,
	MICROSECOND: 2,
	NANOSECOND: 3
}, I = {
	YEAR_MONTH: 0,
	DAY_TIME: 1,
	MONTH_DAY_NANO: 2
}, ie = {
	Sparse: 0,
	Dense: 1
}, L = {
	LZ4_FRAME: 0,
	ZSTD: 1
}, ae = { BUFFER: 0 }, R = Uint8Array, oe = Uint16Array, se = Uint32Array, z = BigUint64Array, B = Int8Array, ce = Int16Array, V = Int32Array, H = BigInt64Array, U = Float32Array, W = Float64Array;
function G(e) {
	return Object.prototype.toString.call(e);
}
function K(e) {
	return G(e) === "[object ArrayBuffer]" || G(e) === "[object SharedArrayBuffer]";
}
function le(e) {
	return G(e) === "[object Uint8Array]";
}
function ue(e, t) {
	let n = Math.log2(e) - 3;
	return (t ? [
		B,
		ce,
		V,
		H
	] : [
		R,
		oe,
		se,
		z
	])[n];
}
function de(e, t) {
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
function fe(e, t, n) {
	if (t(e)) return e;
	throw Error(n(e));
}
function q(e, t, n) {
	return t = Array.isArray(t) ? t : Object.values(t), fe(e, (e) => t.includes(e), n ?? (() => `${e} must be one of ${t}`));
}
function J(e, t) {
	for (let [n, r] of Object.entries(e)) if (r === t) return n;
	return "<Unknown>";
}
// node_modules/@uwdata/flechette/src/data-types.js
var pe = (e) => `Unsupported data type: "${J(M, e)}" (id ${e})`, me = (e, t, n = !0, r = null) => ({
	name: e,
	type: t,
	nullable: n,
	metadata: r
});
function Y(e) {
	return Object.hasOwn(e, "name") && he(e.type);
}
function he(e) {
	return typeof e?.typeId == "number";
}
function ge(e, t = "", n = !0) {
	return Y(e) ? e : me(t, fe(e, he, () => "Data type expected."), n);
}
var _e = (e, t, n = !1, r = -1) => ({
	typeId: M.Dictionary,
	id: r,
	dictionary: e,
	indices: t || ye(),
	ordered: n
}), ve = (e = 32, t = !0) => ({
	typeId: M.Int,
	bitWidth: q(e, [
		8,
		16,
		32,
		64
	]),
	signed: t,
	values: ue(e, t)
}), ye = () => ve(32), be = (e = 2) => ({
	typeId: M.Float,
	precision: q(e, N),
	values: [
		oe,
		U,
		W
	][e]
}), xe = () => ({
	typeId: M.Binary,
	offsets: V
}), Se = () => ({
	typeId: M.Utf8,
	offsets: V
}), Ce = (e, t, n = 128) => ({
	typeId: M.Decimal,
	precision: e,
	scale: t,
	bitWidth: q(n, [
		32,
		64,
		128,
		256
	]),
	values: n === 32 ? V : z
}), we = (e) => ({
	typeId: M.Date,
	unit: q(e, P),
	values: e === P.DAY ? V : H
}), Te = (e = F.MILLISECOND) => {
	e = q(e, F);
	let t = e === F.SECOND || e === F.MILLISECOND ? 32 : 64;
	return {
		typeId: M.Time,
		unit: e,
		bitWidth: t,
		values: t === 32 ? V : H
	};
}, Ee = (e = F.MILLISECOND, t = null) => ({
	typeId: M.Timestamp,
	unit: q(e, F),
	timezone: t,
	values: H
}), De = (e = I.MONTH_DAY_NANO) => ({
	typeId: M.Interval,
	unit: q(e, I),
	values: e === I.MONTH_DAY_NANO ? void 0 : V
}), Oe = (e) => ({
	typeId: M.List,
	children: [ge(e)],
	offsets: V
}), ke = (e) => ({
	typeId: M.Struct,
	children: Array.isArray(e) && e.length > 0 && Y(e[0]) ? e : Object.entries(e).map(([e, t]) => me(e, t))
}), Ae = (e, t, n, r) => (n ??= t.map((e, t) => t), {
	typeId: M.Union,
	mode: q(e, ie),
	typeIds: n,
	typeMap: n.reduce((e, t, n) => (e[t] = n, e), {}),
	children: t.map((e, t) => ge(e, `_${t}`)),
	typeIdForValue: r,
	offsets: V
}), je = (e) => ({
	typeId: M.FixedSizeBinary,
	stride: e
}), Me = (e, t) => ({
	typeId: M.FixedSizeList,
	stride: t,
	children: [ge(e)]
}), Ne = (e, t) => ({
	typeId: M.Map,
	keysSorted: e,
	children: [t],
	offsets: V
}), Pe = (e = F.MILLISECOND) => ({
	typeId: M.Duration,
	unit: q(e, F),
	values: H
}), Fe = () => ({
	typeId: M.LargeBinary,
	offsets: H
}), Ie = () => ({
	typeId: M.LargeUtf8,
	offsets: H
}), Le = (e) => ({
	typeId: M.LargeList,
	children: [ge(e)],
	offsets: H
}), Re = (e, t) => ({
	typeId: M.RunEndEncoded,
	children: [fe(ge(e, "run_ends"), (e) => e.type.typeId === M.Int, () => "Run-ends must have an integer type."), ge(t, "values")]
}), ze = (e) => ({
	typeId: M.ListView,
	children: [ge(e, "value")],
	offsets: V
}), Be = (e) => ({
	typeId: M.LargeListView,
	children: [ge(e, "value")],
	offsets: H
}), Ve = new W(2).buffer;
new H(Ve), new se(Ve), new V(Ve), new R(Ve);
function He(e) {
	if (e > 2 ** 53 - 1 || e < -(2 ** 53 - 1)) throw Error(`BigInt exceeds integer number representation: ${e}`);
	return Number(e);
}
function Ue(e, t) {
	return Number(e / t) + Number(e % t) / Number(t);
}
var We = (e) => BigInt.asUintN(64, e);
function Ge(e, t) {
	return BigInt.asIntN(64, e[t]);
}
function Ke(e, t) {
	let n = t << 1, r;
	return BigInt.asIntN(64, e[n + 1]) < 0 ? (r = We(~e[n]) | We(~e[n + 1]) << 64n, r = -(r + 1n)) : r = e[n] | e[n + 1] << 64n, r;
}
function qe(e, t) {
	let n = t << 2, r;
	return BigInt.asIntN(64, e[n + 3]) < 0 ? (r = We(~e[n]) | We(~e[n + 1]) << 64n | We(~e[n + 2]) << 128n | We(~e[n + 3]) << 192n, r = -(r + 1n)) : r = e[n] | e[n + 1] << 64n | e[n + 2] << 128n | e[n + 3] << 192n, r;
}
// node_modules/@uwdata/flechette/src/util/strings.js
var Je = new TextDecoder("utf-8");
new TextEncoder();
function Ye(e) {
	return Je.decode(e);
}
function Xe(e, t) {
	return !!(e[t >> 3] & 1 << t % 8);
}
function Ze(e, t) {
	let n = t + Z(e, t), r = n - Z(e, n), i = X(e, r);
	return (t, a, o = null) => {
		if (t < i) {
			let i = X(e, r + t);
			if (i) return a(e, n + i);
		}
		return o;
	};
}
function Qe(e, t) {
	return t;
}
function $e(e, t) {
	return !!et(e, t);
}
function et(e, t) {
	return tt(e, t) << 24 >> 24;
}
function tt(e, t) {
	return e[t];
}
function X(e, t) {
	return nt(e, t) << 16 >> 16;
}
function nt(e, t) {
	return e[t] | e[t + 1] << 8;
}
function Z(e, t) {
	return e[t] | e[t + 1] << 8 | e[t + 2] << 16 | e[t + 3] << 24;
}
function rt(e, t) {
	return Z(e, t) >>> 0;
}
function Q(e, t) {
	return He(BigInt.asIntN(64, BigInt(rt(e, t)) + (BigInt(rt(e, t + 4)) << 32n)));
}
function it(e, t) {
	let n = t + Z(e, t), r = Z(e, n);
	return n += 4, Ye(e.subarray(n, n + r));
}
function at(e, t, n, r) {
	if (!t) return [];
	let i = t + Z(e, t);
	return Array.from({ length: Z(e, i) }, (t, a) => r(e, i + 4 + a * n));
}
// node_modules/@uwdata/flechette/src/util/struct.js
var ot = Symbol("rowIndex");
function st(e, t) {
	class n {
		constructor(e) {
			this[ot] = e;
		}
		toJSON() {
			return lt(e, t, this[ot]);
		}
	}
	let r = n.prototype;
	for (let n = 0; n < e.length; ++n) {
		if (Object.hasOwn(r, e[n])) continue;
		let i = t[n];
		Object.defineProperty(r, e[n], {
			get() {
				return i.at(this[ot]);
			},
			enumerable: !0
		});
	}
	return (e) => new n(e);
}
function ct(e, t) {
	return (n) => lt(e, t, n);
}
function lt(e, t, n) {
	let r = {};
	for (let i = 0; i < e.length; ++i) r[e[i]] = t[i].at(n);
	return r;
}
// node_modules/@uwdata/flechette/src/batch.js
function ut(e) {
	return e instanceof ft;
}
var dt = class {
	static ArrayType = null;
	constructor({ length: e, nullCount: t, type: n, validity: r, values: i, offsets: a, sizes: o, children: s }) {
		this.length = e, this.nullCount = t, this.type = n, this.validity = r, this.values = i, this.offsets = a, this.sizes = o, this.children = s, t && this.validity || (this.at = (e) => this.value(e));
	}
	get [Symbol.toStringTag]() {
		return "Batch";
	}
	at(e) {
		return this.isValid(e) ? this.value(e) : null;
	}
	isValid(e) {
		return Xe(this.validity, e);
	}
	value(e) {
		return this.values[e];
	}
	slice(e, t) {
		let n = t - e, r = Array(n);
		for (let t = 0; t < n; ++t) r[t] = this.at(e + t);
		return r;
	}
	*[Symbol.iterator]() {
		for (let e = 0; e < this.length; ++e) yield this.at(e);
	}
}, ft = class extends dt {
	constructor(e) {
		super(e);
		let { length: t, values: n } = this;
		this.values = n.subarray(0, t);
	}
	slice(e, t) {
		return this.nullCount ? super.slice(e, t) : this.values.subarray(e, t);
	}
	[Symbol.iterator]() {
		return this.nullCount ? super[Symbol.iterator]() : this.values[Symbol.iterator]();
	}
}, pt = class extends dt {
	static ArrayType = W;
}, $ = class extends dt {
	static ArrayType = Array;
}, mt = class extends $ {
	value(e) {
		return null;
	}
}, ht = class extends pt {
	value(e) {
		return He(this.values[e]);
	}
}, gt = class extends pt {
	value(e) {
		let t = this.values[e], n = (t & 31744) >> 10, r = (t & 1023) / 1024, i = (-1) ** ((t & 32768) >> 15);
		switch (n) {
			case 31: return i * (r ? NaN : 1 / 0);
			case 0: return i * (r ? 6103515625e-14 * r : 0);
		}
		return i * 2 ** (n - 15) * (1 + r);
	}
}, _t = class extends $ {
	value(e) {
		return Xe(this.values, e);
	}
}, vt = class extends pt {
	constructor(e) {
		super(e);
		let { scale: t } = this.type;
		this.scale = 10 ** t;
	}
	value(e) {
		return this.values[e] / this.scale;
	}
}, yt = class extends dt {
	constructor(e) {
		super(e);
		let { bitWidth: t, scale: n } = this.type;
		this.decimal = t === 64 ? Ge : t === 128 ? Ke : qe, this.scale = 10n ** BigInt(n);
	}
}, bt = class extends yt {
	static ArrayType = W;
	value(e) {
		return Ue(this.decimal(this.values, e), this.scale);
	}
}, xt = class extends yt {
	static ArrayType = Array;
	value(e) {
		return this.decimal(this.values, e);
	}
}, St = class extends $ {
	constructor(e) {
		super(e), this.source = e;
	}
	value(e) {
		return new Date(this.source.value(e));
	}
}, Ct = class extends pt {
	value(e) {
		return 864e5 * this.values[e];
	}
}, wt = ht, Tt = class extends ht {
	value(e) {
		return super.value(e) * 1e3;
	}
}, Et = ht, Dt = class extends ht {
	value(e) {
		return Ue(this.values[e], 1000n);
	}
}, Ot = class extends ht {
	value(e) {
		return Ue(this.values[e], 1000000n);
	}
}, kt = class extends $ {
	value(e) {
		return this.values.subarray(e << 1, e + 1 << 1);
	}
}, At = class extends $ {
	value(e) {
		let t = this.values, n = e << 4;
		return Float64Array.of(Z(t, n), Z(t, n + 4), Q(t, n + 8));
	}
}, jt = ({ values: e, offsets: t }, n) => e.subarray(t[n], t[n + 1]), Mt = ({ values: e, offsets: t }, n) => e.subarray(He(t[n]), He(t[n + 1])), Nt = class extends $ {
	value(e) {
		return jt(this, e);
	}
}, Pt = class extends $ {
	value(e) {
		return Mt(this, e);
	}
}, Ft = class extends $ {
	value(e) {
		return Ye(jt(this, e));
	}
}, It = class extends $ {
	value(e) {
		return Ye(Mt(this, e));
	}
}, Lt = class extends $ {
	value(e) {
		let t = this.offsets;
		return this.children[0].slice(t[e], t[e + 1]);
	}
}, Rt = class extends $ {
	value(e) {
		let t = this.offsets;
		return this.children[0].slice(He(t[e]), He(t[e + 1]));
	}
}, zt = class extends $ {
	value(e) {
		let t = this.offsets[e], n = t + this.sizes[e];
		return this.children[0].slice(t, n);
	}
}, Bt = class extends $ {
	value(e) {
		let t = this.offsets[e], n = t + this.sizes[e];
		return this.children[0].slice(He(t), He(n));
	}
}, Vt = class extends $ {
	constructor(e) {
		super(e), this.stride = this.type.stride;
	}
}, Ht = class extends Vt {
	value(e) {
		let { stride: t, values: n } = this;
		return n.subarray(e * t, (e + 1) * t);
	}
}, Ut = class extends Vt {
	value(e) {
		let { children: t, stride: n } = this;
		return t[0].slice(e * n, (e + 1) * n);
	}
};
function Wt({ children: e, offsets: t }, n) {
	let [r, i] = e[0].children, a = t[n], o = t[n + 1], s = [];
	for (let e = a; e < o; ++e) s.push([r.at(e), i.at(e)]);
	return s;
}
var Gt = class extends $ {
	value(e) {
		return Wt(this, e);
	}
}, Kt = class extends $ {
	value(e) {
		return new Map(Wt(this, e));
	}
}, qt = class extends $ {
	constructor({ typeIds: e, ...t }) {
		super(t), this.typeIds = e, this.typeMap = this.type.typeMap;
	}
	value(e, t = e) {
		let { typeIds: n, children: r, typeMap: i } = this;
		return r[i[n[e]]].at(t);
	}
}, Jt = class extends qt {
	value(e) {
		return super.value(e, this.offsets[e]);
	}
}, Yt = class extends $ {
	constructor(e, t = ct) {
		super(e), this.names = this.type.children.map((e) => e.name), this.factory = t(this.names, this.children);
	}
	value(e) {
		return this.factory(e);
	}
}, Xt = class extends Yt {
	constructor(e) {
		super(e, st);
	}
}, Zt = class extends $ {
	value(e) {
		let [{ values: t }, n] = this.children;
		return n.at(de(t, e));
	}
}, Qt = class extends $ {
	setDictionary(e) {
		return this.dictionary = e, this.cache = e.cache(), this;
	}
	value(e) {
		return this.cache[this.key(e)];
	}
	key(e) {
		return this.values[e];
	}
}, $t = class extends $ {
	constructor({ data: e, ...t }) {
		super(t), this.data = e;
	}
	view(e) {
		let { values: t, data: n } = this, r = e << 4, i = r + 4, a = t, o = Z(a, r);
		return o > 12 && (i = Z(a, r + 12), a = n[Z(a, r + 8)]), a.subarray(i, i + o);
	}
}, en = class extends $t {
	value(e) {
		return this.view(e);
	}
}, tn = class extends $t {
	value(e) {
		return Ye(this.view(e));
	}
};
// node_modules/@uwdata/flechette/src/column.js
function nn(e) {
	let t = [];
	return {
		add(e) {
			return t.push(e), this;
		},
		clear: () => t = [],
		done: () => new rn(t, e)
	};
}
var rn = class {
	constructor(e, t = e[0]?.type) {
		this.type = t, this.length = e.reduce((e, t) => e + t.length, 0), this.nullCount = e.reduce((e, t) => e + t.nullCount, 0), this.data = e;
		let n = e.length, r = new Int32Array(n + 1);
		if (n === 1) {
			let [t] = e;
			r[1] = t.length, this.at = (e) => t.at(e);
		} else for (let t = 0, i = 0; t < n; ++t) r[t + 1] = i += e[t].length;
		this.offsets = r;
	}
	get [Symbol.toStringTag]() {
		return "Column";
	}
	[Symbol.iterator]() {
		let e = this.data;
		return e.length === 1 ? e[0][Symbol.iterator]() : an(e);
	}
	at(e) {
		let { data: t, offsets: n } = this, r = de(n, e) - 1;
		return t[r]?.at(e - n[r]);
	}
	get(e) {
		return this.at(e);
	}
	toArray() {
		let { length: e, nullCount: t, data: n } = this, r = !t && ut(n[0]), i = n.length;
		if (r && i === 1) return n[0].values;
		let a = new (!i || t > 0 ? Array : n[0].constructor.ArrayType ?? n[0].values.constructor)(e);
		return r ? on(a, n) : sn(a, n);
	}
	cache() {
		return this._cache ??= this.toArray();
	}
};
function* an(e) {
	for (let t = 0; t < e.length; ++t) {
		let n = e[t][Symbol.iterator]();
		for (let e = n.next(); !e.done; e = n.next()) yield e.value;
	}
}
function on(e, t) {
	for (let n = 0, r = 0; n < t.length; ++n) {
		let { values: i } = t[n];
		e.set(i, r), r += i.length;
	}
	return e;
}
function sn(e, t) {
	let n = -1;
	for (let r = 0; r < t.length; ++r) {
		let i = t[r];
		for (let t = 0; t < i.length; ++t) e[++n] = i.at(t);
	}
	return e;
}
// node_modules/@uwdata/flechette/src/table.js
var cn = class e {
	constructor(e, t, n = !1) {
		let r = e.fields.map((e) => e.name);
		this.schema = e, this.names = r, this.children = t, this.factory = n ? st : ct;
		let i = [];
		this.getFactory = (e) => i[e] ?? (i[e] = this.factory(r, t.map((t) => t.data[e])));
	}
	get [Symbol.toStringTag]() {
		return "Table";
	}
	get numCols() {
		return this.names.length;
	}
	get numRows() {
		return this.children[0]?.length ?? 0;
	}
	getChildAt(e) {
		return this.children[e];
	}
	getChild(e) {
		let t = this.names.findIndex((t) => t === e);
		return t > -1 ? this.children[t] : void 0;
	}
	selectAt(t, n = []) {
		let { children: r, factory: i, schema: a } = this, { fields: o } = a;
		return new e({
			...a,
			fields: t.map((e, t) => ln(o[e], n[t]))
		}, t.map((e) => r[e]), i === st);
	}
	select(e, t) {
		let n = this.names, r = e.map((e) => n.indexOf(e));
		return this.selectAt(r, t);
	}
	toColumns() {
		let { children: e, names: t } = this, n = {};
		return t.forEach((t, r) => n[t] = e[r]?.toArray() ?? []), n;
	}
	toArray() {
		let { children: e, getFactory: t, numRows: n } = this, r = e[0]?.data ?? [], i = Array(n);
		for (let e = 0, n = -1; e < r.length; ++e) {
			let a = t(e);
			for (let t = 0; t < r[e].length; ++t) i[++n] = a(t);
		}
		return i;
	}
	*[Symbol.iterator]() {
		let { children: e, getFactory: t } = this, n = e[0]?.data ?? [];
		for (let e = 0; e < n.length; ++e) {
			let r = t(e);
			for (let t = 0; t < n[e].length; ++t) yield r(t);
		}
	}
	at(e) {
		let { children: t, getFactory: n, numRows: r } = this;
		if (e < 0 || e >= r) return null;
		let [{ offsets: i }] = t, a = de(i, e) - 1;
		return n(a)(e - i[a]);
	}
	get(e) {
		return this.at(e);
	}
};
function ln(e, t) {
	return t != null && t !== e.name ? {
		...e,
		name: t
	} : e;
}
// node_modules/@uwdata/flechette/src/batch-type.js
function un(e, t = {}) {
	let { typeId: n, bitWidth: r, mode: i, precision: a, unit: o } = e, { useBigInt: s, useBigIntTimestamp: c, useDate: l, useDecimalInt: u, useMap: d, useProxy: f } = t;
	switch (n) {
		case M.Null: return mt;
		case M.Bool: return _t;
		case M.Int:
		case M.Time:
		case M.Duration: return s || r < 64 ? ft : ht;
		case M.Float: return a ? ft : gt;
		case M.Date: return dn(o === P.DAY ? Ct : wt, l && St);
		case M.Timestamp: return c ? ft : dn(o === F.SECOND ? Tt : o === F.MILLISECOND ? Et : o === F.MICROSECOND ? Dt : Ot, l && St);
		case M.Decimal: return r === 32 ? u ? ft : vt : u ? xt : bt;
		case M.Interval: return o === I.DAY_TIME ? kt : o === I.YEAR_MONTH ? ft : At;
		case M.FixedSizeBinary: return Ht;
		case M.Utf8: return Ft;
		case M.LargeUtf8: return It;
		case M.Binary: return Nt;
		case M.LargeBinary: return Pt;
		case M.BinaryView: return en;
		case M.Utf8View: return tn;
		case M.List: return Lt;
		case M.LargeList: return Rt;
		case M.Map: return d ? Kt : Gt;
		case M.ListView: return zt;
		case M.LargeListView: return Bt;
		case M.FixedSizeList: return Ut;
		case M.Struct: return f ? Xt : Yt;
		case M.RunEndEncoded: return Zt;
		case M.Dictionary: return Qt;
		case M.Union: return i ? Jt : qt;
	}
	throw Error(pe(n));
}
function dn(e, t) {
	return t ? class extends t {
		constructor(t) {
			super(new e(t));
		}
	} : e;
}
// node_modules/@uwdata/flechette/src/compression.js
var fn = -1, pn = 8;
function mn(e) {
	return `Missing compression codec "${J(L, e)}" (id ${e})`;
}
var hn = new Map();
function gn(e) {
	return e != null && hn.get(e) || null;
}
function _n(e, { offset: t, length: n }, r) {
	if (n === 0) return {
		bytes: new Uint8Array(),
		offset: 0,
		length: 0
	};
	let i = Q(e, t), a = e.subarray(t + pn, t + n), o = i === fn ? a : r.decode(a, i);
	return {
		bytes: o,
		offset: 0,
		length: o.length
	};
}
// node_modules/@uwdata/flechette/src/decode/block.js
function vn(e, t) {
	return {
		offset: Q(e, t),
		metadataLength: Z(e, t + 8),
		bodyLength: Q(e, t + 16)
	};
}
function yn(e, t) {
	return at(e, t, 24, vn);
}
// node_modules/@uwdata/flechette/src/decode/body-compression.js
function bn(e, t) {
	let n = Ze(e, t);
	return {
		codec: n(4, et, L.LZ4_FRAME),
		method: n(6, et, ae.BUFFER)
	};
}
// node_modules/@uwdata/flechette/src/decode/record-batch.js
function xn(e, t, n) {
	let r = Ze(e, t), i = n < A.V4 ? 8 : 0;
	return {
		length: r(4, Q, 0),
		nodes: at(e, r(6, Qe), 16, (e, t) => ({
			length: Q(e, t),
			nullCount: Q(e, t + 8)
		})),
		regions: at(e, r(8, Qe), 16 + i, (e, t) => ({
			offset: Q(e, t + i),
			length: Q(e, t + i + 8)
		})),
		compression: r(10, bn),
		variadic: at(e, r(12, Qe), 8, Q)
	};
}
// node_modules/@uwdata/flechette/src/decode/dictionary-batch.js
function Sn(e, t, n) {
	let r = Ze(e, t);
	return {
		id: r(4, Q, 0),
		data: r(6, (e, t) => xn(e, t, n)),
		isDelta: r(8, $e, !1)
	};
}
// node_modules/@uwdata/flechette/src/decode/data-type.js
function Cn(e, t, n, r) {
	q(n, M, pe);
	let i = Ze(e, t);
	switch (n) {
		case M.Binary: return xe();
		case M.Utf8: return Se();
		case M.LargeBinary: return Fe();
		case M.LargeUtf8: return Ie();
		case M.List: return Oe(r[0]);
		case M.ListView: return ze(r[0]);
		case M.LargeList: return Le(r[0]);
		case M.LargeListView: return Be(r[0]);
		case M.Struct: return ke(r);
		case M.RunEndEncoded: return Re(r[0], r[1]);
		case M.Int: return ve(i(4, Z, 0), i(6, $e, !1));
		case M.Float: return be(i(4, X, N.HALF));
		case M.Decimal: return Ce(i(4, Z, 0), i(6, Z, 0), i(8, Z, 128));
		case M.Date: return we(i(4, X, P.MILLISECOND));
		case M.Time: return Te(i(4, X, F.MILLISECOND));
		case M.Timestamp: return Ee(i(4, X, F.SECOND), i(6, it));
		case M.Interval: return De(i(4, X, I.YEAR_MONTH));
		case M.Duration: return Pe(i(4, X, F.MILLISECOND));
		case M.FixedSizeBinary: return je(i(4, Z, 0));
		case M.FixedSizeList: return Me(r[0], i(4, Z, 0));
		case M.Map: return Ne(i(4, $e, !1), r[0]);
		case M.Union: return Ae(i(4, X, ie.Sparse), r, at(e, i(6, Qe), 4, Z));
	}
	return { typeId: n };
}
// node_modules/@uwdata/flechette/src/decode/metadata.js
function wn(e, t) {
	let n = at(e, t, 4, (e, t) => {
		let n = Ze(e, t);
		return [n(4, it), n(6, it)];
	});
	return n.length ? new Map(n) : null;
}
// node_modules/@uwdata/flechette/src/decode/schema.js
function Tn(e, t, n) {
	let r = Ze(e, t);
	return {
		version: n,
		endianness: r(4, X, 0),
		fields: r(6, En, []),
		metadata: r(8, wn)
	};
}
function En(e, t) {
	return at(e, t, 4, Dn);
}
function Dn(e, t) {
	let n = Ze(e, t), r = n(8, tt, M.NONE), i = n(10, Qe, 0), a = n(12, kn), o = Cn(e, i, r, n(14, On, []));
	return a && (a.dictionary = o, o = a), {
		name: n(4, it),
		type: o,
		nullable: n(6, $e, !1),
		metadata: n(16, wn)
	};
}
function On(e, t) {
	return at(e, t, 4, Dn);
}
function kn(e, t) {
	if (!t) return null;
	let n = Ze(e, t);
	return _e(null, n(6, An, ye()), n(8, $e, !1), n(4, Q, 0));
}
function An(e, t) {
	return Cn(e, t, M.Int);
}
// node_modules/@uwdata/flechette/src/decode/message.js
var jn = (e, t) => `Expected to read ${e} metadata bytes, but only read ${t}.`, Mn = (e, t) => `Expected to read ${e} bytes for message body, but only read ${t}.`, Nn = (e) => `Unsupported message type: ${e} (${J(j, e)})`;
function Pn(e, t) {
	let n = Z(e, t) || 0;
	if (t += 4, n === -1 && (n = Z(e, t) || 0, t += 4), n === 0) return null;
	let r = e.subarray(t, t += n);
	if (r.byteLength < n) throw Error(jn(n, r.byteLength));
	let i = Ze(r, 0), a = i(4, X, A.V1), o = i(6, tt, j.NONE), s = i(8, Qe, 0), c = i(10, Q, 0), l;
	if (s) {
		let n = o === j.Schema ? Tn : o === j.DictionaryBatch ? Sn : o === j.RecordBatch ? xn : null;
		if (!n) throw Error(Nn(o));
		if (l = n(r, s, a), c > 0) {
			let n = e.subarray(t, t += c);
			if (n.byteLength < c) throw Error(Mn(c, n.byteLength));
			l.body = n;
		} else o !== j.Schema && (l.body = new Uint8Array());
	}
	return {
		version: a,
		type: o,
		index: t,
		content: l
	};
}
// node_modules/@uwdata/flechette/src/decode/decode-ipc.js
function Fn(e) {
	let t = K(e) ? new Uint8Array(e) : e;
	return le(t) && In(t) ? Rn(t) : Ln(t);
}
function In(e) {
	if (!e || e.length < 4) return !1;
	for (let t = 0; t < 6; ++t) if (k[t] !== e[t]) return !1;
	return !0;
}
function Ln(e) {
	let t = [e].flat(), n, r = [], i = [], a = [];
	for (let e of t) {
		if (!le(e)) throw Error("IPC data batch was not a Uint8Array.");
		let t = 0;
		for (;;) {
			let o = Pn(e, t);
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
function Rn(e) {
	let t = e.byteLength - (k.length + 4), n = Ze(e, t - Z(e, t)), r = n(4, X, A.V1), i = n(8, yn, []), a = n(10, yn, []), o = a.map((e) => i.filter((t) => t.offset < e.offset).length);
	return {
		schema: n(6, (e, t) => Tn(e, t, r)),
		dictionaries: i.map(({ offset: t }) => Pn(e, t).content),
		records: a.map(({ offset: t }) => Pn(e, t).content),
		dictsBeforeRecord: o,
		metadata: n(12, wn)
	};
}
// node_modules/@uwdata/flechette/src/decode/table-from-ipc.js
function zn(e, t) {
	return Bn(Fn(e), t);
}
function Bn(e, t = {}) {
	let { schema: n = { fields: [] }, dictionaries: r, records: i, dictsBeforeRecord: a } = e, { version: o, fields: s } = n, c = new Map(), l = Hn(t, o, c), u = new Map();
	Vn(n, (e) => {
		let t = e.type;
		t.typeId === M.Dictionary && u.set(t.id, t.dictionary);
	});
	let d = (e) => {
		let { id: t, data: n, isDelta: r, body: i } = e, a = u.get(t), o = Wn(a, l({
			...n,
			body: i
		})), s = c.get(t);
		if (s) r ? c.set(t, new rn([...s.data, o], a)) : c.set(t, new rn([o], a));
		else {
			if (r) throw Error("Delta update can not be first dictionary batch.");
			c.set(t, new rn([o], a));
		}
	}, f = s.map((e) => nn(e.type)), p = 0;
	for (let e = 0; e < i.length; e++) {
		let t = a ? a[e] : r.length;
		for (; p < t;) d(r[p++]);
		let n = l(i[e]);
		s.forEach((e, t) => f[t].add(Wn(e.type, n)));
	}
	for (; p < r.length;) d(r[p++]);
	return new cn(n, f.map((e) => e.done()), t.useProxy);
}
function Vn(e, t) {
	e.fields.forEach(function e(n) {
		t(n), n.type.dictionary?.children?.forEach(e), n.type.children?.forEach(e);
	});
}
function Hn(e, t, n) {
	let r = {
		version: t,
		options: e,
		dictionary: (e) => n.get(e)
	};
	return (e) => {
		let { length: t, nodes: n, regions: i, compression: a, variadic: o, body: s } = e, c = -1, l = -1, u = -1;
		return {
			...r,
			length: t,
			node: () => n[++c],
			buffer: (e) => {
				let { bytes: t, length: n, offset: r } = Un(s, i[++l], a);
				return e ? new e(t.buffer, t.byteOffset + r, n / e.BYTES_PER_ELEMENT) : t.subarray(r, r + n);
			},
			variadic: () => o[++u],
			visit(e) {
				return e.map((e) => Wn(e.type, this));
			}
		};
	};
}
function Un(e, t, n) {
	if (!n) return {
		bytes: e,
		...t
	};
	if (n.method !== ae.BUFFER) throw Error(`Unknown compression method (${n.method})`);
	{
		let r = n.codec, i = gn(r);
		if (!i) throw Error(mn(r));
		return _n(e, t, i);
	}
}
function Wn(e, t) {
	let { typeId: n } = e, { options: r, node: i, buffer: a, variadic: o, version: s } = t, c = un(e, r), l = {
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
			typeIds: a(B),
			offsets: e.mode === ie.Sparse ? null : a(e.offsets),
			children: t.visit(e.children)
		});
		default: throw Error(pe(n));
	}
}
new Uint16Array(new Uint8Array([1, 0]).buffer)[0];
// src/api/columns.ts
var Gn = "application/vnd.apache.arrow.stream", Kn = 2;
async function qn(e, t, n, r, { columns: i, every: a = 1 } = {}) {
	let o = new Map(), [c, l, u, d] = [
		-1,
		0,
		0,
		0
	], f = async (l, u) => {
		let f = await E(s(`${e}:read`, {
			name: t,
			columns: i && JSON.stringify(i),
			from: l,
			to: u,
			every: a > 1 ? a : null
		}), {
			accept: Gn,
			signal: r
		}), [, p, m] = (f.headers.get("lehr-rows") ?? "").split(/[-/]/).map(Number);
		if (!(p > l) && m !== 0) throw Error(`${t}: the node sent no rows after row ${l}`);
		if (c >= 0 && m !== c) throw Error(`${t} has changed while it was read: load it again.`);
		return c = m, Jn(o, new Uint8Array(await f.arrayBuffer()), l / a, Math.ceil(c / a)), n(d += p - l), p;
	};
	return u = l = await f(0), await Promise.all(Array.from({ length: Kn }, async () => {
		for (; l < c;) {
			let e = l, t = Math.min(c, l += u);
			for (; e < t;) e = await f(e, t);
		}
	})), {
		rows: Math.ceil(c / a),
		columns: [...o.values()]
	};
}
function Jn(e, t, n, r) {
	let i = zn(t, { useBigInt: !1 });
	i.schema.fields.forEach((t, a) => {
		let o = i.getChildAt(a), s = Yn(o), c = s ?? o.toArray(), l = e.get(t.name);
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
function Yn({ data: e, length: t }) {
	let [{ values: n, nullCount: r }] = e.length === 1 ? e : [{ values: null }];
	if (!(n instanceof BigUint64Array) || r) return null;
	let i = new Uint32Array(n.buffer, n.byteOffset, 2 * t), a = new Float64Array(t);
	for (let e = 0; e < t; e++) a[e] = i[2 * e] + i[2 * e + 1] * 2 ** 32;
	return a;
}
// src/colour/palette.ts
var Xn = [
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
], Zn = [
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
], Qn = {
	light: "#9aa1a9",
	dark: "#5c646d"
}, $n = {
	light: "#d5d9de",
	dark: "#333a42"
}, er = {
	light: "#ffffff",
	dark: "#14181d"
};
function tr(e, t) {
	let n = t === "light" ? Xn : Zn;
	return e < 0 ? Qn[t] : n[e % n.length];
}
var nr = [
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
function rr(e, t) {
	if (!(e >= 0)) return Qn[t];
	let [n, r] = t === "light" ? [0, .86] : [.3, 1], i = (n + (r - n) * Math.min(1, e)) * (nr.length - 1), a = Math.min(nr.length - 2, Math.floor(i)), o = i - a, s = "#";
	for (let e of [
		1,
		3,
		5
	]) {
		let t = parseInt(nr[a].slice(e, e + 2), 16), n = parseInt(nr[a + 1].slice(e, e + 2), 16);
		s += Math.round(t + (n - t) * o).toString(16).padStart(2, "0");
	}
	return s;
}
// src/state/clusters.ts
var ir = 2e3, ar = "no cluster", or = "no value";
function sr(e, t) {
	let n = t.columns.find((e) => e.name === "cluster" || e.name === "component"), r = t.columns.find((e) => e.name === "probability");
	if (!n || n.kind === "text") throw Error(`${e}: its labels have no column of clusters`);
	return fr(e, n.values, r?.kind === "number" ? r.values : null);
}
function cr(e, t) {
	return e.columns.find((e) => e.name === t)?.values;
}
function lr(e, t) {
	let [n, r, i, a, o, s] = [
		"cluster",
		"name",
		"probability",
		"merges_with",
		"joins",
		"joins_at"
	].map((e) => cr(t, e)), c = new Map(Array.from({ length: t.rows }, (e, t) => [Number(n?.[t]), t]));
	for (let t of e.groups) {
		let e = c.get(t.number);
		e !== void 0 && (t.about ??= String(r?.[e] ?? "") || void 0, i && (t.probability = Number(i[e])), t.partners = String(a?.[e] ?? "") || void 0, t.joins = o?.[e] && s?.[e] ? [Number(o[e]), Number(s[e])] : void 0);
	}
}
function ur(e, t) {
	let [n, r] = ["id", "distance"].map((t) => cr(e, t));
	if (!t) return Array.from(n, Number);
	let [i, a] = ["id", "distance"].map((e) => cr(t, e)), o = new Map();
	for (let t = 0; t < e.rows; t++) o.set(r[t], [...o.get(r[t]) ?? [], t]);
	let s = Array(e.rows).fill(-1);
	for (let e = 0; e < t.rows; e++) for (let t of o.get(a[e]) ?? []) String(i[e]) === String(n[t]) && (s[t] = e);
	return s;
}
function dr(e, t, n) {
	let [r, i] = ["cluster", "columns"].map((e) => cr(t, e));
	e.outliers = n.map((e, t) => ({
		row: e,
		cluster: Number(r?.[t]),
		about: String(i?.[t] ?? "")
	})).filter(({ row: t }) => t >= 0 && t < e.groupOf.length);
}
function fr(e, t, n, { names: r, about: i, means: a, partners: o, joins: s } = {}) {
	let c = t.length, l = new Int32Array(c), u = -1;
	for (let e = 0; e < c; e++) t[e] > u && (u = t[e]);
	let d = new Int32Array(u + 2);
	for (let e = 0; e < c; e++) d[t[e] >= 0 ? t[e] : u + 1]++;
	let f = [];
	d.forEach((e, t) => {
		if (e === 0) return;
		d[t] = f.length;
		let n = t <= u ? t : -1;
		f.push({
			name: n < 0 ? r ? or : ar : r?.[n] ?? String(n),
			number: n,
			rows: e,
			about: i?.[n],
			probability: a?.[n],
			partners: o?.[n],
			joins: s?.[n] ?? void 0
		});
	});
	for (let e = 0; e < c; e++) l[e] = d[t[e] >= 0 ? t[e] : u + 1];
	return {
		title: e,
		groupOf: l,
		groups: f,
		scale: null,
		probability: n
	};
}
var pr = 4;
function mr(e, t) {
	let { groups: n, groupOf: r } = e, i = new Map(n.map(({ number: e }, t) => [e, t])), a = n.map(() => []), o = n.map((e, r) => {
		let o = r;
		for (let { joins: r } = e; r && r[1] >= t; r = n[o].joins) {
			let e = i.get(r[0]);
			if (e === void 0) break;
			o = e;
		}
		return a[o].push(e), o;
	}), s = n.map((e, t) => t).filter((e) => a[e].length > 0), c = new Map(s.map((e, t) => [e, t])), l = (e) => e.slice(0, pr).map(({ name: e }) => e).join(" + ") + (e.length > pr ? ` and ${e.length - pr} more` : "");
	return {
		...e,
		groups: s.map((e) => a[e].length === 1 ? n[e] : {
			name: l(a[e]),
			number: n[e].number,
			isMerged: !0,
			rows: a[e].reduce((e, { rows: t }) => e + t, 0)
		}),
		groupOf: r.map((e) => c.get(o[e]) ?? -1),
		probability: null
	};
}
var hr = .5;
function gr(e) {
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
			low: hr,
			high: 1,
			isLog: !1,
			gaps: s
		},
		isSure: !0
	};
}
function* _r({ groups: e, groupOf: t, probability: n }, r) {
	for (let i = 0; i < t.length; i++) n[i] < r && e[t[i]]?.number >= 0 && (yield i);
}
function vr(e) {
	let t = e.values.length, n = new Int32Array(t).fill(-1), r = new Map(), i = (e) => e === "" || e !== e, a = e.kind === "text" ? ir : 12;
	for (let n = 0; n < t && r.size <= a; n++) {
		let t = e.values[n];
		i(t) || r.set(t, (r.get(t) ?? 0) + 1);
	}
	if (r.size <= a) {
		let i = [...r.entries()].sort(([e, t], [n, r]) => typeof e == "number" ? e - n : r - t), a = new Map(i.map(([e], t) => [e, t])), o = i.map(([e, t], n) => ({
			name: typeof e == "number" ? c(e) : e,
			number: n,
			rows: t
		}));
		for (let r = 0; r < t; r++) n[r] = a.get(e.values[r]) ?? o.length;
		let s = t - i.reduce((e, [, t]) => e + t, 0);
		return s > 0 && o.length > 0 && o.push({
			name: or,
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
	if (e.kind === "text") throw Error(`${e.name} has more than ${ir} different values. Choose another column.`);
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
			isLog: d,
			gaps: t - u
		},
		probability: null
	};
}
function yr(e, t) {
	return e ? e.place === void 0 ? tr(e.number, t) : rr(e.place, t) : Qn[t];
}
function br(e, t, n) {
	return e ? e.scale ? rr(e.scale.place[t], n) : yr(e.groups[e.groupOf[t]], n) : tr(0, n);
}
// src/points/cloud.ts
function xr(e, t) {
	for (; t;) [e, t] = [t, e % t];
	return e;
}
function Sr(e) {
	let t = new Uint32Array(e);
	if (e < 3) return t.map((e, t) => t);
	let n = Math.floor(e * .6180339887);
	for (; xr(n, e) !== 1;) n++;
	let r = Math.floor(e / 3);
	for (let i = 0; i < e; i++) t[i] = r, r += n, r >= e && (r -= e);
	return t;
}
function Cr(e) {
	let t = new WeakMap();
	return (n) => (t.has(n) || t.set(n, e(n)), t.get(n));
}
var wr = Cr((e) => {
	let [t, n] = [Infinity, -Infinity];
	for (let r = 0; r < e.length; r++) {
		let i = e[r];
		i < t && (t = i), i > n && (n = i);
	}
	return t <= n && Number.isFinite(t) && Number.isFinite(n) ? [t, n] : null;
}), Tr = .02, Er = 2e4, Dr = Cr((e) => {
	let [t, n] = wr(e) ?? [0, 1], r = Math.max(1, Math.floor(e.length / Er)), i = new Float64Array(Math.ceil(e.length / r)).map((t, n) => e[n * r]).filter(Number.isFinite).sort(), a = (e) => i[Math.min(i.length - 1, Math.floor(e * i.length))], [o, s] = [a(.25), a(.75)], c = 3 * (s - o);
	if (!(c > 0)) return [t, n];
	let [l, u] = [Infinity, -Infinity], d = 0;
	for (let t = 0; t < e.length; t++) {
		let n = e[t];
		n < o - c || n > s + c ? d++ : (n < l && (l = n), n > u && (u = n));
	}
	let f = .04 * (u - l), p = [Math.max(t, l - f), Math.min(n, u + f)];
	return n - t > 1.5 * (p[1] - p[0]) && d > 0 && d <= Math.max(5, Tr * e.length) ? p : [t, n];
}), [Or, kr] = [.12, 100];
function Ar(e) {
	let t = wr(e);
	if (!t || !(t[0] > 0) || !(t[1] / t[0] > kr)) return !1;
	let n = 0, r = 0;
	for (let i = 0; i < e.length; i++) Number.isFinite(e[i]) && (n += e[i] / t[1], r++);
	let [i, a] = Dr(e);
	return n / r < Or && i === t[0] && a === t[1];
}
var jr = new WeakMap();
function Mr(e) {
	let t = jr.get(e);
	return t || jr.set(e, t = {
		name: e.name,
		kind: "number",
		values: Float64Array.from(e.values, Math.log10)
	}), t;
}
function Nr(e, { isEqual: t = !1, stretch: n, isEdged: r = !1 }) {
	let i = e.map((e) => e.values), a = i[0].length, o = Sr(a), s = i.map((e) => r ? Dr(e) : wr(e) ?? [0, 1]), c = s.map(([e, t]) => e / 2 + t / 2), l = s.map(([e, t], r) => (t / 2 - e / 2 || Math.abs(t) / 2 || .5) * (n?.[r] ?? 1)), u = Math.max(...l), d = (t || n ? l.map(() => u) : l).map((e, t) => e / (n?.[t] ?? 1)), f = new Float32Array(3 * a), p = new Uint8Array(a);
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
var Pr = new WeakMap();
function Fr(e) {
	let t = Pr.get(e);
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
	return Pr.set(e, i), i;
}
function Ir(e, t) {
	let n = e.length, r = Sr(n), i = new Float32Array(3 * n), a = 0;
	for (let o = 0; o < n; o++) {
		let n = r[o];
		if (!Number.isFinite(e[n]) || !(Math.abs(t[n]) <= 90)) {
			a++, i[3 * o] = NaN;
			continue;
		}
		let [s, c, l] = Lr(e[n], t[n]);
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
function Lr(e, t) {
	let [n, r] = [e * Math.PI / 180, t * Math.PI / 180];
	return [
		Math.cos(r) * Math.sin(n),
		Math.sin(r),
		Math.cos(r) * Math.cos(n)
	];
}
// src/points/camera.ts
var Rr = [
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
function zr(e, t) {
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
function Br(e, t, n) {
	let [r, i] = [Math.cos(t), Math.sin(t)], [a, o] = [Math.cos(n), Math.sin(n)];
	return zr(zr([
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
function Vr(e, t) {
	let [n, r] = [-e * Math.PI / 180, t * Math.PI / 180];
	return Br(Rr, n, r);
}
function Hr(e, t, n, r, i) {
	let a = e.turn;
	return [
		t.width / 2 + e.shift[0] + e.scale[0] * (a[0] * n + a[1] * r + a[2] * i),
		t.height / 2 + e.shift[1] - e.scale[1] * (a[3] * n + a[4] * r + a[5] * i),
		a[6] * n + a[7] * r + a[8] * i
	];
}
function Ur(e, t, n, r, i) {
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
	if (e.shape === "space") for (let [t, r, i] of Fr(e)) {
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
function Wr(e, t, n, r, i) {
	let a = Math.min(Math.max(n, 1 / (e.scale[0] / 5)), 1e8 / e.scale[0]), [o, s] = [r - t.width / 2, i - t.height / 2];
	return {
		turn: e.turn,
		scale: [e.scale[0] * a, e.scale[1] * a],
		shift: [o + (e.shift[0] - o) * a, s + (e.shift[1] - s) * a]
	};
}
// src/points/coast.ts
var Gr = [
	"coast",
	"borders",
	"states"
], Kr = 61;
function qr(e) {
	let t = JSON.parse(e), n = (e) => {
		let [n, r, i] = [
			0,
			0,
			0
		], a = () => {
			let [t, r] = [0, 1];
			for (;;) {
				let i = e.charCodeAt(n++) - Kr;
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
function Jr([e, t], [n, r]) {
	return e >= -360 && t <= 540 && t - e <= 360 && n >= -90 && r <= 90;
}
var Yr = class {
	values = [];
	starts = new Set();
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
}, Xr = 2;
function Zr(e) {
	return Gr.map((t) => {
		let n = new Yr();
		for (let r of e[t]) for (let e = 0; e < r.length; e += 2) {
			let [t, i] = [r[e], r[e + 1]], [a, o] = e ? [r[e - 2], r[e - 1]] : [t, i], s = Math.max(1, Math.ceil(Math.max(Math.abs(t - a), Math.abs(i - o)) / Xr));
			for (let r = 1; r <= s; r++) n.add(...Lr(a + (t - a) * r / s, o + (i - o) * r / s), e === 0);
		}
		return n.shore(t);
	});
}
function Qr(e) {
	return {
		isOut: (t) => e.some(([e, n]) => t > e && t < n),
		place: (t) => t - e.reduce((e, [n, r, i]) => e + (t >= (n + r) / 2 ? r - n - i : 0), 0)
	};
}
function $r({ cities: e }) {
	return e.map(({ name: e, longitude: t, latitude: n }) => ({
		name: e,
		position: Lr(t, n)
	}));
}
function ei({ cities: e }, { middle: t, half: n }, r, i) {
	let { isOut: a, place: o } = Qr(i);
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
function ti(e, { middle: t, half: n }, r, i) {
	let a = i.flatMap(([e, t]) => [e, t]), { isOut: o, place: s } = Qr(i);
	return Gr.map((i) => {
		let c = new Yr();
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
var [ni, ri] = [7, 400];
function ii(e, t) {
	return t <= ri && (e !== "states" || t >= ni);
}
function ai({ positions: e, starts: t }, n, r, i, a) {
	let o = [], [s, c, l, u] = [
		0,
		0,
		!0,
		!1
	];
	for (let d = 0; d < e.length / 3; d++) {
		let [f, p, m] = Hr(n, r, e[3 * d], e[3 * d + 1], e[3 * d + 2]), h = a && m < 0, g = Math.max(f, s) < 0 || Math.max(p, c) < 0 || Math.min(f, s) > r.width || Math.min(p, c) > r.height;
		t.has(d) || h || l || g ? u = !1 : (u || o.push("M", (s / i).toFixed(1), " ", (c / i).toFixed(1)), o.push("L", (f / i).toFixed(1), " ", (p / i).toFixed(1)), u = !0), [s, c, l] = [
			f,
			p,
			h
		];
	}
	return o.join("");
}
function oi(e, t, n, r) {
	return e[0] < t[2] + n && e[2] > t[0] - n && e[1] < t[3] + r && e[3] > t[1] - r;
}
var [si, ci] = [6.2, 7], [li, ui] = [26, 12], di = .25;
function fi(e, t, n, r, i, a, o) {
	let s = [], c = [];
	for (let { name: l, position: u } of e) {
		let [e, d, f] = Hr(t, n, ...u), [p, m] = [e / r, d / r];
		if (!(i && f < di)) for (let e of [!1, !0]) {
			let [t, n] = e ? [p - 5 - si * l.length, p + 3] : [p - 3, p + 5 + si * l.length], r = [
				t,
				m - ci,
				n,
				m + ci
			];
			if (!(!(r[0] >= a[0] && r[1] >= a[1] && r[2] <= a[2] && r[3] <= a[3]) || o.some((e) => oi(r, e, 2, 2)) || c.some((e) => oi(r, e, li, ui)))) {
				c.push(r), s.push({
					name: l,
					x: p,
					y: m,
					isLeft: e
				});
				break;
			}
		}
	}
	return s;
}
// src/points/paint.ts
function pi(e, t) {
	let n = parseInt(e.slice(1), 16);
	return (t << 24 | (n & 255) << 16 | n & 65280 | n >> 16) >>> 0;
}
function mi(e) {
	let t = parseInt(e.slice(1), 16);
	return [
		t >> 16,
		t >> 8 & 255,
		t & 255
	];
}
function hi(e) {
	let t = (e - 1) / 2, n = t * (t + .6);
	return Array.from({ length: e }, (e, r) => Math.floor(Math.sqrt(Math.max(0, n - (r - t) ** 2))));
}
// src/state/coast.ts
var gi = e(null), _i = !1;
async function vi(e) {
	if (!_i) {
		_i = !0;
		try {
			gi.value = qr(await e());
		} catch {
			_i = !1;
		}
	}
}
// src/state/theme.ts
var yi = matchMedia("(prefers-color-scheme: dark)"), bi = e(yi.matches ? "dark" : "light");
yi.addEventListener("change", () => bi.value = yi.matches ? "dark" : "light");
// src/state/boxes.ts
var xi = 1.5;
function Si(e, t, n) {
	let r = new Uint32Array(n + 1), i = (n) => t[n] >= 0 && Number.isFinite(e[n]);
	for (let e = 0; e < t.length; e++) i(e) && r[t[e] + 1]++;
	for (let e = 0; e < n; e++) r[e + 1] += r[e];
	let a = new Float64Array(r[n]), o = r.slice(0, n);
	for (let n = 0; n < t.length; n++) i(n) && (a[o[t[n]]++] = e[n]);
	return Array.from({ length: n }, (e, t) => {
		let n = a.subarray(r[t], r[t + 1]).sort();
		return n.length ? Ti(n) : null;
	});
}
function Ci(e, t, n) {
	let [r, i] = [e[0], -1];
	for (let a of e) {
		let e = wi(a.values, t, n);
		e > i && ([r, i] = [a, e]);
	}
	return r;
}
function wi(e, t, n) {
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
function Ti(e) {
	let t = (t) => {
		let n = t * (e.length - 1), [r, i] = [e[Math.floor(n)], e[Math.ceil(n)]], a = n - Math.floor(n);
		return r * (1 - a) + i * a;
	}, n = [
		t(.25),
		t(.5),
		t(.75)
	], r = xi * (n[2] - n[0]), i = e.findIndex((e) => e >= n[0] - r), a = e.findLastIndex((e) => e <= n[2] + r), o = [Math.min(e[i], n[0]), Math.max(e[a], n[2])];
	return {
		rows: e.length,
		quartiles: n,
		whiskers: o,
		beyond: i + e.length - 1 - a
	};
}
// src/views/boxes.tsx
var Ei = 12e6, Di = 1e5, Oi = 40, ki = 24, [Ai, ji, Mi] = [
	4,
	26,
	14
], Ni = 7, Pi = "\0probability";
function Fi({ suffix: e, columns: t, grouping: r, hidden: a, theme: o, column: s, settle: l, nameOf: u, choose: d }) {
	let f = i(null), p = i(null), m = T(480), h = T(-1);
	w(() => {
		let e = new ResizeObserver(([e]) => m.value = Math.max(240, Math.round(e.contentRect.width)));
		return e.observe(f.current), () => e.disconnect();
	}, []);
	let { groupOf: v, groups: y, probability: x } = r, S = T(v.length <= Di);
	w(() => void setTimeout(() => S.value = !0, 100), []);
	let C = t.map((e) => [
		e.name,
		e.name,
		e
	]), E = n(() => x && {
		name: "probability",
		kind: "number",
		values: x
	}, [x]);
	E && C.push([
		Pi,
		"probability (how sure)",
		E
	]);
	let D = n(() => S.value && v.length * t.length <= Ei ? Ci(t, v, y.length)?.name : void 0, [
		t,
		v,
		S.value
	]), k = s ?? D ?? "", A = C.find(([e]) => e === k), j = A?.[2], M = n(() => j !== void 0 && Ar(j.values), [j]), N = n(() => j && S.value ? Si((M ? Mr(j) : j).values, v, y.length) : [], [
		j,
		M,
		v,
		S.value
	]).flatMap((e, t) => e && !a.has(t) ? [{
		group: t,
		box: e
	}] : []), P = N.slice(0, Oi), F = (e) => M ? 10 ** e : e, I = (e, t = 4) => c(F(e), t), ie = ({ rows: e, quartiles: t, whiskers: n, beyond: r }) => `median ${I(t[1])}, half of the rows from ${I(t[0])} to ${I(t[2])}, whiskers from ${I(n[0])} to ${I(n[1])}, ${b(r)} of ${b(e)} rows beyond`, L = m.value, ae = P.map(({ group: e }) => u(e)), R = Math.min(.36 * L, 260, Ni * Math.max(0, ...ae.map((e) => e.length)) + 20), oe = Math.floor((R - 20) / Ni), se = Ai + ki * P.length + ji, [z, B] = P.reduce(([e, t], { box: { whiskers: n } }) => [Math.min(e, n[0]), Math.max(t, n[1])], [Infinity, -Infinity]);
	z === B && ([z, B] = [z - .5, B + .5]);
	let ce = (e) => {
		let t = Math.max(Math.abs(z), Math.abs(B)) || 1;
		return R + (L - R - Mi) * (e / t - z / t) / (B / t - z / t || 1);
	}, V = Math.max(2, Math.floor((L - R) / 64)), H = P.length ? M ? te(F(z), F(B), V).map(Math.log10) : re(z, B, V) : [], U = (e) => e.altKey ? "subtract" : e.shiftKey ? "add" : "replace", W = (e, t) => {
		let n = {
			ArrowDown: t + 1,
			ArrowUp: t - 1,
			Home: 0,
			End: P.length - 1
		}[e.key];
		if (n !== void 0) p.current.querySelectorAll("[role=button]")[n]?.focus();
		else if (e.key === "Enter" || e.key === " ") d(P[t].group, U(e));
		else return;
		e.preventDefault();
	}, G = h.value >= 0 && h.value < P.length ? h.value : 0;
	return _("section", {
		class: "card",
		style: { minWidth: 0 },
		"aria-labelledby": `boxes${e}`,
		children: [
			_("div", {
				class: "head",
				children: [_("h2", {
					id: `boxes${e}`,
					children: "Box plots"
				}), _("div", {
					class: "tools choices",
					children: [_("label", { children: ["Values", _("select", {
						value: A ? k : "",
						onChange: (e) => l(e.currentTarget.value || "none"),
						children: [_("option", {
							value: "",
							children: "none"
						}), C.map(([e, t]) => _("option", {
							value: e,
							children: t
						}, e))]
					})] }), P.length > 0 && _(ee, {
						name: `${j.name} by ${r.title}`,
						make: () => O(p.current, L, se, ne())
					})]
				})]
			}),
			j && _("p", {
				class: "note",
				children: h.value >= 0 && P[h.value] ? `${ae[h.value]}: ${ie(P[h.value].box)}.` : `Each box holds the middle half of its rows, with a line at the median. Whiskers end at the farthest rows within one and a half boxes. Click a box to select its rows.${M ? " The axis is logarithmic." : ""}`
			}),
			_("div", {
				ref: f,
				children: P.length > 0 && _("svg", {
					ref: p,
					class: "boxes",
					width: L,
					height: se,
					role: "group",
					"aria-label": `${j.name} by ${r.title}`,
					onPointerLeave: () => h.value = -1,
					style: { display: "block" },
					children: [
						H.map((e) => _("path", {
							d: `M${ce(e)} ${Ai}V${se - ji + 4}`,
							stroke: "var(--line)"
						}, e)),
						H.map((e) => _("text", {
							x: ce(e),
							y: se - 6,
							"text-anchor": ce(e) > L - 30 ? "end" : "middle",
							children: I(e, 5)
						}, e)),
						P.map(({ group: e, box: { quartiles: t, whiskers: n } }, r) => {
							let i = yr(y[e], o), [a, s, c] = t.map(ce), l = ae[r], u = Ai + ki * (r + .5);
							return _("g", {
								style: { cursor: "pointer" },
								onClick: (t) => d(e, U(t)),
								onPointerEnter: () => h.value = r,
								children: [
									_("rect", {
										width: L,
										y: Ai + ki * r,
										height: ki,
										fill: "var(--wash)",
										"fill-opacity": +(r === h.value)
									}),
									_("circle", {
										cx: "6",
										cy: u,
										r: "5",
										fill: i
									}),
									_("text", {
										x: "18",
										y: u + 4,
										children: l.length > oe ? `${l.slice(0, Math.max(1, oe - 1))}…` : l
									}),
									_("g", {
										role: "button",
										tabIndex: r === G ? 0 : -1,
										"aria-label": `Box of ${l}: ${ie(P[r].box)}`,
										onKeyDown: (e) => W(e, r),
										onFocus: () => h.value = r,
										children: [
											_("path", {
												d: `M${ce(n[0])} ${u - 4}v8m0 -4H${a}M${c} ${u}H${ce(n[1])}m0 -4v8`,
												fill: "none",
												stroke: i,
												"stroke-width": "1.5"
											}),
											_("rect", {
												x: a,
												y: u - 6,
												width: Math.max(1, c - a),
												height: "12",
												fill: i,
												"fill-opacity": "0.4",
												stroke: i,
												"stroke-width": "1.5"
											}),
											_("path", {
												d: `M${s} ${u - 9}v18`,
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
			N.length > Oi && _("p", {
				class: "note",
				children: [
					"The first ",
					Oi,
					" of ",
					b(N.length),
					" are drawn; the table has all."
				]
			}),
			N.length > 0 && _("details", { children: [_("summary", { children: "Box plots as a table" }), _(g, {
				caption: `${j.name} by ${r.title}`,
				names: [
					r.title,
					"rows",
					"lower whisker",
					"lower quartile",
					"median",
					"upper quartile",
					"upper whisker",
					"rows beyond"
				],
				rows: N.map(({ group: e, box: t }) => [
					u(e),
					t.rows,
					...[
						t.whiskers[0],
						...t.quartiles,
						t.whiskers[1]
					].map(F),
					t.beyond
				]),
				pick: (e) => d(N[e].group, "replace")
			})] })
		]
	});
}
// src/points/raster.ts
var { fround: Ii } = Math;
function Li(e, { width: t, height: n }, r, i, a, o, s, c) {
	e.fill(s);
	let l = a.turn.map(Ii), u = Ii(a.scale[0]), d = Ii(a.scale[1]), f = Ii(t / 2 + a.shift[0]), p = Ii(n / 2 + a.shift[1]), m = r.shape === "sphere", { positions: h } = r, g = Math.min(r.count, c), _ = hi(o), v = (o - 1) / 2;
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
function Ri(e) {
	let t = e.getContext("2d"), n = t.createImageData(1, 1), r = null, i = new Uint32Array();
	return {
		kind: "cpu",
		setCloud: (e) => r = e,
		setPaint: (e) => i = e,
		resize({ width: r, height: i }) {
			e.width = r, e.height = i, n = t.createImageData(r, i);
		},
		draw(a, o, s, c) {
			r && (Li(new Uint32Array(n.data.buffer), e, r, i, a, o, s ? pi(s, 255) : 0, c), t.putImageData(n, 0, 0));
		},
		end() {}
	};
}
// src/points/select.ts
function zi(e, t, n, r, i) {
	let a = n.turn, [o, s] = n.scale, c = r.width / 2 + n.shift[0], l = r.height / 2 + n.shift[1], u = e.shape === "sphere", { positions: d, count: f } = e;
	for (let e = 0; e < f; e++) {
		if (!(t[e] >>> 24)) continue;
		let n = d[3 * e], r = d[3 * e + 1], f = d[3 * e + 2];
		u && a[6] * n + a[7] * r + a[8] * f < 0 || i(e, c + o * (a[0] * n + a[1] * r + a[2] * f), l - s * (a[3] * n + a[4] * r + a[5] * f));
	}
}
function Bi(e, t, n, r, i, a, o) {
	let [s, c] = [-1, o * o];
	return zi(e, t, n, r, (e, t, n) => {
		let r = (t - i) ** 2 + (n - a) ** 2;
		r <= c && ([s, c] = [e, r]);
	}), s;
}
function Vi(e, t, n, r, i) {
	let { width: a, height: o } = r, s = Hi(i, a, o), c = new Uint32Array(e.count), l = 0;
	return zi(e, t, n, r, (e, t, n) => {
		let [r, i] = [Math.floor(t), Math.floor(n)];
		r >= 0 && r < a && i >= 0 && i < o && s[i * a + r] && (c[l++] = e);
	}), c.slice(0, l);
}
function Hi(e, t, n) {
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
var Ui = "#version 300 es\nlayout(location = 0) in vec3 dataPosition;\nlayout(location = 1) in vec4 paint;\nuniform mat3 turn;\nuniform vec2 size;\nuniform vec2 origin;\nuniform vec2 scale;\nuniform float pointWidth;\nuniform float layer;\nuniform bool isSphere;\nflat out vec3 colour;\nvoid main() {\n  vec3 turned = turn * dataPosition;\n  vec2 pixel = floor(origin + vec2(scale.x, -scale.y) * turned.xy) + 0.5;\n  vec2 clip = pixel / size * 2.0 - 1.0;\n  bool isDrawn = abs(paint.a * 255.0 - layer) < 0.5 && (!isSphere || turned.z >= 0.0) && !isnan(dataPosition.x);\n  gl_Position = isDrawn ? vec4(clip.x, -clip.y, 0.0, 1.0) : vec4(2.0, 2.0, 2.0, 1.0);\n  gl_PointSize = pointWidth;\n  colour = paint.rgb;\n}", Wi = "#version 300 es\nprecision highp float;\nuniform float pointWidth;\nuniform float reach[32];\nflat in vec3 colour;\nout vec4 drawn;\nvoid main() {\n  vec2 at = floor(gl_PointCoord * pointWidth) - (pointWidth - 1.0) / 2.0;\n  if (abs(at.x) > reach[int(at.y + (pointWidth - 1.0) / 2.0)]) discard;\n  drawn = vec4(colour, 1.0);\n}", Gi = /swiftshader|llvmpipe|softpipe|software|basic render/i;
function Ki(e, t, n) {
	let r = e.getContext("webgl2", {
		antialias: !1,
		depth: !1,
		preserveDrawingBuffer: !0,
		failIfMajorPerformanceCaveat: !t
	});
	if (!r) return null;
	let i = r.getExtension("WEBGL_debug_renderer_info"), a = i ? String(r.getParameter(i.UNMASKED_RENDERER_WEBGL)) : "";
	if (Gi.test(a) && !t) return r.getExtension("WEBGL_lose_context")?.loseContext(), null;
	e.addEventListener("webglcontextlost", n);
	let o = r.createProgram();
	for (let [e, t] of [[r.VERTEX_SHADER, Ui], [r.FRAGMENT_SHADER, Wi]]) {
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
			let [o, s, l] = mi(i ?? "#000000");
			if (r.clearColor(o / 255, s / 255, l / 255, +!!i), r.clear(r.COLOR_BUFFER_BIT), !d) return;
			let u = t.turn;
			r.uniformMatrix3fv(c.turn, !0, u), r.uniform2f(c.size, e.width, e.height), r.uniform2f(c.origin, e.width / 2 + t.shift[0], e.height / 2 + t.shift[1]), r.uniform2f(c.scale, t.scale[0], t.scale[1]), r.uniform1f(c.width, n), r.uniform1i(c.isSphere, +(d.shape === "sphere"));
			let p = new Float32Array(32);
			p.set(hi(n).slice(0, 32)), r.uniform1fv(c.reach, p);
			for (let e of [254, 255]) r.uniform1f(c.layer, e), r.drawArrays(r.POINTS, 0, Math.min(d.count, a, f));
		},
		end() {
			e.removeEventListener("webglcontextlost", n), r.getExtension("WEBGL_lose_context")?.loseContext();
		}
	};
}
// src/views/cloud.tsx
var qi = 25e4, Ji = 4e5, Yi = 12, Xi = [58, 40], Zi = [44, 40], Qi = 460;
function $i(e) {
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
			let { theme: t, pointWidth: n, shores: r } = b.current, i = u.current.kind === "cpu" && e.isMoving ? qi : Infinity;
			u.current.draw(d.peek(), ea(n * v.current), r ? null : er[t], i);
		});
	}, S = (e) => {
		d.value = e;
		let t = y.current;
		t.isFitted = !1, t.isMoving = b.current.cloud.count > qi, x(), t.isMoving && (clearTimeout(t.settle), t.settle = setTimeout(() => {
			t.isMoving = !1, x();
		}, 120));
	}, C = () => {
		let { cloud: e, isEqual: t } = b.current, n = f.peek().width / v.current < Qi ? Zi : Xi;
		S(Ur(e, f.peek(), ta(e), n.map((e) => e * v.current), t || e.shape !== "plane")), y.current.isFitted = !0;
	};
	w(() => {
		let { forced: t } = e, n = document.createElement("canvas");
		n.setAttribute("aria-hidden", "true");
		let r = null;
		return t !== "cpu" && !p.value && (r = Ki(n, t === "webgl", () => p.value = !0), r || (n = document.createElement("canvas"), n.setAttribute("aria-hidden", "true"))), r ??= Ri(n), m.value = r.kind, u.current = r, r.setCloud(b.current.cloud), r.setPaint(b.current.paint), f.peek().width && r.resize(f.peek()), l.current.prepend(n), x(), () => {
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
	}, [n]), w(x, [
		r,
		s,
		e.shores
	]), e.handle.current = {
		fit: C,
		zoom: (e) => d.peek() && S(Wr(d.peek(), f.peek(), e, f.peek().width / 2, f.peek().height / 2)),
		svg: () => wa(l.current, b.current, d.peek(), f.peek())
	};
	let E = i(new Map()), D = i({
		x: 0,
		y: 0,
		hasMoved: !1
	}), ee = (e) => {
		let t = l.current.getBoundingClientRect();
		return [(e.clientX - t.left) * v.current, (e.clientY - t.top) * v.current];
	}, te = (e) => {
		if (e.button > 0 || e.target.closest("button")) return;
		l.current.setPointerCapture(e.pointerId);
		let t = ee(e);
		E.current.set(e.pointerId, t), D.current = {
			x: t[0],
			y: t[1],
			hasMoved: !1
		}, g.value = null, a !== "move" && E.current.size === 1 ? h.value = [t] : h.value = null;
	}, ne = (e) => {
		let n = ee(e), r = E.current.get(e.pointerId);
		if (!d.peek()) return;
		if (!r) {
			e.pointerType === "mouse" && t.count <= Ji && k(n);
			return;
		}
		let i = 4 * v.current;
		if (Math.hypot(n[0] - D.current.x, n[1] - D.current.y) > i && (D.current.hasMoved = !0), E.current.size === 2) {
			let [t] = [...E.current].filter(([t]) => t !== e.pointerId).map(([, e]) => e), i = Math.hypot(n[0] - t[0], n[1] - t[1]) / Math.max(1, Math.hypot(r[0] - t[0], r[1] - t[1])), a = Wr(d.peek(), f.peek(), i, (n[0] + t[0]) / 2, (n[1] + t[1]) / 2);
			S({
				...a,
				shift: a.shift.map((e, t) => e + (n[t] - r[t]) / 2)
			});
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
				let e = t.shape === "sphere" ? 1 / s[0] : 1 / (.35 * Math.min(f.peek().width, f.peek().height)), n = Br(o, i * e, a * e);
				S({
					turn: n,
					scale: s,
					shift: c
				});
			}
		}
		E.current.set(e.pointerId, n);
	}, re = (r) => {
		if (!E.current.delete(r.pointerId)) return;
		let i = ee(r), o = h.value;
		if (h.value = null, !d.peek() || r.type === "pointercancel") return;
		let s = r.altKey ? "subtract" : r.shiftKey ? "add" : "replace";
		o && D.current.hasMoved && o.length > 2 ? e.onSelect(Vi(t, n, d.peek(), f.peek(), o), s, a) : !D.current.hasMoved && E.current.size === 0 && e.onPick(Bi(t, n, d.peek(), f.peek(), i[0], i[1], Yi * v.current));
	}, O = i(0), k = (e) => {
		cancelAnimationFrame(O.current), O.current = requestAnimationFrame(() => {
			if (!d.peek()) return;
			let t = Bi(b.current.cloud, b.current.paint, d.peek(), f.peek(), e[0], e[1], Yi * v.current);
			g.value = t < 0 ? null : {
				point: t,
				x: e[0] / v.current,
				y: e[1] / v.current
			};
		});
	}, A = (e) => {
		if (!d.peek()) return;
		e.preventDefault();
		let [t, n] = ee(e);
		S(Wr(d.peek(), f.peek(), Math.exp(-e.deltaY * (e.deltaMode ? .05 : .0015)), t, n));
	}, j = (r) => {
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
			turn: Br(o, a[0] / i * .1, a[1] / i * .1),
			scale: s,
			shift: c
		});
		else if (r.key === "+" || r.key === "=") e.handle.current.zoom(1.4);
		else if (r.key === "-") e.handle.current.zoom(1 / 1.4);
		else if (r.key === "0") C();
		else if (r.key === "Enter") e.onPick(Bi(t, n, d.peek(), f.peek(), f.peek().width / 2, f.peek().height / 2, 1e9));
		else return;
		r.preventDefault();
	}, M = g.value && !h.value ? e.hint(g.value.point) : null, N = v.current, P = d.value;
	return _("div", {
		ref: l,
		class: `cloud ${a}`,
		tabIndex: 0,
		role: "application",
		"aria-roledescription": "scatter plot",
		"aria-label": e.summary,
		"data-renderer": m.value,
		onPointerDown: te,
		onPointerMove: ne,
		onPointerUp: re,
		onPointerCancel: re,
		onPointerLeave: () => g.value = null,
		onWheel: A,
		onKeyDown: j,
		children: [
			P && f.value.width > 0 && e.shores && _(oa, {
				cloud: t,
				shores: e.shores,
				camera: P,
				size: f.value,
				ratio: N
			}),
			P && f.value.width > 0 && _(sa, {
				cloud: t,
				camera: P,
				size: f.value,
				ratio: N,
				names: c,
				marks: e.marks,
				picked: e.picked,
				drawing: h.value,
				theme: r,
				logs: e.logs,
				degrees: e.degrees,
				outlines: e.outlines,
				ground: e.ground,
				towns: e.towns
			}),
			M && g.value && _("div", {
				class: "tip",
				style: {
					left: `${Math.min(g.value.x + 14, f.value.width / N - 230)}px`,
					top: `${Math.min(g.value.y + 14, f.value.height / N - 90)}px`
				},
				children: [_("b", { children: [_("i", { style: { background: M.colour } }), M.title] }), _("span", { children: M.text })]
			})
		]
	});
}
function ea(e) {
	return Math.min(31, Math.max(1, 2 * Math.round((e - 1) / 2) + 1));
}
function ta(e) {
	if (e.shape === "plane") return Rr;
	if (e.shape === "space") return Br(Rr, .6, .4);
	let [t, n, r] = [
		0,
		0,
		0
	], i = Math.max(1, Math.floor(e.count / 2e4));
	for (let a = 0; a < e.count; a += i) e.positions[3 * a] === e.positions[3 * a] && (t += e.positions[3 * a], n += e.positions[3 * a + 1], r += e.positions[3 * a + 2]);
	return Vr(Math.atan2(t, r) * 180 / Math.PI, Math.atan2(n, Math.hypot(t, r)) * 180 / Math.PI);
}
function na(e, t, n) {
	return (e.shape === "sphere" ? t.scale[1] * Math.PI / 180 : t.scale[1] / e.half[1]) / n;
}
var [ra, ia, aa] = [
	[58, 34],
	6,
	[60, 258]
];
function oa({ cloud: e, shores: t, camera: n, size: r, ratio: i }) {
	let a = e.shape === "sphere", o = na(e, n, i), s = n.scale[0] / i, [c, l] = [r.width / i, r.height / i];
	return _("svg", {
		class: "lands",
		width: c,
		height: l,
		"aria-hidden": "true",
		children: _("g", {
			class: "shores",
			children: [a && s < c + l && _("circle", {
				cx: c / 2 + n.shift[0] / i,
				cy: l / 2 + n.shift[1] / i,
				r: s
			}), t.map((e) => ii(e.kind, o) && _("path", {
				class: e.kind,
				d: ai(e, n, r, i, a)
			}, e.kind))]
		})
	});
}
function sa({ cloud: e, camera: t, size: r, ratio: i, names: a, logs: o, marks: s, picked: c, drawing: l, theme: u, degrees: d, outlines: f, ground: p, towns: m }) {
	let [h, g] = [r.width / i, r.height / i], v = e.shape === "sphere", y = (e, n, a) => {
		let [o, s, c] = Hr(t, r, e, n, a);
		return [
			o / i,
			s / i,
			c
		];
	}, b = c < 0 ? null : y(e.positions[3 * c], e.positions[3 * c + 1], e.positions[3 * c + 2]), x = n(() => la(s.map((e) => ({
		mark: e,
		at: y(e.x, e.y, e.z)
	})), h, g, v), [
		s,
		t,
		r
	]), S = v ? [
		ia,
		ia,
		h - ia,
		g - ia
	] : [
		ra[0],
		24,
		h - ia,
		g - ra[1]
	], C = x.map(({ mark: e, at: [t, n] }) => [
		t - ca(e),
		n - 10,
		t + ca(e),
		n + 10
	]);
	d && C.push(...ga(ua(e, t, r, i), d).map(({ left: e, right: t }) => [
		e,
		0,
		t,
		g
	]));
	let w = v && Sa(t, r, h, y, C);
	return h >= Qi && C.push([
		h - aa[0],
		0,
		h,
		aa[1]
	]), _("svg", {
		class: "over",
		width: h,
		height: g,
		"aria-hidden": "true",
		children: [
			e.shape === "plane" && p && _(ba, {
				ground: p,
				plane: ua(e, t, r, i)
			}),
			e.shape === "plane" && f && _(ya, {
				outlines: f,
				plane: ua(e, t, r, i),
				theme: u
			}),
			e.shape === "plane" && _(_a, {
				plane: ua(e, t, r, i),
				size: r,
				ratio: i,
				names: a,
				logs: o,
				degrees: d
			}),
			e.shape === "space" && _(xa, {
				cloud: e,
				names: a,
				pixel: y,
				width: h,
				height: g
			}),
			w && _("g", {
				class: "graticule",
				children: [w.paths.map((e, t) => _("path", { d: e }, t)), w.labels.map(({ text: e, box: t }) => _("text", {
					x: t[0],
					y: t[3] - 3,
					children: e
				}, e))]
			}),
			m && ii("coast", na(e, t, i)) && fi(m, t, r, i, v, S, C).map(({ name: e, x: t, y: n, isLeft: r }, i) => _("g", {
				class: "city",
				transform: `translate(${t} ${n})`,
				children: [_("circle", { r: "2" }), _("text", {
					x: r ? -5 : 5,
					y: "4",
					"text-anchor": r ? "end" : "start",
					children: e
				})]
			}, i)),
			x.map(({ mark: e, at: [t, n] }) => _("g", {
				class: "mark",
				transform: `translate(${t} ${n})`,
				children: [_("rect", {
					x: -ca(e),
					y: "-10",
					width: 2 * ca(e),
					height: "20",
					rx: "10",
					fill: e.colour
				}), _("text", {
					y: "4",
					"text-anchor": "middle",
					children: e.text
				})]
			}, e.text)),
			b && b[2] >= (v ? 0 : -Infinity) && _("circle", {
				class: "picked",
				cx: b[0],
				cy: b[1],
				r: "9"
			}),
			l && _("polygon", {
				class: "lasso",
				points: l.map(([e, t]) => `${e / i},${t / i}`).join(" ")
			})
		]
	});
}
function ca(e) {
	return Math.max(10, 3.6 * e.text.length + 6);
}
function la(e, t, n, r) {
	let i = [];
	for (let a of e) {
		let [e, o, s] = a.at;
		if (!(e < 12 || o < 12 || e > t - 12 || o > n - 12 || r && s < 0) && (i.every(({ mark: t, at: n }) => Math.abs(n[0] - e) > ca(t) + ca(a.mark) + 2 || Math.abs(n[1] - o) > 22) && i.push(a), i.length >= 60)) break;
	}
	return i;
}
function ua({ middle: e, half: t }, { scale: n, shift: r }, i, a) {
	return {
		toX: (o) => e[0] + (o * a - i.width / 2 - r[0]) / n[0] * t[0],
		toY: (o) => e[1] - (o * a - i.height / 2 - r[1]) / n[1] * t[1],
		fromX: (o) => (i.width / 2 + r[0] + (o - e[0]) / t[0] * n[0]) / a,
		fromY: (o) => (i.height / 2 + r[1] - (o - e[1]) / t[1] * n[1]) / a
	};
}
function da(e, t, n) {
	let r = re(e, t, n), i = r.length > 1 ? r[1] - r[0] : 1;
	return i > 10 ? [
		15,
		30,
		45,
		90
	].find((r) => (t - e) / r <= n) ?? 90 : i;
}
function fa(e, t, n) {
	let r = da(e, t, n), i = Math.ceil(Math.max(e, -90) / r);
	return Array.from({ length: Math.max(0, Math.floor(Math.min(t, 90) / r) - i + 1) }, (e, t) => [(i + t) * r, ma((i + t) * r, "N", "S")]);
}
function pa(e, t, n, r) {
	let i = r.reduce((e, [t, n, r]) => e + n - t - r, 0), a = [], o = da(e, t, n);
	for (let n = Math.ceil(e / o) * o; n <= t + i; n += o) {
		let i = 0, o = !1;
		for (let [e, t, a] of r) n >= t ? i += t - e - a : n > e && (o = !0);
		let s = n - i;
		!o && s >= e && s <= t && a.push([s, ma((n + 540) % 360 - 180, "E", "W")]);
	}
	return a;
}
function ma(e, t, n) {
	let r = `${Number(Math.abs(e).toFixed(4))}°`;
	return e === 0 || Math.abs(e) === 180 ? r : `${r} ${e > 0 ? t : n}`;
}
function ha(e, t, n) {
	let r = (e) => 10 ** Math.min(300, Math.max(-300, e));
	return te(r(e), r(t), n).map((e) => [Math.log10(e), c(e, 6)]);
}
function ga({ fromX: e }, t) {
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
function _a({ plane: e, size: n, ratio: r, names: i, logs: a = [], degrees: o }) {
	let { toX: s, toY: l, fromX: u, fromY: d } = e, [f, p] = [n.width / r, n.height / r], m = [Math.max(2, Math.floor(f / 110)), Math.max(2, Math.floor(p / 80))], h = o ? pa(s(0), s(f), m[0], o.breaks) : a[0] ? ha(s(0), s(f), m[0]) : re(s(0), s(f), m[0]).map((e) => [e, c(e, 6)]), g = o ? fa(l(p), l(0), m[1]) : a[1] ? ha(l(p), l(0), m[1]) : re(l(p), l(0), m[1]).map((e) => [e, c(e, 6)]), v = ga(e, o);
	return _(t, { children: [v.map(({ left: e, right: t, text: n }) => _("g", {
		class: "gutter",
		children: [_("rect", {
			x: e,
			y: "0",
			width: Math.max(1, t - e),
			height: p
		}), _("text", {
			transform: `translate(${(e + t) / 2 + 4} ${p / 2}) rotate(-90)`,
			"text-anchor": "middle",
			children: n
		})]
	}, e)), _("g", {
		class: "axis",
		children: [
			h.map(([e, t]) => {
				let n = u(e);
				return n < 34 || n > f - 20 ? null : _("g", { children: [_("line", {
					x1: n,
					x2: n,
					y1: p - 5,
					y2: p
				}), _("text", {
					x: n,
					y: p - 8,
					"text-anchor": "middle",
					children: t
				})] }, e);
			}),
			i[1] && g.map(([e, t]) => {
				let n = d(e);
				return n < 26 || n > p - 24 ? null : _("g", { children: [_("line", {
					x1: 0,
					x2: 5,
					y1: n,
					y2: n
				}), _("text", {
					x: 8,
					y: n + 4,
					children: t
				})] }, e);
			}),
			_("text", {
				class: "name",
				x: f - 8,
				y: p - 24,
				"text-anchor": "end",
				children: [i[0], " →"]
			}),
			i[1] && _("text", {
				class: "name",
				x: 8,
				y: 16,
				children: ["↑ ", i[1]]
			})
		]
	})] });
}
function va({ mean: e, covariance: [t, n, r] }, i, { fromX: a, fromY: o }) {
	let s = Math.sqrt(Math.max(0, t)), c = s > 0 ? n / s : 0, l = Math.sqrt(Math.max(0, r - c * c));
	return `M${Array.from({ length: 73 }, (t, n) => {
		let [r, u] = [Math.cos(n * Math.PI / 36), Math.sin(n * Math.PI / 36)];
		return `${a(e[0] + i * s * r).toFixed(1)} ${o(e[1] + i * (c * r + l * u)).toFixed(1)}`;
	}).join("L")}Z`;
}
function ya({ outlines: e, plane: t, theme: n }) {
	return _("g", {
		class: "outlines",
		children: e.map((e) => _("g", {
			stroke: tr(e.group, n),
			fill: tr(e.group, n),
			children: [_("path", {
				d: va(e, 1, t),
				"fill-opacity": ".07"
			}), _("path", {
				d: va(e, 2, t),
				"fill-opacity": "0",
				"stroke-dasharray": "5 4"
			})]
		}, e.group))
	});
}
function ba({ ground: e, plane: { fromX: t, fromY: n } }) {
	let { columns: r, rows: i, low: a, high: o, shade: s } = e, c = (e) => t(a[0] + (o[0] - a[0]) * e / r), l = (e) => n(a[1] + (o[1] - a[1]) * e / i);
	return _("g", {
		class: "ground",
		children: Array.from({ length: r * i }, (e, t) => {
			let [n, r] = [Math.floor(t / i), t % i];
			return _("rect", {
				x: c(n),
				y: l(r + 1),
				width: c(n + 1) - c(n),
				height: l(r) - l(r + 1),
				"fill-opacity": (.65 * s[t]).toFixed(3)
			}, t);
		})
	});
}
function xa({ cloud: e, names: t, pixel: n, width: r, height: i }) {
	let [a, ...o] = Fr(e), [s, c] = n(...a);
	return _("g", {
		class: "axis",
		children: o.map((e, a) => {
			let [o, l] = n(...e);
			return _("g", { children: [_("line", {
				x1: s,
				y1: c,
				x2: o,
				y2: l
			}), _("text", {
				class: "name",
				x: Math.min(r - 8 - 7 * t[a].length, Math.max(8, o + 4)),
				y: Math.min(i - 8, Math.max(16, l - 4)),
				children: t[a]
			})] }, a);
		})
	});
}
function Sa(e, t, n, r, i) {
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
			let [e, o, s] = r(...Lr(i, a));
			s < 0 ? n = !1 : (t += `${n ? "L" : "M"}${e.toFixed(1)} ${o.toFixed(1)}`, n = !0);
		}
		return t;
	}, f = Math.max(s / 4, .05), p = (e, t, n) => Array.from({ length: Math.min(800, Math.floor((t - e) / n) + 1) }, (t, r) => e + r * n), m = Math.min(180, u / Math.max(.2, Math.cos(Math.abs(l.latitude) * Math.PI / 180))), h = Math.max(-90, l.latitude - u), g = Math.min(90, l.latitude + u), _ = p(Math.ceil((l.longitude - m) / s) * s, l.longitude + m, s), v = p(Math.ceil(h / s) * s, g, s), y = (e) => String(Number(e.toFixed(2))), b = [], x = (e, t, a) => {
		let [o, s, c] = r(...Lr(e, t)), l = [
			o + 3,
			s - 15,
			o + 3 + 7 * a.length,
			s
		];
		c > 0 && l[0] >= 0 && l[2] <= n && !i.some((e) => oi(l, e, 2, 0)) && (b.push({
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
var Ca = 2e4;
function wa(e, { caption: t, cloud: n, paint: r, theme: i, pointWidth: a }, o, s) {
	let c = Math.min(2, devicePixelRatio || 1), [l, u] = [s.width / c, s.height / c], d = e.querySelector(".over"), f = O(d, l, u + 30, er[i]), p = D("g", {});
	if (n.count <= Ca) {
		let e = ea(a * c) / c / 2, t = new Map();
		for (let e = 0; e < n.count; e++) {
			if (!(r[e] >>> 24)) continue;
			let [i, a, l] = Hr(o, s, n.positions[3 * e], n.positions[3 * e + 1], n.positions[3 * e + 2]);
			!(i >= 0 && a >= 0 && i <= s.width && a <= s.height) || n.shape === "sphere" && l < 0 || t.set(r[e], `${t.get(r[e]) ?? ""}M${(i / c).toFixed(2)} ${(a / c).toFixed(2)}h0`);
		}
		for (let [n, r] of [...t].sort(([e], [t]) => (e >>> 24) - (t >>> 24))) {
			let t = `#${[
				n & 255,
				n >> 8 & 255,
				n >> 16 & 255
			].map((e) => e.toString(16).padStart(2, "0")).join("")}`;
			p.append(D("path", {
				d: r,
				stroke: t,
				"stroke-width": String(2 * e),
				"stroke-linecap": "round",
				fill: "none"
			}));
		}
	} else p.append(D("image", {
		href: e.querySelector("canvas").toDataURL("image/png"),
		width: String(l),
		height: String(u)
	}));
	let m = f.querySelector(".ground");
	m ? m.after(p) : f.querySelector("rect").after(p);
	let h = e.querySelector(".lands");
	if (h) {
		let e = D("svg", {
			width: String(l),
			height: String(u)
		});
		e.append(O(h, l, u, er[i]).querySelector(".shores")), p.before(e);
	}
	let g = D("text", {
		x: "10",
		y: String(u + 20),
		"font-size": "12",
		"font-family": "system-ui, sans-serif",
		fill: i === "light" ? "#565d66" : "#a9b1ba"
	});
	return g.textContent = t, f.append(g), f;
}
// src/state/compare.ts
function Ta(e, t) {
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
function Ea(e, t, n) {
	let r = [];
	for (let i of e.columns) {
		if (i.kind === "text") continue;
		let [e, a] = [Ta(i.values, t), Ta(i.values, n)], o = Math.sqrt((e.squares + a.squares) / Math.max(1, e.n + a.n - 2));
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
function Da(e, t, n) {
	let r = e.groups.map(({ name: e }) => ({
		name: e,
		a: 0,
		b: 0
	}));
	return e.groupOf.forEach((e, i) => {
		r[e] && (r[e].a += t[i], r[e].b += n[i]);
	}), r.filter((e) => e.a + e.b > 0);
}
function Oa(e) {
	return e.reduce((e, t) => e + t, 0);
}
// src/views/compare.tsx
var ka = 60;
function Aa({ suffix: e, columns: t, grouping: n, kept: r, chosen: i, recipe: a, close: o }) {
	let s = !i || i === r.rows, l = s ? r.rows.map((e) => 1 - e) : i, u = s ? "all other rows" : a, d = s ? 0 : r.rows.reduce((e, t, n) => e + (t & l[n]), 0), f = (e, t) => t ? `${c(100 * e / t, 3)} %` : "–", [p, m] = [Oa(r.rows), Oa(l)];
	return _("section", {
		class: "card chosen",
		"aria-labelledby": `compare${e}`,
		children: [
			_("div", {
				class: "head",
				children: [_("div", { children: [_("h2", {
					id: `compare${e}`,
					children: "A and B"
				}), _("p", {
					class: "note",
					children: [
						"A: ",
						b(p),
						" rows, ",
						r.recipe,
						". B: ",
						b(m),
						" rows, ",
						u,
						".",
						d ? ` ${b(d)} rows are in both.` : "",
						" ",
						s ? "Select other rows to compare A with them." : ""
					]
				})] }), _("div", {
					class: "tools",
					children: _("button", {
						type: "button",
						onClick: o,
						children: "End the comparison"
					})
				})]
			}),
			_(g, {
				caption: "Columns of A and B, those that differ most first",
				names: [
					"column",
					"mean of A",
					"mean of B",
					"difference in standard deviations"
				],
				rows: Ea(t, r.rows, l).map(({ name: e, a: t, b: n, effect: r }) => [
					e,
					t,
					n,
					Number.isNaN(r) ? "–" : Number(r.toPrecision(3))
				])
			}),
			n && n.groups.length > 1 && _(g, {
				caption: `${n.title} of A and B`,
				names: [
					n.title,
					"rows of A",
					"share of A",
					"rows of B",
					"share of B"
				],
				rows: Da(n, r.rows, l).slice(0, ka).map((e) => [
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
// src/molecule/smiles.ts
var ja = ({ a: e, b: t }, n) => e === n ? t : e, Ma = {
	B: [3],
	C: [4],
	N: [3, 5],
	O: [2],
	P: [3, 5],
	S: [
		2,
		4,
		6
	],
	F: [1],
	Cl: [1],
	Br: [1],
	I: [1]
}, Na = {
	"-": 1,
	"/": 1,
	"\\": 1,
	"=": 2,
	"#": 3
}, Pa = /^(?:Cl|Br|[BCNOPSFI]|[bcnops]|\*)/, Fa = /^\[(\d*)(\*|[A-Z][a-z]?|[bcnops]|se|as)(@{0,2}(?:TH|AL|SP|TB|OH)?\d*)?(?:H(\d*))?(\++\d*|-+\d*)?(?::\d+)?\]/;
function Ia(e) {
	let t = [], n = [], r = [], i = new Map(), a = new Set(), [o, s, c] = [
		-1,
		"",
		e.trim()
	], l = (e, r, i) => {
		if (e === r || t[e].bonds.some((t) => ja(n[t], e) === r)) return !1;
		let a = i === ":" || i === "" && t[e].isAromatic && t[r].isAromatic;
		return [e, r].forEach((e) => t[e].bonds.push(n.length)), n.push({
			a: e,
			b: r,
			order: Na[i] ?? 1,
			isAromatic: a
		}), !0;
	}, u = (e, n) => {
		let r = e !== "*" && e === e.toLowerCase();
		t.push({
			symbol: e[0].toUpperCase() + e.slice(1),
			isAromatic: r,
			charge: 0,
			hydrogens: 0,
			isotope: 0,
			bonds: [],
			...n
		});
		let i = o < 0 || l(o, t.length - 1, s);
		return [o, s] = [t.length - 1, ""], i && t.length <= 200;
	};
	for (; c;) {
		let e;
		if (e = c.match(Pa)) {
			if (a.add(t.length), !u(e[0], {})) return null;
		} else if (e = c.match(Fa)) {
			let [, t, n, , r, i = ""] = e, a = i[0] === "-" ? -1 : 1, o = Number(i.replace(/^[+-]+/, "")) || i.replace(/\d/g, "").length;
			if (!u(n, {
				isotope: Number(t),
				hydrogens: r === void 0 ? 0 : Number(r || 1),
				charge: a * o
			})) return null;
		} else if ((e = c.match(/^%\d\d|^\d/)) && o >= 0) {
			let t = i.get(e[0]);
			if (t) {
				if (i.delete(e[0]), !l(t.atom, o, t.order || s)) return null;
			} else i.set(e[0], {
				atom: o,
				order: s
			});
			s = "";
		} else if ((e = c.match(/^[-=#:/\\]/)) && o >= 0) s = e[0];
		else if (c[0] === "(" && o >= 0) r.push(o);
		else if (c[0] === ")" && r.length) o = r.pop();
		else if (c[0] === ".") [o, s] = [-1, ""];
		else return null;
		c = c.slice(e?.[0].length ?? 1);
	}
	if (!t.length || i.size || r.length || s) return null;
	let d = {
		atoms: t,
		bonds: n
	};
	return La(d, a), Ba(d), n.forEach((e) => e.isAromatic &&= e.ring !== void 0), za(d), d;
}
function La({ atoms: e, bonds: t }, n) {
	for (let r of n) {
		let n = e[r], i = n.bonds.reduce((e, n) => e + t[n].order, 0) + +!!n.isAromatic, a = Ma[n.symbol] ?? [], o = n.isAromatic ? a[0] : a.find((e) => e >= i);
		n.hydrogens = o === void 0 ? 0 : Math.max(0, o - i);
	}
}
var Ra = 2e4;
function za({ atoms: e, bonds: t }) {
	let n = new Set();
	e.forEach((e, r) => {
		if (!e.isAromatic) return;
		let i = e.bonds.reduce((e, n) => e + t[n].order, 0) + e.hydrogens, a = ({
			N: 3,
			P: 3,
			As: 3,
			B: 3,
			O: 2,
			S: 2,
			Se: 2
		}[e.symbol] ?? 4) + +(e.symbol !== "C" && e.charge > 0);
		i - (e.charge < 0 ? e.charge : 0) < a && n.add(r);
	});
	let r = 0, i = (r) => e[r].bonds.filter((e) => t[e].isAromatic && n.has(t[e].a) && n.has(t[e].b)), a = () => {
		let e = null;
		for (let t of n) {
			let n = i(t);
			if ((!e || n.length < e.length) && (e = n), e.length < 2) break;
		}
		if (!e) return !0;
		for (let i of e) {
			if (++r > Ra) return !1;
			let { a: e, b: o } = t[i];
			if (n.delete(e), n.delete(o), t[i].order = 2, a()) return !0;
			t[i].order = 1, n.add(e), n.add(o);
		}
		return !1;
	};
	a();
}
// src/molecule/rings.ts
function Ba({ atoms: e, bonds: t }) {
	let n = new Map(), r = t.map((r) => {
		let { a: i, b: a } = r, o = new Int32Array(e.length).fill(-1);
		o[i] = i;
		let s = [i];
		for (let n of s) {
			if (n === a) break;
			for (let i of e[n].bonds) {
				let e = ja(t[i], n);
				t[i] === r || o[e] >= 0 || (o[e] = n, s.push(e));
			}
		}
		if (o[a] < 0) return "";
		let c = [a];
		for (; c[c.length - 1] !== i;) c.push(o[c[c.length - 1]]);
		let l = [...c].sort((e, t) => e - t).join();
		return n.set(l, c), l;
	});
	t.forEach((e, t) => e.ring = n.get(r[t]));
}
function Va(e) {
	let t = new Set(e.map(({ ring: e }) => e));
	return t.delete(void 0), [...t].sort((e, t) => e.length - t.length);
}
// src/molecule/layout.ts
var Ha = 1.5, Ua = .75, Wa = 3, Ga = 60, Ka = ([e, t], [n, r]) => [e + n, t + r], qa = ([e, t], [n, r]) => [e - n, t - r], Ja = (e, t = 1) => [t * Math.cos(e), t * Math.sin(e)], Ya = ([e, t]) => Math.atan2(t, e), Xa = (e, t) => Math.hypot(e[0] - t[0], e[1] - t[1]);
function Za(e) {
	let { atoms: t, bonds: n } = e, r = t.map(() => void 0), i = t.map(({ bonds: e }, t) => e.map((e) => ja(n[e], t))), a = eo(Va(n)).map(to), o = new Map(a.flatMap((e) => [...e.keys()].map((t) => [t, e]))), s = 0;
	return t.forEach((t, n) => {
		if (r[n]) return;
		let a = Qa(n, i);
		io(a.find((e) => o.has(e)) ?? n, i, o, r, (t) => $a(e, t)), so(e, a, i, r), oo(a, i, r) > 0 && co(a, i, r), uo(a, r);
		let c = Math.min(...a.map((e) => r[e][0])), l = a.reduce((e, t) => e + r[t][1], 0) / a.length;
		a.forEach((e) => r[e] = Ka(r[e], [s - c, -l])), s = Math.max(...a.map((e) => r[e][0])) + Ha;
	}), r;
}
function Qa(e, t, n = -1) {
	let r = [e], i = new Set([e, n]);
	for (let e of r) for (let n of t[e]) i.has(n) || (i.add(n), r.push(n));
	return r;
}
function $a({ atoms: e, bonds: t }, n) {
	let r = e[n].bonds.map((e) => t[e].order);
	return r.length === 2 && (r.includes(3) || r[0] === 2 && r[1] === 2);
}
function eo(e) {
	let t = [];
	for (let n of e) {
		let e = t.filter((e) => e.some((e) => e.some((e) => n.includes(e)))), r = [n, ...e.flat()];
		e.forEach((e) => t.splice(t.indexOf(e), 1)), t.push(r);
	}
	return t;
}
function to(e) {
	let t = new Map(), n = new Set(e), r = (t) => e.filter((e) => e !== t && e.some((e) => t.includes(e))).length, i = [...e].sort((e, t) => r(t) - r(e) || t.length - e.length)[0];
	for (; i;) {
		no(i, t), n.delete(i);
		let e = (e) => e.filter((e) => t.has(e)).length, r = (t) => e(t) === 0 ? Infinity : e(t) === 2 ? 0 : e(t);
		i = [...n].sort((e, t) => r(e) - r(t))[0];
	}
	return t;
}
function no(e, t) {
	let n = e.length, r = e.map((e) => t.has(e)), i = r.filter(Boolean).length;
	if (i === n) return;
	let a = .5 / Math.sin(Math.PI / n);
	if (i < 2) {
		let i = r.indexOf(!0), o = i < 0 ? void 0 : t.get(e[i]), s = [...t.values()].filter((e) => e !== o && o && Xa(e, o) < 1.2), c = o ? ao(s.map((e) => Ya(qa(e, o))), 1)[0] : 0, l = o ? Ka(o, Ja(c, a)) : [0, 0], u = o ? c + Math.PI : Math.PI / 2;
		e.forEach((e, r) => {
			t.has(e) || t.set(e, Ka(l, Ja(u + 2 * Math.PI * (r - Math.max(0, i)) / n, a)));
		});
		return;
	}
	let o = [...t.values()];
	e.forEach((i, a) => {
		if (!r[a] || r[(a + 1) % n]) return;
		let s = [], c = a + 1;
		for (; !r[c % n]; c++) s.push(e[c % n]);
		let [l, u] = [t.get(i), t.get(e[c % n])], d = [1, -1].map((e) => ro(l, u, s.length, e)), f = (e) => e.reduce((e, t) => e + o.reduce((e, n) => e + 1 / (.01 + Xa(t, n) ** 2), 0), 0), p = f(d[0]) <= f(d[1]) ? d[0] : d[1];
		s.forEach((e, n) => t.set(e, p[n]));
	});
}
function ro(e, t, n, r) {
	let i = Xa(e, t), a = n + 1, [o, s] = [1e-6, 2 * Math.PI / a - 1e-6];
	for (let e = 0; e < 50; e++) {
		let e = (o + s) / 2;
		Math.sin(a * e / 2) / Math.sin(e / 2) > i ? o = e : s = e;
	}
	let c = o, l = Ya(qa(t, e)) + r * c * (a - 1) / 2, u = e;
	return Array.from({ length: n }, () => (u = Ka(u, Ja(l)), l -= r * c, u));
}
function io(e, t, n, r, i) {
	let a = [], o = (e, i, o) => {
		let s = n.get(e);
		if (!s) {
			r[e] = i, a.push(e);
			return;
		}
		let c = s.get(e), l = ao(t[e].filter((e) => s.has(e)).map((e) => Ya(qa(s.get(e), c))), 1)[0], u = o === null ? 0 : o - l;
		for (let [e, t] of s) {
			let [n, o] = qa(t, c);
			r[e] = Ka(i, [n * Math.cos(u) - o * Math.sin(u), n * Math.sin(u) + o * Math.cos(u)]), a.push(e);
		}
	};
	o(e, [0, 0], null);
	for (let e of a) {
		let n = r[e], a = t[e].filter((e) => !r[e]);
		if (!a.length) continue;
		let s = new Map(a.map((n) => [n, Qa(n, t, e).length]));
		a.sort((e, t) => s.get(t) - s.get(e));
		let c = t[e].filter((e) => r[e]).map((e) => Ya(qa(r[e], n))), l;
		l = c.length === 0 ? a.length === 1 ? [-Math.PI / 6] : a.map((e, t) => -Math.PI / 6 + 2 * Math.PI * t / a.length) : c.length === 1 && a.length === 1 ? i(e) ? [c[0] + Math.PI] : [c[0] + 2 * Math.PI / 3, c[0] - 2 * Math.PI / 3] : ao(c, a.length);
		let u = (e) => {
			let t = Ka(n, Ja(e));
			return r.reduce((e, n) => e + (n ? 1 / (.1 + Xa(t, n) ** 4) : 0), 0);
		};
		for (let e of a) {
			let t = l.reduce((e, t) => u(t) < u(e) - 1e-9 ? t : e);
			l.splice(l.indexOf(t), 1), o(e, Ka(n, Ja(t)), t + Math.PI);
		}
	}
}
function ao(e, t) {
	let n = [...e].sort((e, t) => e - t), [r, i] = [0, 0];
	return n.forEach((e, t) => {
		let a = (t + 1 < n.length ? n[t + 1] : n[0] + 2 * Math.PI) - e;
		a > i + 1e-9 && ([r, i] = [e, a]);
	}), Array.from({ length: t }, (e, n) => r + i * (n + 1) / (t + 1));
}
function oo(e, t, n) {
	let r = 0;
	return e.forEach((i, a) => {
		for (let o = a + 1; o < e.length; o++) {
			let a = e[o], s = Xa(n[i], n[a]);
			s < Ua && !t[i].includes(a) && (r += Ua - s);
		}
	}), r;
}
function so({ bonds: e }, t, n, r) {
	let i = e.filter(({ a: e, b: r, ring: i }) => !i && t.includes(e) && n[e].length > 1 && n[r].length > 1), a = oo(t, n, r);
	for (let e = 0; e < Wa && a > 0; e++) for (let { a: e, b: o } of i) {
		let i = [Qa(o, n, e), Qa(e, n, o)], s = i[0].length <= i[1].length ? i[0] : i[1], c = s.map((e) => r[e]), [l, u] = [r[e], Ya(qa(r[o], r[e]))];
		s.forEach((e) => {
			let [t, n] = qa(r[e], l);
			r[e] = Ka(l, Ja(2 * u - Ya([t, n]), Math.hypot(t, n)));
		});
		let d = oo(t, n, r);
		d < a - 1e-9 ? a = d : s.forEach((e, t) => r[e] = c[t]);
	}
}
function co(e, t, n) {
	let r = e.length, i = e.map((n) => {
		let r = new Map([[n, 0]]);
		for (let [e, n] of r) for (let i of t[e]) r.has(i) || r.set(i, n + 1);
		return e.map((e) => lo(r.get(e)));
	}), a = i.map((e) => e.reduce((e, t) => e + (t ? 1 / t ** 2 : 0), 0));
	for (let t = 0; t < Ga; t++) for (let t = 0; t < r; t++) {
		let [o, s] = [0, 0], c = n[e[t]];
		for (let a = 0; a < r; a++) {
			if (a === t) continue;
			let r = n[e[a]], l = i[t][a], u = Xa(c, r) || .001, d = 1 / l ** 2;
			o += d * (r[0] + (c[0] - r[0]) * l / u), s += d * (r[1] + (c[1] - r[1]) * l / u);
		}
		n[e[t]] = [o / a[t], s / a[t]];
	}
}
function lo(e) {
	return e < 2 ? e : .87 * e;
}
function uo(e, t) {
	let n = Array.from({ length: 6 }, (n, r) => {
		let i = r * Math.PI / 6, a = e.map((e) => t[e][0] * Math.sin(i) + t[e][1] * Math.cos(i));
		return Math.max(...a) - Math.min(...a);
	}), r = n.indexOf(Math.min(...n)) * Math.PI / 6;
	e.forEach((e) => {
		let [n, i] = t[e];
		t[e] = [n * Math.cos(r) - i * Math.sin(r), n * Math.sin(r) + i * Math.cos(r)];
	});
}
// src/views/molecule.tsx
var fo = 26, po = {
	width: 260,
	height: 180,
	side: 30,
	edge: 16
}, mo = .18, ho = .3, go = (e) => /smiles/i.test(e);
function _o({ smiles: e, width: t = po.width, height: r = po.height }) {
	let i = n(() => {
		let n = Ia(e);
		return n && vo(n, t, r);
	}, [
		e,
		t,
		r
	]);
	return i ? _("svg", {
		class: "structure",
		viewBox: `0 0 ${i.width} ${i.height}`,
		width: i.width,
		height: i.height,
		role: "img",
		"aria-label": `Structure of ${e}`,
		children: [_("path", { d: i.lines }), i.letters]
	}) : null;
}
function vo(e, t, n) {
	let { atoms: r, bonds: i } = e, a = Za(e), o = (e) => {
		let t = a.map((t) => t[e]);
		return [Math.min(...t), Math.max(...t)];
	}, [[s, c], [l, u]] = [o(0), o(1)], d = Math.min(fo, (t - 2 * po.side) / Math.max(c - s, 1e-9), (n - 2 * po.edge) / Math.max(u - l, 1e-9)), [f, p] = [Math.ceil((c - s) * d + 2 * po.side), Math.ceil((u - l) * d + 2 * po.edge)], m = ([e, t]) => [(e - s) * d + po.side, (u - t) * d + po.edge], h = r.map((e) => e.symbol !== "C" || e.charge !== 0 || e.isotope > 0 || e.bonds.length === 0), g = [], _ = (e, t) => {
		let [[n, r], [i, a]] = [m(e), m(t)];
		g.push(`M${n.toFixed(1)} ${r.toFixed(1)}L${i.toFixed(1)} ${a.toFixed(1)}`);
	};
	for (let { a: e, b: t, order: n, ring: o } of i) {
		let [s, c] = [a[e], a[t]], l = Math.hypot(c[0] - s[0], c[1] - s[1]) || 1, [u, d] = [(c[0] - s[0]) / l, (c[1] - s[1]) / l], f = (n, r = 0) => {
			let [i, a] = [Math.max(r, h[e] ? ho : 0), Math.max(r, h[t] ? ho : 0)];
			i + a >= l || _([s[0] + u * i - d * n, s[1] + d * i + u * n], [c[0] - u * a - d * n, c[1] - d * a + u * n]);
		}, p = r[e].bonds.length === 1 || r[t].bonds.length === 1;
		if (n === 1) f(0);
		else if (n > 2) for (let e of [
			-.18,
			0,
			mo
		]) f(e);
		else if (p && !o) for (let e of [-.18 / 2, mo / 2]) f(e);
		else {
			let n = (o ?? [e, t].flatMap((e) => r[e].bonds.map((t) => ja(i[t], e)))).reduce((e, t) => e + Math.sign(Math.round(100 * ((a[t][1] - s[1]) * u - (a[t][0] - s[0]) * d))), 0);
			f(0), f(n < 0 ? -.18 : mo, .14);
		}
	}
	let v = r.flatMap((t, n) => h[n] ? [bo(t, n, m(a[n]), d, yo(e, a, n))] : []);
	return {
		width: f,
		height: p,
		lines: g.join(""),
		letters: v
	};
}
function yo({ atoms: e, bonds: t }, n, r) {
	return e[r].bonds.reduce((e, i) => e + n[ja(t[i], r)][0] - n[r][0], 0) > .1;
}
function bo({ symbol: e, hydrogens: t, charge: n, isotope: r }, i, [a, o], s, c) {
	let l = Math.max(5, .5 * s), u = n === 0 ? "" : `${Math.abs(n) > 1 ? Math.abs(n) : ""}${n > 0 ? "+" : "−"}`, d = [[r ? String(r) : "", 1], [e, 0]], f = [[t ? "H" : "", 0], [t > 1 ? String(t) : "", -1]], p = c ? [
		[u, 1],
		...f,
		...d
	] : [
		...d,
		...f,
		[u, 1]
	], m = 0, h = (e.length * .36 + (r ? .2 : 0)) * l;
	return _("text", {
		x: c ? a + h : a - h,
		y: o + .36 * l,
		"text-anchor": c ? "end" : "start",
		style: { fontSize: `${l}px` },
		children: p.filter(([e]) => e).map(([e, t], n) => {
			let r = .28 * l * (m - t);
			return m = t, _("tspan", {
				dy: r,
				style: t ? { fontSize: `${.7 * l}px` } : void 0,
				children: e
			}, n);
		})
	}, i);
}
// src/views/icon.tsx
var xo = {
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
function So({ name: e }) {
	return _("svg", {
		class: "icon",
		viewBox: "0 0 24 24",
		width: "18",
		height: "18",
		"aria-hidden": "true",
		children: _("path", { d: xo[e] })
	});
}
// src/views/scene.tsx
var Co = 40, wo = 16, To = 6, Eo = 24, Do = 200, Oo = "sure:";
function ko(e, t = e[0]?.key) {
	return e.find((e) => e.key === (t?.startsWith(Oo) ? t.slice(5) : t));
}
function Ao(e, t) {
	return e.find((e) => e.kind !== "text" && t.test(e.name));
}
function jo({ source: e, settings: a, settle: s, choice: l, asked: u }) {
	let d = bi.value, { name: p, columns: h, sources: g, layouts: v, suffix: y = "" } = e, x = h.columns.filter((e) => e.kind !== "text"), S = Ao(x, /^(lon|lng|long|longitude)$/i), C = Ao(x, /^(lat|latitude)$/i), E = x.filter((t) => t.name !== e.id && t.name !== e.weights), D = E.length >= 2 ? E : x, te = (e, t) => x.find((t) => t.name === e) ?? t, ne = v.map((e) => [e.key, e.title]);
	S && C && ne.push(["sphere", "sphere"]), D.length >= 2 && ne.push(["flat", "columns"]);
	let re = ne.find(([e]) => e === a.view)?.[0] ?? ne[0]?.[0] ?? "flat", O = v.find((e) => e.key === re), k = re === "sphere", A = O?.x ?? te(a.x, S ?? D[0]), j = O?.y ?? te(a.y, C ?? D[1] ?? D[0]), M = O ? O.z : a.z ? x.find((e) => e.name === a.z) : void 0, N = a.colour ?? g[0]?.key ?? e.colour ?? "", P = O ? O.isEqual : A === S && j === C || e.isEqual, F = a.edge !== "no" && !O?.degrees, I = [
		A,
		j,
		...M ? [M] : []
	], ie = n(() => I.map((e) => !O && !k && !P && Ar(e.values)), [
		A,
		j,
		M,
		k,
		P
	]), L = a.log === "no" ? I.map(() => !1) : ie, ae = a.log !== "no" && ie.includes(!0), R = n(() => k ? Ir(S.values, C.values) : Nr(I.map((e, t) => L[t] ? Mr(e) : e), {
		isEqual: P,
		stretch: O?.stretch,
		isEdged: F
	}), [
		k,
		A,
		j,
		M,
		P,
		F,
		ae
	]), oe = O ? O.degrees : !k && A === S && j === C && !M ? { breaks: [] } : void 0, se = k || oe !== void 0;
	w(() => {
		se && e.coast && vi(e.coast);
	}, [se]);
	let z = n(() => {
		if (!se || !gi.value) return null;
		if (k) return {
			shores: Zr(gi.value),
			towns: $r(gi.value)
		};
		let [e, t] = [A, j].map((e) => wr(e.values)), n = oe.breaks;
		if (!e || !t) return null;
		let r = n.reduce((e, [t, n, r]) => e + n - t - r, e[1]);
		if (!Jr([e[0], r], t)) return null;
		let i = e[0] >= -180 && r <= 180 ? -180 : (e[0] + r) / 2 - 180;
		return {
			shores: ti(gi.value, R, i, n),
			towns: ei(gi.value, R, i, n)
		};
	}, [
		gi.value,
		R,
		se
	]), B = T(null), ce = T(null), V = N.startsWith(Oo), H = ko(g, N);
	w(() => {
		let e = new AbortController();
		return ce.value = null, (async () => {
			try {
				if (H) {
					let t = H.ready ?? await H.load(e.signal);
					e.signal.aborted || (B.value = t);
				} else {
					let e = N.startsWith("column:") ? h.columns.find((e) => e.name === N.slice(7)) : void 0;
					B.value = e ? vr(e) : null;
				}
			} catch (t) {
				e.signal.aborted || ([ce.value, B.value] = [t, null]);
			}
		})(), () => e.abort();
	}, [H?.key ?? N, H?.version]);
	let U = T(null), W = T([]), G = T(new Set()), K = T(-1), le = T("move"), ue = T(0), de = i(null), fe = T(new Map()), q = T(null), J = H?.ready ?? (B.value?.groupOf.length === h.rows ? B.value : null), pe = J?.groups.some(({ joins: e }) => e) ? J.groups.filter(({ number: e }) => e >= 0).length : 0, me = Number(a.merged) >= 1 && Number(a.merged) < pe ? Number(a.merged) : 0, Y = n(() => {
		let e = J && me ? mr(J, me) : J && V ? gr(J) : J;
		return e && fe.value.size ? {
			...e,
			groups: e.groups.map((e) => fe.value.has(e.number) ? {
				...e,
				name: fe.value.get(e.number),
				isMerged: !1
			} : e)
		} : e;
	}, [
		J,
		V,
		me,
		fe.value
	]);
	w(() => {
		G.value = new Set(), fe.value = new Map();
	}, [J?.title, me]);
	let he = (e) => Y !== null && G.value.size > 0 && G.value.has(Y.groupOf[e]), ge = n(() => Po(R, h.rows, Y, U.value, G.value, d), [
		R,
		Y,
		U.value,
		G.value,
		d
	]), _e = n(() => U.value ? U.value.reduce((e, t) => e + t, 0) : 0, [U.value]), ve = n(() => Fo(R, Y, G.value, d), [
		R,
		Y,
		G.value,
		d
	]), ye = n(() => K.value < 0 ? -1 : R.rowOf.indexOf(K.value), [R, K.value]), be = (e, t, n) => {
		let i = t === "replace" || !U.value ? new Uint8Array(h.rows) : U.value.slice();
		for (let n of e) i[n] = t === "subtract" ? 0 : 1;
		let a = i.includes(1);
		r(() => {
			U.value = a ? i : null;
			let e = {
				replace: "",
				add: "and ",
				subtract: "without "
			}[t];
			W.value = a ? t === "replace" ? [n] : [...W.value, `${e}${n}`] : [];
		}), f(a ? `${b(i.reduce((e, t) => e + t, 0))} rows selected.` : "Nothing is selected.");
	}, xe = () => r(() => [U.value, W.value, K.value] = [
		null,
		[],
		-1
	]), Se = () => {
		if (!U.value) return;
		let e = U.value.map((e, t) => e || he(t) ? 0 : 1);
		U.value = e.includes(1) ? e : null, W.value = [...W.value, "inverted"];
	}, Ce = function* (e) {
		for (let t = 0; t < h.rows; t++) Y.groupOf[t] === e && (yield t);
	}, we = (e, t) => be(Ce(e), t, `${H ? "cluster " : `${Y.title} `}${Y.groups[e].name}`), Te = (e, t) => be(_r(Y, e), t, `probability below ${e}`), Ee = () => {
		if (!U.value || !Y) return;
		let e = new Set(G.value);
		U.value.forEach((t, n) => t && e.add(Y.groupOf[n])), e.size < Y.groups.length && (G.value = e);
	}, De = (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
		let t = {
			l: () => le.value = "lasso",
			b: () => le.value = "box",
			m: () => le.value = "move",
			i: Se,
			h: Ee,
			Escape: xe,
			f: () => de.current?.fit()
		}[e.key];
		t && (e.preventDefault(), t());
	}, Oe = u?.value;
	w(() => {
		if (!Oe || !Y) return;
		let e = Y.groups.findIndex((e) => e.number === Oe.group);
		e >= 0 && be(Ce(e), "replace", `cluster ${Y.groups[e].name}`);
	}, [Oe]);
	let ke = n(() => D, [h]), Ae = !e.sampled && Y !== null && Y.groups.length > 0 && ke.length > 0, je = ue.value || (h.rows > 3e5 ? 1 : h.rows > 3e4 ? 2 : h.rows > 3e3 ? 4 : h.rows > 500 ? 7 : 9), Me = (t) => h.columns.filter((t) => t.name !== e.id).slice(0, 6).map((e) => `${e.name} ${e.kind === "text" ? e.values[t] : c(e.values[t], 6)}`).join(" · "), Ne = h.columns.find((t) => t.name === e.id), Pe = (t) => e.titleOf ? e.titleOf(t) : Ne ? String(Ne.kind === "text" ? Ne.values[t] : c(Ne.values[t], 12)) : `row ${b(t + 1)}`, Fe = (e) => {
		let t = Y?.groups[Y.groupOf[e]];
		return t ? t.name : "";
	}, Ie = `${p}: ${O ? O.title : k ? "positions on the sphere" : `${A.name} and ${j.name}${M ? ` and ${M.name}` : ""}`}${Y ? `, coloured by ${Y.isSure ? "how sure they are in " : ""}${Y.title}` : ""}; ${b(h.rows)} rows`, Le = `${Ie}.${Y?.groups.length ? ` ${Y.groups.length} groups; the list beside the picture has them all.` : ""}${_e ? ` ${b(_e)} rows are selected; the table below has them.` : ""} Arrow keys move, plus and minus zoom, Enter picks the middle point.`;
	return _("div", {
		class: "scene",
		style: { gridTemplateRows: Ae ? "auto 1fr" : void 0 },
		onKeyDown: De,
		children: [
			_("section", {
				class: "card picture",
				"aria-label": "Picture",
				children: [
					_("div", {
						class: "tools choices",
						children: [l, _(No, {
							columns: h,
							numbers: x,
							x: A.name,
							y: j.name,
							z: M?.name ?? "",
							view: re,
							views: ne,
							sources: g,
							colourKey: N,
							settle: s
						})]
					}),
					_("div", {
						class: "framed",
						inert: e.sampled !== void 0,
						children: [_("div", {
							class: "stage",
							children: _($i, {
								cloud: R,
								paint: ge,
								theme: d,
								tool: le.value,
								isEqual: P || O?.stretch !== void 0,
								pointWidth: je,
								degrees: O?.degrees ?? (z ? oe : void 0),
								shores: z?.shores,
								towns: z?.towns,
								ground: O?.ground,
								outlines: Y && O?.outlines && O.outlines.filter(({ group: e }) => !G.value.has(e)),
								names: [
									0,
									1,
									2
								].map((e) => I[e] ? `${I[e].name}${L[e] ? " (log)" : ""}` : ""),
								logs: L,
								summary: Le,
								caption: Ie,
								marks: ve,
								picked: ye,
								forced: a.renderer,
								handle: de,
								onSelect: (e, t, n) => be(Mo(e, (e) => R.rowOf[e]), t, n),
								onPick: (e) => K.value = e < 0 ? -1 : R.rowOf[e],
								hint: (e) => {
									let t = R.rowOf[e], n = Y?.groups.length ? Fe(t) : "";
									return {
										title: n && n !== "no cluster" && n !== "no value" ? `${H ? "Cluster " : ""}${n} · ${Pe(t)}` : Pe(t),
										text: `${Y?.isSure ? `probability ${c(Y.probability[t], 3)} · ` : ""}${Me(t)}`,
										colour: br(Y, t, d)
									};
								}
							})
						}), _("div", {
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
								].map(([e, t, n]) => _("button", {
									type: "button",
									"aria-pressed": le.value === e,
									title: n,
									"aria-label": n,
									onClick: () => le.value = e,
									children: _(So, { name: t })
								}, e)),
								_("button", {
									type: "button",
									title: "Zoom in (+)",
									"aria-label": "Zoom in",
									onClick: () => de.current?.zoom(1.5),
									children: _(So, { name: "plus" })
								}),
								_("button", {
									type: "button",
									title: "Zoom out (-)",
									"aria-label": "Zoom out",
									onClick: () => de.current?.zoom(1 / 1.5),
									children: _(So, { name: "minus" })
								}),
								_("button", {
									type: "button",
									title: "Fit all (F)",
									"aria-label": "Fit all",
									onClick: () => de.current?.fit(),
									children: _(So, { name: "fit" })
								})
							]
						})]
					}),
					e.sampled ? _("p", {
						class: "note",
						children: ["A sample. ", e.sampled]
					}) : _("div", {
						class: "tools under",
						children: [
							_("label", { children: ["Point size", _("input", {
								type: "range",
								min: "1",
								max: "15",
								step: "1",
								value: je,
								onInput: (e) => ue.value = Number(e.currentTarget.value)
							})] }),
							_(ee, {
								name: p,
								make: () => de.current.svg(),
								fail: (e) => ce.value = e
							}),
							_("span", {
								class: "note",
								children: le.value === "move" ? R.shape === "plane" ? "Drag to move, scroll to zoom, click a point to see its row." : "Drag to turn, Shift and drag to move, scroll to zoom." : "Drag around points. Shift adds, Alt takes away."
							})
						]
					}),
					R.missing > 0 && _("p", {
						class: "note",
						children: [
							b(R.missing),
							" ",
							R.missing === 1 ? "row has" : "rows have",
							" a missing value in these columns and ",
							R.missing === 1 ? "is" : "are",
							" not drawn."
						]
					}),
					(R.beyond > 0 || a.edge === "no") && _("p", {
						class: "note",
						children: [R.beyond > 0 ? `${b(R.beyond)} ${R.beyond === 1 ? "row lies" : "rows lie"} farther out and ${R.beyond === 1 ? "is" : "are"} drawn at the edge. ` : "", _("button", {
							type: "button",
							class: "link",
							onClick: () => s({ edge: a.edge === "no" ? null : "no" }),
							children: a.edge === "no" ? "Draw rows that lie far out at the edge" : "Show where they lie"
						})]
					}),
					ie.includes(!0) && _("p", {
						class: "note",
						children: [ae ? `${I.filter((e, t) => L[t]).map(({ name: e }) => e).join(" and ")}: drawn by the logarithm, since most values lie near the low end. ` : "", _("button", {
							type: "button",
							class: "link",
							onClick: () => s({ log: ae ? "no" : null }),
							children: ae ? "Draw values as they are" : "Draw crowded values by their logarithm"
						})]
					}),
					O?.note && _("p", {
						class: "note",
						children: O.note
					}),
					_(o, { error: ce.value })
				]
			}),
			_("aside", {
				class: "side",
				style: { gridRow: Ae ? "span 2" : void 0 },
				children: !e.sampled && _(t, { children: [
					K.value >= 0 && _(Wo, {
						suffix: y,
						columns: h,
						row: K.value,
						title: Pe(K.value),
						cluster: Y?.groups.length ? `${m(Y.title)}: ${Fe(K.value)}` : "",
						probability: Y?.probability?.[K.value] ?? null,
						close: () => K.value = -1
					}),
					Y?.isSure && _(Ho, {
						suffix: y,
						grouping: Y,
						theme: d,
						choose: Te
					}),
					Y && Y.groups.length > 0 && _(Ro, {
						suffix: y,
						grouping: Y,
						rows: h.rows,
						theme: d,
						hidden: G.value,
						isOfJob: H !== void 0,
						hide: (e) => G.value = e,
						rename: (e, t) => fe.value = new Map(fe.value).set(e, t),
						most: pe,
						merge: (e) => s({ merged: e < pe ? String(e) : null }),
						choose: we
					}),
					Y && H?.hasProbability && Y.probability && !Y.isSure && _(Ho, {
						suffix: y,
						grouping: Y,
						theme: d,
						choose: Te
					}),
					Y?.outliers && Y.outliers.length > 0 && _(Bo, {
						suffix: y,
						outliers: Y.outliers,
						titleOf: Pe,
						pick: (e) => K.value = e,
						choose: () => be(Y.outliers.map(({ row: e }) => e), "replace", "out of the ordinary")
					}),
					Y?.scale && !Y.isSure && _(Uo, {
						title: Y.title,
						...Y.scale,
						theme: d
					}),
					!Y && _("div", {
						class: "card",
						children: [_("p", {
							class: "note",
							children: "Choose under \"Colour\" what points are coloured by. Clusters appear here when a job has found some."
						}), e.find && !g.length && _("p", {
							class: "note",
							children: _("a", {
								class: "button",
								href: e.find,
								children: "Find clusters"
							})
						})]
					})
				] })
			}),
			Ae && _(Fi, {
				suffix: y,
				columns: ke,
				grouping: Y,
				hidden: G.value,
				theme: d,
				column: a.box,
				settle: (e) => s({ box: e }),
				nameOf: (e) => Io(Y.groups[e], H !== void 0),
				choose: we
			}),
			q.value && _(Aa, {
				suffix: y,
				columns: h,
				grouping: Y,
				kept: q.value,
				chosen: U.value,
				recipe: W.value.join(", "),
				close: () => q.value = null
			}),
			U.value && _(Go, {
				keep: () => q.value = {
					rows: U.value,
					recipe: W.value.join(", ")
				},
				source: e,
				titleOf: Pe,
				columns: h,
				chosen: U.value,
				total: _e,
				recipe: W.value,
				grouping: H ? Y : null,
				clear: xe,
				invert: Se,
				pick: (e) => K.value = e,
				picked: K.value
			})
		]
	});
}
function* Mo(e, t) {
	for (let n of e) yield t(n);
}
function No({ columns: e, numbers: n, x: r, y: i, z: a, view: o, views: s, sources: c, colourKey: l, settle: u }) {
	let d = (e, t, r) => _("label", { children: [e, _("select", {
		value: r,
		onChange: (e) => u({ [t]: e.currentTarget.value }),
		children: [t === "z" && _("option", {
			value: "",
			children: "none"
		}), n.map((e) => _("option", {
			value: e.name,
			children: e.name
		}, e.name))]
	})] });
	return _(t, { children: [
		_("label", { children: ["Colour", _("select", {
			value: l || "none",
			onChange: (e) => u({
				colour: e.currentTarget.value || "none",
				merged: null
			}),
			children: [
				_("option", {
					value: "none",
					children: "one colour"
				}),
				c.map((e) => _(t, { children: [_("option", {
					value: e.key,
					children: e.title
				}), e.hasProbability && _("option", {
					value: Oo + e.key,
					children: ["how sure: ", e.title.replace("clusters of ", "")]
				})] }, e.key)),
				e.columns.map((e) => _("option", {
					value: `column:${e.name}`,
					children: ["column ", e.name]
				}, e.name))
			]
		})] }),
		s.length > 1 && _("label", { children: ["View", _("select", {
			value: o,
			onChange: (e) => u({ view: e.currentTarget.value === s[0][0] ? null : e.currentTarget.value }),
			children: s.map(([e, t]) => _("option", {
				value: e,
				children: t
			}, e))
		})] }),
		o === "flat" && _(t, { children: [
			d("Across", "x", r),
			d("Upwards", "y", i),
			n.length > 2 && d("Depth", "z", a)
		] })
	] });
}
function Po(e, t, n, r, i, a) {
	let o = new Uint32Array(e.count), s = n?.groups.map((e) => pi(yr(e, a), 255)) ?? [], c = pi(br(n && !n.scale ? {
		...n,
		groups: []
	} : null, 0, a), 255), l = Array.from({ length: 256 }, (e, t) => pi(rr(t / 255, a), 255)), u = pi(rr(NaN, a), 255), d = pi($n[a], 254);
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
function Fo(e, t, n, r) {
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
			text: t.name.length <= wo ? t.name : `${t.name.slice(0, 15)}…`,
			colour: t.place === void 0 ? yr(t, r) : "var(--soft)",
			x: n / s,
			y: i / s,
			z: a / s
		};
	});
}
function Io({ number: e, name: t, isMerged: n }, r) {
	return e < 0 || !r || t !== String(e) && !n ? t : `${n ? "Clusters" : "Cluster"} ${t}`;
}
function Lo({ probability: e, partners: t }) {
	let n = t?.split("+") ?? [], r = n.length > To ? `${n.slice(0, To).join("+")} and ${b(n.length - To)} more` : t;
	return [...e === void 0 ? [] : [`sure ${e.toFixed(2)}`], ...r ? [`merges with ${r}`] : []].join(", ");
}
function Ro({ suffix: e, grouping: t, rows: n, theme: r, hidden: i, isOfJob: a, most: o, hide: s, rename: l, merge: u, choose: d }) {
	let f = T(!1), p = T(null), m = T(""), h = t.groups.map((e, t) => t), g = h.filter((e) => t.groups[e].name.toLowerCase().includes(m.value.trim().toLowerCase())), v = f.value ? g : g.slice(0, Co), y = (e) => {
		let t = new Set(i);
		t.delete(e) || t.add(e), s(t);
	}, x = (e) => !i.has(e) && i.size === h.length - 1, S = t.groups.filter((e) => e.number >= 0).length;
	return _("section", {
		class: "card",
		"aria-labelledby": `groups${e}`,
		children: [
			_("div", {
				class: "head tight",
				children: [_("h2", {
					id: `groups${e}`,
					children: [
						a ? "Clusters" : t.title,
						" ",
						_("span", {
							class: "soft",
							children: b(S)
						})
					]
				}), i.size > 0 && _("button", {
					type: "button",
					onClick: () => s(new Set()),
					children: "Show all"
				})]
			}),
			o > 2 && _("label", {
				class: "merged",
				title: "Clusters merge in the order in which that raises the squared distances least (Ward's rule)",
				children: [
					"Show ",
					_("input", {
						type: "range",
						min: "1",
						max: o,
						step: "1",
						value: S,
						"aria-valuetext": `${S} of ${o} clusters`,
						onInput: (e) => u(Number(e.currentTarget.value))
					}),
					S < o ? `${b(S)} of ${b(o)}` : `all ${b(o)}`
				]
			}),
			t.groups.length > Co && _("label", { children: [_("span", {
				class: "unseen",
				children: ["Search ", a ? "clusters" : t.title]
			}), _("input", {
				type: "search",
				placeholder: "Search",
				value: m.value,
				onInput: (e) => m.value = e.currentTarget.value
			})] }),
			_("ul", {
				class: "groups",
				children: v.map((e) => {
					let o = t.groups[e], u = Io(o, a), f = Lo(o);
					return p.value === o.number ? _("li", { children: _("form", {
						class: "inline",
						onSubmit: (e) => {
							e.preventDefault();
							let t = e.currentTarget.querySelector("input").value.trim();
							l(o.number, t || String(o.number)), p.value = null;
						},
						children: [_("input", {
							"aria-label": `New name of ${u}`,
							defaultValue: o.name,
							maxLength: 80,
							ref: (e) => e?.focus(),
							onKeyDown: (e) => e.key === "Escape" && (e.stopPropagation(), p.value = null)
						}), _("button", {
							type: "submit",
							children: "Name"
						})]
					}) }, o.number) : _("li", {
						class: i.has(e) ? "off" : "",
						children: [
							_("button", {
								type: "button",
								class: "name",
								title: "Select its rows. Shift adds, Alt takes away.",
								onClick: (t) => d(e, t.altKey ? "subtract" : t.shiftKey ? "add" : "replace"),
								children: [
									_("i", {
										class: "swatch",
										style: { background: yr(o, r) }
									}),
									_("span", {
										class: "text",
										children: u
									}),
									_("span", {
										class: "number",
										children: b(o.rows)
									}),
									_("span", {
										class: "number soft",
										children: [c(100 * o.rows / n, 2), " %"]
									}),
									o.about && _("small", { children: o.about }),
									f && _("small", {
										title: "The mean probability of its rows; the clusters with which it would merge first",
										children: f
									})
								]
							}),
							a && o.number >= 0 && _("button", {
								type: "button",
								class: "bare",
								title: `Rename ${u}`,
								"aria-label": `Rename ${u}`,
								onClick: () => p.value = o.number,
								children: _(So, { name: "pen" })
							}),
							_("button", {
								type: "button",
								class: "bare",
								"aria-pressed": x(e),
								title: `Show only ${u}`,
								"aria-label": `Show only ${u}`,
								onClick: () => s(x(e) ? new Set() : new Set(h.filter((t) => t !== e))),
								children: _(So, { name: "only" })
							}),
							_("button", {
								type: "button",
								class: "bare",
								"aria-pressed": i.has(e),
								title: `Hide ${u}`,
								"aria-label": `Hide ${u}`,
								onClick: () => y(e),
								children: _(So, { name: i.has(e) ? "hidden" : "shown" })
							})
						]
					}, o.number);
				})
			}),
			g.length > v.length && _("button", {
				type: "button",
				onClick: () => f.value = !0,
				children: ["Show all ", b(g.length)]
			})
		]
	});
}
var zo = 12;
function Bo({ suffix: e, outliers: t, titleOf: n, pick: r, choose: i }) {
	return _("section", {
		class: "card",
		"aria-labelledby": `far${e}`,
		children: [
			_("div", {
				class: "head tight",
				children: [_("h2", {
					id: `far${e}`,
					children: ["Outliers ", _("span", {
						class: "soft",
						children: b(t.length)
					})]
				}), _("button", {
					type: "button",
					onClick: i,
					children: "Select them"
				})]
			}),
			_("p", {
				class: "note",
				children: "Rows unusually far from the centre of their cluster, and the columns that make it so."
			}),
			_("ul", {
				class: "plainlist",
				children: t.slice(0, zo).map(({ row: e, cluster: t, about: i }) => _("li", { children: [
					_("button", {
						type: "button",
						class: "link",
						onClick: () => r(e),
						children: n(e)
					}),
					" ",
					_("span", {
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
			t.length > zo && _("p", {
				class: "note",
				children: [
					"The farthest ",
					zo,
					" of ",
					b(t.length),
					"."
				]
			})
		]
	});
}
var Vo = .8;
function Ho({ suffix: e, grouping: r, theme: i, choose: a }) {
	let o = T(Vo), s = n(() => {
		let e = 0;
		for (let t of _r(r, o.value)) e++;
		return e;
	}, [r, o.value]), c = r.scale?.gaps ?? 0;
	return _("section", {
		class: "card",
		"aria-labelledby": `sure${e}`,
		children: [
			_("h2", {
				id: `sure${e}`,
				children: "How sure"
			}),
			r.isSure && _(t, { children: [
				_("div", {
					class: "ramp",
					"aria-hidden": "true",
					children: Array.from({ length: 24 }, (e, t) => _("i", { style: { background: rr(1 - t / 23, i) } }, t))
				}),
				_("p", {
					class: "ends",
					children: [_("span", { children: [.5, " or less, unsure"] }), _("span", { children: "1, sure" })]
				}),
				c > 0 && _("p", {
					class: "note",
					children: [
						b(c),
						" ",
						c === 1 ? "row is" : "rows are",
						" in no cluster, and grey."
					]
				})
			] }),
			_("p", {
				class: "note",
				children: "The probability that a row belongs to its cluster, and not to a neighbouring one."
			}),
			_("div", {
				class: "tools",
				children: [_("label", {
					class: "check",
					children: [
						"Below ",
						o.value.toFixed(2),
						_("input", {
							type: "range",
							min: "0",
							max: "1",
							step: "0.01",
							value: o.value,
							onInput: (e) => o.value = Number(e.currentTarget.value)
						})
					]
				}), _("button", {
					type: "button",
					disabled: s === 0,
					title: "Select these rows. Shift adds, Alt takes away.",
					onClick: (e) => a(o.value, e.altKey ? "subtract" : e.shiftKey ? "add" : "replace"),
					children: [
						"Select ",
						b(s),
						" ",
						s === 1 ? "row" : "rows"
					]
				})]
			})
		]
	});
}
function Uo({ title: e, low: t, high: n, isLog: r, gaps: i, theme: a }) {
	return _("section", {
		class: "card",
		"aria-label": `Scale of ${e}`,
		children: [
			_("h2", { children: e }),
			_("div", {
				class: "ramp",
				"aria-hidden": "true",
				children: Array.from({ length: 24 }, (e, t) => _("i", { style: { background: rr(t / 23, a) } }, t))
			}),
			_("p", {
				class: "ends",
				children: [
					_("span", { children: c(t) }),
					_("span", { children: r ? "logarithmic" : "" }),
					_("span", { children: c(n) })
				]
			}),
			i > 0 && _("p", {
				class: "note",
				children: [
					b(i),
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
function Wo({ suffix: e, columns: t, row: n, title: r, cluster: i, probability: a, close: o }) {
	return _("section", {
		class: "card",
		"aria-labelledby": `picked${e}`,
		"aria-live": "polite",
		children: [
			_("div", {
				class: "head tight",
				children: [_("h2", {
					id: `picked${e}`,
					children: r
				}), _("button", {
					type: "button",
					class: "bare",
					"aria-label": "Close",
					onClick: o,
					children: _(So, { name: "close" })
				})]
			}),
			i && _("p", {
				class: "note",
				children: [i, a === null ? "" : `, probability ${c(a, 4)}`]
			}),
			t.columns.map((e) => go(e.name) && e.kind === "text" && _(_o, { smiles: e.values[n] }, e.name)),
			_("dl", {
				class: "facts one",
				children: t.columns.slice(0, 200).map((e) => _("div", { children: [_("dt", { children: e.name }), _("dd", { children: e.kind === "text" ? e.values[n] : c(e.isSingle ? p(e.values[n]) : e.values[n], 12) })] }, e.name))
			})
		]
	});
}
function Go({ keep: e, source: t, titleOf: r, columns: i, chosen: a, total: s, recipe: c, grouping: u, clear: d, invert: m, pick: h, picked: v }) {
	let { name: x, suffix: S = "" } = t, C = T(null), w = T(null), E = T(!1), D = n(() => {
		let e = [];
		for (let t = 0; t < a.length && e.length < Do; t++) a[t] && e.push(t);
		return e;
	}, [a]), ee = i.columns.find(({ name: e }) => go(e)), te = u !== null && u.groups.some(({ name: e, number: t }) => t >= 0 && e !== String(t)), ne = u ? [
		"cluster",
		...te ? ["cluster_name"] : [],
		...u.probability ? ["probability"] : []
	] : [], re = `${x}-${c.join("-").replace(/[^\w-]+/g, "_")}`.slice(0, 100), O = new Set(i.columns.map((e) => e.name)), k = [...i.columns.map((e) => e.name), ...ne.map((e) => O.has(e) ? `${e}_` : e)], A = (e) => [...i.columns.map((t) => t.isSingle ? p(t.values[e]) : t.values[e]), ...u ? [
		u.groups[u.groupOf[e]]?.number ?? -1,
		...te ? [u.groups[u.groupOf[e]]?.name ?? ""] : [],
		...u.probability ? [u.probability[e]] : []
	] : []], j = () => {
		let e = t.titleOf !== void 0, n = [y(e ? ["id", ...k] : k)];
		for (let t = 0; t < a.length; t++) a[t] && n.push(y(e ? [r(t), ...A(t)] : A(t)));
		return new Blob(n, { type: "text/csv" });
	}, M = async () => {
		E.value = !0, C.value = null;
		try {
			let e = await t.save(w.value.trim(), j(), a);
			f(`${w.value} is there: ${b(e)} rows.`), w.value = null;
		} catch (e) {
			C.value = e;
		} finally {
			E.value = !1;
		}
	};
	return _("section", {
		class: "card chosen",
		"aria-labelledby": `chosen${S}`,
		children: [
			_("div", {
				class: "head",
				children: [_("div", { children: [_("h2", {
					id: `chosen${S}`,
					children: [b(s), " rows selected"]
				}), _("p", {
					class: "note",
					children: c.join(", ")
				})] }), _("div", {
					class: "tools",
					children: [
						_("button", {
							type: "button",
							class: "first",
							onClick: () => l(`${re}.csv`, j()),
							children: "Export CSV"
						}),
						t.save && _("button", {
							type: "button",
							onClick: () => w.value = w.value === null ? re : null,
							children: "Save as data set"
						}),
						_("button", {
							type: "button",
							onClick: e,
							children: "Compare"
						}),
						_("button", {
							type: "button",
							onClick: m,
							children: "Invert (I)"
						}),
						_("button", {
							type: "button",
							onClick: d,
							children: "Clear (Esc)"
						})
					]
				})]
			}),
			w.value !== null && _("form", {
				class: "inline",
				onSubmit: (e) => {
					e.preventDefault(), M();
				},
				children: [_("label", { children: ["Name ", _("input", {
					value: w.value,
					onInput: (e) => w.value = e.currentTarget.value
				})] }), _("button", {
					type: "submit",
					class: "first",
					disabled: E.value,
					children: "Save"
				})]
			}),
			_(o, { error: C.value }),
			ee?.kind === "text" && _("ul", {
				class: "plainlist gallery",
				children: D.slice(0, Eo).map((e) => _("li", { children: [_("button", {
					type: "button",
					class: "link",
					onClick: () => h(e),
					children: r(e)
				}), _(_o, {
					smiles: ee.values[e],
					width: 190,
					height: 130
				})] }, e))
			}),
			_(g, {
				caption: "Selected rows",
				names: ["row", ...k],
				rows: D.map((e) => [t.titleOf ? r(e) : e + 1, ...A(e)]),
				on: D.indexOf(v),
				pick: (e) => h(D[e])
			}),
			s > D.length && _("p", {
				class: "note",
				children: [
					"The first ",
					b(D.length),
					" are shown; the export has all ",
					b(s),
					"."
				]
			})
		]
	});
}
// src/views/explore.tsx
async function Ko() {
	let e = await fetch("./coast.json");
	if (!e.ok) throw Error(`coast.json: ${e.status}`);
	return e.text();
}
var qo = 6e8, Jo = 6e4, Yo = 11;
function Xo(e) {
	let t = Math.max(Yo, Math.ceil(e / Jo));
	for (let e = 2; e * e <= t; e++) t % e === 0 && ([t, e] = [t + 1, 1]);
	return t;
}
function Zo() {
	let e = d(), t = e ? a(e).value : null;
	if (!e) return _("p", {
		class: "empty",
		children: "This node has no service of data sets."
	});
	if (!t) return _("p", {
		class: "empty",
		children: "Asking the node…"
	});
	let n = Object.keys(t.datasets).filter((e) => x(t.datasets[e])), { data: r } = u.value.settings, i = r ? t.datasets[r] : void 0, o = _("label", { children: ["Data", _("select", {
		value: r ?? "",
		onChange: (e) => location.hash = h("explore", { data: e.currentTarget.value }),
		children: [
			!i && _("option", {
				value: "",
				children: "choose…"
			}),
			i && !n.includes(r) && _("option", { children: r }),
			n.map((e) => _("option", {
				value: e,
				children: e
			}, e))
		]
	})] });
	return i ? _($o, {
		path: e,
		name: r,
		dataset: i,
		choice: o
	}, `${r} ${i.content}`) : _("section", {
		class: "card",
		children: [_("div", {
			class: "tools",
			children: o
		}), _("p", {
			class: "empty",
			children: [r ? `There is no data set "${r}" any more. ` : "", n.length ? "Choose a data set with at least two columns of numbers." : "No data set has two columns of numbers yet. Bring one in under Data."]
		})]
	});
}
function Qo({ done: e, rows: n }) {
	return _(t, { children: [
		_("progress", {
			max: n,
			value: e.value,
			"aria-label": "Rows read"
		}),
		" ",
		b(e.value),
		" of ",
		b(n),
		" rows"
	] });
}
function $o({ path: e, name: t, dataset: n, choice: r }) {
	let i = T(null), a = T(0), s = T(null);
	w(() => {
		let r = new AbortController();
		if (n.bytes > qo) {
			s.value = `${t} has ${c(n.bytes / 1e6, 3)} MB of values; the page takes ${qo / 1e6} MB. Bring in fewer columns, or fewer rows.`;
			return;
		}
		let o = async (i) => {
			a.value = 0;
			let o = ko(es(e, t, n, i), u.peek().settings.colour), [s, c] = await Promise.all([qn(e, t, (e) => a.value = e, r.signal, { every: i }), o?.load(r.signal).catch(() => null)]);
			return {
				columns: s,
				every: i,
				labels: o && c ? {
					source: o,
					colouring: c
				} : null
			};
		}, l = (e) => {
			r.signal.aborted || (i.value = e);
		};
		return (async () => {
			let e = n.rows > 2 * Jo ? await o(Xo(n.rows)) : null, t = o(1);
			e && l(e), l(await t);
		})().catch((e) => {
			r.signal.aborted || (s.value = e);
		}), () => r.abort();
	}, []);
	let l = _(Qo, {
		done: a,
		rows: n.rows
	});
	return !i.value || s.value ? _("section", {
		class: "card",
		children: [
			_("div", {
				class: "tools",
				children: r
			}),
			_(o, { error: s.value }),
			!s.value && _("p", {
				class: "empty",
				children: l
			})
		]
	}) : _(ts, {
		path: e,
		name: t,
		dataset: n,
		read: i.value,
		choice: r,
		progress: l
	});
}
function es(e, t, n, r) {
	let { datasets: i } = a(e).value, o = [];
	for (let s of C()) for (let [c, l] of Object.entries(a(s.path).value?.jobs ?? {})) {
		let { labels: a, centers: u, outliers: d } = l.outputs, f = a && i[a];
		if (!f || f.rows !== n.rows) continue;
		let p = Object.values(l.inputs).includes(t);
		if (!p && !/\/(positions|places)$/.test(t)) continue;
		let m = `clusters of ${c}`, h = async (t) => {
			let o = (n, o) => n && i[n]?.rows ? qn(e, n, () => {}, t, {
				columns: o,
				every: n === a ? r : 1
			}) : null, s = f.columns.map((e) => e.name).filter((e) => /^(cluster|component|probability)$/.test(e)), [c, h, g] = await Promise.all([
				o(a, s),
				o(u),
				r > 1 ? null : o(d)
			]), _ = sr(m, c);
			return h && lr(_, h), g && dr(_, g, ur(g, p && !l.options.id && !n.id ? null : await o(a, ["id", "distance"]))), _;
		}, g = f.columns.some((e) => e.name === "probability");
		o.push({
			key: `job:${s.path}|${c}`,
			title: m,
			version: `${a} ${r}`,
			load: h,
			hasProbability: g
		});
	}
	return o.reverse();
}
function ts({ path: e, name: t, dataset: r, read: i, choice: a, progress: o }) {
	let { columns: s, every: c, labels: l } = i, d = async (t, n, r) => {
		let i = s.columns.filter((e) => e.kind === "text"), a = s.columns.some((e) => e.kind === "number" && e.values.some((e, t) => r[t] && e !== e)), o = {
			...a ? { gaps: a } : {},
			...i.length === 1 && !a ? { id: i[0].name } : {}
		};
		return (await S(e, t, "csv", o, n, !1, () => {}, new AbortController().signal)).rows;
	}, f = n(() => ({
		name: t,
		columns: s,
		id: r.id,
		weights: r.weights,
		layouts: [],
		find: h("jobs", {
			new: "1",
			data: t
		}),
		isEqual: /\/(positions|places)$/.test(t),
		coast: Ko,
		save: d
	}), [s]), p = es(e, t, r, c).map((e) => e.key === l?.source.key && e.version === l.source.version ? {
		...e,
		ready: l.colouring
	} : e), m = {
		...f,
		sources: p,
		sampled: c > 1 ? o : void 0
	};
	return _(jo, {
		source: m,
		settings: u.value.settings,
		settle: v,
		choice: a
	});
}
export { Zo as default };
