// How long the event loop is held when a transaction that is costly for the pool by script enters or leaves the node's pool.

import { hash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { keyOf } from '../../lib/bitcoin/hash';
import { percentile } from '../measure/percentile';
import { Coinbases } from '../../test/support/chain/coinbases';
import { mine, mineOnly } from '../../test/support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../../test/support/node/rest-node';
import { ownScripts, WIDE, WideTransactions } from '../../test/support/chain/wide-transactions';
import type { HostTransaction } from '../../lib/node/host';

export interface LargeTransactionFigures {
  readonly name: string;
  /** Of all listeners of the pool, in ms. */
  readonly lowestMs: number;
  readonly medianMs: number;
  /** The median as a multiple of making a map of as many scripts by their hashes, in the same rounds. */
  readonly timesMap: number;
}

/** As many coinbases as are worth the same on regtest, enough for five rounds. */
const BLOCKS = 240;
const MOST_ROUNDS = 5;

export async function* largeTransactionFigures(rounds: number): AsyncGenerator<LargeTransactionFigures> {
  if (rounds > MOST_ROUNDS) throw new Error(`expected ${MOST_ROUNDS} rounds at most, got ${rounds}`);
  const served = await openRestNode({ settings: { 'rest-addresses': true, 'rest-core': 'modern' } });
  const { node } = served;
  try {
    const pooled = async (transaction: HostTransaction): Promise<HostTransaction> => {
      await node.mempool.addTX(transaction);
      return transaction;
    };
    const wide = new WideTransactions(await Coinbases.mine(node, BLOCKS), pooled);
    await untilReady(served);
    for (const name of WideTransactions.names)
      yield await figuresOf(served, name, rounds, async () => {
        const transaction = await wide.made(name);
        return heldMs(served, 'tx', () => pooled(transaction));
      });
    yield await figuresOf(served, 'that leaves before thousands of others that spend its outputs', rounds, async () => {
      const parent = await wide.withChildren();
      return heldMs(served, 'remove entry', () => mineOnly(node, [parent]));
    });
  } finally {
    await node.close();
  }
}

async function figuresOf(
  { node }: RestNode,
  name: string,
  rounds: number,
  measure: () => Promise<number>
): Promise<LargeTransactionFigures> {
  const [held, maps]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    held.push(await measure());
    maps.push(mapMs());
    while (node.mempool.map.size > 0) await mine(node, 1);
  }
  const medianMs = percentile(held, 0.5);
  return { name, lowestMs: Math.min(...held), medianMs, timesMap: medianMs / percentile(maps, 0.5) };
}

/** The time that all listeners of the pool took for the last event of this name while `work` ran. */
async function heldMs({ node: { mempool } }: RestNode, event: 'tx' | 'remove entry', work: () => Promise<unknown>): Promise<number> {
  let [begun, held] = [NaN, NaN];
  const first = (): void => void (begun = performance.now());
  const last = (): void => void (held = performance.now() - begun);
  mempool.prependListener(event, first);
  mempool.on(event, last);
  await work();
  mempool.removeListener(event, first);
  mempool.removeListener(event, last);
  return held;
}

function mapMs(): number {
  const begun = performance.now();
  const scripts = new Map(ownScripts(WIDE).map((script) => [keyOf(hash('sha256', script, 'buffer')), script]));
  if (scripts.size !== WIDE) throw new Error('expected a script for each number');
  return performance.now() - begun;
}
