(function() {
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
		s && ((n = _({ constructor: d }, r)).__v = r.__v + 1, e.vnode && e.vnode(n), P(s, n, r, t.__n, s.namespaceURI, 32 & r.__u ? [i] : null, a, i || C(r), 32 & r.__u, o), n.__v = r.__v, n.__.__k[n.__i] = n, I(a, n, o), r.__ = r.__e = null, n.__e != i && T(n));
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
		for (c = O(n, t, y, c, b), d = 0; d < b; d++) (h = n.__k[d]) != null && (m = ~h.__i && y[h.__i] || f, h.__i = d, v = P(e, h, m, i, a, o, s, c, l, u), g = h.__e, (m.ref != h.ref || 8 & m.__u) && (m.ref && R(m.ref, null, h, m), h.ref && u.push(h.ref, h.__c || g, h)), _ ||= g, 4 & h.__u ? (c = k(h, c, e, !m.__v), m.__e && (m.__e = null)) : typeof h.type == "function" && v !== void 0 ? c = v : g && (c = g.nextSibling), h.__u &= -21);
		return n.__e = _, c;
	}
	function O(e, t, n, r, i) {
		var a, o, s, c, l, u, f, p, m, g = n.length, _ = g, v = 0, y = 0, S = e.__k = Array(i);
		for (a = 0; a < i; a++) (o = t[a]) != null && typeof o != "boolean" && typeof o != "function" ? (typeof o != "object" || o.constructor === String ? o = S[a] = b(null, o) : h(o) ? o = S[a] = b(x, { children: o }) : o.constructor === d && o.__b ? o = S[a] = b(o.type, o.props, o.key, o.ref, o.__v) : S[a] = o, c = a + v, o.__ = e, o.__b = e.__b + 1, s = null, ~(l = o.__i = A(o, n, c, _)) && (_--, (s = n[l]) && (s.__u |= 2)), s && s.__v ? (o.__u |= 16, l == c - 1 ? v-- : l == c + 1 ? v++ : l != c && (l > c ? v-- : v++, y = 1)) : (~l || (i > g ? v-- : i < g && v++), typeof o.type != "function" && (o.__u |= 4))) : S[a] = null;
		if (y) {
			for (u = [], f = [], a = 0; a < i; a++) if ((o = S[a]) && 16 & o.__u) {
				for (v = 0, p = u.length; v < p;) u[m = v + p >> 1] < o.__i ? v = m + 1 : p = m;
				u[v] = o.__i, f[a] = v + 1;
			}
			for (v = u.length; a--;) f[a] && (f[a] == v ? v-- : S[a].__u |= 4);
		}
		if (_) for (a = 0; a < g; a++) !(s = n[a]) || 2 & s.__u || (s.__e == r && (r = C(s)), ne(s, s));
		return r;
	}
	function k(e, t, n, r) {
		var i, a, o, s;
		if (typeof e.type == "function") {
			if (e.props.__P) return t;
			if (i = e.__k) for (a = 0; a < i.length; a++) i[a] && (i[a].__ = e, t = k(i[a], t, n, !1));
			return t;
		}
		for (t && !t.parentNode && (t = C(e)) && !t.parentNode && (t = null), o = e.__e, s = t; s && s.nodeType == 8;) s = s.nextSibling;
		for (o != s && (!r && n.moveBefore && o.parentNode ? n.moveBefore(o, t) : n.insertBefore(o, t || null)), t = o; (t &&= t.nextSibling) && t.nodeType == 8 && !t.data.startsWith("$s"););
		return t;
	}
	function A(e, t, n, r) {
		var i, a = e.key, o = e.type, s = t[n], c = s && !(2 & s.__u);
		if (s === null && a == null || c && a == s.key && o == s.type) return n;
		if (r > +!!c) {
			for (i = n - 1; i >= 0; i--) if ((s = t[i]) && !(2 & s.__u) && a == s.key && o == s.type) return i;
			for (i = n + 1; i < t.length; i++) if ((s = t[i]) && !(2 & s.__u) && a == s.key && o == s.type) return i;
		}
		return -1;
	}
	function j(e, t, n) {
		n ??= "", t[0] == "-" ? e.setProperty(t, n) : e[t] = n;
	}
	function M(e, t, n, r, i) {
		var a, o;
		if (t == "style") {
			if (typeof n == "string") e.style.cssText = n;
			else {
				if (typeof r == "string" && (e.style.cssText = r = ""), r) for (t in r) n && t in n || j(e.style, t);
				if (n) for (t in n) r && n[t] == r[t] || j(e.style, t, n[t]);
			}
		} else if (t[0] == "o" && t[1] == "n") typeof n != "function" && (n = null), typeof r != "function" && (r = null), (e.__e ||= {})[t] = n, n && r || (o = u[t] || (u[t] = N(t)), (e.__a ||= {})[t] = l, a = t != (t = t.replace(c, "$1")), (t = t.slice(2))[0] < "a" && (t = t.toLowerCase()), n ? e.addEventListener(t, o, a) : e.removeEventListener(t, o, a));
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
	function N(t) {
		return function(n) {
			var r = this.__e;
			if (r) {
				if (r = r[t], n[s] == null) n[s] = l++;
				else if (n[s] < this.__a[t]) return;
				return r(e.event ? e.event(n) : n);
			}
		};
	}
	function P(t, n, r, i, a, o, s, c, l, u) {
		var f, m, g, y, b, w, T, E, D, O, k, A, j, M, N, P, I, R, B = n.type;
		if (n.constructor !== d) return null;
		128 & r.__u && (l = 32 & r.__u, f = r.__c.__z) && (n.__u |= l, m = o = [], f.nodeType == 8 ? c = F(f, o) : o.push(f), c = o[0] || c), (f = e.__b) && f(n);
		n: if (typeof B == "function") {
			g = s.length;
			try {
				if (E = n.props, D = (f = B.prototype) && f.render, O = (f = B.contextType) && i[f.__c], k = f ? O ? O.props.value : f.__ : i, (y = r.__c) ? (n.__c = y, 2 & y.__g && (y.__g |= 1)) : (D ? n.__c = y = new B(E, k) : (n.__c = y = new S(E, k), y.constructor = B, y.render = z), O && O.sub(y), y.state || (y.state = {}), y.__n = i, y.__g |= 8, y.__h = [], y.__k = []), D && (y.__s || (y.__s = y.state), B.getDerivedStateFromProps && (y.__s == y.state && (y.__s = _({}, y.__s)), _(y.__s, B.getDerivedStateFromProps(E, y.__s)))), b = y.props, w = y.state, y.__v = n, r.__c) {
					if (E !== b && D && !B.getDerivedStateFromProps && y.componentWillReceiveProps && y.componentWillReceiveProps(E, k), n.__v == r.__v && !(8 & y.__g) || !(4 & y.__g) && y.shouldComponentUpdate && !1 === y.shouldComponentUpdate(E, y.__s, k)) {
						n.__v != r.__v && (y.props = E, y.state = y.__s, y.__g &= -9), n.__e = r.__e, n.__k = r.__k, n.__k.some(function(e) {
							e && (e.__ = n);
						}), p.push.apply(y.__h, y.__k), y.__k = [], y.__h.length && s.push(y), c = C(r);
						break n;
					}
					y.componentWillUpdate && y.componentWillUpdate(E, y.__s, k), D && y.componentDidUpdate && y.__h.push(function() {
						y.componentDidUpdate(b, w, T);
					});
				} else D && !B.getDerivedStateFromProps && y.componentWillMount && y.componentWillMount(), D && y.componentDidMount && y.__h.push(y.componentDidMount);
				y.context = k, y.props = E, y.__P = t, y.__g &= -5, A = e.__r, j = D ? 25 : 0;
				do
					y.__g &= -9, A && A(n), f = y.render(y.props, y.state = y.__s, y.context);
				while (8 & y.__g && ++j < 25);
				D && (p.push.apply(y.__h, y.__k), y.__k = []), y.state = y.__s, y.getChildContext && (i = _({}, i, y.getChildContext())), D && r.__c && y.getSnapshotBeforeUpdate && (T = y.getSnapshotBeforeUpdate(b, w)), M = f && f.type === x && f.key == null ? f.props.children : f, E.__P && (f = c, a = (t = E.__P).namespaceURI, l = o = null, r.props && r.props.__P != t && (r.__k.some(function(e) {
					e && ne(e, e);
				}), r.__k = null), c = r.__k ? C(r, 0) : null), c = ee(t, h(M) ? M : [M], n, r, i, a, o, s, c, l, u), E.__P && (n.__e = null, c = f), n.__u &= -161, m && m.some(v), y.__h.length && s.push(y), 1 & y.__g && (y.__g &= -4);
			} catch (t) {
				if (s.length = g, n.__v = null, l || o) {
					if (t && t.then) {
						if (n.__u |= 128 | l, o) {
							for (~(I = o.indexOf(c || void 0)) || (I = o.length); (R = o[I - 1]) && R.nodeType == 8;) I--;
							for (; I < o.length; I++) if (R = o[I]) {
								if (o[I] = null, N) {
									if (R == P) break;
								} else {
									if (R.nodeType != 8) break;
									R.data.startsWith("$s") && (P = F(N = R));
								}
							}
						}
						if (!N) {
							for (; c && c.nodeType == 8 && c.nextSibling;) c = c.nextSibling;
							N = c;
						}
						(f = F(N = n.__c.__z || (n.__c.__z = N))) ? (n.__e = N, c = f) : n.__e = c, c &&= c.nextSibling;
					} else o && o.some(v);
				} else n.__e = r.__e;
				n.__k ||= r.__k || [], t && t.then || te(n), e.__e(t, n, r);
			}
		} else c = n.__e = L(r.__e, n, r, i, a, o, s, l, u, t);
		return (f = e.diffed) && f(n), c;
	}
	function F(e, t) {
		if (e && e.nodeType == 8 && e.data.startsWith("$s")) for (var n = 1; e = e.nextSibling;) {
			if (e.nodeType == 8) {
				if (e.data.startsWith("$s")) n++;
				else if (e.data.startsWith("/$s") && !--n) return e;
			}
			t && t.push(e);
		}
	}
	function te(e) {
		e && (e.__c && (e.__c.__g |= 4), e.__k && e.__k.some(te));
	}
	function I(t, n, r) {
		for (var i = 0; i < r.length;) R(r[i++], r[i++], r[i++]);
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
	function L(t, n, r, i, a, o, s, c, l, u) {
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
			for (d in T) b = T[d], d == "dangerouslySetInnerHTML" ? _ = b : d == "children" || d in E || d == "value" && "defaultValue" in E || d == "checked" && "defaultChecked" in E || M(t, d, null, b, a);
			for (d in E) b = E[d], d == "children" ? y = b : d == "dangerouslySetInnerHTML" ? p = b : d == "value" ? x = b : d == "checked" ? S = b : c && typeof b != "function" || T[d] === b || M(t, d, b, T[d], a);
			p ? (c || _ && (p.__html == _.__html || p.__html == t.innerHTML) || (t.innerHTML = p.__html), n.__k = []) : (_ && (t.textContent = ""), (D == "foreignObject" || a == "http://www.w3.org/1998/Math/MathML" && m.test(D)) && (a = "http://www.w3.org/1999/xhtml"), ee(u, h(y) ? y : [y], n, r, i, a, o, s, o ? o[0] : r.__k && C(r, 0), c, l), o && o.some(v)), c && D != "textarea" || (d = "value", D == "progress" && x == null ? t.removeAttribute(d) : x == null || x === t[d] && (D != "progress" || x) || M(t, d, x, T[d], a), d = "checked", S != null && S != t[d] && M(t, d, S, T[d], a));
		} else T === E || c && t.data == E || (t.data = E);
		return t;
	}
	function R(t, n, r, i) {
		try {
			typeof t == "function" ? n ? n.__x = t(n) || 1 : (i &&= i.__c || i.__e) && (n = i.__x) && (i.__x = null, typeof n == "function" ? n() : t(null)) : t.current = n;
		} catch (t) {
			e.__e(t, r);
		}
	}
	function ne(t, n, r) {
		var i, a, o, s;
		if (e.unmount && e.unmount(t), !(i = t.ref) || i.current && i.current != t.__e || R(i, null, n, t), i = t.__c) {
			if (i.componentWillUnmount) try {
				i.componentWillUnmount();
			} catch (t) {
				e.__e(t, n);
			}
			i.__P = i.__n = null;
		}
		if (i = t.__k) for (s = 0; s < i.length; s++) i[s] && ne(i[s], n, typeof t.type != "function" || r && !t.props.__P);
		!r && (i = t.__c) && (i = i.__z) && (a = F(i, o = [])) && (i == t.__e && o.some(v), v(a), v(i)), r || v(t.__e), t.__e = t.__c = t.__ = null;
	}
	function z(e, t, n) {
		return this.constructor(e, n);
	}
	function B(t, n) {
		var r, i, a, o;
		e.__ && e.__(t, n), n.nodeType == 9 && (n = n.documentElement), i = (r = t && 32 & t.__u) ? null : n.__k, n.__k = b(x, { children: [t] }), a = [], o = [], P(n, n.__k, i || f, f, n.namespaceURI, i ? null : n.firstChild ? g.call(n.childNodes) : null, a, i ? i.__e : n.firstChild, r, o), I(a, n.__k, o), n.__k.props.children = null;
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
	var re, V, ie, ae, oe = Object.is, se = 0, ce = [], le = [], H = e, ue = H.__b, de = H.__r, fe = H.diffed, pe = H.__c, me = H.unmount, he = H.__;
	function ge(e, t) {
		H.__h && H.__h(V, e, se || t), se = 0;
		var n = V.__H || (V.__H = {
			__: [],
			__h: []
		});
		return e >= n.__.length && n.__.push({}), n.__[e];
	}
	function U(e, t) {
		var n = ge(re++, 3);
		!H.__s && Ce(n.__H, t) && (n.__P = !0, n.__ = e, n.u = t, V.__H.__h.push(n));
	}
	function W(e) {
		return se = 5, G(function() {
			return { current: e };
		}, []);
	}
	function G(e, t) {
		var n = ge(re++, 7);
		return Ce(n.__H, t) && (n.__ = e(), n.__H = t), n.__;
	}
	function _e() {
		var e;
		do {
			for (; e = le.shift();) try {
				xe(e);
			} catch (t) {
				H.__e(t, { __: (e = e.__P) && e.__v });
			}
			for (; e = ce.shift();) {
				var t = e.__H;
				if (e.__P && t) try {
					t.__h.some(xe), t.__h.some(Se), t.__h = [];
				} catch (n) {
					t.__h = [], H.__e(n, e.__v);
				}
			}
		} while (le.length);
	}
	H.__b = function(e) {
		V = null, ue && ue(e);
	}, H.__ = function(e, t) {
		e && t.__k && t.__k.__m && (e.__m = t.__k.__m), he && he(e, t);
	}, H.__r = function(e) {
		de && de(e), re = 0;
		var t = (V = e.__c).__H;
		t && (ie == V ? V.__h = [] : (t.__h.some(xe), t.__h.some(Se), re = 0), t.__h = [], t.__.some(function(e) {
			e.__N && (e.__ = e.__N), e.u = e.__N = void 0;
		})), ie = V;
	}, H.diffed = function(e) {
		fe && fe(e);
		var t = e.__c;
		t && t.__H && (t.__H.__h.length && be(ce.push(t)), t.__H.__.some(function(e) {
			e.u && (e.__H = e.u);
		})), ie = V = null;
	}, H.__c = function(e, t) {
		t.some(function(e) {
			try {
				e.__h.some(xe), e.__h = e.__h.filter(function(e) {
					return !e.__ || Se(e);
				});
			} catch (t) {
				e.__h = [function() {
					throw t;
				}];
			}
		}), pe && pe(e, t);
	}, H.unmount = function(e) {
		me && me(e);
		var t, n, r = e.__c;
		r && r.__H && (r.__H.__.some(function(r) {
			try {
				if (r.__P && r.__c) {
					if (n === void 0) {
						for (n = e.__; n && (!n.__c || !n.__c.__P);) n = n.__;
						n &&= n.__c;
					}
					r.__P = n, be(le.push(r));
				} else xe(r);
			} catch (e) {
				t = e;
			}
		}), r.__H = void 0, t && H.__e(t, r.__v));
	};
	var ve = typeof requestAnimationFrame == "function";
	function ye(e) {
		var t, n = function() {
			clearTimeout(r), ve && cancelAnimationFrame(t), setTimeout(e);
		}, r = setTimeout(n, 35);
		ve && (t = requestAnimationFrame(n));
	}
	function be(e) {
		e != 1 && ae == H.requestAnimationFrame || ((ae = H.requestAnimationFrame) || ye)(_e);
	}
	function xe(e) {
		var t = V, n = e.__c;
		typeof n == "function" && (e.__c = void 0, n()), V = t;
	}
	function Se(e) {
		var t = V;
		e.__c = e.__(), V = t;
	}
	function Ce(e, t) {
		return !e || e.length != t.length || t.some(function(t, n) {
			return !oe(t, e[n]);
		});
	}
	// node_modules/@preact/signals-core/dist/signals-core.module.js
	var we = Symbol.for("preact-signals");
	function Te() {
		if (Ae > 1) Ae--;
		else {
			var e, t = !1;
			for ((function() {
				var e = Pe;
				for (Pe = void 0; e !== void 0;) {
					var t = e.S;
					if (t.v === e.v) for (var n = t.t; n !== void 0; n = n.x) n.i === e.i && (n.i = t.i);
					e = e.o;
				}
			})(); ke !== void 0;) {
				var n = ke;
				for (ke = void 0, je++; n !== void 0;) {
					var r = n.u;
					if (n.u = void 0, n.f &= -3, !(8 & n.f) && Re(n)) try {
						n.c();
					} catch (n) {
						t ||= (e = n, !0);
					}
					n = r;
				}
			}
			if (je = 0, Ae--, t) throw e;
		}
	}
	function Ee(e) {
		if (Ae > 0) return e();
		Ne = ++Me, Ae++;
		try {
			return e();
		} finally {
			Te();
		}
	}
	var De, K = void 0;
	function Oe(e) {
		var t = K, n = De;
		K = void 0, De = void 0;
		try {
			return e();
		} finally {
			K = t, De = n;
		}
	}
	var ke = void 0, Ae = 0, je = 0, Me = 0, Ne = 0, Pe = void 0, Fe = 0;
	function Ie(e) {
		if (K !== void 0) {
			var t = e.n;
			if (t === void 0 || t.t !== K) return t = {
				i: 0,
				S: e,
				p: K.s,
				n: void 0,
				t: K,
				e: void 0,
				x: void 0,
				r: t
			}, K.s !== void 0 && (K.s.n = t), K.s = t, e.n = t, 32 & K.f && e.S(t), t;
			if (t.i === -1) return t.i = 0, t.n !== void 0 && (t.n.p = t.p, t.p !== void 0 && (t.p.n = t.n), t.p = K.s, t.n = void 0, K.s.n = t, K.s = t), t;
		}
	}
	function q(e, t) {
		this.v = e, this.i = 0, this.n = void 0, this.t = void 0, this.l = 0, this.W = t?.watched, this.Z = t?.unwatched, this.name = t?.name;
	}
	q.prototype.brand = we, q.prototype.h = function() {
		return !0;
	}, q.prototype.S = function(e) {
		var t = this, n = this.t;
		n !== e && e.e === void 0 && (e.x = n, this.t = e, n === void 0 ? Oe(function() {
			var e;
			(e = t.W) == null || e.call(t);
		}) : n.e = e);
	}, q.prototype.U = function(e) {
		var t = this;
		if (this.t !== void 0) {
			var n = e.e, r = e.x;
			n !== void 0 && (n.x = r, e.e = void 0), r !== void 0 && (r.e = n, e.x = void 0), e === this.t && (this.t = r, r === void 0 && Oe(function() {
				var e;
				(e = t.Z) == null || e.call(t);
			}));
		}
	}, q.prototype.subscribe = function(e) {
		var t = this;
		return qe(function() {
			var n = t.value;
			Oe(function() {
				return e(n);
			});
		}, { name: "sub" });
	}, q.prototype.valueOf = function() {
		return this.value;
	}, q.prototype.toString = function() {
		return this.value + "";
	}, q.prototype.toJSON = function() {
		return this.value;
	}, q.prototype.peek = function() {
		var e = this;
		return Oe(function() {
			return e.value;
		});
	}, Object.defineProperty(q.prototype, "value", {
		get: function() {
			var e = Ie(this);
			return e !== void 0 && (e.i = this.i), this.v;
		},
		set: function(e) {
			if (e !== this.v) {
				if (je > 100) throw Error("Cycle detected");
				(function(e) {
					Ae !== 0 && je === 0 && e.l !== Ne && (e.l = Ne, Pe = {
						S: e,
						v: e.v,
						i: e.i,
						o: Pe
					});
				})(this), this.v = e, this.i++, Fe++, Ae++;
				try {
					for (var t = this.t; t !== void 0; t = t.x) t.t.N();
				} finally {
					Te();
				}
			}
		}
	});
	function Le(e, t) {
		return new q(e, t);
	}
	function Re(e) {
		for (var t = e.s; t !== void 0; t = t.n) if (t.S.i !== t.i || !t.S.h() || t.S.i !== t.i) return !0;
		return !1;
	}
	function ze(e) {
		for (var t = e.s; t !== void 0; t = t.n) {
			var n = t.S.n;
			if (n !== void 0 && (t.r = n), t.S.n = t, t.i = -1, t.n === void 0) {
				e.s = t;
				break;
			}
		}
	}
	function Be(e) {
		for (var t = e.s, n = void 0; t !== void 0;) {
			var r = t.p;
			t.i === -1 ? (t.S.U(t), r !== void 0 && (r.n = t.n), t.n !== void 0 && (t.n.p = r)) : n = t, t.S.n = t.r, t.r !== void 0 && (t.r = void 0), t = r;
		}
		e.s = n;
	}
	function Ve(e, t) {
		q.call(this, void 0, t), this.x = e, this.s = void 0, this.g = Fe - 1, this.f = 4;
	}
	Ve.prototype = new q(), Ve.prototype.h = function() {
		if (this.f &= -3, 1 & this.f) return !1;
		if ((36 & this.f) == 32 || (this.f &= -5, this.g === Fe)) return !0;
		if (this.g = Fe, this.f |= 1, this.i > 0 && !Re(this)) return this.f &= -2, !0;
		var e = K;
		try {
			ze(this), K = this;
			var t = this.x();
			(16 & this.f || this.v !== t || this.i === 0) && (this.v = t, this.f &= -17, this.i++);
		} catch (e) {
			this.v = e, this.f |= 16, this.i++;
		}
		return K = e, Be(this), this.f &= -2, !0;
	}, Ve.prototype.S = function(e) {
		if (this.t === void 0) {
			this.f |= 36;
			for (var t = this.s; t !== void 0; t = t.n) t.S.S(t);
		}
		q.prototype.S.call(this, e);
	}, Ve.prototype.U = function(e) {
		if (this.t !== void 0 && (q.prototype.U.call(this, e), this.t === void 0)) {
			this.f &= -33;
			for (var t = this.s; t !== void 0; t = t.n) t.S.U(t);
		}
	}, Ve.prototype.N = function() {
		if (!(2 & this.f)) {
			this.f |= 6;
			for (var e = this.t; e !== void 0; e = e.x) e.t.N();
		}
	}, Object.defineProperty(Ve.prototype, "value", { get: function() {
		if (1 & this.f) throw Error("Cycle detected");
		var e = Ie(this);
		if (this.h(), e !== void 0 && (e.i = this.i), 16 & this.f) throw this.v;
		return this.v;
	} });
	function He(e, t) {
		return new Ve(e, t);
	}
	function Ue(e) {
		var t = e.j;
		if (e.j = void 0, typeof t == "function") {
			Ae++;
			var n = K;
			K = void 0;
			try {
				t();
			} catch (t) {
				throw e.f &= -2, e.f |= 8, We(e), t;
			} finally {
				K = n, Te();
			}
		}
	}
	function We(e) {
		for (var t = e.s; t !== void 0; t = t.n) t.S.U(t);
		e.x = void 0, e.s = void 0, Ue(e);
	}
	function Ge(e) {
		if (K !== this) throw Error("Out-of-order effect");
		Be(this), K = e, this.f &= -2;
		try {
			8 & this.f && We(this);
		} finally {
			Te();
		}
	}
	function Ke(e, t) {
		this.x = e, this.j = void 0, this.s = void 0, this.u = void 0, this.f = 32, this.name = t?.name, De && De.push(this);
	}
	Ke.prototype.c = function() {
		var e = this.S();
		try {
			if (8 & this.f || this.x === void 0) return;
			var t = this.x();
			typeof t == "function" && (this.j = t);
		} finally {
			e();
		}
	}, Ke.prototype.S = function() {
		if (1 & this.f) throw Error("Cycle detected");
		this.f |= 1, this.f &= -9, Ue(this), ze(this), Ae++;
		var e = K;
		return K = this, Ge.bind(this, e);
	}, Ke.prototype.N = function() {
		2 & this.f || (this.f |= 2, this.u = ke, ke = this);
	}, Ke.prototype.d = function() {
		this.f |= 8, 1 & this.f || We(this);
	}, Ke.prototype.dispose = function() {
		this.d();
	};
	function qe(e, t) {
		var n = new Ke(e, t);
		try {
			n.c();
		} catch (e) {
			throw n.d(), e;
		}
		var r = n.d.bind(n);
		return r[Symbol.dispose] = r, r;
	}
	// node_modules/@preact/signals/dist/signals.module.js
	var Je, Ye, Xe = typeof window < "u" && !!window.__PREACT_SIGNALS_DEVTOOLS__, Ze = [];
	qe(function() {
		Je = this.N;
	})();
	function Qe(t, n) {
		e[t] = n.bind(null, e[t] || function() {});
	}
	function $e(e) {
		if (Ye) {
			var t = Ye;
			Ye = void 0, t();
		}
		Ye = e && e.S();
	}
	function et(e) {
		var t = this, r = e.data, i = J(r);
		i.name = "ReactiveDom", i.value = r;
		var a = G(function() {
			for (var e = t, r = t.__v; r = r.__;) if (r.__c) {
				r.__c.__$f |= 4;
				break;
			}
			var a = He(function() {
				var e = i.value.value;
				return e === 0 ? 0 : !0 === e ? "" : e || "";
			}), o = He(function() {
				return !Array.isArray(a.value) && !n(a.value);
			}), s = qe(function() {
				if (this.N = it, o.value) {
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
	et.displayName = "ReactiveTextNode", Object.defineProperties(q.prototype, {
		constructor: {
			configurable: !0,
			value: y(x, null).constructor
		},
		type: {
			configurable: !0,
			value: et
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
	}), Qe("__b", function(e, t) {
		if ($e(), typeof t.type == "string") {
			var n, r = t.props;
			for (var i in r) if (i !== "children") {
				var a = r[i];
				a instanceof q && (n || (t.__np = n = {}), n[i] = a, r[i] = a.peek());
			}
		}
		e(t);
	}), Qe("__r", function(e, t) {
		if (e(t), t.type !== x) {
			$e();
			var n, r = t.__c;
			r && (r.__$f &= -2, (n = r.__$u) === void 0 && (r.__$u = n = function(e, t) {
				var n;
				return qe(function() {
					n = this;
				}, { name: t }), n.c = e, n;
			}(function(e) {
				return function() {
					var t;
					Xe && ((t = this.y) == null || t.call(this)), e.__$f |= 1, e.setState({});
				};
			}(r), typeof t.type == "function" ? t.type.displayName || t.type.name : ""))), $e(n);
		}
	}), Qe("__e", function(e, t, n, r) {
		$e(), e(t, n, r);
	}), Qe("diffed", function(e, t) {
		$e();
		var n;
		if (typeof t.type == "string" && (n = t.__e)) {
			var r = t.__np, i = t.props, a = n.U;
			if (a) for (var o in a) {
				var s = a[o];
				s === void 0 || r && o in r || (s.d(), a[o] = void 0);
			}
			if (r) for (var c in a || (a = {}, n.U = a), r) {
				var l = a[c], u = r[c];
				l === void 0 ? (l = tt(n, c, u, i), a[c] = l) : l.o(u, i);
			}
		}
		e(t);
	});
	function tt(e, t, n, r) {
		var i = t in e && e.ownerSVGElement === void 0, a = Le(n);
		return {
			o: function(e, t) {
				a.value = e, r = t;
			},
			d: qe(function() {
				this.N = it;
				var n = a.value.value;
				r[t] !== n && (r[t] = n, i ? e[t] = n : n != null && (!1 !== n || t[4] === "-") ? e.setAttribute(t, n) : e.removeAttribute(t));
			})
		};
	}
	Qe("unmount", function(e, t) {
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
	}), Qe("__h", function(e, t, n, r) {
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
	function J(e, t) {
		return G(function() {
			return Le(e, t);
		}, []);
	}
	var nt = function(e) {
		queueMicrotask(function() {
			queueMicrotask(e);
		});
	};
	function rt() {
		Ee(function() {
			for (var e; e = Ze.shift();) Je.call(e);
		});
	}
	function it() {
		Ze.push(this) === 1 && (e.requestAnimationFrame || nt)(rt);
	}
	// src/colour/palette.ts
	var at = [
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
	], ot = [
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
	], st = {
		light: "#9aa1a9",
		dark: "#5c646d"
	}, ct = {
		light: "#d5d9de",
		dark: "#333a42"
	}, lt = {
		light: "#ffffff",
		dark: "#14181d"
	};
	function ut(e, t) {
		let n = t === "light" ? at : ot;
		return e < 0 ? st[t] : n[e % n.length];
	}
	var dt = [
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
	function ft(e, t) {
		if (!(e >= 0)) return st[t];
		let [n, r] = t === "light" ? [0, .86] : [.3, 1], i = (n + (r - n) * Math.min(1, e)) * (dt.length - 1), a = Math.min(dt.length - 2, Math.floor(i)), o = i - a, s = "#";
		for (let e of [
			1,
			3,
			5
		]) {
			let t = parseInt(dt[a].slice(e, e + 2), 16), n = parseInt(dt[a + 1].slice(e, e + 2), 16);
			s += Math.round(t + (n - t) * o).toString(16).padStart(2, "0");
		}
		return s;
	}
	// src/api/base64.ts
	function pt(e) {
		let t = atob(e), n = new Uint8Array(t.length);
		for (let e = 0; e < n.length; e++) n[e] = t.charCodeAt(e);
		return n;
	}
	// src/state/words.ts
	function Y(e) {
		return e.toLocaleString("en-GB");
	}
	function X(e, t = 5) {
		if (typeof e != "number") return e == null ? "" : typeof e == "object" ? JSON.stringify(e) : String(e);
		if (Number.isNaN(e)) return "–";
		if (Number.isInteger(e) && Math.abs(e) < 0x38d7ea4c68000) return Y(e);
		let n = Math.abs(e);
		return n >= 1e6 || n < 1e-4 ? Number(e.toPrecision(t - 1)).toExponential().replace("e+", "e") : String(Number(e.toPrecision(t)));
	}
	function mt(e) {
		return e.replaceAll("_", " ");
	}
	function ht(e) {
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
	// src/state/clusters.ts
	var gt = 2e3, _t = "no cluster", vt = "no value";
	function yt(e, t, n, { names: r, about: i, means: a, partners: o, joins: s } = {}) {
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
				name: n < 0 ? r ? vt : _t : r?.[n] ?? String(n),
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
	var bt = 4;
	function xt(e, t) {
		let { groups: n, groupOf: r } = e, i = new Map(n.map(({ number: e }, t) => [e, t])), a = n.map(() => []), o = n.map((e, r) => {
			let o = r;
			for (let { joins: r } = e; r && r[1] >= t; r = n[o].joins) {
				let e = i.get(r[0]);
				if (e === void 0) break;
				o = e;
			}
			return a[o].push(e), o;
		}), s = n.map((e, t) => t).filter((e) => a[e].length > 0), c = new Map(s.map((e, t) => [e, t])), l = (e) => e.slice(0, bt).map(({ name: e }) => e).join(" + ") + (e.length > bt ? ` and ${e.length - bt} more` : "");
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
	var St = .5;
	function Ct(e) {
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
				low: St,
				high: 1,
				isLog: !1,
				gaps: s
			},
			isSure: !0
		};
	}
	function* wt({ groups: e, groupOf: t, probability: n }, r) {
		for (let i = 0; i < t.length; i++) n[i] < r && e[t[i]]?.number >= 0 && (yield i);
	}
	function Tt(e) {
		let t = e.values.length, n = new Int32Array(t).fill(-1), r = new Map(), i = (e) => e === "" || e !== e, a = e.kind === "text" ? gt : 12;
		for (let n = 0; n < t && r.size <= a; n++) {
			let t = e.values[n];
			i(t) || r.set(t, (r.get(t) ?? 0) + 1);
		}
		if (r.size <= a) {
			let i = [...r.entries()].sort(([e, t], [n, r]) => typeof e == "number" ? e - n : r - t), a = new Map(i.map(([e], t) => [e, t])), o = i.map(([e, t], n) => ({
				name: typeof e == "number" ? X(e) : e,
				number: n,
				rows: t
			}));
			for (let r = 0; r < t; r++) n[r] = a.get(e.values[r]) ?? o.length;
			let s = t - i.reduce((e, [, t]) => e + t, 0);
			return s > 0 && o.length > 0 && o.push({
				name: vt,
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
		if (e.kind === "text") throw Error(`${e.name} has more than ${gt} different values. Choose another column.`);
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
	function Et(e, t) {
		return e ? e.place === void 0 ? ut(e.number, t) : ft(e.place, t) : st[t];
	}
	function Dt(e, t, n) {
		return e ? e.scale ? ft(e.scale.place[t], n) : Et(e.groups[e.groupOf[t]], n) : ut(0, n);
	}
	// src/state/report.ts
	var Ot = 65535;
	function kt(e) {
		return new Float32Array(pt(e).buffer);
	}
	function At(e) {
		return pt(e);
	}
	function jt(e) {
		return Float64Array.from(new Uint16Array(pt(e).buffer), (e) => e === Ot ? NaN : e / 65534);
	}
	function Mt(e, t) {
		return {
			name: e,
			kind: "number",
			isSingle: !0,
			values: Float64Array.from(kt(t))
		};
	}
	async function Nt() {
		return document.getElementById("coast").textContent;
	}
	function Pt(e, t) {
		let { ids: n, rows: r } = e, i = e.numbers ? new Uint32Array(pt(e.numbers).buffer) : null, a = e.groupings.map(({ title: e, of: t, probability: n, ...r }, i) => {
			let a = Float64Array.from(new Uint16Array(pt(t).buffer), (e) => e === Ot ? -1 : e), o = null;
			return {
				key: `group:${i}`,
				title: e,
				version: "",
				load: async () => o ??= yt(e, a, n ? jt(n) : null, r),
				hasProbability: n !== void 0
			};
		});
		return {
			name: e.name,
			suffix: t === "picture" ? "" : `-${t}`,
			columns: {
				rows: r,
				columns: e.columns.map((e) => "texts" in e ? {
					name: e.name,
					kind: "text",
					values: e.texts
				} : Mt(e.name, e.values))
			},
			titleOf: (e) => n?.[e] ?? `row ${i ? i[e] : e}`,
			sources: a,
			layouts: e.layouts.map(({ names: e, axes: t, ...n }) => {
				let [r, i, a] = t.map((t, n) => Mt(e[n], t));
				return {
					...n,
					x: r,
					y: i,
					z: a
				};
			}),
			isEqual: e.isEqual,
			coast: Nt,
			colour: e.colour
		};
	}
	// src/state/notice.ts
	var Ft = Le(""), It = 0;
	function Lt(e) {
		Ft.value = e, clearTimeout(It), It = setTimeout(() => Ft.value = "", 6e3);
	}
	// src/state/theme.ts
	var Rt = matchMedia("(prefers-color-scheme: dark)"), zt = Le(Rt.matches ? "dark" : "light");
	Rt.addEventListener("change", () => zt.value = Rt.matches ? "dark" : "light");
	// src/state/course.ts
	function Bt(e) {
		let t = e.findIndex((t, n) => n > 0 && t.temperature > e[n - 1].temperature);
		return (t < 0 ? e : e.slice(0, t)).filter(({ temperature: e }) => e > 0);
	}
	function Vt(e) {
		let t = [];
		return e.forEach(({ temperature: e, clusters: n }, r) => {
			let i = t[t.length - 1];
			i && (i.to = e), i?.clusters === n ? i.last = r : t.push({
				clusters: n,
				from: e,
				to: e,
				last: r
			});
		}), t;
	}
	function Ht(e) {
		let t = [{
			parent: -1,
			birth: Infinity,
			place: 0
		}], n = [0], r = null;
		for (let { temperature: i, parent: a, clusters: o } of e) {
			if (o !== t.length + 1) {
				r = i;
				break;
			}
			t.push({
				parent: a,
				birth: i,
				place: 0
			}), n.splice(n.indexOf(a) + 1, 0, t.length - 1);
		}
		return n.forEach((e, n) => t[e].place = n), {
			branches: t,
			until: r
		};
	}
	function Ut(e, t) {
		let n = t[t.length - 1]?.clusters;
		return Wt(e.filter(({ clusters: e }) => e === n)) ?? Wt(e);
	}
	function Wt(e) {
		let t = ({ from: e, to: t }) => Math.log(e / t);
		return e.filter(({ clusters: e }) => e > 1).reduce((e, n) => e && t(e) >= t(n) ? e : n, void 0);
	}
	// src/state/download.ts
	function Gt(e, t) {
		let n = document.createElement("a");
		n.href = URL.createObjectURL(t), n.download = e.replaceAll("/", "-"), n.click(), setTimeout(() => URL.revokeObjectURL(n.href), 3e4);
	}
	// node_modules/preact/jsx-runtime/dist/jsxRuntime.mjs
	var Kt = Symbol.for("pv"), qt = 0;
	Array.isArray;
	function Z(t, n, r, i, a, o) {
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
			constructor: Kt,
			__v: --qt,
			__i: -1,
			__u: 0
		};
		return (a || o) && (u.__source = a, u.__self = o), e.vnode && e.vnode(u), u;
	}
	// src/views/save.tsx
	var Jt = "http://www.w3.org/2000/svg", Yt = [
		"fill",
		"fill-opacity",
		"stroke",
		"stroke-opacity",
		"stroke-width",
		"stroke-dasharray",
		"stroke-linejoin",
		"stroke-linecap",
		"font-size",
		"font-weight",
		"font-family",
		"text-anchor",
		"paint-order",
		"opacity",
		"visibility"
	], Xt = 2;
	function Zt(e, t) {
		let n = document.createElementNS(Jt, e);
		for (let [e, r] of Object.entries(t)) n.setAttribute(e, r);
		return n;
	}
	function Qt(e, t, n, r) {
		let i = e.cloneNode(!0), [a, o] = [e.querySelectorAll("*"), i.querySelectorAll("*")];
		return a.forEach((e, t) => {
			let n = getComputedStyle(e);
			for (let e of Yt) {
				let r = n.getPropertyValue(e);
				r && r !== "none" && r !== "normal" ? o[t].setAttribute(e, r) : r === "none" && o[t].setAttribute(e, "none");
			}
		}), i.setAttribute("xmlns", Jt), i.setAttribute("width", String(t)), i.setAttribute("height", String(n)), i.setAttribute("viewBox", `0 0 ${t} ${n}`), i.prepend(Zt("rect", {
			width: String(t),
			height: String(n),
			fill: r
		})), i;
	}
	function $t() {
		return getComputedStyle(document.documentElement).getPropertyValue("--card").trim() || "#ffffff";
	}
	function en(e) {
		return new Blob([new XMLSerializer().serializeToString(e)], { type: "image/svg+xml" });
	}
	async function tn(e) {
		let t = URL.createObjectURL(en(e));
		try {
			let n = new Image();
			await new Promise((e, r) => {
				n.onload = () => e(), n.onerror = () => r(Error("The picture could not be made.")), n.src = t;
			});
			let r = document.createElement("canvas");
			return r.width = Xt * Number(e.getAttribute("width")), r.height = Xt * Number(e.getAttribute("height")), r.getContext("2d").drawImage(n, 0, 0, r.width, r.height), await new Promise((e, t) => r.toBlob((n) => n ? e(n) : t(Error("The picture could not be made.")), "image/png"));
		} finally {
			URL.revokeObjectURL(t);
		}
	}
	function nn({ name: e, make: t, fail: n }) {
		let r = async (r) => {
			try {
				let n = t();
				Gt(`${e}.${r}`, r === "svg" ? en(n) : await tn(n));
			} catch (e) {
				n?.(e);
			}
		};
		return Z("span", {
			class: "save",
			children: [
				Z("span", {
					class: "soft",
					"aria-hidden": "true",
					children: "Save"
				}),
				Z("button", {
					type: "button",
					onClick: () => r("png"),
					children: [Z("span", {
						class: "unseen",
						children: [
							"Save ",
							e,
							" as "
						]
					}), "PNG"]
				}),
				Z("button", {
					type: "button",
					onClick: () => r("svg"),
					children: [Z("span", {
						class: "unseen",
						children: [
							"Save ",
							e,
							" as "
						]
					}), "SVG"]
				})
			]
		});
	}
	// src/views/chart.tsx
	var rn = 220, an = 420, Q = {
		left: 56,
		right: 14,
		top: 12,
		bottom: 38
	};
	function on(e, t, n) {
		if (!(t > e)) return [e];
		let r = Math.max(1, n), i = Number.isFinite(t - e) ? (t - e) / r : t / r - e / r, a = 10 ** Math.floor(Math.log10(i)), o = [
			1,
			2,
			5,
			10
		].map((e) => e * a).find((e) => e >= i) ?? 10 * a, s = [], c = Math.ceil(e / o);
		for (let e = 0; e <= n + 1; e++) {
			let n = (c + e) * o;
			n <= t + o * 1e-9 && n !== s.at(-1) && s.push(n);
		}
		return s;
	}
	function sn(e, t, n) {
		let r = Math.ceil(Math.log10(e) - 1e-9), i = Math.floor(Math.log10(t) + 1e-9);
		if (i - r < 2) {
			let a = [
				1,
				2,
				5
			].flatMap((e) => Array.from({ length: i - r + 3 }, (t, n) => e * 10 ** (r - 1 + n))).filter((n) => n >= e && n <= t).sort((e, t) => e - t);
			return a.length >= 3 ? a : on(e, t, n);
		}
		let a = Math.max(1, Math.ceil((i - r + 1) / n));
		return Array.from({ length: Math.floor((i - r) / a) + 1 }, (e, t) => 10 ** (r + t * a));
	}
	function cn({ title: e, xName: t, x: n, y: r, isLogX: i, isLogY: a, isFalling: o, isStepped: s, dots: c, best: l, marks: u, now: d, look: f }) {
		let p = W(null), m = J(480), h = J(null);
		U(() => {
			let e = new ResizeObserver(([e]) => m.value = Math.max(180, Math.round(e.contentRect.width)));
			return e.observe(p.current), () => e.disconnect();
		}, []);
		let g = n.map((e, t) => [
			e,
			r[t],
			t
		]).filter(([e, t]) => Number.isFinite(e) && Number.isFinite(t) && (!i || e > 0) && (!a || t > 0)), _ = m.value, v = g.map(([e]) => e), y = g.map(([, e]) => e), b = (e) => e.reduce(([e, t], n) => [Math.min(e, n), Math.max(t, n)], [Infinity, -Infinity]), [S, C] = b(v), [w, T] = b(y);
		S === C && ([S, C] = i ? [S / 2, C * 2] : [S - .5, C + .5]), w === T && ([w, T] = a ? [w / 2, T * 2] : [w - .5, T + .5]);
		let E = (e) => i ? Math.log(e) : e, D = (e) => a ? Math.log(e) : e, ee = (e) => {
			let t = (E(e) - E(S)) / (E(C) - E(S));
			return o ? 1 - t : t;
		}, O = y.every(Number.isInteger), k = c ? 10 : 0, A = (e) => Q.left + k + ee(e) * (_ - Q.left - Q.right - 2 * k), j = (e) => rn - Q.bottom - k - (D(e) - D(w)) / (D(T) - D(w)) * (rn - Q.top - Q.bottom - 2 * k), M = !1, N = ["", ""];
		g.forEach(([e, t], n) => {
			let r = n === 0 || o === !0 && e > g[n - 1][0];
			M ||= r && n > 0;
			let [i, a] = [A(e).toFixed(1), j(t).toFixed(1)];
			N[Number(M)] += r ? `M${i} ${a}` : s ? `H${i}V${a}` : `L${i} ${a}`;
		});
		let P = h.value ?? (d != null && g.length && (!i || d > 0) ? ((e) => g.reduce((t, [n], r) => Math.abs(E(n) - E(e)) < Math.abs(E(g[t][0]) - E(e)) ? r : t, 0))(d) : null), F = P !== null && g[P] ? g[P] : g[l !== void 0 && g[l] ? l : g.length - 1], te = (e) => {
			let t = p.current.getBoundingClientRect().left;
			if (!g.length) return;
			let [n, r] = [0, Infinity];
			g.forEach(([i], a) => {
				let o = Math.abs(A(i) - (e - t));
				o < r && ([n, r] = [a, o]);
			}), h.value = n;
		};
		return Z("figure", {
			class: "chart",
			children: [Z("figcaption", { children: [
				Z("h3", { children: e }),
				F && Z("p", {
					class: "readout",
					children: [
						t,
						" ",
						X(F[0], 4),
						": ",
						X(F[1], 5)
					]
				}),
				g.length > 0 && Z(nn, {
					name: e,
					make: () => Qt(p.current.querySelector("svg"), _, rn, $t())
				})
			] }), Z("div", {
				class: "plot",
				ref: p,
				tabIndex: 0,
				role: "img",
				"aria-label": F ? `${e} over ${t}: ${g.length} points, from ${X(y[0], 4)} to ${X(y[y.length - 1], 4)}. Arrow keys read points.` : `${e}: no points yet`,
				onPointerMove: (e) => te(e.clientX),
				onClick: () => h.value !== null && g[h.value] && f?.(g[h.value][0]),
				onPointerLeave: () => h.value = null,
				onKeyDown: (e) => {
					let t = e.key === "ArrowLeft" ? -1 : +(e.key === "ArrowRight");
					t && (e.preventDefault(), h.value = Math.min(g.length - 1, Math.max(0, (h.value ?? g.length - 1) + t)), f?.(g[h.value]?.[0]));
				},
				children: [g.length === 0 && Z("p", {
					class: "note",
					children: "There is nothing to draw."
				}), g.length > 0 && Z("svg", {
					width: _,
					height: rn,
					"aria-hidden": "true",
					children: [
						(a ? sn(w, T, 4) : on(w, T, 4).filter((e) => !O || Number.isInteger(e))).map((e) => Z("g", { children: [Z("line", {
							class: "gridline",
							x1: Q.left,
							x2: _ - Q.right,
							y1: j(e),
							y2: j(e)
						}), Z("text", {
							x: Q.left - 8,
							y: j(e) + 4,
							"text-anchor": "end",
							children: X(e, 4)
						})] }, e)),
						(i ? sn(S, C, 5) : on(S, C, 5)).map((e) => Z("text", {
							x: A(e),
							y: rn - Q.bottom + 17,
							"text-anchor": "middle",
							children: X(e, 4)
						}, e)),
						Z("text", {
							x: _ - Q.right,
							y: 216,
							"text-anchor": "end",
							children: o ? `${t}${_ >= an ? ", falling" : ""} →` : t
						}),
						u && u.at.filter((e) => e >= S && e <= C).map((e) => Z("path", {
							class: "split",
							d: `M${(A(e) - 3.2).toFixed(1)} ${rn - Q.bottom + 5.5}h6.4l-3.2 -5z`
						}, e)),
						u && u.at.length > 0 && Z("g", { children: [Z("path", {
							class: "split",
							d: `M${Q.left} 215h6.4l-3.2 -5z`
						}), Z("text", {
							x: Q.left + 11,
							y: 216,
							children: u.name
						})] }),
						M && Z("g", { children: [Z("path", {
							class: "curve later",
							d: `M${Q.left + (u?.at.length ? 62 : 0)} 212h18`
						}), Z("text", {
							x: Q.left + (u?.at.length ? 86 : 24),
							y: 216,
							children: "hardening"
						})] }),
						c !== "alone" && Z("path", {
							class: "curve",
							d: N[0]
						}),
						c !== "alone" && N[1] && Z("path", {
							class: "curve later",
							d: N[1]
						}),
						(c || g.length === 1) && g.map(([e, t, n]) => Z("circle", {
							class: "dot",
							cx: A(e),
							cy: j(t),
							r: n === l ? 7 : 4
						}, n)),
						P !== null && F && Z(x, { children: [Z("line", {
							class: "cross",
							x1: A(F[0]),
							x2: A(F[0]),
							y1: Q.top,
							y2: rn - Q.bottom
						}), Z("circle", {
							class: "dot",
							cx: A(F[0]),
							cy: j(F[1]),
							r: "4"
						})] })
					]
				})]
			})]
		});
	}
	// src/views/anneal.tsx
	var ln = {
		strip: 34,
		tree: 180,
		branch: 34
	}, un = {
		left: 12,
		right: 12
	}, dn = 90;
	function fn({ steps: e, splits: t, unit: n, keep: r }) {
		let i = G(() => Bt(e), [e]), a = G(() => Vt(i), [i]), o = J(Ut(a, e)?.last ?? i.length - 1), s = J(!1);
		if (U(() => {
			if (!s.value) return;
			let e = setInterval(() => {
				s.peek() && (o.peek() >= i.length - 1 ? s.value = !1 : o.value++);
			}, dn);
			return () => clearInterval(e);
		}, [s.value, i]), i.length < 2) return Z("p", {
			class: "note",
			children: "There was nothing to anneal."
		});
		let c = Math.min(o.value, i.length - 1), l = i[c], u = n ? `temperature (${n})` : "temperature", d = (e) => {
			s.value = !1, o.value = Math.min(i.length - 1, Math.max(0, e));
		}, f = (e) => {
			e !== void 0 && d(i.reduce((t, { temperature: n }, r) => Math.abs(Math.log(n / e)) < Math.abs(Math.log(i[t].temperature / e)) ? r : t, 0));
		}, p = (e) => {
			for (let t = c + e; t >= 0 && t < i.length; t += e) if (i[t].clusters !== l.clusters) return d(t);
			d(e > 0 ? i.length - 1 : 0);
		}, m = () => {
			c >= i.length - 1 && (o.value = 0), s.value = !s.value;
		}, h = a.find(({ last: e }) => e >= c), g = e.map(({ temperature: e }) => e), _ = `${Y(l.clusters)} ${l.clusters === 1 ? "cluster" : "clusters"} at ${X(l.temperature, 4)}${n ? ` ${n}` : ""}`;
		return Z("div", {
			class: "anneal",
			children: [
				Z("div", {
					class: "tools",
					children: [
						Z("button", {
							type: "button",
							"aria-label": "Fewer clusters: back to the last change",
							title: "Last change",
							onClick: () => p(-1),
							children: "←"
						}),
						Z("button", {
							type: "button",
							onClick: m,
							"aria-pressed": s.value,
							children: s.value ? "Pause" : "Play"
						}),
						Z("button", {
							type: "button",
							"aria-label": "More clusters: on to the next change",
							title: "Next change",
							onClick: () => p(1),
							children: "→"
						}),
						Z("input", {
							type: "range",
							class: "long",
							min: "0",
							max: i.length - 1,
							step: "1",
							value: c,
							"aria-label": "Temperature",
							"aria-valuetext": _,
							onInput: (e) => d(Number(e.currentTarget.value))
						}),
						Z("b", { children: _ }),
						Z("span", {
							class: "soft",
							children: [
								"step ",
								Y(c + 1),
								" of ",
								Y(i.length),
								"; this number lasted from ",
								X(h.from, 4),
								" to ",
								X(h.to, 4)
							]
						})
					]
				}),
				r(l.clusters, l.temperature),
				Z(mn, {
					falling: i,
					lasting: a,
					splits: t,
					now: l.temperature,
					look: f
				}),
				Z("div", {
					class: "pair",
					children: [Z(cn, {
						title: "Clusters",
						xName: u,
						x: g,
						y: e.map(({ clusters: e }) => e),
						isLogX: !0,
						isFalling: !0,
						isStepped: !0,
						now: l.temperature,
						look: f,
						marks: {
							at: t.map(({ temperature: e }) => e),
							name: "split"
						}
					}), Z(cn, {
						title: n ? `Free energy (${n})` : "Free energy",
						xName: u,
						x: g,
						y: e.map(({ freeEnergy: e }) => e),
						isLogX: !0,
						isFalling: !0,
						isLogY: pn(i),
						now: l.temperature,
						look: f
					})]
				})
			]
		});
	}
	function pn(e) {
		let [t, n] = e.reduce(([e, t], { freeEnergy: n }) => [Math.min(e, n), Math.max(t, n)], [Infinity, -Infinity]);
		return t > 0 && n / t > 30;
	}
	function mn({ falling: e, lasting: t, splits: n, now: r, look: i }) {
		let a = W(null), o = J(600);
		U(() => {
			let e = new ResizeObserver(([e]) => o.value = Math.max(200, Math.round(e.contentRect.width)));
			return e.observe(a.current), () => e.disconnect();
		}, []);
		let { branches: s, until: c } = G(() => Ht(n), [n]), [l, u] = [e[0].temperature, e[e.length - 1].temperature], d = o.value - un.left - un.right, f = (e) => un.left + d * Math.log(l / Math.min(l, Math.max(u, e))) / Math.log(l / u), p = s.length > 1, m = p ? Math.min(ln.tree, 28 + ln.branch * s.length) : 0, h = (e) => 12 + (m - 28) * (e + .5) / s.length, g = c ?? u, _ = m + ln.strip, v = Wt(t);
		return Z("div", {
			class: "course",
			children: [
				Z("div", {
					class: "tools under",
					children: [Z("h3", { children: p ? "Splits, and how long each number lasted" : "How long each number lasted" }), Z(nn, {
						name: "Splits",
						make: () => Qt(a.current.querySelector("svg"), o.value, _, $t())
					})]
				}),
				Z("div", {
					ref: a,
					role: "img",
					"aria-label": `How long each number of clusters lasted: ${t.map(({ clusters: e, from: t, to: n }) => `${e} from ${X(t, 3)} to ${X(n, 3)}`).slice(0, 40).join("; ")}`,
					children: Z("svg", {
						width: o.value,
						height: _,
						"aria-hidden": "true",
						onClick: (e) => i(l * (u / l) ** Math.min(1, Math.max(0, (e.clientX - a.current.getBoundingClientRect().left - un.left) / d))),
						children: [
							p && s.map(({ parent: e, birth: t, place: n }, r) => {
								let i = f(Number.isFinite(t) ? t : l), a = h(n);
								return Z("path", {
									class: "branch",
									d: `${e >= 0 ? `M${i} ${h(s[e].place)}V${a}` : `M${i} ${a}`}H${f(g)}`
								}, r);
							}),
							t.map((e) => {
								let [t, n] = [f(e.from), f(e.to)];
								return Z("g", {
									class: e === v ? "stay widest" : "stay",
									children: [
										Z("rect", {
											x: t,
											y: m + 6,
											width: Math.max(1, n - t - 1),
											height: "22"
										}),
										n - t > 9 * String(e.clusters).length + 4 && Z("text", {
											x: (t + n) / 2,
											y: m + 21,
											"text-anchor": "middle",
											children: e.clusters
										}),
										Z("title", { children: `${e.clusters}: from ${X(e.from, 4)} to ${X(e.to, 4)}` })
									]
								}, e.last);
							}),
							Z("line", {
								class: "cross",
								x1: f(r),
								x2: f(r),
								y1: "0",
								y2: _
							})
						]
					})
				}),
				c !== null && p && Z("p", {
					class: "note",
					children: [
						"Clusters merged before ",
						X(c, 4),
						". Which ones is not recorded, so the tree ends there."
					]
				})
			]
		});
	}
	// src/views/density.tsx
	var hn = 720, $ = {
		left: 62,
		right: 12,
		top: 10,
		bottom: 40
	};
	function gn({ title: e, bins: t, counts: n, names: r, ends: i }) {
		let a = W(null), o = W(null), s = J(hn);
		U(() => {
			let e = new ResizeObserver(([e]) => s.value = Math.min(hn, Math.max(240, Math.round(e.contentRect.width))));
			return e.observe(o.current), () => e.disconnect();
		}, []);
		let c = s.value, l = Math.round(Math.max(260, c * .58)), u = Math.log1p(n.reduce((e, t) => Math.max(e, t), 1)), [d, f] = [c - $.left - $.right, l - $.top - $.bottom], p = (e) => $.left + d * e / (i[0] || 1), m = (e) => l - $.bottom - f * e / (i[1] || 1), h = Math.min(...i);
		return Z("div", {
			class: "density",
			ref: o,
			children: [Z("div", {
				class: "tools under",
				children: Z(nn, {
					name: e,
					make: () => Qt(a.current, c, l, $t())
				})
			}), Z("svg", {
				ref: a,
				class: "plot",
				width: c,
				height: l,
				role: "img",
				"aria-label": `${e}: ${r[1]} against ${r[0]}`,
				children: [
					Z("g", {
						class: "bins",
						children: n.map((e, n) => {
							if (!e) return null;
							let [a, o] = [n % t, Math.floor(n / t)], s = .1 + .9 * Math.log1p(e) / u;
							return Z("rect", {
								x: $.left + a * d / t,
								y: l - $.bottom - (o + 1) * f / t,
								width: d / t,
								height: f / t,
								"fill-opacity": s.toFixed(3),
								children: Z("title", { children: `${r[0]} ${X(a * i[0] / t, 3)} to ${X((a + 1) * i[0] / t, 3)}, ${r[1]} ${X(o * i[1] / t, 3)} to ${X((o + 1) * i[1] / t, 3)}: ${X(e)} pairs` })
							}, n);
						})
					}),
					on(0, i[0], Math.max(2, Math.floor(c / 110))).map((e) => Z("text", {
						x: p(e),
						y: l - $.bottom + 17,
						"text-anchor": "middle",
						children: X(e, 4)
					}, `x${e}`)),
					on(0, i[1], 5).map((e) => Z("text", {
						x: $.left - 8,
						y: m(e) + 4,
						"text-anchor": "end",
						children: X(e, 4)
					}, `y${e}`)),
					Z("path", {
						class: "axis",
						d: `M${$.left} ${$.top}V${l - $.bottom}H${c - $.right}`
					}),
					Z("path", {
						class: "ideal",
						d: `M${p(0)} ${m(0)}L${p(h)} ${m(h)}`
					}),
					Z("text", {
						x: c - $.right,
						y: l - 6,
						"text-anchor": "end",
						children: [r[0], " →"]
					}),
					Z("text", {
						x: $.left + 8,
						y: $.top + 10,
						children: ["↑ ", r[1]]
					})
				]
			})]
		});
	}
	// src/points/paint.ts
	function _n(e, t) {
		let n = parseInt(e.slice(1), 16);
		return (t << 24 | (n & 255) << 16 | n & 65280 | n >> 16) >>> 0;
	}
	function vn(e) {
		let t = parseInt(e.slice(1), 16);
		return [
			t >> 16,
			t >> 8 & 255,
			t & 255
		];
	}
	function yn(e) {
		let t = (e - 1) / 2, n = t * (t + .6);
		return Array.from({ length: e }, (e, r) => Math.floor(Math.sqrt(Math.max(0, n - (r - t) ** 2))));
	}
	// src/views/heat.tsx
	var bn = {
		left: 30,
		top: 64
	}, xn = 760, Sn = 13;
	function Cn({ title: e, cells: t, levels: n, largest: r, beyond: i, blocks: a, between: o, tree: s, ids: c }) {
		let l = zt.value, u = W(null), d = W(null), f = J(400), p = J(null);
		U(() => {
			let e = new ResizeObserver(([e]) => f.value = Math.min(xn, Math.max(200, Math.round(e.contentRect.width))));
			return e.observe(u.current.parentElement), () => e.disconnect();
		}, []), U(() => wn(d.current, t, n, l), [n, l]);
		let m = s.length ? bn.top : 8, h = f.value - bn.left - 2, g = (e) => a.findIndex(({ to: t }) => e < t);
		return Z("div", { children: [Z("div", {
			class: "tools under",
			children: [Z(nn, {
				name: e,
				make: () => {
					let e = Qt(u.current.querySelector("svg"), f.value, m + h, $t());
					return e.querySelector("rect").after(Zt("image", {
						href: d.current.toDataURL("image/png"),
						x: String(bn.left),
						y: String(m),
						width: String(h),
						height: String(h),
						style: "image-rendering: pixelated"
					})), e;
				}
			}), Z("p", {
				class: "readout",
				"aria-live": "polite",
				children: (() => {
					if (!p.value) return `From 0 (dark) to ${X(r, 4)}${i ? ` and more, up to ${X(i, 4)},` : ""} (bright). Point at the picture, or use the arrow keys, for two items and their clusters.`;
					let [e, s] = p.value, [l, u] = [g(s), g(e)], [d, f] = [Math.min(t - 1, Math.floor(s * t)), Math.min(t - 1, Math.floor(e * t))], m = n[d * t + f], h = (e) => c ? c[Math.min(c.length - 1, Math.floor(e * c.length))] : "", _ = c ? `${h(s)} and ${h(e)}${t < c.length ? " and those beside them" : ""}: ` : "", v = o[l * a.length + u], y = l === u ? `within cluster ${a[l].cluster}` : `between clusters ${a[l].cluster} and ${a[u].cluster}`;
					return `${_}${m === 255 ? "not known" : `${i && m === 254 ? "at least " : ""}${X(m / 254 * r, 3)}`}; mean ${y} ${Number.isFinite(v) ? X(v, 4) : "not known"}.`;
				})()
			})]
		}), Z("div", {
			ref: u,
			class: "heat",
			style: {
				width: `${f.value}px`,
				height: `${m + h}px`
			},
			tabIndex: 0,
			role: "img",
			"aria-label": `${e}: ${Y(a.reduce((e, { items: t }) => e + t, 0))} items in ${a.length} clusters. Arrow keys read cells; the table of clusters has the means.`,
			onPointerMove: (e) => {
				let t = d.current.getBoundingClientRect(), [n, r] = [(e.clientX - t.left) / t.width, (e.clientY - t.top) / t.height];
				p.value = n >= 0 && n < 1 && r >= 0 && r < 1 ? [n, r] : null;
			},
			onPointerLeave: () => p.value = null,
			onKeyDown: (e) => {
				let n = {
					ArrowLeft: [-1, 0],
					ArrowRight: [1, 0],
					ArrowUp: [0, -1],
					ArrowDown: [0, 1]
				}[e.key];
				if (!n) return;
				e.preventDefault();
				let r = (e) => Math.min(.999999, Math.max(0, e)), [i, a] = p.value ?? [0, 0];
				p.value = [r(i + n[0] / t), r(a + n[1] / t)];
			},
			children: [Z("canvas", {
				ref: d,
				style: {
					left: `${bn.left}px`,
					top: `${m}px`,
					width: `${h}px`,
					height: `${h}px`
				},
				"aria-hidden": "true"
			}), Z("svg", {
				width: f.value,
				height: m + h,
				"aria-hidden": "true",
				children: [
					Z(Tn, {
						tree: s,
						blocks: a,
						side: h
					}),
					a.slice(1).map(({ cluster: e, from: t }) => Z("path", {
						class: "border",
						d: `M${bn.left + t * h} ${m}v${h}M${bn.left} ${m + t * h}h${h}`
					}, e)),
					a.map(({ cluster: e, from: t, to: n }) => Z("g", { children: [Z("rect", {
						x: bn.left - 6,
						y: m + t * h,
						width: "4",
						height: Math.max(1, (n - t) * h - 1),
						fill: ut(e, l)
					}), (n - t) * h >= Sn && Z("text", {
						x: bn.left - 9,
						y: m + (t + n) / 2 * h + 4,
						"text-anchor": "end",
						children: e
					})] }, e)),
					p.value && Z("path", {
						class: "cross",
						d: `M${bn.left + p.value[0] * h} ${m}v${h}M${bn.left} ${m + p.value[1] * h}h${h}`
					})
				]
			})]
		})] });
	}
	function wn(e, t, n, r) {
		[e.width, e.height] = [t, t];
		let i = e.getContext("2d"), a = i.createImageData(t, t), o = Array.from({ length: 256 }, (e, t) => vn(t === 255 ? st[r] : ft(t / 254, r)));
		n.forEach((e, t) => a.data.set([...o[e], 255], 4 * t)), i.putImageData(a, 0, 0);
	}
	function Tn({ tree: e, blocks: t, side: n }) {
		let r = e.reduce((e, [, , t]) => Math.max(e, t), 0) || 1, i = t.map(({ from: e, to: t }) => ({
			x: bn.left + (e + t) / 2 * n,
			y: bn.top - 4
		}));
		return Z("g", {
			class: "tree",
			children: e.map(([e, t, n]) => {
				let a = bn.top - 4 - (bn.top - 14) * (n / r), [o, s] = [i[e], i[t]];
				return i.push({
					x: (o.x + s.x) / 2,
					y: a
				}), Z("path", {
					d: `M${o.x} ${o.y}V${a}H${s.x}V${s.y}`,
					children: Z("title", { children: `joined at a mean of ${X(n, 4)}` })
				}, `${e} ${t}`);
			})
		});
	}
	// src/molecule/smiles.ts
	var En = ({ a: e, b: t }, n) => e === n ? t : e, Dn = {
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
	}, On = {
		"-": 1,
		"/": 1,
		"\\": 1,
		"=": 2,
		"#": 3
	}, kn = /^(?:Cl|Br|[BCNOPSFI]|[bcnops]|\*)/, An = /^\[(\d*)(\*|[A-Z][a-z]?|[bcnops]|se|as)(@{0,2}(?:TH|AL|SP|TB|OH)?\d*)?(?:H(\d*))?(\++\d*|-+\d*)?(?::\d+)?\]/;
	function jn(e) {
		let t = [], n = [], r = [], i = new Map(), a = new Set(), [o, s, c] = [
			-1,
			"",
			e.trim()
		], l = (e, r, i) => {
			if (e === r || t[e].bonds.some((t) => En(n[t], e) === r)) return !1;
			let a = i === ":" || i === "" && t[e].isAromatic && t[r].isAromatic;
			return [e, r].forEach((e) => t[e].bonds.push(n.length)), n.push({
				a: e,
				b: r,
				order: On[i] ?? 1,
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
			if (e = c.match(kn)) {
				if (a.add(t.length), !u(e[0], {})) return null;
			} else if (e = c.match(An)) {
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
		return Mn(d, a), Fn(d), n.forEach((e) => e.isAromatic &&= e.ring !== void 0), Pn(d), d;
	}
	function Mn({ atoms: e, bonds: t }, n) {
		for (let r of n) {
			let n = e[r], i = n.bonds.reduce((e, n) => e + t[n].order, 0) + +!!n.isAromatic, a = Dn[n.symbol] ?? [], o = n.isAromatic ? a[0] : a.find((e) => e >= i);
			n.hydrogens = o === void 0 ? 0 : Math.max(0, o - i);
		}
	}
	var Nn = 2e4;
	function Pn({ atoms: e, bonds: t }) {
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
				if (++r > Nn) return !1;
				let { a: e, b: o } = t[i];
				if (n.delete(e), n.delete(o), t[i].order = 2, a()) return !0;
				t[i].order = 1, n.add(e), n.add(o);
			}
			return !1;
		};
		a();
	}
	// src/molecule/rings.ts
	function Fn({ atoms: e, bonds: t }) {
		let n = new Map(), r = t.map((r) => {
			let { a: i, b: a } = r, o = new Int32Array(e.length).fill(-1);
			o[i] = i;
			let s = [i];
			for (let n of s) {
				if (n === a) break;
				for (let i of e[n].bonds) {
					let e = En(t[i], n);
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
	function In(e) {
		let t = new Set(e.map(({ ring: e }) => e));
		return t.delete(void 0), [...t].sort((e, t) => e.length - t.length);
	}
	// src/molecule/layout.ts
	var Ln = 1.5, Rn = .75, zn = 3, Bn = 60, Vn = ([e, t], [n, r]) => [e + n, t + r], Hn = ([e, t], [n, r]) => [e - n, t - r], Un = (e, t = 1) => [t * Math.cos(e), t * Math.sin(e)], Wn = ([e, t]) => Math.atan2(t, e), Gn = (e, t) => Math.hypot(e[0] - t[0], e[1] - t[1]);
	function Kn(e) {
		let { atoms: t, bonds: n } = e, r = t.map(() => void 0), i = t.map(({ bonds: e }, t) => e.map((e) => En(n[e], t))), a = Yn(In(n)).map(Xn), o = new Map(a.flatMap((e) => [...e.keys()].map((t) => [t, e]))), s = 0;
		return t.forEach((t, n) => {
			if (r[n]) return;
			let a = qn(n, i);
			$n(a.find((e) => o.has(e)) ?? n, i, o, r, (t) => Jn(e, t)), nr(e, a, i, r), tr(a, i, r) > 0 && rr(a, i, r), ar(a, r);
			let c = Math.min(...a.map((e) => r[e][0])), l = a.reduce((e, t) => e + r[t][1], 0) / a.length;
			a.forEach((e) => r[e] = Vn(r[e], [s - c, -l])), s = Math.max(...a.map((e) => r[e][0])) + Ln;
		}), r;
	}
	function qn(e, t, n = -1) {
		let r = [e], i = new Set([e, n]);
		for (let e of r) for (let n of t[e]) i.has(n) || (i.add(n), r.push(n));
		return r;
	}
	function Jn({ atoms: e, bonds: t }, n) {
		let r = e[n].bonds.map((e) => t[e].order);
		return r.length === 2 && (r.includes(3) || r[0] === 2 && r[1] === 2);
	}
	function Yn(e) {
		let t = [];
		for (let n of e) {
			let e = t.filter((e) => e.some((e) => e.some((e) => n.includes(e)))), r = [n, ...e.flat()];
			e.forEach((e) => t.splice(t.indexOf(e), 1)), t.push(r);
		}
		return t;
	}
	function Xn(e) {
		let t = new Map(), n = new Set(e), r = (t) => e.filter((e) => e !== t && e.some((e) => t.includes(e))).length, i = [...e].sort((e, t) => r(t) - r(e) || t.length - e.length)[0];
		for (; i;) {
			Zn(i, t), n.delete(i);
			let e = (e) => e.filter((e) => t.has(e)).length, r = (t) => e(t) === 0 ? Infinity : e(t) === 2 ? 0 : e(t);
			i = [...n].sort((e, t) => r(e) - r(t))[0];
		}
		return t;
	}
	function Zn(e, t) {
		let n = e.length, r = e.map((e) => t.has(e)), i = r.filter(Boolean).length;
		if (i === n) return;
		let a = .5 / Math.sin(Math.PI / n);
		if (i < 2) {
			let i = r.indexOf(!0), o = i < 0 ? void 0 : t.get(e[i]), s = [...t.values()].filter((e) => e !== o && o && Gn(e, o) < 1.2), c = o ? er(s.map((e) => Wn(Hn(e, o))), 1)[0] : 0, l = o ? Vn(o, Un(c, a)) : [0, 0], u = o ? c + Math.PI : Math.PI / 2;
			e.forEach((e, r) => {
				t.has(e) || t.set(e, Vn(l, Un(u + 2 * Math.PI * (r - Math.max(0, i)) / n, a)));
			});
			return;
		}
		let o = [...t.values()];
		e.forEach((i, a) => {
			if (!r[a] || r[(a + 1) % n]) return;
			let s = [], c = a + 1;
			for (; !r[c % n]; c++) s.push(e[c % n]);
			let [l, u] = [t.get(i), t.get(e[c % n])], d = [1, -1].map((e) => Qn(l, u, s.length, e)), f = (e) => e.reduce((e, t) => e + o.reduce((e, n) => e + 1 / (.01 + Gn(t, n) ** 2), 0), 0), p = f(d[0]) <= f(d[1]) ? d[0] : d[1];
			s.forEach((e, n) => t.set(e, p[n]));
		});
	}
	function Qn(e, t, n, r) {
		let i = Gn(e, t), a = n + 1, [o, s] = [1e-6, 2 * Math.PI / a - 1e-6];
		for (let e = 0; e < 50; e++) {
			let e = (o + s) / 2;
			Math.sin(a * e / 2) / Math.sin(e / 2) > i ? o = e : s = e;
		}
		let c = o, l = Wn(Hn(t, e)) + r * c * (a - 1) / 2, u = e;
		return Array.from({ length: n }, () => (u = Vn(u, Un(l)), l -= r * c, u));
	}
	function $n(e, t, n, r, i) {
		let a = [], o = (e, i, o) => {
			let s = n.get(e);
			if (!s) {
				r[e] = i, a.push(e);
				return;
			}
			let c = s.get(e), l = er(t[e].filter((e) => s.has(e)).map((e) => Wn(Hn(s.get(e), c))), 1)[0], u = o === null ? 0 : o - l;
			for (let [e, t] of s) {
				let [n, o] = Hn(t, c);
				r[e] = Vn(i, [n * Math.cos(u) - o * Math.sin(u), n * Math.sin(u) + o * Math.cos(u)]), a.push(e);
			}
		};
		o(e, [0, 0], null);
		for (let e of a) {
			let n = r[e], a = t[e].filter((e) => !r[e]);
			if (!a.length) continue;
			let s = new Map(a.map((n) => [n, qn(n, t, e).length]));
			a.sort((e, t) => s.get(t) - s.get(e));
			let c = t[e].filter((e) => r[e]).map((e) => Wn(Hn(r[e], n))), l;
			l = c.length === 0 ? a.length === 1 ? [-Math.PI / 6] : a.map((e, t) => -Math.PI / 6 + 2 * Math.PI * t / a.length) : c.length === 1 && a.length === 1 ? i(e) ? [c[0] + Math.PI] : [c[0] + 2 * Math.PI / 3, c[0] - 2 * Math.PI / 3] : er(c, a.length);
			let u = (e) => {
				let t = Vn(n, Un(e));
				return r.reduce((e, n) => e + (n ? 1 / (.1 + Gn(t, n) ** 4) : 0), 0);
			};
			for (let e of a) {
				let t = l.reduce((e, t) => u(t) < u(e) - 1e-9 ? t : e);
				l.splice(l.indexOf(t), 1), o(e, Vn(n, Un(t)), t + Math.PI);
			}
		}
	}
	function er(e, t) {
		let n = [...e].sort((e, t) => e - t), [r, i] = [0, 0];
		return n.forEach((e, t) => {
			let a = (t + 1 < n.length ? n[t + 1] : n[0] + 2 * Math.PI) - e;
			a > i + 1e-9 && ([r, i] = [e, a]);
		}), Array.from({ length: t }, (e, n) => r + i * (n + 1) / (t + 1));
	}
	function tr(e, t, n) {
		let r = 0;
		return e.forEach((i, a) => {
			for (let o = a + 1; o < e.length; o++) {
				let a = e[o], s = Gn(n[i], n[a]);
				s < Rn && !t[i].includes(a) && (r += Rn - s);
			}
		}), r;
	}
	function nr({ bonds: e }, t, n, r) {
		let i = e.filter(({ a: e, b: r, ring: i }) => !i && t.includes(e) && n[e].length > 1 && n[r].length > 1), a = tr(t, n, r);
		for (let e = 0; e < zn && a > 0; e++) for (let { a: e, b: o } of i) {
			let i = [qn(o, n, e), qn(e, n, o)], s = i[0].length <= i[1].length ? i[0] : i[1], c = s.map((e) => r[e]), [l, u] = [r[e], Wn(Hn(r[o], r[e]))];
			s.forEach((e) => {
				let [t, n] = Hn(r[e], l);
				r[e] = Vn(l, Un(2 * u - Wn([t, n]), Math.hypot(t, n)));
			});
			let d = tr(t, n, r);
			d < a - 1e-9 ? a = d : s.forEach((e, t) => r[e] = c[t]);
		}
	}
	function rr(e, t, n) {
		let r = e.length, i = e.map((n) => {
			let r = new Map([[n, 0]]);
			for (let [e, n] of r) for (let i of t[e]) r.has(i) || r.set(i, n + 1);
			return e.map((e) => ir(r.get(e)));
		}), a = i.map((e) => e.reduce((e, t) => e + (t ? 1 / t ** 2 : 0), 0));
		for (let t = 0; t < Bn; t++) for (let t = 0; t < r; t++) {
			let [o, s] = [0, 0], c = n[e[t]];
			for (let a = 0; a < r; a++) {
				if (a === t) continue;
				let r = n[e[a]], l = i[t][a], u = Gn(c, r) || .001, d = 1 / l ** 2;
				o += d * (r[0] + (c[0] - r[0]) * l / u), s += d * (r[1] + (c[1] - r[1]) * l / u);
			}
			n[e[t]] = [o / a[t], s / a[t]];
		}
	}
	function ir(e) {
		return e < 2 ? e : .87 * e;
	}
	function ar(e, t) {
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
	var or = 26, sr = {
		width: 260,
		height: 180,
		side: 30,
		edge: 16
	}, cr = .18, lr = .3, ur = (e) => /smiles/i.test(e);
	function dr({ smiles: e, width: t = sr.width, height: n = sr.height }) {
		let r = G(() => {
			let r = jn(e);
			return r && fr(r, t, n);
		}, [
			e,
			t,
			n
		]);
		return r ? Z("svg", {
			class: "structure",
			viewBox: `0 0 ${r.width} ${r.height}`,
			width: r.width,
			height: r.height,
			role: "img",
			"aria-label": `Structure of ${e}`,
			children: [Z("path", { d: r.lines }), r.letters]
		}) : null;
	}
	function fr(e, t, n) {
		let { atoms: r, bonds: i } = e, a = Kn(e), o = (e) => {
			let t = a.map((t) => t[e]);
			return [Math.min(...t), Math.max(...t)];
		}, [[s, c], [l, u]] = [o(0), o(1)], d = Math.min(or, (t - 2 * sr.side) / Math.max(c - s, 1e-9), (n - 2 * sr.edge) / Math.max(u - l, 1e-9)), [f, p] = [Math.ceil((c - s) * d + 2 * sr.side), Math.ceil((u - l) * d + 2 * sr.edge)], m = ([e, t]) => [(e - s) * d + sr.side, (u - t) * d + sr.edge], h = r.map((e) => e.symbol !== "C" || e.charge !== 0 || e.isotope > 0 || e.bonds.length === 0), g = [], _ = (e, t) => {
			let [[n, r], [i, a]] = [m(e), m(t)];
			g.push(`M${n.toFixed(1)} ${r.toFixed(1)}L${i.toFixed(1)} ${a.toFixed(1)}`);
		};
		for (let { a: e, b: t, order: n, ring: o } of i) {
			let [s, c] = [a[e], a[t]], l = Math.hypot(c[0] - s[0], c[1] - s[1]) || 1, [u, d] = [(c[0] - s[0]) / l, (c[1] - s[1]) / l], f = (n, r = 0) => {
				let [i, a] = [Math.max(r, h[e] ? lr : 0), Math.max(r, h[t] ? lr : 0)];
				i + a >= l || _([s[0] + u * i - d * n, s[1] + d * i + u * n], [c[0] - u * a - d * n, c[1] - d * a + u * n]);
			}, p = r[e].bonds.length === 1 || r[t].bonds.length === 1;
			if (n === 1) f(0);
			else if (n > 2) for (let e of [
				-.18,
				0,
				cr
			]) f(e);
			else if (p && !o) for (let e of [-.18 / 2, cr / 2]) f(e);
			else {
				let n = (o ?? [e, t].flatMap((e) => r[e].bonds.map((t) => En(i[t], e)))).reduce((e, t) => e + Math.sign(Math.round(100 * ((a[t][1] - s[1]) * u - (a[t][0] - s[0]) * d))), 0);
				f(0), f(n < 0 ? -.18 : cr, .14);
			}
		}
		let v = r.flatMap((t, n) => h[n] ? [mr(t, n, m(a[n]), d, pr(e, a, n))] : []);
		return {
			width: f,
			height: p,
			lines: g.join(""),
			letters: v
		};
	}
	function pr({ atoms: e, bonds: t }, n, r) {
		return e[r].bonds.reduce((e, i) => e + n[En(t[i], r)][0] - n[r][0], 0) > .1;
	}
	function mr({ symbol: e, hydrogens: t, charge: n, isotope: r }, i, [a, o], s, c) {
		let l = Math.max(5, .5 * s), u = n === 0 ? "" : `${Math.abs(n) > 1 ? Math.abs(n) : ""}${n > 0 ? "+" : "−"}`, d = [[r ? String(r) : "", 1], [e, 0]], f = [[t ? "H" : "", 0], [t > 1 ? String(t) : "", -1]], p = c ? [
			[u, 1],
			...f,
			...d
		] : [
			...d,
			...f,
			[u, 1]
		], m = 0, h = (e.length * .36 + (r ? .2 : 0)) * l;
		return Z("text", {
			x: c ? a + h : a - h,
			y: o + .36 * l,
			"text-anchor": c ? "end" : "start",
			style: { fontSize: `${l}px` },
			children: p.filter(([e]) => e).map(([e, t], n) => {
				let r = .28 * l * (m - t);
				return m = t, Z("tspan", {
					dy: r,
					style: t ? { fontSize: `${.7 * l}px` } : void 0,
					children: e
				}, n);
			})
		}, i);
	}
	// src/views/planes.tsx
	var hr = 180;
	function gr({ columns: e, rows: t, planes: n }) {
		let r = zt.value, i = J(null), a = t === 1 ? 40 : hr;
		return Z("div", {
			class: "planes",
			children: n.map(({ name: n, values: o }) => {
				let [s, c] = o.reduce(([e, t], n) => [Math.min(e, n), Math.max(t, n)], [Infinity, -Infinity]), l = (e) => c > s ? (e - s) / (c - s) : .5, u = null;
				return Z("figure", { children: [Z("svg", {
					ref: (e) => void (u = e),
					viewBox: `0 0 ${hr} ${a}`,
					role: "img",
					"aria-label": `${n} across the map, from ${X(s, 4)} to ${X(c, 4)}`,
					onPointerLeave: () => i.value = null,
					children: Array.from(o, (n, o) => {
						let [s, c] = [Math.floor(o / t), t - 1 - o % t];
						return Z("rect", {
							x: s * hr / e,
							y: c * a / t,
							width: hr / e + .3,
							height: a / t + .3,
							fill: ft(l(n), r),
							stroke: i.value === o ? "currentColor" : "none",
							onPointerEnter: () => i.value = o
						}, o);
					})
				}), Z("figcaption", { children: [
					Z("b", { children: n }),
					Z("span", {
						class: "soft",
						children: i.value === null ? `${X(s, 3)} (dark) to ${X(c, 3)} (bright)` : `here ${X(o[i.value], 4)}`
					}),
					Z(nn, {
						name: n,
						make: () => Qt(u, hr, a, $t())
					})
				] })] }, n);
			})
		});
	}
	// src/points/cloud.ts
	function _r(e, t) {
		for (; t;) [e, t] = [t, e % t];
		return e;
	}
	function vr(e) {
		let t = new Uint32Array(e);
		if (e < 3) return t.map((e, t) => t);
		let n = Math.floor(e * .6180339887);
		for (; _r(n, e) !== 1;) n++;
		let r = Math.floor(e / 3);
		for (let i = 0; i < e; i++) t[i] = r, r += n, r >= e && (r -= e);
		return t;
	}
	function yr(e) {
		let t = new WeakMap();
		return (n) => (t.has(n) || t.set(n, e(n)), t.get(n));
	}
	var br = yr((e) => {
		let [t, n] = [Infinity, -Infinity];
		for (let r = 0; r < e.length; r++) {
			let i = e[r];
			i < t && (t = i), i > n && (n = i);
		}
		return t <= n && Number.isFinite(t) && Number.isFinite(n) ? [t, n] : null;
	}), xr = .02, Sr = 2e4, Cr = yr((e) => {
		let [t, n] = br(e) ?? [0, 1], r = Math.max(1, Math.floor(e.length / Sr)), i = new Float64Array(Math.ceil(e.length / r)).map((t, n) => e[n * r]).filter(Number.isFinite).sort(), a = (e) => i[Math.min(i.length - 1, Math.floor(e * i.length))], [o, s] = [a(.25), a(.75)], c = 3 * (s - o);
		if (!(c > 0)) return [t, n];
		let [l, u] = [Infinity, -Infinity], d = 0;
		for (let t = 0; t < e.length; t++) {
			let n = e[t];
			n < o - c || n > s + c ? d++ : (n < l && (l = n), n > u && (u = n));
		}
		let f = .04 * (u - l), p = [Math.max(t, l - f), Math.min(n, u + f)];
		return n - t > 1.5 * (p[1] - p[0]) && d > 0 && d <= Math.max(5, xr * e.length) ? p : [t, n];
	}), [wr, Tr] = [.12, 100];
	function Er(e) {
		let t = br(e);
		if (!t || !(t[0] > 0) || !(t[1] / t[0] > Tr)) return !1;
		let n = 0, r = 0;
		for (let i = 0; i < e.length; i++) Number.isFinite(e[i]) && (n += e[i] / t[1], r++);
		let [i, a] = Cr(e);
		return n / r < wr && i === t[0] && a === t[1];
	}
	var Dr = new WeakMap();
	function Or(e) {
		let t = Dr.get(e);
		return t || Dr.set(e, t = {
			name: e.name,
			kind: "number",
			values: Float64Array.from(e.values, Math.log10)
		}), t;
	}
	function kr(e, { isEqual: t = !1, stretch: n, isEdged: r = !1 }) {
		let i = e.map((e) => e.values), a = i[0].length, o = vr(a), s = i.map((e) => r ? Cr(e) : br(e) ?? [0, 1]), c = s.map(([e, t]) => e / 2 + t / 2), l = s.map(([e, t], r) => (t / 2 - e / 2 || Math.abs(t) / 2 || .5) * (n?.[r] ?? 1)), u = Math.max(...l), d = (t || n ? l.map(() => u) : l).map((e, t) => e / (n?.[t] ?? 1)), f = new Float32Array(3 * a), p = new Uint8Array(a);
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
	var Ar = new WeakMap();
	function jr(e) {
		let t = Ar.get(e);
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
		return Ar.set(e, i), i;
	}
	function Mr(e, t) {
		let n = e.length, r = vr(n), i = new Float32Array(3 * n), a = 0;
		for (let o = 0; o < n; o++) {
			let n = r[o];
			if (!Number.isFinite(e[n]) || !(Math.abs(t[n]) <= 90)) {
				a++, i[3 * o] = NaN;
				continue;
			}
			let [s, c, l] = Nr(e[n], t[n]);
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
	function Nr(e, t) {
		let [n, r] = [e * Math.PI / 180, t * Math.PI / 180];
		return [
			Math.cos(r) * Math.sin(n),
			Math.sin(r),
			Math.cos(r) * Math.cos(n)
		];
	}
	// src/points/camera.ts
	var Pr = [
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
	function Fr(e, t) {
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
	function Ir(e, t, n) {
		let [r, i] = [Math.cos(t), Math.sin(t)], [a, o] = [Math.cos(n), Math.sin(n)];
		return Fr(Fr([
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
	function Lr(e, t) {
		let [n, r] = [-e * Math.PI / 180, t * Math.PI / 180];
		return Ir(Pr, n, r);
	}
	function Rr(e, t, n, r, i) {
		let a = e.turn;
		return [
			t.width / 2 + e.shift[0] + e.scale[0] * (a[0] * n + a[1] * r + a[2] * i),
			t.height / 2 + e.shift[1] - e.scale[1] * (a[3] * n + a[4] * r + a[5] * i),
			a[6] * n + a[7] * r + a[8] * i
		];
	}
	function zr(e, t, n, r, i) {
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
		if (e.shape === "space") for (let [t, r, i] of jr(e)) {
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
	function Br(e, t, n, r, i) {
		let a = Math.min(Math.max(n, 1 / (e.scale[0] / 5)), 1e8 / e.scale[0]), [o, s] = [r - t.width / 2, i - t.height / 2];
		return {
			turn: e.turn,
			scale: [e.scale[0] * a, e.scale[1] * a],
			shift: [o + (e.shift[0] - o) * a, s + (e.shift[1] - s) * a]
		};
	}
	// src/points/coast.ts
	var Vr = [
		"coast",
		"borders",
		"states"
	], Hr = 61;
	function Ur(e) {
		let t = JSON.parse(e), n = (e) => {
			let [n, r, i] = [
				0,
				0,
				0
			], a = () => {
				let [t, r] = [0, 1];
				for (;;) {
					let i = e.charCodeAt(n++) - Hr;
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
	function Wr([e, t], [n, r]) {
		return e >= -360 && t <= 540 && t - e <= 360 && n >= -90 && r <= 90;
	}
	var Gr = class {
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
	}, Kr = 2;
	function qr(e) {
		return Vr.map((t) => {
			let n = new Gr();
			for (let r of e[t]) for (let e = 0; e < r.length; e += 2) {
				let [t, i] = [r[e], r[e + 1]], [a, o] = e ? [r[e - 2], r[e - 1]] : [t, i], s = Math.max(1, Math.ceil(Math.max(Math.abs(t - a), Math.abs(i - o)) / Kr));
				for (let r = 1; r <= s; r++) n.add(...Nr(a + (t - a) * r / s, o + (i - o) * r / s), e === 0);
			}
			return n.shore(t);
		});
	}
	function Jr(e) {
		return {
			isOut: (t) => e.some(([e, n]) => t > e && t < n),
			place: (t) => t - e.reduce((e, [n, r, i]) => e + (t >= (n + r) / 2 ? r - n - i : 0), 0)
		};
	}
	function Yr({ cities: e }) {
		return e.map(({ name: e, longitude: t, latitude: n }) => ({
			name: e,
			position: Nr(t, n)
		}));
	}
	function Xr({ cities: e }, { middle: t, half: n }, r, i) {
		let { isOut: a, place: o } = Jr(i);
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
	function Zr(e, { middle: t, half: n }, r, i) {
		let a = i.flatMap(([e, t]) => [e, t]), { isOut: o, place: s } = Jr(i);
		return Vr.map((i) => {
			let c = new Gr();
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
	var [Qr, $r] = [7, 400];
	function ei(e, t) {
		return t <= $r && (e !== "states" || t >= Qr);
	}
	function ti({ positions: e, starts: t }, n, r, i, a) {
		let o = [], [s, c, l, u] = [
			0,
			0,
			!0,
			!1
		];
		for (let d = 0; d < e.length / 3; d++) {
			let [f, p, m] = Rr(n, r, e[3 * d], e[3 * d + 1], e[3 * d + 2]), h = a && m < 0, g = Math.max(f, s) < 0 || Math.max(p, c) < 0 || Math.min(f, s) > r.width || Math.min(p, c) > r.height;
			t.has(d) || h || l || g ? u = !1 : (u || o.push("M", (s / i).toFixed(1), " ", (c / i).toFixed(1)), o.push("L", (f / i).toFixed(1), " ", (p / i).toFixed(1)), u = !0), [s, c, l] = [
				f,
				p,
				h
			];
		}
		return o.join("");
	}
	function ni(e, t, n, r) {
		return e[0] < t[2] + n && e[2] > t[0] - n && e[1] < t[3] + r && e[3] > t[1] - r;
	}
	var [ri, ii] = [6.2, 7], [ai, oi] = [26, 12], si = .25;
	function ci(e, t, n, r, i, a, o) {
		let s = [], c = [];
		for (let { name: l, position: u } of e) {
			let [e, d, f] = Rr(t, n, ...u), [p, m] = [e / r, d / r];
			if (!(i && f < si)) for (let e of [!1, !0]) {
				let [t, n] = e ? [p - 5 - ri * l.length, p + 3] : [p - 3, p + 5 + ri * l.length], r = [
					t,
					m - ii,
					n,
					m + ii
				];
				if (!(!(r[0] >= a[0] && r[1] >= a[1] && r[2] <= a[2] && r[3] <= a[3]) || o.some((e) => ni(r, e, 2, 2)) || c.some((e) => ni(r, e, ai, oi)))) {
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
	// src/state/coast.ts
	var li = Le(null), ui = !1;
	async function di(e) {
		if (!ui) {
			ui = !0;
			try {
				li.value = Ur(await e());
			} catch {
				ui = !1;
			}
		}
	}
	// src/state/csv.ts
	function fi(e) {
		let t = e == null || typeof e == "number" && Number.isNaN(e) ? "" : String(e);
		return /[",\r\n]/.test(t) ? `"${t.replaceAll("\"", "\"\"")}"` : t;
	}
	function pi(e) {
		for (let t = 6; t < 10; t++) {
			let n = Number(e.toPrecision(t));
			if (Math.fround(n) === e) return n;
		}
		return e;
	}
	function mi(e) {
		return `${e.map(fi).join(",")}\n`;
	}
	// src/state/boxes.ts
	var hi = 1.5;
	function gi(e, t, n) {
		let r = new Uint32Array(n + 1), i = (n) => t[n] >= 0 && Number.isFinite(e[n]);
		for (let e = 0; e < t.length; e++) i(e) && r[t[e] + 1]++;
		for (let e = 0; e < n; e++) r[e + 1] += r[e];
		let a = new Float64Array(r[n]), o = r.slice(0, n);
		for (let n = 0; n < t.length; n++) i(n) && (a[o[t[n]]++] = e[n]);
		return Array.from({ length: n }, (e, t) => {
			let n = a.subarray(r[t], r[t + 1]).sort();
			return n.length ? yi(n) : null;
		});
	}
	function _i(e, t, n) {
		let [r, i] = [e[0], -1];
		for (let a of e) {
			let e = vi(a.values, t, n);
			e > i && ([r, i] = [a, e]);
		}
		return r;
	}
	function vi(e, t, n) {
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
	function yi(e) {
		let t = (t) => {
			let n = t * (e.length - 1), [r, i] = [e[Math.floor(n)], e[Math.ceil(n)]], a = n - Math.floor(n);
			return r * (1 - a) + i * a;
		}, n = [
			t(.25),
			t(.5),
			t(.75)
		], r = hi * (n[2] - n[0]), i = e.findIndex((e) => e >= n[0] - r), a = e.findLastIndex((e) => e <= n[2] + r), o = [Math.min(e[i], n[0]), Math.max(e[a], n[2])];
		return {
			rows: e.length,
			quartiles: n,
			whiskers: o,
			beyond: i + e.length - 1 - a
		};
	}
	new URL("../", document.baseURI.split(/[?#]/)[0]);
	var bi = class extends Error {
		status;
		code;
		retryAfter;
		constructor(e, t, n, r = 0) {
			super(n), this.status = e, this.code = t, this.retryAfter = r;
		}
	};
	Le(null), Le(null), Le("connecting"), Le(null);
	// src/views/fault.tsx
	function xi({ error: e, code: t }) {
		if (!e) return null;
		let n = e instanceof Error ? e.message : String(e), r = ht(t ?? (e instanceof bi ? e.code : "")), i = n.split("\n");
		return Z("div", {
			class: "trouble",
			role: "alert",
			children: [i.length > 1 ? Z("ul", { children: i.map((e) => Z("li", { children: e }, e)) }) : Z("p", { children: n }), r && Z("p", {
				class: "cure",
				children: r
			})]
		});
	}
	// src/views/table.tsx
	function Si({ caption: e, names: t, rows: n, first: r, on: i, pick: a }) {
		let o = t.map((e, t) => n.some((e) => typeof e[t] == "number"));
		return Z("div", {
			class: "scroll",
			tabIndex: 0,
			role: "region",
			"aria-label": e,
			children: Z("table", { children: [
				Z("caption", {
					class: "unseen",
					children: e
				}),
				Z("thead", { children: Z("tr", { children: [r !== void 0 && Z("th", {
					scope: "col",
					class: "number",
					children: "row"
				}), t.map((e, t) => Z("th", {
					scope: "col",
					class: o[t] ? "number" : "",
					children: e
				}, e))] }) }),
				Z("tbody", { children: n.map((e, t) => Z("tr", {
					class: i === t ? "on" : "",
					onClick: a && (() => a(t)),
					children: [r !== void 0 && Z("td", {
						class: "number faint",
						children: Y(r + t + 1)
					}), e.map((e, n) => Z("td", {
						class: o[n] ? "number" : "",
						children: a && n === 0 ? Z("button", {
							type: "button",
							class: "link",
							onClick: (e) => (e.stopPropagation(), a(t)),
							children: Ci(e)
						}) : Ci(e)
					}, n))]
				}, t)) })
			] })
		});
	}
	function Ci(e) {
		let t = typeof e == "string" ? e : X(e, 6);
		return t.length > 80 ? `${t.slice(0, 77)}…` : t;
	}
	// src/views/boxes.tsx
	var wi = 12e6, Ti = 1e5, Ei = 40, Di = 24, [Oi, ki, Ai] = [
		4,
		26,
		14
	], ji = 7, Mi = "\0probability";
	function Ni({ suffix: e, columns: t, grouping: n, hidden: r, theme: i, column: a, settle: o, nameOf: s, choose: c }) {
		let l = W(null), u = W(null), d = J(480), f = J(-1);
		U(() => {
			let e = new ResizeObserver(([e]) => d.value = Math.max(240, Math.round(e.contentRect.width)));
			return e.observe(l.current), () => e.disconnect();
		}, []);
		let { groupOf: p, groups: m, probability: h } = n, g = J(p.length <= Ti);
		U(() => void setTimeout(() => g.value = !0, 100), []);
		let _ = t.map((e) => [
			e.name,
			e.name,
			e
		]), v = G(() => h && {
			name: "probability",
			kind: "number",
			values: h
		}, [h]);
		v && _.push([
			Mi,
			"probability (how sure)",
			v
		]);
		let y = G(() => g.value && p.length * t.length <= wi ? _i(t, p, m.length)?.name : void 0, [
			t,
			p,
			g.value
		]), b = a ?? y ?? "", x = _.find(([e]) => e === b), S = x?.[2], C = G(() => S !== void 0 && Er(S.values), [S]), w = G(() => S && g.value ? gi((C ? Or(S) : S).values, p, m.length) : [], [
			S,
			C,
			p,
			g.value
		]).flatMap((e, t) => e && !r.has(t) ? [{
			group: t,
			box: e
		}] : []), T = w.slice(0, Ei), E = (e) => C ? 10 ** e : e, D = (e, t = 4) => X(E(e), t), ee = ({ rows: e, quartiles: t, whiskers: n, beyond: r }) => `median ${D(t[1])}, half of the rows from ${D(t[0])} to ${D(t[2])}, whiskers from ${D(n[0])} to ${D(n[1])}, ${Y(r)} of ${Y(e)} rows beyond`, O = d.value, k = T.map(({ group: e }) => s(e)), A = Math.min(.36 * O, 260, ji * Math.max(0, ...k.map((e) => e.length)) + 20), j = Math.floor((A - 20) / ji), M = Oi + Di * T.length + ki, [N, P] = T.reduce(([e, t], { box: { whiskers: n } }) => [Math.min(e, n[0]), Math.max(t, n[1])], [Infinity, -Infinity]);
		N === P && ([N, P] = [N - .5, P + .5]);
		let F = (e) => {
			let t = Math.max(Math.abs(N), Math.abs(P)) || 1;
			return A + (O - A - Ai) * (e / t - N / t) / (P / t - N / t || 1);
		}, te = Math.max(2, Math.floor((O - A) / 64)), I = T.length ? C ? sn(E(N), E(P), te).map(Math.log10) : on(N, P, te) : [], L = (e) => e.altKey ? "subtract" : e.shiftKey ? "add" : "replace", R = (e, t) => {
			let n = {
				ArrowDown: t + 1,
				ArrowUp: t - 1,
				Home: 0,
				End: T.length - 1
			}[e.key];
			if (n !== void 0) u.current.querySelectorAll("[role=button]")[n]?.focus();
			else if (e.key === "Enter" || e.key === " ") c(T[t].group, L(e));
			else return;
			e.preventDefault();
		}, ne = f.value >= 0 && f.value < T.length ? f.value : 0;
		return Z("section", {
			class: "card",
			style: { minWidth: 0 },
			"aria-labelledby": `boxes${e}`,
			children: [
				Z("div", {
					class: "head",
					children: [Z("h2", {
						id: `boxes${e}`,
						children: "Box plots"
					}), Z("div", {
						class: "tools choices",
						children: [Z("label", { children: ["Values", Z("select", {
							value: x ? b : "",
							onChange: (e) => o(e.currentTarget.value || "none"),
							children: [Z("option", {
								value: "",
								children: "none"
							}), _.map(([e, t]) => Z("option", {
								value: e,
								children: t
							}, e))]
						})] }), T.length > 0 && Z(nn, {
							name: `${S.name} by ${n.title}`,
							make: () => Qt(u.current, O, M, $t())
						})]
					})]
				}),
				S && Z("p", {
					class: "note",
					children: f.value >= 0 && T[f.value] ? `${k[f.value]}: ${ee(T[f.value].box)}.` : `Each box holds the middle half of its rows, with a line at the median. Whiskers end at the farthest rows within one and a half boxes. Click a box to select its rows.${C ? " The axis is logarithmic." : ""}`
				}),
				Z("div", {
					ref: l,
					children: T.length > 0 && Z("svg", {
						ref: u,
						class: "boxes",
						width: O,
						height: M,
						role: "group",
						"aria-label": `${S.name} by ${n.title}`,
						onPointerLeave: () => f.value = -1,
						style: { display: "block" },
						children: [
							I.map((e) => Z("path", {
								d: `M${F(e)} ${Oi}V${M - ki + 4}`,
								stroke: "var(--line)"
							}, e)),
							I.map((e) => Z("text", {
								x: F(e),
								y: M - 6,
								"text-anchor": F(e) > O - 30 ? "end" : "middle",
								children: D(e, 5)
							}, e)),
							T.map(({ group: e, box: { quartiles: t, whiskers: n } }, r) => {
								let a = Et(m[e], i), [o, s, l] = t.map(F), u = k[r], d = Oi + Di * (r + .5);
								return Z("g", {
									style: { cursor: "pointer" },
									onClick: (t) => c(e, L(t)),
									onPointerEnter: () => f.value = r,
									children: [
										Z("rect", {
											width: O,
											y: Oi + Di * r,
											height: Di,
											fill: "var(--wash)",
											"fill-opacity": +(r === f.value)
										}),
										Z("circle", {
											cx: "6",
											cy: d,
											r: "5",
											fill: a
										}),
										Z("text", {
											x: "18",
											y: d + 4,
											children: u.length > j ? `${u.slice(0, Math.max(1, j - 1))}…` : u
										}),
										Z("g", {
											role: "button",
											tabIndex: r === ne ? 0 : -1,
											"aria-label": `Box of ${u}: ${ee(T[r].box)}`,
											onKeyDown: (e) => R(e, r),
											onFocus: () => f.value = r,
											children: [
												Z("path", {
													d: `M${F(n[0])} ${d - 4}v8m0 -4H${o}M${l} ${d}H${F(n[1])}m0 -4v8`,
													fill: "none",
													stroke: a,
													"stroke-width": "1.5"
												}),
												Z("rect", {
													x: o,
													y: d - 6,
													width: Math.max(1, l - o),
													height: "12",
													fill: a,
													"fill-opacity": "0.4",
													stroke: a,
													"stroke-width": "1.5"
												}),
												Z("path", {
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
				w.length > Ei && Z("p", {
					class: "note",
					children: [
						"The first ",
						Ei,
						" of ",
						Y(w.length),
						" are drawn; the table has all."
					]
				}),
				w.length > 0 && Z("details", { children: [Z("summary", { children: "Box plots as a table" }), Z(Si, {
					caption: `${S.name} by ${n.title}`,
					names: [
						n.title,
						"rows",
						"lower whisker",
						"lower quartile",
						"median",
						"upper quartile",
						"upper whisker",
						"rows beyond"
					],
					rows: w.map(({ group: e, box: t }) => [
						s(e),
						t.rows,
						...[
							t.whiskers[0],
							...t.quartiles,
							t.whiskers[1]
						].map(E),
						t.beyond
					]),
					pick: (e) => c(w[e].group, "replace")
				})] })
			]
		});
	}
	// src/points/raster.ts
	var { fround: Pi } = Math;
	function Fi(e, { width: t, height: n }, r, i, a, o, s, c) {
		e.fill(s);
		let l = a.turn.map(Pi), u = Pi(a.scale[0]), d = Pi(a.scale[1]), f = Pi(t / 2 + a.shift[0]), p = Pi(n / 2 + a.shift[1]), m = r.shape === "sphere", { positions: h } = r, g = Math.min(r.count, c), _ = yn(o), v = (o - 1) / 2;
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
		let t = e.getContext("2d"), n = t.createImageData(1, 1), r = null, i = new Uint32Array();
		return {
			kind: "cpu",
			setCloud: (e) => r = e,
			setPaint: (e) => i = e,
			resize({ width: r, height: i }) {
				e.width = r, e.height = i, n = t.createImageData(r, i);
			},
			draw(a, o, s, c) {
				r && (Fi(new Uint32Array(n.data.buffer), e, r, i, a, o, s ? _n(s, 255) : 0, c), t.putImageData(n, 0, 0));
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
				let [o, s, l] = vn(i ?? "#000000");
				if (r.clearColor(o / 255, s / 255, l / 255, +!!i), r.clear(r.COLOR_BUFFER_BIT), !d) return;
				let u = t.turn;
				r.uniformMatrix3fv(c.turn, !0, u), r.uniform2f(c.size, e.width, e.height), r.uniform2f(c.origin, e.width / 2 + t.shift[0], e.height / 2 + t.shift[1]), r.uniform2f(c.scale, t.scale[0], t.scale[1]), r.uniform1f(c.width, n), r.uniform1i(c.isSphere, +(d.shape === "sphere"));
				let p = new Float32Array(32);
				p.set(yn(n).slice(0, 32)), r.uniform1fv(c.reach, p);
				for (let e of [254, 255]) r.uniform1f(c.layer, e), r.drawArrays(r.POINTS, 0, Math.min(d.count, a, f));
			},
			end() {
				e.removeEventListener("webglcontextlost", n), r.getExtension("WEBGL_lose_context")?.loseContext();
			}
		};
	}
	// src/views/cloud.tsx
	var Gi = 25e4, Ki = 4e5, qi = 12, Ji = [58, 40], Yi = [44, 40], Xi = 460;
	function Zi(e) {
		let { cloud: t, paint: n, theme: r, tool: i, isEqual: a, pointWidth: o, names: s } = e, c = W(null), l = W(null), u = J(null), d = J({
			width: 0,
			height: 0
		}), f = J(!1), p = J(""), m = J(null), h = J(null), g = W(1), _ = W({
			frame: 0,
			settle: 0,
			isMoving: !1,
			isFitted: !0
		}), v = W(e);
		v.current = e;
		let y = () => {
			let e = _.current;
			cancelAnimationFrame(e.frame), e.frame = requestAnimationFrame(() => {
				if (!l.current || !u.peek()) return;
				let { theme: t, pointWidth: n, shores: r } = v.current, i = l.current.kind === "cpu" && e.isMoving ? Gi : Infinity;
				l.current.draw(u.peek(), Qi(n * g.current), r ? null : lt[t], i);
			});
		}, b = (e) => {
			u.value = e;
			let t = _.current;
			t.isFitted = !1, t.isMoving = v.current.cloud.count > Gi, y(), t.isMoving && (clearTimeout(t.settle), t.settle = setTimeout(() => {
				t.isMoving = !1, y();
			}, 120));
		}, x = () => {
			let { cloud: e, isEqual: t } = v.current, n = d.peek().width / g.current < Xi ? Yi : Ji;
			b(zr(e, d.peek(), $i(e), n.map((e) => e * g.current), t || e.shape !== "plane")), _.current.isFitted = !0;
		};
		U(() => {
			let { forced: t } = e, n = document.createElement("canvas");
			n.setAttribute("aria-hidden", "true");
			let r = null;
			return t !== "cpu" && !f.value && (r = Wi(n, t === "webgl", () => f.value = !0), r || (n = document.createElement("canvas"), n.setAttribute("aria-hidden", "true"))), r ??= Ii(n), p.value = r.kind, l.current = r, r.setCloud(v.current.cloud), r.setPaint(v.current.paint), d.peek().width && r.resize(d.peek()), c.current.prepend(n), y(), () => {
				r.end(), n.remove(), l.current = null;
			};
		}, [f.value, e.forced]), U(() => {
			let e = new ResizeObserver(([e]) => {
				g.current = Math.min(2, devicePixelRatio || 1);
				let t = {
					width: Math.max(1, Math.round(e.contentRect.width * g.current)),
					height: Math.max(1, Math.round(e.contentRect.height * g.current))
				}, n = d.peek();
				if (n.width !== t.width || n.height !== t.height) {
					if (d.value = t, l.current?.resize(t), !u.peek() || _.current.isFitted) x();
					else {
						let e = Math.min(t.width / n.width, t.height / n.height), { turn: r, scale: i, shift: a } = u.peek();
						b({
							turn: r,
							scale: [i[0] * e, i[1] * e],
							shift: [a[0] * e, a[1] * e]
						});
					}
				}
			});
			return e.observe(c.current), () => e.disconnect();
		}, []), U(() => {
			l.current?.setCloud(t), l.current?.setPaint(n), h.value = null, d.peek().width && x();
		}, [t, a]), U(() => {
			l.current?.setPaint(n), y();
		}, [n]), U(y, [
			r,
			o,
			e.shores
		]), e.handle.current = {
			fit: x,
			zoom: (e) => u.peek() && b(Br(u.peek(), d.peek(), e, d.peek().width / 2, d.peek().height / 2)),
			svg: () => Sa(c.current, v.current, u.peek(), d.peek())
		};
		let S = W(new Map()), C = W({
			x: 0,
			y: 0,
			hasMoved: !1
		}), w = (e) => {
			let t = c.current.getBoundingClientRect();
			return [(e.clientX - t.left) * g.current, (e.clientY - t.top) * g.current];
		}, T = (e) => {
			if (e.button > 0 || e.target.closest("button")) return;
			c.current.setPointerCapture(e.pointerId);
			let t = w(e);
			S.current.set(e.pointerId, t), C.current = {
				x: t[0],
				y: t[1],
				hasMoved: !1
			}, h.value = null, i !== "move" && S.current.size === 1 ? m.value = [t] : m.value = null;
		}, E = (e) => {
			let n = w(e), r = S.current.get(e.pointerId);
			if (!u.peek()) return;
			if (!r) {
				e.pointerType === "mouse" && t.count <= Ki && O(n);
				return;
			}
			let a = 4 * g.current;
			if (Math.hypot(n[0] - C.current.x, n[1] - C.current.y) > a && (C.current.hasMoved = !0), S.current.size === 2) {
				let [t] = [...S.current].filter(([t]) => t !== e.pointerId).map(([, e]) => e), i = Math.hypot(n[0] - t[0], n[1] - t[1]) / Math.max(1, Math.hypot(r[0] - t[0], r[1] - t[1])), a = Br(u.peek(), d.peek(), i, (n[0] + t[0]) / 2, (n[1] + t[1]) / 2);
				b({
					...a,
					shift: a.shift.map((e, t) => e + (n[t] - r[t]) / 2)
				});
			} else if (m.value) {
				let { x: e, y: t } = C.current;
				m.value = i === "box" ? [
					[e, t],
					[n[0], t],
					n,
					[e, n[1]]
				] : [...m.value, n];
			} else if (C.current.hasMoved) {
				let [i, a] = [n[0] - r[0], n[1] - r[1]], { turn: o, scale: s, shift: c } = u.peek();
				if (t.shape === "plane" || e.shiftKey) b({
					turn: o,
					scale: s,
					shift: [c[0] + i, c[1] + a]
				});
				else {
					let e = t.shape === "sphere" ? 1 / s[0] : 1 / (.35 * Math.min(d.peek().width, d.peek().height)), n = Ir(o, i * e, a * e);
					b({
						turn: n,
						scale: s,
						shift: c
					});
				}
			}
			S.current.set(e.pointerId, n);
		}, D = (r) => {
			if (!S.current.delete(r.pointerId)) return;
			let a = w(r), o = m.value;
			if (m.value = null, !u.peek() || r.type === "pointercancel") return;
			let s = r.altKey ? "subtract" : r.shiftKey ? "add" : "replace";
			o && C.current.hasMoved && o.length > 2 ? e.onSelect(zi(t, n, u.peek(), d.peek(), o), s, i) : !C.current.hasMoved && S.current.size === 0 && e.onPick(Ri(t, n, u.peek(), d.peek(), a[0], a[1], qi * g.current));
		}, ee = W(0), O = (e) => {
			cancelAnimationFrame(ee.current), ee.current = requestAnimationFrame(() => {
				if (!u.peek()) return;
				let t = Ri(v.current.cloud, v.current.paint, u.peek(), d.peek(), e[0], e[1], qi * g.current);
				h.value = t < 0 ? null : {
					point: t,
					x: e[0] / g.current,
					y: e[1] / g.current
				};
			});
		}, k = (e) => {
			if (!u.peek()) return;
			e.preventDefault();
			let [t, n] = w(e);
			b(Br(u.peek(), d.peek(), Math.exp(-e.deltaY * (e.deltaMode ? .05 : .0015)), t, n));
		}, A = (r) => {
			if (r.ctrlKey || r.metaKey || !u.peek()) return;
			let i = 40 * g.current, a = {
				ArrowLeft: [i, 0],
				ArrowRight: [-i, 0],
				ArrowUp: [0, i],
				ArrowDown: [0, -i]
			}[r.key], { turn: o, scale: s, shift: c } = u.peek();
			if (a && (t.shape === "plane" || r.shiftKey)) b({
				turn: o,
				scale: s,
				shift: [c[0] + a[0], c[1] + a[1]]
			});
			else if (a) b({
				turn: Ir(o, a[0] / i * .1, a[1] / i * .1),
				scale: s,
				shift: c
			});
			else if (r.key === "+" || r.key === "=") e.handle.current.zoom(1.4);
			else if (r.key === "-") e.handle.current.zoom(1 / 1.4);
			else if (r.key === "0") x();
			else if (r.key === "Enter") e.onPick(Ri(t, n, u.peek(), d.peek(), d.peek().width / 2, d.peek().height / 2, 1e9));
			else return;
			r.preventDefault();
		}, j = h.value && !m.value ? e.hint(h.value.point) : null, M = g.current, N = u.value;
		return Z("div", {
			ref: c,
			class: `cloud ${i}`,
			tabIndex: 0,
			role: "application",
			"aria-roledescription": "scatter plot",
			"aria-label": e.summary,
			"data-renderer": p.value,
			onPointerDown: T,
			onPointerMove: E,
			onPointerUp: D,
			onPointerCancel: D,
			onPointerLeave: () => h.value = null,
			onWheel: k,
			onKeyDown: A,
			children: [
				N && d.value.width > 0 && e.shores && Z(ia, {
					cloud: t,
					shores: e.shores,
					camera: N,
					size: d.value,
					ratio: M
				}),
				N && d.value.width > 0 && Z(aa, {
					cloud: t,
					camera: N,
					size: d.value,
					ratio: M,
					names: s,
					marks: e.marks,
					picked: e.picked,
					drawing: m.value,
					theme: r,
					logs: e.logs,
					degrees: e.degrees,
					outlines: e.outlines,
					ground: e.ground,
					towns: e.towns
				}),
				j && h.value && Z("div", {
					class: "tip",
					style: {
						left: `${Math.min(h.value.x + 14, d.value.width / M - 230)}px`,
						top: `${Math.min(h.value.y + 14, d.value.height / M - 90)}px`
					},
					children: [Z("b", { children: [Z("i", { style: { background: j.colour } }), j.title] }), Z("span", { children: j.text })]
				})
			]
		});
	}
	function Qi(e) {
		return Math.min(31, Math.max(1, 2 * Math.round((e - 1) / 2) + 1));
	}
	function $i(e) {
		if (e.shape === "plane") return Pr;
		if (e.shape === "space") return Ir(Pr, .6, .4);
		let [t, n, r] = [
			0,
			0,
			0
		], i = Math.max(1, Math.floor(e.count / 2e4));
		for (let a = 0; a < e.count; a += i) e.positions[3 * a] === e.positions[3 * a] && (t += e.positions[3 * a], n += e.positions[3 * a + 1], r += e.positions[3 * a + 2]);
		return Lr(Math.atan2(t, r) * 180 / Math.PI, Math.atan2(n, Math.hypot(t, r)) * 180 / Math.PI);
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
		let a = e.shape === "sphere", o = ea(e, n, i), s = n.scale[0] / i, [c, l] = [r.width / i, r.height / i];
		return Z("svg", {
			class: "lands",
			width: c,
			height: l,
			"aria-hidden": "true",
			children: Z("g", {
				class: "shores",
				children: [a && s < c + l && Z("circle", {
					cx: c / 2 + n.shift[0] / i,
					cy: l / 2 + n.shift[1] / i,
					r: s
				}), t.map((e) => ei(e.kind, o) && Z("path", {
					class: e.kind,
					d: ti(e, n, r, i, a)
				}, e.kind))]
			})
		});
	}
	function aa({ cloud: e, camera: t, size: n, ratio: r, names: i, logs: a, marks: o, picked: s, drawing: c, theme: l, degrees: u, outlines: d, ground: f, towns: p }) {
		let [m, h] = [n.width / r, n.height / r], g = e.shape === "sphere", _ = (e, i, a) => {
			let [o, s, c] = Rr(t, n, e, i, a);
			return [
				o / r,
				s / r,
				c
			];
		}, v = s < 0 ? null : _(e.positions[3 * s], e.positions[3 * s + 1], e.positions[3 * s + 2]), y = G(() => sa(o.map((e) => ({
			mark: e,
			at: _(e.x, e.y, e.z)
		})), m, h, g), [
			o,
			t,
			n
		]), b = g ? [
			na,
			na,
			m - na,
			h - na
		] : [
			ta[0],
			24,
			m - na,
			h - ta[1]
		], x = y.map(({ mark: e, at: [t, n] }) => [
			t - oa(e),
			n - 10,
			t + oa(e),
			n + 10
		]);
		u && x.push(...ma(ca(e, t, n, r), u).map(({ left: e, right: t }) => [
			e,
			0,
			t,
			h
		]));
		let S = g && ba(t, n, m, _, x);
		return m >= Xi && x.push([
			m - ra[0],
			0,
			m,
			ra[1]
		]), Z("svg", {
			class: "over",
			width: m,
			height: h,
			"aria-hidden": "true",
			children: [
				e.shape === "plane" && f && Z(va, {
					ground: f,
					plane: ca(e, t, n, r)
				}),
				e.shape === "plane" && d && Z(_a, {
					outlines: d,
					plane: ca(e, t, n, r),
					theme: l
				}),
				e.shape === "plane" && Z(ha, {
					plane: ca(e, t, n, r),
					size: n,
					ratio: r,
					names: i,
					logs: a,
					degrees: u
				}),
				e.shape === "space" && Z(ya, {
					cloud: e,
					names: i,
					pixel: _,
					width: m,
					height: h
				}),
				S && Z("g", {
					class: "graticule",
					children: [S.paths.map((e, t) => Z("path", { d: e }, t)), S.labels.map(({ text: e, box: t }) => Z("text", {
						x: t[0],
						y: t[3] - 3,
						children: e
					}, e))]
				}),
				p && ei("coast", ea(e, t, r)) && ci(p, t, n, r, g, b, x).map(({ name: e, x: t, y: n, isLeft: r }, i) => Z("g", {
					class: "city",
					transform: `translate(${t} ${n})`,
					children: [Z("circle", { r: "2" }), Z("text", {
						x: r ? -5 : 5,
						y: "4",
						"text-anchor": r ? "end" : "start",
						children: e
					})]
				}, i)),
				y.map(({ mark: e, at: [t, n] }) => Z("g", {
					class: "mark",
					transform: `translate(${t} ${n})`,
					children: [Z("rect", {
						x: -oa(e),
						y: "-10",
						width: 2 * oa(e),
						height: "20",
						rx: "10",
						fill: e.colour
					}), Z("text", {
						y: "4",
						"text-anchor": "middle",
						children: e.text
					})]
				}, e.text)),
				v && v[2] >= (g ? 0 : -Infinity) && Z("circle", {
					class: "picked",
					cx: v[0],
					cy: v[1],
					r: "9"
				}),
				c && Z("polygon", {
					class: "lasso",
					points: c.map(([e, t]) => `${e / r},${t / r}`).join(" ")
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
		let r = on(e, t, n), i = r.length > 1 ? r[1] - r[0] : 1;
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
		return sn(r(e), r(t), n).map((e) => [Math.log10(e), X(e, 6)]);
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
	function ha({ plane: e, size: t, ratio: n, names: r, logs: i = [], degrees: a }) {
		let { toX: o, toY: s, fromX: c, fromY: l } = e, [u, d] = [t.width / n, t.height / n], f = [Math.max(2, Math.floor(u / 110)), Math.max(2, Math.floor(d / 80))], p = a ? da(o(0), o(u), f[0], a.breaks) : i[0] ? pa(o(0), o(u), f[0]) : on(o(0), o(u), f[0]).map((e) => [e, X(e, 6)]), m = a ? ua(s(d), s(0), f[1]) : i[1] ? pa(s(d), s(0), f[1]) : on(s(d), s(0), f[1]).map((e) => [e, X(e, 6)]);
		return Z(x, { children: [ma(e, a).map(({ left: e, right: t, text: n }) => Z("g", {
			class: "gutter",
			children: [Z("rect", {
				x: e,
				y: "0",
				width: Math.max(1, t - e),
				height: d
			}), Z("text", {
				transform: `translate(${(e + t) / 2 + 4} ${d / 2}) rotate(-90)`,
				"text-anchor": "middle",
				children: n
			})]
		}, e)), Z("g", {
			class: "axis",
			children: [
				p.map(([e, t]) => {
					let n = c(e);
					return n < 34 || n > u - 20 ? null : Z("g", { children: [Z("line", {
						x1: n,
						x2: n,
						y1: d - 5,
						y2: d
					}), Z("text", {
						x: n,
						y: d - 8,
						"text-anchor": "middle",
						children: t
					})] }, e);
				}),
				r[1] && m.map(([e, t]) => {
					let n = l(e);
					return n < 26 || n > d - 24 ? null : Z("g", { children: [Z("line", {
						x1: 0,
						x2: 5,
						y1: n,
						y2: n
					}), Z("text", {
						x: 8,
						y: n + 4,
						children: t
					})] }, e);
				}),
				Z("text", {
					class: "name",
					x: u - 8,
					y: d - 24,
					"text-anchor": "end",
					children: [r[0], " →"]
				}),
				r[1] && Z("text", {
					class: "name",
					x: 8,
					y: 16,
					children: ["↑ ", r[1]]
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
		return Z("g", {
			class: "outlines",
			children: e.map((e) => Z("g", {
				stroke: ut(e.group, n),
				fill: ut(e.group, n),
				children: [Z("path", {
					d: ga(e, 1, t),
					"fill-opacity": ".07"
				}), Z("path", {
					d: ga(e, 2, t),
					"fill-opacity": "0",
					"stroke-dasharray": "5 4"
				})]
			}, e.group))
		});
	}
	function va({ ground: e, plane: { fromX: t, fromY: n } }) {
		let { columns: r, rows: i, low: a, high: o, shade: s } = e, c = (e) => t(a[0] + (o[0] - a[0]) * e / r), l = (e) => n(a[1] + (o[1] - a[1]) * e / i);
		return Z("g", {
			class: "ground",
			children: Array.from({ length: r * i }, (e, t) => {
				let [n, r] = [Math.floor(t / i), t % i];
				return Z("rect", {
					x: c(n),
					y: l(r + 1),
					width: c(n + 1) - c(n),
					height: l(r) - l(r + 1),
					"fill-opacity": (.65 * s[t]).toFixed(3)
				}, t);
			})
		});
	}
	function ya({ cloud: e, names: t, pixel: n, width: r, height: i }) {
		let [a, ...o] = jr(e), [s, c] = n(...a);
		return Z("g", {
			class: "axis",
			children: o.map((e, a) => {
				let [o, l] = n(...e);
				return Z("g", { children: [Z("line", {
					x1: s,
					y1: c,
					x2: o,
					y2: l
				}), Z("text", {
					class: "name",
					x: Math.min(r - 8 - 7 * t[a].length, Math.max(8, o + 4)),
					y: Math.min(i - 8, Math.max(16, l - 4)),
					children: t[a]
				})] }, a);
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
				let [e, o, s] = r(...Nr(i, a));
				s < 0 ? n = !1 : (t += `${n ? "L" : "M"}${e.toFixed(1)} ${o.toFixed(1)}`, n = !0);
			}
			return t;
		}, f = Math.max(s / 4, .05), p = (e, t, n) => Array.from({ length: Math.min(800, Math.floor((t - e) / n) + 1) }, (t, r) => e + r * n), m = Math.min(180, u / Math.max(.2, Math.cos(Math.abs(l.latitude) * Math.PI / 180))), h = Math.max(-90, l.latitude - u), g = Math.min(90, l.latitude + u), _ = p(Math.ceil((l.longitude - m) / s) * s, l.longitude + m, s), v = p(Math.ceil(h / s) * s, g, s), y = (e) => String(Number(e.toFixed(2))), b = [], x = (e, t, a) => {
			let [o, s, c] = r(...Nr(e, t)), l = [
				o + 3,
				s - 15,
				o + 3 + 7 * a.length,
				s
			];
			c > 0 && l[0] >= 0 && l[2] <= n && !i.some((e) => ni(l, e, 2, 0)) && (b.push({
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
		let c = Math.min(2, devicePixelRatio || 1), [l, u] = [s.width / c, s.height / c], d = Qt(e.querySelector(".over"), l, u + 30, lt[i]), f = Zt("g", {});
		if (n.count <= xa) {
			let e = Qi(a * c) / c / 2, t = new Map();
			for (let e = 0; e < n.count; e++) {
				if (!(r[e] >>> 24)) continue;
				let [i, a, l] = Rr(o, s, n.positions[3 * e], n.positions[3 * e + 1], n.positions[3 * e + 2]);
				!(i >= 0 && a >= 0 && i <= s.width && a <= s.height) || n.shape === "sphere" && l < 0 || t.set(r[e], `${t.get(r[e]) ?? ""}M${(i / c).toFixed(2)} ${(a / c).toFixed(2)}h0`);
			}
			for (let [n, r] of [...t].sort(([e], [t]) => (e >>> 24) - (t >>> 24))) {
				let t = `#${[
					n & 255,
					n >> 8 & 255,
					n >> 16 & 255
				].map((e) => e.toString(16).padStart(2, "0")).join("")}`;
				f.append(Zt("path", {
					d: r,
					stroke: t,
					"stroke-width": String(2 * e),
					"stroke-linecap": "round",
					fill: "none"
				}));
			}
		} else f.append(Zt("image", {
			href: e.querySelector("canvas").toDataURL("image/png"),
			width: String(l),
			height: String(u)
		}));
		let p = d.querySelector(".ground");
		p ? p.after(f) : d.querySelector("rect").after(f);
		let m = e.querySelector(".lands");
		if (m) {
			let e = Zt("svg", {
				width: String(l),
				height: String(u)
			});
			e.append(Qt(m, l, u, lt[i]).querySelector(".shores")), f.before(e);
		}
		let h = Zt("text", {
			x: "10",
			y: String(u + 20),
			"font-size": "12",
			"font-family": "system-ui, sans-serif",
			fill: i === "light" ? "#565d66" : "#a9b1ba"
		});
		return h.textContent = t, d.append(h), d;
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
	function Oa({ suffix: e, columns: t, grouping: n, kept: r, chosen: i, recipe: a, close: o }) {
		let s = !i || i === r.rows, c = s ? r.rows.map((e) => 1 - e) : i, l = s ? "all other rows" : a, u = s ? 0 : r.rows.reduce((e, t, n) => e + (t & c[n]), 0), d = (e, t) => t ? `${X(100 * e / t, 3)} %` : "–", [f, p] = [Ea(r.rows), Ea(c)];
		return Z("section", {
			class: "card chosen",
			"aria-labelledby": `compare${e}`,
			children: [
				Z("div", {
					class: "head",
					children: [Z("div", { children: [Z("h2", {
						id: `compare${e}`,
						children: "A and B"
					}), Z("p", {
						class: "note",
						children: [
							"A: ",
							Y(f),
							" rows, ",
							r.recipe,
							". B: ",
							Y(p),
							" rows, ",
							l,
							".",
							u ? ` ${Y(u)} rows are in both.` : "",
							" ",
							s ? "Select other rows to compare A with them." : ""
						]
					})] }), Z("div", {
						class: "tools",
						children: Z("button", {
							type: "button",
							onClick: o,
							children: "End the comparison"
						})
					})]
				}),
				Z(Si, {
					caption: "Columns of A and B, those that differ most first",
					names: [
						"column",
						"mean of A",
						"mean of B",
						"difference in standard deviations"
					],
					rows: wa(t, r.rows, c).map(({ name: e, a: t, b: n, effect: r }) => [
						e,
						t,
						n,
						Number.isNaN(r) ? "–" : Number(r.toPrecision(3))
					])
				}),
				n && n.groups.length > 1 && Z(Si, {
					caption: `${n.title} of A and B`,
					names: [
						n.title,
						"rows of A",
						"share of A",
						"rows of B",
						"share of B"
					],
					rows: Ta(n, r.rows, c).slice(0, Da).map((e) => [
						e.name,
						e.a,
						d(e.a, f),
						e.b,
						d(e.b, p)
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
		return Z("svg", {
			class: "icon",
			viewBox: "0 0 24 24",
			width: "18",
			height: "18",
			"aria-hidden": "true",
			children: Z("path", { d: ka[e] })
		});
	}
	// src/views/scene.tsx
	var ja = 40, Ma = 16, Na = 6, Pa = 24, Fa = 200, Ia = "sure:";
	function La(e, t = e[0]?.key) {
		return e.find((e) => e.key === (t?.startsWith(Ia) ? t.slice(5) : t));
	}
	function Ra(e, t) {
		return e.find((e) => e.kind !== "text" && t.test(e.name));
	}
	function za({ source: e, settings: t, settle: n, choice: r, asked: i }) {
		let a = zt.value, { name: o, columns: s, sources: c, layouts: l, suffix: u = "" } = e, d = s.columns.filter((e) => e.kind !== "text"), f = Ra(d, /^(lon|lng|long|longitude)$/i), p = Ra(d, /^(lat|latitude)$/i), m = d.filter((t) => t.name !== e.id && t.name !== e.weights), h = m.length >= 2 ? m : d, g = (e, t) => d.find((t) => t.name === e) ?? t, _ = l.map((e) => [e.key, e.title]);
		f && p && _.push(["sphere", "sphere"]), h.length >= 2 && _.push(["flat", "columns"]);
		let v = _.find(([e]) => e === t.view)?.[0] ?? _[0]?.[0] ?? "flat", y = l.find((e) => e.key === v), b = v === "sphere", S = y?.x ?? g(t.x, f ?? h[0]), C = y?.y ?? g(t.y, p ?? h[1] ?? h[0]), w = y ? y.z : t.z ? d.find((e) => e.name === t.z) : void 0, T = t.colour ?? c[0]?.key ?? e.colour ?? "", E = y ? y.isEqual : S === f && C === p || e.isEqual, D = t.edge !== "no" && !y?.degrees, ee = [
			S,
			C,
			...w ? [w] : []
		], O = G(() => ee.map((e) => !y && !b && !E && Er(e.values)), [
			S,
			C,
			w,
			b,
			E
		]), k = t.log === "no" ? ee.map(() => !1) : O, A = t.log !== "no" && O.includes(!0), j = G(() => b ? Mr(f.values, p.values) : kr(ee.map((e, t) => k[t] ? Or(e) : e), {
			isEqual: E,
			stretch: y?.stretch,
			isEdged: D
		}), [
			b,
			S,
			C,
			w,
			E,
			D,
			A
		]), M = y ? y.degrees : !b && S === f && C === p && !w ? { breaks: [] } : void 0, N = b || M !== void 0;
		U(() => {
			N && e.coast && di(e.coast);
		}, [N]);
		let P = G(() => {
			if (!N || !li.value) return null;
			if (b) return {
				shores: qr(li.value),
				towns: Yr(li.value)
			};
			let [e, t] = [S, C].map((e) => br(e.values)), n = M.breaks;
			if (!e || !t) return null;
			let r = n.reduce((e, [t, n, r]) => e + n - t - r, e[1]);
			if (!Wr([e[0], r], t)) return null;
			let i = e[0] >= -180 && r <= 180 ? -180 : (e[0] + r) / 2 - 180;
			return {
				shores: Zr(li.value, j, i, n),
				towns: Xr(li.value, j, i, n)
			};
		}, [
			li.value,
			j,
			N
		]), F = J(null), te = J(null), I = T.startsWith(Ia), L = La(c, T);
		U(() => {
			let e = new AbortController();
			return te.value = null, (async () => {
				try {
					if (L) {
						let t = L.ready ?? await L.load(e.signal);
						e.signal.aborted || (F.value = t);
					} else {
						let e = T.startsWith("column:") ? s.columns.find((e) => e.name === T.slice(7)) : void 0;
						F.value = e ? Tt(e) : null;
					}
				} catch (t) {
					e.signal.aborted || ([te.value, F.value] = [t, null]);
				}
			})(), () => e.abort();
		}, [L?.key ?? T, L?.version]);
		let R = J(null), ne = J([]), z = J(new Set()), B = J(-1), re = J("move"), V = J(0), ie = W(null), ae = J(new Map()), oe = J(null), se = L?.ready ?? (F.value?.groupOf.length === s.rows ? F.value : null), ce = se?.groups.some(({ joins: e }) => e) ? se.groups.filter(({ number: e }) => e >= 0).length : 0, le = Number(t.merged) >= 1 && Number(t.merged) < ce ? Number(t.merged) : 0, H = G(() => {
			let e = se && le ? xt(se, le) : se && I ? Ct(se) : se;
			return e && ae.value.size ? {
				...e,
				groups: e.groups.map((e) => ae.value.has(e.number) ? {
					...e,
					name: ae.value.get(e.number),
					isMerged: !1
				} : e)
			} : e;
		}, [
			se,
			I,
			le,
			ae.value
		]);
		U(() => {
			z.value = new Set(), ae.value = new Map();
		}, [se?.title, le]);
		let ue = (e) => H !== null && z.value.size > 0 && z.value.has(H.groupOf[e]), de = G(() => Ha(j, s.rows, H, R.value, z.value, a), [
			j,
			H,
			R.value,
			z.value,
			a
		]), fe = G(() => R.value ? R.value.reduce((e, t) => e + t, 0) : 0, [R.value]), pe = G(() => Ua(j, H, z.value, a), [
			j,
			H,
			z.value,
			a
		]), me = G(() => B.value < 0 ? -1 : j.rowOf.indexOf(B.value), [j, B.value]), he = (e, t, n) => {
			let r = t === "replace" || !R.value ? new Uint8Array(s.rows) : R.value.slice();
			for (let n of e) r[n] = t === "subtract" ? 0 : 1;
			let i = r.includes(1);
			Ee(() => {
				R.value = i ? r : null;
				let e = {
					replace: "",
					add: "and ",
					subtract: "without "
				}[t];
				ne.value = i ? t === "replace" ? [n] : [...ne.value, `${e}${n}`] : [];
			}), Lt(i ? `${Y(r.reduce((e, t) => e + t, 0))} rows selected.` : "Nothing is selected.");
		}, ge = () => Ee(() => [R.value, ne.value, B.value] = [
			null,
			[],
			-1
		]), _e = () => {
			if (!R.value) return;
			let e = R.value.map((e, t) => e || ue(t) ? 0 : 1);
			R.value = e.includes(1) ? e : null, ne.value = [...ne.value, "inverted"];
		}, ve = function* (e) {
			for (let t = 0; t < s.rows; t++) H.groupOf[t] === e && (yield t);
		}, ye = (e, t) => he(ve(e), t, `${L ? "cluster " : `${H.title} `}${H.groups[e].name}`), be = (e, t) => he(wt(H, e), t, `probability below ${e}`), xe = () => {
			if (!R.value || !H) return;
			let e = new Set(z.value);
			R.value.forEach((t, n) => t && e.add(H.groupOf[n])), e.size < H.groups.length && (z.value = e);
		}, Se = (e) => {
			if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName)) return;
			let t = {
				l: () => re.value = "lasso",
				b: () => re.value = "box",
				m: () => re.value = "move",
				i: _e,
				h: xe,
				Escape: ge,
				f: () => ie.current?.fit()
			}[e.key];
			t && (e.preventDefault(), t());
		}, Ce = i?.value;
		U(() => {
			if (!Ce || !H) return;
			let e = H.groups.findIndex((e) => e.number === Ce.group);
			e >= 0 && he(ve(e), "replace", `cluster ${H.groups[e].name}`);
		}, [Ce]);
		let we = G(() => h, [s]), Te = !e.sampled && H !== null && H.groups.length > 0 && we.length > 0, De = V.value || (s.rows > 3e5 ? 1 : s.rows > 3e4 ? 2 : s.rows > 3e3 ? 4 : s.rows > 500 ? 7 : 9), K = (t) => s.columns.filter((t) => t.name !== e.id).slice(0, 6).map((e) => `${e.name} ${e.kind === "text" ? e.values[t] : X(e.values[t], 6)}`).join(" · "), Oe = s.columns.find((t) => t.name === e.id), ke = (t) => e.titleOf ? e.titleOf(t) : Oe ? String(Oe.kind === "text" ? Oe.values[t] : X(Oe.values[t], 12)) : `row ${Y(t + 1)}`, Ae = (e) => {
			let t = H?.groups[H.groupOf[e]];
			return t ? t.name : "";
		}, je = `${o}: ${y ? y.title : b ? "positions on the sphere" : `${S.name} and ${C.name}${w ? ` and ${w.name}` : ""}`}${H ? `, coloured by ${H.isSure ? "how sure they are in " : ""}${H.title}` : ""}; ${Y(s.rows)} rows`, Me = `${je}.${H?.groups.length ? ` ${H.groups.length} groups; the list beside the picture has them all.` : ""}${fe ? ` ${Y(fe)} rows are selected; the table below has them.` : ""} Arrow keys move, plus and minus zoom, Enter picks the middle point.`;
		return Z("div", {
			class: "scene",
			style: { gridTemplateRows: Te ? "auto 1fr" : void 0 },
			onKeyDown: Se,
			children: [
				Z("section", {
					class: "card picture",
					"aria-label": "Picture",
					children: [
						Z("div", {
							class: "tools choices",
							children: [r, Z(Va, {
								columns: s,
								numbers: d,
								x: S.name,
								y: C.name,
								z: w?.name ?? "",
								view: v,
								views: _,
								sources: c,
								colourKey: T,
								settle: n
							})]
						}),
						Z("div", {
							class: "framed",
							inert: e.sampled !== void 0,
							children: [Z("div", {
								class: "stage",
								children: Z(Zi, {
									cloud: j,
									paint: de,
									theme: a,
									tool: re.value,
									isEqual: E || y?.stretch !== void 0,
									pointWidth: De,
									degrees: y?.degrees ?? (P ? M : void 0),
									shores: P?.shores,
									towns: P?.towns,
									ground: y?.ground,
									outlines: H && y?.outlines && y.outlines.filter(({ group: e }) => !z.value.has(e)),
									names: [
										0,
										1,
										2
									].map((e) => ee[e] ? `${ee[e].name}${k[e] ? " (log)" : ""}` : ""),
									logs: k,
									summary: Me,
									caption: je,
									marks: pe,
									picked: me,
									forced: t.renderer,
									handle: ie,
									onSelect: (e, t, n) => he(Ba(e, (e) => j.rowOf[e]), t, n),
									onPick: (e) => B.value = e < 0 ? -1 : j.rowOf[e],
									hint: (e) => {
										let t = j.rowOf[e], n = H?.groups.length ? Ae(t) : "";
										return {
											title: n && n !== "no cluster" && n !== "no value" ? `${L ? "Cluster " : ""}${n} · ${ke(t)}` : ke(t),
											text: `${H?.isSure ? `probability ${X(H.probability[t], 3)} · ` : ""}${K(t)}`,
											colour: Dt(H, t, a)
										};
									}
								})
							}), Z("div", {
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
									].map(([e, t, n]) => Z("button", {
										type: "button",
										"aria-pressed": re.value === e,
										title: n,
										"aria-label": n,
										onClick: () => re.value = e,
										children: Z(Aa, { name: t })
									}, e)),
									Z("button", {
										type: "button",
										title: "Zoom in (+)",
										"aria-label": "Zoom in",
										onClick: () => ie.current?.zoom(1.5),
										children: Z(Aa, { name: "plus" })
									}),
									Z("button", {
										type: "button",
										title: "Zoom out (-)",
										"aria-label": "Zoom out",
										onClick: () => ie.current?.zoom(1 / 1.5),
										children: Z(Aa, { name: "minus" })
									}),
									Z("button", {
										type: "button",
										title: "Fit all (F)",
										"aria-label": "Fit all",
										onClick: () => ie.current?.fit(),
										children: Z(Aa, { name: "fit" })
									})
								]
							})]
						}),
						e.sampled ? Z("p", {
							class: "note",
							children: ["A sample. ", e.sampled]
						}) : Z("div", {
							class: "tools under",
							children: [
								Z("label", { children: ["Point size", Z("input", {
									type: "range",
									min: "1",
									max: "15",
									step: "1",
									value: De,
									onInput: (e) => V.value = Number(e.currentTarget.value)
								})] }),
								Z(nn, {
									name: o,
									make: () => ie.current.svg(),
									fail: (e) => te.value = e
								}),
								Z("span", {
									class: "note",
									children: re.value === "move" ? j.shape === "plane" ? "Drag to move, scroll to zoom, click a point to see its row." : "Drag to turn, Shift and drag to move, scroll to zoom." : "Drag around points. Shift adds, Alt takes away."
								})
							]
						}),
						j.missing > 0 && Z("p", {
							class: "note",
							children: [
								Y(j.missing),
								" ",
								j.missing === 1 ? "row has" : "rows have",
								" a missing value in these columns and ",
								j.missing === 1 ? "is" : "are",
								" not drawn."
							]
						}),
						(j.beyond > 0 || t.edge === "no") && Z("p", {
							class: "note",
							children: [j.beyond > 0 ? `${Y(j.beyond)} ${j.beyond === 1 ? "row lies" : "rows lie"} farther out and ${j.beyond === 1 ? "is" : "are"} drawn at the edge. ` : "", Z("button", {
								type: "button",
								class: "link",
								onClick: () => n({ edge: t.edge === "no" ? null : "no" }),
								children: t.edge === "no" ? "Draw rows that lie far out at the edge" : "Show where they lie"
							})]
						}),
						O.includes(!0) && Z("p", {
							class: "note",
							children: [A ? `${ee.filter((e, t) => k[t]).map(({ name: e }) => e).join(" and ")}: drawn by the logarithm, since most values lie near the low end. ` : "", Z("button", {
								type: "button",
								class: "link",
								onClick: () => n({ log: A ? "no" : null }),
								children: A ? "Draw values as they are" : "Draw crowded values by their logarithm"
							})]
						}),
						y?.note && Z("p", {
							class: "note",
							children: y.note
						}),
						Z(xi, { error: te.value })
					]
				}),
				Z("aside", {
					class: "side",
					style: { gridRow: Te ? "span 2" : void 0 },
					children: !e.sampled && Z(x, { children: [
						B.value >= 0 && Z(Qa, {
							suffix: u,
							columns: s,
							row: B.value,
							title: ke(B.value),
							cluster: H?.groups.length ? `${mt(H.title)}: ${Ae(B.value)}` : "",
							probability: H?.probability?.[B.value] ?? null,
							close: () => B.value = -1
						}),
						H?.isSure && Z(Xa, {
							suffix: u,
							grouping: H,
							theme: a,
							choose: be
						}),
						H && H.groups.length > 0 && Z(Ka, {
							suffix: u,
							grouping: H,
							rows: s.rows,
							theme: a,
							hidden: z.value,
							isOfJob: L !== void 0,
							hide: (e) => z.value = e,
							rename: (e, t) => ae.value = new Map(ae.value).set(e, t),
							most: ce,
							merge: (e) => n({ merged: e < ce ? String(e) : null }),
							choose: ye
						}),
						H && L?.hasProbability && H.probability && !H.isSure && Z(Xa, {
							suffix: u,
							grouping: H,
							theme: a,
							choose: be
						}),
						H?.outliers && H.outliers.length > 0 && Z(Ja, {
							suffix: u,
							outliers: H.outliers,
							titleOf: ke,
							pick: (e) => B.value = e,
							choose: () => he(H.outliers.map(({ row: e }) => e), "replace", "out of the ordinary")
						}),
						H?.scale && !H.isSure && Z(Za, {
							title: H.title,
							...H.scale,
							theme: a
						}),
						!H && Z("div", {
							class: "card",
							children: [Z("p", {
								class: "note",
								children: "Choose under \"Colour\" what points are coloured by. Clusters appear here when a job has found some."
							}), e.find && !c.length && Z("p", {
								class: "note",
								children: Z("a", {
									class: "button",
									href: e.find,
									children: "Find clusters"
								})
							})]
						})
					] })
				}),
				Te && Z(Ni, {
					suffix: u,
					columns: we,
					grouping: H,
					hidden: z.value,
					theme: a,
					column: t.box,
					settle: (e) => n({ box: e }),
					nameOf: (e) => Wa(H.groups[e], L !== void 0),
					choose: ye
				}),
				oe.value && Z(Oa, {
					suffix: u,
					columns: s,
					grouping: H,
					kept: oe.value,
					chosen: R.value,
					recipe: ne.value.join(", "),
					close: () => oe.value = null
				}),
				R.value && Z($a, {
					keep: () => oe.value = {
						rows: R.value,
						recipe: ne.value.join(", ")
					},
					source: e,
					titleOf: ke,
					columns: s,
					chosen: R.value,
					total: fe,
					recipe: ne.value,
					grouping: L ? H : null,
					clear: ge,
					invert: _e,
					pick: (e) => B.value = e,
					picked: B.value
				})
			]
		});
	}
	function* Ba(e, t) {
		for (let n of e) yield t(n);
	}
	function Va({ columns: e, numbers: t, x: n, y: r, z: i, view: a, views: o, sources: s, colourKey: c, settle: l }) {
		let u = (e, n, r) => Z("label", { children: [e, Z("select", {
			value: r,
			onChange: (e) => l({ [n]: e.currentTarget.value }),
			children: [n === "z" && Z("option", {
				value: "",
				children: "none"
			}), t.map((e) => Z("option", {
				value: e.name,
				children: e.name
			}, e.name))]
		})] });
		return Z(x, { children: [
			Z("label", { children: ["Colour", Z("select", {
				value: c || "none",
				onChange: (e) => l({
					colour: e.currentTarget.value || "none",
					merged: null
				}),
				children: [
					Z("option", {
						value: "none",
						children: "one colour"
					}),
					s.map((e) => Z(x, { children: [Z("option", {
						value: e.key,
						children: e.title
					}), e.hasProbability && Z("option", {
						value: Ia + e.key,
						children: ["how sure: ", e.title.replace("clusters of ", "")]
					})] }, e.key)),
					e.columns.map((e) => Z("option", {
						value: `column:${e.name}`,
						children: ["column ", e.name]
					}, e.name))
				]
			})] }),
			o.length > 1 && Z("label", { children: ["View", Z("select", {
				value: a,
				onChange: (e) => l({ view: e.currentTarget.value === o[0][0] ? null : e.currentTarget.value }),
				children: o.map(([e, t]) => Z("option", {
					value: e,
					children: t
				}, e))
			})] }),
			a === "flat" && Z(x, { children: [
				u("Across", "x", n),
				u("Upwards", "y", r),
				t.length > 2 && u("Depth", "z", i)
			] })
		] });
	}
	function Ha(e, t, n, r, i, a) {
		let o = new Uint32Array(e.count), s = n?.groups.map((e) => _n(Et(e, a), 255)) ?? [], c = _n(Dt(n && !n.scale ? {
			...n,
			groups: []
		} : null, 0, a), 255), l = Array.from({ length: 256 }, (e, t) => _n(ft(t / 255, a), 255)), u = _n(ft(NaN, a), 255), d = _n(ct[a], 254);
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
	function Ua(e, t, n, r) {
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
				colour: t.place === void 0 ? Et(t, r) : "var(--soft)",
				x: n / s,
				y: i / s,
				z: a / s
			};
		});
	}
	function Wa({ number: e, name: t, isMerged: n }, r) {
		return e < 0 || !r || t !== String(e) && !n ? t : `${n ? "Clusters" : "Cluster"} ${t}`;
	}
	function Ga({ probability: e, partners: t }) {
		let n = t?.split("+") ?? [], r = n.length > Na ? `${n.slice(0, Na).join("+")} and ${Y(n.length - Na)} more` : t;
		return [...e === void 0 ? [] : [`sure ${e.toFixed(2)}`], ...r ? [`merges with ${r}`] : []].join(", ");
	}
	function Ka({ suffix: e, grouping: t, rows: n, theme: r, hidden: i, isOfJob: a, most: o, hide: s, rename: c, merge: l, choose: u }) {
		let d = J(!1), f = J(null), p = J(""), m = t.groups.map((e, t) => t), h = m.filter((e) => t.groups[e].name.toLowerCase().includes(p.value.trim().toLowerCase())), g = d.value ? h : h.slice(0, ja), _ = (e) => {
			let t = new Set(i);
			t.delete(e) || t.add(e), s(t);
		}, v = (e) => !i.has(e) && i.size === m.length - 1, y = t.groups.filter((e) => e.number >= 0).length;
		return Z("section", {
			class: "card",
			"aria-labelledby": `groups${e}`,
			children: [
				Z("div", {
					class: "head tight",
					children: [Z("h2", {
						id: `groups${e}`,
						children: [
							a ? "Clusters" : t.title,
							" ",
							Z("span", {
								class: "soft",
								children: Y(y)
							})
						]
					}), i.size > 0 && Z("button", {
						type: "button",
						onClick: () => s(new Set()),
						children: "Show all"
					})]
				}),
				o > 2 && Z("label", {
					class: "merged",
					title: "Clusters merge in the order in which that raises the squared distances least (Ward's rule)",
					children: [
						"Show ",
						Z("input", {
							type: "range",
							min: "1",
							max: o,
							step: "1",
							value: y,
							"aria-valuetext": `${y} of ${o} clusters`,
							onInput: (e) => l(Number(e.currentTarget.value))
						}),
						y < o ? `${Y(y)} of ${Y(o)}` : `all ${Y(o)}`
					]
				}),
				t.groups.length > ja && Z("label", { children: [Z("span", {
					class: "unseen",
					children: ["Search ", a ? "clusters" : t.title]
				}), Z("input", {
					type: "search",
					placeholder: "Search",
					value: p.value,
					onInput: (e) => p.value = e.currentTarget.value
				})] }),
				Z("ul", {
					class: "groups",
					children: g.map((e) => {
						let o = t.groups[e], l = Wa(o, a), d = Ga(o);
						return f.value === o.number ? Z("li", { children: Z("form", {
							class: "inline",
							onSubmit: (e) => {
								e.preventDefault();
								let t = e.currentTarget.querySelector("input").value.trim();
								c(o.number, t || String(o.number)), f.value = null;
							},
							children: [Z("input", {
								"aria-label": `New name of ${l}`,
								defaultValue: o.name,
								maxLength: 80,
								ref: (e) => e?.focus(),
								onKeyDown: (e) => e.key === "Escape" && (e.stopPropagation(), f.value = null)
							}), Z("button", {
								type: "submit",
								children: "Name"
							})]
						}) }, o.number) : Z("li", {
							class: i.has(e) ? "off" : "",
							children: [
								Z("button", {
									type: "button",
									class: "name",
									title: "Select its rows. Shift adds, Alt takes away.",
									onClick: (t) => u(e, t.altKey ? "subtract" : t.shiftKey ? "add" : "replace"),
									children: [
										Z("i", {
											class: "swatch",
											style: { background: Et(o, r) }
										}),
										Z("span", {
											class: "text",
											children: l
										}),
										Z("span", {
											class: "number",
											children: Y(o.rows)
										}),
										Z("span", {
											class: "number soft",
											children: [X(100 * o.rows / n, 2), " %"]
										}),
										o.about && Z("small", { children: o.about }),
										d && Z("small", {
											title: "The mean probability of its rows; the clusters with which it would merge first",
											children: d
										})
									]
								}),
								a && o.number >= 0 && Z("button", {
									type: "button",
									class: "bare",
									title: `Rename ${l}`,
									"aria-label": `Rename ${l}`,
									onClick: () => f.value = o.number,
									children: Z(Aa, { name: "pen" })
								}),
								Z("button", {
									type: "button",
									class: "bare",
									"aria-pressed": v(e),
									title: `Show only ${l}`,
									"aria-label": `Show only ${l}`,
									onClick: () => s(v(e) ? new Set() : new Set(m.filter((t) => t !== e))),
									children: Z(Aa, { name: "only" })
								}),
								Z("button", {
									type: "button",
									class: "bare",
									"aria-pressed": i.has(e),
									title: `Hide ${l}`,
									"aria-label": `Hide ${l}`,
									onClick: () => _(e),
									children: Z(Aa, { name: i.has(e) ? "hidden" : "shown" })
								})
							]
						}, o.number);
					})
				}),
				h.length > g.length && Z("button", {
					type: "button",
					onClick: () => d.value = !0,
					children: ["Show all ", Y(h.length)]
				})
			]
		});
	}
	var qa = 12;
	function Ja({ suffix: e, outliers: t, titleOf: n, pick: r, choose: i }) {
		return Z("section", {
			class: "card",
			"aria-labelledby": `far${e}`,
			children: [
				Z("div", {
					class: "head tight",
					children: [Z("h2", {
						id: `far${e}`,
						children: ["Outliers ", Z("span", {
							class: "soft",
							children: Y(t.length)
						})]
					}), Z("button", {
						type: "button",
						onClick: i,
						children: "Select them"
					})]
				}),
				Z("p", {
					class: "note",
					children: "Rows unusually far from the centre of their cluster, and the columns that make it so."
				}),
				Z("ul", {
					class: "plainlist",
					children: t.slice(0, qa).map(({ row: e, cluster: t, about: i }) => Z("li", { children: [
						Z("button", {
							type: "button",
							class: "link",
							onClick: () => r(e),
							children: n(e)
						}),
						" ",
						Z("span", {
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
				t.length > qa && Z("p", {
					class: "note",
					children: [
						"The farthest ",
						qa,
						" of ",
						Y(t.length),
						"."
					]
				})
			]
		});
	}
	var Ya = .8;
	function Xa({ suffix: e, grouping: t, theme: n, choose: r }) {
		let i = J(Ya), a = G(() => {
			let e = 0;
			for (let n of wt(t, i.value)) e++;
			return e;
		}, [t, i.value]), o = t.scale?.gaps ?? 0;
		return Z("section", {
			class: "card",
			"aria-labelledby": `sure${e}`,
			children: [
				Z("h2", {
					id: `sure${e}`,
					children: "How sure"
				}),
				t.isSure && Z(x, { children: [
					Z("div", {
						class: "ramp",
						"aria-hidden": "true",
						children: Array.from({ length: 24 }, (e, t) => Z("i", { style: { background: ft(1 - t / 23, n) } }, t))
					}),
					Z("p", {
						class: "ends",
						children: [Z("span", { children: [.5, " or less, unsure"] }), Z("span", { children: "1, sure" })]
					}),
					o > 0 && Z("p", {
						class: "note",
						children: [
							Y(o),
							" ",
							o === 1 ? "row is" : "rows are",
							" in no cluster, and grey."
						]
					})
				] }),
				Z("p", {
					class: "note",
					children: "The probability that a row belongs to its cluster, and not to a neighbouring one."
				}),
				Z("div", {
					class: "tools",
					children: [Z("label", {
						class: "check",
						children: [
							"Below ",
							i.value.toFixed(2),
							Z("input", {
								type: "range",
								min: "0",
								max: "1",
								step: "0.01",
								value: i.value,
								onInput: (e) => i.value = Number(e.currentTarget.value)
							})
						]
					}), Z("button", {
						type: "button",
						disabled: a === 0,
						title: "Select these rows. Shift adds, Alt takes away.",
						onClick: (e) => r(i.value, e.altKey ? "subtract" : e.shiftKey ? "add" : "replace"),
						children: [
							"Select ",
							Y(a),
							" ",
							a === 1 ? "row" : "rows"
						]
					})]
				})
			]
		});
	}
	function Za({ title: e, low: t, high: n, isLog: r, gaps: i, theme: a }) {
		return Z("section", {
			class: "card",
			"aria-label": `Scale of ${e}`,
			children: [
				Z("h2", { children: e }),
				Z("div", {
					class: "ramp",
					"aria-hidden": "true",
					children: Array.from({ length: 24 }, (e, t) => Z("i", { style: { background: ft(t / 23, a) } }, t))
				}),
				Z("p", {
					class: "ends",
					children: [
						Z("span", { children: X(t) }),
						Z("span", { children: r ? "logarithmic" : "" }),
						Z("span", { children: X(n) })
					]
				}),
				i > 0 && Z("p", {
					class: "note",
					children: [
						Y(i),
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
	function Qa({ suffix: e, columns: t, row: n, title: r, cluster: i, probability: a, close: o }) {
		return Z("section", {
			class: "card",
			"aria-labelledby": `picked${e}`,
			"aria-live": "polite",
			children: [
				Z("div", {
					class: "head tight",
					children: [Z("h2", {
						id: `picked${e}`,
						children: r
					}), Z("button", {
						type: "button",
						class: "bare",
						"aria-label": "Close",
						onClick: o,
						children: Z(Aa, { name: "close" })
					})]
				}),
				i && Z("p", {
					class: "note",
					children: [i, a === null ? "" : `, probability ${X(a, 4)}`]
				}),
				t.columns.map((e) => ur(e.name) && e.kind === "text" && Z(dr, { smiles: e.values[n] }, e.name)),
				Z("dl", {
					class: "facts one",
					children: t.columns.slice(0, 200).map((e) => Z("div", { children: [Z("dt", { children: e.name }), Z("dd", { children: e.kind === "text" ? e.values[n] : X(e.isSingle ? pi(e.values[n]) : e.values[n], 12) })] }, e.name))
				})
			]
		});
	}
	function $a({ keep: e, source: t, titleOf: n, columns: r, chosen: i, total: a, recipe: o, grouping: s, clear: c, invert: l, pick: u, picked: d }) {
		let { name: f, suffix: p = "" } = t, m = J(null), h = J(null), g = J(!1), _ = G(() => {
			let e = [];
			for (let t = 0; t < i.length && e.length < Fa; t++) i[t] && e.push(t);
			return e;
		}, [i]), v = r.columns.find(({ name: e }) => ur(e)), y = s !== null && s.groups.some(({ name: e, number: t }) => t >= 0 && e !== String(t)), b = s ? [
			"cluster",
			...y ? ["cluster_name"] : [],
			...s.probability ? ["probability"] : []
		] : [], x = `${f}-${o.join("-").replace(/[^\w-]+/g, "_")}`.slice(0, 100), S = new Set(r.columns.map((e) => e.name)), C = [...r.columns.map((e) => e.name), ...b.map((e) => S.has(e) ? `${e}_` : e)], w = (e) => [...r.columns.map((t) => t.isSingle ? pi(t.values[e]) : t.values[e]), ...s ? [
			s.groups[s.groupOf[e]]?.number ?? -1,
			...y ? [s.groups[s.groupOf[e]]?.name ?? ""] : [],
			...s.probability ? [s.probability[e]] : []
		] : []], T = () => {
			let e = t.titleOf !== void 0, r = [mi(e ? ["id", ...C] : C)];
			for (let t = 0; t < i.length; t++) i[t] && r.push(mi(e ? [n(t), ...w(t)] : w(t)));
			return new Blob(r, { type: "text/csv" });
		}, E = async () => {
			g.value = !0, m.value = null;
			try {
				let e = await t.save(h.value.trim(), T(), i);
				Lt(`${h.value} is there: ${Y(e)} rows.`), h.value = null;
			} catch (e) {
				m.value = e;
			} finally {
				g.value = !1;
			}
		};
		return Z("section", {
			class: "card chosen",
			"aria-labelledby": `chosen${p}`,
			children: [
				Z("div", {
					class: "head",
					children: [Z("div", { children: [Z("h2", {
						id: `chosen${p}`,
						children: [Y(a), " rows selected"]
					}), Z("p", {
						class: "note",
						children: o.join(", ")
					})] }), Z("div", {
						class: "tools",
						children: [
							Z("button", {
								type: "button",
								class: "first",
								onClick: () => Gt(`${x}.csv`, T()),
								children: "Export CSV"
							}),
							t.save && Z("button", {
								type: "button",
								onClick: () => h.value = h.value === null ? x : null,
								children: "Save as data set"
							}),
							Z("button", {
								type: "button",
								onClick: e,
								children: "Compare"
							}),
							Z("button", {
								type: "button",
								onClick: l,
								children: "Invert (I)"
							}),
							Z("button", {
								type: "button",
								onClick: c,
								children: "Clear (Esc)"
							})
						]
					})]
				}),
				h.value !== null && Z("form", {
					class: "inline",
					onSubmit: (e) => {
						e.preventDefault(), E();
					},
					children: [Z("label", { children: ["Name ", Z("input", {
						value: h.value,
						onInput: (e) => h.value = e.currentTarget.value
					})] }), Z("button", {
						type: "submit",
						class: "first",
						disabled: g.value,
						children: "Save"
					})]
				}),
				Z(xi, { error: m.value }),
				v?.kind === "text" && Z("ul", {
					class: "plainlist gallery",
					children: _.slice(0, Pa).map((e) => Z("li", { children: [Z("button", {
						type: "button",
						class: "link",
						onClick: () => u(e),
						children: n(e)
					}), Z(dr, {
						smiles: v.values[e],
						width: 190,
						height: 130
					})] }, e))
				}),
				Z(Si, {
					caption: "Selected rows",
					names: ["row", ...C],
					rows: _.map((e) => [t.titleOf ? n(e) : e + 1, ...w(e)]),
					on: _.indexOf(d),
					pick: (e) => u(_[e])
				}),
				a > _.length && Z("p", {
					class: "note",
					children: [
						"The first ",
						Y(_.length),
						" are shown; the export has all ",
						Y(a),
						"."
					]
				})
			]
		});
	}
	// src/views/sortable.ts
	function eo(e) {
		if (e.dataset.value !== void 0) return Number(e.dataset.value);
		let t = (e.textContent ?? "").trim().replaceAll("−", "-"), n = t.replaceAll(",", "").match(/^[+-]?\d+(\.\d+)?(?: ?×? ?10?(?:e|\^)?-?\d*)?/), r = t.match(/^([+-]?\d+(?:\.\d+)?) × 10([+-]?\d+)/);
		return r ? Number(r[1]) * 10 ** Number(r[2]) : n ? parseFloat(n[0]) : t.toLowerCase();
	}
	function to(e, t) {
		return typeof e == "number" && typeof t == "number" ? Number.isNaN(e) ? +!Number.isNaN(t) : Number.isNaN(t) ? -1 : e - t : typeof e == "number" ? -1 : typeof t == "number" ? 1 : e < t ? -1 : +(e > t);
	}
	function no(e) {
		let t = [...e.tHead?.rows[0]?.cells ?? []];
		t.forEach((n, r) => {
			let i = document.createElement("button");
			i.type = "button", i.append(...n.childNodes), n.append(i), i.addEventListener("click", () => {
				let i = n.getAttribute("aria-sort") !== "ascending";
				t.forEach((e) => e.removeAttribute("aria-sort")), n.setAttribute("aria-sort", i ? "ascending" : "descending");
				let [a] = e.tBodies, o = [...a.rows].map((e) => ({
					row: e,
					key: eo(e.cells[r])
				}));
				o.sort((e, t) => (i ? 1 : -1) * to(e.key, t.key)), a.append(...o.map(({ row: e }) => e));
			});
		});
	}
	// src/report.tsx
	function ro({ figure: e, source: t, settings: n, asked: r }) {
		return Z(za, {
			source: t,
			settings: n.value,
			settle: (e) => {
				let t = { ...n.peek() };
				for (let [n, r] of Object.entries(e)) r === null ? delete t[n] : t[n] = r;
				n.value = t;
			},
			asked: r
		}, e.name);
	}
	var io = null;
	function ao(e, t, n) {
		if (n.kind === "scene") {
			let r = Le(null), i = n.table ? document.getElementById(n.table) : null;
			i?.addEventListener("click", (e) => {
				let n = e.target.closest("tr[data-cluster]");
				n && (r.value = { group: Number(n.dataset.cluster) }, i.querySelectorAll("tr.on").forEach((e) => e.classList.remove("on")), n.classList.add("on"), t.scrollIntoView({ block: "nearest" }));
			});
			let a = Le({}), o = n.groupings[0]?.joins?.length ?? 0;
			o > 1 && (io = {
				most: o,
				show: (e) => (a.value = {
					...a.value,
					merged: String(e)
				}, t.scrollIntoView({ block: "nearest" }))
			}), B(Z(ro, {
				figure: n,
				source: Pt(n, e),
				settings: a,
				asked: r
			}), t);
		} else if (n.kind === "anneal") {
			let e = n.steps.map(([e, t, n]) => ({
				temperature: e,
				clusters: t,
				freeEnergy: n
			})), r = n.splits.map(([e, t, n]) => ({
				temperature: e,
				parent: t,
				clusters: n
			})), { command: i } = n, a = window.frameElement?.hasAttribute("data-keep") ? window.frameElement : null;
			B(Z(fn, {
				steps: e,
				splits: r,
				unit: n.unit,
				keep: (e) => {
					let t = `${e} ${e === 1 ? "cluster" : "clusters"}`;
					return Z("p", {
						class: "keep",
						children: [
							io && e <= io.most && Z("button", {
								type: "button",
								onClick: () => io.show(e),
								children: ["Show ", t]
							}),
							" ",
							a ? Z("button", {
								type: "button",
								onClick: () => a.dispatchEvent(new CustomEvent("lehr-keep", { detail: e })),
								children: ["Keep ", t]
							}) : i && Z("span", { children: [
								"To keep ",
								t,
								": ",
								Z("code", { children: [
									i,
									" -k ",
									e
								] })
							] })
						]
					});
				}
			}), t);
		} else n.kind === "lines" ? B(Z("div", {
			class: "pair",
			children: n.lines.map((e) => Z(cn, { ...e }, e.title))
		}), t) : n.kind === "heat" ? B(Z(Cn, {
			...n,
			levels: At(n.levels),
			between: kt(n.between)
		}), t) : n.kind === "density" ? B(Z(gn, { ...n }), t) : B(Z(gr, {
			...n,
			planes: n.planes.map(({ name: e, values: t }) => ({
				name: e,
				values: kt(t)
			}))
		}), t);
	}
	var oo = JSON.parse(document.getElementById("data").textContent), so = Object.entries(oo.figures);
	for (let [e, t] of [...so.filter(([, { kind: e }]) => e === "scene"), ...so.filter(([, { kind: e }]) => e !== "scene")]) {
		let n = document.getElementById(e);
		n && ao(e, n, t);
	}
	document.querySelectorAll("table.sortable").forEach(no), document.querySelectorAll("[data-smiles]").forEach((e) => {
		let t = document.createElement("div");
		e.append(t), B(Z(dr, {
			smiles: e.dataset.smiles,
			width: 190,
			height: 130
		}), t);
	}), qe(() => {
		document.querySelectorAll(".swatch[data-cluster]").forEach((e) => e.style.background = ut(Number(e.dataset.cluster), zt.value));
	});
	var co = document.createElement("div");
	document.body.append(co), B(Z(lo, {}), co);
	function lo() {
		return Z("div", {
			class: `notice${Ft.value ? " shown" : ""}`,
			role: "status",
			"aria-live": "polite",
			children: Ft.value
		});
	}
})();
