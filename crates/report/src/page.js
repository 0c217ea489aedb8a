// The map and the curves of a lehr report. Everything is drawn from the JSON in this page; nothing is loaded.
(() => {
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const dark = matchMedia('(prefers-color-scheme: dark)');
const $ = id => document.getElementById(id);
const clamp = (v, low, high) => Math.max(low, Math.min(high, v));
const cssColor = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const rgb = hex => [1, 3, 5].map(at => parseInt(hex.slice(at, at + 2), 16));
const colors = () => dark.matches ? data.colors.dark : data.colors.light;
const minus = text => text.replace(/-/g, '−');

/* Numbers as the rest of the page writes them. */
function show(value, digits = 4) {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) {
    const exponent = Math.floor(Math.log10(size) + 1e-12);
    const mantissa = +(value / 10 ** exponent).toPrecision(digits);
    const power = String(exponent).replace(/./g, c => c === '-' ? '⁻' : '⁰¹²³⁴⁵⁶⁷⁸⁹'[c]);
    return minus(mantissa === 1 ? `10${power}` : `${mantissa} × 10${power}`);
  }
  return minus(Number(value.toPrecision(digits)).toLocaleString('en', { maximumFractionDigits: 10 }));
}
const withUnit = (value, unit) => unit ? `${show(value)} ${unit}` : show(value);

/* ---- the map ------------------------------------------------------------------------------------------------- */

function unpack(text, Type) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new Type(bytes.buffer);
}
const map = data.map;
const xs = unpack(map.x, Uint16Array), ys = unpack(map.y, Uint16Array);
const labels = unpack(map.labels, map.label_bytes === 1 ? Uint8Array : Uint16Array);
const count = xs.length;
const FULL = 65535;

// Points by cell of a 256 x 256 grid, so that pointing at the map finds the nearest one at once.
const cellStart = new Uint32Array(65537), cellPoints = new Uint32Array(count);
for (let i = 0; i < count; i++) cellStart[((ys[i] >> 8) << 8 | xs[i] >> 8) + 1]++;
for (let c = 0; c < 65536; c++) cellStart[c + 1] += cellStart[c];
{
  const next = cellStart.slice();
  for (let i = 0; i < count; i++) cellPoints[next[(ys[i] >> 8) << 8 | xs[i] >> 8]++] = i;
}

const box = $('map'), canvas = $('points'), overlay = $('centers'), tip = $('tip');
const view = { zoom: 1, x: 0.5, y: 0.5 };
let width = 0, height = 0, ratio = 1, hovered = -1, selected = -1;
// Degrees say what they are; other axes have their names.
const isNamed = !map.degrees;
const PAD = { left: 46, right: 14, top: isNamed ? 28 : 12, bottom: isNamed ? 44 : 26 };
const focus = () => selected >= 0 ? selected : hovered;

/* Size of the whole picture on the page at zoom 1, in CSS pixels. */
function fit() {
  const w = width - PAD.left - PAD.right, h = height - PAD.top - PAD.bottom;
  if (!map.equal) return [w, h];
  const scale = Math.min(w / map.width, h / map.height);
  return [map.width * scale, map.height * scale];
}
/* Fractions of the picture (0..1 both ways, y upwards) to CSS pixels and back. */
function place(fx, fy) {
  const [w, h] = fit();
  const middleX = (PAD.left + width - PAD.right) / 2, middleY = (PAD.top + height - PAD.bottom) / 2;
  return [middleX + (fx - view.x) * w * view.zoom, middleY - (fy - view.y) * h * view.zoom];
}
function locate(px, py) {
  const [w, h] = fit();
  const middleX = (PAD.left + width - PAD.right) / 2, middleY = (PAD.top + height - PAD.bottom) / 2;
  return [view.x + (px - middleX) / (w * view.zoom), view.y - (py - middleY) / (h * view.zoom)];
}

/* Data to fractions: pieces of the x axis may be left out. */
const xFraction = value => {
  let shift = 0;
  for (const [from, to, gutter] of map.breaks) {
    if (value >= to) shift += to - from - gutter;
    else if (value > from) return null;
  }
  return (value - shift - map.x_range[0]) / (map.x_range[1] - map.x_range[0]);
};
const yFraction = value => (value - map.y_range[0]) / (map.y_range[1] - map.y_range[0]);

function niceStep(span, most) {
  const raw = span / Math.max(1, most), power = 10 ** Math.floor(Math.log10(raw));
  for (const factor of [1, 2, 5, 10]) if (factor * power >= raw) return factor * power;
  return 10 * power;
}
function degrees(value, positive, negative) {
  let v = value;
  if (positive === 'E') v = ((v + 540) % 360) - 180;
  const text = `${+Math.abs(v).toFixed(4)}°`;
  return v === 0 ? text : `${text} ${v > 0 ? positive : negative}`;
}

const yText = value => map.degrees ? degrees(value, 'N', 'S') : show(+value.toPrecision(10));
const FONT = '11.5px system-ui, sans-serif';

/* Room beside the picture for its longest number; deeper in, numbers that are longer still are pressed together. */
function room(least) {
  if (!map.y_ticks) return least;
  const pen = overlay.getContext('2d'), [low, high] = map.y_range, step = niceStep(high - low, 8);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.font = FONT;
  let longest = 0;
  for (let n = Math.ceil(low / step); n * step <= high; n++) longest = Math.max(longest, pen.measureText(yText(n * step)).width);
  return Math.max(least, Math.ceil(longest) + 14);
}

function drawGrid(pen) {
  pen.fillStyle = cssColor('--card');
  pen.fillRect(0, 0, width, height);
  pen.font = FONT;
  pen.lineWidth = 1;
  const [left, right, top, bottom] = [PAD.left, width - PAD.right, PAD.top, height - PAD.bottom];
  const [fx0, fy1] = locate(left, top), [fx1, fy0] = locate(right, bottom);
  const xSpan = (map.x_range[1] - map.x_range[0]) * (fx1 - fx0), ySpan = (map.y_range[1] - map.y_range[0]) * (fy1 - fy0);
  let xStep = niceStep(xSpan, (right - left) / 78), yStep = niceStep(ySpan, (bottom - top) / 54);
  if (map.degrees && map.equal) xStep = yStep = Math.max(xStep, yStep);
  const removed = map.breaks.reduce((sum, [from, to, gutter]) => sum + to - from - gutter, 0);
  const grid = cssColor('--grid'), ink = cssColor('--faint');
  const xLow = map.x_range[0] + fx0 * (map.x_range[1] - map.x_range[0]);
  pen.textAlign = 'center'; pen.textBaseline = 'top';
  let last = -1e9;
  for (let n = Math.ceil(xLow / xStep - 1e-9); n * xStep <= xLow + xSpan + removed + 1e-9; n++) {
    const f = xFraction(n * xStep);
    if (f === null) continue;
    const [px] = place(f, 0);
    if (px < left - 0.5 || px > right + 0.5) continue;
    pen.strokeStyle = grid;
    pen.beginPath(); pen.moveTo(Math.round(px) + 0.5, top); pen.lineTo(Math.round(px) + 0.5, bottom); pen.stroke();
    const text = map.degrees ? degrees(n * xStep, 'E', 'W') : show(+(n * xStep).toPrecision(10));
    if (px - last > pen.measureText(text).width + 12 && px > left + 8 && px < right - 8) {
      pen.fillStyle = ink; pen.fillText(text, px, bottom + 8); last = px;
    }
  }
  pen.textAlign = 'right'; pen.textBaseline = 'middle';
  if (map.y_ticks) for (let n = Math.ceil((map.y_range[0] + fy0 * (map.y_range[1] - map.y_range[0])) / yStep - 1e-9); ; n++) {
    const [, py] = place(0, yFraction(n * yStep));
    if (py < top - 0.5) break;
    if (py > bottom + 0.5) continue;
    pen.strokeStyle = grid;
    pen.beginPath(); pen.moveTo(left, Math.round(py) + 0.5); pen.lineTo(right, Math.round(py) + 0.5); pen.stroke();
    pen.fillStyle = ink;
    pen.fillText(yText(n * yStep), left - 8, py, left - 10);
  }
  if (isNamed) {
    pen.font = '600 12px system-ui, sans-serif';
    pen.fillStyle = cssColor('--soft');
    pen.textAlign = 'right'; pen.textBaseline = 'top';
    pen.fillText(map.names[0], right, bottom + 26, right - left);
    pen.textAlign = 'left';
    pen.fillText(map.names[1], left, top - 20, right - left);
  }
  // Where a piece of the axis is left out: two strokes across, and how much is missing.
  for (const [from, to] of map.breaks) {
    const a = xFraction(from), b = xFraction(to);
    const [px] = place((a + b) / 2, 0);
    if (px < left || px > right) continue;
    pen.fillStyle = cssColor('--page');
    const [pa] = place(a, 0), [pb] = place(b, 0);
    pen.fillRect(pa, top, pb - pa, bottom - top);
    pen.save();
    pen.translate(px, (top + bottom) / 2); pen.rotate(-Math.PI / 2);
    pen.fillStyle = ink; pen.textAlign = 'center'; pen.textBaseline = 'middle';
    pen.fillText(map.degrees ? `${Math.round(to - from)}° without points, left out` : 'left out', 0, 0);
    pen.restore();
  }
}

/* Points are blended straight into the pixels: two hundred thousand in a few tens of milliseconds. */
function drawPoints() {
  const pen = canvas.getContext('2d', { willReadFrequently: true });
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  drawGrid(pen);
  const w = canvas.width, h = canvas.height;
  const image = pen.getImageData(0, 0, w, h), pixels = image.data;
  const [fitW, fitH] = fit();
  const area = fitW * fitH * view.zoom ** 2;
  const radius = clamp(Math.sqrt(area * 0.22 / (Math.PI * Math.max(count, 1))), 0.62, 4.2) * ratio;
  const reach = Math.ceil(radius + 0.5);
  const offsets = [], cover = [];
  for (let dy = -reach; dy <= reach; dy++) for (let dx = -reach; dx <= reach; dx++) {
    const part = clamp(radius + 0.5 - Math.hypot(dx, dy), 0, 1);
    if (part > 0.02) { offsets.push(4 * (dy * w + dx)); cover.push(part); }
  }
  const palette = colors().map(rgb), chosen = focus();
  const grey = rgb(dark.matches ? '#444c56' : '#c9ced5');
  const [x0, y0] = place(0, 0), [x1, y1] = place(1, 1);
  const stepX = (x1 - x0) / FULL * ratio, stepY = (y1 - y0) / FULL * ratio;
  const low = [PAD.left * ratio, PAD.top * ratio];
  const high = [(width - PAD.right) * ratio - 1, (height - PAD.bottom) * ratio - 1];
  const marks = offsets.length;
  const solid = count > 20000 ? 0.78 : 0.86;
  function pass(wanted) {
    for (let i = 0; i < count; i++) {
      const label = labels[i];
      if ((chosen < 0 || label === chosen) !== wanted) continue;
      const px = Math.round(x0 * ratio + xs[i] * stepX), py = Math.round(y0 * ratio + ys[i] * stepY);
      if (px - reach < low[0] - 8 * ratio || px + reach > high[0] + 8 * ratio || py - reach < 0 || py + reach > high[1] + 4 * ratio) continue;
      const [r, g, b] = wanted ? palette[label] : grey;
      const alpha = (i < map.faint ? 0.3 : 1) * (wanted ? solid : 0.55);
      const base = 4 * (py * w + px);
      for (let m = 0; m < marks; m++) {
        const at = base + offsets[m], a = alpha * cover[m];
        pixels[at] += (r - pixels[at]) * a;
        pixels[at + 1] += (g - pixels[at + 1]) * a;
        pixels[at + 2] += (b - pixels[at + 2]) * a;
      }
    }
  }
  if (chosen >= 0) pass(false);
  pass(true);
  pen.putImageData(image, 0, 0);
}

const heaviest = data.clusters.reduce((most, c) => Math.max(most, c.weight), 0) || 1;
const crowd = clamp(Math.sqrt(22 / Math.max(1, data.clusters.length)), 0.5, 1.25);
const centerRadius = cluster => {
  const most = (width < 560 ? 13 : 21) * crowd, least = width < 560 ? 5.5 : 7.5;
  return Math.max(least, most * Math.sqrt(cluster.weight / heaviest));
};
/* Light or dark ink on a colour, by which of them is further away. */
function inkOn(color) {
  const channel = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const [r, g, b] = rgb(color).map(channel);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 ? '#0d1013' : '#ffffff';
}
function drawCenters() {
  const pen = overlay.getContext('2d');
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  if (!$('show-centers').checked) return;
  const palette = colors(), chosen = focus(), card = cssColor('--card');
  pen.save();
  pen.beginPath(); pen.rect(0, 0, width, height - PAD.bottom + 6); pen.clip();
  const order = data.clusters.map((c, k) => k).sort((a, b) => data.clusters[b].weight - data.clusters[a].weight);
  if (chosen >= 0) { order.splice(order.indexOf(chosen), 1); order.push(chosen); }
  pen.textAlign = 'center'; pen.textBaseline = 'middle';
  for (const k of order) {
    const cluster = data.clusters[k], r = centerRadius(cluster), [px, py] = place(cluster.x, cluster.y);
    if (px < -r || py < -r || px > width + r || py > height + r) continue;
    pen.globalAlpha = chosen >= 0 && k !== chosen ? 0.28 : 1;
    pen.beginPath(); pen.arc(px, py, r + 1.75, 0, 2 * Math.PI); pen.fillStyle = card; pen.fill();
    pen.beginPath(); pen.arc(px, py, r, 0, 2 * Math.PI); pen.fillStyle = palette[k]; pen.fill();
    const size = clamp(r * 0.98, 8, 14);
    if (r >= 5 && (width >= 560 || r >= 6.4)) {
      pen.font = `600 ${size}px system-ui, sans-serif`;
      pen.fillStyle = inkOn(palette[k]);
      pen.fillText(String(k), px, py + 0.5);
    }
  }
  pen.restore();
}

let due = 0;
function redraw(points = true) {
  redraw.points = redraw.points || points;
  cancelAnimationFrame(due);
  due = requestAnimationFrame(() => {
    if (redraw.points) drawPoints();
    redraw.points = false;
    drawCenters();
  });
}
function resize() {
  const w = box.clientWidth;
  PAD.left = room(w < 560 ? 40 : 50);
  const inner = w - PAD.left - PAD.right;
  const wanted = map.equal ? inner * map.height / map.width : inner * 0.56;
  const h = Math.round(clamp(wanted, w < 560 ? 160 : 260, w < 560 ? 430 : 640)) + PAD.top + PAD.bottom;
  if (w === width && h === height && ratio === Math.min(2, devicePixelRatio || 1)) return;
  [width, height, ratio] = [w, h, Math.min(2, devicePixelRatio || 1)];
  box.style.height = `${h}px`;
  for (const c of [canvas, overlay]) { c.width = Math.round(w * ratio); c.height = Math.round(h * ratio); }
  drawPoints(); drawCenters();
}

/* Which cluster is at this place of the page: a centre first, else the nearest point within a few pixels. */
function pick(px, py) {
  if ($('show-centers').checked) {
    for (let k = data.clusters.length - 1; k >= 0; k--) {
      const [cx, cy] = place(data.clusters[k].x, data.clusters[k].y);
      if (Math.hypot(px - cx, py - cy) <= centerRadius(data.clusters[k]) + 2) return k;
    }
  }
  const [fx, fy] = locate(px, py), [w, h] = fit();
  const near = 12, rx = near / (w * view.zoom), ry = near / (h * view.zoom);
  const column = f => clamp(Math.floor(f * 256), 0, 255);
  let best = near * near, found = -1;
  for (let row = column(fy - ry); row <= column(fy + ry); row++) {
    for (let col = column(fx - rx); col <= column(fx + rx); col++) {
      for (let n = cellStart[row << 8 | col]; n < cellStart[(row << 8 | col) + 1]; n++) {
        const i = cellPoints[n];
        const dx = (xs[i] / FULL - fx) * w * view.zoom, dy = (ys[i] / FULL - fy) * h * view.zoom;
        const apart = dx * dx + dy * dy;
        // Rows of no cluster are drawn, and say nothing.
        if (apart < best && labels[i] < data.clusters.length) { best = apart; found = labels[i]; }
      }
    }
  }
  return found;
}
function describe(k) {
  const c = data.clusters[k];
  const line = text => { const span = document.createElement('span'); span.textContent = text; return span; };
  const title = document.createElement('b'), dot = document.createElement('i');
  dot.style.background = colors()[k];
  title.append(dot, `Cluster ${k}`);
  tip.replaceChildren(title, ...c.lines.map(text => line(minus(text))));
}
function hover(k, px, py) {
  if (k !== hovered) {
    hovered = k;
    if (selected < 0) redraw();
    if (k >= 0) describe(k);
  }
  tip.hidden = k < 0;
  if (k < 0) return;
  const w = tip.offsetWidth, h = tip.offsetHeight;
  tip.style.left = `${clamp(px + 16 + w > width ? px - w - 14 : px + 16, 0, Math.max(0, width - w))}px`;
  tip.style.top = `${clamp(py - h / 2, 0, Math.max(0, height - h))}px`;
}
function select(k, bringIntoView) {
  selected = selected === k ? -1 : k;
  for (const row of document.querySelectorAll('#clusters tbody tr')) {
    const on = +row.dataset.cluster === selected;
    row.classList.toggle('on', on);
    row.querySelector('.pick').setAttribute('aria-pressed', on);
  }
  if (bringIntoView && selected >= 0) box.scrollIntoView({ block: 'nearest', behavior: 'smooth' });
  redraw();
}
function zoom(factor, px = (PAD.left + width - PAD.right) / 2, py = (PAD.top + height - PAD.bottom) / 2) {
  const before = locate(px, py);
  view.zoom = clamp(view.zoom * factor, 1, 400);
  const after = locate(px, py);
  pan(before[0] - after[0], before[1] - after[1]);
}
function pan(dx, dy) {
  const room = 0.5 - 0.5 / view.zoom;
  view.x = clamp(view.x + dx, 0.5 - room, 0.5 + room);
  view.y = clamp(view.y + dy, 0.5 - room, 0.5 + room);
  box.classList.toggle('zoomed', view.zoom > 1);
  redraw();
}

const spot = event => { const r = box.getBoundingClientRect(); return [event.clientX - r.left, event.clientY - r.top]; };
let grip = null;
box.addEventListener('pointerdown', event => { grip = { at: spot(event), moved: false }; });
box.addEventListener('pointermove', event => {
  const [px, py] = spot(event);
  if (grip && event.buttons && view.zoom > 1) {
    const [dx, dy] = [px - grip.at[0], py - grip.at[1]];
    if (grip.moved || Math.hypot(dx, dy) > 4) {
      if (!grip.moved) box.setPointerCapture(event.pointerId);
      const [w, h] = fit();
      grip.moved = true; grip.at = [px, py];
      hover(-1);
      pan(-dx / (w * view.zoom), dy / (h * view.zoom));
      return;
    }
  }
  hover(pick(px, py), px, py);
});
box.addEventListener('pointerup', event => {
  if (grip && !grip.moved && event.button === 0) {
    const [px, py] = spot(event), k = pick(px, py);
    if (k >= 0 || selected >= 0) select(k >= 0 ? k : selected);
    hover(k, px, py);
  }
  grip = null;
});
box.addEventListener('pointerleave', () => hover(-1));
box.addEventListener('dblclick', event => { event.preventDefault(); zoom(2, ...spot(event)); });
box.addEventListener('wheel', event => {
  if (!event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  zoom(Math.exp(-event.deltaY / 220), ...spot(event));
}, { passive: false });
$('zoom-in').addEventListener('click', () => zoom(1.8));
$('zoom-out').addEventListener('click', () => zoom(1 / 1.8));
$('zoom-reset').addEventListener('click', () => { Object.assign(view, { zoom: 1, x: 0.5, y: 0.5 }); pan(0, 0); });
$('show-centers').addEventListener('change', () => redraw(false));

/* ---- the curves ---------------------------------------------------------------------------------------------- */

const SVG = 'http://www.w3.org/2000/svg';
function put(parent, name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const key in attributes) node.setAttribute(key, attributes[key]);
  if (text !== undefined) node.textContent = text;
  parent.append(node);
  return node;
}
const steps = data.history.filter(step => step[0] > 0);
// Growing may overshoot; hardening then starts again from a higher temperature: each run of falling temperatures is a line.
const runs = [];
steps.forEach((step, n) => {
  if (n === 0 || step[0] > steps[n - 1][0]) runs.push([]);
  runs[runs.length - 1].push(step);
});
const curves = [
  { plot: 'plot-clusters', readout: 'readout-clusters', value: step => step[1], stepped: true, whole: true },
  { plot: 'plot-energy', readout: 'readout-energy', value: step => step[2], stepped: false, whole: false },
].filter(spec => $(spec.plot));
function extent(values) {
  let low = Infinity, high = -Infinity;
  for (const v of values) { if (v < low) low = v; if (v > high) high = v; }
  return [low, high];
}
function curve(spec) {
  const holder = $(spec.plot), w = holder.clientWidth, h = holder.clientHeight;
  holder.replaceChildren();
  if (!steps.length) { holder.textContent = 'No temperatures: there was nothing to anneal.'; return; }
  const svg = put(holder, 'svg', { width: w, height: h, viewBox: `0 0 ${w} ${h}`, 'aria-hidden': 'true' });
  let [yLow, yHigh] = extent(steps.map(spec.value));
  if (spec.whole) { yLow = 0; yHigh = Math.max(yHigh, data.clusters.length) * 1.06; }
  // Free energy falls over decades, as temperature does: then both axes are logarithmic. Hardening, with shares set equal,
  // counts from another zero and may start below it; that piece is left out.
  const positive = runs.length ? runs[0].map(spec.value) : [];
  const logarithmic = !spec.whole && extent(positive)[0] > 0 && extent(positive)[1] / extent(positive)[0] > 30;
  const isShown = step => !logarithmic || spec.value(step) >= yLow;
  if (logarithmic) {
    const shown = steps.map(spec.value).filter(v => v > extent(positive)[0] / 20);
    [yLow, yHigh] = [extent(shown)[0] / 1.6, extent(shown)[1] * 1.3];
  } else if (yHigh === yLow) { yHigh += Math.abs(yHigh) * 0.05 || 1; yLow -= Math.abs(yLow) * 0.05 || 1; }
  if (!spec.whole && !logarithmic) { const room = 0.05 * (yHigh - yLow); yLow = yLow >= 0 && yLow < room ? 0 : yLow - room; yHigh += room; }
  const ticks = [];
  if (logarithmic) {
    const factors = Math.log10(yHigh / yLow) < 2.2 ? [1, 2, 5] : [1];
    for (let e = Math.floor(Math.log10(yLow)); e <= Math.log10(yHigh); e++) {
      for (const factor of factors) if (factor * 10 ** e >= yLow && factor * 10 ** e <= yHigh) ticks.push(factor * 10 ** e);
    }
  } else {
    let tick = niceStep(yHigh - yLow, h / 52);
    if (spec.whole) tick = Math.max(1, Math.round(tick));
    for (let n = Math.ceil(yLow / tick - 1e-9); n * tick <= yHigh + 1e-9; n++) ticks.push(n * tick);
  }
  const texts = ticks.map(v => show(+v.toPrecision(10)));
  const left = 12 + 6.9 * Math.max(2, ...texts.map(text => text.length)), right = w - 8, top = 8, bottom = h - 42;
  let [hot, cold] = [Math.max(...steps.map(s => s[0])), Math.min(...steps.map(s => s[0]))];
  if (hot / cold < 1.5) { hot *= 1.25; cold /= 1.25; }
  const x = t => left + (right - left) * Math.log(hot / t) / Math.log(hot / cold);
  const y = v => bottom - (bottom - top) * (logarithmic ? Math.log(Math.max(v, yLow) / yLow) / Math.log(yHigh / yLow) : (v - yLow) / (yHigh - yLow));
  ticks.forEach((v, n) => {
    put(svg, 'line', { class: 'gridline', x1: left, x2: right, y1: y(v), y2: y(v) });
    put(svg, 'text', { x: left - 8, y: y(v) + 4, 'text-anchor': 'end' }, texts[n]);
  });
  // Powers of ten, and their twos and fives where there is room.
  const decades = Math.log10(hot / cold), fine = decades < 2.2 ? [1, 2, 5] : decades < 3.5 ? [1, 3] : [1];
  let lastX = -1e9;
  for (let e = Math.ceil(Math.log10(hot)) + 1; e >= Math.floor(Math.log10(cold)) - 1; e--) {
    for (const factor of [...fine].reverse()) {
      const t = factor * 10 ** e;
      if (t > hot * 1.0001 || t < cold / 1.0001) continue;
      put(svg, 'line', { class: 'gridline', x1: x(t), x2: x(t), y1: top, y2: bottom });
      const text = show(+t.toPrecision(3), 2), room = text.length * 7 + 8;
      if (x(t) - lastX > room && x(t) + room / 2 < w + 4) {
        put(svg, 'text', { x: x(t), y: bottom + 18, 'text-anchor': 'middle' }, text);
        lastX = x(t);
      }
    }
  }
  put(svg, 'line', { class: 'axis', x1: left, x2: right, y1: bottom, y2: bottom });
  const unit = data.unit_squared ? ` (${data.unit_squared})` : '';
  put(svg, 'text', { x: right, y: h - 4, 'text-anchor': 'end' }, `temperature${unit}, falling →`);
  for (const [t] of data.splits) {
    if (t > hot * 1.0001 || t < cold / 1.0001) continue;
    put(svg, 'line', { class: 'split', x1: x(t), x2: x(t), y1: top, y2: bottom });
    put(svg, 'path', { class: 'mark', d: `M${x(t) - 3.2} ${bottom + 5.5}h6.4l-3.2 -5z` });
  }
  let legend = left;
  if (data.splits.length) {
    put(svg, 'path', { class: 'mark', d: `M${legend} ${h - 5}h6.4l-3.2 -5z` });
    put(svg, 'text', { x: legend + 11, y: h - 4 }, 'split');
    legend += 52;
  }
  if (runs.length > 1 && w >= 430) {
    put(svg, 'path', { class: 'curve later', d: `M${legend} ${h - 8}h18` });
    put(svg, 'text', { x: legend + 24, y: h - 4 }, 'hardening');
  }
  runs.forEach((run, n) => {
    let path = '';
    for (const step of run.filter(isShown)) {
      const [px, py] = [x(step[0]).toFixed(1), y(spec.value(step)).toFixed(1)];
      path += path === '' ? `M${px} ${py}` : spec.stepped ? `H${px}V${py}` : `L${px} ${py}`;
    }
    if (path) put(svg, 'path', { class: n ? 'curve later' : 'curve', d: path });
  });
  if (spec.whole && Math.max(...steps.map(s => s[1])) > data.clusters.length) {
    put(svg, 'text', { x: right, y: y(data.clusters.length) - 7, 'text-anchor': 'end' }, `${data.clusters.length} in the end`);
  }
  spec.cross = put(svg, 'line', { class: 'cross', y1: top, y2: bottom, visibility: 'hidden' });
  spec.dot = put(svg, 'circle', { class: 'dot', r: 4.5, visibility: 'hidden' });
  Object.assign(spec, { x, y, span: [left, right], hot, cold });
  svg.addEventListener('pointermove', event => {
    const at = clamp(event.clientX - svg.getBoundingClientRect().left, left, right);
    read(hot * Math.exp(-Math.log(hot / cold) * (at - left) / (right - left)));
  });
  svg.addEventListener('pointerleave', () => read(null));
}
/* The state at one temperature, marked in both charts. */
function read(temperature) {
  let found = null;
  if (temperature !== null) {
    for (const step of steps) {
      if (!found || Math.abs(Math.log(step[0] / temperature)) <= Math.abs(Math.log(found[0] / temperature))) found = step;
    }
  }
  for (const spec of curves) {
    if (!spec.cross) continue;
    for (const node of [spec.cross, spec.dot]) node.setAttribute('visibility', found ? 'visible' : 'hidden');
    const box = $(spec.readout);
    if (!found) {
      const last = steps[steps.length - 1];
      box.textContent = spec.whole
        ? `${data.clusters.length} at the end, ${data.splits.length} split${data.splits.length === 1 ? '' : 's'} on the way`
        : `${withUnit(last[2], data.unit_squared)} at ${withUnit(last[0], data.unit_squared)}`;
      continue;
    }
    spec.cross.setAttribute('x1', spec.x(found[0])); spec.cross.setAttribute('x2', spec.x(found[0]));
    spec.dot.setAttribute('cx', spec.x(found[0])); spec.dot.setAttribute('cy', spec.y(spec.value(found)));
    const value = spec.whole ? `${found[1]} cluster${found[1] === 1 ? '' : 's'}` : withUnit(found[2], data.unit_squared);
    // Of nats no length is made.
    const length = data.unit_squared === 'nats' ? '' : `, length ${withUnit(Math.sqrt(found[0] / 2), data.unit)}`;
    box.textContent = `${value} at ${withUnit(found[0], data.unit_squared)}${length}`;
  }
}
function drawCurves() { curves.forEach(curve); if (steps.length) read(null); }

/* ---- the table ----------------------------------------------------------------------------------------------- */

const table = $('clusters'), body = table.tBodies[0];
table.querySelectorAll('th button').forEach((button, column) => button.addEventListener('click', () => {
  const head = button.parentElement;
  const descending = head.getAttribute('aria-sort') ? head.getAttribute('aria-sort') === 'ascending' : column !== 0;
  table.querySelectorAll('th').forEach(th => th.removeAttribute('aria-sort'));
  head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
  const value = row => +row.cells[column].dataset.value;
  const rows = [...body.rows].sort((a, b) => (descending ? -1 : 1) * (value(a) - value(b)) || a.dataset.cluster - b.dataset.cluster);
  body.append(...rows);
}));
body.addEventListener('click', event => {
  const row = event.target.closest('tr');
  if (row) select(+row.dataset.cluster, true);
});
body.addEventListener('pointerover', event => {
  const row = event.target.closest('tr');
  if (row && selected < 0 && event.pointerType === 'mouse' && hovered !== +row.dataset.cluster) { hovered = +row.dataset.cluster; redraw(); }
});
body.addEventListener('pointerleave', () => { if (hovered >= 0) { hovered = -1; redraw(); } });

resize(); drawCurves();
new ResizeObserver(() => { resize(); drawCurves(); }).observe(document.querySelector('main'));
dark.addEventListener('change', () => { drawPoints(); drawCenters(); });
})();
