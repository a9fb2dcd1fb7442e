// Makes regtest nodes prune as if they had very little space; bcoin's own rules begin at 1,000 blocks.

import { after, before } from 'mocha';
import { bcoin } from './bcoin';

/** This many first blocks are never pruned, as on every network of bcoin. */
export const ALWAYS_KEPT = 5;
/** This many last blocks are not pruned. */
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
