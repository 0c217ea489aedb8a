// The course of an annealing: its steps, how long each number of clusters lasted, and the tree of the splits.

export interface Step {
  temperature: number;
  clusters: number;
  freeEnergy: number;
}

/// A division. Component 0 is the first; the k-th division creates component k.
export interface Split {
  temperature: number;
  /// The number of the component that was divided.
  parent: number;
  /// The temperature at which the new component was merged into another or removed. Null if it lasted.
  end: number | null;
  /// The number of the component that it was merged into. Null if it lasted, or was removed without one.
  into: number | null;
}

/// A number of clusters, and the temperatures from and to which it lasted.
export interface Stay {
  clusters: number;
  from: number;
  to: number;
  /// The index of the last step with this number of clusters.
  last: number;
}

/// Returns the steps of the cooling with a temperature above 0.
///
/// The cooling ends where the run returns to an earlier state to harden it. There the temperature does not fall, or the number of clusters is not the one that
/// the splits and merges so far give.
export function growth(steps: Step[], splits: Split[]): Step[] {
  const alive = (now: number) => splits.reduce((sum, { temperature, end }) => sum + Number(temperature >= now) - Number(end !== null && end >= now), 1);
  const returned = steps.findIndex(
    ({ temperature, clusters }, at) => at > 0 && (temperature >= steps[at - 1].temperature || (splits.length > 0 && clusters !== alive(temperature))),
  );
  return (returned < 0 ? steps : steps.slice(0, returned)).filter(({ temperature }) => temperature > 0);
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

/// Returns the place of each component among all components, counted from the top. A new component stands below the one that it came from.
export function places(splits: Split[]): number[] {
  const order = [0];
  splits.forEach(({ parent }, at) => order.splice(order.indexOf(parent) + 1, 0, at + 1));
  const found: number[] = [];
  order.forEach((component, place) => (found[component] = place));
  return found;
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
