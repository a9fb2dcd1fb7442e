// An order for clusters that are too large for the best one, as miners used it until Bitcoin Core 30: in each step it takes the
// transaction that pays best together with its ancestors that are not taken yet; these ancestors come first.

import { compareRates, type Rate } from './fee-rate';
import type { Cluster } from './cluster';

/** A transaction with its ancestors that are not taken yet. */
interface Package extends Rate {
  readonly index: number;
}

/** The indexes in their order. Yields often. */
export function* orderByAncestors(cluster: Cluster): Generator<void, number[]> {
  const { fees, weights } = cluster;
  const ancestors = yield* allAncestors(cluster);
  const descendants: number[][] = fees.map(() => []);
  const packages: Package[] = [];
  const best = new PackageHeap();
  for (const [index, list] of ancestors.entries()) {
    let [fee, weight] = [0, 0];
    for (const one of list) {
      fee += fees[one] as number; // one for each
      weight += weights[one] as number;
      (descendants[one] as number[]).push(index);
    }
    const first = { index, fee, weight };
    packages.push(first);
    best.push(first);
    yield;
  }
  const order: number[] = [];
  const hasCome = new Uint8Array(fees.length);
  for (let next = best.pop(); next !== undefined; next = best.pop()) {
    // Of an outdated package something was taken, perhaps the transaction itself.
    if (packages[next.index] !== next) continue;
    const changed = new Set<number>();
    const coming = (ancestors[next.index] as number[]).filter((one) => hasCome[one] === 0);
    for (const one of coming) {
      hasCome[one] = 1;
      order.push(one);
      for (const index of descendants[one] as number[]) {
        const { fee, weight } = packages[index] as Package;
        packages[index] = { index, fee: fee - (fees[one] as number), weight: weight - (weights[one] as number) };
        changed.add(index);
      }
      yield;
    }
    for (const index of changed) if (hasCome[index] === 0) best.push(packages[index] as Package);
  }
  return order;
}

/** For each transaction, its ancestors and itself, parents first. */
function* allAncestors({ parents }: Cluster): Generator<void, number[][]> {
  const all: number[][] = [];
  for (let index = 0; index < parents.length; index++) {
    const found = new Set([index]);
    for (const one of found) for (const parent of parents[one] as readonly number[]) found.add(parent); // a list for each
    all.push([...found]);
    yield;
  }
  // A transaction has more ancestors than each of its ancestors.
  const count = (index: number): number => (all[index] as number[]).length;
  for (const list of all) {
    list.sort((a, b) => count(a) - count(b) || a - b);
    yield;
  }
  return all;
}

/** A heap with the best package on top; of two equally good packages, the one with the lower index. */
class PackageHeap {
  readonly #items: Package[] = [];

  push(item: Package): void {
    const items = this.#items;
    let at = items.length;
    for (let up = (at - 1) >> 1; at > 0 && isBetter(item, items[up] as Package); at = up, up = (at - 1) >> 1)
      items[at] = items[up] as Package;
    items[at] = item;
  }

  pop(): Package | undefined {
    const items = this.#items;
    const [first, last] = [items[0], items.pop()];
    if (last === undefined || items.length === 0) return first;
    let at = 0;
    for (;;) {
      let down = 2 * at + 1;
      const [left, right] = [items[down], items[down + 1]];
      if (left !== undefined && right !== undefined && isBetter(right, left)) down++;
      const better = items[down];
      if (better === undefined || !isBetter(better, last)) break;
      items[at] = better;
      at = down;
    }
    items[at] = last;
    return first;
  }
}

const isBetter = (a: Package, b: Package): boolean => (compareRates(a, b) || b.index - a.index) > 0;
