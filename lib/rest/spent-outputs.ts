// The outputs that a block spends, with what is known of them: for the JSON of blocks and for `spenttxouts`.

import type { NodeSource, SpentNodeCoin } from '../node/types';

/** An output that a block spends, as it was before. */
export type SpentOutput = SpentNodeCoin;

export class SpentOutputs {
  readonly #node: Pick<NodeSource, 'spentCoins'>;

  constructor(node: Pick<NodeSource, 'spentCoins'>) {
    this.#node = node;
  }

  /** In the order of the block's inputs, the coinbase's left out. Undefined when nobody has them: the block was never connected, or its undo data is gone. */
  async of(hash: Buffer): Promise<readonly SpentOutput[] | undefined> {
    return this.#node.spentCoins(hash);
  }
}
