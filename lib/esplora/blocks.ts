// Blocks of the active chain as Esplora shows them: the one that a request names, and the errors when one cannot be shown.

import { writeEsploraBlock } from '../views/esplora/block';
import { blockNotFound } from './errors';
import { readHash, type EsploraReply } from './reply';
import type { ExtendedBlock } from '../answers/blocks/extended-blocks';
import type { HeaderRecord, IndexSnapshot } from '../index/types';
import type { ScriptSnapshot } from '../scripts/types';
import type { Client } from '../turns/client';
import type { JsonWriter } from '../views/json-writer';
import type { Endpoint, EsploraContext, EsploraRequest } from './endpoint';

/** Makes a reply about a block. */
export type BlockAnswer = (block: HeaderRecord, snapshot: ScriptSnapshot, request: EsploraRequest) => Promise<EsploraReply> | EsploraReply;

/** Answers about the block in the path. Replies are immutable and hold as long as the block is in the chain, unless the answer says otherwise. */
export function blockEndpoint({ scripts, bases }: Pick<EsploraContext, 'scripts' | 'bases'>, answer: BlockAnswer): Endpoint {
  return async (request) => {
    const hash = readHash(request.parameter('hash'));
    return scripts.read(async (snapshot) => {
      const block = requireBlock(hash, snapshot.index);
      const basis = bases.at(snapshot).ofBlock(block.height);
      const reply = await answer(block, snapshot, request);
      return { basis, isImmutable: true, ...reply };
    });
  };
}

/** @throws HttpError 404 unless the block is in the active chain */
export function requireBlock(hash: Buffer, index: IndexSnapshot): HeaderRecord {
  const height = index.heightOf(hash);
  const header = height === undefined ? undefined : index.headerAt(height);
  if (header === undefined) throw blockNotFound();
  return header;
}

/** @throws HttpError 404 or 503 when the node no longer has the block */
export async function writeBlock(
  writer: JsonWriter,
  block: HeaderRecord,
  client: Client,
  context: Pick<EsploraContext, 'blocks' | 'sizes'>
): Promise<void> {
  const size = await context.sizes.of(block, client);
  if (size === undefined) return refuse(block, context);
  writeEsploraBlock(writer, { ...block, ...size });
}

/** A block with `extras`, as mempool's interface shows it. @throws HttpError 404 or 503 when the node no longer has all of it */
export async function extendedBlock(
  block: HeaderRecord,
  client: Client,
  context: Pick<EsploraContext, 'blocks' | 'extended'>
): Promise<ExtendedBlock> {
  return (await context.extended.of(block, client)) ?? refuse(block, context);
}

/** @throws HttpError 404, 503 */
export async function refuse(block: HeaderRecord, { blocks }: Pick<EsploraContext, 'blocks'>): Promise<never> {
  await blocks.requireActive(block);
  throw blockNotFound();
}
