// The node as it was when its chain was shorter: shows the blocks up to a height, and hands
// out the later ones one by one, as a node does that receives them. Following can so be
// measured without the node's own work on a new block, and the chain stays as it is.

import { Subject } from 'rxjs';
import type { BlockPoint, ChainEvent, NodeSource } from '../../lib/node/types';

export class HeldBackNode implements NodeSource {
  readonly #node: NodeSource;
  readonly #events = new Subject<ChainEvent>();
  readonly chain$ = this.#events.asObservable();
  #tip: BlockPoint;

  private constructor(node: NodeSource, tip: BlockPoint) {
    this.#node = node;
    this.#tip = tip;
  }

  static async at(height: number, node: NodeSource): Promise<HeldBackNode> {
    return new HeldBackNode(node, { height, hash: await activeHash(node, height) });
  }

  get network(): NodeSource['network'] { return this.#node.network; }
  get pruned(): boolean { return this.#node.pruned; }
  get memory(): boolean { return this.#node.memory; }
  get pool(): NodeSource['pool'] { return this.#node.pool; }
  get synced$(): NodeSource['synced$'] { return this.#node.synced$; }
  get resetting(): boolean { return this.#node.resetting; }
  get httpServer(): NodeSource['httpServer'] { return this.#node.httpServer; }

  /** Makes the block the tip and resolves when its listeners let the chain go on. */
  connect(block: BlockPoint, raw: Buffer): Promise<void> {
    this.#tip = block;
    return new Promise((resolve) => {
      this.#events.next({ type: 'connect', block, rawBlock: () => raw, acknowledge: resolve });
    });
  }

  isApiKey(key: string): boolean {
    return this.#node.isApiKey(key);
  }

  tip(): BlockPoint {
    return this.#tip;
  }

  progress(): ReturnType<NodeSource['progress']> {
    return { ...this.#node.progress(), height: this.#tip.height };
  }

  async activeHash(height: number): Promise<Buffer | undefined> {
    return height > this.#tip.height ? undefined : this.#node.activeHash(height);
  }

  entry(hash: Buffer): ReturnType<NodeSource['entry']> {
    return this.#node.entry(hash);
  }

  rawBlock(hash: Buffer): Promise<Buffer | undefined> {
    return this.#node.rawBlock(hash);
  }

  rawBlockPart(hash: Buffer, offset: number, length: number): Promise<Buffer | undefined> {
    return this.#node.rawBlockPart(hash, offset, length);
  }

  pruneHeight(): number {
    return this.#node.pruneHeight();
  }

  deployments(): ReturnType<NodeSource['deployments']> {
    return this.#node.deployments();
  }
}

/** @throws Error when the node's chain is not so high. */
export async function activeHash(node: NodeSource, height: number): Promise<Buffer> {
  const hash = await node.activeHash(height);
  if (hash === undefined) throw new Error(`expected a block at height ${height}, got none`);
  return hash;
}

/** @throws Error when the node does not have the block. */
export async function blockAt(node: NodeSource, height: number): Promise<{ readonly point: BlockPoint; readonly raw: Buffer }> {
  const hash = await activeHash(node, height);
  const raw = await node.rawBlock(hash);
  if (raw === undefined) throw new Error(`expected the bytes of the block at height ${height}, got none`);
  return { point: { hash, height }, raw };
}
