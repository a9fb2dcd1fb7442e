// The chain as a merchant needs it: transactions go out through the node, what became of them
// is in the index or in the pool.

import { PaymentError } from '../payments/error';
import { TransactionRefusedError } from '../node/errors';
import type { IndexReader } from '../index/types';
import type { NodeSource } from '../node/types';
import type { MerchantChain } from '../payments/merchant/chain';
import type { PaymentNetwork } from '../payments/rules/request';

export class NodeChain implements MerchantChain {
  /** BIP70 knows two networks. */
  readonly network: PaymentNetwork;

  constructor(private readonly node: NodeSource, private readonly reader: IndexReader) {
    this.network = node.network.chain === 'main' ? 'main' : 'test';
  }

  async broadcast(transactions: readonly Buffer[]): Promise<void> {
    for (const transaction of transactions) {
      try {
        await this.node.broadcast(transaction);
      } catch (error) {
        if (!(error instanceof TransactionRefusedError)) throw error;
        throw new PaymentError('refused', `The node does not take a transaction: ${error.message}.`, { cause: error });
      }
    }
  }

  /** Index, then pool, in one tick: a transaction on its way is in at least one of them. */
  confirmations(txid: Buffer): Promise<number | undefined> {
    const confirmed = this.reader.read((snapshot) => {
      const location = snapshot.location(txid);
      return location && snapshot.tip.height - location.block.height + 1;
    });
    return Promise.resolve(confirmed ?? (this.node.pool.transaction(txid) === undefined ? undefined : 0));
  }
}
