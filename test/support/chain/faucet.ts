// Pays anybody on a regtest node, with coins that remain when the last blocks are replaced.

import { scriptOfAddress } from '../../../lib/bitcoin/address';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { bcoin, type HostKeyRing, type TestFullNode } from '../bcoin/bcoin';
import { coreRegtestPrefixes } from './chain-a';
import { COINBASE_SATS } from './coinbases';
import { mine } from '../bcoin/regtest-node';
import { signed } from './signed';
import type { HostTransaction } from '../../../lib/node/host';

const MATURE = 101;
const FEE = 10_000;

export class Faucet {
  #node: TestFullNode;
  readonly #ring: HostKeyRing;
  readonly #coins: HostTransaction;
  readonly #coinValue: number;
  #used = 0;

  private constructor(node: TestFullNode, ring: HostKeyRing, coins: HostTransaction, coinValue: number) {
    this.#node = node;
    this.#ring = ring;
    this.#coins = coins;
    this.#coinValue = coinValue;
  }

  /** Mines the coins, which are not coinbases: bcoin's pool drops spends of coinbases at every reorganization. */
  static async on(node: TestFullNode, count: number): Promise<Faucet> {
    const ring = bcoin.KeyRing.generate();
    const [first] = await mine(node, MATURE, undefined, ring.getAddress());
    const coinbase = first?.txs[0] as HostTransaction; // every block has one
    const value = Math.floor(COINBASE_SATS / count) - FEE;
    const coins = signed(
      ring,
      [coinbase],
      Array.from({ length: count }, () => [ring.getAddress(), value])
    );
    await node.mempool.addTX(coins);
    await mine(node, 1);
    return new Faucet(node, ring, coins, value);
  }

  /** To be called when the node was restarted. */
  moveTo(node: TestFullNode): void {
    this.#node = node;
  }

  /** Sends a payment from one coin to the pool. @returns its txid, as displayed */
  async pays(address: string, valueSats: number): Promise<string> {
    return this.sends(scriptAt(address), valueSats);
  }

  /** The same, to a script. */
  async sends(script: Buffer, valueSats: number): Promise<string> {
    const change = [this.#ring.getAddress(), this.#coinValue - valueSats - FEE] as const;
    const transaction = signed(this.#ring, [[this.#coins, this.#used++]], [[script, valueSats], change]);
    await this.#node.mempool.addTX(transaction);
    return toDisplayHex(transaction.hash());
  }
}

/** The script of an address of Bitcoin Core's regtest. */
export function scriptAt(address: string): Buffer {
  const script = scriptOfAddress(address, [coreRegtestPrefixes]);
  if (typeof script === 'string') throw new Error(`${address} is ${script}`);
  return script;
}
