// The viewer of a node: a bar of five views, and the view that the address names.

import { render, type ComponentType } from 'preact';
import { useEffect, useErrorBoundary } from 'preact/hooks';
import { signal } from '@preact/signals';
import { line, services, trouble, watch } from './state/node.ts';
import { notice } from './state/notice.ts';
import { explored, route, type View, written } from './state/route.ts';
import Data from './views/data.tsx';
import JobsView from './views/jobs.tsx';
import { Token } from './views/token.tsx';
import Workflows from './views/workflows.tsx';
import { Trouble } from './views/fault.tsx';

const NAMES: Record<View, string> = { data: 'Data', explore: 'Explore', jobs: 'Jobs', workflows: 'Workflows', node: 'Node' };

const LINES = {
  connecting: ['waiting', 'connecting'],
  live: ['live', 'live'],
  asking: ['live', 'live'],
  lost: ['lost', 'no answer'],
} as const;

const missing = signal(false);

/// Returns a view whose code is loaded when it is first opened.
function loaded(load: () => Promise<{ default: ComponentType }>): ComponentType {
  const view = signal<ComponentType | null>(null);
  return () => {
    useEffect(() => {
      if (!view.value) load().then((module) => (view.value = module.default)).catch(() => (missing.value = true));
    }, []);
    const Loaded = view.value;
    if (missing.value) return <Trouble error="The viewer could not be loaded. Reload the page." />;
    return Loaded ? <Loaded /> : <p class="empty">Loading…</p>;
  };
}

const Explore = loaded(() => import('./views/explore.tsx'));
const NodeView = loaded(() => import('./views/node.tsx'));

const VIEWS: Record<View, ComponentType> = { data: Data, explore: Explore, jobs: JobsView, workflows: Workflows, node: NodeView };

function Shown() {
  const [error, again] = useErrorBoundary();
  const { view } = route.value;
  const Chosen = VIEWS[view];
  if (error) {
    return (
      <section class="card">
        <h2>This view has failed</h2>
        <Trouble error={error} />
        <button type="button" onClick={again}>Try again</button>
      </section>
    );
  }
  if (!services.value) {
    return trouble.value ? <Trouble error={trouble.value} code="unavailable" /> : <p class="empty">Asking the node…</p>;
  }
  return <Chosen />;
}

function App() {
  const { view } = route.value;
  const [state, word] = LINES[line.value];
  useEffect(() => {
    document.title = `${NAMES[view]} · Lehr`;
  }, [view]);
  return (
    <>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}>
        To the content
      </a>
      <header class="top">
        <a class="mark" href={written('data', {})}>
          <svg viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
            <circle cx="12" cy="4.500" r="2.600" /><circle cx="6" cy="12.500" r="2.600" /><circle cx="18" cy="12.500" r="2.600" />
            <circle cx="3.400" cy="20.600" r="1.900" /><circle cx="9.400" cy="20.600" r="1.900" /><circle cx="15.600" cy="20.600" r="1.900" /><circle cx="21" cy="20.600" r="1.900" />
          </svg>
          lehr
        </a>
        <nav aria-label="Views">
          {(Object.keys(NAMES) as View[]).map((name) => (
            <a key={name} href={name === 'explore' ? explored.value : written(name, {})} aria-current={name === view ? 'page' : undefined}>
              {NAMES[name]}
            </a>
          ))}
        </nav>
        <span class={`line ${state}`}>{word}</span>
      </header>
      <main id="main" tabIndex={-1} class={view}>
        <h1 class="unseen">{NAMES[view]}</h1>
        <Shown key={view} />
      </main>
      <div class={`notice${notice.value ? ' shown' : ''}`} role="status" aria-live="polite">{notice.value}</div>
      <Token />
    </>
  );
}

watch();
render(<App />, document.getElementById('app')!);
