// The current view and its settings, in the hash of the address. So a link or the Back button leads there again.

import { effect, signal } from '@preact/signals';

export type View = 'data' | 'explore' | 'jobs' | 'workflows' | 'node';

export interface Route {
  view: View;
  settings: Record<string, string>;
}

const VIEWS: View[] = ['data', 'explore', 'jobs', 'workflows', 'node'];

export function read(hash: string): Route {
  const [, name, search] = hash.match(/^#\/?([a-z]*)(?:\?(.*))?$/) ?? [];
  const view = VIEWS.find((one) => one === name) ?? 'data';
  return { view, settings: Object.fromEntries(new URLSearchParams(search ?? '')) };
}

export function written(view: View, settings: Record<string, string | null | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(settings)) if (value) search.set(name, value);
  const text = search.toString();
  return `#/${view}${text ? `?${text}` : ''}`;
}

export const route = signal<Route>(read(location.hash));

/// The address of Explore with the data that the page showed there last.
export const explored = signal(written('explore', {}));

effect(() => {
  const { view, settings } = route.value;
  if (view === 'explore' && settings.data) explored.value = written(view, settings);
});

addEventListener('hashchange', () => {
  const before = route.peek();
  const after = read(location.hash);
  if (written(before.view, before.settings) !== written(after.view, after.settings)) route.value = after;
});

export function go(view: View, settings: Record<string, string | null | undefined> = {}): void {
  location.hash = written(view, settings);
}

/// Changes settings of the view without a new entry in the browser's history.
export function settle(changes: Record<string, string | null | undefined>): void {
  const { view, settings } = route.peek();
  const hash = written(view, { ...settings, ...changes });
  history.replaceState(null, '', hash);
  route.value = read(hash);
}
