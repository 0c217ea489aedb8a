// The page of a finished run. It draws figures from the data in the page, makes tables sortable, and loads nothing.

import { effect, signal, type Signal } from '@preact/signals';
import { render } from 'preact';
import { clusterColour } from './colour/palette.ts';
import { floats, levels, sourceOf, type Figure, type SceneFigure } from './state/report.ts';
import { notice } from './state/notice.ts';
import { theme } from './state/theme.ts';
import { Anneal } from './views/anneal.tsx';
import { Chart } from './views/chart.tsx';
import { Dendrogram } from './views/dendrogram.tsx';
import { Density } from './views/density.tsx';
import { Heat } from './views/heat.tsx';
import { Structure } from './views/molecule.tsx';
import { Planes } from './views/planes.tsx';
import { Scene } from './views/scene.tsx';
import { sortable } from './views/sortable.ts';
import './style.css';
import './report.css';

function ShownScene({ figure, source, settings, asked }: {
  figure: SceneFigure; source: ReturnType<typeof sourceOf>; settings: Signal<Record<string, string>>; asked: Signal<{ group: number } | null>;
}) {
  const settle = (changes: Record<string, string | null>) => {
    const next = { ...settings.peek() };
    for (const [name, value] of Object.entries(changes)) {
      if (value === null) delete next[name];
      else next[name] = value;
    }
    settings.value = next;
  };
  return <Scene key={figure.name} source={source} settings={settings.value} settle={settle} asked={asked} />;
}

/// The scene that can show merged clusters, with the number of clusters before merging.
let merging: { most: number; show: (clusters: number) => void } | null = null;

function show(id: string, place: HTMLElement, figure: Figure): void {
  if (figure.kind === 'scene') {
    const asked = signal<{ group: number } | null>(null);
    const table = figure.table ? document.getElementById(figure.table) : null;
    table?.addEventListener('click', (event) => {
      const row = (event.target as Element).closest<HTMLElement>('tr[data-cluster]');
      if (!row) return;
      asked.value = { group: Number(row.dataset.cluster) };
      table.querySelectorAll('tr.on').forEach((one) => one.classList.remove('on'));
      row.classList.add('on');
      place.scrollIntoView({ block: 'nearest' });
    });
    const settings = signal<Record<string, string>>({});
    const most = figure.groupings[0]?.joins?.length ?? 0;
    if (most > 1) merging = { most, show: (clusters) => ((settings.value = { ...settings.value, merged: String(clusters) }), place.scrollIntoView({ block: 'nearest' })) };
    render(<ShownScene figure={figure} source={sourceOf(figure, id)} settings={settings} asked={asked} />, place);
  } else if (figure.kind === 'anneal') {
    const steps = figure.steps.map(([temperature, clusters, freeEnergy]) => ({ temperature, clusters, freeEnergy }));
    const splits = figure.splits.map(([temperature, parent, end, into]) => ({ temperature, parent, end, into }));
    const { command } = figure;
    // A page that shows this report in a frame with the attribute `data-keep` can run the method again.
    const frame = window.frameElement?.hasAttribute('data-keep') ? window.frameElement : null;
    const keep = (clusters: number) => {
      const number = `${clusters} ${clusters === 1 ? 'cluster' : 'clusters'}`;
      const shown = merging && clusters <= merging.most && <button type="button" onClick={() => merging!.show(clusters)}>Show {number}</button>;
      const kept = frame
        ? <button type="button" onClick={() => frame.dispatchEvent(new CustomEvent('lehr-keep', { detail: clusters }))}>Keep {number}</button>
        : command && <span>To keep {number}: <code>{command} -k {clusters}</code></span>;
      return shown || kept ? <p class="keep">{shown} {kept}</p> : null;
    };
    render(<Anneal steps={steps} splits={splits} unit={figure.unit} keep={keep} />, place);
  } else if (figure.kind === 'lines') {
    render(<div class="pair">{figure.lines.map((line) => <Chart key={line.title} {...line} />)}</div>, place);
  } else if (figure.kind === 'heat') {
    render(<Heat {...figure} levels={levels(figure.levels)} between={floats(figure.between)} />, place);
  } else if (figure.kind === 'dendrogram') {
    render(<Dendrogram {...figure} />, place);
  } else if (figure.kind === 'density') {
    render(<Density {...figure} />, place);
  } else {
    render(<Planes {...figure} planes={figure.planes.map(({ name, values }) => ({ name, values: floats(values) }))} />, place);
  }
}

const data = JSON.parse(document.getElementById('data')!.textContent!) as { figures: Record<string, Figure> };
// Scenes are drawn first, because the annealing figure needs the scene that can show fewer clusters.
const figures = Object.entries(data.figures);
for (const [id, figure] of [...figures.filter(([, { kind }]) => kind === 'scene'), ...figures.filter(([, { kind }]) => kind !== 'scene')]) {
  const place = document.getElementById(id);
  if (place) show(id, place, figure);
}
document.querySelectorAll<HTMLTableElement>('table.sortable').forEach(sortable);
document.querySelectorAll<HTMLElement>('[data-smiles]').forEach((one) => {
  const place = document.createElement('div');
  one.append(place);
  render(<Structure smiles={one.dataset.smiles!} width={190} height={130} />, place);
});
effect(() => {
  document.querySelectorAll<HTMLElement>('.swatch[data-cluster]').forEach((one) => (one.style.background = clusterColour(Number(one.dataset.cluster), theme.value)));
});
const told = document.createElement('div');
document.body.append(told);
render(<Told />, told);

function Told() {
  return <div class={`notice${notice.value ? ' shown' : ''}`} role="status" aria-live="polite">{notice.value}</div>;
}
