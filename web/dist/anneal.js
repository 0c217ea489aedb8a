import { E as e, T as t, c as n, o as r, s as i, w as a, x as o } from "./app.js";
import { i as s, o as c, s as l, t as u } from "./chart.js";
// src/state/course.ts
function d(e) {
	let t = e.findIndex((t, n) => n > 0 && t.temperature > e[n - 1].temperature);
	return (t < 0 ? e : e.slice(0, t)).filter(({ temperature: e }) => e > 0);
}
function f(e) {
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
function p(e) {
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
function m(e, t) {
	let n = t[t.length - 1]?.clusters;
	return h(e.filter(({ clusters: e }) => e === n)) ?? h(e);
}
function h(e) {
	let t = ({ from: e, to: t }) => Math.log(e / t);
	return e.filter(({ clusters: e }) => e > 1).reduce((e, n) => e && t(e) >= t(n) ? e : n, void 0);
}
// src/views/anneal.tsx
var g = {
	strip: 34,
	tree: 180,
	branch: 34
}, _ = {
	left: 12,
	right: 12
}, v = 90;
function y({ steps: t, splits: s, unit: c, keep: l }) {
	let p = e(() => d(t), [t]), h = e(() => f(p), [p]), g = o(m(h, t)?.last ?? p.length - 1), _ = o(!1);
	if (a(() => {
		if (!_.value) return;
		let e = setInterval(() => {
			_.peek() && (g.peek() >= p.length - 1 ? _.value = !1 : g.value++);
		}, v);
		return () => clearInterval(e);
	}, [_.value, p]), p.length < 2) return r("p", {
		class: "note",
		children: "There was nothing to anneal."
	});
	let y = Math.min(g.value, p.length - 1), S = p[y], C = c ? `temperature (${c})` : "temperature", w = (e) => {
		_.value = !1, g.value = Math.min(p.length - 1, Math.max(0, e));
	}, T = (e) => {
		e !== void 0 && w(p.reduce((t, { temperature: n }, r) => Math.abs(Math.log(n / e)) < Math.abs(Math.log(p[t].temperature / e)) ? r : t, 0));
	}, E = (e) => {
		for (let t = y + e; t >= 0 && t < p.length; t += e) if (p[t].clusters !== S.clusters) return w(t);
		w(e > 0 ? p.length - 1 : 0);
	}, D = () => {
		y >= p.length - 1 && (g.value = 0), _.value = !_.value;
	}, O = h.find(({ last: e }) => e >= y), k = t.map(({ temperature: e }) => e), A = `${i(S.clusters)} ${S.clusters === 1 ? "cluster" : "clusters"} at ${n(S.temperature, 4)}${c ? ` ${c}` : ""}`;
	return r("div", {
		class: "anneal",
		children: [
			r("div", {
				class: "tools",
				children: [
					r("button", {
						type: "button",
						"aria-label": "Fewer clusters: back to the last change",
						title: "Last change",
						onClick: () => E(-1),
						children: "←"
					}),
					r("button", {
						type: "button",
						onClick: D,
						"aria-pressed": _.value,
						children: _.value ? "Pause" : "Play"
					}),
					r("button", {
						type: "button",
						"aria-label": "More clusters: on to the next change",
						title: "Next change",
						onClick: () => E(1),
						children: "→"
					}),
					r("input", {
						type: "range",
						class: "long",
						min: "0",
						max: p.length - 1,
						step: "1",
						value: y,
						"aria-label": "Temperature",
						"aria-valuetext": A,
						onInput: (e) => w(Number(e.currentTarget.value))
					}),
					r("b", { children: A }),
					r("span", {
						class: "soft",
						children: [
							"step ",
							i(y + 1),
							" of ",
							i(p.length),
							"; this number lasted from ",
							n(O.from, 4),
							" to ",
							n(O.to, 4)
						]
					})
				]
			}),
			l(S.clusters, S.temperature),
			r(x, {
				falling: p,
				lasting: h,
				splits: s,
				now: S.temperature,
				look: T
			}),
			r("div", {
				class: "pair",
				children: [r(u, {
					title: "Clusters",
					xName: C,
					x: k,
					y: t.map(({ clusters: e }) => e),
					isLogX: !0,
					isFalling: !0,
					isStepped: !0,
					now: S.temperature,
					look: T,
					marks: {
						at: s.map(({ temperature: e }) => e),
						name: "split"
					}
				}), r(u, {
					title: c ? `Free energy (${c})` : "Free energy",
					xName: C,
					x: k,
					y: t.map(({ freeEnergy: e }) => e),
					isLogX: !0,
					isFalling: !0,
					isLogY: b(p),
					now: S.temperature,
					look: T
				})]
			})
		]
	});
}
function b(e) {
	let [t, n] = e.reduce(([e, t], { freeEnergy: n }) => [Math.min(e, n), Math.max(t, n)], [Infinity, -Infinity]);
	return t > 0 && n / t > 30;
}
function x({ falling: i, lasting: u, splits: d, now: f, look: m }) {
	let v = t(null), y = o(600);
	a(() => {
		let e = new ResizeObserver(([e]) => y.value = Math.max(200, Math.round(e.contentRect.width)));
		return e.observe(v.current), () => e.disconnect();
	}, []);
	let { branches: b, until: x } = e(() => p(d), [d]), [S, C] = [i[0].temperature, i[i.length - 1].temperature], w = y.value - _.left - _.right, T = (e) => _.left + w * Math.log(S / Math.min(S, Math.max(C, e))) / Math.log(S / C), E = b.length > 1, D = E ? Math.min(g.tree, 28 + g.branch * b.length) : 0, O = (e) => 12 + (D - 28) * (e + .5) / b.length, k = x ?? C, A = D + g.strip, j = h(u);
	return r("div", {
		class: "course",
		children: [
			r("div", {
				class: "tools under",
				children: [r("h3", { children: E ? "Splits, and how long each number lasted" : "How long each number lasted" }), r(s, {
					name: "Splits",
					make: () => l(v.current.querySelector("svg"), y.value, A, c())
				})]
			}),
			r("div", {
				ref: v,
				role: "img",
				"aria-label": `How long each number of clusters lasted: ${u.map(({ clusters: e, from: t, to: r }) => `${e} from ${n(t, 3)} to ${n(r, 3)}`).slice(0, 40).join("; ")}`,
				children: r("svg", {
					width: y.value,
					height: A,
					"aria-hidden": "true",
					onClick: (e) => m(S * (C / S) ** Math.min(1, Math.max(0, (e.clientX - v.current.getBoundingClientRect().left - _.left) / w))),
					children: [
						E && b.map(({ parent: e, birth: t, place: n }, i) => {
							let a = T(Number.isFinite(t) ? t : S), o = O(n);
							return r("path", {
								class: "branch",
								d: `${e >= 0 ? `M${a} ${O(b[e].place)}V${o}` : `M${a} ${o}`}H${T(k)}`
							}, i);
						}),
						u.map((e) => {
							let [t, i] = [T(e.from), T(e.to)];
							return r("g", {
								class: e === j ? "stay widest" : "stay",
								children: [
									r("rect", {
										x: t,
										y: D + 6,
										width: Math.max(1, i - t - 1),
										height: "22"
									}),
									i - t > 9 * String(e.clusters).length + 4 && r("text", {
										x: (t + i) / 2,
										y: D + 21,
										"text-anchor": "middle",
										children: e.clusters
									}),
									r("title", { children: `${e.clusters}: from ${n(e.from, 4)} to ${n(e.to, 4)}` })
								]
							}, e.last);
						}),
						r("line", {
							class: "cross",
							x1: T(f),
							x2: T(f),
							y1: "0",
							y2: A
						})
					]
				})
			}),
			x !== null && E && r("p", {
				class: "note",
				children: [
					"Clusters merged before ",
					n(x, 4),
					". Which ones is not recorded, so the tree ends there."
				]
			})
		]
	});
}
export { y as Anneal, u as Chart };
