"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const ink = () => getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
  const soft = () => getComputedStyle(document.documentElement).getPropertyValue("--soft").trim();
  const isDark = matchMedia("(prefers-color-scheme: dark)");
  // Hues by the golden angle: neighbours in number are far apart.
  const hue = (cluster) => (cluster * 137.508 + 210) % 360;
  const hsl = (h, s, l) => {
    const f = (n) => { const k = (n + h / 30) % 12; return l - s * Math.min(l, 1 - l) * Math.max(-1, Math.min(k - 3, 9 - k, 1)); };
    return [f(0), f(8), f(4)];
  };
  const clusterColour = (cluster) => hsl(hue(cluster), 0.6, (isDark.matches ? 0.62 : 0.42) + 0.1 * ((cluster >> 3) % 3 - 1));
  const css = (c) => `rgb(${c.map((x) => Math.round(255 * x)).join(",")})`;
  document.querySelectorAll(".swatch").forEach((s) => { s.style.background = css(clusterColour(+s.dataset.cluster)); });

  function canvasIn(id, ratio) {
    const box = document.getElementById(id);
    if (!box) return null;
    const canvas = document.createElement("canvas");
    box.append(canvas);
    const size = () => {
      const scale = devicePixelRatio || 1;
      canvas.width = Math.round(box.clientWidth * scale);
      canvas.height = Math.round(box.clientWidth * ratio * scale);
      canvas.style.height = `${box.clientWidth * ratio}px`;
      return scale;
    };
    return { box, canvas, size };
  }

  function heat() {
    const place = canvasIn("heat", 1);
    if (!place) return;
    const { cells, levels, ends, largest } = data.heat;
    const legend = document.createElement("p");
    legend.className = "legend"; legend.textContent = `From 0 (the darkest) to ${figures(largest)} (the palest).`;
    place.box.after(legend);
    const draw = () => {
      place.size();
      const { canvas } = place;
      const g = canvas.getContext("2d");
      const small = new OffscreenCanvas(cells, cells);
      const image = new ImageData(cells, cells);
      levels.forEach((level, at) => {
        const t = level === null ? 0 : level / 255;
        const c = level === null ? [0.5, 0.5, 0.5] : hsl(215 - 170 * t, 0.55, 0.2 + 0.72 * t);
        c.forEach((x, k) => { image.data[4 * at + k] = 255 * x; });
        image.data[4 * at + 3] = level === null ? 90 : 255;
      });
      small.getContext("2d").putImageData(image, 0, 0);
      g.imageSmoothingEnabled = false;
      g.drawImage(small, 0, 0, canvas.width, canvas.height);
      g.strokeStyle = "rgba(255,255,255,.75)";
      g.lineWidth = 1;
      for (const end of ends) {
        const x = Math.round(end * canvas.width) + 0.5;
        g.beginPath(); g.moveTo(x, 0); g.lineTo(x, canvas.height); g.moveTo(0, x); g.lineTo(canvas.width, x); g.stroke();
      }
    };
    redraw.push(draw);
  }

  function axes(g, canvas, scale, box, xLabel, yLabel, xTicks, yTicks) {
    g.fillStyle = soft(); g.strokeStyle = soft(); g.lineWidth = scale; g.font = `${12 * scale}px system-ui, sans-serif`;
    g.beginPath(); g.moveTo(box.l, box.t); g.lineTo(box.l, box.b); g.lineTo(box.r, box.b); g.stroke();
    g.textAlign = "center"; g.textBaseline = "top";
    // None beyond the picture's right end, and none upon another.
    let free = [-Infinity, Infinity];
    xTicks.forEach(([x, text]) => {
      const half = g.measureText(text).width / 2 + 4 * scale, at = Math.min(x, canvas.width - half);
      if (at - half < free[0] && at + half > free[1]) return;
      g.fillText(text, at, box.b + 5 * scale);
      free = [Math.max(free[0], at + half), Math.min(free[1], at - half)];
    });
    g.fillText(xLabel, (box.l + box.r) / 2, box.b + 22 * scale);
    g.textAlign = "right"; g.textBaseline = "middle";
    yTicks.forEach(([y, text]) => g.fillText(text, box.l - 6 * scale, y));
    g.save(); g.translate(12 * scale, (box.t + box.b) / 2); g.rotate(-Math.PI / 2); g.textAlign = "center"; g.fillText(yLabel, 0, 0); g.restore();
  }
  const figures = (x) => Number(x.toPrecision(3)).toString().replace("-", "−");
  // A number of an axis with as many digits as tell it from the next.
  const apart = (x, step) => Number(x.toPrecision(Math.min(15, Math.max(1, Math.floor(Math.log10(Math.abs(x) || step)) - Math.floor(Math.log10(step)) + 1)))).toString().replace("-", "−");
  // Round numbers between two ends, some five of them, with their texts: multiples of 1, 2 or 5 times a power of ten; of whole numbers only such.
  function round(low, high, areWhole) {
    const wanted = (high - low) / 5, power = 10 ** Math.floor(Math.log10(wanted));
    const step = [1, 2, 5, 10].find((factor) => factor * power >= 0.999 * wanted) * power;
    const by = areWhole ? Math.max(1, Math.round(step)) : step, found = [];
    for (let n = Math.ceil(low / by - 1e-9); n * by <= high + 1e-9 * by; n++) found.push([n * by, apart(n * by, by)]);
    return found;
  }
  // The same of an axis of powers: these, with twos and fives where it is short.
  function powers(low, high) {
    const decades = Math.log10(high / low), found = [];
    for (let e = Math.floor(Math.log10(low)); e <= Math.log10(high); e++) {
      for (const factor of decades < 2.5 ? [1, 2, 5] : [1]) {
        const value = +`${factor}e${e}`;
        if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) found.push([value, figures(value)]);
      }
    }
    return found.length > 1 ? found : round(low, high, false);
  }

  function curve(id) {
    const place = canvasIn(id, 0.42);
    if (!place) return;
    const { points, x, y, logX, logY, falls } = data.curves[id];
    const draw = () => {
      const scale = place.size();
      const { canvas } = place;
      const g = canvas.getContext("2d");
      const box = { l: 70 * scale, r: canvas.width - 16 * scale, t: 14 * scale, b: canvas.height - 44 * scale };
      const fx = (v) => (logX ? Math.log(v) : v);
      const fy = (v) => (logY ? Math.log(v) : v);
      const shown = points.filter(([a, b]) => (!logX || a > 0) && (!logY || b > 0));
      if (shown.length === 0) return;
      let [x0, x1, y0, y1] = [Infinity, -Infinity, Infinity, -Infinity];
      for (const [a, b] of shown) { x0 = Math.min(x0, fx(a)); x1 = Math.max(x1, fx(a)); y0 = Math.min(y0, fy(b)); y1 = Math.max(y1, fy(b)); }
      if (x1 === x0) x1 = x0 + 1;
      if (y1 === y0) y1 = y0 + 1;
      const px = (v) => { const t = (fx(v) - x0) / (x1 - x0); return box.l + (falls ? 1 - t : t) * (box.r - box.l); };
      const py = (v) => box.b - ((fy(v) - y0) / (y1 - y0)) * (box.b - box.t);
      const ticks = (a, b, isLog, k, at) => {
        const areWhole = shown.every((point) => Number.isInteger(point[k]));
        return (isLog ? powers(Math.exp(a), Math.exp(b)) : round(a, b, areWhole)).map(([v, text]) => [at(v), text]);
      };
      axes(g, canvas, scale, box, falls ? `${x}, falling →` : x, y, ticks(x0, x1, logX, 0, px), ticks(y0, y1, logY, 1, py));
      g.strokeStyle = getComputedStyle(document.documentElement).getPropertyValue("--mark");
      g.lineWidth = 2 * scale; g.beginPath();
      let last = null;
      for (const [a, b] of shown) {
        // A second branch begins at a higher temperature: a line of its own.
        if (last === null || (falls && a > last)) g.moveTo(px(a), py(b)); else g.lineTo(px(a), py(b));
        last = a;
      }
      g.stroke();
    };
    redraw.push(draw);
  }

  function shepard() {
    const place = canvasIn("shepard", 0.62);
    if (!place) return;
    const { bins, counts, dissimilarity, distance } = data.shepard;
    const draw = () => {
      const scale = place.size();
      const { canvas } = place;
      const g = canvas.getContext("2d");
      const box = { l: 70 * scale, r: canvas.width - 16 * scale, t: 14 * scale, b: canvas.height - 44 * scale };
      const most = Math.log1p(counts.reduce((a, b) => Math.max(a, b), 1));
      const [w, h] = [(box.r - box.l) / bins, (box.b - box.t) / bins];
      const mark = isDark.matches ? "127,183,223" : "47,111,159";
      counts.forEach((count, at) => {
        if (count === 0) return;
        g.fillStyle = `rgba(${mark},${0.08 + (0.92 * Math.log1p(count)) / most})`;
        g.fillRect(box.l + (at % bins) * w, box.b - (Math.floor(at / bins) + 1) * h, w + 0.5, h + 0.5);
      });
      const end = Math.min(dissimilarity, distance);
      g.strokeStyle = ink(); g.lineWidth = scale; g.setLineDash([4 * scale, 4 * scale]);
      g.beginPath(); g.moveTo(box.l, box.b);
      g.lineTo(box.l + (end / (distance || 1)) * (box.r - box.l), box.b - (end / (dissimilarity || 1)) * (box.b - box.t)); g.stroke(); g.setLineDash([]);
      axes(g, canvas, scale, box, "distance in the map", "dissimilarity",
        round(0, distance || 1, false).map(([v, text]) => [box.l + (v / (distance || 1)) * (box.r - box.l), text]),
        round(0, dissimilarity || 1, false).map(([v, text]) => [box.b - (v / (dissimilarity || 1)) * (box.b - box.t), text]));
    };
    redraw.push(draw);
  }

  function map() {
    const place = canvasIn("map", 0.72);
    if (!place) return;
    const { dimension, points, ids, colourings } = data.map;
    const { canvas, box } = place;
    let colouring = colourings[0];
    let reach = 0;
    for (const p of points) reach = Math.max(reach, Math.hypot(...p));
    reach = reach || 1;
    const flat = new Float32Array(3 * points.length);
    points.forEach((p, at) => p.forEach((x, k) => { flat[3 * at + k] = x / reach; }));
    const view = { turn: dimension > 2 ? 0.5 : 0, tilt: dimension > 2 ? 0.35 : 0, zoom: 0.95, x: 0, y: 0 };
    const dot = () => Math.max(2.5, Math.min(9, 160 / Math.sqrt(points.length)));
    const colourOf = () => {
      const all = new Float32Array(3 * points.length);
      const { classes, values } = colouring;
      const most = values ? [...values].sort((a, b) => a - b)[Math.floor(0.98 * (points.length - 1))] || 1 : 1;
      for (let at = 0; at < points.length; at++) {
        const t = values ? Math.min(1, values[at] / most) : 0;
        const c = classes ? clusterColour(classes[at]) : hsl(215 - 170 * t, 0.65, (isDark.matches ? 0.45 : 0.3) + 0.35 * t);
        all.set(c, 3 * at);
      }
      return all;
    };
    const placed = (at) => {
      const [x, y, z] = [flat[3 * at], flat[3 * at + 1], flat[3 * at + 2]];
      const [s, c, ts, tc] = [Math.sin(view.turn), Math.cos(view.turn), Math.sin(view.tilt), Math.cos(view.tilt)];
      const [a, b] = [c * x + s * z, -s * x + c * z];
      const depth = ts * y + tc * b;
      return [view.zoom * a + view.x, view.zoom * (tc * y - ts * b) + view.y, depth];
    };
    const gl = canvas.getContext("webgl", { antialias: true, preserveDrawingBuffer: true });
    let draw;
    if (gl) {
      const shader = (kind, text) => { const s = gl.createShader(kind); gl.shaderSource(s, text); gl.compileShader(s); return s; };
      const program = gl.createProgram();
      gl.attachShader(program, shader(gl.VERTEX_SHADER, `attribute vec3 at; attribute vec3 colour; uniform vec4 angles; uniform vec4 frame; uniform float size; varying vec3 shown;
        void main() { vec2 xz = vec2(angles.y * at.x + angles.x * at.z, -angles.x * at.x + angles.y * at.z);
          vec3 p = vec3(xz.x, angles.w * at.y - angles.z * xz.y, angles.z * at.y + angles.w * xz.y);
          gl_Position = vec4((frame.z * p.x + frame.x) * frame.w, frame.z * p.y + frame.y, -0.5 * p.z, 1.0);
          gl_PointSize = size * (1.0 + 0.35 * p.z); shown = colour * (0.82 + 0.18 * p.z); }`));
      gl.attachShader(program, shader(gl.FRAGMENT_SHADER, `precision mediump float; varying vec3 shown;
        void main() { float r = length(gl_PointCoord - 0.5); if (r > 0.5) discard; gl_FragColor = vec4(shown * (r > 0.4 ? 0.8 : 1.0), 1.0); }`));
      gl.linkProgram(program); gl.useProgram(program);
      const buffers = { at: gl.createBuffer(), colour: gl.createBuffer() };
      const bind = (name, numbers) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffers[name]); gl.bufferData(gl.ARRAY_BUFFER, numbers, gl.STATIC_DRAW);
        const where = gl.getAttribLocation(program, name); gl.enableVertexAttribArray(where); gl.vertexAttribPointer(where, 3, gl.FLOAT, false, 0, 0);
      };
      bind("at", flat);
      let coloured = null;
      draw = () => {
        const scale = place.size();
        const wanted = `${colourings.indexOf(colouring)} ${isDark.matches}`;
        if (coloured !== wanted) { bind("colour", colourOf()); coloured = wanted; }
        gl.viewport(0, 0, canvas.width, canvas.height); gl.clearColor(0, 0, 0, 0);
        gl.enable(gl.DEPTH_TEST); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        gl.uniform4f(gl.getUniformLocation(program, "angles"), Math.sin(view.turn), Math.cos(view.turn), Math.sin(view.tilt), Math.cos(view.tilt));
        gl.uniform4f(gl.getUniformLocation(program, "frame"), view.x, view.y, view.zoom, canvas.height / canvas.width);
        gl.uniform1f(gl.getUniformLocation(program, "size"), dot() * scale);
        gl.drawArrays(gl.POINTS, 0, points.length);
      };
    } else {
      draw = () => {
        const scale = place.size();
        const g = canvas.getContext("2d");
        const all = colourOf();
        const order = points.map((_, at) => at).map((at) => [placed(at), at]).sort((a, b) => a[0][2] - b[0][2]);
        for (const [[x, y], at] of order) {
          g.fillStyle = css([all[3 * at], all[3 * at + 1], all[3 * at + 2]]);
          g.beginPath(); g.arc(canvas.width / 2 + (x * canvas.height) / 2, canvas.height / 2 - (y * canvas.height) / 2, (dot() * scale) / 2, 0, 7); g.fill();
        }
      };
    }
    const legend = document.createElement("p");
    legend.className = "legend"; box.after(legend);
    const explain = () => {
      legend.replaceChildren();
      const { name, classes, names } = colouring;
      if (!classes) { legend.textContent = `The lighter, the larger the ${name}.`; return; }
      names.slice(0, 40).forEach((text, at) => {
        const mark = document.createElement("i");
        mark.className = "swatch"; mark.dataset.cluster = at; mark.style.background = css(clusterColour(at));
        const word = document.createElement("span");
        word.append(mark, `${text}`); legend.append(word);
      });
      if (names.length > 40) legend.append(`and ${names.length - 40} more`);
    };
    explain();
    if (colourings.length > 1) {
      const choices = document.createElement("p");
      choices.className = "choices"; choices.append("Coloured by ");
      const buttons = colourings.map((one) => {
        const button = document.createElement("button");
        button.type = "button"; button.textContent = one.name; button.setAttribute("aria-pressed", one === colouring);
        button.addEventListener("click", () => {
          colouring = one;
          buttons.forEach((b, at) => b.setAttribute("aria-pressed", colourings[at] === one));
          explain(); draw();
        });
        return button;
      });
      choices.append(...buttons); box.before(choices);
    }
    const turn = (dx, dy) => { view.turn += 0.008 * dx; view.tilt = Math.max(-1.57, Math.min(1.57, view.tilt + 0.008 * dy)); };
    const move = (dx, dy) => { view.x += (2 * dx) / canvas.clientHeight; view.y -= (2 * dy) / canvas.clientHeight; };
    canvas.tabIndex = 0;
    canvas.addEventListener("keydown", (e) => {
      const [dx, dy] = { ArrowLeft: [-12, 0], ArrowRight: [12, 0], ArrowUp: [0, -12], ArrowDown: [0, 12] }[e.key] || [0, 0];
      const zoom = { "+": 1.1, "-": 1 / 1.1 }[e.key] || 1;
      if (!dx && !dy && zoom === 1) return;
      e.preventDefault();
      view.zoom *= zoom; (dimension > 2 && !e.shiftKey ? turn : move)(dx, dy); draw();
    });
    const tip = document.createElement("div");
    tip.className = "tip"; tip.hidden = true; box.append(tip);
    let held = null;
    canvas.addEventListener("pointerdown", (e) => { held = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointerup", () => { held = null; });
    canvas.addEventListener("pointermove", (e) => {
      if (held) {
        const [dx, dy] = [e.clientX - held[0], e.clientY - held[1]];
        held = [e.clientX, e.clientY];
        (dimension > 2 && !e.shiftKey ? turn : move)(dx, dy);
        draw();
        return;
      }
      const frame = canvas.getBoundingClientRect();
      const [mx, my] = [(2 * (e.clientX - frame.left) - frame.width) / frame.height, 1 - (2 * (e.clientY - frame.top)) / frame.height];
      let [best, found] = [0.03 * 0.03, -1];
      for (let at = 0; at < points.length; at++) {
        const [x, y] = placed(at);
        const d = (x - mx) * (x - mx) + (y - my) * (y - my);
        if (d < best) { best = d; found = at; }
      }
      tip.hidden = found < 0;
      if (found >= 0) {
        const said = colourings.map(({ name, classes, names, values }) => `${name} ${classes ? names[classes[found]] : figures(values[found])}`);
        tip.textContent = [ids[found], ...said].join(" · ");
        tip.style.left = `${e.clientX - frame.left + 12}px`; tip.style.top = `${e.clientY - frame.top + 12}px`;
      }
    });
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
    canvas.addEventListener("wheel", (e) => { e.preventDefault(); view.zoom *= Math.exp(-0.0015 * e.deltaY); draw(); }, { passive: false });
    redraw.push(draw);
  }

  const redraw = [];
  heat(); map(); shepard(); Object.keys(data.curves).forEach(curve);
  const all = () => redraw.forEach((draw) => draw());
  all();
  addEventListener("resize", all);
  isDark.addEventListener("change", () => {
    document.querySelectorAll(".swatch").forEach((s) => { s.style.background = css(clusterColour(+s.dataset.cluster)); });
    all();
  });
})();
