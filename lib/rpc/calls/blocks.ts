// Blocks, headers and filters by hash.

import { toDisplayHex } from '../../bitcoin/hash';
import { RestError } from '../../rest/errors';
import { blockNotFound, CODES, misc, notFound, RpcError } from '../errors';
import { hexAnswer, quotedAnswer, replyAnswer, type Answer, type CallContext, type CallDefinition, type RpcClient } from '../call';

/** What follows the fields that blocks have in common with their headers. */
const BEHIND_HEADER = ',"strippedsize":';
const END = Buffer.from('}');

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
        return replyAnswer(await context.ask(`/rest/block/${verbosity === 1 ? 'notxdetails/' : ''}${name}.json`, client));
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
        return await filterJson(toDisplayHex(hash), context, client);
      } catch (error) {
        throw filterError(error);
      }
    }
  }
} satisfies Readonly<Record<string, CallDefinition>>;

/** @throws RpcError -5 for a block that the node has never heard of */
async function requireKnown(hash: Buffer, { reader, node }: CallContext): Promise<void> {
  const isActive = reader.read((snapshot) => snapshot.heightOf(hash)) !== undefined;
  if (!isActive && (await node.entry(hash)) === undefined) throw blockNotFound();
}

const isNotThere = (error: unknown): boolean => error instanceof RestError && error.status === 404;

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

/** @throws RpcError -1, -5 */
async function headerJson(hash: Buffer, context: CallContext, client: RpcClient): Promise<Answer> {
  const name = toDisplayHex(hash);
  const { body } = await context.ask(`/rest/headers/1/${name}.json`, client);
  const header = body.subarray(1, -2);
  if (header.length > 0) return { parts: [header] };
  // Off the active chain. A block begins with all that is known of its header.
  await requireKnown(hash, context);
  try {
    const { body: block, release } = await context.ask(`/rest/block/notxdetails/${name}.json`, client);
    return { parts: [block.subarray(0, block.indexOf(BEHIND_HEADER)), END], release };
  } catch (error) {
    throw isNotThere(error) ? misc('Block not available (pruned data)') : error;
  }
}

/** `{filter, header}` */
async function filterJson(name: string, { ask }: CallContext, client: RpcClient): Promise<Answer> {
  const { body } = await ask(`/rest/blockfilter/basic/${name}.json`, client);
  const headers = (await ask(`/rest/blockfilterheaders/basic/1/${name}.json`, client)).body;
  return { parts: [body.subarray(0, -2), Buffer.from(',"header":'), headers.subarray(1, -2), END] };
}

/** Bitcoin Core has the same texts here as in REST, with codes of their own. */
function filterError(error: unknown): unknown {
  if (!(error instanceof RestError)) return error;
  const { message } = error;
  if (message.includes('not connected')) return notFound(message);
  if (message.startsWith('Filter not found') && !message.includes('still')) return new RpcError(CODES.internal, message);
  return error.status === 404 && message.endsWith(' not found') ? blockNotFound() : error;
}
