// A merchant for tests: the real one on a real folder, over a chain that is a list of
// transactions, and a clock that the test sets.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PaymentError } from '../../../lib/payments/error';
import type { MerchantChain } from '../../../lib/payments/merchant/chain';
import { Merchant, type MerchantOptions, type Order } from '../../../lib/payments/merchant/merchant';
import { FolderStorage } from '../../../lib/payments/merchant/storage';
import { PaymentStore } from '../../../lib/payments/merchant/store';
import { encodePayment, type Output } from '../../../lib/payments/messages';
import { parseTransaction } from '../../../lib/payments/rules/transaction';
import { outpoint, serialize } from '../transactions';

export const START = new Date('2027-01-01T00:00:00Z');
export const START_SECONDS = 1_798_761_600n;

export const script = Buffer.from(`0014${'aa'.repeat(20)}`, 'hex');
export const order: Order = { outputs: [{ amount: 10_000n, script }], memo: 'Two <mugs>', expires: START_SECONDS + 900n };

/** Knows transactions by txid; a refused one is named in `refuses`. */
export class ListedChain implements MerchantChain {
  readonly network = 'test';
  readonly broadcasts: Buffer[][] = [];
  /** Confirmations by txid in hex. */
  readonly known = new Map<string, number>();
  refusal: Error | undefined;

  broadcast(transactions: readonly Buffer[]): Promise<void> {
    if (this.refusal) return Promise.reject(this.refusal);
    this.broadcasts.push([...transactions]);
    for (const bytes of transactions) {
      const txid = parseTransaction(bytes).txid.toString('hex');
      this.known.set(txid, this.known.get(txid) ?? 0);
    }
    return Promise.resolve();
  }

  confirmations(txid: Buffer): Promise<number | undefined> {
    return Promise.resolve(this.known.get(txid.toString('hex')));
  }

  /** Every known transaction has these confirmations from now on. */
  confirm(confirmations: number): void {
    for (const txid of this.known.keys()) this.known.set(txid, confirmations);
  }
}

export interface Shop {
  readonly merchant: Merchant;
  readonly chain: ListedChain;
  readonly folder: string;
  /** Set by the test. */
  now: Date;
  /** As after a restart: all that is left is the folder. */
  reopened(): Promise<Merchant>;
}

/** Runs a test with a shop of its own, and clears up. */
export function inShop(test: (shop: Shop) => Promise<void>, options: Partial<MerchantOptions> = {}): () => Promise<void> {
  return async () => {
    const folder = await mkdtemp(join(tmpdir(), 'payments-'));
    const chain = new ListedChain();
    const open = async (): Promise<Merchant> => new Merchant(chain, new PaymentStore(await FolderStorage.open(join(folder, 'shop'))), {
      baseUrl: 'https://shop.example/pay', clock: () => shop.now, ...options
    });
    const shop: Shop = { merchant: await open(), chain, folder: join(folder, 'shop'), now: START, reopened: open };
    try {
      await test(shop);
    } finally {
      await rm(folder, { recursive: true });
    }
  };
}

/** A transaction that spends the coin `seed` and pays the shop. */
export function paying(seed: number, value = 10_000n): Buffer {
  return serialize({ inputs: [outpoint(seed)], outputs: [{ script, value }] });
}

/** A Payment for a request, as a wallet sends it. */
export function paymentFor(id: string, transactions: readonly Buffer[], more: { refundTo?: Output[]; memo?: string } = {}): Buffer {
  return encodePayment({ merchantData: Buffer.from(id, 'hex'), transactions, refundTo: [], ...more });
}

export const refused = new PaymentError('refused', 'The node does not take a transaction: bad-txns-inputs-missingorspent.');
