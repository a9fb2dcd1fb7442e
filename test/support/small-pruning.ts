// Nodes of regtest that prune as if they had very little room; bcoin's own rules begin at 1,000 blocks.

import { after, before } from 'mocha';
import { bcoin } from './bcoin';

/** The first so many blocks are never thrown away, as on every network of bcoin's. */
export const ALWAYS_KEPT = 5;
/** Nor are the last so many. */
export const KEPT_BLOCKS = 10;

/** For the tests of a group. */
export function withSmallPruning(): void {
  const { block } = bcoin.Network.get('regtest');
  const asShipped = { ...block };
  before(() => {
    Object.assign(block, { keepBlocks: KEPT_BLOCKS, pruneAfterHeight: ALWAYS_KEPT });
  });
  after(() => {
    Object.assign(block, asShipped);
  });
}
