// What blocks spend, for every source that has a node's undo records.

import { coinsOf, outputsOf, spanOf } from './undo-record';
import type { SpentNodeCoin, SpentSpan } from './types/coins';
import type { NodeSource } from './types/source';

export abstract class SpentCoinSource implements Pick<NodeSource, 'undoRecord' | 'spentCoins' | 'spentSpan' | 'spentOutputs'> {
  abstract undoRecord(hash: Buffer): Promise<Buffer | undefined>;

  async spentCoins(hash: Buffer): Promise<readonly SpentNodeCoin[] | undefined> {
    const record = await this.undoRecord(hash);
    return record && (await coinsOf(record));
  }

  async spentSpan(hash: Buffer, span: SpentSpan): Promise<readonly SpentNodeCoin[] | undefined> {
    const record = await this.undoRecord(hash);
    return record && (await spanOf(record, span));
  }

  async spentOutputs(hash: Buffer, counts: Uint32Array): Promise<Buffer | undefined> {
    const record = await this.undoRecord(hash);
    return record && (await outputsOf(record, counts));
  }
}
