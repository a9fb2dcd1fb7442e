// Blocks, headers and filters by hash.

import { misc, notFound, type CallError } from '../../answers/errors';
import { hash256, toDisplayHex } from '../../bitcoin/hash';
import { HEADER_LENGTH, previousHashOf } from '../../bitcoin/header';
import { ByteReader } from '../../bitcoin/reader';
import { anyOf, object } from '../../describe/schema';
import { ASKED_HASH, FLAG, HASH, HEX } from '../../describe/values';
import { blockSchema, blockSummarySchema, blockWithFeesSchema } from '../../views/block';
import { headerSchema, writeHeaderEnd, writeHeaderStart } from '../../views/header';
import { JsonWriter } from '../../views/json-writer';
import {
  hexAnswer,
  jsonAnswer,
  plainAnswer,
  quotedAnswer,
  textAnswer,
  type Answer,
  type CallContext,
  type CallDefinition,
  type RpcClient
} from '../call';
import { blockNotFound } from '../errors';
import { knownBlock, refuseBlock } from '../known-block';
import { verbosity } from '../parameters';

/** By verbosity. */
const FORMS = ['hex', 'summary', 'fees', 'json'] as const;

const BLOCK = { name: 'blockhash', type: 'string', schema: ASKED_HASH } as const;

export const blockCalls = {
  getblock: {
    summary: 'A block that the node knows.',
    parameters: [
      BLOCK,
      {
        name: 'verbosity|verbose',
        type: 'any',
        isOptional: true,
        schema: verbosity('0: hex; 1: with txids; 2: with transactions; 3: with what these spend.', 1)
      }
    ],
    result: (fields) => anyOf(HEX, blockSummarySchema(fields), blockWithFeesSchema(fields), blockSchema(fields)),
    isHeavy: () => true,
    answer: async (parameters, context, client) => {
      const hash = parameters.hash(0);
      const verbosity = parameters.verbosity(1, 1);
      const block = await knownBlock(hash, context);
      const form = FORMS[Math.min(Math.max(verbosity, 0), 3)] ?? 'json';
      const made = (await context.blockForms.text(block, form, client)) ?? (await refuseBlock(block, context));
      return verbosity <= 0 ? quotedAnswer(made) : textAnswer(made);
    }
  },
  getblockheader: {
    summary: 'The header of a block that the node knows.',
    parameters: [
      BLOCK,
      { name: 'verbose', type: 'bool', isOptional: true, schema: { ...FLAG, default: true, description: 'false: hex.' } }
    ],
    result: (fields) => anyOf(HEX, headerSchema(fields)),
    answer: async (parameters, context) => {
      const hash = parameters.hash(0, 'hash');
      return parameters.flag(1, true) ? headerJson(hash, context) : hexAnswer(await headerBytes(hash, context));
    }
  },
  getblockfilter: {
    summary: 'The compact filter of a block (BIP158) and its filter header; only with --rest-filters.',
    parameters: [BLOCK, { name: 'filtertype', type: 'string', isOptional: true, schema: { const: 'basic' } }],
    result: () => object({ filter: HEX, header: HASH }),
    answer: async (parameters, context, client) => {
      const hash = parameters.hash(0);
      const type = parameters.optionalText(1) ?? 'basic';
      if (type !== 'basic') throw notFound('Unknown filtertype');
      if (!context.filters) throw misc('Index is not enabled for filtertype basic');
      const filter = await filterOf(hash, context, client);
      const header = await filterHeader(hash, context, client);
      return plainAnswer({ filter: filter.toString('hex'), header: toDisplayHex(header) });
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** @throws CallError -5 */
async function headerBytes(hash: Buffer, { reader, node }: CallContext): Promise<Buffer> {
  const active = reader.read((snapshot) => {
    const height = snapshot.heightOf(hash);
    return height === undefined ? undefined : snapshot.headerAt(height);
  });
  const known = active ?? (await node.entry(hash));
  if (known === undefined) throw blockNotFound();
  return known.header;
}

/** @throws CallError -5 */
async function headerJson(hash: Buffer, context: CallContext): Promise<Answer> {
  const { reader, headers } = context;
  const active = reader.read((snapshot) => (snapshot.heightOf(hash) === undefined ? undefined : headers.fewJson(hash, 1, snapshot)));
  return jsonAnswer(active === undefined ? await staleHeaderJson(hash, context) : active.subarray(1, -2));
}

/** The header of a block off the active chain. @throws CallError -5 */
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

/** @throws CallError -1, -5 */
async function filterOf(hash: Buffer, { blockFilters }: CallContext, client: RpcClient): Promise<Buffer> {
  const found = await blockFilters.of(hash, client);
  if (found === 'unknown') throw blockNotFound();
  if (found === 'not made') throw notFound('Filter not found. Block was not connected to active chain.');
  if (found === 'not yet made') throw filterNotYetMade();
  return found.filter;
}

const filterNotYetMade = (): CallError => misc('Filter not found. Block filters are still in the process of being indexed.');

/** The filter header (BIP157) of any block that has a filter; off the active chain it is computed from the parent's. @throws CallError */
async function filterHeader(hash: Buffer, context: CallContext, client: RpcClient): Promise<Buffer> {
  const active = context.reader.read((snapshot) => {
    const height = snapshot.heightOf(hash);
    return height === undefined ? undefined : { header: snapshot.filterHeaderAt(height) };
  });
  if (active !== undefined) {
    if (active.header === undefined) throw filterNotYetMade();
    return active.header;
  }
  const filter = await filterOf(hash, context, client);
  const entry = await context.node.entry(hash);
  if (entry === undefined) throw blockNotFound();
  const before = await filterHeader(previousHashOf(entry.header), context, client);
  return hash256(Buffer.concat([hash256(filter), before]));
}
