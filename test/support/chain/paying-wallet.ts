// A wallet with two coins on a regtest node, which pays payment requests.

import { encodePayment, type PayableRequest } from '../../../lib/payments';
import { bcoin, type HostKeyRing, type TestFullNode } from '../bcoin/bcoin';
import { mine } from '../bcoin/regtest-node';
import { signed } from './signed';
import type { HostTransaction } from '../../../lib/node/host';

const COIN = 2_499_990_000;
export const FEE = 10_000;

export class PayingWallet {
  /** The shop's own key, to spend what it was paid. */
  private readonly till = bcoin.KeyRing.generate();

  private constructor(
    readonly ring: HostKeyRing,
    private readonly coins: HostTransaction
  ) {}

  /** Mines the coins, which are not coinbases: bcoin's pool drops spends of coinbases at every reorganization. */
  static async on(node: TestFullNode): Promise<PayingWallet> {
    const ring = bcoin.KeyRing.generate();
    const [first] = await mine(node, 101, undefined, ring.getAddress());
    const coinbase = first?.txs[0] as HostTransaction; // every block has one
    const coins = signed(
      ring,
      [coinbase],
      [
        [ring.getAddress(), COIN],
        [ring.getAddress(), COIN]
      ]
    );
    await node.mempool.addTX(coins);
    await mine(node, 1);
    return new PayingWallet(ring, coins);
  }

  /** Spends coin 0 or 1 back to the wallet. */
  moves(coin: number): HostTransaction {
    return signed(this.ring, [[this.coins, coin]], [[this.ring.getAddress(), COIN - FEE]]);
  }

  /** Pays `valueSats` to a script with coin 0 or 1, and takes the change. */
  sends(coin: number, script: Buffer, valueSats: number): HostTransaction {
    const change = [this.ring.getAddress(), COIN - valueSats - FEE] as const;
    return signed(this.ring, [[this.coins, coin]], [[script, valueSats], change]);
  }

  /** Pays the output of a request. */
  pays(coin: number, { outputs: [output] }: PayableRequest): HostTransaction {
    if (output === undefined) throw new Error('a request without outputs');
    return this.sends(coin, output.script, Number(output.amount));
  }

  /** Spends an output that was paid to the till, or the wallet's change. */
  takes(from: HostTransaction, index: number, valueSats: number): HostTransaction {
    return signed([this.ring, this.till], [[from, index]], [[this.ring.getAddress(), valueSats]]);
  }

  /** The script of the till. */
  get tillScript(): Buffer {
    return Buffer.concat([Buffer.from('76a914', 'hex'), this.till.getKeyHash(), Buffer.from('88ac', 'hex')]);
  }
}

/** A Payment for a request. */
export function paymentOf(
  { merchantData }: PayableRequest,
  transactions: readonly HostTransaction[],
  more: { readonly memo?: string } = {}
): Buffer {
  return encodePayment({
    transactions: transactions.map((transaction) => transaction.toRaw()),
    refundTo: [{ script: Buffer.from('51', 'hex') }],
    ...(merchantData && { merchantData }),
    ...more
  });
}
