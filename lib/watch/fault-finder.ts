// Looks for faults in blocks of the node, one block at a time, in a thread that is started with the first one.

import { once } from 'node:events';
import { join } from 'node:path';
import { spentCounts } from '../bitcoin/block';
import { startWorker } from '../index/scan/worker';
import { runAhead } from '../turns/slices';
import type { Worker } from 'node:worker_threads';
import type { NodeSource } from '../node/types/source';
import type { BlockFault } from './block-fault';

/** The block, and behind it the outputs that it spends. */
export interface FaultRequest {
  readonly memory: SharedArrayBuffer;
  readonly blockLength: number;
}
export type FaultReply = { readonly fault: BlockFault | undefined } | { readonly error: unknown };

export class FaultFinder {
  readonly #node: Pick<NodeSource, 'rawBlock' | 'spentOutputs'>;
  #worker: Worker | undefined;

  constructor(node: Pick<NodeSource, 'rawBlock' | 'spentOutputs'>) {
    this.#node = node;
  }

  /**
   * The fault of a block, by its hash. Undefined also for a block that the node no longer has. Must not be called again before it has ended.
   * @throws UnreadableBlockError, MalformedBytesError, and what ends the thread
   */
  async find(hash: Buffer): Promise<BlockFault | undefined> {
    const block = await this.#node.rawBlock(hash);
    if (block === undefined) return undefined;
    const counts = await runAhead(spentCounts(block));
    // A block that spends nothing has no record of it.
    const spent = counts.some((count) => count > 0) ? await this.#node.spentOutputs(hash, counts) : undefined;
    if (spent === undefined) return undefined;
    const memory = new SharedArrayBuffer(block.length + spent.length);
    const bytes = new Uint8Array(memory);
    bytes.set(block);
    bytes.set(spent, block.length);
    const worker = (this.#worker ??= this.#start());
    const replied = once(worker, 'message');
    worker.postMessage({ memory, blockLength: block.length } satisfies FaultRequest);
    const [reply] = (await replied) as [FaultReply];
    if ('error' in reply) throw reply.error;
    return reply.fault;
  }

  /** A search that is under way never ends. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = startWorker(join(__dirname, 'fault-worker'));
    // The next block gets a new one.
    worker.on('error', () => {
      this.#worker = undefined;
    });
    worker.unref();
    return worker;
  }
}
