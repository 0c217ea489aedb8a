// The course of an annealing: its steps, how long each number of clusters lasted, and the tree of the splits.

export interface Step {
  temperature: number;
  clusters: number;
  freeEnergy: number;
}

export interface Split {
  temperature: number;
  /// The index of the component that was split, among the components before the split.
  parent: number;
  /// The number of components after the split.
  clusters: number;
}

/// A number of clusters, and the temperatures from and to which it lasted.
export interface Stay {
  clusters: number;
  from: number;
  to: number;
  /// The index of the last step with this number of clusters.
  last: number;
}

/// Returns the steps of the cooling with a temperature above 0. The cooling ends when the temperature first rises, because hardening begins there.
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
  /// The index of the branch from which this one split, or -1 for the first branch.
  parent: number;
  birth: number;
  /// The place of the branch among all branches, counted from the top.
  place: number;
}

/// Returns the tree of the splits. The splits do not tell which clusters merge, so after a merge, the tree ends at the next split, whose temperature is
/// `until`.
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

/// Returns where a replay begins: where the number of clusters of the result lasted, or else where any number lasted longest.
export function first(lasting: Stay[], steps: Step[]): Stay | undefined {
  const found = steps[steps.length - 1]?.clusters;
  const widths = lasting.filter(({ clusters }) => clusters === found);
  return widest(widths) ?? widest(lasting);
}

/// Returns the stay over the largest ratio of temperatures, among those with more than one cluster.
export function widest(lasting: Stay[]): Stay | undefined {
  const width = ({ from, to }: Stay) => Math.log(from / to);
  return lasting.filter(({ clusters }) => clusters > 1).reduce<Stay | undefined>((best, one) => (best && width(best) >= width(one) ? best : one), undefined);
}
