// The bytes of a block where a node keeps them.

import type { TestFullNode } from './bcoin';

interface WritableDatabase {
  get(key: Buffer): Promise<Buffer | null>;
  put(key: Buffer, value: Buffer): Promise<void>;
}

/** Makes the node store the block's bytes when it comes again: 2.x would keep the old ones, even after a reset. */
export async function forgetStoredBlock({ blocks }: TestFullNode, hash: Buffer): Promise<void> {
  await (blocks as { prune(hash: Buffer): Promise<boolean> } | undefined)?.prune(hash);
}

/** Replaces the bytes of a block in a node in memory, and returns the old ones. */
export async function replaceStoredBlock(node: TestFullNode, hash: Buffer, change: (stored: Buffer) => Buffer): Promise<Buffer> {
  const { blocks, chain } = node;
  const database = (blocks === undefined ? chain.db.db : blocks.db) as unknown as WritableDatabase;
  const key = Buffer.concat([Buffer.from(blocks === undefined ? '62' : '6200000001', 'hex'), hash]);
  const stored = await database.get(key);
  if (stored === null) throw new Error('the node does not have the block');
  await database.put(key, change(stored));
  return stored;
}
