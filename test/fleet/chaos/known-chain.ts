// All blocks that any node of a fleet has made, and the state of the chain at each of them, computed from the blocks alone.

import { createHash } from 'node:crypto';
import { scanBlock } from '../../../lib/bitcoin/block';
import { hash256, toDisplayHex } from '../../../lib/bitcoin/hash';
import { previousHashOf } from '../../../lib/bitcoin/header';
import { ByteReader } from '../../../lib/bitcoin/reader';
import { readTransaction } from '../../../lib/bitcoin/transaction';
import { regtestGenesis } from '../../support/chain/chain-a';

export interface KnownCoin {
  /** `txid:index`, the txid as displayed. */
  readonly outpoint: string;
  readonly value: number;
  /** Of its script. */
  readonly scriptHash: string;
  readonly isTrueP2sh: boolean;
  readonly coinbase: boolean;
}

export interface KnownBlock {
  readonly hash: string;
  readonly height: number;
  readonly raw: Buffer;
  readonly previous: KnownBlock | undefined;
  readonly txids: ReadonlyMap<string, Buffer>;
  readonly made: ReadonlyMap<string, KnownCoin>;
  readonly spent: ReadonlySet<string>;
}

/** Outputs that a script got, and those that were spent, of one chain. */
export interface ScriptStats {
  funded_txo_count: number;
  funded_txo_sum: number;
  spent_txo_count: number;
  spent_txo_sum: number;
}

/** P2SH of a script that is true. */
export const TRUE_P2SH = Buffer.from('a914da1745e9b549bd0bfa1a569971c77eba30cd5a4b87', 'hex');

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

export class KnownChain {
  readonly blocks = new Map<string, KnownBlock>();
  readonly genesis = this.add(regtestGenesis);

  /** Adds a block whose parent is known. */
  add(raw: Buffer): KnownBlock {
    const hash = toDisplayHex(hash256(raw.subarray(0, 80)));
    const there = this.blocks.get(hash);
    if (there !== undefined) return there;
    const previous = this.blocks.get(toDisplayHex(previousHashOf(raw)));
    if (previous === undefined && this.blocks.size > 0) throw new Error(`block ${hash} follows none that is known`);
    const [txids, made, spent] = [new Map<string, Buffer>(), new Map<string, KnownCoin>(), new Set<string>()];
    for (const { txid, offset, length, isCoinbase } of scanBlock(raw).transactions) {
      const bytes = raw.subarray(offset, offset + length);
      const name = toDisplayHex(txid);
      txids.set(name, bytes);
      const transaction = readTransaction(new ByteReader(bytes));
      if (!isCoinbase) for (const input of transaction.inputs) spent.add(`${toDisplayHex(input.txid)}:${input.index}`);
      transaction.outputs.forEach(({ value, script }, index) => {
        // The genesis block's coin does not exist, and neither do coins that nobody can spend.
        if (previous === undefined || script[0] === 0x6a) return;
        const outpoint = `${name}:${index}`;
        const bytesOfScript = Buffer.from(script);
        made.set(outpoint, {
          outpoint,
          value,
          scriptHash: sha256(bytesOfScript),
          isTrueP2sh: bytesOfScript.equals(TRUE_P2SH),
          coinbase: isCoinbase
        });
      });
    }
    const block: KnownBlock = { hash, height: (previous?.height ?? -1) + 1, raw, previous, txids, made, spent };
    this.blocks.set(hash, block);
    return block;
  }

  /** The block at a height of the chain that ends with a block. */
  at(tip: KnownBlock, height: number): KnownBlock | undefined {
    let block: KnownBlock | undefined = tip;
    while (block !== undefined && block.height > height) block = block.previous;
    return block?.height === height ? block : undefined;
  }

  /** The block of a chain that has a transaction. */
  blockOf(tip: KnownBlock, txid: string): KnownBlock | undefined {
    for (let block: KnownBlock | undefined = tip; block !== undefined; block = block.previous) if (block.txids.has(txid)) return block;
    return undefined;
  }

  /** An unspent output, and the height of its block. */
  coin(tip: KnownBlock, outpoint: string): { readonly coin: KnownCoin; readonly height: number } | undefined {
    for (let block: KnownBlock | undefined = tip; block !== undefined; block = block.previous) {
      if (block.spent.has(outpoint)) return undefined;
      const coin = block.made.get(outpoint);
      if (coin !== undefined) return { coin, height: block.height };
    }
    return undefined;
  }

  /** An output that a chain has, spent or not. */
  made(tip: KnownBlock, outpoint: string): KnownCoin | undefined {
    for (let block: KnownBlock | undefined = tip; block !== undefined; block = block.previous) {
      const coin = block.made.get(outpoint);
      if (coin !== undefined) return coin;
    }
    return undefined;
  }

  /** All unspent outputs of a chain, the oldest first. */
  coins(tip: KnownBlock): { readonly coin: KnownCoin; readonly height: number }[] {
    const spent = new Set<string>();
    const found: { coin: KnownCoin; height: number }[] = [];
    for (let block: KnownBlock | undefined = tip; block !== undefined; block = block.previous) {
      for (const outpoint of block.spent) spent.add(outpoint);
      for (const coin of block.made.values()) if (!spent.has(coin.outpoint)) found.push({ coin, height: block.height });
    }
    return found.reverse();
  }

  /** What a script got and spent in a chain. */
  stats(tip: KnownBlock, scriptHash: string): ScriptStats {
    const stats: ScriptStats = { funded_txo_count: 0, funded_txo_sum: 0, spent_txo_count: 0, spent_txo_sum: 0 };
    const spent = new Set<string>();
    for (let block: KnownBlock | undefined = tip; block !== undefined; block = block.previous) {
      for (const outpoint of block.spent) spent.add(outpoint);
      for (const coin of block.made.values()) {
        if (coin.scriptHash !== scriptHash) continue;
        stats.funded_txo_count++;
        stats.funded_txo_sum += coin.value;
        if (!spent.has(coin.outpoint)) continue;
        stats.spent_txo_count++;
        stats.spent_txo_sum += coin.value;
      }
    }
    return stats;
  }
}
