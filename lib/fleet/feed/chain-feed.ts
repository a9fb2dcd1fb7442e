// The chain's part of the log, while this node leads: moves as they happen, and the way from where the log is to where the node is.

import { toDisplayHex } from '../../bitcoin/hash';
import { previousHashOf } from '../../bitcoin/header';
import { ChainMovedError } from '../../node/errors';
import type { BlockEntry, BlockPoint } from '../../node/types/chain';
import type { NodeSource } from '../../node/types/source';
import type { ChainWord } from '../log/log-reader';
import type { ChainPoint, ResetReason } from '../messages/records';
import type { TermWriter } from './term-writer';

/** A way of more blocks than this is not in the log: readers ask nodes for the blocks. */
export const MOST_STEPS = 144;

/** The node's chain has less work than the log's: it must not lead. */
export class LessWorkError extends Error {
  override readonly name = 'LessWorkError';

  constructor() {
    super("its chain has less work behind it than the log's");
  }
}

/** @throws LessWorkError */
export async function requireWork(node: NodeSource, tip: Tip | undefined): Promise<void> {
  if (tip === undefined) return;
  const own = await node.entry(node.tip().hash);
  if (own !== undefined && own.chainwork < (await workOf(node, tip))) throw new LessWorkError();
}

/** Of a block that the node knows it is not the log that says it: records of others may be in there. */
async function workOf(node: NodeSource, { tip, chainwork }: Tip): Promise<bigint> {
  return (await node.entry(tip.hash))?.chainwork ?? chainwork;
}

/** Where the log says that the chain is. */
type Tip = Pick<ChainWord, 'tip' | 'chainwork'>;

interface Way {
  /** Whether blocks are disconnected: their transactions must be in the pool before. */
  readonly leavesBlocks: boolean;
  /** Writes it. @throws ChainMovedError */
  write(): Promise<void>;
}

export class ChainFeed {
  readonly #node: NodeSource;
  readonly #writer: TermWriter;
  #tip: Tip | undefined;

  /** `tip`: by the log's last record about the chain; undefined: there is none. */
  constructor(node: NodeSource, writer: TermWriter, tip: Tip | undefined) {
    this.#node = node;
    this.#writer = writer;
    this.#tip = tip;
  }

  /** The log's, once it has one. */
  get tip(): BlockPoint {
    return this.#tip?.tip ?? this.#node.tip();
  }

  /**
   * The way to a block of the node's active chain. `mayRewind`: even if that has less work than the log.
   * @throws LessWorkError; ChainMovedError when the chain moves meanwhile
   */
  async wayTo(point: BlockPoint, mayRewind: boolean): Promise<Way> {
    const from = this.#tip;
    if (from?.tip.hash.equals(point.hash) === true) return { leavesBlocks: false, write: () => Promise.resolve() };
    const to = await this.#entry(point.hash);
    if (from === undefined) return this.#jump(to, 'start');
    if (to.chainwork < (await workOf(this.#node, from))) {
      if (mayRewind) return this.#jump(to, 'rewind');
      throw new LessWorkError();
    }
    const way = await this.#way(from.tip, to);
    if (way === undefined) return this.#jump(to, 'gap');
    const write = async (): Promise<void> => {
      for (const entry of way.down) await this.#disconnect(entry);
      for (const entry of way.up) {
        await this.#connect(entry, await this.#node.rawBlock(entry.hash), await this.#node.undoRecord(entry.hash).catch(() => undefined));
      }
    };
    return { leavesBlocks: way.down.length > 0, write };
  }

  /** Writes a block that the node has connected. False: it is not on top of the log's tip. @throws ChainMovedError */
  async connected({ hash }: BlockPoint, raw: Buffer, undo: Buffer | undefined): Promise<boolean> {
    const entry = await this.#entry(hash);
    if (this.#tip?.tip.hash.equals(previousHashOf(entry.header)) !== true) return false;
    await this.#connect(entry, raw, undo);
    return true;
  }

  /** Writes that the node has disconnected a block. False: it is not the log's tip. @throws ChainMovedError */
  async disconnected({ hash }: BlockPoint): Promise<boolean> {
    if (this.#tip?.tip.hash.equals(hash) !== true) return false;
    await this.#disconnect(await this.#entry(hash));
    return true;
  }

  /** The blocks to leave, from the log's tip down, and those to go on with. undefined: too many, or the node does not know the log's tip. */
  async #way(
    from: BlockPoint,
    to: BlockEntry
  ): Promise<{ readonly down: readonly BlockEntry[]; readonly up: readonly BlockEntry[] } | undefined> {
    const [down, up]: [BlockEntry[], BlockEntry[]] = [[], []];
    let low = await this.#node.entry(from.hash);
    let high: BlockEntry | undefined = to;
    while (low !== undefined && high !== undefined && !low.hash.equals(high.hash)) {
      if (down.length + up.length >= MOST_STEPS) return undefined;
      if (high.height > low.height) {
        up.unshift(high);
        high = await this.#node.entry(previousHashOf(high.header));
      } else {
        down.push(low);
        low = await this.#node.entry(previousHashOf(low.header));
      }
    }
    return low === undefined || high === undefined ? undefined : { down, up };
  }

  #jump(to: BlockEntry, reason: ResetReason): Way {
    return { leavesBlocks: false, write: () => this.#reset(to, reason) };
  }

  async #connect(entry: BlockEntry, raw: Buffer | undefined, undo: Buffer | undefined): Promise<void> {
    const point = await this.#point(entry);
    const blockSequence = raw === undefined ? 0 : await this.#writer.addBlock(entry.hash, raw, undo);
    const lengths = { blockBytes: raw?.length ?? 0, undoBytes: raw === undefined ? 0 : (undo?.length ?? 0) };
    await this.#writer.add({ type: 'connect', ...point, ...lengths, blockSequence });
    this.#moved(entry);
  }

  async #disconnect(entry: BlockEntry): Promise<void> {
    const previous = await this.#entry(previousHashOf(entry.header));
    const { height, hash } = entry;
    await this.#writer.add({ type: 'disconnect', height, hash, chainwork: previous.chainwork, previous: previous.hash });
    this.#moved(previous);
  }

  async #reset(entry: BlockEntry, reason: ResetReason): Promise<void> {
    await this.#writer.add({ type: 'reset', ...(await this.#point(entry)), reason });
    this.#moved(entry);
  }

  #moved({ height, hash, chainwork }: BlockEntry): void {
    this.#tip = { tip: { height, hash }, chainwork };
  }

  async #point(entry: BlockEntry): Promise<ChainPoint> {
    const { hash, height, header, chainwork, medianTime } = entry;
    const [deployments, deploymentInfo] = await Promise.all([this.#node.deployments(hash), this.#node.deploymentInfo(hash)]);
    if (deploymentInfo === undefined) throw new ChainMovedError('the block is gone');
    return { hash, height, header, chainwork, medianTime, deployments, deploymentInfo };
  }

  async #entry(hash: Buffer): Promise<BlockEntry> {
    const entry = await this.#node.entry(hash);
    if (entry === undefined) throw new ChainMovedError(`the node no longer knows block ${toDisplayHex(hash)}`);
    return entry;
  }
}
