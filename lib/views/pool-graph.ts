// Who depends on whom in the transaction pool, and what each transaction's ancestors and
// descendants come to, itself included. The graph follows the pool: what comes, goes or
// changes its fee concerns its relatives, and only they are summed up anew.

export interface PoolGraphEntry {
  readonly txid: Buffer;
  readonly size: number;
  readonly modifiedFee: number;
  /** Txids that the inputs spend, confirmed ones included, repeats kept. */
  readonly spends: readonly Buffer[];
}

/** Sums over a set of transactions; fees in satoshis, as modified. */
export interface PoolTotals {
  readonly count: number;
  readonly size: number;
  readonly fees: number;
}

const NOTHING: PoolTotals = { count: 0, size: 0, fees: 0 };

/** A transaction's place in the pool. */
export class PoolPlace<E extends PoolGraphEntry> {
  readonly parents = new Set<PoolPlace<E>>();
  readonly children = new Set<PoolPlace<E>>();
  ancestors = NOTHING;
  descendants = NOTHING;
  /** As it was when the graph last looked. */
  modifiedFee: number;
  /** The last update that saw it. */
  seen = 0;
  /** The last walk that came by. */
  walk = 0;

  constructor(readonly entry: E) {
    this.modifiedFee = entry.modifiedFee;
  }
}

/** What an update has changed. */
export interface PoolChange<E extends PoolGraphEntry> {
  /** Those whose sums, parents or children may be others than before. */
  readonly touched: readonly PoolPlace<E>[];
  readonly removed: readonly PoolPlace<E>[];
}

/** Strings of one character per byte make quick keys. */
const keyOf = (txid: Buffer): string => txid.toString('latin1');

export class PoolGraph<E extends PoolGraphEntry> {
  readonly #places = new Map<E, PoolPlace<E>>();
  readonly #byTxid = new Map<string, PoolPlace<E>>();
  /** By the txids that they spend. */
  readonly #spenders = new Map<string, Set<PoolPlace<E>>>();
  #updates = 0;
  #walks = 0;

  /**
   * Brings the graph to the pool's entries of now: an entry is known by its object. Yields
   * often; must be run to its end before the next one.
   */
  *update(entries: readonly E[]): Generator<void, PoolChange<E>> {
    const { added, changed } = yield* this.#look(entries);
    const removed = [...this.#places.values()].filter(({ seen }) => seen !== this.#updates);
    const before = yield* this.#relatives([...removed, ...changed]);
    for (const place of removed) {
      this.#remove(place);
      yield;
    }
    for (const place of added) {
      this.#add(place);
      yield;
    }
    const touched = new Set([...before, ...yield* this.#relatives(added)].filter(({ seen }) => seen === this.#updates));
    for (const place of touched) {
      place.ancestors = this.#sum(place, 'parents');
      place.descendants = this.#sum(place, 'children');
      yield;
    }
    return { touched: [...touched], removed };
  }

  *#look(entries: readonly E[]): Generator<void, { readonly added: PoolPlace<E>[]; readonly changed: PoolPlace<E>[] }> {
    const added: PoolPlace<E>[] = [];
    const changed: PoolPlace<E>[] = [];
    this.#updates++;
    for (const entry of entries) {
      const known = this.#places.get(entry);
      const place = known ?? new PoolPlace(entry);
      place.seen = this.#updates;
      if (known === undefined) {
        added.push(place);
      } else if (known.modifiedFee !== entry.modifiedFee) {
        known.modifiedFee = entry.modifiedFee;
        changed.push(known);
      }
      yield;
    }
    return { added, changed };
  }

  #add(place: PoolPlace<E>): void {
    const { entry } = place;
    const key = keyOf(entry.txid);
    this.#places.set(entry, place);
    this.#byTxid.set(key, place);
    for (const child of this.#spenders.get(key) ?? []) link(place, child);
    for (const txid of entry.spends) {
      const spent = keyOf(txid);
      const spenders = this.#spenders.get(spent);
      if (spenders === undefined) this.#spenders.set(spent, new Set([place]));
      else spenders.add(place);
      const parent = this.#byTxid.get(spent);
      if (parent !== undefined) link(parent, place);
    }
  }

  #remove(place: PoolPlace<E>): void {
    const { entry, parents, children } = place;
    this.#places.delete(entry);
    this.#byTxid.delete(keyOf(entry.txid));
    for (const parent of parents) parent.children.delete(place);
    for (const child of children) child.parents.delete(place);
    for (const txid of entry.spends) {
      const spent = keyOf(txid);
      const spenders = this.#spenders.get(spent);
      if (spenders?.delete(place) === true && spenders.size === 0) this.#spenders.delete(spent);
    }
  }

  /** The places, their ancestors and their descendants. */
  *#relatives(places: readonly PoolPlace<E>[]): Generator<void, Set<PoolPlace<E>>> {
    const found = new Set<PoolPlace<E>>();
    for (const direction of ['parents', 'children'] as const) {
      // One walk for all: what one has passed, the next need not.
      this.#walks++;
      for (const start of places) {
        this.#walkFrom(start, direction, (place) => found.add(place));
        yield;
      }
    }
    return found;
  }

  #sum(start: PoolPlace<E>, direction: 'parents' | 'children'): PoolTotals {
    const sum = { count: 0, size: 0, fees: 0 };
    this.#walks++;
    this.#walkFrom(start, direction, ({ entry, modifiedFee }) => {
      sum.count++;
      sum.size += entry.size;
      sum.fees += modifiedFee;
    });
    return sum;
  }

  /** Visits each place once that this walk has not been at yet. */
  #walkFrom(start: PoolPlace<E>, direction: 'parents' | 'children', visit: (place: PoolPlace<E>) => void): void {
    if (start.walk === this.#walks) return;
    start.walk = this.#walks;
    const pending = [start];
    for (let place = pending.pop(); place !== undefined; place = pending.pop()) {
      visit(place);
      for (const next of place[direction]) {
        if (next.walk === this.#walks) continue;
        next.walk = this.#walks;
        pending.push(next);
      }
    }
  }
}

function link<E extends PoolGraphEntry>(parent: PoolPlace<E>, child: PoolPlace<E>): void {
  parent.children.add(child);
  child.parents.add(parent);
}
