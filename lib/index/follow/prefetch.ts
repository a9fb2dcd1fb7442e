// The rows of the active chain's blocks in order, a few of them under way while one is worked on.

import type { NodeSource } from '../../node/types';
import type { IndexWriter } from '../write/index-writer';
import type { BlockRows } from '../scan/rows';

/** Enough for the node's disk and the scanning thread to be busy while blocks are folded in. */
const IN_FLIGHT = 5;

export interface FetchedBlock {
  readonly height: number;
  /** undefined: the node has no such block, or no longer. */
  readonly rows: BlockRows | undefined;
}

/** The blocks from one height to another, both included. Whoever stops early leaves the rest to itself. */
export async function* readAhead(node: NodeSource, indexer: IndexWriter, from: number, to: number): AsyncGenerator<FetchedBlock> {
  const underWay: Promise<FetchedBlock>[] = [];
  for (let next = from; next <= to || underWay.length > 0;) {
    while (next <= to && underWay.length < IN_FLIGHT) {
      const fetched = fetchBlock(node, indexer, next++);
      // Whether anybody still waits for it or not: a rejection that nobody hears ends the node.
      fetched.catch(() => undefined);
      underWay.push(fetched);
    }
    yield await (underWay.shift() as Promise<FetchedBlock>); // not empty: see the loops
  }
}

async function fetchBlock(node: NodeSource, indexer: IndexWriter, height: number): Promise<FetchedBlock> {
  const hash = await node.activeHash(height);
  const raw = hash && await node.rawBlock(hash);
  return { height, rows: raw && await indexer.rowsOf(raw, height) };
}
