// Who depends on whom in the transaction pool, and what each transaction's ancestors and
// descendants come to, itself included.

export interface PoolGraphEntry {
  readonly txid: Buffer;
  readonly size: number;
  readonly modifiedFee: number;
  /** Txids that the inputs spend, confirmed ones included, repeats kept. */
  readonly spends: readonly Buffer[];
}

/** Sums over a set of transactions; fees in satoshis, as modified. */
export interface PoolTotals {
  count: number;
  size: number;
  fees: number;
}

/** A transaction's place in the pool. Parents and children are positions in the entries given. */
export interface PoolPlace {
  readonly parents: number[];
  readonly children: number[];
  readonly ancestors: PoolTotals;
  readonly descendants: PoolTotals;
}

/** Strings of one character per byte make quick keys. */
const keyOf = (txid: Buffer): string => txid.toString('latin1');

function add(totals: PoolTotals, { size, modifiedFee }: PoolGraphEntry): void {
  totals.count++;
  totals.size += size;
  totals.fees += modifiedFee;
}

function* linkParents(entries: readonly PoolGraphEntry[], places: readonly PoolPlace[]): Generator<void, void> {
  const positions = new Map<string, number>();
  for (const [position, { txid }] of entries.entries()) {
    positions.set(keyOf(txid), position);
    yield;
  }
  for (const [position, { spends }] of entries.entries()) {
    const { parents } = places[position] as PoolPlace; // one place per entry
    for (const txid of spends) {
      const parent = positions.get(keyOf(txid));
      if (parent === undefined || parents.includes(parent))
        continue;
      parents.push(parent);
      (places[parent] as PoolPlace).children.push(position);
    }
    yield;
  }
}

/** Visits every ancestor of each entry once: its sums count upwards and downwards alike. */
function* sumUp(entries: readonly PoolGraphEntry[], places: readonly PoolPlace[]): Generator<void, void> {
  const visitedFor = new Int32Array(entries.length).fill(-1);
  for (const [position, entry] of entries.entries()) {
    const pending = [position];
    visitedFor[position] = position;
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      const place = places[next] as PoolPlace;
      add((places[position] as PoolPlace).ancestors, entries[next] as PoolGraphEntry);
      add(place.descendants, entry);
      for (const parent of place.parents) {
        if (visitedFor[parent] === position)
          continue;
        visitedFor[parent] = position;
        pending.push(parent);
      }
    }
    yield;
  }
}

/** The place of each entry, in the order of the entries. Yields several times per entry. */
export function* poolGraph(entries: readonly PoolGraphEntry[]): Generator<void, readonly PoolPlace[]> {
  const places: PoolPlace[] = [];
  while (places.length < entries.length) {
    places.push({
      parents: [],
      children: [],
      ancestors: { count: 0, size: 0, fees: 0 },
      descendants: { count: 0, size: 0, fees: 0 }
    });
    yield;
  }
  yield* linkParents(entries, places);
  yield* sumUp(entries, places);
  return places;
}
