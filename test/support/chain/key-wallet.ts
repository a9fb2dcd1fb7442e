// A wallet of one key, which knows only the transactions that it is given.

import { bech32 } from '@scure/base';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { bcoin, type HostKeyRing } from '../bcoin/bcoin';
import { coreRegtestPrefixes } from './chain-a';
import { scriptAt } from './faucet';
import { signed } from './signed';
import type { HostTransaction } from '../../../lib/node/host';

const FEE = 10_000;

export interface SignedSpend {
  /** As displayed. */
  readonly txid: string;
  readonly hex: string;
  readonly transaction: HostTransaction;
  readonly change: number;
}

export class KeyWallet {
  readonly #ring: HostKeyRing;
  /** Address on Bitcoin Core's regtest. */
  readonly address: string;

  constructor(ring = bcoin.KeyRing.generate()) {
    this.#ring = ring;
    this.#ring.witness = true;
    this.address = bech32.encode(coreRegtestPrefixes.bech32, [0, ...bech32.toWords(this.#ring.getKeyHash())]);
  }

  /** Spends output 0 of a transaction: part of its value to an address, the rest to itself. */
  sends(from: string, value: number, address: string, part: number): SignedSpend {
    const change = value - part - FEE;
    const coin = bcoin.TX.fromRaw(Buffer.from(from, 'hex'));
    const transaction = signed(
      this.#ring,
      [coin],
      [
        [scriptAt(address), part],
        [scriptAt(this.address), change]
      ]
    );
    return { txid: toDisplayHex(transaction.hash()), hex: transaction.toRaw().toString('hex'), transaction, change };
  }
}
