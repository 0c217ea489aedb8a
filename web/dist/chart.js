import { D as e, T as t, c as n, d as r, o as i, w as a, x as o } from "./app.js";
// src/views/save.tsx
var s = "http://www.w3.org/2000/svg", c = [
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
], l = 2;
function u(e, t) {
	let n = document.createElementNS(s, e);
	for (let [e, r] of Object.entries(t)) n.setAttribute(e, r);
	return n;
}
function d(e, t, n, r) {
	let i = e.cloneNode(!0), [a, o] = [e.querySelectorAll("*"), i.querySelectorAll("*")];
	return a.forEach((e, t) => {
		let n = getComputedStyle(e);
		for (let e of c) {
			let r = n.getPropertyValue(e);
			r && r !== "none" && r !== "normal" ? o[t].setAttribute(e, r) : r === "none" && o[t].setAttribute(e, "none");
		}
	}), i.setAttribute("xmlns", s), i.setAttribute("width", String(t)), i.setAttribute("height", String(n)), i.setAttribute("viewBox", `0 0 ${t} ${n}`), i.prepend(u("rect", {
		width: String(t),
		height: String(n),
		fill: r
	})), i;
}
function f() {
	return getComputedStyle(document.documentElement).getPropertyValue("--card").trim() || "#ffffff";
}
function p(e) {
	return new Blob([new XMLSerializer().serializeToString(e)], { type: "image/svg+xml" });
}
async function m(e) {
	let t = URL.createObjectURL(p(e));
	try {
		let n = new Image();
		await new Promise((e, r) => {
			n.onload = () => e(), n.onerror = () => r(Error("The picture could not be made.")), n.src = t;
		});
		let r = document.createElement("canvas");
		return r.width = l * Number(e.getAttribute("width")), r.height = l * Number(e.getAttribute("height")), r.getContext("2d").drawImage(n, 0, 0, r.width, r.height), await new Promise((e, t) => r.toBlob((n) => n ? e(n) : t(Error("The picture could not be made.")), "image/png"));
	} finally {
		URL.revokeObjectURL(t);
	}
}
function h({ name: e, make: t, fail: n }) {
	let a = async (i) => {
		try {
			let n = t();
			r(`${e}.${i}`, i === "svg" ? p(n) : await m(n));
		} catch (e) {
			n?.(e);
		}
	};
	return i("span", {
		class: "save",
		children: [
			i("span", {
				class: "soft",
				"aria-hidden": "true",
				children: "Save"
			}),
			i("button", {
				type: "button",
				onClick: () => a("png"),
				children: [i("span", {
					class: "unseen",
					children: [
						"Save ",
						e,
						" as "
					]
				}), "PNG"]
			}),
			i("button", {
				type: "button",
				onClick: () => a("svg"),
				children: [i("span", {
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
var g = 220, _ = 420, v = {
	left: 56,
	right: 14,
	top: 12,
	bottom: 38
};
function y(e, t, n) {
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
function b(e, t, n) {
	let r = Math.ceil(Math.log10(e) - 1e-9), i = Math.floor(Math.log10(t) + 1e-9);
	if (i - r < 2) {
		let a = [
			1,
			2,
			5
		].flatMap((e) => Array.from({ length: i - r + 3 }, (t, n) => e * 10 ** (r - 1 + n))).filter((n) => n >= e && n <= t).sort((e, t) => e - t);
		return a.length >= 3 ? a : y(e, t, n);
	}
	let a = Math.max(1, Math.ceil((i - r + 1) / n));
	return Array.from({ length: Math.floor((i - r) / a) + 1 }, (e, t) => 10 ** (r + t * a));
}
function x({ title: r, xName: s, x: c, y: l, isLogX: u, isLogY: p, isFalling: m, isStepped: x, dots: S, best: C, marks: w, now: T, look: E }) {
	let D = t(null), O = o(480), k = o(null);
	a(() => {
		let e = new ResizeObserver(([e]) => O.value = Math.max(180, Math.round(e.contentRect.width)));
		return e.observe(D.current), () => e.disconnect();
	}, []);
	let A = c.map((e, t) => [
		e,
		l[t],
		t
	]).filter(([e, t]) => Number.isFinite(e) && Number.isFinite(t) && (!u || e > 0) && (!p || t > 0)), j = O.value, M = A.map(([e]) => e), N = A.map(([, e]) => e), P = (e) => e.reduce(([e, t], n) => [Math.min(e, n), Math.max(t, n)], [Infinity, -Infinity]), [F, I] = P(M), [L, R] = P(N);
	F === I && ([F, I] = u ? [F / 2, I * 2] : [F - .5, I + .5]), L === R && ([L, R] = p ? [L / 2, R * 2] : [L - .5, R + .5]);
	let z = (e) => u ? Math.log(e) : e, B = (e) => p ? Math.log(e) : e, V = (e) => {
		let t = (z(e) - z(F)) / (z(I) - z(F));
		return m ? 1 - t : t;
	}, H = N.every(Number.isInteger), U = S ? 10 : 0, W = (e) => v.left + U + V(e) * (j - v.left - v.right - 2 * U), G = (e) => g - v.bottom - U - (B(e) - B(L)) / (B(R) - B(L)) * (g - v.top - v.bottom - 2 * U), K = !1, q = ["", ""];
	A.forEach(([e, t], n) => {
		let r = n === 0 || m === !0 && e > A[n - 1][0];
		K ||= r && n > 0;
		let [i, a] = [W(e).toFixed(1), G(t).toFixed(1)];
		q[Number(K)] += r ? `M${i} ${a}` : x ? `H${i}V${a}` : `L${i} ${a}`;
	});
	let J = k.value ?? (T != null && A.length && (!u || T > 0) ? ((e) => A.reduce((t, [n], r) => Math.abs(z(n) - z(e)) < Math.abs(z(A[t][0]) - z(e)) ? r : t, 0))(T) : null), Y = J !== null && A[J] ? A[J] : A[C !== void 0 && A[C] ? C : A.length - 1], X = (e) => {
		let t = D.current.getBoundingClientRect().left;
		if (!A.length) return;
		let [n, r] = [0, Infinity];
		A.forEach(([i], a) => {
			let o = Math.abs(W(i) - (e - t));
			o < r && ([n, r] = [a, o]);
		}), k.value = n;
	};
	return i("figure", {
		class: "chart",
		children: [i("figcaption", { children: [
			i("h3", { children: r }),
			Y && i("p", {
				class: "readout",
				children: [
					s,
					" ",
					n(Y[0], 4),
					": ",
					n(Y[1], 5)
				]
			}),
			A.length > 0 && i(h, {
				name: r,
				make: () => d(D.current.querySelector("svg"), j, g, f())
			})
		] }), i("div", {
			class: "plot",
			ref: D,
			tabIndex: 0,
			role: "img",
			"aria-label": Y ? `${r} over ${s}: ${A.length} points, from ${n(N[0], 4)} to ${n(N[N.length - 1], 4)}. Arrow keys read points.` : `${r}: no points yet`,
			onPointerMove: (e) => X(e.clientX),
			onClick: () => k.value !== null && A[k.value] && E?.(A[k.value][0]),
			onPointerLeave: () => k.value = null,
			onKeyDown: (e) => {
				let t = e.key === "ArrowLeft" ? -1 : +(e.key === "ArrowRight");
				t && (e.preventDefault(), k.value = Math.min(A.length - 1, Math.max(0, (k.value ?? A.length - 1) + t)), E?.(A[k.value]?.[0]));
			},
			children: [A.length === 0 && i("p", {
				class: "note",
				children: "There is nothing to draw."
			}), A.length > 0 && i("svg", {
				width: j,
				height: g,
				"aria-hidden": "true",
				children: [
					(p ? b(L, R, 4) : y(L, R, 4).filter((e) => !H || Number.isInteger(e))).map((e) => i("g", { children: [i("line", {
						class: "gridline",
						x1: v.left,
						x2: j - v.right,
						y1: G(e),
						y2: G(e)
					}), i("text", {
						x: v.left - 8,
						y: G(e) + 4,
						"text-anchor": "end",
						children: n(e, 4)
					})] }, e)),
					(u ? b(F, I, 5) : y(F, I, 5)).map((e) => i("text", {
						x: W(e),
						y: g - v.bottom + 17,
						"text-anchor": "middle",
						children: n(e, 4)
					}, e)),
					i("text", {
						x: j - v.right,
						y: 216,
						"text-anchor": "end",
						children: m ? `${s}${j >= _ ? ", falling" : ""} →` : s
					}),
					w && w.at.filter((e) => e >= F && e <= I).map((e) => i("path", {
						class: "split",
						d: `M${(W(e) - 3.2).toFixed(1)} ${g - v.bottom + 5.5}h6.4l-3.2 -5z`
					}, e)),
					w && w.at.length > 0 && i("g", { children: [i("path", {
						class: "split",
						d: `M${v.left} 215h6.4l-3.2 -5z`
					}), i("text", {
						x: v.left + 11,
						y: 216,
						children: w.name
					})] }),
					K && i("g", { children: [i("path", {
						class: "curve later",
						d: `M${v.left + (w?.at.length ? 62 : 0)} 212h18`
					}), i("text", {
						x: v.left + (w?.at.length ? 86 : 24),
						y: 216,
						children: "hardening"
					})] }),
					S !== "alone" && i("path", {
						class: "curve",
						d: q[0]
					}),
					S !== "alone" && q[1] && i("path", {
						class: "curve later",
						d: q[1]
					}),
					(S || A.length === 1) && A.map(([e, t, n]) => i("circle", {
						class: "dot",
						cx: W(e),
						cy: G(t),
						r: n === C ? 7 : 4
					}, n)),
					J !== null && Y && i(e, { children: [i("line", {
						class: "cross",
						x1: W(Y[0]),
						x2: W(Y[0]),
						y1: v.top,
						y2: g - v.bottom
					}), i("circle", {
						class: "dot",
						cx: W(Y[0]),
						cy: G(Y[1]),
						r: "4"
					})] })
				]
			})]
		})]
	});
}
export { u as a, h as i, b as n, f as o, y as r, d as s, x as t };
