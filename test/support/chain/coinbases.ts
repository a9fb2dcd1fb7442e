// A wallet of one key with coinbases that no test has spent.

import { scanTransaction } from '../../../lib/bitcoin/transaction';
import { bcoin, type HostKeyRing, type TestFullNode } from '../bcoin/bcoin';
import { mine } from '../bcoin/regtest-node';
import { signed } from './signed';
import type { HostTransaction } from '../../../lib/node/host';

/** What a block of regtest creates, below height 150. */
export const COINBASE_SATS = 5_000_000_000;

/** Enough for a small transaction. */
export const FEE_SATS = 10_000;

/** The last blocks of a chain whose coinbases the next block may not spend. */
const IMMATURE_BLOCKS = 99;

export class Coinbases {
  readonly #unspent: HostTransaction[];

  private constructor(
    readonly ring: HostKeyRing,
    /** The locking script of everything that is paid to the wallet. */
    readonly script: Buffer,
    unspent: readonly HostTransaction[]
  ) {
    this.#unspent = [...unspent];
  }

  /** Mines so many blocks on the tip, more than a hundred: the coinbases of the first of them may be spent. */
  static async mine(node: TestFullNode, blocks: number): Promise<Coinbases> {
    const ring = bcoin.KeyRing.generate();
    const mined = await mine(node, blocks, undefined, ring.getAddress());
    const unspent = mined.slice(0, -IMMATURE_BLOCKS).map(({ txs }) => txs[0] as HostTransaction); // a block has a coinbase
    const [output] = unspent[0] === undefined ? [] : scanTransaction(unspent[0].toRaw()).outputs;
    if (output === undefined) throw new Error('expected a coinbase that may be spent');
    return new Coinbases(ring, output.script, unspent);
  }

  /** One that was not given out before. */
  fresh(): HostTransaction {
    const coinbase = this.#unspent.pop();
    if (coinbase === undefined) throw new Error('no coinbase is left: mine more blocks');
    return coinbase;
  }

  /** Spends the first output of each transaction into one output. `script`: to whom, unless to the wallet itself. */
  paying(from: readonly HostTransaction[], sats: number, script: Buffer = this.script): HostTransaction {
    return signed(this.ring, from, [[script, sats]]);
  }
}
