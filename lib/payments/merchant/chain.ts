// What a merchant needs of the chain.

import type { PaymentNetwork } from '../rules/request';

export interface MerchantChain {
  readonly network: PaymentNetwork;
  /**
   * Gives transactions to the network, parents first, none that chain and pool know;
   * resolves when the node has taken all. One that came in the meantime is no error.
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
