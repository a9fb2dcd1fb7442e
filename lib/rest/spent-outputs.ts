// The outputs that a block spends, with what is known of them: for the JSON of blocks.
//
// They come from the node's undo data. The index' own undo records would not do: they lack what a block spends of its own outputs, are kept
// for the newest blocks only, and are gone once a block is disconnected, as the node's are where the index has none.

import type { NodeSource, SpentNodeCoin } from '../node/types';

/** An output that a block spends, as it was before. */
export type SpentOutput = SpentNodeCoin;

export class SpentOutputs {
  readonly #node: Pick<NodeSource, 'network' | 'spentCoins'>;

  constructor(node: Pick<NodeSource, 'network' | 'spentCoins'>) {
    this.#node = node;
  }

  /**
   * In the order of the block's inputs, the coinbase's left out. Undefined when nobody has them: the block was never connected, or its undo
   * data is gone; and for a block that spends nothing, but the genesis block.
   */
  async of(hash: Buffer): Promise<readonly SpentOutput[] | undefined> {
    return this.#node.network.genesisHash.equals(hash) ? [] : this.#node.spentCoins(hash);
  }
}
