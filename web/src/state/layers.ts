// The places of steps in a drawing: each in a layer to the right of all steps that it needs, with few crossings.

export interface Linked {
  name: string;
  needs: string[];
}

/// A step, or a line that passes through a layer on its way to a later one.
interface Place {
  layer: number;
  /// Its row, from the middle of all.
  row: number;
  /// Its neighbours in the layer before and in the layer after.
  from: Place[];
  to: Place[];
}

export interface Drawing {
  layers: number;
  rows: number;
  steps: { name: string; layer: number; row: number }[];
  /// The corners of each line, one in each layer, from a step to one that needs it.
  lines: { from: string; to: string; corners: { layer: number; row: number }[] }[];
}

/// How often the layers are sorted anew, there and back.
const SWEEPS = 8;

/// Places steps in layers (Sugiyama's method): the longest way to each decides its layer, and the middle of its neighbours its row.
export function layered(steps: Linked[]): Drawing {
  const byName = new Map(steps.map((step) => [step.name, step]));
  const depths = new Map<string, number>();
  const depth = (name: string): number => {
    const known = depths.get(name);
    if (known !== undefined) return known;
    // No plan has a circle; a document of somebody else might.
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
