// A regtest node with the index by script, for wallets.

import { toDisplayHex } from '../../lib/bitcoin/hash';
import { Faucet } from '../support/chain/faucet';
import { ask } from '../support/client/http';
import { entryOf, mine, type RegtestOptions } from '../support/bcoin/regtest-node';
import { openRestNode, type RestNode } from '../support/node/rest-node';
import { until } from '../support/expectations/until';
import type { Server } from 'node:http';
import type { HostFullBlock } from '../support/bcoin/bcoin';

const PAID = 10_000;

export class WalletNode {
  readonly #options: RegtestOptions;
  #served: RestNode;

  private constructor(
    options: RegtestOptions,
    served: RestNode,
    readonly faucet: Faucet
  ) {
    this.#options = options;
    this.#served = served;
  }

  /** `coins`: how many payments its faucet can make. `prefix`: the node's folder; in memory when left out. */
  static async open(coins: number, settings: Readonly<Record<string, unknown>> = {}, prefix?: string): Promise<WalletNode> {
    const options = { settings: { 'rest-addresses': true, ...settings }, ...(prefix !== undefined && { prefix }) };
    const served = await openRestNode(options);
    const wallets = new WalletNode(options, served, await Faucet.on(served.node, coins));
    await wallets.#settled();
    return wallets;
  }

  get node(): RestNode['node'] {
    return this.#served.node;
  }

  get port(): number {
    return this.#served.port;
  }

  get httpServer(): Server {
    return this.#served.rest.http.server;
  }

  /** Mines a block with the pool's transactions. @returns it, serialized */
  async confirm(): Promise<Buffer> {
    const [block] = await mine(this.node, 1);
    await this.#settled();
    return (block as HostFullBlock).toRaw(); // one was mined
  }

  /** Replaces the last blocks by one more. Pays `payee` meanwhile: bcoin returns their transactions only to a pool that is not empty. */
  async takeBack(count: number, payee: string): Promise<void> {
    const fork = await this.node.chain.getEntryByHeight(this.node.chain.height - count);
    const side = await mine(this.node, count, fork ?? undefined);
    await this.faucet.pays(payee, PAID);
    const last = side.at(-1);
    await mine(this.node, 1, last && (await entryOf(this.node, last)));
    await this.#settled();
  }

  /** Stops the node, which has a folder, and starts it again with an empty pool. */
  async restart(): Promise<void> {
    await this.node.close();
    this.#served = await openRestNode(this.#options);
    this.faucet.moveTo(this.node);
    await this.#settled();
  }

  close(): Promise<void> {
    return this.node.close();
  }

  /** Waits until wallets get the node's tip. */
  async #settled(): Promise<void> {
    await until(async () => {
      const { body } = await ask(this.port, { path: '/api/blocks/tip/hash' });
      return body.toString() === toDisplayHex(this.#served.rest.node.tip().hash);
    });
  }
}
