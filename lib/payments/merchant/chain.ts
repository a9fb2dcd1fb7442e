// What a merchant needs of the chain.

import type { PaymentNetwork } from '../rules/request';

export interface MerchantChain {
  readonly network: PaymentNetwork;
  /**
   * Gives transactions, parents first, to the network; resolves when the node has
   * taken all. Those that it has already are no error.
   * @throws PaymentError `refused` with the node's reason.
   */
  broadcast(transactions: readonly Buffer[]): Promise<void>;
  /**
   * Confirmations of a transaction, 0 in the pool, undefined when neither chain nor pool
   * has it. By transaction and not by coin: the merchant may have spent the coin.
   * @param txid wire order.
   */
  confirmations(txid: Buffer): Promise<number | undefined>;
}
