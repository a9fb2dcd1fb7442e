// The content of the chain, read by bcoin's own objects: an independent source with which
// answers are compared. Nothing here uses the index or the views.

import { bcoin, type TestFullNode } from '../../test/support/bcoin/bcoin';
import { openRegtestNode } from '../../test/support/bcoin/regtest-node';
import { copyOf, LARGE_BLOCKS, LARGE_FROM, NODE_SETTINGS, POOL_TRANSACTIONS, poolOf, type ServingChain } from './serving-chain';
import type { HostEntry, HostHash } from '../../lib/node/host';

export interface ChainOutput {
  readonly value: number;
  readonly script: { toRaw(): Buffer; isUnspendable(): boolean };
}

export interface ChainTransaction {
  readonly version: number;
  readonly locktime: number;
  readonly inputs: readonly {
    readonly prevout: { readonly hash: HostHash; readonly index: number };
    readonly script: { toRaw(): Buffer };
    readonly sequence: number;
    readonly witness: { readonly items: readonly Buffer[] };
  }[];
  readonly outputs: readonly ChainOutput[];
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

/**
 * The cost of reading a block from a node whose store returns only whole blocks (bcoin 1.x). A transaction
 * costs this much more if its block is not in memory.
 */
export interface WholeBlockReads {
  readonly blockBytes: number;
  /** Of all threads, for a block. */
  readonly cpuMicroseconds: number;
}

const BLOCKS_READ = 200;

export interface WaitingTransaction {
  readonly tx: ChainTransaction;
  readonly size: number;
  readonly fee: number;
  readonly time: number;
  readonly height: number;
}

/** 32 bytes in wire order, as bcoin's own interfaces print them. */
export const display = (hash: HostHash): string =>
  Buffer.from(Buffer.isBuffer(hash) ? hash : Buffer.from(hash, 'hex'))
    .reverse()
    .toString('hex');

export class ChainReader {
  /** By txid as displayed. */
  #transactions: ReadonlyMap<string, ChainTransaction> | undefined;

  private constructor(
    private readonly node: TestFullNode,
    private readonly blocks: readonly ChainBlock[],
    private readonly entries: readonly HostEntry[],
    /** undefined: the node's store can return parts of blocks. */
    readonly wholeBlockReads: WholeBlockReads | undefined
  ) {}

  static async open(chain: ServingChain): Promise<ChainReader> {
    const node = await openRegtestNode({ prefix: copyOf(chain, 'reader'), settings: NODE_SETTINGS });
    // Measured first, while there is little for the garbage collector to mark.
    const wholeBlockReads = node.blocks === undefined ? await measureWholeBlockReads(node) : undefined;
    const blocks: ChainBlock[] = [];
    const entries: HostEntry[] = [];
    for (let height = 0; height <= node.chain.height; height++) {
      const { entry, raw } = await storedBlock(node, height);
      blocks.push(bcoin.Block.fromRaw(raw) as unknown as ChainBlock);
      entries.push(entry);
    }
    for (const raw of poolOf(chain)) await node.mempool.addTX(bcoin.TX.fromRaw(Buffer.from(raw, 'hex')));
    if (node.mempool.map.size !== POOL_TRANSACTIONS)
      throw new Error(`expected ${POOL_TRANSACTIONS} transactions in the pool, got ${node.mempool.map.size}`);
    return new ChainReader(node, blocks, entries, wholeBlockReads);
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

  /** Hash of the block, as bcoin's own interfaces print it. */
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

  /** The outputs that a block spends, of each of its transactions. */
  spentBy(height: number): ChainOutput[][] {
    this.#transactions ??= new Map(this.blocks.flatMap(({ txs }) => txs.map((transaction) => [display(transaction.hash()), transaction])));
    const transactions = this.#transactions;
    return this.block(height).txs.map((transaction) =>
      transaction.isCoinbase()
        ? []
        : transaction.inputs.map(({ prevout: { hash, index } }) => {
            const output = transactions.get(display(hash))?.outputs[index];
            if (output === undefined) throw new Error(`expected an output ${display(hash)}-${index} on the chain`);
            return output;
          })
    );
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

async function storedBlock({ chain }: TestFullNode, height: number): Promise<{ readonly entry: HostEntry; readonly raw: Buffer }> {
  const entry = await chain.getEntryByHeight(height);
  const raw = entry && (await chain.getRawBlock(entry.hash));
  if (!raw) throw new Error(`expected a block at height ${height}, got none`);
  return { entry, raw };
}

/** Of the large blocks, on average. */
async function measureWholeBlockReads(node: TestFullNode): Promise<WholeBlockReads> {
  let [bytes, count] = [0, 0];
  const before = process.cpuUsage();
  for (; count < BLOCKS_READ; count++) bytes += (await storedBlock(node, LARGE_FROM + (count % LARGE_BLOCKS))).raw.length;
  const { user, system } = process.cpuUsage(before);
  return { blockBytes: bytes / count, cpuMicroseconds: (user + system) / count };
}
