// What is in the chain, by bcoin's own objects: the independent path that answers are held
// against. Nothing here knows the index or the views.

import { bcoin, type TestFullNode } from '../../test/support/bcoin';
import { openRegtestNode } from '../../test/support/regtest-node';
import type { HostEntry, HostHash } from '../../lib/node/host';
import { copyOf, NODE_SETTINGS, POOL_TRANSACTIONS, poolOf, type ServingChain } from './serving-chain';

export interface ChainTransaction {
  readonly version: number;
  readonly locktime: number;
  readonly inputs: readonly {
    readonly prevout: { readonly hash: HostHash; readonly index: number };
    readonly script: { toRaw(): Buffer };
    readonly sequence: number;
    readonly witness: { readonly items: readonly Buffer[] };
  }[];
  readonly outputs: readonly { readonly value: number; readonly script: { toRaw(): Buffer; isUnspendable(): boolean } }[];
  hash(): Buffer;
  witnessHash(): Buffer;
  toRaw(): Buffer;
  getSize(): number;
  getVirtualSize(): number;
  getWeight(): number;
  isCoinbase(): boolean;
}

export interface ChainBlock {
  readonly txs: readonly ChainTransaction[];
  readonly merkleRoot: HostHash;
  readonly time: number;
  readonly nonce: number;
  hash(): Buffer;
  toRaw(): Buffer;
  getSize(): number;
  getBaseSize(): number;
  getWeight(): number;
}

export interface ChainCoin {
  readonly height: number;
  readonly value: number;
  readonly script: { toRaw(): Buffer };
}

export interface WaitingTransaction {
  readonly tx: ChainTransaction;
  readonly size: number;
  readonly fee: number;
  readonly time: number;
  readonly height: number;
}

/** 32 bytes in wire order, as bcoin's own interfaces print them. */
export const display = (hash: HostHash): string => Buffer.from(Buffer.isBuffer(hash) ? hash : Buffer.from(hash, 'hex')).reverse().toString('hex');

export class ChainReader {
  private constructor(
    private readonly node: TestFullNode,
    private readonly blocks: readonly ChainBlock[],
    private readonly entries: readonly HostEntry[]
  ) {}

  static async open(chain: ServingChain): Promise<ChainReader> {
    const node = await openRegtestNode({ prefix: copyOf(chain, 'reader'), settings: NODE_SETTINGS });
    const blocks: ChainBlock[] = [];
    const entries: HostEntry[] = [];
    for (let height = 0; height <= node.chain.height; height++) {
      const entry = await node.chain.getEntryByHeight(height);
      const raw = entry && await node.chain.getRawBlock(entry.hash);
      if (!raw) throw new Error(`expected a block at height ${height}, got none`);
      blocks.push(bcoin.Block.fromRaw(raw) as unknown as ChainBlock);
      entries.push(entry);
    }
    for (const raw of poolOf(chain)) await node.mempool.addTX(bcoin.TX.fromRaw(Buffer.from(raw, 'hex')));
    if (node.mempool.map.size !== POOL_TRANSACTIONS) throw new Error(`expected ${POOL_TRANSACTIONS} transactions in the pool, got ${node.mempool.map.size}`);
    return new ChainReader(node, blocks, entries);
  }

  close(): Promise<void> {
    return this.node.close();
  }

  get tipHeight(): number {
    return this.node.chain.height;
  }

  block(height: number): ChainBlock {
    return this.at(this.blocks, height);
  }

  /** Of the block, as bcoin's own interfaces print it. */
  hash(height: number): string {
    return display(this.block(height).hash());
  }

  /** The 80 bytes of the header. */
  header(height: number): Buffer {
    return this.at(this.entries, height).toRaw().subarray(0, 80);
  }

  /** 64 hex digits. */
  chainwork(height: number): string {
    return this.at(this.entries, height).chainwork.toString(16).padStart(64, '0');
  }

  /** Null when it is spent, or never was. */
  coin(txid: Buffer, index: number): Promise<ChainCoin | null> {
    const chain = this.node.chain as unknown as { getCoin(hash: HostHash, index: number): Promise<ChainCoin | null> };
    return chain.getCoin(typeof this.node.chain.tip.hash === 'string' ? txid.toString('hex') : txid, index);
  }

  pool(): WaitingTransaction[] {
    return [...this.node.mempool.map.values()] as unknown as WaitingTransaction[];
  }

  private at<T>(list: readonly T[], height: number): T {
    const found = list[height];
    if (found === undefined) throw new RangeError(`expected a height from 0 to ${this.tipHeight}, got ${height}`);
    return found;
  }
}
