// A wallet of one key, which knows only the transactions that it is given.

import { bech32 } from '@scure/base';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin, type HostKeyRing } from './bcoin';
import { coreRegtestPrefixes } from './chain-a';
import { scriptAt } from './faucet';

const FEE = 10_000;

export interface SignedSpend {
  /** As displayed. */
  readonly txid: string;
  readonly hex: string;
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
    const spend = new bcoin.MTX();
    spend.addTX(bcoin.TX.fromRaw(Buffer.from(from, 'hex')), 0);
    spend.addOutput(bcoin.Script.fromRaw(scriptAt(address)), part);
    spend.addOutput(bcoin.Script.fromRaw(scriptAt(this.address)), change);
    spend.sign(this.#ring);
    const signed = spend.toTX();
    return { txid: toDisplayHex(signed.hash()), hex: signed.toRaw().toString('hex'), change };
  }
}
