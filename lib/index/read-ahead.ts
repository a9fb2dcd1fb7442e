// Raw blocks of the active chain in order, a few of them under way while one is worked on.

import type { NodeSource } from '../node/types';

/** Enough for the node's disk to be busy while a block is folded in. */
const IN_FLIGHT = 4;

export interface FetchedBlock {
  readonly height: number;
  /** undefined: the node has no such block, or no longer. */
  readonly raw: Buffer | undefined;
}

/** The blocks from one height to another, both included. Whoever stops early leaves the rest to itself. */
export async function* readAhead(node: NodeSource, from: number, to: number): AsyncGenerator<FetchedBlock> {
  const underWay: Promise<FetchedBlock>[] = [];
  for (let next = from; next <= to || underWay.length > 0;) {
    while (next <= to && underWay.length < IN_FLIGHT) {
      const fetched = fetchBlock(node, next++);
      // Whether anybody still waits for it or not: a rejection that nobody hears ends the node.
      fetched.catch(() => undefined);
      underWay.push(fetched);
    }
    yield await (underWay.shift() as Promise<FetchedBlock>); // not empty: see the loops
  }
}

async function fetchBlock(node: NodeSource, height: number): Promise<FetchedBlock> {
  const hash = await node.activeHash(height);
  return { height, raw: hash && await node.rawBlock(hash) };
}
