// Answers about the chain that interfaces share: each is computed once, whichever of them asks for it, and however many ask at a time.

import { BlockTrees } from './blocks/trees';
import { ChainCoins } from './scripts/coins';
import { ChainTotals } from './scripts/totals';
import type { EndpointContext } from './context';

/** One for all interfaces of a node. */
export class ChainAnswers {
  readonly totals: ChainTotals;
  readonly coins: ChainCoins;
  readonly trees: BlockTrees;

  constructor(context: Pick<EndpointContext, 'blocks' | 'cache'>) {
    this.totals = new ChainTotals(context);
    this.coins = new ChainCoins(context, this.totals);
    this.trees = new BlockTrees(context.cache);
  }
}
