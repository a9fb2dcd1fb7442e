// A merchant for tests: the real one on a real folder, over a chain that is a list of
// transactions, and a clock that the test sets.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PaymentError } from '../../../lib/payments/error';
import { Merchant, type MerchantOptions } from '../../../lib/merchant/orders/merchant';
import { FolderStorage } from '../../../lib/merchant/orders/storage';
import { PaymentStore } from '../../../lib/merchant/orders/store';
import { encodePayment, type Output } from '../../../lib/payments/messages';
import { parseTransaction } from '../../../lib/payments/rules/transaction';
import { outpoint, serialize } from '../../payments/transactions';
import type { ConfirmingBlock, MerchantChain, Standing, TracedTransaction } from '../../../lib/merchant/orders/chain';
import type { Order } from '../../../lib/merchant/orders/order';
import type { PayingOutput } from '../../../lib/payments/rules/payment';

export const START = new Date('2027-01-01T00:00:00Z');
export const START_SECONDS = 1_798_761_600n;

export const script = Buffer.from(`0014${'aa'.repeat(20)}`, 'hex');
export const order: Order = { outputs: [{ amount: 10_000n, script }], memo: 'Two <mugs>', expires: START_SECONDS + 900n };

/** An order that nobody else's payments can settle. */
export const ownOrder = (seed: number): Order => ({ ...order, outputs: [{ amount: 10_000n, script: ownScript(seed) }] });

function ownScript(seed: number): Buffer {
  const keyHash = Buffer.alloc(20, 0xcc);
  keyHash.writeUInt32LE(seed);
  return Buffer.concat([Buffer.from('0014', 'hex'), keyHash]);
}

/** Longer than orders are watched. */
export const LONG_MS = 91 * 24 * 3_600_000;

/** The block in which transactions are confirmed. */
export const BLOCK: ConfirmingBlock = { height: 100, hash: Buffer.alloc(32, 0xbb) };

/** A chain that knows transactions by txid. */
class ListedChain implements MerchantChain {
  readonly network = 'test';
  readonly broadcasts: Buffer[][] = [];
  /** What was broadcast, by txid in hex. */
  readonly #bytes = new Map<string, Buffer>();
  /** Confirmations by txid in hex. */
  readonly known = new Map<string, number>();
  /** Txids in hex of transactions of which the chain has another that spends the same coin. */
  readonly conflicted = new Set<string>();
  /** Why the standing of unknown transactions is not known; undefined: they are absent. */
  ignorance: string | undefined;
  refusal: Error | undefined;
  /** Set by tests of what is shown with an address. */
  addressOf?: (script: Buffer) => string | undefined;
  /** What broadcasts wait for. */
  held: Promise<unknown> = Promise.resolve();

  async broadcast(transactions: readonly Buffer[]): Promise<void> {
    await this.held;
    if (this.refusal) throw this.refusal;
    this.broadcasts.push([...transactions]);
    for (const bytes of transactions) {
      const txid = parseTransaction(bytes).txid.toString('hex');
      this.#bytes.set(txid, bytes);
      this.known.set(txid, this.known.get(txid) ?? 0);
    }
  }

  standing({ txid }: TracedTransaction, seenIn?: ConfirmingBlock): Promise<Standing> {
    const id = txid.toString('hex');
    const confirmations = this.known.get(id);
    if (confirmations !== undefined && confirmations > 0) return Promise.resolve({ state: 'confirmed', block: BLOCK, confirmations });
    const bytes = this.#bytes.get(id);
    if (confirmations === 0 && bytes !== undefined) return Promise.resolve({ state: 'pool', bytes });
    if (this.conflicted.has(id)) return Promise.resolve({ state: 'conflicted' });
    if (this.ignorance === undefined) return Promise.resolve({ state: 'absent' });
    return Promise.resolve(seenIn ? { state: 'confirmed', block: seenIn, confirmations: 7 } : { state: 'unknown', reason: this.ignorance });
  }

  confirmedBytes(txid: Buffer): Promise<Buffer | undefined> {
    return Promise.resolve(this.#bytes.get(txid.toString('hex')));
  }

  /** The chain has another transaction that spends the same coin. */
  exclude(transaction: Buffer): void {
    const txid = parseTransaction(transaction).txid.toString('hex');
    this.known.delete(txid);
    this.conflicted.add(txid);
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
  /** The messages to the operator. */
  readonly troubles: string[];
  /** Opens the merchant as after a restart, from the folder alone. */
  reopened(): Promise<Merchant>;
}

/** Runs a test with its own shop, and cleans up. */
export function inShop(test: (shop: Shop) => Promise<void>, options: Partial<MerchantOptions> = {}): () => Promise<void> {
  return async () => {
    const folder = await mkdtemp(join(tmpdir(), 'payments-'));
    const chain = new ListedChain();
    const troubles: string[] = [];
    const open = async (): Promise<Merchant> => {
      const merchant = new Merchant(chain, new PaymentStore(await FolderStorage.open(join(folder, 'shop'))), {
        baseUrl: 'https://shop.example/pay',
        clock: () => shop.now,
        onTrouble: ({ message }) => troubles.push(message),
        ...options
      });
      await merchant.open();
      return merchant;
    };
    const shop: Shop = { merchant: await open(), chain, folder: join(folder, 'shop'), now: START, troubles, reopened: open };
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

/** The paying output of such a transaction. */
export function outputOf(transaction: Buffer): PayingOutput {
  const {
    txid,
    outputs: [output]
  } = parseTransaction(transaction);
  if (output === undefined) throw new Error('a transaction without outputs');
  return { txid, index: 0, ...output };
}

/** A Payment for a request, as a wallet sends it. */
export function paymentFor(id: string, transactions: readonly Buffer[], more: { refundTo?: Output[]; memo?: string } = {}): Buffer {
  return encodePayment({ merchantData: Buffer.from(id, 'hex'), transactions, refundTo: [], ...more });
}

export const refused = new PaymentError('refused', 'The node does not take a transaction: bad-txns-inputs-missingorspent.');
