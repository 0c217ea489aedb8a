// How long the oldest item of a port has waited at least, from looks at the node.

export interface Port {
  name: string;
  waiting: number;
  capacity: number | null;
  /// The number of items that the port has accepted, and the number of items that have left it.
  posted: number;
  taken: number;
}

export class Ages {
  /// By port, the looks at which the number of accepted items had changed, oldest first.
  private readonly looks = new Map<string, { at: number; posted: number }[]>();

  /// Notes a look at time `now`, and returns for how long the oldest item has waited at least. Null if the port is empty.
  ///
  /// Items are numbered in the order of arrival, and the oldest has the number `taken`. So it was there at each look at which more than `taken` items had arrived.
  note(key: string, { waiting, posted, taken }: Port, now: number): number | null {
    let looks = this.looks.get(key) ?? [];
    // A service that was started again counts from 0.
    if (looks.length && looks[looks.length - 1].posted > posted) looks = [];
    looks = looks.filter((look) => look.posted > taken);
    if (looks[looks.length - 1]?.posted !== posted) looks.push({ at: now, posted });
    this.looks.set(key, looks);
    return waiting ? now - looks[0].at : null;
  }
}
