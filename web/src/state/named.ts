// The names that a user has given to clusters, and the groups that a user has hidden. Both are settings in the address.

import type { Colouring, Group } from './clusters.ts';

/// For the key of each set of labels, the names of clusters. `3` stands for cluster 3, `3/5` for the group that cluster 3 leads when 5 groups are left.
type Names = Record<string, Record<string, string>>;

function namesOf(setting: string | undefined): Names {
  try {
    return Object(JSON.parse(setting ?? '{}'));
  } catch {
    return {};
  }
}

const keyOf = ({ number, isMerged }: Group, left: number) => (isMerged ? `${number}/${left}` : String(number));

/// Returns the colouring with the names that the setting has for a set of labels. `left` is the number of groups if clusters are merged.
export function named(colouring: Colouring, setting: string | undefined, labels: string, left = 0): Colouring {
  const names = namesOf(setting)[labels];
  if (!names) return colouring;
  return {
    ...colouring,
    groups: colouring.groups.map((group) => {
      const name = names[keyOf(group, left)];
      return typeof name === 'string' && group.number >= 0 ? { ...group, name, isNamed: true } : group;
    }),
  };
}

/// Returns the setting after a group got a new name. An empty name removes the given one.
export function renamed(setting: string | undefined, labels: string, group: Group, left: number, name: string): string | null {
  const all = namesOf(setting);
  const { [keyOf(group, left)]: _, ...others } = all[labels] ?? {};
  const next = { ...all, [labels]: name ? { ...others, [keyOf(group, left)]: name } : others };
  return Object.values(next).some((one) => Object.keys(one).length) ? JSON.stringify(next) : null;
}

/// Returns the indexes of the groups that the setting hides. A setting of another colouring, whose prefix differs, hides none. `!` lists the shown groups.
export function hiddenIn(setting: string | undefined, prefix: string, groups: Group[]): Set<number> {
  if (!setting?.startsWith(prefix)) return new Set();
  const isShown = setting[prefix.length] === '!';
  const listed = new Set(setting.slice(prefix.length + Number(isShown)).split(',').filter(Boolean).map(Number));
  return new Set(groups.flatMap(({ number }, at) => (listed.has(number) === isShown ? [] : [at])));
}

/// Returns the setting that hides groups, in the shorter of both forms.
export function hiddenAs(hidden: Set<number>, prefix: string, groups: Group[]): string | null {
  if (!hidden.size) return null;
  const isShown = 2 * hidden.size > groups.length;
  return prefix + (isShown ? '!' : '') + groups.flatMap(({ number }, at) => (hidden.has(at) === isShown ? [] : [number])).join();
}
