// Blocks, headers and filters by hash.

import { hash256, toDisplayHex } from '../../bitcoin/hash';
import { HEADER_LENGTH, previousHashOf } from '../../bitcoin/header';
import { ByteReader } from '../../bitcoin/reader';
import { filterNotYetMade } from '../../rest/errors';
import { HttpError } from '../../server/errors';
import { writeHeaderEnd, writeHeaderStart } from '../../views/header';
import { JsonWriter } from '../../views/json-writer';
import { blockNotFound, misc, notFound } from '../errors';
import {
  hexAnswer,
  jsonAnswer,
  quotedAnswer,
  replyAnswer,
  type Answer,
  type CallContext,
  type CallDefinition,
  type RpcClient
} from '../call';

export const blockCalls = {
  getblock: {
    parameters: [
      { name: 'blockhash', type: 'string' },
      { name: 'verbosity|verbose', type: 'any', isOptional: true }
    ],
    isHeavy: () => true,
    answer: async (parameters, context, client) => {
      const hash = parameters.hash(0, 'blockhash');
      const verbosity = parameters.verbosity(1, 1);
      await requireKnown(hash, context);
      const name = toDisplayHex(hash);
      try {
        if (verbosity <= 0) return quotedAnswer(await context.ask(`/rest/block/${name}.hex`, client));
        if (verbosity === 1) return replyAnswer(await context.ask(`/rest/block/notxdetails/${name}.json`, client));
        return replyAnswer(await (verbosity === 2 ? context.askForFees(name, client) : context.ask(`/rest/block/${name}.json`, client)));
      } catch (error) {
        throw isNotThere(error) ? misc('Block not available (pruned data)') : error;
      }
    }
  },
  getblockheader: {
    parameters: [
      { name: 'blockhash', type: 'string' },
      { name: 'verbose', type: 'bool', isOptional: true }
    ],
    answer: async (parameters, context, client) => {
      const hash = parameters.hash(0, 'hash');
      return parameters.flag(1, true) ? headerJson(hash, context, client) : hexAnswer(await headerBytes(hash, context));
    }
  },
  getblockfilter: {
    parameters: [
      { name: 'blockhash', type: 'string' },
      { name: 'filtertype', type: 'string', isOptional: true }
    ],
    answer: async (parameters, context, client) => {
      const hash = parameters.hash(0, 'blockhash');
      const type = parameters.optionalText(1) ?? 'basic';
      if (type !== 'basic') throw notFound('Unknown filtertype');
      try {
        return await filterJson(hash, context, client);
      } catch (error) {
        throw filterError(error);
      }
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** @throws RpcError -5 for a block that the node does not know */
async function requireKnown(hash: Buffer, { reader, node }: CallContext): Promise<void> {
  const isActive = reader.read((snapshot) => snapshot.heightOf(hash)) !== undefined;
  if (!isActive && (await node.entry(hash)) === undefined) throw blockNotFound();
}

const isNotThere = (error: unknown): boolean => error instanceof HttpError && error.status === 404;

/** @throws RpcError -5 */
async function headerBytes(hash: Buffer, { reader, node }: CallContext): Promise<Buffer> {
  const active = reader.read((snapshot) => {
    const height = snapshot.heightOf(hash);
    return height === undefined ? undefined : snapshot.headerAt(height);
  });
  const known = active ?? (await node.entry(hash));
  if (known === undefined) throw blockNotFound();
  return known.header;
}

/** @throws RpcError -5 */
async function headerJson(hash: Buffer, context: CallContext, client: RpcClient): Promise<Answer> {
  const { body } = await context.ask(`/rest/headers/1/${toDisplayHex(hash)}.json`, client);
  const header = body.subarray(1, -2);
  return header.length > 0 ? { parts: [header] } : jsonAnswer(await staleHeaderJson(hash, context));
}

/** The header of a block off the active chain. @throws RpcError -5 */
async function staleHeaderJson(hash: Buffer, { node, profile: { fields } }: CallContext): Promise<Buffer> {
  const entry = await node.entry(hash);
  if (entry === undefined) throw blockNotFound();
  const raw = await node.rawBlock(hash);
  const writer = new JsonWriter();
  writer.hashField('{"hash":', hash);
  writer.ascii(',"confirmations":-1');
  writeHeaderStart(writer, entry.header, entry);
  // The number of transactions is 0 if the node does not have the block, as for Bitcoin Core's headers without blocks.
  writeHeaderEnd(writer, entry.header, entry, raw === undefined ? 0 : new ByteReader(raw, HEADER_LENGTH).compactSize(), fields);
  writer.ascii('}');
  return writer.toBuffer();
}

/** `{filter, header}` */
async function filterJson(hash: Buffer, context: CallContext, client: RpcClient): Promise<Answer> {
  const { body } = await context.ask(`/rest/blockfilter/basic/${toDisplayHex(hash)}.json`, client);
  const header = await filterHeader(hash, context, client);
  return { parts: [body.subarray(0, -2), Buffer.from(`,"header":"${toDisplayHex(header)}"}`)] };
}

/** The filter header (BIP157) of any block that has a filter; off the active chain it is computed from the parent's. @throws HttpError */
async function filterHeader(hash: Buffer, context: CallContext, client: RpcClient): Promise<Buffer> {
  const active = context.reader.read((snapshot) => {
    const height = snapshot.heightOf(hash);
    return height === undefined ? undefined : { header: snapshot.filterHeaderAt(height) };
  });
  if (active !== undefined) {
    if (active.header === undefined) throw filterNotYetMade();
    return active.header;
  }
  const { body } = await context.ask(`/rest/blockfilter/basic/${toDisplayHex(hash)}.json`, client);
  const { filter } = JSON.parse(body.toString('latin1')) as { readonly filter: string };
  const entry = await context.node.entry(hash);
  if (entry === undefined) throw blockNotFound();
  const before = await filterHeader(previousHashOf(entry.header), context, client);
  return hash256(Buffer.concat([hash256(Buffer.from(filter, 'hex')), before]));
}

/** Bitcoin Core's texts are the same here as in REST, but the errors have their own codes. */
function filterError(error: unknown): unknown {
  if (!(error instanceof HttpError)) return error;
  const { message } = error;
  if (message.includes('not connected')) return notFound(message);
  return error.status === 404 && message.endsWith(' not found') ? blockNotFound() : error;
}
