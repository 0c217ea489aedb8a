// Draws a cloud of points, which the user can rotate, move, zoom and point at.

import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { clusterColour, GROUND, inkOn, type Theme } from '../colour/palette.ts';
import { facing, fit, LEVEL, pixelOf, turned, zoomed, type Camera, type Size } from '../points/camera.ts';
import { axesOf, onSphere, type Cloud } from '../points/cloud.ts';
import { BESIDE, isShown, meets, names as namesOf, pathOf, type Box, type Shore, type Town } from '../points/coast.ts';
import { rasterRenderer, type Renderer } from '../points/raster.ts';
import { inside, nearest } from '../points/select.ts';
import { webglRenderer } from '../points/webgl.ts';
import { howOf, type How } from '../state/selection.ts';
import { figure } from '../state/words.ts';
import { tens, ticks } from './chart.tsx';
import { element, standalone } from './save.tsx';

export type Tool = 'move' | 'lasso' | 'box';

export interface Mark {
  text: string;
  colour: string;
  x: number;
  y: number;
  z: number;
}

/// A map whose axes are degrees. `breaks` are the ranges of longitude left out: start, end, and the width of the gutter drawn instead.
export interface Degrees {
  breaks: [number, number, number][];
}

/// The mean and the covariance (xx, xy, yy) of a component, in the units of the columns. Ellipses at one and at two standard deviations are drawn.
export interface Outline {
  group: number;
  mean: [number, number];
  covariance: [number, number, number];
}

/// A grid of shades below the points, from 0 to 1, column by column and upwards. `low` and `high` are its corners, in the units of the columns.
export interface Ground {
  columns: number;
  rows: number;
  shade: ArrayLike<number>;
  low: [number, number];
  high: [number, number];
}

export interface Handle {
  fit(): void;
  zoom(factor: number): void;
  svg(): SVGSVGElement;
}

interface Props {
  cloud: Cloud;
  paint: Uint32Array;
  theme: Theme;
  tool: Tool;
  isEqual: boolean;
  pointWidth: number;
  names: string[];
  /// For each axis, whether it shows base-10 logarithms.
  logs?: boolean[];
  summary: string;
  caption: string;
  marks: Mark[];
  picked: number;
  forced: string | undefined;
  degrees?: Degrees;
  /// The coast and borders below the points, if these are places on the Earth.
  shores?: Shore[] | null;
  towns?: Town[] | null;
  outlines?: Outline[] | null;
  ground?: Ground;
  handle: { current: Handle | null };
  onSelect: (points: Uint32Array, how: How, tool: Tool) => void;
  onPick: (point: number) => void;
  hint: (point: number) => { title: string; text: string; colour: string } | null;
}

/// The maximum number of points drawn while the picture moves, if the CPU draws them.
const MOVING_MAX = 250_000;
/// The maximum number of points up to which the picture describes the point under the moving pointer. With more points, only a click describes one.
const HOVER_MAX = 400_000;
/// The maximum distance between the pointer and a point that it hits, in page pixels.
const REACH = 12;
/// The margin around a fitted cloud, across and upwards, in page pixels. It has the axes and the tools. A picture narrower than `SMALL` has its tools below
/// (style.css).
const MARGIN = [58, 40];
const MARGIN_OF_SMALL = [44, 40];
const SMALL = 460;

export function CloudView(props: Props) {
  const { cloud, paint, theme, tool, isEqual, pointWidth, names } = props;
  const frame = useRef<HTMLDivElement>(null);
  const renderer = useRef<Renderer | null>(null);
  const camera = useSignal<Camera | null>(null);
  const size = useSignal<Size>({ width: 0, height: 0 });
  const isLost = useSignal(false);
  const kind = useSignal('');
  const drawing = useSignal<[number, number][] | null>(null);
  const hovered = useSignal<{ point: number; x: number; y: number } | null>(null);
  const ratio = useRef(1);
  // Until the user moves the picture, it fits the whole cloud again after each change of its size.
  const state = useRef({ frame: 0, settle: 0, isMoving: false, isFitted: true });
  const latest = useRef(props);
  latest.current = props;

  const draw = () => {
    const now = state.current;
    cancelAnimationFrame(now.frame);
    now.frame = requestAnimationFrame(() => {
      if (!renderer.current || !camera.peek()) return;
      const { theme, pointWidth, shores } = latest.current;
      const most = renderer.current.kind === 'cpu' && now.isMoving ? MOVING_MAX : Infinity;
      renderer.current.draw(camera.peek()!, odd(pointWidth * ratio.current), shores ? null : GROUND[theme], most);
    });
  };
  const move = (next: Camera) => {
    camera.value = next;
    const now = state.current;
    now.isFitted = false;
    now.isMoving = latest.current.cloud.count > MOVING_MAX;
    draw();
    if (now.isMoving) {
      clearTimeout(now.settle);
      now.settle = setTimeout(() => {
        now.isMoving = false;
        draw();
      }, 120) as unknown as number;
    }
  };
  const whole = () => {
    const { cloud, isEqual } = latest.current;
    const margin = size.peek().width / ratio.current < SMALL ? MARGIN_OF_SMALL : MARGIN;
    move(fit(cloud, size.peek(), startTurn(cloud), margin.map((one) => one * ratio.current) as [number, number], isEqual || cloud.shape !== 'plane'));
    state.current.isFitted = true;
  };

  // Another renderer needs a new canvas, since the kind of a canvas's context cannot change.
  useEffect(() => {
    const { forced } = props;
    let canvas = document.createElement('canvas');
    canvas.setAttribute('aria-hidden', 'true');
    let made: Renderer | null = null;
    if (forced !== 'cpu' && !isLost.value) {
      made = webglRenderer(canvas, forced === 'webgl', () => (isLost.value = true));
      if (!made) {
        canvas = document.createElement('canvas');
        canvas.setAttribute('aria-hidden', 'true');
      }
    }
    made ??= rasterRenderer(canvas);
    kind.value = made.kind;
    renderer.current = made;
    made.setCloud(latest.current.cloud);
    made.setPaint(latest.current.paint);
    if (size.peek().width) made.resize(size.peek());
    frame.current!.prepend(canvas);
    draw();
    return () => {
      made.end();
      canvas.remove();
      renderer.current = null;
    };
  }, [isLost.value, props.forced]);

  useEffect(() => {
    const watch = new ResizeObserver(([entry]) => {
      ratio.current = Math.min(2, devicePixelRatio || 1);
      const next = {
        width: Math.max(1, Math.round(entry.contentRect.width * ratio.current)),
        height: Math.max(1, Math.round(entry.contentRect.height * ratio.current)),
      };
      const before = size.peek();
      if (before.width === next.width && before.height === next.height) return;
      size.value = next;
      renderer.current?.resize(next);
      if (!camera.peek() || state.current.isFitted) whole();
      else {
        const by = Math.min(next.width / before.width, next.height / before.height);
        const { turn, scale, shift } = camera.peek()!;
        move({ turn, scale: [scale[0] * by, scale[1] * by], shift: [shift[0] * by, shift[1] * by] });
      }
    });
    watch.observe(frame.current!);
    return () => watch.disconnect();
  }, []);

  useEffect(() => {
    renderer.current?.setCloud(cloud);
    renderer.current?.setPaint(paint);
    hovered.value = null;
    if (size.peek().width) whole();
  }, [cloud, isEqual]);
  useEffect(() => {
    renderer.current?.setPaint(paint);
    draw();
  }, [paint]);
  useEffect(draw, [theme, pointWidth, props.shores]);

  props.handle.current = {
    fit: whole,
    zoom: (factor) => camera.peek() && move(zoomed(camera.peek()!, size.peek(), factor, size.peek().width / 2, size.peek().height / 2)),
    svg: () => svgOf(frame.current!, latest.current, camera.peek()!, size.peek()),
  };

  // One pointer moves the picture or draws a shape. Two pointers zoom and move the picture.
  const pointers = useRef(new Map<number, [number, number]>());
  const began = useRef<{ x: number; y: number; hasMoved: boolean }>({ x: 0, y: 0, hasMoved: false });
  const place = (event: PointerEvent | WheelEvent): [number, number] => {
    const box = frame.current!.getBoundingClientRect();
    return [(event.clientX - box.left) * ratio.current, (event.clientY - box.top) * ratio.current];
  };
  const down = (event: PointerEvent) => {
    if (event.button > 0 || (event.target as Element).closest('button')) return;
    frame.current!.setPointerCapture(event.pointerId);
    const at = place(event);
    pointers.current.set(event.pointerId, at);
    began.current = { x: at[0], y: at[1], hasMoved: false };
    hovered.value = null;
    if (tool !== 'move' && pointers.current.size === 1) drawing.value = [at];
    else drawing.value = null;
  };
  const movePointer = (event: PointerEvent) => {
    const at = place(event);
    const before = pointers.current.get(event.pointerId);
    if (!camera.peek()) return;
    if (!before) {
      if (event.pointerType === 'mouse' && cloud.count <= HOVER_MAX) hover(at);
      return;
    }
    const reach = 4 * ratio.current;
    if (Math.hypot(at[0] - began.current.x, at[1] - began.current.y) > reach) began.current.hasMoved = true;
    if (pointers.current.size === 2) {
      const [other] = [...pointers.current].filter(([id]) => id !== event.pointerId).map(([, where]) => where);
      const factor = Math.hypot(at[0] - other[0], at[1] - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1]));
      const next = zoomed(camera.peek()!, size.peek(), factor, (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
      // The middle of two fingers moves half as far as the moving finger.
      move({ ...next, shift: next.shift.map((one, axis) => one + (at[axis] - before[axis]) / 2) as [number, number] });
    } else if (drawing.value) {
      const { x, y } = began.current;
      drawing.value = tool === 'box' ? [[x, y], [at[0], y], at, [x, at[1]]] : [...drawing.value, at];
    } else if (began.current.hasMoved) {
      const [dx, dy] = [at[0] - before[0], at[1] - before[1]];
      const { turn, scale, shift } = camera.peek()!;
      if (cloud.shape === 'plane' || event.shiftKey) move({ turn, scale, shift: [shift[0] + dx, shift[1] + dy] });
      else {
        // Near the middle of the picture, the point under the pointer stays there.
        const by = cloud.shape === 'sphere' ? 1 / scale[0] : 1 / (0.35 * Math.min(size.peek().width, size.peek().height));
        const next = turned(turn, dx * by, dy * by);
        move({ turn: next, scale, shift });
      }
    }
    pointers.current.set(event.pointerId, at);
  };
  const up = (event: PointerEvent) => {
    if (!pointers.current.delete(event.pointerId)) return;
    const at = place(event);
    const corners = drawing.value;
    drawing.value = null;
    if (!camera.peek() || event.type === 'pointercancel') return;
    if (corners && began.current.hasMoved && corners.length > 2) {
      props.onSelect(inside(cloud, paint, camera.peek()!, size.peek(), corners), howOf(event), tool);
    } else if (!began.current.hasMoved && pointers.current.size === 0) {
      props.onPick(nearest(cloud, paint, camera.peek()!, size.peek(), at[0], at[1], REACH * ratio.current));
    }
  };
  const hovering = useRef(0);
  const hover = (at: [number, number]) => {
    cancelAnimationFrame(hovering.current);
    hovering.current = requestAnimationFrame(() => {
      if (!camera.peek()) return;
      const point = nearest(latest.current.cloud, latest.current.paint, camera.peek()!, size.peek(), at[0], at[1], REACH * ratio.current);
      hovered.value = point < 0 ? null : { point, x: at[0] / ratio.current, y: at[1] / ratio.current };
    });
  };
  const wheel = (event: WheelEvent) => {
    if (!camera.peek()) return;
    event.preventDefault();
    const [x, y] = place(event);
    move(zoomed(camera.peek()!, size.peek(), Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), x, y));
  };
  const keys = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || !camera.peek()) return;
    const step = 40 * ratio.current;
    const shifts: Record<string, [number, number]> = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    const by = shifts[event.key];
    const { turn, scale, shift } = camera.peek()!;
    if (by && (cloud.shape === 'plane' || event.shiftKey)) move({ turn, scale, shift: [shift[0] + by[0], shift[1] + by[1]] });
    else if (by) move({ turn: turned(turn, (by[0] / step) * 0.1, (by[1] / step) * 0.1), scale, shift });
    else if (event.key === '+' || event.key === '=') props.handle.current!.zoom(1.4);
    else if (event.key === '-') props.handle.current!.zoom(1 / 1.4);
    else if (event.key === '0') whole();
    else if (event.key === 'Enter') {
      props.onPick(nearest(cloud, paint, camera.peek()!, size.peek(), size.peek().width / 2, size.peek().height / 2, 1e9));
    } else return;
    event.preventDefault();
  };

  const tip = hovered.value && !drawing.value ? props.hint(hovered.value.point) : null;
  const inPage = ratio.current;
  const over = camera.value;
  return (
    <div
      ref={frame}
      class={`cloud ${tool}`}
      tabIndex={0}
      role="application"
      aria-roledescription="scatter plot"
      aria-label={props.summary}
      data-renderer={kind.value}
      onPointerDown={down}
      onPointerMove={movePointer}
      onPointerUp={up}
      onPointerCancel={up}
      onPointerLeave={() => (hovered.value = null)}
      onWheel={wheel}
      onKeyDown={keys}
    >
      {over && size.value.width > 0 && props.shores && <Lands cloud={cloud} shores={props.shores} camera={over} size={size.value} ratio={inPage} />}
      {over && size.value.width > 0 && (
        <Over cloud={cloud} camera={over} size={size.value} ratio={inPage} names={names} marks={props.marks} picked={props.picked} drawing={drawing.value} theme={theme} logs={props.logs}
          degrees={props.degrees} outlines={props.outlines} ground={props.ground} towns={props.towns} />
      )}
      {tip && hovered.value && (
        <div
          class="tip"
          style={{
            left: `${Math.min(hovered.value.x + 14, size.value.width / inPage - 230)}px`,
            top: `${Math.min(hovered.value.y + 14, size.value.height / inPage - 90)}px`,
          }}
        >
          <b>
            <i style={{ background: tip.colour }} />
            {tip.title}
          </b>
          <span>{tip.text}</span>
        </div>
      )}
    </div>
  );
}

/// Rounds a width to an odd number of pixels from 1 to 31, because a disc has a pixel in its middle.
function odd(width: number): number {
  return Math.min(31, Math.max(1, 2 * Math.round((width - 1) / 2) + 1));
}

/// Returns the first rotation of a cloud. A sphere shows the middle of its points.
function startTurn(cloud: Cloud): number[] {
  if (cloud.shape === 'plane') return LEVEL;
  if (cloud.shape === 'space') return turned(LEVEL, 0.6, 0.4);
  let [x, y, z] = [0, 0, 0];
  const every = Math.max(1, Math.floor(cloud.count / 20_000));
  for (let at = 0; at < cloud.count; at += every) {
    if (cloud.positions[3 * at] !== cloud.positions[3 * at]) continue;
    x += cloud.positions[3 * at];
    y += cloud.positions[3 * at + 1];
    z += cloud.positions[3 * at + 2];
  }
  return facing((Math.atan2(x, z) * 180) / Math.PI, (Math.atan2(y, Math.hypot(x, z)) * 180) / Math.PI);
}

/// Returns the number of page pixels per degree of latitude.
function degreeOf(cloud: Cloud, camera: Camera, ratio: number): number {
  return (cloud.shape === 'sphere' ? (camera.scale[1] * Math.PI) / 180 : camera.scale[1] / cloud.half[1]) / ratio;
}

/// The space for the numbers of the axes at the left and below, the space at the edges of a picture, and the size of the corner with the tools.
const [NUMBERS, EDGE, TOOLS] = [[58, 34], 6, [60, 258]];

/// Draws the lines of a map below the points.
function Lands({ cloud, shores, camera, size, ratio }: { cloud: Cloud; shores: Shore[]; camera: Camera; size: Size; ratio: number }) {
  const isSphere = cloud.shape === 'sphere';
  const pixelsOfDegree = degreeOf(cloud, camera, ratio);
  const radius = camera.scale[0] / ratio;
  const [width, height] = [size.width / ratio, size.height / ratio];
  return (
    <svg class="lands" width={width} height={height} aria-hidden="true">
      <g class="shores">
        {isSphere && radius < width + height && <circle cx={width / 2 + camera.shift[0] / ratio} cy={height / 2 + camera.shift[1] / ratio} r={radius} />}
        {shores.map((shore) => isShown(shore.kind, pixelsOfDegree) && <path key={shore.kind} class={shore.kind} d={pathOf(shore, camera, size, ratio, isSphere)} />)}
      </g>
    </svg>
  );
}

/// Draws what is above the points: axes or a graticule, the names of cities, the marks of clusters, and the lasso.
function Over({ cloud, camera, size, ratio, names, logs, marks, picked, drawing, theme, degrees, outlines, ground, towns }: {
  cloud: Cloud; camera: Camera; size: Size; ratio: number; names: string[]; logs?: boolean[]; marks: Mark[]; picked: number; drawing: [number, number][] | null; theme: Theme;
  degrees?: Degrees; outlines?: Outline[] | null; ground?: Ground; towns?: Town[] | null;
}) {
  const [width, height] = [size.width / ratio, size.height / ratio];
  const isSphere = cloud.shape === 'sphere';
  const pixel = (x: number, y: number, z: number) => {
    const [px, py, depth] = pixelOf(camera, size, x, y, z);
    return [px / ratio, py / ratio, depth] as const;
  };
  const at = picked < 0 ? null : pixel(cloud.positions[3 * picked], cloud.positions[3 * picked + 1], cloud.positions[3 * picked + 2]);
  const shown = useMemo(() => apart(marks.map((mark) => ({ mark, at: pixel(mark.x, mark.y, mark.z) })), width, height, isSphere), [marks, camera, size]);
  const room: Box = isSphere ? [EDGE, EDGE, width - EDGE, height - EDGE] : [NUMBERS[0], 24, width - EDGE, height - NUMBERS[1]];
  const taken = shown.map(({ mark, at: [x, y] }) => [x - halfWidth(mark), y - 10, x + halfWidth(mark), y + 10] as Box);
  if (degrees) taken.push(...guttersOf(planeOf(cloud, camera, size, ratio), degrees).map(({ left, right }) => [left, 0, right, height] as Box));
  const grid = isSphere && graticuleOf(camera, size, width, pixel, taken);
  if (width >= SMALL) taken.push([width - TOOLS[0], 0, width, TOOLS[1]]);
  return (
    <svg class="over" width={width} height={height} aria-hidden="true">
      {cloud.shape === 'plane' && ground && <Cells ground={ground} plane={planeOf(cloud, camera, size, ratio)} />}
      {cloud.shape === 'plane' && outlines && <Outlines outlines={outlines} plane={planeOf(cloud, camera, size, ratio)} theme={theme} />}
      {cloud.shape === 'plane' && <Axes plane={planeOf(cloud, camera, size, ratio)} size={size} ratio={ratio} names={names} logs={logs} degrees={degrees} />}
      {cloud.shape === 'space' && <Edges cloud={cloud} names={names} pixel={pixel} width={width} height={height} />}
      {grid && (
        <g class="graticule">
          {grid.paths.map((d, at) => <path key={at} d={d} />)}
          {grid.labels.map(({ text, box }) => <text key={text} x={box[0]} y={box[3] - 3}>{text}</text>)}
        </g>
      )}
      {towns && isShown('coast', degreeOf(cloud, camera, ratio)) && namesOf(towns, camera, size, ratio, isSphere, room, taken).map(({ name, x, y, isLeft }, at) => (
        <g key={at} class="city" transform={`translate(${x} ${y})`}>
          <circle r="2" />
          <text x={isLeft ? -BESIDE : BESIDE} y="4" text-anchor={isLeft ? 'end' : 'start'}>{name}</text>
        </g>
      ))}
      {shown.map(({ mark, at: [x, y] }) => (
        <g key={mark.text} class="mark" transform={`translate(${x} ${y})`}>
          <rect x={-halfWidth(mark)} y="-10" width={2 * halfWidth(mark)} height="20" rx="10" fill={mark.colour} />
          <text y="4" text-anchor="middle" fill={inkOn(mark.colour)}>{mark.text}</text>
        </g>
      ))}
      {at && at[2] >= (isSphere ? 0 : -Infinity) && <circle class="picked" cx={at[0]} cy={at[1]} r="9" />}
      {drawing && <polygon class="lasso" points={drawing.map(([x, y]) => `${x / ratio},${y / ratio}`).join(' ')} />}
    </svg>
  );
}

/// Returns half the width of the mark of a cluster, in page pixels.
function halfWidth(mark: Mark): number {
  return Math.max(10, 3.6 * mark.text.length + 6);
}

/// Returns the first marks that do not overlap with earlier ones, at most 60.
function apart<T extends { mark: Mark; at: readonly [number, number, number] }>(marks: T[], width: number, height: number, isSphere: boolean): T[] {
  const kept: T[] = [];
  for (const one of marks) {
    const [x, y, depth] = one.at;
    if (x < 12 || y < 12 || x > width - 12 || y > height - 12 || (isSphere && depth < 0)) continue;
    const isFree = kept.every(({ mark, at }) => Math.abs(at[0] - x) > halfWidth(mark) + halfWidth(one.mark) + 2 || Math.abs(at[1] - y) > 22);
    if (isFree) kept.push(one);
    if (kept.length >= 60) break;
  }
  return kept;
}

/// Maps values of the columns to page pixels (`fromX`, `fromY`), and back (`toX`, `toY`).
interface Plane {
  toX(pixel: number): number;
  toY(pixel: number): number;
  fromX(value: number): number;
  fromY(value: number): number;
}

function planeOf({ middle, half }: Cloud, { scale, shift }: Camera, size: Size, ratio: number): Plane {
  return {
    toX: (pixel) => middle[0] + ((pixel * ratio - size.width / 2 - shift[0]) / scale[0]) * half[0],
    toY: (pixel) => middle[1] - ((pixel * ratio - size.height / 2 - shift[1]) / scale[1]) * half[1],
    fromX: (value) => (size.width / 2 + shift[0] + ((value - middle[0]) / half[0]) * scale[0]) / ratio,
    fromY: (value) => (size.height / 2 + shift[1] - ((value - middle[1]) / half[1]) * scale[1]) / ratio,
  };
}

/// Returns the distance between about `most` round degrees. Above 10, it is 15, 30, 45 or 90, and not 20 or 50.
export function stepOfDegrees(low: number, high: number, most: number): number {
  const round = ticks(low, high, most);
  const step = round.length > 1 ? round[1] - round[0] : 1;
  return step > 10 ? ([15, 30, 45, 90].find((one) => (high - low) / one <= most) ?? 90) : step;
}

/// Returns round latitudes with their labels, up to the poles.
function latitudes(low: number, high: number, most: number): [number, string][] {
  const by = stepOfDegrees(low, high, most);
  const first = Math.ceil(Math.max(low, -90) / by);
  return Array.from({ length: Math.max(0, Math.floor(Math.min(high, 90) / by) - first + 1) }, (_, at) => [(first + at) * by, degree((first + at) * by, 'N', 'S')]);
}

/// Returns the places of round longitudes on the map, with their labels. Each range left out shifts all longitudes after it.
export function meridians(low: number, high: number, most: number, breaks: [number, number, number][]): [number, string][] {
  const whole = breaks.reduce((sum, [from, to, gutter]) => sum + to - from - gutter, 0);
  const found: [number, string][] = [];
  const by = stepOfDegrees(low, high, most);
  for (let at = Math.ceil(low / by) * by; at <= high + whole; at += by) {
    let shift = 0;
    let isOut = false;
    for (const [from, to, gutter] of breaks) {
      if (at >= to) shift += to - from - gutter;
      else if (at > from) isOut = true;
    }
    const place = at - shift;
    if (!isOut && place >= low && place <= high) found.push([place, degree(((at + 540) % 360) - 180, 'E', 'W')]);
  }
  return found;
}

function degree(value: number, positive: string, negative: string): string {
  const text = `${Number(Math.abs(value).toFixed(4))}°`;
  return value === 0 || Math.abs(value) === 180 ? text : `${text} ${value > 0 ? positive : negative}`;
}

/// Returns round values between two base-10 logarithms: the logarithm and the label of each.
function decades(low: number, high: number, most: number): [number, string][] {
  const held = (power: number) => 10 ** Math.min(300, Math.max(-300, power));
  return tens(held(low), held(high), most).map((value) => [Math.log10(value), figure(value, 6)]);
}

/// Returns the gutters that a map draws in place of longitudes left out. A gutter begins at the lower end of its range, shifted by the gutters before it.
function guttersOf({ fromX }: Plane, degrees?: Degrees) {
  let shift = 0;
  return (degrees?.breaks ?? []).map(([from, to, gutter]) => {
    const [left, right] = [fromX(from - shift), fromX(from - shift + gutter)];
    shift += to - from - gutter;
    return { left, right, text: `${Math.round(to - from)}° without rows, left out` };
  });
}

function Axes({ plane, size, ratio, names, logs = [], degrees }: { plane: Plane; size: Size; ratio: number; names: string[]; logs?: boolean[]; degrees?: Degrees }) {
  const { toX, toY, fromX, fromY } = plane;
  const [width, height] = [size.width / ratio, size.height / ratio];
  const most = [Math.max(2, Math.floor(width / 110)), Math.max(2, Math.floor(height / 80))];
  const across: [number, string][] = degrees
    ? meridians(toX(0), toX(width), most[0], degrees.breaks)
    : logs[0] ? decades(toX(0), toX(width), most[0]) : ticks(toX(0), toX(width), most[0]).map((value) => [value, figure(value, 6)]);
  const upwards: [number, string][] = degrees
    ? latitudes(toY(height), toY(0), most[1])
    : logs[1] ? decades(toY(height), toY(0), most[1]) : ticks(toY(height), toY(0), most[1]).map((value) => [value, figure(value, 6)]);
  const gutters = guttersOf(plane, degrees);
  return (
    <>
      {gutters.map(({ left, right, text }) => (
        <g key={left} class="gutter">
          <rect x={left} y="0" width={Math.max(1, right - left)} height={height} />
          <text transform={`translate(${(left + right) / 2 + 4} ${height / 2}) rotate(-90)`} text-anchor="middle">{text}</text>
        </g>
      ))}
      <g class="axis">
        {across.map(([value, text]) => {
          const x = fromX(value);
          return x < 34 || x > width - 20 ? null : (
            <g key={value}>
              <line x1={x} x2={x} y1={height - 5} y2={height} />
              <text x={x} y={height - 8} text-anchor="middle">{text}</text>
            </g>
          );
        })}
        {names[1] && upwards.map(([value, text]) => {
          const y = fromY(value);
          return y < 26 || y > height - 24 ? null : (
            <g key={value}>
              <line x1={0} x2={5} y1={y} y2={y} />
              <text x={8} y={y + 4}>{text}</text>
            </g>
          );
        })}
        <text class="name" x={width - 8} y={height - 24} text-anchor="end">{names[0]} →</text>
        {names[1] && <text class="name" x={8} y={16}>↑ {names[1]}</text>}
      </g>
    </>
  );
}

/// Returns the path of an ellipse at `deviations` standard deviations, computed from the Cholesky factor of the covariance.
function ellipse({ mean, covariance: [xx, xy, yy] }: Outline, deviations: number, { fromX, fromY }: Plane): string {
  const a = Math.sqrt(Math.max(0, xx));
  const b = a > 0 ? xy / a : 0;
  const c = Math.sqrt(Math.max(0, yy - b * b));
  const corners = Array.from({ length: 73 }, (_, at) => {
    const [cosine, sine] = [Math.cos((at * Math.PI) / 36), Math.sin((at * Math.PI) / 36)];
    return `${fromX(mean[0] + deviations * a * cosine).toFixed(1)} ${fromY(mean[1] + deviations * (b * cosine + c * sine)).toFixed(1)}`;
  });
  return `M${corners.join('L')}Z`;
}

function Outlines({ outlines, plane, theme }: { outlines: Outline[]; plane: Plane; theme: Theme }) {
  return (
    <g class="outlines">
      {outlines.map((one) => (
        <g key={one.group} stroke={clusterColour(one.group, theme)} fill={clusterColour(one.group, theme)}>
          <path d={ellipse(one, 1, plane)} fill-opacity=".07" />
          <path d={ellipse(one, 2, plane)} fill-opacity="0" stroke-dasharray="5 4" />
        </g>
      ))}
    </g>
  );
}

function Cells({ ground, plane: { fromX, fromY } }: { ground: Ground; plane: Plane }) {
  const { columns, rows, low, high, shade } = ground;
  const x = (column: number) => fromX(low[0] + ((high[0] - low[0]) * column) / columns);
  const y = (row: number) => fromY(low[1] + ((high[1] - low[1]) * row) / rows);
  return (
    <g class="ground">
      {Array.from({ length: columns * rows }, (_, at) => {
        const [column, row] = [Math.floor(at / rows), at % rows];
        return <rect key={at} x={x(column)} y={y(row + 1)} width={x(column + 1) - x(column)} height={y(row) - y(row + 1)} fill-opacity={(0.65 * shade[at]).toFixed(3)} />;
      })}
    </g>
  );
}

/// The distance from the end of an axis to the middle of its name, in page pixels.
const AXIS_NAME = 16;

function Edges({ cloud, names, pixel, width, height }: { cloud: Cloud; names: string[]; width: number; height: number; pixel: (x: number, y: number, z: number) => readonly [number, number, number] }) {
  const [origin, ...ends] = axesOf(cloud);
  const [ox, oy] = pixel(...origin);
  return (
    <g class="axis">
      {ends.map((end, at) => {
        const [x, y] = pixel(...end);
        // The name lies beyond the end of the axis, where no points are.
        const out = AXIS_NAME / (Math.hypot(x - ox, y - oy) || 1);
        const [nx, ny] = [x + out * (x - ox), y + out * (y - oy) + 4];
        return (
          <g key={at}>
            <line x1={ox} y1={oy} x2={x} y2={y} />
            <text class="name" x={Math.min(width - 8 - 3.5 * names[at].length, Math.max(8 + 3.5 * names[at].length, nx))} y={Math.min(height - 8, Math.max(16, ny))} text-anchor="middle">{names[at]}</text>
          </g>
        );
      })}
    </g>
  );
}

/// Returns the paths of meridians and parallels, at a distance that suits the visible part, and the labels that overlap no rectangle of `taken`.
function graticuleOf(camera: Camera, size: Size, width: number, pixel: (x: number, y: number, z: number) => readonly [number, number, number], taken: Box[]): { paths: string[]; labels: { text: string; box: Box }[] } {
  const seen = (pixels: number) => (180 / Math.PI) * (pixels / camera.scale[0]);
  const degrees = seen(Math.min(size.width, size.height));
  const every = [30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1].find((one) => degrees / one >= 3) ?? 0.1;
  const m = camera.turn;
  const middle = { longitude: (Math.atan2(m[6], m[8]) * 180) / Math.PI, latitude: (Math.asin(Math.max(-1, Math.min(1, m[7]))) * 180) / Math.PI };
  const reach = Math.min(90, 0.75 * seen(Math.max(size.width, size.height)));
  const path = (points: [number, number][]) => {
    let text = '';
    let isDown = false;
    for (const [longitude, latitude] of points) {
      const [x, y, depth] = pixel(...onSphere(longitude, latitude));
      if (depth < 0) isDown = false;
      else {
        text += `${isDown ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`;
        isDown = true;
      }
    }
    return text;
  };
  const step = Math.max(every / 4, 0.05);
  const span = (from: number, to: number, by: number) => Array.from({ length: Math.min(800, Math.floor((to - from) / by) + 1) }, (_, at) => from + at * by);
  const wide = Math.min(180, reach / Math.max(0.2, Math.cos((Math.abs(middle.latitude) * Math.PI) / 180)));
  const low = Math.max(-90, middle.latitude - reach);
  const high = Math.min(90, middle.latitude + reach);
  const meridians = span(Math.ceil((middle.longitude - wide) / every) * every, middle.longitude + wide, every);
  const parallels = span(Math.ceil(low / every) * every, high, every);
  const round = (value: number) => String(Number(value.toFixed(2)));
  const labels: { text: string; box: Box }[] = [];
  const label = (longitude: number, latitude: number, text: string) => {
    const [x, y, depth] = pixel(...onSphere(longitude, latitude));
    const box: Box = [x + 3, y - 15, x + 3 + 7 * text.length, y];
    if (depth > 0 && box[0] >= 0 && box[2] <= width && !taken.some((other) => meets(box, other, 2, 0))) {
      labels.push({ text, box });
      taken.push(box);
    }
  };
  // All meridians meet at a pole, so their labels stay one step away from it.
  const nearLatitude = Math.min(90 - every, Math.max(every - 90, Math.round(middle.latitude / every) * every));
  const nearLongitude = Math.round(middle.longitude / every) * every;
  for (const longitude of meridians) {
    const turned = ((longitude + 540) % 360) - 180;
    label(longitude, nearLatitude, `${round(Math.abs(turned))}°${turned < 0 ? 'W' : turned > 0 ? 'E' : ''}`);
  }
  for (const latitude of parallels) if (latitude !== nearLatitude) label(nearLongitude, latitude, `${round(Math.abs(latitude))}°${latitude < 0 ? 'S' : latitude > 0 ? 'N' : ''}`);
  return {
    paths: [
      ...meridians.map((longitude) => path(span(low, high, step).map((latitude) => [longitude, latitude]))),
      ...parallels.map((latitude) => path(span(middle.longitude - wide, middle.longitude + wide, step).map((longitude) => [longitude, latitude]))),
    ],
    labels,
  };
}

/// The maximum number of points that a saved picture contains as shapes. More points are saved as a raster image.
const SHAPES_MAX = 20_000;

/// Returns the current picture for saving, with its caption below.
function svgOf(frame: HTMLElement, { caption, cloud, paint, theme, pointWidth }: Props, camera: Camera, size: Size): SVGSVGElement {
  const ratio = Math.min(2, devicePixelRatio || 1);
  const [width, height] = [size.width / ratio, size.height / ratio];
  const over = frame.querySelector<SVGSVGElement>('.over')!;
  const picture = standalone(over, width, height + 30, GROUND[theme]);
  const drawn = element('g', {});
  if (cloud.count <= SHAPES_MAX) {
    const reach = odd(pointWidth * ratio) / ratio / 2;
    const paths = new Map<number, string>();
    for (let at = 0; at < cloud.count; at++) {
      if (paint[at] >>> 24 === 0) continue;
      const [x, y, depth] = pixelOf(camera, size, cloud.positions[3 * at], cloud.positions[3 * at + 1], cloud.positions[3 * at + 2]);
      if (!(x >= 0 && y >= 0 && x <= size.width && y <= size.height) || (cloud.shape === 'sphere' && depth < 0)) continue;
      paths.set(paint[at], `${paths.get(paint[at]) ?? ''}M${(x / ratio).toFixed(2)} ${(y / ratio).toFixed(2)}h0`);
    }
    // Points that are not selected are drawn below the selected ones.
    for (const [word, d] of [...paths].sort(([a], [b]) => (a >>> 24) - (b >>> 24))) {
      const hex = `#${[word & 255, (word >> 8) & 255, (word >> 16) & 255].map((one) => one.toString(16).padStart(2, '0')).join('')}`;
      drawn.append(element('path', { d, stroke: hex, 'stroke-width': String(2 * reach), 'stroke-linecap': 'round', fill: 'none' }));
    }
  } else {
    drawn.append(element('image', { href: frame.querySelector('canvas')!.toDataURL('image/png'), width: String(width), height: String(height) }));
  }
  const ground = picture.querySelector('.ground');
  if (ground) ground.after(drawn);
  else picture.querySelector('rect')!.after(drawn);
  const lands = frame.querySelector<SVGSVGElement>('.lands');
  if (lands) {
    // A nested SVG element cuts off lines at its edge.
    const cut = element('svg', { width: String(width), height: String(height) });
    cut.append(standalone(lands, width, height, GROUND[theme]).querySelector('.shores')!);
    drawn.before(cut);
  }
  const text = element('text', { x: '10', y: String(height + 20), 'font-size': '12', 'font-family': 'system-ui, sans-serif', fill: theme === 'light' ? '#565d66' : '#a9b1ba' });
  text.textContent = caption;
  picture.append(text);
  return picture;
}
