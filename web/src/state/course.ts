// How clusters came about while the temperature fell: steps, how long each number of clusters lasted, and the tree of their splits.

export interface Step {
  temperature: number;
  clusters: number;
  freeEnergy: number;
}

export interface Split {
  temperature: number;
  /// The component that divided, by its place among those of its time.
  parent: number;
  /// Components after it.
  clusters: number;
}

/// A number of clusters and the temperatures between which it lasted.
export interface Stay {
  clusters: number;
  from: number;
  to: number;
  /// The step at which it ends.
  last: number;
}

/// The steps that fall, before hardening begins at a higher temperature again.
export function growth(steps: Step[]): Step[] {
  const end = steps.findIndex((step, at) => at > 0 && step.temperature > steps[at - 1].temperature);
  return (end < 0 ? steps : steps.slice(0, end)).filter(({ temperature }) => temperature > 0);
}

export function stays(steps: Step[]): Stay[] {
  const found: Stay[] = [];
  steps.forEach(({ temperature, clusters }, at) => {
    const last = found[found.length - 1];
    if (last) last.to = temperature;
    if (last?.clusters === clusters) last.last = at;
    else found.push({ clusters, from: temperature, to: temperature, last: at });
  });
  return found;
}

export interface Branch {
  /// The branch that it came from; -1 for the first.
  parent: number;
  birth: number;
  /// Its place among all, from the top.
  place: number;
}

/// The tree, as far as splits tell it: where clusters have merged, what is known does not say which, and the tree ends there.
export function treeOf(splits: Split[]): { branches: Branch[]; until: number | null } {
  const branches: Branch[] = [{ parent: -1, birth: Infinity, place: 0 }];
  const order = [0];
  let until: number | null = null;
  for (const { temperature, parent, clusters } of splits) {
    if (clusters !== branches.length + 1) {
      until = temperature;
      break;
    }
    branches.push({ parent, birth: temperature, place: 0 });
    order.splice(order.indexOf(parent) + 1, 0, branches.length - 1);
  }
  order.forEach((branch, place) => (branches[branch].place = place));
  return { branches, until };
}

/// Where a replay begins: where the number of clusters of the result lasted, or else the number that lasted longest.
export function first(lasting: Stay[], steps: Step[]): Stay | undefined {
  const found = steps[steps.length - 1]?.clusters;
  const widths = lasting.filter(({ clusters }) => clusters === found);
  return widest(widths) ?? widest(lasting);
}

/// The number of several clusters that lasted over the widest range of temperatures.
export function widest(lasting: Stay[]): Stay | undefined {
  const width = ({ from, to }: Stay) => Math.log(from / to);
  return lasting.filter(({ clusters }) => clusters > 1).reduce<Stay | undefined>((best, one) => (best && width(best) >= width(one) ? best : one), undefined);
}
