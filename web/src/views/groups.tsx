// The list of clusters or groups beside the picture. Each can be selected, renamed, hidden and isolated, and clusters can be merged to show fewer.

import { useSignal } from '@preact/signals';
import type { Theme } from '../colour/palette.ts';
import { groupColour, type Colouring, type Group } from '../state/clusters.ts';
import { howOf, type How } from '../state/selection.ts';
import { capital, count, figure } from '../state/words.ts';
import { Icon } from './icon.tsx';

/// The maximum number of groups listed before the user asks for the rest.
const LISTED = 40;
/// The maximum number of clusters named as the first that a cluster would merge with.
const PARTNERS_LISTED = 6;

/// Returns what the groups of a job are called: `Cluster` or `Component`, as in `components of mixture-1`. Classes and values of a column have names of their own.
export function wordOf(title: string): string | undefined {
  return /^(Cluster|Component)s?\b/.exec(capital(title))?.[1];
}

/// Returns the title of a group outside the list, such as `Cluster 3`.
export function titleOfGroup({ number, name, isMerged, isNamed }: Group, word: string | undefined): string {
  return number < 0 || !word || isNamed || (name !== String(number) && !isMerged) ? name : `${word}${isMerged ? 's' : ''} ${name}`;
}

/// Describes the mean probability of a cluster's rows, and the first few clusters that it would merge with.
function certaintyOf({ probability, partners }: Group): string {
  const others = partners ? partners.split('+') : [];
  const more = others.length - PARTNERS_LISTED;
  const listed = more > 0 ? [...others.slice(0, PARTNERS_LISTED), `${count(more)} more`] : others;
  return [probability !== undefined && `mean probability ${probability.toFixed(2)}`, listed.length > 0 && `would merge with ${new Intl.ListFormat('en-GB').format(listed)}`].filter(Boolean).join('; ');
}

export function Groups({ suffix, grouping, rows, theme, hidden, word, most, total, hide, rename, merge, choose, reach }: {
  /// The number of clusters if they can be merged to show fewer, or else 0.
  most: number; merge: (clusters: number) => void; suffix: string; grouping: Colouring; rows: number;
  /// The number of selected rows, and a function that goes to them.
  total: number; reach: () => void; theme: Theme; hidden: Set<number>; word: string | undefined; hide: (next: Set<number>) => void; rename: (group: Group, name: string) => void; choose: (group: number, how: How) => void;
}) {
  const called = word ? `${word}s` : grouping.title;
  const isAll = useSignal(false);
  const renaming = useSignal<number | null>(null);
  const search = useSignal('');
  const all = grouping.groups.map((_, at) => at);
  const found = all.filter((at) => grouping.groups[at].name.toLowerCase().includes(search.value.trim().toLowerCase()));
  const listed = isAll.value ? found : found.slice(0, LISTED);
  const toggle = (at: number) => {
    const next = new Set(hidden);
    if (!next.delete(at)) next.add(at);
    hide(next);
  };
  const isOnly = (at: number) => !hidden.has(at) && hidden.size === all.length - 1;
  const number = grouping.groups.filter((group) => group.number >= 0).length;
  return (
    <section class="card" aria-labelledby={`groups${suffix}`}>
      <div class="head tight">
        <h2 id={`groups${suffix}`}>{called} <span class="soft">{count(number)}</span></h2>
        {hidden.size > 0 && <button type="button" onClick={() => hide(new Set())}>Show all</button>}
      </div>
      {most > 2 && (
        <label class="merged" title="Clusters merge in the order in which that raises the squared distances least (Ward's rule)">
          Merge to <input type="range" min="1" max={most} step="1" value={number} aria-valuetext={`${number} of ${most} clusters`} onInput={(event) => merge(Number(event.currentTarget.value))} />
          {count(number)} of {count(most)}
        </label>
      )}
      {grouping.groups.length > LISTED && (
        <label>
          <span class="unseen">Search {called}</span>
          <input type="search" placeholder="Search" value={search.value} onInput={(event) => (search.value = event.currentTarget.value)} />
        </label>
      )}
      {word && all.length === 1 && most < 2 && <p class="note">No groups found: all rows are one group.</p>}
      <p class="note">
        {total ? <button type="button" class="link" onClick={reach}>{count(total)} rows selected: see and export them</button> : 'Click a group to select its rows.'}
      </p>
      <ul class="groups">
        {listed.map((at) => {
          const group = grouping.groups[at];
          const title = titleOfGroup(group, word);
          const certainty = certaintyOf(group);
          if (renaming.value === group.number) {
            return (
              <li key={group.number}>
                <form
                  class="inline"
                  onSubmit={(event) => {
                    event.preventDefault();
                    rename(group, event.currentTarget.querySelector('input')!.value.trim());
                    renaming.value = null;
                  }}
                >
                  <input aria-label={`New name of ${title}`} defaultValue={group.name} maxLength={80} ref={(one) => one?.focus()} onKeyDown={(event) => event.key === 'Escape' && (event.stopPropagation(), (renaming.value = null))} />
                  <button type="submit">Name</button>
                </form>
              </li>
            );
          }
          return (
            <li key={group.number} class={hidden.has(at) ? 'off' : ''}>
              <button
                type="button"
                class="name"
                title="Select its rows. Shift adds, Alt takes away."
                onClick={(event) => choose(at, howOf(event))}
              >
                <i class="swatch" style={{ background: groupColour(group, theme) }} />
                <span class="text">{title}</span>
                <span class="number">{count(group.rows)}</span>
                <span class="number soft">{figure((100 * group.rows) / rows, 2)} %</span>
                {group.about && all.length > 1 && <small>{group.about}</small>}
                {certainty && <small>{certainty}</small>}
              </button>
              {word && group.number >= 0 && (
                <button type="button" class="bare" title={`Rename ${title}`} aria-label={`Rename ${title}`} onClick={() => (renaming.value = group.number)}><Icon name="pen" /></button>
              )}
              <button type="button" class="bare" aria-pressed={isOnly(at)} title={`Show only ${title}`} aria-label={`Show only ${title}`} onClick={() => hide(isOnly(at) ? new Set() : new Set(all.filter((one) => one !== at)))}>
                <Icon name="only" />
              </button>
              <button type="button" class="bare" aria-pressed={hidden.has(at)} title={`Hide ${title}`} aria-label={`Hide ${title}`} onClick={() => toggle(at)}>
                <Icon name={hidden.has(at) ? 'hidden' : 'shown'} />
              </button>
            </li>
          );
        })}
      </ul>
      <p class="note icons">
        {word && <><Icon name="pen" /> rename </>}<Icon name="only" /> show only <Icon name="shown" /> hide
      </p>
      {found.length > listed.length && <button type="button" onClick={() => (isAll.value = true)}>Show all {count(found.length)}</button>}
    </section>
  );
}
