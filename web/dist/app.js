// node_modules/preact/dist/preact.mjs
var e, t, n, r, i, a, o, s, c, l, u, d = Symbol.for("pv"), f = {}, p = [], m = /^m(i|n|o|s|text|space)$/, h = Array.isArray, g = p.slice, _ = Object.assign;
function v(e) {
	e && e.parentNode && e.remove();
}
function y(e, t, n) {
	var r, i, a, o = {}, s = arguments.length;
	for (a in t) a == "key" ? r = t[a] : a == "ref" && typeof e != "function" ? i = t[a] : o[a] = t[a];
	return s > 2 && (o.children = s > 3 ? g.call(arguments, 2) : n), b(e, o, r, i, null);
}
function b(n, r, i, a, o) {
	var s = {
		type: n,
		props: r,
		key: i,
		ref: a,
		__k: null,
		__: null,
		__b: 0,
		__e: null,
		__c: null,
		constructor: d,
		__v: o || ++t,
		__i: -1,
		__u: 0
	};
	return !o && e.vnode && e.vnode(s), s;
}
function x(e) {
	return e.children;
}
function S(e, t) {
	this.props = e, this.context = t, this.__g = 0;
}
function C(e, t) {
	if (t == null) return e.__ && C(e.__, e.__i + 1);
	for (var n; t < e.__k.length; t++) if ((n = e.__k[t]) && n.__e) return n.__e;
	return typeof e.type != "function" || e.props.__P ? null : C(e);
}
function w(t) {
	var n, r = t.__v, i = r.__e, a = [], o = [], s = t.__P;
	s && ((n = _({ constructor: d }, r)).__v = r.__v + 1, e.vnode && e.vnode(n), ie(s, n, r, t.__n, s.namespaceURI, 32 & r.__u ? [i] : null, a, i || C(r), 32 & r.__u, o), n.__v = r.__v, n.__.__k[n.__i] = n, j(a, n, o), r.__ = r.__e = null, n.__e != i && T(n));
}
function T(e) {
	if ((e = e.__) && e.__c && !e.props.__P) return e.__e = null, e.__k.some(function(t) {
		return t && (e.__e = t.__e);
	}), T(e);
}
function E(t) {
	(8 & t.__g || (t.__g |= 8, r.push(t), a++)) && i == e.debounceRendering || ((i = e.debounceRendering) || queueMicrotask)(D);
}
function D() {
	try {
		for (var e, t = 1; r.length;) r.length > t && r.sort(o), e = r.shift(), t = r.length, 8 & e.__g && w(e);
	} finally {
		(a = r.length) && (i || queueMicrotask)(D);
	}
}
function ee(e, t, n, r, i, a, o, s, c, l, u) {
	var d, m, h, g, _, v, y = r.__k || p, b = t.length;
	for (c = te(n, t, y, c, b), d = 0; d < b; d++) (h = n.__k[d]) != null && (m = ~h.__i && y[h.__i] || f, h.__i = d, v = ie(e, h, m, i, a, o, s, c, l, u), g = h.__e, (m.ref != h.ref || 8 & m.__u) && (m.ref && M(m.ref, null, h, m), h.ref && u.push(h.ref, h.__c || g, h)), _ ||= g, 4 & h.__u ? (c = O(h, c, e, !m.__v), m.__e && (m.__e = null)) : typeof h.type == "function" && v !== void 0 ? c = v : g && (c = g.nextSibling), h.__u &= -21);
	return n.__e = _, c;
}
function te(e, t, n, r, i) {
	var a, o, s, c, l, u, f, p, m, g = n.length, _ = g, v = 0, y = 0, S = e.__k = Array(i);
	for (a = 0; a < i; a++) (o = t[a]) != null && typeof o != "boolean" && typeof o != "function" ? (typeof o != "object" || o.constructor === String ? o = S[a] = b(null, o) : h(o) ? o = S[a] = b(x, { children: o }) : o.constructor === d && o.__b ? o = S[a] = b(o.type, o.props, o.key, o.ref, o.__v) : S[a] = o, c = a + v, o.__ = e, o.__b = e.__b + 1, s = null, ~(l = o.__i = ne(o, n, c, _)) && (_--, (s = n[l]) && (s.__u |= 2)), s && s.__v ? (o.__u |= 16, l == c - 1 ? v-- : l == c + 1 ? v++ : l != c && (l > c ? v-- : v++, y = 1)) : (~l || (i > g ? v-- : i < g && v++), typeof o.type != "function" && (o.__u |= 4))) : S[a] = null;
	if (y) {
		for (u = [], f = [], a = 0; a < i; a++) if ((o = S[a]) && 16 & o.__u) {
			for (v = 0, p = u.length; v < p;) u[m = v + p >> 1] < o.__i ? v = m + 1 : p = m;
			u[v] = o.__i, f[a] = v + 1;
		}
		for (v = u.length; a--;) f[a] && (f[a] == v ? v-- : S[a].__u |= 4);
	}
	if (_) for (a = 0; a < g; a++) !(s = n[a]) || 2 & s.__u || (s.__e == r && (r = C(s)), ce(s, s));
	return r;
}
function O(e, t, n, r) {
	var i, a, o, s;
	if (typeof e.type == "function") {
		if (e.props.__P) return t;
		if (i = e.__k) for (a = 0; a < i.length; a++) i[a] && (i[a].__ = e, t = O(i[a], t, n, !1));
		return t;
	}
	for (t && !t.parentNode && (t = C(e)) && !t.parentNode && (t = null), o = e.__e, s = t; s && s.nodeType == 8;) s = s.nextSibling;
	for (o != s && (!r && n.moveBefore && o.parentNode ? n.moveBefore(o, t) : n.insertBefore(o, t || null)), t = o; (t &&= t.nextSibling) && t.nodeType == 8 && !t.data.startsWith("$s"););
	return t;
}
function ne(e, t, n, r) {
	var i, a = e.key, o = e.type, s = t[n], c = s && !(2 & s.__u);
	if (s === null && a == null || c && a == s.key && o == s.type) return n;
	if (r > +!!c) {
		for (i = n - 1; i >= 0; i--) if ((s = t[i]) && !(2 & s.__u) && a == s.key && o == s.type) return i;
		for (i = n + 1; i < t.length; i++) if ((s = t[i]) && !(2 & s.__u) && a == s.key && o == s.type) return i;
	}
	return -1;
}
function re(e, t, n) {
	n ??= "", t[0] == "-" ? e.setProperty(t, n) : e[t] = n;
}
function k(e, t, n, r, i) {
	var a, o;
	if (t == "style") {
		if (typeof n == "string") e.style.cssText = n;
		else {
			if (typeof r == "string" && (e.style.cssText = r = ""), r) for (t in r) n && t in n || re(e.style, t);
			if (n) for (t in n) r && n[t] == r[t] || re(e.style, t, n[t]);
		}
	} else if (t[0] == "o" && t[1] == "n") typeof n != "function" && (n = null), typeof r != "function" && (r = null), (e.__e ||= {})[t] = n, n && r || (o = u[t] || (u[t] = A(t)), (e.__a ||= {})[t] = l, a = t != (t = t.replace(c, "$1")), (t = t.slice(2))[0] < "a" && (t = t.toLowerCase()), n ? e.addEventListener(t, o, a) : e.removeEventListener(t, o, a));
	else {
		if (i == "http://www.w3.org/2000/svg") t = t.replace(/xlink(H|:h)/, "h").replace(/sName$/, "s");
		else if (t != "width" && t != "height" && t != "href" && t != "list" && t != "form" && t != "tabIndex" && t != "download" && t != "rowSpan" && t != "colSpan" && t != "role" && t != "popover" && t in e) try {
			e[t] = n ?? "";
			return;
		} catch {}
		if (typeof n == "function") return;
		n == null || !1 === n && t[4] != "-" ? e.removeAttribute(t) : e.setAttribute(t, t == "popover" && n == 1 ? "" : n);
	}
}
function A(t) {
	return function(n) {
		var r = this.__e;
		if (r) {
			if (r = r[t], n[s] == null) n[s] = l++;
			else if (n[s] < this.__a[t]) return;
			return r(e.event ? e.event(n) : n);
		}
	};
}
function ie(t, n, r, i, a, o, s, c, l, u) {
	var f, m, g, y, b, w, T, E, D, te, O, ne, re, k, A, ie, j, M, N = n.type;
	if (n.constructor !== d) return null;
	128 & r.__u && (l = 32 & r.__u, f = r.__c.__z) && (n.__u |= l, m = o = [], f.nodeType == 8 ? c = ae(f, o) : o.push(f), c = o[0] || c), (f = e.__b) && f(n);
	n: if (typeof N == "function") {
		g = s.length;
		try {
			if (E = n.props, D = (f = N.prototype) && f.render, te = (f = N.contextType) && i[f.__c], O = f ? te ? te.props.value : f.__ : i, (y = r.__c) ? (n.__c = y, 2 & y.__g && (y.__g |= 1)) : (D ? n.__c = y = new N(E, O) : (n.__c = y = new S(E, O), y.constructor = N, y.render = le), te && te.sub(y), y.state || (y.state = {}), y.__n = i, y.__g |= 8, y.__h = [], y.__k = []), D && (y.__s || (y.__s = y.state), N.getDerivedStateFromProps && (y.__s == y.state && (y.__s = _({}, y.__s)), _(y.__s, N.getDerivedStateFromProps(E, y.__s)))), b = y.props, w = y.state, y.__v = n, r.__c) {
				if (E !== b && D && !N.getDerivedStateFromProps && y.componentWillReceiveProps && y.componentWillReceiveProps(E, O), n.__v == r.__v && !(8 & y.__g) || !(4 & y.__g) && y.shouldComponentUpdate && !1 === y.shouldComponentUpdate(E, y.__s, O)) {
					n.__v != r.__v && (y.props = E, y.state = y.__s, y.__g &= -9), n.__e = r.__e, n.__k = r.__k, n.__k.some(function(e) {
						e && (e.__ = n);
					}), p.push.apply(y.__h, y.__k), y.__k = [], y.__h.length && s.push(y), c = C(r);
					break n;
				}
				y.componentWillUpdate && y.componentWillUpdate(E, y.__s, O), D && y.componentDidUpdate && y.__h.push(function() {
					y.componentDidUpdate(b, w, T);
				});
			} else D && !N.getDerivedStateFromProps && y.componentWillMount && y.componentWillMount(), D && y.componentDidMount && y.__h.push(y.componentDidMount);
			y.context = O, y.props = E, y.__P = t, y.__g &= -5, ne = e.__r, re = D ? 25 : 0;
			do
				y.__g &= -9, ne && ne(n), f = y.render(y.props, y.state = y.__s, y.context);
			while (8 & y.__g && ++re < 25);
			D && (p.push.apply(y.__h, y.__k), y.__k = []), y.state = y.__s, y.getChildContext && (i = _({}, i, y.getChildContext())), D && r.__c && y.getSnapshotBeforeUpdate && (T = y.getSnapshotBeforeUpdate(b, w)), k = f && f.type === x && f.key == null ? f.props.children : f, E.__P && (f = c, a = (t = E.__P).namespaceURI, l = o = null, r.props && r.props.__P != t && (r.__k.some(function(e) {
				e && ce(e, e);
			}), r.__k = null), c = r.__k ? C(r, 0) : null), c = ee(t, h(k) ? k : [k], n, r, i, a, o, s, c, l, u), E.__P && (n.__e = null, c = f), n.__u &= -161, m && m.some(v), y.__h.length && s.push(y), 1 & y.__g && (y.__g &= -4);
		} catch (t) {
			if (s.length = g, n.__v = null, l || o) {
				if (t && t.then) {
					if (n.__u |= 128 | l, o) {
						for (~(j = o.indexOf(c || void 0)) || (j = o.length); (M = o[j - 1]) && M.nodeType == 8;) j--;
						for (; j < o.length; j++) if (M = o[j]) {
							if (o[j] = null, A) {
								if (M == ie) break;
							} else {
								if (M.nodeType != 8) break;
								M.data.startsWith("$s") && (ie = ae(A = M));
							}
						}
					}
					if (!A) {
						for (; c && c.nodeType == 8 && c.nextSibling;) c = c.nextSibling;
						A = c;
					}
					(f = ae(A = n.__c.__z || (n.__c.__z = A))) ? (n.__e = A, c = f) : n.__e = c, c &&= c.nextSibling;
				} else o && o.some(v);
			} else n.__e = r.__e;
			n.__k ||= r.__k || [], t && t.then || oe(n), e.__e(t, n, r);
		}
	} else c = n.__e = se(r.__e, n, r, i, a, o, s, l, u, t);
	return (f = e.diffed) && f(n), c;
}
function ae(e, t) {
	if (e && e.nodeType == 8 && e.data.startsWith("$s")) for (var n = 1; e = e.nextSibling;) {
		if (e.nodeType == 8) {
			if (e.data.startsWith("$s")) n++;
			else if (e.data.startsWith("/$s") && !--n) return e;
		}
		t && t.push(e);
	}
}
function oe(e) {
	e && (e.__c && (e.__c.__g |= 4), e.__k && e.__k.some(oe));
}
function j(t, n, r) {
	for (var i = 0; i < r.length;) M(r[i++], r[i++], r[i++]);
	e.__c && e.__c(n, t), t.some(function(n) {
		try {
			t = n.__h, n.__h = [], t.some(function(e) {
				e.call(n);
			});
		} catch (t) {
			e.__e(t, n.__v);
		}
	});
}
function se(t, n, r, i, a, o, s, c, l, u) {
	var d, p, _, y, b, x, S, w, T = r.props || f, E = n.props, D = n.type;
	if (D == "svg" ? a = "http://www.w3.org/2000/svg" : D == "math" ? a = "http://www.w3.org/1998/Math/MathML" : a ||= "http://www.w3.org/1999/xhtml", o) {
		for (d = 0; d < o.length; d++) if ((b = o[d]) && (D ? b.localName == D : b.nodeType == 3)) {
			t = b, o[d] = null;
			break;
		}
	}
	if (!t) {
		if (w = u.ownerDocument || document, !D) return w.createTextNode(E);
		t = w.createElementNS(a, D, E.is ? E : u), c &&= (e.__m && e.__m(n, o), !1), o = null;
	}
	if (D) {
		if (u = D == "template" && t.content || t, o = D == "textarea" && E.defaultValue != null ? null : o && g.call(u.childNodes), !c && o) for (T = {}, d = 0; d < t.attributes.length; d++) T[(b = t.attributes[d]).name] = b.value;
		for (d in T) b = T[d], d == "dangerouslySetInnerHTML" ? _ = b : d == "children" || d in E || d == "value" && "defaultValue" in E || d == "checked" && "defaultChecked" in E || k(t, d, null, b, a);
		for (d in E) b = E[d], d == "children" ? y = b : d == "dangerouslySetInnerHTML" ? p = b : d == "value" ? x = b : d == "checked" ? S = b : c && typeof b != "function" || T[d] === b || k(t, d, b, T[d], a);
		p ? (c || _ && (p.__html == _.__html || p.__html == t.innerHTML) || (t.innerHTML = p.__html), n.__k = []) : (_ && (t.textContent = ""), (D == "foreignObject" || a == "http://www.w3.org/1998/Math/MathML" && m.test(D)) && (a = "http://www.w3.org/1999/xhtml"), ee(u, h(y) ? y : [y], n, r, i, a, o, s, o ? o[0] : r.__k && C(r, 0), c, l), o && o.some(v)), c && D != "textarea" || (d = "value", D == "progress" && x == null ? t.removeAttribute(d) : x == null || x === t[d] && (D != "progress" || x) || k(t, d, x, T[d], a), d = "checked", S != null && S != t[d] && k(t, d, S, T[d], a));
	} else T === E || c && t.data == E || (t.data = E);
	return t;
}
function M(t, n, r, i) {
	try {
		typeof t == "function" ? n ? n.__x = t(n) || 1 : (i &&= i.__c || i.__e) && (n = i.__x) && (i.__x = null, typeof n == "function" ? n() : t(null)) : t.current = n;
	} catch (t) {
		e.__e(t, r);
	}
}
function ce(t, n, r) {
	var i, a, o, s;
	if (e.unmount && e.unmount(t), !(i = t.ref) || i.current && i.current != t.__e || M(i, null, n, t), i = t.__c) {
		if (i.componentWillUnmount) try {
			i.componentWillUnmount();
		} catch (t) {
			e.__e(t, n);
		}
		i.__P = i.__n = null;
	}
	if (i = t.__k) for (s = 0; s < i.length; s++) i[s] && ce(i[s], n, typeof t.type != "function" || r && !t.props.__P);
	!r && (i = t.__c) && (i = i.__z) && (a = ae(i, o = [])) && (i == t.__e && o.some(v), v(a), v(i)), r || v(t.__e), t.__e = t.__c = t.__ = null;
}
function le(e, t, n) {
	return this.constructor(e, n);
}
function N(t, n) {
	var r, i, a, o;
	e.__ && e.__(t, n), n.nodeType == 9 && (n = n.documentElement), i = (r = t && 32 & t.__u) ? null : n.__k, n.__k = b(x, { children: [t] }), a = [], o = [], ie(n, n.__k, i || f, f, n.namespaceURI, i ? null : n.firstChild ? g.call(n.childNodes) : null, a, i ? i.__e : n.firstChild, r, o), j(a, n.__k, o), n.__k.props.children = null;
}
e = { __e: function(e, t, n, r) {
	for (var i, o, s; t = t.__;) if ((i = t.__c) && !(1 & i.__g)) {
		i.__g |= 4;
		try {
			if ((s = (o = i.constructor) && o.getDerivedStateFromError) && i.setState(o.getDerivedStateFromError(e)), i.componentDidCatch && (i.componentDidCatch(e, r || {}), s = 1), s && 8 & i.__g) return void (i.__g |= 2);
		} catch (t) {
			e = t;
		}
	}
	throw a = 0, e;
} }, t = 0, n = function(e) {
	return e != null && e.constructor === d;
}, S.prototype.setState = function(e, t) {
	var n = this.__s;
	n && n != this.state || (n = this.__s = _({}, this.state)), typeof e == "function" && (e = e(_({}, n), this.props)), e && (_(n, e), this.__v && (t && this.__k.push(t), E(this)));
}, S.prototype.forceUpdate = function(e) {
	this.__v && (this.__g |= 4, e && this.__h.push(e), E(this));
}, S.prototype.render = x, r = [], a = 0, o = function(e, t) {
	return e.__v.__b - t.__v.__b;
}, s = Symbol(), c = /(PointerCapture)$|Capture$/i, l = 0, u = {};
// node_modules/preact/hooks/dist/hooks.mjs
var ue, P, de, fe, pe = Object.is, me = 0, he = [], ge = [], F = e, _e = F.__b, ve = F.__r, ye = F.diffed, be = F.__c, xe = F.unmount, Se = F.__;
function Ce(e, t) {
	F.__h && F.__h(P, e, me || t), me = 0;
	var n = P.__H || (P.__H = {
		__: [],
		__h: []
	});
	return e >= n.__.length && n.__.push({}), n.__[e];
}
function we(e) {
	return me = 1, Te(Ie, e);
}
function Te(e, t, n) {
	var r = Ce(ue++, 2);
	if (r.t = e, !r.__c && (r.__ = [n ? n(t) : Ie(void 0, t), function(e) {
		var t = (r.__N || r.__)[0], n = r.t(t, e);
		pe(t, n) || (r.__N = [n, r.__[1]], r.__c.setState({}));
	}], r.__c = P, !P.__f)) {
		P.__f = !0;
		var i = P.shouldComponentUpdate;
		P.shouldComponentUpdate = function(e, t, n) {
			var r = this.__H;
			if (!r) return !0;
			var a = !1, o = this.props != e;
			if (r.__.some(function(e) {
				e.__N && (a = !0, pe(e.__[0], e.__N[0]) || (o = !0));
			}), i) {
				var s = i.call(this, e, t, n);
				return a ? s || o : s;
			}
			return !a || o;
		};
	}
	return r.__;
}
function I(e, t) {
	var n = Ce(ue++, 3);
	!F.__s && Fe(n.__H, t) && (n.__P = !0, n.__ = e, n.u = t, P.__H.__h.push(n));
}
function Ee(e) {
	return me = 5, De(function() {
		return { current: e };
	}, []);
}
function De(e, t) {
	var n = Ce(ue++, 7);
	return Fe(n.__H, t) && (n.__ = e(), n.__H = t), n.__;
}
function Oe(e) {
	var t = Ce(ue++, 10), n = we();
	return t.__ = e, P.componentDidCatch || (P.componentDidCatch = function(e, r) {
		t.__ && t.__(e, r), n[1](e);
	}), [n[0], function() {
		return n[1]();
	}];
}
function ke() {
	var e;
	do {
		for (; e = ge.shift();) try {
			Ne(e);
		} catch (t) {
			F.__e(t, { __: (e = e.__P) && e.__v });
		}
		for (; e = he.shift();) {
			var t = e.__H;
			if (e.__P && t) try {
				t.__h.some(Ne), t.__h.some(Pe), t.__h = [];
			} catch (n) {
				t.__h = [], F.__e(n, e.__v);
			}
		}
	} while (ge.length);
}
F.__b = function(e) {
	P = null, _e && _e(e);
}, F.__ = function(e, t) {
	e && t.__k && t.__k.__m && (e.__m = t.__k.__m), Se && Se(e, t);
}, F.__r = function(e) {
	ve && ve(e), ue = 0;
	var t = (P = e.__c).__H;
	t && (de == P ? P.__h = [] : (t.__h.some(Ne), t.__h.some(Pe), ue = 0), t.__h = [], t.__.some(function(e) {
		e.__N && (e.__ = e.__N), e.u = e.__N = void 0;
	})), de = P;
}, F.diffed = function(e) {
	ye && ye(e);
	var t = e.__c;
	t && t.__H && (t.__H.__h.length && Me(he.push(t)), t.__H.__.some(function(e) {
		e.u && (e.__H = e.u);
	})), de = P = null;
}, F.__c = function(e, t) {
	t.some(function(e) {
		try {
			e.__h.some(Ne), e.__h = e.__h.filter(function(e) {
				return !e.__ || Pe(e);
			});
		} catch (t) {
			e.__h = [function() {
				throw t;
			}];
		}
	}), be && be(e, t);
}, F.unmount = function(e) {
	xe && xe(e);
	var t, n, r = e.__c;
	r && r.__H && (r.__H.__.some(function(r) {
		try {
			if (r.__P && r.__c) {
				if (n === void 0) {
					for (n = e.__; n && (!n.__c || !n.__c.__P);) n = n.__;
					n &&= n.__c;
				}
				r.__P = n, Me(ge.push(r));
			} else Ne(r);
		} catch (e) {
			t = e;
		}
	}), r.__H = void 0, t && F.__e(t, r.__v));
};
var Ae = typeof requestAnimationFrame == "function";
function je(e) {
	var t, n = function() {
		clearTimeout(r), Ae && cancelAnimationFrame(t), setTimeout(e);
	}, r = setTimeout(n, 35);
	Ae && (t = requestAnimationFrame(n));
}
function Me(e) {
	e != 1 && fe == F.requestAnimationFrame || ((fe = F.requestAnimationFrame) || je)(ke);
}
function Ne(e) {
	var t = P, n = e.__c;
	typeof n == "function" && (e.__c = void 0, n()), P = t;
}
function Pe(e) {
	var t = P;
	e.__c = e.__(), P = t;
}
function Fe(e, t) {
	return !e || e.length != t.length || t.some(function(t, n) {
		return !pe(t, e[n]);
	});
}
function Ie(e, t) {
	return typeof t == "function" ? t(e) : t;
}
// node_modules/@preact/signals-core/dist/signals-core.module.js
var Le = Symbol.for("preact-signals");
function Re() {
	if (R > 1) R--;
	else {
		var e, t = !1;
		for ((function() {
			var e = Ke;
			for (Ke = void 0; e !== void 0;) {
				var t = e.S;
				if (t.v === e.v) for (var n = t.t; n !== void 0; n = n.x) n.i === e.i && (n.i = t.i);
				e = e.o;
			}
		})(); He !== void 0;) {
			var n = He;
			for (He = void 0, Ue++; n !== void 0;) {
				var r = n.u;
				if (n.u = void 0, n.f &= -3, !(8 & n.f) && Ye(n)) try {
					n.c();
				} catch (n) {
					t ||= (e = n, !0);
				}
				n = r;
			}
		}
		if (Ue = 0, R--, t) throw e;
	}
}
function ze(e) {
	if (R > 0) return e();
	Ge = ++We, R++;
	try {
		return e();
	} finally {
		Re();
	}
}
var Be, L = void 0;
function Ve(e) {
	var t = L, n = Be;
	L = void 0, Be = void 0;
	try {
		return e();
	} finally {
		L = t, Be = n;
	}
}
var He = void 0, R = 0, Ue = 0, We = 0, Ge = 0, Ke = void 0, qe = 0;
function Je(e) {
	if (L !== void 0) {
		var t = e.n;
		if (t === void 0 || t.t !== L) return t = {
			i: 0,
			S: e,
			p: L.s,
			n: void 0,
			t: L,
			e: void 0,
			x: void 0,
			r: t
		}, L.s !== void 0 && (L.s.n = t), L.s = t, e.n = t, 32 & L.f && e.S(t), t;
		if (t.i === -1) return t.i = 0, t.n !== void 0 && (t.n.p = t.p, t.p !== void 0 && (t.p.n = t.n), t.p = L.s, t.n = void 0, L.s.n = t, L.s = t), t;
	}
}
function z(e, t) {
	this.v = e, this.i = 0, this.n = void 0, this.t = void 0, this.l = 0, this.W = t?.watched, this.Z = t?.unwatched, this.name = t?.name;
}
z.prototype.brand = Le, z.prototype.h = function() {
	return !0;
}, z.prototype.S = function(e) {
	var t = this, n = this.t;
	n !== e && e.e === void 0 && (e.x = n, this.t = e, n === void 0 ? Ve(function() {
		var e;
		(e = t.W) == null || e.call(t);
	}) : n.e = e);
}, z.prototype.U = function(e) {
	var t = this;
	if (this.t !== void 0) {
		var n = e.e, r = e.x;
		n !== void 0 && (n.x = r, e.e = void 0), r !== void 0 && (r.e = n, e.x = void 0), e === this.t && (this.t = r, r === void 0 && Ve(function() {
			var e;
			(e = t.Z) == null || e.call(t);
		}));
	}
}, z.prototype.subscribe = function(e) {
	var t = this;
	return it(function() {
		var n = t.value;
		Ve(function() {
			return e(n);
		});
	}, { name: "sub" });
}, z.prototype.valueOf = function() {
	return this.value;
}, z.prototype.toString = function() {
	return this.value + "";
}, z.prototype.toJSON = function() {
	return this.value;
}, z.prototype.peek = function() {
	var e = this;
	return Ve(function() {
		return e.value;
	});
}, Object.defineProperty(z.prototype, "value", {
	get: function() {
		var e = Je(this);
		return e !== void 0 && (e.i = this.i), this.v;
	},
	set: function(e) {
		if (e !== this.v) {
			if (Ue > 100) throw Error("Cycle detected");
			(function(e) {
				R !== 0 && Ue === 0 && e.l !== Ge && (e.l = Ge, Ke = {
					S: e,
					v: e.v,
					i: e.i,
					o: Ke
				});
			})(this), this.v = e, this.i++, qe++, R++;
			try {
				for (var t = this.t; t !== void 0; t = t.x) t.t.N();
			} finally {
				Re();
			}
		}
	}
});
function B(e, t) {
	return new z(e, t);
}
function Ye(e) {
	for (var t = e.s; t !== void 0; t = t.n) if (t.S.i !== t.i || !t.S.h() || t.S.i !== t.i) return !0;
	return !1;
}
function Xe(e) {
	for (var t = e.s; t !== void 0; t = t.n) {
		var n = t.S.n;
		if (n !== void 0 && (t.r = n), t.S.n = t, t.i = -1, t.n === void 0) {
			e.s = t;
			break;
		}
	}
}
function Ze(e) {
	for (var t = e.s, n = void 0; t !== void 0;) {
		var r = t.p;
		t.i === -1 ? (t.S.U(t), r !== void 0 && (r.n = t.n), t.n !== void 0 && (t.n.p = r)) : n = t, t.S.n = t.r, t.r !== void 0 && (t.r = void 0), t = r;
	}
	e.s = n;
}
function Qe(e, t) {
	z.call(this, void 0, t), this.x = e, this.s = void 0, this.g = qe - 1, this.f = 4;
}
Qe.prototype = new z(), Qe.prototype.h = function() {
	if (this.f &= -3, 1 & this.f) return !1;
	if ((36 & this.f) == 32 || (this.f &= -5, this.g === qe)) return !0;
	if (this.g = qe, this.f |= 1, this.i > 0 && !Ye(this)) return this.f &= -2, !0;
	var e = L;
	try {
		Xe(this), L = this;
		var t = this.x();
		(16 & this.f || this.v !== t || this.i === 0) && (this.v = t, this.f &= -17, this.i++);
	} catch (e) {
		this.v = e, this.f |= 16, this.i++;
	}
	return L = e, Ze(this), this.f &= -2, !0;
}, Qe.prototype.S = function(e) {
	if (this.t === void 0) {
		this.f |= 36;
		for (var t = this.s; t !== void 0; t = t.n) t.S.S(t);
	}
	z.prototype.S.call(this, e);
}, Qe.prototype.U = function(e) {
	if (this.t !== void 0 && (z.prototype.U.call(this, e), this.t === void 0)) {
		this.f &= -33;
		for (var t = this.s; t !== void 0; t = t.n) t.S.U(t);
	}
}, Qe.prototype.N = function() {
	if (!(2 & this.f)) {
		this.f |= 6;
		for (var e = this.t; e !== void 0; e = e.x) e.t.N();
	}
}, Object.defineProperty(Qe.prototype, "value", { get: function() {
	if (1 & this.f) throw Error("Cycle detected");
	var e = Je(this);
	if (this.h(), e !== void 0 && (e.i = this.i), 16 & this.f) throw this.v;
	return this.v;
} });
function $e(e, t) {
	return new Qe(e, t);
}
function et(e) {
	var t = e.j;
	if (e.j = void 0, typeof t == "function") {
		R++;
		var n = L;
		L = void 0;
		try {
			t();
		} catch (t) {
			throw e.f &= -2, e.f |= 8, tt(e), t;
		} finally {
			L = n, Re();
		}
	}
}
function tt(e) {
	for (var t = e.s; t !== void 0; t = t.n) t.S.U(t);
	e.x = void 0, e.s = void 0, et(e);
}
function nt(e) {
	if (L !== this) throw Error("Out-of-order effect");
	Ze(this), L = e, this.f &= -2;
	try {
		8 & this.f && tt(this);
	} finally {
		Re();
	}
}
function rt(e, t) {
	this.x = e, this.j = void 0, this.s = void 0, this.u = void 0, this.f = 32, this.name = t?.name, Be && Be.push(this);
}
rt.prototype.c = function() {
	var e = this.S();
	try {
		if (8 & this.f || this.x === void 0) return;
		var t = this.x();
		typeof t == "function" && (this.j = t);
	} finally {
		e();
	}
}, rt.prototype.S = function() {
	if (1 & this.f) throw Error("Cycle detected");
	this.f |= 1, this.f &= -9, et(this), Xe(this), R++;
	var e = L;
	return L = this, nt.bind(this, e);
}, rt.prototype.N = function() {
	2 & this.f || (this.f |= 2, this.u = He, He = this);
}, rt.prototype.d = function() {
	this.f |= 8, 1 & this.f || tt(this);
}, rt.prototype.dispose = function() {
	this.d();
};
function it(e, t) {
	var n = new rt(e, t);
	try {
		n.c();
	} catch (e) {
		throw n.d(), e;
	}
	var r = n.d.bind(n);
	return r[Symbol.dispose] = r, r;
}
// node_modules/@preact/signals/dist/signals.module.js
var at, ot, st, ct = typeof window < "u" && !!window.__PREACT_SIGNALS_DEVTOOLS__, lt = [];
it(function() {
	at = this.N;
})();
function ut(t, n) {
	e[t] = n.bind(null, e[t] || function() {});
}
function dt(e) {
	if (st) {
		var t = st;
		st = void 0, t();
	}
	st = e && e.S();
}
function ft(e) {
	var t = this, r = e.data, i = V(r);
	i.name = "ReactiveDom", i.value = r;
	var a = De(function() {
		for (var e = t, r = t.__v; r = r.__;) if (r.__c) {
			r.__c.__$f |= 4;
			break;
		}
		var a = $e(function() {
			var e = i.value.value;
			return e === 0 ? 0 : !0 === e ? "" : e || "";
		}), o = $e(function() {
			return !Array.isArray(a.value) && !n(a.value);
		}), s = it(function() {
			if (this.N = _t, o.value) {
				var t = a.value;
				e.__v && e.__v.__e && e.__v.__e.nodeType === 3 && (e.__v.__e.data = t);
			}
		}), c = t.__$u.d;
		return t.__$u.d = function() {
			s(), c.call(this);
		}, [o, a];
	}, []), o = a[0], s = a[1];
	return o.value ? s.peek() : s.value;
}
ft.displayName = "ReactiveTextNode", Object.defineProperties(z.prototype, {
	constructor: {
		configurable: !0,
		value: y(x, null).constructor
	},
	type: {
		configurable: !0,
		value: ft
	},
	props: {
		configurable: !0,
		get: function() {
			var e = this;
			return { data: { get value() {
				return e.value;
			} } };
		}
	},
	__b: {
		configurable: !0,
		value: 1
	}
}), ut("__b", function(e, t) {
	if (dt(), ot = void 0, typeof t.type == "string") {
		var n, r = t.props;
		for (var i in r) if (i !== "children") {
			var a = r[i];
			a instanceof z && (n || (t.__np = n = {}), n[i] = a, r[i] = a.peek());
		}
	}
	e(t);
}), ut("__r", function(e, t) {
	if (e(t), t.type !== x) {
		dt();
		var n, r = t.__c;
		r && (r.__$f &= -2, (n = r.__$u) === void 0 && (r.__$u = n = function(e, t) {
			var n;
			return it(function() {
				n = this;
			}, { name: t }), n.c = e, n;
		}(function(e) {
			return function() {
				var t;
				ct && ((t = this.y) == null || t.call(this)), e.__$f |= 1, e.setState({});
			};
		}(r), typeof t.type == "function" ? t.type.displayName || t.type.name : ""))), ot = r, dt(n);
	}
}), ut("__e", function(e, t, n, r) {
	dt(), ot = void 0, e(t, n, r);
}), ut("diffed", function(e, t) {
	dt(), ot = void 0;
	var n;
	if (typeof t.type == "string" && (n = t.__e)) {
		var r = t.__np, i = t.props, a = n.U;
		if (a) for (var o in a) {
			var s = a[o];
			s === void 0 || r && o in r || (s.d(), a[o] = void 0);
		}
		if (r) for (var c in a || (a = {}, n.U = a), r) {
			var l = a[c], u = r[c];
			l === void 0 ? (l = pt(n, c, u, i), a[c] = l) : l.o(u, i);
		}
	}
	e(t);
});
function pt(e, t, n, r) {
	var i = t in e && e.ownerSVGElement === void 0, a = B(n);
	return {
		o: function(e, t) {
			a.value = e, r = t;
		},
		d: it(function() {
			this.N = _t;
			var n = a.value.value;
			r[t] !== n && (r[t] = n, i ? e[t] = n : n != null && (!1 !== n || t[4] === "-") ? e.setAttribute(t, n) : e.removeAttribute(t));
		})
	};
}
ut("unmount", function(e, t) {
	if (typeof t.type == "string") {
		var n = t.__e;
		if (n) {
			var r = n.U;
			if (r) for (var i in n.U = void 0, r) {
				var a = r[i];
				a && a.d();
			}
		}
		var o = t.__np;
		if (o) {
			var s = t.props;
			for (var c in o) s[c] = o[c];
		}
		t.__np = void 0;
	} else {
		var l = t.__c;
		if (l) {
			l.__$f |= 8;
			var u = l.__$u;
			u && (l.__$u = void 0, u.d());
		}
	}
	e(t);
}), ut("__h", function(e, t, n, r) {
	r < 3 && (t.__$f |= 2), e(t, n, r);
}), S.prototype.shouldComponentUpdate = function(e, t) {
	if (this.__R) return !0;
	var n = this.__$u, r = n && n.s !== void 0;
	for (var i in t) return !0;
	if (this.__f || typeof this.u == "boolean" && !0 === this.u) {
		var a = 2 & this.__$f;
		if (!(r || a || 4 & this.__$f) || 1 & this.__$f) return !0;
	} else if (!(r || 4 & this.__$f) || 3 & this.__$f) return !0;
	for (var o in e) if (o !== "__source" && e[o] !== this.props[o]) return !0;
	for (var s in this.props) if (!(s in e)) return !0;
	return !1;
};
function V(e, t) {
	return De(function() {
		return B(e, t);
	}, []);
}
function mt(e, t) {
	var n = Ee(e);
	return n.current = e, ot.__$f |= 4, De(function() {
		return $e(function() {
			return n.current();
		}, t);
	}, []);
}
var ht = function(e) {
	queueMicrotask(function() {
		queueMicrotask(e);
	});
};
function gt() {
	ze(function() {
		for (var e; e = lt.shift();) at.call(e);
	});
}
function _t() {
	lt.push(this) === 1 && (e.requestAnimationFrame || ht)(gt);
}
// src/api/http.ts
var vt = new URL("../", document.baseURI.split(/[?#]/)[0]), yt = class extends Error {
	status;
	code;
	retryAfter;
	constructor(e, t, n, r = 0) {
		super(n), this.status = e, this.code = t, this.retryAfter = r;
	}
}, bt = "", xt = B(null), St = () => bt !== "", Ct = [];
function wt(e) {
	bt = e.trim(), xt.value = null, Ct.forEach((e) => e()), Ct = [];
}
async function Tt(e) {
	let t = `the node answered ${e.status}`, n = "unavailable";
	try {
		let r = await e.json();
		t = String(r.detail ?? t), n = String(r.code ?? n);
	} catch {}
	return new yt(e.status, n, t, Number(e.headers.get("retry-after") ?? 0));
}
async function H(e, t = {}) {
	for (;;) {
		let n = { accept: t.accept ?? "application/json" };
		bt && (n.authorization = `Bearer ${bt}`), t.json !== void 0 && (n["content-type"] = "application/json"), t.type && (n["content-type"] = t.type), t.etag && (n["if-none-match"] = t.etag), t.key && (n["idempotency-key"] = t.key), t.timeoutMs && (n["lehr-timeout-ms"] = String(t.timeoutMs));
		let r = bt, i;
		try {
			i = await fetch(new URL(e.replace(/^\//, "./"), vt), {
				method: t.method ?? "GET",
				headers: n,
				body: t.json === void 0 ? t.body : JSON.stringify(t.json),
				signal: t.signal,
				cache: "no-store",
				credentials: "same-origin"
			});
		} catch (e) {
			throw t.signal?.aborted ? e : new yt(0, "unavailable", "The node does not answer. Is it still running?");
		}
		if (i.status !== 401) {
			if (i.ok || i.status === 304) return i;
			throw await Tt(i);
		}
		let a = (await Tt(i)).message;
		r === bt && (xt.value = bt ? a : "", await new Promise((e) => Ct.push(e)));
	}
}
async function Et(e, t) {
	return (await H(e, { signal: t })).json();
}
async function U(e, t, n = {}) {
	return (await H(e, {
		method: "POST",
		json: t,
		...n
	})).json();
}
function Dt(e, t) {
	let n = new URLSearchParams();
	for (let [e, r] of Object.entries(t)) r != null && n.append(e, String(r));
	return `${e}?${n}`;
}
// src/api/events.ts
var Ot = 4, kt = 45e3, At = class {
	rest = "";
	tell;
	constructor(e) {
		this.tell = e;
	}
	feed(e) {
		this.rest += e;
		let t = this.rest.indexOf("\n\n");
		for (; t >= 0;) this.event(this.rest.slice(0, t)), this.rest = this.rest.slice(t + 2), t = this.rest.indexOf("\n\n");
	}
	event(e) {
		let t = "", n = "";
		for (let r of e.split("\n")) r.startsWith("event: ") ? t = r.slice(7) : r.startsWith("data: ") && (n += r.slice(6));
		if (!n) return;
		let r = JSON.parse(n);
		this.tell({
			kind: t,
			service: r.service,
			data: r
		});
	}
};
async function jt(e) {
	if (!navigator.locks) return await e(), !0;
	for (let t = 0; t < Ot; t++) if (await navigator.locks.request(`lehr-events-${t}`, { ifAvailable: !0 }, async (t) => t ? (await e(), !0) : !1)) return !0;
	return !1;
}
async function Mt(e, t, n, r, i) {
	let a = 250;
	for (; !t.aborted;) {
		let o = !1;
		try {
			await jt(async () => {
				r("connecting");
				let i = await H(`/~/events?slow=coalesce&services=${e.map(encodeURIComponent).join(",")}`, {
					accept: "text/event-stream",
					signal: t
				});
				r("live"), o = !0;
				let a = new At(n), s = i.body.pipeThrough(new TextDecoderStream()).getReader();
				for (;;) {
					let e = setTimeout(() => void s.cancel(), kt), { done: t, value: n } = await s.read();
					if (clearTimeout(e), t) break;
					a.feed(n);
				}
			}) || (document.visibilityState === "visible" && await i(), r("asking"), o = !0);
		} catch (e) {
			if (t.aborted) return;
			e instanceof yt && e.status >= 400 && e.status < 500 && (a = Math.max(a, 4e3));
		}
		if (t.aborted) return;
		a = o ? 1e3 : Math.min(a * 2, 5e3), o || r("lost"), await new Promise((e) => setTimeout(e, a));
	}
}
// src/api/schema.ts
var Nt = null;
function Pt() {
	return Nt ??= Et("/openapi.json").catch((e) => {
		throw Nt = null, e;
	}), Nt;
}
function Ft() {
	Nt = null;
}
function It(e, t) {
	let { $ref: n, anyOf: r, ...i } = e;
	if (n) return {
		...It(t.components.schemas[n.split("/").pop()] ?? {}, t),
		...i
	};
	let a = r?.find((e) => e.type !== "null");
	if (a) {
		let e = It(a, t), { default: n, ...r } = e;
		return {
			...r,
			...i,
			description: i.description ?? e.description
		};
	}
	return e;
}
var Lt = new Set([
	"columns",
	"lonlat",
	"scale",
	"method",
	"clusters",
	"components",
	"covariance",
	"metric",
	"dimension",
	"dimensions",
	"nodes"
]);
function Rt(e, t) {
	let n = Object.entries(e.properties ?? {}).map(([e, n]) => ({
		name: e,
		schema: It(n, t)
	})).filter(({ schema: e }) => !e.deprecated).map(({ name: e, schema: t }) => zt(e, t)), r = (e) => e.isBasic ? +(e.kind === "columns") : 2;
	return n.sort((e, t) => r(e) - r(t));
}
function zt(e, t) {
	let n = [].concat(t.type ?? []), r = t.enum ? "choice" : n.includes("boolean") ? "yes" : n.includes("integer") ? "whole" : n.includes("number") ? "number" : n.includes("array") ? "columns" : e === "id" || e === "weights" ? "column" : "text", [i, ...a] = (t.description ?? "").split("\n\n"), o = new Map(a.join("\n").split(/\n?- /).map((e) => e.match(/^`(.+?)`: ([^]*)$/)).filter((e) => e !== null).map((e) => [e[1], e[2]])), s = t.default === null || t.default === void 0;
	return {
		name: e,
		kind: r,
		about: i.replaceAll("`", ""),
		choices: (t.enum ?? []).map((e) => ({
			value: String(e),
			about: o.get(String(e)) ?? ""
		})),
		default: t.default ?? null,
		otherwise: t["x-default"] ?? (s ? "chosen for you" : String(t.default)),
		minimum: t.minimum,
		maximum: t.maximum,
		exclusiveMinimum: t.exclusiveMinimum,
		exclusiveMaximum: t.exclusiveMaximum,
		isBasic: Lt.has(e) || t["x-short"] !== void 0
	};
}
function Bt(e, t) {
	if (t.trim() === "" || e.kind !== "whole" && e.kind !== "number") return null;
	let { minimum: n, maximum: r, exclusiveMinimum: i, exclusiveMaximum: a } = e, o = e.kind === "whole" ? "a whole number" : "a number", s = n ?? i, c = s !== void 0 && r !== void 0 ? i === void 0 ? `from ${s} to ${r}` : `above ${s} and at most ${r}` : n === void 0 ? i === void 0 ? r === void 0 ? "" : `of at most ${r}` : `above ${i}` : `of at least ${n}`, l = `Expected ${o}${c ? ` ${c}` : ""}, found "${t.trim()}".`, u = Number(t);
	return !Number.isFinite(u) || e.kind === "whole" && !/^[+-]?\d+$/.test(t.trim()) || n !== void 0 && u < n || r !== void 0 && u > r || i !== void 0 && u <= i || a !== void 0 && u >= a ? l : null;
}
// src/state/node.ts
var W = B(null), Vt = B("connecting"), Ht = B(null), Ut = new Map(), Wt = new Map();
function G(e) {
	let t = Ut.get(e);
	return t || Ut.set(e, t = B(null)), t;
}
function Gt(e) {
	return (W.value ?? []).filter((t) => t.contract === e);
}
function Kt() {
	return Gt("lehr.datasets")[0]?.path ?? null;
}
function qt() {
	return (W.value ?? []).filter((e) => e.contract.startsWith("lehr.") && e.contract !== "lehr.datasets");
}
var Jt = new Map();
function Yt(e, t) {
	let n = `${e} ${t}`, r = Jt.get(n);
	return r || Jt.set(n, r = B([])), r;
}
var Xt = 2e3;
function Zt(e, t, n) {
	let r = Yt(e, t);
	r.value.length < Xt && (r.value = [...r.value, n]);
}
var Qt = 500, $t = new Map(), en = new Map();
function tn(e) {
	if ($t.has(e)) return;
	let t = Math.max(0, (en.get(e) ?? 0) + Qt - Date.now());
	$t.set(e, setTimeout(() => {
		$t.delete(e), nn(e).catch(() => {});
	}, t));
}
async function nn(e) {
	en.set(e, Date.now());
	let t = await H(e, { etag: Ut.get(e)?.value == null ? void 0 : Wt.get(e) });
	if (t.status === 304) return;
	let n = t.headers.get("etag");
	n && Wt.set(e, n), G(e).value = await t.json();
}
function rn({ kind: e, service: t, data: n }) {
	let r = G(t);
	if (e === "seed") Wt.delete(t), r.value = n.state, t === an() && on();
	else if (e === "change" && n.operation === "progressed" && r.value?.jobs?.[n.body.job]) {
		let { job: e, progress: i } = n.body;
		Wt.delete(t), Zt(t, e, i), r.value = {
			...r.value,
			jobs: {
				...r.value.jobs,
				[e]: {
					...r.value.jobs[e],
					progress: i
				}
			}
		};
	} else e !== "end" && (tn(t), t === an() && on());
}
function an() {
	return Gt("lehr/directory")[0]?.path;
}
async function on() {
	try {
		let { services: e } = await Et("/");
		JSON.stringify(e) !== JSON.stringify(W.peek()) && (Ft(), W.value = e), Ht.value = null;
	} catch (e) {
		Ht.value = e.message;
	}
}
function sn() {
	let e = new Set([
		"lehr/inspector",
		"lehr/constructor",
		"lehr/manifest"
	]);
	return (W.value ?? []).filter((t) => !e.has(t.contract)).map((e) => e.path);
}
var cn = null, ln = "";
function un() {
	on(), setInterval(() => {
		(Vt.peek() === "lost" || W.peek() === null) && on();
	}, 2e3), it(() => {
		let e = sn();
		e.join() === ln || (ln = e.join(), cn?.abort(), !e.length) || (cn = new AbortController(), Mt(e, cn.signal, rn, (e) => Vt.value = e, async () => {
			for (let t of e) await nn(t).catch(() => {});
		}));
	});
	let e = !1;
	it(() => {
		e && xt.value === null && setTimeout(() => void on()), e = xt.value !== null;
	});
}
// src/state/notice.ts
var dn = B(""), fn = 0;
function K(e) {
	dn.value = e, clearTimeout(fn), fn = setTimeout(() => dn.value = "", 6e3);
}
// src/state/route.ts
var pn = [
	"data",
	"explore",
	"jobs",
	"workflows",
	"node"
];
function mn(e) {
	let [, t, n] = e.match(/^#\/?([a-z]*)(?:\?(.*))?$/) ?? [];
	return {
		view: pn.find((e) => e === t) ?? "data",
		settings: Object.fromEntries(new URLSearchParams(n ?? ""))
	};
}
function q(e, t) {
	let n = new URLSearchParams();
	for (let [e, r] of Object.entries(t)) r && n.set(e, r);
	let r = n.toString();
	return `#/${e}${r ? `?${r}` : ""}`;
}
var J = B(mn(location.hash));
addEventListener("hashchange", () => {
	let e = J.peek(), t = mn(location.hash);
	q(e.view, e.settings) !== q(t.view, t.settings) && (J.value = t);
});
function Y(e, t = {}) {
	location.hash = q(e, t);
}
function hn(e) {
	let { view: t, settings: n } = J.peek(), r = q(t, {
		...n,
		...e
	});
	history.replaceState(null, "", r), J.value = mn(r);
}
// src/state/download.ts
function gn(e, t) {
	let n = document.createElement("a");
	n.href = URL.createObjectURL(t), n.download = e.replaceAll("/", "-"), n.click(), setTimeout(() => URL.revokeObjectURL(n.href), 3e4);
}
// src/state/upload.ts
var _n = B(null), vn = 5, yn = 800;
async function bn(e, t, n, r, i, a, o, s) {
	let c = {
		name: t,
		format: n,
		bytes: i.size,
		replace: a,
		...r
	}, l = 0;
	for (;;) try {
		let { offset: n, piece_bytes_max: r } = await U(`${e}:begin`, c, { signal: s });
		for (o(n); n < i.size;) {
			let a = i.slice(n, n + Math.min(r, 4 << 20));
			n = (await (await H(Dt(`${e}:append`, {
				name: t,
				offset: n
			}), {
				method: "POST",
				body: a,
				type: "application/octet-stream",
				signal: s
			})).json()).offset, l = 0, o(n);
		}
		return await U(`${e}:finish`, { name: t }, {
			signal: s,
			timeoutMs: 6e5
		});
	} catch (e) {
		if (!(e instanceof yt && (e.status === 0 || e.status === 503)) || ++l >= vn) throw e;
		await new Promise((e) => setTimeout(e, yn * l));
	}
}
// src/state/words.ts
function X(e) {
	return e.toLocaleString("en-GB");
}
function xn(e) {
	let t = [
		"B",
		"kB",
		"MB",
		"GB",
		"TB"
	], n = 0;
	for (; e >= 1e3 && n < t.length - 1;) [e, n] = [e / 1e3, n + 1];
	return `${e >= 100 || n === 0 ? Math.round(e) : e.toPrecision(2)} ${t[n]}`;
}
function Z(e, t = 5) {
	if (typeof e != "number") return e == null ? "" : typeof e == "object" ? JSON.stringify(e) : String(e);
	if (Number.isNaN(e)) return "–";
	if (Number.isInteger(e) && Math.abs(e) < 0x38d7ea4c68000) return X(e);
	let n = Math.abs(e);
	return n >= 1e6 || n < 1e-4 ? Number(e.toPrecision(t - 1)).toExponential().replace("e+", "e") : String(Number(e.toPrecision(t)));
}
function Sn(e) {
	let t = Math.max(0, e) / 1e3;
	return t < 1 ? `${Math.round(1e3 * t)} ms` : t < 10 ? `${t.toFixed(1)} s` : t < 60 ? `${Math.round(t)} s` : t < 3600 ? `${Math.floor(t / 60)} min ${Math.round(t % 60)} s` : `${Math.floor(t / 3600)} h ${Math.floor(t % 3600 / 60)} min`;
}
function Cn(e) {
	let t = new Date(e), n = t.toLocaleTimeString("en-GB", {
		hour: "2-digit",
		minute: "2-digit",
		second: "2-digit"
	});
	return t.toDateString() === new Date().toDateString() ? n : `${t.toLocaleDateString("en-GB", {
		day: "numeric",
		month: "short"
	})} ${n}`;
}
function wn(e) {
	return e.replaceAll("_", " ");
}
function Tn(e) {
	return e.charAt(0).toUpperCase() + e.slice(1);
}
function En(e) {
	return {
		invalid_value: "Change what the message names, then send it again.",
		unknown_entry: "It may have been renamed or removed. Choose another one.",
		duplicate_entry: "Choose another name, or remove what has it.",
		too_large: "Send less: fewer columns or rows. The node has a limit for a body (lehr serve --body-max).",
		insufficient_resources: "The node is short of memory or disk. Remove data sets, or use fewer columns.",
		permission_denied: "Your token does not allow this. Ask whoever runs the node.",
		queuing_limit_exceeded: "Too many jobs wait already. Try again when one has ended.",
		response_timeout: "It took too long. Try again, or ask for less.",
		unavailable: "Check that the node is running, then try again.",
		service_stopping: "The node is stopping. Try again when it is back.",
		operation_failed: "This is a defect of the service. The log of the node says more.",
		precondition_failed: "Somebody changed it meanwhile. Look again, then repeat."
	}[e] ?? null;
}
// node_modules/preact/jsx-runtime/dist/jsxRuntime.mjs
var Dn = Symbol.for("pv"), On = 0;
Array.isArray;
function Q(t, n, r, i, a, o) {
	n ||= {};
	var s, c, l = n;
	if ("ref" in l && typeof t != "function") for (c in l = {}, n) c == "ref" ? s = n[c] : l[c] = n[c];
	var u = {
		type: t,
		props: l,
		key: r,
		ref: s,
		__k: null,
		__: null,
		__b: 0,
		__e: null,
		__c: null,
		constructor: Dn,
		__v: --On,
		__i: -1,
		__u: 0
	};
	return (a || o) && (u.__source = a, u.__self = o), e.vnode && e.vnode(u), u;
}
// src/views/fault.tsx
function kn({ of: e }) {
	return e?.length ? Q("ul", {
		class: "warning",
		children: e.map((e) => Q("li", { children: e }, e))
	}) : null;
}
function $({ error: e, code: t }) {
	if (!e) return null;
	let n = e instanceof Error ? e.message : String(e), r = En(t ?? (e instanceof yt ? e.code : "")), i = n.split("\n");
	return Q("div", {
		class: "trouble",
		role: "alert",
		children: [i.length > 1 ? Q("ul", { children: i.map((e) => Q("li", { children: e }, e)) }) : Q("p", { children: n }), r && Q("p", {
			class: "cure",
			children: r
		})]
	});
}
// src/state/csv.ts
function An(e) {
	let t = e == null || typeof e == "number" && Number.isNaN(e) ? "" : String(e);
	return /[",\r\n]/.test(t) ? `"${t.replaceAll("\"", "\"\"")}"` : t;
}
function jn(e) {
	for (let t = 6; t < 10; t++) {
		let n = Number(e.toPrecision(t));
		if (Math.fround(n) === e) return n;
	}
	return e;
}
function Mn(e) {
	return `${e.map(An).join(",")}\n`;
}
var Nn = [
	",",
	";",
	"	",
	"|"
], Pn = 101;
function Fn(e, t, n) {
	let r = [], i = [], a = "", o = !1;
	for (let s = 0; s < e.length && r.length < n; s++) {
		let n = e[s];
		o ? n === "\"" && e[s + 1] === "\"" ? [a, s] = [`${a}"`, s + 1] : n === "\"" ? o = !1 : a += n : n === "\"" && a === "" ? o = !0 : n === t ? [i, a] = [[...i, a], ""] : n === "\n" ? (i.push(a.replace(/\r$/, "")), (i.length > 1 || i[0] !== "") && r.push(i), [i, a] = [[], ""]) : a += n;
	}
	return (a !== "" || i.length) && r.length < n && r.push([...i, a]), r;
}
var In = (e) => e.trim() !== "" && Number.isFinite(Number(e)), Ln = (e) => /^\s*(|na|n\/a|nan|null|none|\?|-|\.)\s*$/i.test(e), Rn = (e) => In(e) || /^[-+−(]?\s*(£|€|\$|¥)?\s*[-+−]?\d[\d.,'  ]*\s*(%|£|€|\$|¥)?\s*\)?$/.test(e.trim());
function zn(e) {
	let t = new Map();
	for (let { length: n } of e) t.set(n, (t.get(n) ?? 0) + 1);
	return [...t].reduce((e, t) => t[1] > e[1] || t[1] === e[1] && t[0] > e[0] ? t : e, [0, 0])[0];
}
function Bn(e) {
	let t = {
		delimiter: ",",
		rows: [],
		width: 0,
		score: -1
	};
	for (let n of Nn) {
		let r = Fn(e.replace(/^\uFEFF/, ""), n, Pn), i = zn(r), a = i > 1 ? i * r.filter((e) => e.length === i).length : 0;
		a > t.score && (t = {
			delimiter: n,
			rows: r,
			width: i,
			score: a
		});
	}
	let n = Math.max(0, t.rows.findIndex((e) => e.length === t.width && e.filter((e) => e.trim()).length > 1)), [r = [], ...i] = t.rows.slice(n), a = !r.some(In), o = a ? r : r.map((e, t) => String(t)), s = (a ? i : [r, ...i]).filter((e) => e.length > 0), [c, l] = [!1, n === 0], u = o.map((e, t) => {
		let n = s.map((e) => e[t] ?? ""), r = n.filter((e) => !Ln(e)), i = r.filter(Rn).length;
		return r.every(In) || (l = !1), r.length ? i * 2 <= r.length ? "text" : (c ||= r.length < n.length, "number") : "empty";
	}), d = u.findIndex((e, t) => e === "text" && s.length > 1 && new Set(s.map((e) => e[t])).size === s.length);
	return {
		delimiter: t.delimiter,
		above: n,
		hasNames: a,
		names: o,
		rows: s,
		kinds: u,
		hasGaps: c,
		isPlain: l,
		ids: d
	};
}
// src/api/rows.ts
async function Vn(e, t, n, r) {
	return (await H(Dt(`${e}:read`, {
		name: t,
		from: n,
		to: r,
		format: "json"
	}))).json();
}
// src/views/table.tsx
var Hn = 50;
function Un({ datasets: e, name: t, caption: n, version: r }) {
	let i = G(e).value?.datasets[t], a = i?.rows ?? 0, o = V(0), s = V(null), c = V(null);
	I(() => {
		o.value = 0;
	}, [t]);
	let l = o.value;
	if (I(() => {
		let n = !1;
		return Vn(e, t, l, Math.min(a, l + Hn)).then((e) => {
			n || ([s.value, c.value] = [e, null]);
		}).catch((e) => {
			n || (c.value = e);
		}), () => {
			n = !0;
		};
	}, [
		e,
		t,
		l,
		r,
		a
	]), c.value) return Q($, { error: c.value });
	if (!s.value) return Q("p", {
		class: "note",
		children: "Reading…"
	});
	let { rows: u, json: d } = s.value, f = i?.columns.map((e) => e.name) ?? Object.keys(d[0] ?? {}), p = Math.min(u, l + d.length);
	return Q(x, { children: [Q(Wn, {
		caption: n,
		names: f,
		rows: d.map((e) => f.map((t) => e[t])),
		first: l
	}), Q("div", {
		class: "pages",
		children: [Q("span", { children: u ? `Rows ${X(l + 1)} to ${X(p)} of ${X(u)}` : "No rows" }), u > Hn && Q(x, { children: [Q("button", {
			type: "button",
			disabled: l === 0,
			onClick: () => o.value = Math.max(0, l - Hn),
			children: "Previous"
		}), Q("button", {
			type: "button",
			disabled: p >= u,
			onClick: () => o.value = l + Hn,
			children: "Next"
		})] })]
	})] });
}
function Wn({ caption: e, names: t, rows: n, first: r, on: i, pick: a }) {
	let o = t.map((e, t) => n.some((e) => typeof e[t] == "number"));
	return Q("div", {
		class: "scroll",
		tabIndex: 0,
		role: "region",
		"aria-label": e,
		children: Q("table", { children: [
			Q("caption", {
				class: "unseen",
				children: e
			}),
			Q("thead", { children: Q("tr", { children: [r !== void 0 && Q("th", {
				scope: "col",
				class: "number",
				children: "row"
			}), t.map((e, t) => Q("th", {
				scope: "col",
				class: o[t] ? "number" : "",
				children: e
			}, e))] }) }),
			Q("tbody", { children: n.map((e, t) => Q("tr", {
				class: i === t ? "on" : "",
				onClick: a && (() => a(t)),
				children: [r !== void 0 && Q("td", {
					class: "number faint",
					children: X(r + t + 1)
				}), e.map((e, n) => Q("td", {
					class: o[n] ? "number" : "",
					children: a && n === 0 ? Q("button", {
						type: "button",
						class: "link",
						onClick: (e) => (e.stopPropagation(), a(t)),
						children: Gn(e)
					}) : Gn(e)
				}, n))]
			}, t)) })
		] })
	});
}
function Gn(e) {
	let t = typeof e == "string" ? e : Z(e, 6);
	return t.length > 80 ? `${t.slice(0, 77)}…` : t;
}
// src/views/incoming.tsx
var Kn = [
	[/\.(tsv|tab)(\.gz)?$/i, "tsv"],
	[/\.(csv|txt|dat)(\.gz)?$/i, "csv"],
	[/\.npy(\.gz)?$/i, "npy"],
	[/\.parquet$/i, "parquet"],
	[/\.(arrow|feather|ipc)$/i, "arrow"],
	[/\.(fasta|fa|fna|faa)(\.gz)?$/i, "fasta"],
	[/\.fps(\.gz)?$/i, "fps"],
	[/\.(svm|svmlight|libsvm)(\.gz)?$/i, "svmlight"],
	[/\.(xlsx|xls|ods)$/i, "table"],
	[/\.(json|jsonl|ndjson)(\.gz)?$/i, "table"]
], qn = {
	csv: "plain numbers",
	tsv: "plain numbers",
	table: "numbers, texts, gaps"
};
function Jn(e, t) {
	return new Set(e?.names.filter((n, r) => t === "table" || e.kinds[r] === "number") ?? []);
}
function Yn({ above: e, hasNames: t }) {
	return t ? e === 0 ? "names in the first row" : `names in line ${e + 1}, below ${e === 1 ? "a title" : `${e} lines`}` : "no names in the first row";
}
var Xn = 65536;
function Zn(e) {
	return e.replace(/\.gz$/i, "").replace(/\.[a-z0-9]+$/i, "").replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[-.]+|[-.]+$/g, "").slice(0, 100) || "data";
}
async function Qn(e) {
	let t = e.slice(0, Xn), n = new Uint8Array(await t.slice(0, 2).arrayBuffer());
	if (n[0] !== 31 || n[1] !== 139) return t.text();
	let r = t.stream().pipeThrough(new DecompressionStream("gzip")).pipeThrough(new TextDecoderStream()).getReader(), i = "";
	try {
		for (; i.length < Xn;) {
			let { done: e, value: t } = await r.read();
			if (e) break;
			i += t;
		}
	} catch {}
	return i;
}
function $n({ datasets: e, names: t }) {
	let n = V(null), r = V(null), i = V(""), a = V("csv"), o = V([]), s = V(new Set()), c = V(""), l = V(""), u = V(!1), d = V(!1), f = V(!1), p = V(null), m = V(null), h = V(null), g = async (e) => {
		if (!e) return;
		let t = Kn.find(([t]) => t.test(e.name))?.[1] ?? "csv", f = (await Pt().catch(() => null))?.components.schemas["lehr.datasets.Form"]?.enum ?? ["csv", "tsv"], h = f.includes(t) ? t : "csv", g = t === "csv" || t === "tsv" ? Bn(await Qn(e)) : null, _ = g !== null && !g.isPlain && f.includes("table");
		ze(() => {
			n.value = e, _n.value = null, o.value = f, a.value = _ ? "table" : h, r.value = g, i.value = Zn(e.name), s.value = Jn(g, a.value), c.value = _ && g.ids >= 0 ? g.names[g.ids] : "", l.value = "", u.value = g?.hasGaps ?? !1, d.value = !1, m.value = null, p.value = null;
		});
	}, _ = async () => {
		let [t, o] = [n.value, r.value], f = Jn(o, a.value), g = {
			...o && (s.value.size !== f.size || [...f].some((e) => !s.value.has(e))) ? { columns: o.names.filter((e) => s.value.has(e)) } : {},
			...c.value ? { id: c.value } : {},
			...l.value ? { weights: l.value } : {},
			...u.value && a.value !== "table" ? { gaps: !0 } : {}
		};
		h.value = new AbortController(), m.value = null, p.value = 0;
		try {
			let r = i.value.trim();
			_n.value = r;
			let o = await bn(e, r, a.value, g, t, d.value, (e) => p.value = e, h.value.signal);
			K(`${r} is there: ${X(o.rows)} rows, ${X(o.columns.length)} columns.`), n.value = null, Y("data", { set: r });
		} catch (e) {
			h.value.signal.aborted || (m.value = e);
		} finally {
			p.value = null, h.value = null;
		}
	}, v = r.value, y = a.value === "table", b = t.includes(i.value.trim()), S = !/^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/.test(i.value.trim()), C = p.value !== null, w = m.value instanceof yt && /empty field|missing/i.test(m.value.message) && !u.value;
	return Q("section", {
		class: "card",
		children: [Q("div", {
			class: `drop${f.value ? " over" : ""}`,
			onDragOver: (e) => {
				e.preventDefault(), f.value = !0;
			},
			onDragLeave: () => f.value = !1,
			onDrop: (e) => {
				e.preventDefault(), f.value = !1, g(e.dataTransfer?.files[0]);
			},
			children: [Q("p", { children: [
				Q("b", { children: "Drop a file here" }),
				" to bring in a data set, or",
				" ",
				Q("label", {
					class: "button first",
					children: ["choose a file", Q("input", {
						class: "unseen",
						type: "file",
						onChange: (e) => {
							g(e.currentTarget.files?.[0]), e.currentTarget.value = "";
						}
					})]
				})
			] }), Q("p", {
				class: "note",
				children: "You see its columns first. Nothing is sent before you say so."
			})]
		}), n.value && Q("form", {
			class: "incoming",
			"aria-label": `Bring in ${n.value.name}`,
			onSubmit: (e) => {
				e.preventDefault(), _();
			},
			children: [
				Q("div", {
					class: "head",
					children: Q("div", { children: [Q("h2", { children: n.value.name }), Q("p", {
						class: "note",
						children: [xn(n.value.size), v ? `; ${X(v.names.length)} ${v.names.length === 1 ? "column" : "columns"}, ${Yn(v)}` : ""]
					})] })
				}),
				Q("div", {
					class: "fields",
					children: [
						Q("label", { children: [
							"Name",
							Q("input", {
								value: i.value,
								"aria-invalid": S,
								onInput: (e) => i.value = e.currentTarget.value
							}),
							S && Q("span", {
								class: "complaint",
								children: "Use letters, digits, \".\", \"_\" and \"-\", in parts with \"/\" between them."
							})
						] }),
						Q("label", { children: ["Format", Q("select", {
							value: a.value,
							onChange: (e) => ze(() => [a.value, s.value] = [e.currentTarget.value, Jn(v, e.currentTarget.value)]),
							children: o.value.map((e) => Q("option", {
								value: e,
								children: [e, qn[e] ? `: ${qn[e]}` : ""]
							}, e))
						})] }),
						v && Q(x, { children: [Q("label", { children: ["Ids", Q("select", {
							value: c.value,
							onChange: (e) => c.value = e.currentTarget.value,
							children: [Q("option", {
								value: "",
								children: "none: rows are numbered"
							}), v.names.map((e) => Q("option", {
								value: e,
								children: e
							}, e))]
						})] }), Q("label", { children: ["Weights", Q("select", {
							value: l.value,
							onChange: (e) => l.value = e.currentTarget.value,
							children: [Q("option", {
								value: "",
								children: "none: all rows count once"
							}), v.names.filter((e, t) => v.kinds[t] === "number").map((e) => Q("option", {
								value: e,
								children: e
							}, e))]
						})] })] })
					]
				}),
				!y && Q("label", {
					class: "check",
					children: [
						Q("input", {
							type: "checkbox",
							checked: u.value,
							onChange: (e) => u.value = e.currentTarget.checked
						}),
						"Values may be missing",
						v?.hasGaps ? " (some of the first rows have none)" : ""
					]
				}),
				b && Q("label", {
					class: "check",
					children: [
						Q("input", {
							type: "checkbox",
							checked: d.value,
							onChange: (e) => d.value = e.currentTarget.checked
						}),
						"Replace the data set ",
						i.value.trim(),
						" that is there"
					]
				}),
				v && Q("fieldset", { children: [Q("legend", { children: y ? "Columns to keep" : "Columns to keep: numbers that methods can use" }), Q("div", {
					class: "columns",
					children: v.names.map((e, t) => Q("label", {
						class: "check",
						children: [
							Q("input", {
								type: "checkbox",
								checked: s.value.has(e),
								disabled: !y && v.kinds[t] !== "number",
								onChange: (t) => {
									let n = new Set(s.value);
									t.currentTarget.checked ? n.add(e) : n.delete(e), s.value = n;
								}
							}),
							e || "(no name)",
							" ",
							Q("span", {
								class: "faint",
								children: v.kinds[t]
							})
						]
					}, `${t} ${e}`))
				})] }),
				v && v.rows.length > 0 && Q(Wn, {
					caption: "First rows of the file",
					names: v.names,
					rows: v.rows.slice(0, 5),
					first: 0
				}),
				Q($, { error: m.value }),
				w && Q("p", {
					class: "warning",
					children: [
						"Some numbers are missing.",
						" ",
						Q("button", {
							type: "button",
							onClick: () => {
								u.value = !0, _();
							},
							children: "Allow missing values and send again"
						})
					]
				}),
				C && Q("p", { children: [
					Q("progress", {
						max: n.value.size,
						value: p.value ?? 0,
						"aria-label": "Sent"
					}),
					" ",
					p.value === n.value.size ? "The node reads it…" : `${xn(p.value ?? 0)} of ${xn(n.value.size)}`
				] }),
				Q("div", {
					class: "tools",
					children: [
						Q("button", {
							type: "submit",
							class: "first",
							disabled: C || S || b && !d.value || v !== null && s.value.size === 0,
							children: "Bring it in"
						}),
						v !== null && s.value.size === 0 && Q("span", {
							class: "complaint",
							children: y || !o.value.includes("table") ? "Choose a column to keep." : "No column has plain numbers. Choose the format \"table\", which reads numbers as people write them."
						}),
						Q("button", {
							type: "button",
							onClick: () => C ? h.value?.abort() : (n.value = null, _n.value = null),
							children: C ? "Stop" : "Cancel"
						})
					]
				})
			]
		})]
	});
}
// src/views/data.tsx
function er(e) {
	return e.rows > 0 && e.columns.filter((e) => e.kind !== "text").length >= 2;
}
var tr = 200;
function nr() {
	let e = Kt(), t = V(""), n = V(!1), r = V(!1);
	if (!e) return Q("p", {
		class: "empty",
		children: [
			"This node has no service of data sets. Start one with ",
			Q("code", { children: "lehr serve" }),
			"."
		]
	});
	let i = G(e).value;
	if (!i) return Q("p", {
		class: "empty",
		children: "Asking the node…"
	});
	let a = J.value.settings.set, o = Object.keys(i.datasets).sort((e, t) => i.datasets[t].content - i.datasets[e].content), s = o.filter((e) => (n.value || !e.includes("/")) && e.toLowerCase().includes(t.value.toLowerCase())), c = o.filter((e) => e.includes("/")).length, l = r.value ? s : s.slice(0, tr), u = Object.entries(i.uploads ?? {}).filter(([e]) => e !== _n.value);
	return Q(x, { children: [
		Q($n, {
			datasets: e,
			names: o
		}),
		u.length > 0 && Q(rr, {
			path: e,
			uploads: u
		}),
		Q("section", {
			class: "card",
			children: [
				Q("div", {
					class: "head",
					children: [Q("div", { children: [Q("h2", { children: "Data sets" }), Q("p", {
						class: "note",
						children: [
							"Without ",
							Q("code", { children: "lehr serve --keep" }),
							", tables and jobs are gone when the node stops."
						]
					})] }), Q("div", {
						class: "tools",
						children: [Q("label", { children: [Q("span", {
							class: "unseen",
							children: "Search data sets"
						}), Q("input", {
							type: "search",
							placeholder: "Search",
							value: t.value,
							onInput: (e) => t.value = e.currentTarget.value
						})] }), c > 0 && Q("label", {
							class: "check",
							children: [
								Q("input", {
									type: "checkbox",
									checked: n.value,
									onChange: (e) => n.value = e.currentTarget.checked
								}),
								"Results of jobs (",
								X(c),
								")"
							]
						})]
					})]
				}),
				s.length === 0 ? Q("p", {
					class: "empty",
					children: o.length ? "No data set has this in its name." : "No data set yet. Drop a file above: CSV, TSV, Excel, Parquet, Arrow, NPY, FASTA or FPS. Then run a method on it, and explore what it finds."
				}) : Q("div", {
					class: "scroll",
					tabIndex: 0,
					role: "region",
					"aria-label": "Data sets",
					children: Q("table", { children: [Q("thead", { children: Q("tr", { children: [
						Q("th", {
							scope: "col",
							children: "Name"
						}),
						Q("th", {
							scope: "col",
							class: "number",
							children: "Rows"
						}),
						Q("th", {
							scope: "col",
							class: "number roomy",
							children: "Columns"
						}),
						Q("th", {
							scope: "col",
							class: "number roomy",
							children: "Size"
						}),
						Q("th", {
							scope: "col",
							class: "roomy",
							children: "From"
						}),
						Q("th", {
							scope: "col",
							children: Q("span", {
								class: "unseen",
								children: "Actions"
							})
						})
					] }) }), Q("tbody", { children: l.map((e) => Q(ar, {
						name: e,
						dataset: i.datasets[e],
						isOn: e === a
					}, e)) })] })
				}),
				s.length > l.length && Q("p", {
					class: "pages",
					children: Q("button", {
						type: "button",
						onClick: () => r.value = !0,
						children: ["Show all ", X(s.length)]
					})
				})
			]
		}),
		a && i.datasets[a] && Q(or, {
			path: e,
			name: a,
			dataset: i.datasets[a]
		}),
		a && !i.datasets[a] && Q("p", {
			class: "empty",
			children: [
				"There is no data set \"",
				a,
				"\" any more."
			]
		})
	] });
}
function rr({ path: e, uploads: t }) {
	let n = V(null), r = async (t) => {
		try {
			n.value = null, await U(`${e}:remove`, { name: t }), K(`Forgot the upload ${t}.`);
		} catch (e) {
			n.value = e;
		}
	};
	return Q("section", {
		class: "card",
		"aria-labelledby": "uploads",
		children: [
			Q("h2", {
				id: "uploads",
				children: "Uploads that are not data sets yet"
			}),
			Q($, { error: n.value }),
			Q("ul", {
				class: "plainlist",
				children: t.map(([e, t]) => Q("li", { children: [Q("div", {
					class: "tools",
					children: [
						Q("b", { children: e }),
						Q("span", {
							class: `state ${t.state}`,
							children: t.state
						}),
						Q("span", {
							class: "soft",
							children: [xn(t.offset), t.bytes ? ` of ${xn(t.bytes)}` : ""]
						}),
						Q("button", {
							type: "button",
							onClick: () => r(e),
							children: ["Forget", Q("span", {
								class: "unseen",
								children: [" ", e]
							})]
						})
					]
				}), t.fault && Q($, { error: t.fault.reason })] }, e))
			})
		]
	});
}
function ir(e) {
	let [t, n] = Object.entries(e ?? {})[0] ?? ["", {}];
	return t === "file" ? `file ${n.path ?? ""}` : t === "upload" ? `upload (${n.format ?? ""})` : t === "job" || n?.job ? `job ${n.job ?? ""}` : t || "a service";
}
function ar({ name: e, dataset: t, isOn: n }) {
	return Q("tr", {
		class: n ? "on" : "",
		children: [
			Q("td", { children: Q("a", {
				href: q("data", { set: n ? null : e }),
				children: e
			}) }),
			Q("td", {
				class: "number",
				children: X(t.rows)
			}),
			Q("td", {
				class: "number roomy",
				children: X(t.columns.length)
			}),
			Q("td", {
				class: "number roomy",
				children: xn(t.bytes)
			}),
			Q("td", {
				class: "soft roomy",
				children: ir(t.source)
			}),
			Q("td", {
				class: "actions",
				children: [er(t) && Q("a", {
					class: "button",
					href: q("explore", { data: e }),
					children: ["Explore", Q("span", {
						class: "unseen",
						children: [" ", e]
					})]
				}), Q("a", {
					class: "button",
					href: q("jobs", {
						new: "1",
						data: e
					}),
					children: ["Run", Q("span", {
						class: "unseen",
						children: [" a method on ", e]
					})]
				})]
			})
		]
	});
}
function or({ path: e, name: t, dataset: n }) {
	let r = V(null), i = V(!1), a = V(null), o = async (e) => {
		try {
			r.value = null, await e();
		} catch (e) {
			r.value = e;
		}
	}, s = () => o(async () => {
		let r = [], i = 0;
		do {
			let n = await H(Dt(`${e}:read`, {
				name: t,
				from: i
			}), { accept: "text/csv" }), a = Number((n.headers.get("lehr-rows") ?? "").split(/[-/]/)[1]), o = await n.text();
			if (r.push(new Blob([i ? o.slice(o.indexOf("\n") + 1) : o])), !(a > i)) break;
			i = a;
		} while (i < n.rows);
		gn(`${t}.csv`, new Blob(r, { type: "text/csv" }));
	}), c = () => o(async () => {
		await U(`${e}:remove`, { name: t }), K(`Removed ${t}.`), Y("data");
	}), l = () => o(async () => {
		let n = a.value.trim();
		await U(`${e}:rename`, {
			name: t,
			to: n
		}), K(`Renamed ${t} to ${n}.`), Y("data", { set: n });
	});
	return Q("section", {
		class: "card",
		"aria-labelledby": "data-detail",
		children: [
			Q("div", {
				class: "head",
				children: [Q("div", { children: [Q("h2", {
					id: "data-detail",
					children: t
				}), Q("p", {
					class: "note",
					children: [
						X(n.rows),
						" rows, ",
						X(n.columns.length),
						" columns",
						n.id ? `; ids in ${n.id}` : "",
						n.weights ? `; weights in ${n.weights}` : ""
					]
				})] }), Q("div", {
					class: "tools",
					children: [
						Q("a", {
							class: "button first",
							href: q("jobs", {
								new: "1",
								data: t
							}),
							children: "Run a method"
						}),
						er(n) && Q("a", {
							class: "button",
							href: q("explore", { data: t }),
							children: "Explore"
						}),
						Q("button", {
							type: "button",
							onClick: s,
							children: "Save as CSV"
						}),
						Q("button", {
							type: "button",
							onClick: () => a.value = a.value === null ? t : null,
							children: "Rename"
						}),
						i.value ? Q(x, { children: [Q("button", {
							type: "button",
							class: "danger",
							onClick: c,
							children: "Remove for good"
						}), Q("button", {
							type: "button",
							onClick: () => i.value = !1,
							children: "Keep it"
						})] }) : Q("button", {
							type: "button",
							onClick: () => i.value = !0,
							children: "Remove…"
						})
					]
				})]
			}),
			a.value !== null && Q("form", {
				class: "inline",
				onSubmit: (e) => {
					e.preventDefault(), l();
				},
				children: [Q("label", { children: ["New name ", Q("input", {
					value: a.value,
					onInput: (e) => a.value = e.currentTarget.value
				})] }), Q("button", {
					type: "submit",
					class: "first",
					children: "Rename"
				})]
			}),
			Q($, { error: r.value }),
			Q(kn, { of: n.warnings }),
			n.account && Q(x, { children: [
				Q("h3", { children: "Columns" }),
				Q(Wn, {
					caption: "The columns",
					names: [
						"column",
						"role",
						"read as",
						"missing",
						"range",
						"why"
					],
					rows: n.account.map((e) => [
						e.name,
						e.role,
						e.read_as,
						e.missing,
						e.range,
						e.reason ?? ""
					])
				}),
				Q("h3", {
					class: "next",
					children: "Rows"
				})
			] }),
			Q(Un, {
				datasets: e,
				name: t,
				caption: `Rows of ${t}`,
				version: n.content
			})
		]
	});
}
// src/views/form.tsx
function sr(e, t) {
	let n = {};
	for (let r of e) {
		let e = t[r.name];
		if (e === void 0 || e === "" || Array.isArray(e) && e.length === 0) continue;
		let i = r.kind === "whole" || r.kind === "number" ? Number(e) : r.kind === "yes" ? e === "yes" : e;
		i !== r.default && (n[r.name] = i);
	}
	return n;
}
function cr(e, t) {
	return e.every((e) => {
		let n = t[e.name];
		return typeof n != "string" || Bt(e, n) === null;
	});
}
function lr({ fields: e, typed: t, dataset: n, change: r }) {
	let i = V(!1), a = (e) => Q(ur, {
		field: e,
		value: t[e.name],
		dataset: n,
		change: r
	}, e.name), o = e.filter((e) => !e.isBasic);
	return Q(x, { children: [Q("div", {
		class: "fields",
		children: e.filter((e) => e.isBasic).map(a)
	}), o.length > 0 && Q("details", {
		open: i.value,
		onToggle: (e) => i.value = e.currentTarget.open,
		children: [Q("summary", { children: [
			"More options (",
			o.length,
			")"
		] }), i.value && Q("div", {
			class: "fields",
			children: o.map(a)
		})]
	})] });
}
function ur({ field: e, value: t, dataset: n, change: r }) {
	let i = `option-${e.name}`, a = typeof t == "string" ? t : "", o = Bt(e, a), s = wn(e.name), c = Q("span", {
		class: "about",
		id: `${i}-about`,
		children: e.about
	});
	if (e.kind === "yes") return Q("div", {
		class: "field",
		children: [Q("label", {
			class: "check",
			children: [Q("input", {
				id: i,
				type: "checkbox",
				checked: t === void 0 ? e.default === !0 : t === "yes",
				"aria-describedby": `${i}-about`,
				onChange: (t) => r(e.name, t.currentTarget.checked ? "yes" : "no")
			}), Q("b", { children: s })]
		}), c]
	});
	if (e.kind === "columns" && n) {
		let i = Array.isArray(t) ? t : [], a = n.columns.filter((e) => e.kind !== "text");
		return a.length === 0 ? null : Q("fieldset", {
			class: "field wide",
			children: [
				Q("legend", { children: s }),
				Q("div", {
					class: "columns",
					children: a.map(({ name: t }) => Q("label", {
						class: "check",
						children: [Q("input", {
							type: "checkbox",
							checked: i.includes(t),
							onChange: (n) => r(e.name, n.currentTarget.checked ? [...i, t] : i.filter((e) => e !== t))
						}), t]
					}, t))
				}),
				Q("span", {
					class: "about",
					children: i.length ? `${i.length} chosen` : "None chosen: all numbers, except weights and ids."
				})
			]
		});
	}
	return Q("div", {
		class: "field",
		children: [
			Q("label", {
				for: i,
				children: s
			}),
			e.kind === "choice" ? Q("select", {
				id: i,
				value: a || String(e.default ?? ""),
				"aria-describedby": `${i}-about`,
				onChange: (t) => r(e.name, t.currentTarget.value),
				children: [e.default === null && Q("option", {
					value: "",
					children: e.otherwise
				}), e.choices.map((e) => Q("option", {
					value: e.value,
					title: e.about,
					children: wn(e.value)
				}, e.value))]
			}) : e.kind === "column" && n ? Q("select", {
				id: i,
				value: a,
				"aria-describedby": `${i}-about`,
				onChange: (t) => r(e.name, t.currentTarget.value),
				children: [Q("option", {
					value: "",
					children: e.otherwise
				}), n.columns.map(({ name: e }) => Q("option", {
					value: e,
					children: e
				}, e))]
			}) : Q("input", {
				id: i,
				value: Array.isArray(t) ? t.join(",") : a,
				inputMode: e.kind === "whole" ? "numeric" : e.kind === "number" ? "decimal" : "text",
				placeholder: e.otherwise,
				"aria-invalid": o !== null,
				"aria-describedby": `${i}-about`,
				autocomplete: "off",
				onInput: (t) => {
					let n = t.currentTarget.value;
					r(e.name, e.kind === "columns" ? n.split(",").map((e) => e.trim()).filter(Boolean) : n);
				}
			}),
			o ? Q("span", {
				class: "complaint",
				id: `${i}-about`,
				children: o
			}) : c,
			e.kind === "choice" && e.choices.find((t) => t.value === (a || e.default))?.about && Q("span", {
				class: "about",
				children: e.choices.find((t) => t.value === (a || e.default)).about
			})
		]
	});
}
// \0vite/preload-helper.js
var dr = (function() {
	let e = typeof document < "u" && document.createElement("link").relList;
	return e && e.supports && e.supports("modulepreload") ? "modulepreload" : "preload";
})(), fr = function(e, t) {
	return new URL(e, t).href;
}, pr = {}, mr = function(e) {
	return e.pathname.endsWith(".css");
}, hr = function(e, t, n) {
	if (t in e) return e[t];
	let r = n();
	if (!r) {
		e[t] = void 0;
		return;
	}
	let i = r.then(() => {
		e[t] = void 0;
	}, (n) => {
		throw e[t] = void 0, n;
	});
	return e[t] = i, i;
}, gr = function(e, t, n) {
	let r = Promise.resolve();
	if (t && t.length > 0) {
		let e, i = document.querySelector("meta[property=csp-nonce]"), a = i?.nonce || i?.getAttribute("nonce");
		function o(e) {
			return Promise.all(e.map((e) => Promise.resolve(e).then((e) => ({
				status: "fulfilled",
				value: e
			}), (e) => ({
				status: "rejected",
				reason: e
			}))));
		}
		function s(e) {
			return import.meta.resolve ? new URL(import.meta.resolve(e)) : new URL(e, import.meta.url);
		}
		r = o(t.map((t) => {
			t = fr(t, n);
			let r = s(t), i = mr(r);
			return hr(pr, r.href, () => {
				if (e === void 0) {
					e = {
						all: new Set(),
						styles: new Set()
					};
					let t = document.getElementsByTagName("link");
					for (let n = t.length - 1; n >= 0; n--) {
						let r = t[n];
						e.all.add(r.href), r.rel === "stylesheet" && e.styles.add(r.href);
					}
				}
				if ((i ? e.styles : e.all).has(r.href)) return;
				let t = document.createElement("link");
				if (t.rel = i ? "stylesheet" : dr, i || (t.as = "script"), t.crossOrigin = "", t.href = r.href, a && t.setAttribute("nonce", a), document.head.appendChild(t), i) return new Promise((e, n) => {
					let i = (a) => {
						t.removeEventListener("load", i), t.removeEventListener("error", i), a.type === "error" ? n(Error(`Unable to preload CSS for ${r}`)) : e(a);
					};
					t.addEventListener("load", i), t.addEventListener("error", i);
				});
			});
		}).filter((e) => e !== void 0));
	}
	function i(e) {
		let t = new Event("vite:preloadError", { cancelable: !0 });
		if (t.payload = e, window.dispatchEvent(t), !t.defaultPrevented) throw e;
	}
	return r.then((t) => {
		for (let e of t || []) e.status === "rejected" && i(e.reason);
		return e().catch(i);
	});
}, _r = 50, vr = [
	"centers",
	"components",
	"outliers",
	"marks",
	"numbers",
	"labels"
], yr = {
	centers: "clusters",
	history: "each step",
	labels: "cluster of each row",
	marks: "what sets them apart",
	numbers: "other numbers of clusters"
}, br = B(null);
function xr() {
	return I(() => {
		br.value || gr(() => import("./anneal.js").then((e) => br.value = e), [], import.meta.url).catch(() => K("The curves could not be loaded. Reload the page."));
	}, []), br.value;
}
var Sr = [
	"queued",
	"running",
	"done",
	"failed",
	"cancelled",
	"interrupted"
];
function Cr(e) {
	return e.contract.replace(/^lehr\./, "");
}
function wr() {
	let e = qt(), t = e.flatMap(({ path: e }) => Object.entries(G(e).value?.jobs ?? {}).map(([t, n]) => ({
		service: e,
		id: t,
		job: n
	})));
	t.sort((e, t) => t.job.times.queued_unix_ms - e.job.times.queued_unix_ms || t.job.number - e.job.number);
	let { settings: n } = J.value, r = n.job ? t.find((e) => e.service === n.service && e.id === n.job) : void 0;
	return e.length ? Q(x, { children: [
		n.new ? Q(zr, { methods: e }) : Q("p", {
			class: "lead-in",
			children: Q("a", {
				class: "button first",
				href: q("jobs", { new: "1" }),
				children: "New job"
			})
		}),
		n.job && !r && Q("p", {
			class: "empty",
			children: [
				"There is no job \"",
				n.job,
				"\" here any more."
			]
		}),
		r && Q(jr, { ...r }, `${r.service} ${r.id}`),
		Q(Tr, {
			jobs: t,
			chosen: r
		})
	] }) : Q("p", {
		class: "empty",
		children: [
			"No method runs on this node. Start one, for example ",
			Q("code", { children: "lehr serve --start lehr.clustering=/clustering" }),
			"."
		]
	});
}
function Tr({ jobs: e, chosen: t }) {
	let n = V(""), r = V(""), i = V(0), a = e.filter(({ id: e, service: t, job: i }) => (!n.value || i.state === n.value) && `${e} ${t} ${Object.values(i.inputs).join(" ")}`.toLowerCase().includes(r.value.toLowerCase())), o = Math.max(0, Math.ceil(a.length / _r) - 1), s = Math.min(i.value, o);
	return Q("section", {
		class: "card",
		children: [
			Q("div", {
				class: "head",
				children: [Q("div", { children: [Q("h2", { children: "Jobs" }), Q("p", {
					class: "note",
					children: "Newest first. They go on when you close this page."
				})] }), Q("div", {
					class: "tools",
					children: [Q("label", { children: [Q("span", {
						class: "unseen",
						children: "State"
					}), Q("select", {
						value: n.value,
						onChange: (e) => (n.value = e.currentTarget.value, i.value = 0),
						children: [Q("option", {
							value: "",
							children: "all states"
						}), Sr.map((e) => Q("option", { children: e }, e))]
					})] }), Q("label", { children: [Q("span", {
						class: "unseen",
						children: "Search jobs"
					}), Q("input", {
						type: "search",
						placeholder: "Search",
						value: r.value,
						onInput: (e) => (r.value = e.currentTarget.value, i.value = 0)
					})] })]
				})]
			}),
			a.length === 0 ? Q("p", {
				class: "empty",
				children: e.length ? "No job matches." : "No job yet. Choose \"New job\" above, or \"Run\" beside a data set."
			}) : Q("div", {
				class: "scroll",
				tabIndex: 0,
				role: "region",
				"aria-label": "Jobs",
				children: Q("table", { children: [Q("thead", { children: Q("tr", { children: [
					Q("th", {
						scope: "col",
						children: "Job"
					}),
					Q("th", {
						scope: "col",
						children: "State"
					}),
					Q("th", {
						scope: "col",
						children: "Data"
					}),
					Q("th", {
						scope: "col",
						class: "roomy",
						children: "Queued"
					}),
					Q("th", {
						scope: "col",
						class: "number roomy",
						children: "Took"
					}),
					Q("th", {
						scope: "col",
						children: Q("span", {
							class: "unseen",
							children: "Actions"
						})
					})
				] }) }), Q("tbody", { children: a.slice(s * _r, (s + 1) * _r).map((e) => Q("tr", {
					class: t === e ? "on" : "",
					children: [
						Q("td", { children: Q("a", {
							href: q("jobs", t === e ? {} : {
								service: e.service,
								job: e.id
							}),
							children: e.id
						}) }),
						Q("td", { children: Q(Dr, { job: e.job }) }),
						Q("td", {
							class: "soft",
							children: Object.values(e.job.inputs).join(", ")
						}),
						Q("td", {
							class: "soft roomy",
							children: Cn(e.job.times.queued_unix_ms)
						}),
						Q("td", {
							class: "number roomy",
							children: Er(e.job)
						}),
						Q("td", {
							class: "actions",
							children: Q(Or, {
								...e,
								isShort: !0
							})
						})
					]
				}, `${e.service} ${e.id}`)) })] })
			}),
			a.length > _r && Q("div", {
				class: "pages",
				children: [
					Q("span", { children: [
						X(s * _r + 1),
						" to ",
						X(Math.min(a.length, (s + 1) * _r)),
						" of ",
						X(a.length)
					] }),
					Q("button", {
						type: "button",
						disabled: s === 0,
						onClick: () => i.value = s - 1,
						children: "Previous"
					}),
					Q("button", {
						type: "button",
						disabled: s === o,
						onClick: () => i.value = s + 1,
						children: "Next"
					})
				]
			})
		]
	});
}
function Er({ times: e }) {
	return e.started_unix_ms && e.ended_unix_ms ? Sn(e.ended_unix_ms - e.started_unix_ms) : "";
}
function Dr({ job: e }) {
	if (e.state !== "running") return Q("span", {
		class: `state ${e.state}`,
		children: e.state
	});
	let t = Math.round(100 * (e.progress?.fraction ?? 0));
	return Q("span", {
		class: "state running",
		children: [
			Q("progress", {
				max: 100,
				value: t,
				"aria-label": `${t} per cent`
			}),
			" ",
			t,
			" % ",
			e.progress?.stage ?? ""
		]
	});
}
function Or({ service: e, id: t, job: n, isShort: r }) {
	let i = V(null), a = async (n, r) => {
		try {
			i.value = null, await U(`${e}:${n}`, { job: t }), K(r);
		} catch (e) {
			i.value = e;
		}
	}, o = n.state === "queued" || n.state === "running", s = n.state === "failed" || n.state === "cancelled" || n.state === "interrupted", c = Q("span", {
		class: "unseen",
		children: [" ", t]
	});
	return Q(x, { children: [
		n.state === "done" && (n.outputs.labels || n.outputs.positions || n.outputs.places) && Q("a", {
			class: r ? "button" : "button first",
			href: q("explore", Ar(e, t, n)),
			children: ["Explore", c]
		}),
		n.state === "done" && n.outputs.report && !r && Q(kr, {
			service: e,
			id: t
		}),
		o && Q("button", {
			type: "button",
			onClick: () => a("cancel", `Asked ${t} to stop.`),
			children: ["Cancel", c]
		}),
		s && Q("button", {
			type: "button",
			onClick: () => a("resume", `${t} goes on.`),
			children: ["Resume", c]
		}),
		!r && !o && Q("button", {
			type: "button",
			onClick: () => a("remove", `Removed ${t}. Its results stay among the data sets.`).then(() => i.value === null && Y("jobs")),
			children: "Remove from the list"
		}),
		Q($, { error: i.value })
	] });
}
function kr({ service: e, id: t }) {
	let n = Dt(`${e}:report`, { job: t });
	return St() ? Q("button", {
		type: "button",
		onClick: () => H(n, { accept: "text/html" }).then((e) => e.blob()).then((e) => gn(`${t}.html`, e)).catch((e) => K(String(e.message ?? e))),
		children: "Save report"
	}) : Q("a", {
		class: "button",
		href: new URL(`.${n}`, vt).href,
		target: "_blank",
		rel: "noopener",
		children: "Report"
	});
}
function Ar(e, t, n) {
	let r = n.outputs.positions ?? n.outputs.places;
	return r ? { data: r } : {
		data: Object.values(n.inputs)[0],
		colour: `job:${e}|${t}`
	};
}
function jr({ service: e, id: t, job: n }) {
	let r = Kt(), i = V(Date.now()), a = V(null), o = xr(), s = Yt(e, t).value;
	I(() => {
		if (n.state !== "running") return;
		let e = setInterval(() => i.value = Date.now(), 1e3);
		return () => clearInterval(e);
	}, [n.state]);
	let c = (e) => vr.includes(e) ? vr.indexOf(e) : vr.length, l = Object.keys(n.outputs).filter((e) => e !== "model" && e !== "report").sort((e, t) => c(e) - c(t)), u = a.value ?? (l.includes("centers") ? "centers" : l.find((e) => e !== "labels") ?? l[0]), d = Object.entries(n.options).filter(([, e]) => e !== null), f = n.progress?.fraction ?? 0, p = n.times.started_unix_ms ? i.value - n.times.started_unix_ms : 0, m = f > .05 && p > 0 ? p / f * (1 - f) : null, h = s.map((e) => e.figures.temperature ?? NaN), g = n.outputs.history, _ = Object.values(n.inputs).some((e) => r && G(r).value?.datasets[e]?.account) && n.options.auto === !1 && /NaN|finite/.test(n.fault?.reason ?? ""), v = n.state === "done" && r && l.length > 0 && Q(x, { children: [Q("div", {
		class: "tabs",
		role: "group",
		"aria-label": "Tables of the result",
		children: [l.map((e) => Q("button", {
			type: "button",
			"aria-pressed": e === u,
			onClick: () => a.value = e,
			children: yr[e] ?? wn(e)
		}, e)), Q("a", {
			class: "button",
			href: q("data", { set: n.outputs[u] }),
			children: "Open as data set"
		})]
	}), Q(Un, {
		datasets: r,
		name: n.outputs[u],
		caption: `${Tn(yr[u] ?? u)} of ${t}`
	})] });
	return Q("section", {
		class: "card",
		"aria-labelledby": "job-detail",
		children: [
			Q("div", {
				class: "head",
				children: [Q("div", { children: [Q("h2", {
					id: "job-detail",
					children: t
				}), Q("p", {
					class: "note",
					children: [
						e,
						" of ",
						Object.values(n.inputs).join(" and "),
						", queued ",
						Cn(n.times.queued_unix_ms)
					]
				})] }), Q("div", {
					class: "tools",
					children: Q(Or, {
						service: e,
						id: t,
						job: n
					})
				})]
			}),
			Q("p", { children: [
				Q(Dr, { job: n }),
				n.state === "running" && Q("span", {
					class: "soft",
					children: [
						" ",
						Sn(p),
						" so far",
						m === null ? "" : `, about ${Sn(m)} left`
					]
				}),
				Er(n) && Q("span", {
					class: "soft",
					children: [" in ", Er(n)]
				})
			] }),
			n.fault && Q($, {
				error: n.fault.reason,
				code: n.fault.code
			}),
			n.fault && _ && Q(Ir, {
				service: e,
				job: n
			}),
			Q(kn, { of: n.warnings }),
			n.state === "running" && n.progress && Q(Mr, { figures: n.progress.figures }),
			o && n.state === "running" && s.length > 1 && h.some((e) => Number.isFinite(e)) && Q("div", {
				class: "pair",
				children: [Q(o.Chart, {
					title: "Free energy",
					xName: "temperature",
					x: h,
					y: s.map((e) => e.figures.free_energy ?? NaN),
					isLogX: !0,
					isFalling: !0
				}), Q(o.Chart, {
					title: "Clusters",
					xName: "temperature",
					x: h,
					y: s.map((e) => e.figures.clusters ?? NaN),
					isLogX: !0,
					isFalling: !0,
					isStepped: !0
				})]
			}),
			n.state === "done" && n.figures && Q(Mr, { figures: n.figures }),
			v,
			n.state === "done" && r && g && Q(Pr, {
				datasets: r,
				name: g,
				splits: n.outputs.splits,
				keep: (r, i) => Q(Lr, {
					service: e,
					id: t,
					job: n,
					clusters: r,
					temperature: i
				})
			}),
			Q("details", { children: [Q("summary", { children: [
				"Options (",
				d.length,
				")"
			] }), Q("dl", {
				class: "facts",
				children: d.map(([e, t]) => Q("div", { children: [Q("dt", { children: wn(e) }), Q("dd", { children: Z(t) })] }, e))
			})] })
		]
	});
}
function Mr({ figures: e }) {
	return Q("dl", {
		class: "tiles",
		children: Object.entries(e).map(([e, t]) => Q("div", { children: [Q("dt", { children: Tn(wn(e)) }), Q("dd", {
			class: "big",
			children: Z(t)
		})] }, e))
	});
}
var Nr = 4096;
function Pr({ datasets: e, name: t, splits: n, keep: r }) {
	let i = V([]), a = V([]), o = xr(), s = G(e).value?.datasets[t]?.rows ?? 0;
	I(() => {
		let r = !1;
		Vn(e, t, 0, Math.min(s, Nr)).then((e) => {
			r || (i.value = e.json);
		}).catch(() => {});
		let o = n ? G(e).value?.datasets[n]?.rows ?? 0 : 0;
		return n && o && Vn(e, n, 0, Math.min(o, Nr)).then((e) => {
			r || (a.value = e.json);
		}).catch(() => {}), () => {
			r = !0;
		};
	}, [
		e,
		t,
		s
	]);
	let { over: c, x: l, lines: u } = mt(() => {
		let e = (e) => i.value.map((t) => typeof t[e] == "number" ? t[e] : NaN), t = (e) => i.value.some((t) => typeof t[e] == "number"), n = t("temperature") ? "temperature" : [
			"iteration",
			"sweep",
			"sweeps",
			"index",
			"start"
		].find(t), r = new Set([
			"temperature",
			"index",
			"iteration",
			"sweep",
			"start"
		]), a = [
			"free_energy",
			"clusters",
			"stress",
			"log_likelihood",
			"objective",
			"components",
			"cost",
			"mean_cost",
			"sum_of_squares",
			...Object.keys(i.value[0] ?? {})
		].filter((e, n, i) => i.indexOf(e) === n && !r.has(e) && t(e));
		return {
			over: n,
			x: n ? e(n) : [],
			lines: a.slice(0, 2).map((t) => ({
				name: t,
				y: e(t)
			}))
		};
	}).value, d = mt(() => {
		let e = (e, t) => e[t];
		return !i.value.length || ![
			"temperature",
			"clusters",
			"free_energy"
		].every((e) => typeof i.value[0][e] == "number") ? null : {
			steps: i.value.map((t) => ({
				temperature: e(t, "temperature"),
				clusters: e(t, "clusters"),
				freeEnergy: e(t, "free_energy")
			})),
			splits: a.value.map((t) => ({
				temperature: e(t, "temperature"),
				parent: e(t, "parent"),
				clusters: e(t, "clusters")
			}))
		};
	});
	if (!o || !c || i.value.length < 2) return null;
	let f = Q("h3", {
		class: "next",
		children: "How the result came about"
	});
	return d.value ? Q(x, { children: [f, Q(o.Anneal, {
		...d.value,
		unit: "",
		keep: r
	})] }) : Q(x, { children: [f, Q("div", {
		class: "pair",
		children: u.map(({ name: e, y: t }) => Q(o.Chart, {
			title: Tn(wn(e)),
			xName: c,
			x: l,
			y: t,
			isLogX: c === "temperature",
			isFalling: c === "temperature",
			isStepped: e === "clusters" || e === "components"
		}, e))
	})] });
}
async function Fr(e, t, n, r = []) {
	let i = Object.fromEntries(Object.entries(t.options).filter(([e, t]) => t !== null && !r.includes(e))), a = Object.entries(t.inputs), o = a.length === 1 ? a[0][1] : t.inputs, { job: s } = await U(`${e}:run`, {
		input: o,
		options: {
			...i,
			...n
		}
	});
	K(`${s} is queued.`), Y("jobs", {
		service: e,
		job: s
	});
}
function Ir({ service: e, job: t }) {
	let n = V(null);
	return Q(x, { children: [Q("p", {
		class: "warning",
		children: ["Some values are missing. ", Q("button", {
			type: "button",
			onClick: () => Fr(e, t, { auto: !0 }).catch((e) => n.value = e),
			children: "Fill gaps and prepare the columns (auto), and run again"
		})]
	}), Q($, { error: n.value })] });
}
function Lr({ service: e, id: t, job: n, clusters: r, temperature: i }) {
	let a = V(null), o = async (t) => {
		a.value = null, await Fr(e, n, t, [
			"clusters",
			"stop_temperature",
			"stop_length",
			"max_clusters"
		]).catch((e) => a.value = e);
	};
	return Q(x, { children: [Q("p", {
		class: "keep",
		children: [
			n.outputs.labels && r <= (n.figures?.clusters ?? 0) && Q("a", {
				class: "button",
				href: q("explore", {
					...Ar(e, t, n),
					merged: String(r)
				}),
				children: [
					"Show ",
					X(r),
					" ",
					r === 1 ? "cluster" : "clusters"
				]
			}),
			Q("button", {
				type: "button",
				onClick: () => o({ clusters: r }),
				children: [
					"Keep ",
					X(r),
					" ",
					r === 1 ? "cluster" : "clusters"
				]
			}),
			Q("button", {
				type: "button",
				onClick: () => o({ stop_temperature: i }),
				children: "Clusters at this temperature"
			}),
			Q("span", {
				class: "soft",
				children: "The last two run the method again, as a new job."
			})
		]
	}), Q($, { error: a.value })] });
}
var Rr = {
	"lehr.pairwise": ["matrix", "items"],
	"lehr.embedding": ["matrix", "items"],
	"lehr.kmedoids": ["matrix", "items"]
};
function zr({ methods: e }) {
	let t = Kt(), n = t ? G(t).value : null, { settings: r } = J.value, i = Object.keys(n?.datasets ?? {}).filter((e) => !/\/(model|history|members|labels)$/.test(e)), a = e.find((e) => e.contract === "lehr.clustering") ?? e[0], o = V(r.service && e.some((e) => e.path === r.service) ? r.service : a.path), s = V(r.data ?? i[0] ?? ""), c = V(""), l = V({}), u = V([]), d = V(null), f = V(!1), p = e.find((e) => e.path === o.value) ?? a;
	I(() => {
		let e = !1;
		return l.value = {}, d.value = null, Pt().then((t) => {
			let n = t.components.schemas[`${p.contract}.Options`];
			e || (u.value = n ? Rt(n, t) : []);
		}).catch((t) => {
			e || (d.value = t);
		}), () => {
			e = !0;
		};
	}, [p.path, p.contract]);
	let m = n?.datasets[s.value], h = Rr[p.contract], g = h && s.value.replace(/\/[^/]*$/, "/items"), _ = g !== void 0 && g !== s.value && n?.datasets[g] !== void 0, v = m?.columns ?? [], y = v.some((e) => /^(lon|lng|longitude)$/i.test(e.name)) && v.some((e) => /^(lat|latitude)$/i.test(e.name)), b = u.value.some((e) => e.name === "lonlat") && y && l.value.lonlat === void 0, x = m?.account !== void 0 && u.value.some((e) => e.name === "auto"), S = x && l.value.auto === void 0 ? {
		...l.value,
		auto: "yes"
	} : l.value, C = u.value.map((e) => e.name === "auto" ? {
		...e,
		isBasic: x
	} : e.name === "lonlat" ? {
		...e,
		isBasic: y
	} : e);
	x && C.sort((e, t) => Number(t.name === "auto") - Number(e.name === "auto"));
	let w = async () => {
		f.value = !0, d.value = null;
		try {
			let e = {
				input: _ ? {
					[h[0]]: s.value,
					[h[1]]: g
				} : s.value,
				options: sr(u.value, S),
				...c.value.trim() ? { output: c.value.trim() } : {}
			}, { job: t } = await U(`${o.value}:run`, e);
			K(`${t} is queued.`), Y("jobs", {
				service: o.value,
				job: t
			});
		} catch (e) {
			d.value = e;
		} finally {
			f.value = !1;
		}
	};
	return Q("section", {
		class: "card",
		"aria-labelledby": "new-job",
		children: [Q("div", {
			class: "head",
			children: [Q("div", { children: [Q("h2", {
				id: "new-job",
				children: "New job"
			}), Q("p", {
				class: "note",
				children: "Fields that you leave empty keep their defaults, which are shown in grey."
			})] }), Q("div", {
				class: "tools",
				children: Q("a", {
					class: "button",
					href: q("jobs", {}),
					children: "Close"
				})
			})]
		}), Q("form", {
			onSubmit: (e) => {
				e.preventDefault(), w();
			},
			children: [
				Q("div", {
					class: "fields",
					children: [
						Q("div", {
							class: "field",
							children: [Q("label", {
								for: "job-method",
								children: "Method"
							}), Q("select", {
								id: "job-method",
								value: o.value,
								onChange: (e) => o.value = e.currentTarget.value,
								children: e.map((e) => Q("option", {
									value: e.path,
									children: [
										Cr(e),
										" (",
										e.path,
										")"
									]
								}, e.path))
							})]
						}),
						Q("div", {
							class: "field",
							children: [
								Q("label", {
									for: "job-data",
									children: h ? "Dissimilarities" : "Data"
								}),
								Q("select", {
									id: "job-data",
									value: s.value,
									onChange: (e) => s.value = e.currentTarget.value,
									children: [i.length === 0 && Q("option", {
										value: "",
										children: "no data set yet"
									}), i.map((e) => Q("option", {
										value: e,
										children: e
									}, e))]
								}),
								m && Q("span", {
									class: "about",
									children: [
										X(m.rows),
										" rows",
										_ ? `; items from ${g}` : ""
									]
								})
							]
						}),
						Q("div", {
							class: "field",
							children: [Q("label", {
								for: "job-output",
								children: "Name of the results"
							}), Q("input", {
								id: "job-output",
								value: c.value,
								placeholder: "the job's name",
								autocomplete: "off",
								onInput: (e) => c.value = e.currentTarget.value
							})]
						})
					]
				}),
				b && Q("p", {
					class: "warning",
					children: [
						"These rows have longitude and latitude.",
						" ",
						Q("button", {
							type: "button",
							onClick: () => l.value = {
								...l.value,
								lonlat: "yes"
							},
							children: "Cluster positions on the sphere"
						})
					]
				}),
				Q(lr, {
					fields: C,
					typed: S,
					dataset: m,
					change: (e, t) => l.value = {
						...l.value,
						[e]: t
					}
				}),
				Q($, { error: d.value }),
				Q("div", {
					class: "tools",
					children: [Q("button", {
						type: "submit",
						class: "first",
						disabled: f.value || !s.value || !cr(u.value, l.value),
						children: "Run"
					}), !cr(u.value, l.value) && Q("span", {
						class: "complaint",
						children: "Some fields cannot be meant: see above."
					})]
				})
			]
		})]
	});
}
// src/views/node.tsx
function Br(e) {
	let t = new Map();
	for (let n of e.split("\n")) {
		if (!n || n.startsWith("#")) continue;
		let e = n.lastIndexOf(" ");
		t.set(n.slice(0, e), Number(n.slice(e + 1)));
	}
	return t;
}
var Vr = 1e3;
function Hr() {
	let e = V(null), t = V(new Map()), n = V(null), r = V(new Map()), i = Gt("lehr/inspector")[0]?.path;
	I(() => {
		let r = !1, a = async () => {
			if (document.visibilityState === "visible") try {
				i && (e.value = await Et(`${i}:look`)), t.value = Br(await (await H("/metrics", { accept: "text/plain" })).text()), n.value = null;
			} catch (e) {
				n.value = e;
			}
			r || setTimeout(a, Vr);
		};
		return a(), () => {
			r = !0;
		};
	}, [i]), I(() => {
		let e = !1;
		return Pt().then((t) => {
			let n = new Map();
			for (let e of Object.keys(t.paths)) {
				let [t, r] = e.split(":");
				r && !["lookup", "events"].includes(r) && n.set(t, [...n.get(t) ?? [], r]);
			}
			e || (r.value = n);
		}).catch(() => {}), () => {
			e = !0;
		};
	}, [W.value]);
	let a = W.value ?? [], o = e.value, s = (e) => t.value.get(e), c = s("lehr_http_request_duration_seconds_count") ?? 0, l = s("lehr_http_request_duration_seconds_sum") ?? 0, u = (s("lehr_http_responses_total{status=\"4xx\"}") ?? 0) + (s("lehr_http_responses_total{status=\"5xx\"}") ?? 0), d = [
		[
			"Memory",
			s("process_resident_memory_bytes") === void 0 ? "–" : xn(s("process_resident_memory_bytes")),
			"resident"
		],
		[
			"Workers busy",
			o ? `${o.workers_busy} of ${o.workers}` : "–",
			o ? `${X(o.jobs_queued)} tasks ready` : ""
		],
		[
			"Tasks",
			o ? X(o.tasks) : "–",
			o ? `${X(o.timers)} ${o.timers === 1 ? "timer" : "timers"}` : ""
		],
		[
			"Connections",
			Z(s("lehr_connections")),
			`${Z(s("lehr_subscriptions"))} subscriptions`
		],
		[
			"Requests",
			X(c),
			c ? `${Z(1e3 * l / c, 3)} ms on average` : ""
		],
		[
			"Refused or failed",
			X(u),
			"answers 4xx and 5xx"
		]
	];
	return Q(x, { children: [
		Q("section", {
			class: "card",
			"aria-labelledby": "machine",
			children: [
				Q("div", {
					class: "head",
					children: [Q("div", { children: [Q("h2", {
						id: "machine",
						children: "Machine"
					}), Q("p", {
						class: "note",
						children: "Asked once a second while you look."
					})] }), Q("div", {
						class: "tools",
						children: [Q("a", {
							class: "button",
							href: "../openapi.json",
							children: "OpenAPI description"
						}), Q("a", {
							class: "button",
							href: "../metrics",
							children: "Metrics"
						})]
					})]
				}),
				Q($, { error: n.value }),
				Q("dl", {
					class: "tiles",
					children: d.map(([e, t, n]) => Q("div", { children: [
						Q("dt", { children: e }),
						Q("dd", {
							class: "big",
							children: t
						}),
						Q("dd", {
							class: "sub",
							children: n
						})
					] }, e))
				})
			]
		}),
		Q("section", {
			class: "card",
			"aria-labelledby": "services",
			children: [Q("div", {
				class: "head",
				children: Q("div", { children: [Q("h2", {
					id: "services",
					children: "Services"
				}), Q("p", {
					class: "note",
					children: "Each has a document, which you can open, and operations."
				})] })
			}), Q("div", {
				class: "scroll",
				tabIndex: 0,
				role: "region",
				"aria-label": "Services",
				children: Q("table", { children: [Q("thead", { children: Q("tr", { children: [
					Q("th", {
						scope: "col",
						children: "Path"
					}),
					Q("th", {
						scope: "col",
						children: "Contract"
					}),
					Q("th", {
						scope: "col",
						children: "Phase"
					}),
					Q("th", {
						scope: "col",
						class: "number",
						children: "Running"
					}),
					Q("th", {
						scope: "col",
						class: "number",
						children: "Waiting"
					}),
					Q("th", {
						scope: "col",
						class: "number",
						children: "Subscribers"
					}),
					Q("th", {
						scope: "col",
						class: "number",
						children: "Requests"
					}),
					Q("th", {
						scope: "col",
						class: "number",
						children: "Faults"
					}),
					Q("th", {
						scope: "col",
						children: "Operations"
					})
				] }) }), Q("tbody", { children: a.map((e) => {
					let t = o?.services.find((t) => t.path === e.path);
					return Q("tr", { children: [
						Q("td", { children: Q("a", {
							href: `..${e.path}`,
							children: e.path
						}) }),
						Q("td", {
							class: "soft",
							children: [
								e.contract,
								" ",
								e.version
							]
						}),
						Q("td", { children: [Q("span", {
							class: `state ${e.phase}`,
							children: e.phase
						}), e.reports.map((e) => Q("span", {
							class: "complaint",
							children: String(e)
						}, e))] }),
						Q("td", {
							class: "number",
							children: t ? X(t.running.length) : ""
						}),
						Q("td", {
							class: "number",
							children: t ? X(t.waiting.reduce((e, t) => e + t.requests, 0)) : ""
						}),
						Q("td", {
							class: "number",
							children: t ? X(t.subscribers.length) : ""
						}),
						Q("td", {
							class: "number",
							children: Z(s(`lehr_requests_total{service="${e.path}"}`))
						}),
						Q("td", {
							class: "number",
							children: Z(s(`lehr_faults_total{service="${e.path}"}`))
						}),
						Q("td", {
							class: "soft wrap",
							children: (r.value.get(e.path) ?? []).join(", ")
						})
					] }, e.path);
				}) })] })
			})]
		}),
		o && Q(Ur, { look: o }),
		Q(Wr, {}),
		Q(Gr, {})
	] });
}
function Ur({ look: e }) {
	let t = e.services.flatMap(({ path: e, running: t }) => t.map((t) => ({
		path: e,
		handler: t
	}))), n = e.services.flatMap(({ path: e, waiting: t }) => t.map((t) => ({
		path: e,
		queue: t
	})));
	return Q("section", {
		class: "card",
		"aria-labelledby": "waits",
		children: [
			Q("h2", {
				id: "waits",
				children: "Who waits for what"
			}),
			t.length + n.length === 0 && Q("p", {
				class: "note",
				children: "No handler waits, and no request waits behind one."
			}),
			Q("ul", {
				class: "plainlist",
				children: [t.map(({ path: e, handler: t }, n) => Q("li", { children: [
					Q("b", { children: [
						e,
						":",
						t.operation
					] }),
					" waits ",
					Sn(t.age_ms),
					t.waits_for.length > 0 && Q(x, { children: [" for ", t.waits_for.join(", ")] }),
					t.caller && Q("span", {
						class: "soft",
						children: [
							" (asked by ",
							t.caller,
							")"
						]
					})
				] }, n)), n.map(({ path: e, queue: t }) => Q("li", { children: [
					Q("b", { children: [
						e,
						":",
						t.operation
					] }),
					" ",
					X(t.requests),
					" ",
					t.requests === 1 ? "request waits" : "requests wait"
				] }, `${e} ${t.operation}`))]
			})
		]
	});
}
function Wr() {
	let e = Gt("lehr/log")[0]?.path, t = e ? G(e).value : null, n = V(null), r = V(null);
	if (!e || !t) return null;
	let i = async () => {
		try {
			r.value = null, await U(`${e}:filter`, { filters: n.value ?? t.filters }), n.value = null, K("The log says so from now on.");
		} catch (e) {
			r.value = e;
		}
	};
	return Q("section", {
		class: "card",
		"aria-labelledby": "log",
		children: [
			Q("div", {
				class: "head",
				children: Q("div", { children: [Q("h2", {
					id: "log",
					children: "Log"
				}), Q("p", {
					class: "note",
					children: [
						"Lines go to standard error of the node. Choose here what it says: off, error, warn, info or debug, also by path, such as ",
						Q("code", { children: "warn,/clustering=debug" }),
						"."
					]
				})] })
			}),
			Q("form", {
				class: "inline",
				onSubmit: (e) => {
					e.preventDefault(), i();
				},
				children: [Q("label", { children: ["Filters ", Q("input", {
					value: n.value ?? t.filters,
					onInput: (e) => n.value = e.currentTarget.value
				})] }), Q("button", {
					type: "submit",
					class: "first",
					disabled: n.value === null || n.value === t.filters,
					children: "Change"
				})]
			}),
			Q($, { error: r.value })
		]
	});
}
function Gr() {
	let e = Gt("lehr/nodes")[0]?.path, t = e ? G(e).value : null, n = Object.entries(t?.nodes ?? {});
	return n.length ? Q("section", {
		class: "card",
		"aria-labelledby": "joined",
		children: [Q("h2", {
			id: "joined",
			children: "Joined nodes"
		}), Q("ul", {
			class: "plainlist",
			children: n.map(([e, { reach: t, fault: n, services: r }]) => Q("li", { children: [
				/^https?:\/\//.test(e) ? Q("a", {
					href: e,
					rel: "noreferrer",
					children: e
				}) : e,
				" ",
				Q("span", {
					class: `state ${t}`,
					children: t
				}),
				" ",
				Q("span", {
					class: "soft",
					children: [
						X(Object.keys(r).length),
						" services",
						n ? `: ${n.reason}` : ""
					]
				})
			] }, e))
		})]
	}) : null;
}
// src/views/token.tsx
function Kr() {
	let e = Ee(null), t = V(""), n = xt.value;
	return I(() => {
		n !== null && !e.current.open && e.current.showModal(), n === null && e.current.open && e.current.close();
	}, [n]), Q("dialog", {
		ref: e,
		"aria-labelledby": "token-title",
		onCancel: (e) => e.preventDefault(),
		children: Q("form", {
			onSubmit: (e) => {
				e.preventDefault();
				let n = t.value;
				t.value = "", wt(n);
			},
			children: [
				Q("h2", {
					id: "token-title",
					children: "This node asks for a token"
				}),
				Q("p", {
					class: "note",
					children: "Whoever runs the node gives it to you. The page keeps it in memory only: it is gone when you close or reload the page."
				}),
				n ? Q("p", {
					class: "trouble",
					role: "alert",
					children: n
				}) : null,
				Q("label", { children: ["Token", Q("input", {
					type: "password",
					autocomplete: "off",
					value: t.value,
					onInput: (e) => t.value = e.currentTarget.value
				})] }),
				Q("div", {
					class: "tools",
					children: Q("button", {
						type: "submit",
						class: "first",
						disabled: !t.value.trim(),
						children: "Show"
					})
				})
			]
		})
	});
}
// src/views/workflows.tsx
function qr() {
	let e = Gt("lehr/workflows")[0]?.path;
	if (!e) return Q("p", {
		class: "empty",
		children: "This node runs no workflows."
	});
	let t = G(e).value;
	if (!t) return Q("p", {
		class: "empty",
		children: "Asking the node…"
	});
	let n = Object.entries(t.runs).sort(([, e], [, t]) => t.number - e.number), r = J.value.settings.run, i = r ? t.runs[r] : void 0;
	return Q(x, { children: [
		Q(Jr, { path: e }),
		Q("section", {
			class: "card",
			"aria-labelledby": "runs",
			children: [Q("div", {
				class: "head",
				children: Q("div", { children: [Q("h2", {
					id: "runs",
					children: "Runs"
				}), Q("p", {
					class: "note",
					children: "Newest first. They go on when you close this page."
				})] })
			}), n.length === 0 ? Q("p", {
				class: "empty",
				children: "No run yet. Choose a workflow file above."
			}) : Q("div", {
				class: "scroll",
				tabIndex: 0,
				role: "region",
				"aria-label": "Runs",
				children: Q("table", { children: [Q("thead", { children: Q("tr", { children: [
					Q("th", {
						scope: "col",
						children: "Run"
					}),
					Q("th", {
						scope: "col",
						children: "Workflow"
					}),
					Q("th", {
						scope: "col",
						children: "State"
					}),
					Q("th", {
						scope: "col",
						class: "number",
						children: "Steps done"
					}),
					Q("th", {
						scope: "col",
						class: "number",
						children: "Time"
					})
				] }) }), Q("tbody", { children: n.map(([e, t]) => {
					let n = Object.values(t.steps);
					return Q("tr", {
						class: e === r ? "on" : "",
						children: [
							Q("td", { children: Q("a", {
								href: q("workflows", { run: e === r ? null : e }),
								children: e
							}) }),
							Q("td", {
								class: "soft",
								children: t.workflow
							}),
							Q("td", { children: Q("span", {
								class: `state ${t.state}`,
								children: t.state
							}) }),
							Q("td", {
								class: "number",
								children: [
									X(n.filter((e) => e.state === "done").length),
									" of ",
									X(n.length)
								]
							}),
							Q("td", {
								class: "number",
								children: Sn(t.elapsed_ms)
							})
						]
					}, e);
				}) })] })
			})]
		}),
		i && Q(Xr, {
			path: e,
			name: r,
			run: i
		})
	] });
}
function Jr({ path: e }) {
	let t = V(null), n = V(null), r = V({}), i = V(null), a = () => ({
		file: t.value.name,
		definition: t.value.text,
		parameters: Object.fromEntries(Object.entries(r.value).map(([e, t]) => [e, Yr(t)]))
	}), o = async () => {
		try {
			i.value = null, n.value = await U(`${e}:review`, a());
		} catch (e) {
			i.value = e, n.value = null;
		}
	};
	return Q("section", {
		class: "card",
		children: [Q("div", {
			class: "tools",
			children: [Q("label", {
				class: "button first",
				children: ["Choose a workflow file", Q("input", {
					class: "unseen",
					type: "file",
					accept: ".toml",
					onChange: async (e) => {
						let n = e.currentTarget, i = n.files?.[0];
						i && (t.value = {
							name: i.name,
							text: await i.text()
						}, r.value = {}, n.value = "", await o());
					}
				})]
			}), Q("span", {
				class: "note",
				children: "A TOML file. You see its steps before anything runs."
			})]
		}), t.value && Q(x, { children: [
			Q("h2", { children: t.value.name }),
			Q($, { error: i.value }),
			n.value && Q(x, { children: [Q("ol", {
				class: "plan",
				children: n.value.steps.map((e) => Q("li", { children: [
					Q("b", { children: e.name }),
					" ",
					Q("span", {
						class: "soft",
						children: [
							e.node ? `${e.node} ` : "",
							e.service,
							":",
							e.operation,
							e.is_mapped ? ", for each item of a list" : "",
							e.needs.length ? `; after ${e.needs.join(", ")}` : ""
						]
					})
				] }, e.name))
			}), Q("div", {
				class: "fields",
				children: Object.entries(n.value.parameters ?? {}).map(([e, t]) => Q("label", { children: [e, Q("input", {
					placeholder: typeof t == "string" ? t : JSON.stringify(t),
					value: r.value[e] ?? "",
					onInput: (t) => {
						let { [e]: n, ...i } = r.value, a = t.currentTarget.value;
						r.value = a === "" ? i : {
							...i,
							[e]: a
						};
					}
				})] }, e))
			})] }),
			Q("div", {
				class: "tools",
				children: [Q("button", {
					type: "button",
					class: "first",
					disabled: !n.value,
					onClick: async () => {
						try {
							i.value = null;
							let { run: n } = await U(`${e}:run`, a());
							K(`${n} has begun.`), t.value = null, Y("workflows", { run: n });
						} catch (e) {
							i.value = e;
						}
					},
					children: "Run"
				}), Q("button", {
					type: "button",
					onClick: () => (t.value = null, n.value = null),
					children: "Cancel"
				})]
			})
		] })]
	});
}
function Yr(e) {
	try {
		return JSON.parse(e);
	} catch {
		return e;
	}
}
function Xr({ path: e, name: t, run: n }) {
	let r = V(null), i = async (n, i, a) => {
		try {
			r.value = null, await U(`${e}:${n}`, {
				run: t,
				...i
			}), K(a);
		} catch (e) {
			r.value = e;
		}
	}, a = Object.entries(n.steps), o = n.state === "running", s = Math.max(n.elapsed_ms, ...a.map(([, e]) => e.ended_ms ?? 0), 1);
	return Q("section", {
		class: "card",
		"aria-labelledby": "run-detail",
		children: [
			Q("div", {
				class: "head",
				children: [Q("div", { children: [Q("h2", {
					id: "run-detail",
					children: t
				}), Q("p", {
					class: "note",
					children: [
						n.workflow,
						", from ",
						n.file,
						"; ",
						Q("span", {
							class: `state ${n.state}`,
							children: n.state
						}),
						" ",
						Sn(n.elapsed_ms)
					]
				})] }), Q("div", {
					class: "tools",
					children: [
						o && Q("button", {
							type: "button",
							onClick: () => i("stop", {}, `${t} stops; it can be resumed.`),
							children: "Stop"
						}),
						o && Q("button", {
							type: "button",
							onClick: () => i("cancel", {}, `Asked ${t} to stop, and its jobs.`),
							children: "Cancel"
						}),
						!o && n.state !== "done" && Q("button", {
							type: "button",
							class: "first",
							onClick: () => i("resume", {}, `${t} goes on.`),
							children: "Resume"
						}),
						!o && Q("button", {
							type: "button",
							onClick: () => i("remove", {}, `Removed ${t}.`).then(() => r.value === null && Y("workflows")),
							children: "Remove"
						})
					]
				})]
			}),
			Q($, { error: r.value }),
			n.fault && Q($, {
				error: n.fault.reason,
				code: n.fault.code
			}),
			Q("ul", {
				class: "steps",
				children: a.map(([e, r]) => Q(Zr, {
					name: e,
					record: r,
					whole: s,
					elapsed: n.elapsed_ms,
					again: o ? null : () => i("resume", { from: e }, `${t} goes on from ${e}.`)
				}, e))
			}),
			n.output !== void 0 && n.output !== null && Q(x, { children: [Q("h3", { children: "Answer" }), Q("pre", {
				tabIndex: 0,
				role: "region",
				"aria-label": "Answer of the run",
				children: typeof n.output == "string" ? n.output : JSON.stringify(n.output, null, 2)
			})] }),
			Q("details", { children: [Q("summary", { children: "Definition" }), Q("pre", {
				tabIndex: 0,
				role: "region",
				"aria-label": "Definition of the workflow",
				children: n.definition
			})] })
		]
	});
}
function Zr({ name: e, record: t, whole: n, elapsed: r, again: i }) {
	let a = t.started_ms ?? 0, o = t.ended_ms ?? (t.started_ms === void 0 || t.started_ms === null ? 0 : r), s = t.items ?? [], c = [...new Set([t.fault?.reason, ...s.map((e) => e.fault?.reason)].filter((e) => !!e))], l = s.find((e) => e.state === "running" && e.progress?.fraction !== void 0);
	return Q("li", { children: [
		Q("div", {
			class: "step",
			children: [
				Q("b", { children: e }),
				Q("span", {
					class: `state ${t.state}`,
					children: [
						t.state,
						t.is_mapped && s.length > 0 && ` ${s.filter((e) => e.state === "done").length}/${s.length}`,
						l && ` ${Math.round(100 * l.progress.fraction)} %`
					]
				}),
				Q("span", {
					class: "bar",
					"aria-hidden": "true",
					children: o > a && Q("i", {
						class: t.state,
						style: {
							left: `${100 * a / n}%`,
							width: `${Math.max(.5, 100 * (o - a) / n)}%`
						}
					})
				}),
				Q("span", {
					class: "number soft",
					children: o > a ? Sn(o - a) : ""
				}),
				i && Q("button", {
					type: "button",
					onClick: i,
					children: ["From here", Q("span", {
						class: "unseen",
						children: [" again: ", e]
					})]
				})
			]
		}),
		c.map((e) => Q($, { error: e }, e)),
		s.some((e) => e.job || e.output !== void 0) && Q("details", { children: [Q("summary", { children: [
			X(s.length),
			" ",
			s.length === 1 ? "answer" : "answers"
		] }), Q("ul", {
			class: "plainlist",
			children: s.slice(0, 100).map((e, t) => Q("li", { children: [
				e.item !== void 0 && e.item !== null && Q("b", { children: [Z(e.item), " "] }),
				e.job && Q(x, { children: [
					"job ",
					e.job,
					" "
				] }),
				Q("span", {
					class: "soft",
					children: e.output === void 0 ? "" : JSON.stringify(e.output).slice(0, 400)
				})
			] }, t))
		})] })
	] });
}
// src/main.tsx
var Qr = {
	data: "Data",
	explore: "Explore",
	jobs: "Jobs",
	workflows: "Workflows",
	node: "Node"
}, $r = {
	connecting: ["waiting", "connecting"],
	live: ["live", "live"],
	asking: ["live", "live"],
	lost: ["lost", "no answer"]
}, ei = B(null), ti = B(null);
function ni() {
	I(() => {
		ei.value || gr(() => import("./explore.js").then((e) => ei.value = e.default), [], import.meta.url).catch((e) => ti.value = e);
	}, []);
	let e = ei.value;
	return ti.value ? Q($, { error: "The viewer could not be loaded. Reload the page." }) : e ? Q(e, {}) : Q("p", {
		class: "empty",
		children: "Loading…"
	});
}
var ri = {
	data: nr,
	explore: ni,
	jobs: wr,
	workflows: qr,
	node: Hr
};
function ii() {
	let [e, t] = Oe(), { view: n } = J.value, r = ri[n];
	return e ? Q("section", {
		class: "card",
		children: [
			Q("h2", { children: "This view has failed" }),
			Q($, { error: e }),
			Q("button", {
				type: "button",
				onClick: t,
				children: "Try again"
			})
		]
	}) : W.value ? Q(r, {}) : Ht.value ? Q($, {
		error: Ht.value,
		code: "unavailable"
	}) : Q("p", {
		class: "empty",
		children: "Asking the node…"
	});
}
function ai() {
	let { view: e } = J.value, [t, n] = $r[Vt.value];
	return I(() => {
		document.title = `${Qr[e]} · Lehr`;
	}, [e]), Q(x, { children: [
		Q("a", {
			class: "skip",
			href: "#main",
			onClick: (e) => (e.preventDefault(), document.getElementById("main")?.focus()),
			children: "To the content"
		}),
		Q("header", {
			class: "top",
			children: [
				Q("a", {
					class: "mark",
					href: q("data", {}),
					children: [Q("svg", {
						viewBox: "0 0 24 24",
						width: "18",
						height: "18",
						"aria-hidden": "true",
						children: [
							Q("circle", {
								cx: "12",
								cy: "4.500",
								r: "2.600"
							}),
							Q("circle", {
								cx: "6",
								cy: "12.500",
								r: "2.600"
							}),
							Q("circle", {
								cx: "18",
								cy: "12.500",
								r: "2.600"
							}),
							Q("circle", {
								cx: "3.400",
								cy: "20.600",
								r: "1.900"
							}),
							Q("circle", {
								cx: "9.400",
								cy: "20.600",
								r: "1.900"
							}),
							Q("circle", {
								cx: "15.600",
								cy: "20.600",
								r: "1.900"
							}),
							Q("circle", {
								cx: "21",
								cy: "20.600",
								r: "1.900"
							})
						]
					}), "lehr"]
				}),
				Q("nav", {
					"aria-label": "Views",
					children: Object.keys(Qr).map((t) => Q("a", {
						href: q(t, {}),
						"aria-current": t === e ? "page" : void 0,
						children: Qr[t]
					}, t))
				}),
				Q("span", {
					class: `line ${t}`,
					children: n
				})
			]
		}),
		Q("main", {
			id: "main",
			tabIndex: -1,
			class: e,
			children: [Q("h1", {
				class: "unseen",
				children: Qr[e]
			}), Q(ii, {}, e)]
		}),
		Q("div", {
			class: `notice${dn.value ? " shown" : ""}`,
			role: "status",
			"aria-live": "polite",
			children: dn.value
		}),
		Q(Kr, {})
	] });
}
un(), N(Q(ai, {}), document.getElementById("app"));
export { B as C, x as D, De as E, ze as S, Ee as T, G as _, $ as a, Dt as b, Z as c, gn as d, J as f, Kt as g, K as h, jn as i, wn as l, q as m, Wn as n, Q as o, hn as p, Mn as r, X as s, er as t, bn as u, qt as v, I as w, V as x, H as y };
