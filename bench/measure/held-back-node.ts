// The node as it was when its chain was shorter: shows the blocks up to a height, and releases
// the later ones one by one, like a node that receives them. So following can be measured
// without the node's own work on a new block, and the chain stays the same.

import { Subject } from 'rxjs';
import type { BlockPoint, ChainEvent } from '../../lib/node/types/chain';
import type { NodeSource } from '../../lib/node/types/source';

export interface HeldBackNode {
  /** The node that the index sees. */
  readonly source: NodeSource;
  /** Makes the block the tip and resolves when its listeners let the chain continue. */
  connect(block: BlockPoint, raw: Buffer): Promise<void>;
}

/** @throws Error when the node's chain is shorter. */
export async function holdBack(node: NodeSource, height: number): Promise<HeldBackNode> {
  let tip: BlockPoint = { height, hash: await activeHash(node, height) };
  const events = new Subject<ChainEvent>();
  const shown: Partial<NodeSource> = {
    chain$: events.asObservable(),
    tip: () => tip,
    progress: () => ({ ...node.progress(), height: tip.height }),
    activeHash: async (wanted) => (wanted > tip.height ? undefined : node.activeHash(wanted))
  };
  const source = new Proxy(node, {
    get: (target, name): unknown => {
      if (Object.hasOwn(shown, name)) return Reflect.get(shown, name);
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    }
  });
  const connect = (block: BlockPoint, raw: Buffer): Promise<void> => {
    tip = block;
    return new Promise((resolve) => {
      events.next({ type: 'connect', block, rawBlock: () => raw, acknowledge: resolve });
    });
  };
  return { source, connect };
}

async function activeHash(node: NodeSource, height: number): Promise<Buffer> {
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
