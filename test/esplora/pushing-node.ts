// A node with mempool's WebSocket, and its clients.

import { expect } from 'chai';
import { after, afterEach, before } from 'mocha';
import { BehaviorSubject } from 'rxjs';
import { bcoin } from '../support/bcoin/bcoin';
import { withEarlyForks } from '../support/chain/early-forks';
import { Faucet } from '../support/chain/faucet';
import { ask } from '../support/client/http';
import { PushClient } from '../support/client/push-client';
import { KeyWallet } from '../support/chain/key-wallet';
import { mine } from '../support/bcoin/regtest-node';
import { gatedBy, ServedNode } from '../support/node/served-node';
import { until } from '../support/expectations/until';
import type { HostTransaction } from '../../lib/node/host';

const COINS = 30;

/** Of a chain of payments: what it begins with, and what each takes for its fee and change. */
const VALUE = 10_000_000;
const PER_PAYMENT = 11_000;

const OPENING_MS = 60_000;

/** For the tests of a group: a node that is open while they run, and from which all clients have left after each. `opened`: is given it. */
export function withPushingNode(opened: (pushing: PushingNode) => void): void {
  withEarlyForks();
  let pushing: PushingNode;
  before(async function () {
    this.timeout(OPENING_MS);
    pushing = await PushingNode.open();
    opened(pushing);
  });
  after(() => pushing.close());
  afterEach(() => pushing.leave());
}

export class PushingNode {
  /** Whether clients may connect. */
  readonly ready$: BehaviorSubject<boolean>;
  readonly served: ServedNode;
  readonly faucet: Faucet;
  readonly #clients: PushClient[] = [];

  private constructor(served: ServedNode, faucet: Faucet, ready$: BehaviorSubject<boolean>) {
    this.served = served;
    this.faucet = faucet;
    this.ready$ = ready$;
  }

  static async open(): Promise<PushingNode> {
    const ready$ = new BehaviorSubject(true);
    const settings = { 'rest-max-history': 50, 'rest-electrum-subscriptions': 1_000, 'rest-timeout': 1 };
    const served = await ServedNode.open({ settings }, gatedBy(ready$));
    return new PushingNode(served, await Faucet.on(served.node, COINS), ready$);
  }

  async client(headers?: Readonly<Record<string, string>>): Promise<PushClient> {
    const made = await PushClient.connect(this.served.port, headers);
    this.#clients.push(made);
    return made;
  }

  /** Ends all connections. Everything that a client wants and tracks must be forgotten when it leaves. */
  async leave(): Promise<void> {
    for (const { socket } of this.#clients.splice(0)) socket.terminate();
    await until(() => this.served.wallets.sessions.count === 0);
    expect(this.served.wallets.push.hasListeners).to.equal(false);
  }

  close(): Promise<void> {
    return this.served.close();
  }

  /** A chain of payments, each to a new address, that the pool does not get: the transactions for a block. */
  async payments(count: number): Promise<{ readonly addresses: string[]; readonly transactions: HostTransaction[] }> {
    const addresses: string[] = [];
    const transactions: HostTransaction[] = [];
    let wallet = new KeyWallet();
    let value = VALUE;
    const paid = await this.faucet.pays(wallet.address, value);
    await mine(this.served.node, 1);
    let hex = await this.text(`/tx/${paid}/hex`);
    for (let i = 0; i < count; i++) {
      const next = new KeyWallet();
      const payment = wallet.sends(hex, value, next.address, value - PER_PAYMENT);
      [wallet, value, hex] = [next, value - PER_PAYMENT, payment.hex];
      addresses.push(wallet.address);
      transactions.push(payment.transaction);
    }
    return { addresses, transactions };
  }

  /** The reply of Esplora's API. */
  async esplora(path: string): Promise<unknown> {
    return JSON.parse(await this.text(path)) as unknown;
  }

  /** A transaction of chain or pool. */
  async transaction(txid: string): Promise<HostTransaction> {
    return bcoin.TX.fromRaw(Buffer.from(await this.text(`/tx/${txid}/hex`), 'hex'));
  }

  /** The reply of Esplora's API as it is. */
  async text(path: string): Promise<string> {
    return (await ask(this.served.port, { path: `/api${path}` })).body.toString();
  }
}

export interface ToldTransaction {
  readonly txid: string;
  readonly status: { readonly confirmed: boolean; readonly block_height?: number };
}

export const txidsOf = (told: unknown): string[] => (told as ToldTransaction[]).map(({ txid }) => txid);
