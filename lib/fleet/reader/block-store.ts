// The bytes of blocks, and the coins that they spend: from memory, from files, or from a node. Blocks come in with the log; those that a node
// has sent are checked as those of the log are. What blocks spend is checked when it is asked for: the index has taken the block in by then.

import { LRUCache } from 'lru-cache';
import { keyOf, toDisplayHex } from '../../bitcoin/hash';
import { MalformedBytesError } from '../../bitcoin/reader';
import { ownCopy } from '../../system/own-copy';
import { checkedTxids } from './checks';
import { hashOfUndo } from './undo-hash';
import type { IndexLogger } from '../../follow/logger';
import type { BlockFiles } from './block-files';
import type { Nodes } from './nodes';
import type { StoredBlock } from './stored-block';

const MIB = 1_024 * 1_024;

/** Enough for the blocks between the log and a live index. */
const MEMORY_BYTES = 64 * MIB;

export interface BlockStoreParts {
  readonly nodes: Nodes;
  /** undefined: nothing is kept on disk. */
  readonly files: BlockFiles | undefined;
  /** Whether blocks that nodes have sent are kept: not while the index reads all of them once, one after the other. */
  readonly keepsAsked: () => boolean;
  /** The reader's own hash over the coins that a block spends (lib/index/records/spent-hash.ts); undefined: its index has none. */
  readonly spentHash: (hash: Buffer) => Buffer | undefined;
  readonly logger: IndexLogger;
}

export class BlockStore {
  readonly #parts: BlockStoreParts;
  /** Of the blocks that were checked. */
  readonly #txids = new WeakMap<Buffer, Buffer>();
  readonly #memory = new LRUCache<string, StoredBlock>({
    maxSize: MEMORY_BYTES,
    sizeCalculation: ({ raw, undo }) => raw.length + (undo?.length ?? 0) + (this.#txids.get(raw)?.length ?? 0)
  });
  /** Undo records that were checked. */
  readonly #true = new WeakSet<Buffer>();
  /** Questions under way, so that many readers of a block ask once. */
  readonly #asking = new Map<string, Promise<StoredBlock | undefined>>();

  /** Whole blocks and undo records that were there, and those that were asked of nodes. */
  readonly use = { hits: 0, misses: 0 };

  constructor(parts: BlockStoreParts) {
    this.#parts = parts;
  }

  /** The txids, concatenated, of a block whose bytes came from here, or were kept here, in this process. */
  txidsOf(raw: Buffer): Buffer | undefined {
    return this.#txids.get(raw);
  }

  /** Keeps a block that was checked. `txids`: as `checkedTxids` gave them. */
  async put(hash: Buffer, block: StoredBlock, txids: Buffer | undefined): Promise<void> {
    if (txids !== undefined) this.#txids.set(block.raw, txids);
    this.#memory.set(keyOf(hash), block);
    await this.#parts.files?.put(hash, block);
  }

  /** undefined: no node has it. @throws NoNodeError */
  async raw(hash: Buffer): Promise<Buffer | undefined> {
    return (await this.#find(hash, false))?.raw;
  }

  /** A part of the block. undefined: no node has the block. @throws NoNodeError */
  async part(hash: Buffer, offset: number, length: number, blockLength: number): Promise<Buffer | undefined> {
    const known = this.#memory.get(keyOf(hash));
    if (known !== undefined) return known.raw.subarray(offset, offset + length);
    const stored = await this.#parts.files?.part(hash, offset, length);
    if (stored !== undefined) return stored;
    const whole = await this.#parts.files?.get(hash);
    return whole === undefined
      ? await this.#parts.nodes.ask('part', { hash, offset, length, blockLength })
      : whole.raw.subarray(offset, offset + length);
  }

  /**
   * The undo record, which is of the coins that the block spends, as far as the own index knows them. undefined: no node has it, or the
   * block spends nothing.
   * @throws NoNodeError
   */
  async undo(hash: Buffer): Promise<Buffer | undefined> {
    const found = await this.#find(hash, true);
    if (found?.undo === undefined || (await this.#isTrue(hash, found.undo))) return found?.undo;
    this.#parts.logger.warning(`What block ${toDisplayHex(hash)} spends was said wrong, and is asked of a node.`);
    // What the node says replaces it in the file, too.
    this.#memory.set(keyOf(hash), { raw: found.raw });
    return (await this.#find(hash, true))?.undo;
  }

  async #isTrue(hash: Buffer, undo: Buffer): Promise<boolean> {
    if (this.#true.has(undo)) return true;
    const expected = this.#parts.spentHash(hash);
    if (expected === undefined) return true;
    try {
      if (!(await hashOfUndo(undo)).equals(expected)) return false;
    } catch (error) {
      if (error instanceof MalformedBytesError) return false;
      throw error;
    }
    this.#true.add(undo);
    return true;
  }

  /** Of the blocks in memory. */
  get memory(): { readonly bytes: number; readonly entries: number } {
    return { bytes: this.#memory.calculatedSize, entries: this.#memory.size };
  }

  async #find(hash: Buffer, withUndo: boolean): Promise<StoredBlock | undefined> {
    const key = keyOf(hash);
    let block = this.#memory.get(key);
    if (block === undefined) {
      block = await this.#parts.files?.get(hash);
      if (block !== undefined) this.#memory.set(key, block);
    }
    const isThere = block !== undefined && (!withUndo || block.undo !== undefined);
    this.use[isThere ? 'hits' : 'misses']++;
    if (isThere) return block;
    const question = withUndo ? `${key}undo` : key;
    const asking = this.#asking.get(question) ?? this.#ask(hash, block, withUndo).finally(() => this.#asking.delete(question));
    this.#asking.set(question, asking);
    return asking;
  }

  /** Asks nodes for what is not known of a block. */
  async #ask(hash: Buffer, known: StoredBlock | undefined, withUndo: boolean): Promise<StoredBlock | undefined> {
    const { nodes } = this.#parts;
    const [sent, undo] = await Promise.all([
      known?.raw ?? nodes.ask('block', { hash }),
      withUndo ? nodes.ask('undo', { hash }, (reply) => this.#isTrue(hash, reply)) : undefined
    ]);
    if (sent === undefined) return undefined;
    const txids = known === undefined ? await checkedTxids(sent, hash) : undefined;
    const isKept = this.#parts.keepsAsked();
    // The client of NATS has joined the reply in memory of up to twice its length.
    const raw = isKept && known === undefined ? ownCopy(sent) : sent;
    const block = undo === undefined ? { raw } : { raw, undo };
    if (isKept) await this.put(hash, block, txids);
    else if (txids !== undefined) this.#txids.set(raw, txids);
    return block;
  }
}
