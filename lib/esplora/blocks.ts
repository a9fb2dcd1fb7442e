// Blocks of the active chain as Esplora shows them, and the errors when one cannot be shown.

import { writeEsploraBlock } from '../views/esplora/block';
import { blockNotFound } from './errors';
import type { ExtendedBlock } from '../answers/blocks/extended-blocks';
import type { HeaderRecord } from '../index/types';
import type { Client } from '../turns/client';
import type { JsonWriter } from '../views/json-writer';
import type { EsploraContext } from './endpoint';

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
