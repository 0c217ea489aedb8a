// Places the steps of a workflow in a drawing. Each step is in a layer to the right of all steps that it needs, and few lines cross.

export interface Linked {
  name: string;
  needs: string[];
}

/// A step, or a line that passes through a layer on its way to a later one.
interface Place {
  layer: number;
  /// The place's row, counted from the middle of the layer.
  row: number;
  /// The place's neighbours in the layer before; `to` has those in the layer after.
  from: Place[];
  to: Place[];
}

export interface Drawing {
  layers: number;
  rows: number;
  steps: { name: string; layer: number; row: number }[];
  /// The lines from each step to the steps that need it. A line has one corner in each layer from the first step to the second.
  lines: { from: string; to: string; corners: { layer: number; row: number }[] }[];
}

/// The number of times that all layers are sorted, alternately forwards and backwards.
const SWEEPS = 8;

/// Places steps in layers (Sugiyama's method). The longest path to a step determines its layer, and the mean row of its neighbours its row.
export function layered(steps: Linked[]): Drawing {
  const byName = new Map(steps.map((step) => [step.name, step]));
  const depths = new Map<string, number>();
  const depth = (name: string): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    // A plan of a node has no cycle, but a document from elsewhere may have one.
    depths.set(name, 0);
    const found = Math.max(-1, ...byName.get(name)!.needs.filter((need) => byName.has(need)).map(depth)) + 1;
    depths.set(name, found);
    return found;
  };
  const places = new Map<string, Place>(steps.map(({ name }) => [name, { layer: depth(name), row: 0, from: [], to: [] }]));
  const layers: Place[][] = Array.from({ length: Math.max(-1, ...depths.values()) + 1 }, () => []);
  const put = (place: Place) => layers[place.layer].push(place);
  places.forEach(put);
  const ways: { from: string; to: string; way: Place[] }[] = [];
  for (const { name, needs } of steps) {
    for (const need of needs) {
      const [start, end] = [places.get(need), places.get(name)!];
      if (!start || start.layer >= end.layer) continue;
      const way = [start];
      for (let layer = start.layer + 1; layer < end.layer; layer++) {
        const passing: Place = { layer, row: 0, from: [], to: [] };
        put(passing);
        way.push(passing);
      }
      way.push(end);
      way.slice(1).forEach((place, at) => {
        place.from.push(way[at]);
        way[at].to.push(place);
      });
      ways.push({ from: need, to: name, way });
    }
  }
  const number = (layer: Place[]) => layer.forEach((place, at) => (place.row = at - (layer.length - 1) / 2));
  layers.forEach(number);
  for (let sweep = 0; sweep < SWEEPS; sweep++) {
    const isForth = sweep % 2 === 0;
    for (const layer of isForth ? layers : [...layers].reverse()) {
      const wished = new Map(layer.map((place) => {
        const beside = isForth ? place.from : place.to;
        return [place, beside.length ? beside.reduce((sum, one) => sum + one.row, 0) / beside.length : place.row];
      }));
      layer.sort((a, b) => wished.get(a)! - wished.get(b)!);
      number(layer);
    }
  }
  const corner = ({ layer, row }: Place) => ({ layer, row });
  return {
    layers: layers.length,
    rows: Math.max(0, ...layers.map((layer) => layer.length)),
    steps: [...places].map(([name, place]) => ({ name, ...corner(place) })),
    lines: ways.map(({ from, to, way }) => ({ from, to, corners: way.map(corner) })),
  };
}
