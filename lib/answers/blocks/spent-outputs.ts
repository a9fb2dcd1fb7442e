// The outputs that a block spends, for the JSON of blocks.
//
// They come from the node's undo data. The index's undo records would not do: they lack outputs that a block both creates and spends,
// are kept for the newest blocks only, and are deleted when a block is disconnected.

import type { SpentNodeCoin } from '../../node/types/coins';
import type { NodeSource } from '../../node/types/source';

export class SpentOutputs {
  readonly #node: Pick<NodeSource, 'network' | 'spentCoins'>;

  constructor(node: Pick<NodeSource, 'network' | 'spentCoins'>) {
    this.#node = node;
  }

  /**
   * In the order of the block's inputs, without the coinbase's. Undefined when the node has none: the block was never connected, its undo
   * data is gone, or it spends nothing. For the genesis block an empty list.
   */
  async of(hash: Buffer): Promise<readonly SpentNodeCoin[] | undefined> {
    return this.#node.network.genesisHash.equals(hash) ? [] : this.#node.spentCoins(hash);
  }
}
