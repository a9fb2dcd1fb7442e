// /rest/block/<hash>.<bin|hex|json> and /rest/block/notxdetails/... (contract 4.2): all blocks
// that the node knows, also off the active chain. Texts are kept; where a kept one's block has
// moved in the chain, its confirmations and next block are written anew.

import { blockWithoutWitness } from '../../bitcoin/block';
import { blockJson, blockSummaryJson, placedAt, type BlockPlace, type BlockText } from '../../views/block';
import { detailsAt } from '../../views/header';
import { memoryOf, type Kept, type Shelf } from '../answer-cache';
import { notFound, prunedBlock } from '../errors';
import { ALL_FORMATS, binaryReplyIn, jsonReply, splitSuffix, type Format, type Reply } from '../format';
import { parseHash } from '../hash-parameter';
import { MadeOnce } from '../made-once';
import { keyOf } from '../raw-blocks';
import { runInSlices } from '../run-in-slices';
import type { IndexSnapshot } from '../../index/types';
import type { HeaderContext } from '../../views/header-fields';
import type { Endpoint, EndpointContext, RestRequest } from '../endpoint';

/** Blocks with their transactions in JSON. */
export function blockEndpoint(context: EndpointContext): Endpoint {
  return endpointWith(blockJson, 'block-json', context);
}

/** Blocks with only the txids of their transactions in JSON. */
export function blockSummaryEndpoint(context: EndpointContext): Endpoint {
  return endpointWith(blockSummaryJson, 'block-summary', context);
}

interface KeptText extends Kept {
  readonly text: BlockText;
}

interface KeptLine extends Kept {
  readonly line: Buffer;
}

/** A block that the node knows: what its JSON says beside its bytes. */
interface KnownBlock extends HeaderContext, BlockPlace {
  readonly hash: Buffer;
}

interface Question {
  /** The hash as typed. */
  readonly parameter: string;
  readonly format: Format | undefined;
  readonly request: RestRequest;
}

function endpointWith(view: typeof blockJson, name: string, context: EndpointContext): Endpoint {
  const { node, reader } = context;
  const answers = new BlockAnswers(view, name, context);
  return (request) => {
    const { parameter, format } = splitSuffix(request.path);
    const hash = parseHash(parameter);
    const question = { parameter, format, request };
    const active = reader.read((snapshot) => activeBlock(hash, snapshot));
    if (active !== undefined) return answers.reply(active, question);
    return inactiveBlock(hash, node).then((inactive) => {
      if (inactive === undefined) throw notFound(parameter);
      return answers.reply(inactive, question);
    });
  };
}

class BlockAnswers {
  private readonly texts: Shelf<KeptText>;
  private readonly lines: Shelf<KeptLine>;
  private readonly making = new MadeOnce<BlockText>();

  constructor(private readonly view: typeof blockJson, name: string, private readonly context: EndpointContext) {
    this.texts = context.cache.shelf(name);
    // Both endpoints have the same bytes.
    this.lines = context.cache.shelf('block-hex');
  }

  reply(block: KnownBlock, question: Question): Reply | Promise<Reply> {
    const { format, request } = question;
    const { blocks, node } = this.context;
    const key = keyOf(block.hash);
    // The node may drop what is off the chain at any time.
    if (block.confirmations < 0) return node.rawBlock(block.hash).then((read) => this.replyFrom(read, block, question));
    if (!blocks.isPruned(block)) {
      const line = format === 'hex' ? this.lines.get(key)?.line : undefined;
      if (line !== undefined) return { contentType: 'text/plain', body: line };
      const text = format === 'json' ? this.texts.get(key)?.text : undefined;
      if (text !== undefined) return this.placedReply(key, text, block);
    }
    const raw = blocks.block(block, request);
    if (raw instanceof Promise) return raw.then((read) => this.replyFrom(read, block, question));
    return this.replyFrom(raw, block, question);
  }

  private replyFrom(raw: Buffer | undefined, block: KnownBlock, { parameter, format, request }: Question): Reply | Promise<Reply> {
    const { node, witness } = this.context;
    if (raw === undefined) throw node.pruned ? prunedBlock(parameter) : notFound(parameter);
    if (format === 'json') return this.writtenReply(raw, block, request);
    const reply = binaryReplyIn(format, () => witness ? raw : blockWithoutWitness(raw), ALL_FORMATS, request);
    if (format !== 'hex') return reply;
    const keep = (made: Reply): Reply => {
      this.lines.set(keyOf(block.hash), { line: made.body, byteLength: memoryOf(made.body) });
      return made;
    };
    return reply instanceof Promise ? reply.then(keep) : keep(reply);
  }

  private writtenReply(raw: Buffer, block: KnownBlock, request: RestRequest): Reply | Promise<Reply> {
    const { node, witness } = this.context;
    const key = keyOf(block.hash);
    const form = { prefixes: node.network.addressPrefixes, hexWithWitness: witness };
    const text = this.making.get(key, request, (everybody) => runInSlices(this.view(raw, { ...block, ...form }), everybody));
    // Who joined may have seen the block at another place.
    return text instanceof Promise ? text.then((made) => this.placedReply(key, made, block)) : this.placedReply(key, text, block);
  }

  private placedReply(key: string, text: BlockText, place: BlockPlace): Reply {
    const placed = placedAt(text, place);
    if (placed !== text || this.texts.get(key) === undefined)
      this.texts.set(key, { text: placed, byteLength: memoryOf(placed.json) });
    return jsonReply(placed.json);
  }
}

function activeBlock(hash: Buffer, snapshot: IndexSnapshot): KnownBlock | undefined {
  const height = snapshot.heightOf(hash);
  const run = height === undefined ? undefined : snapshot.headerRun(height, 1);
  if (run === undefined) return undefined;
  const { nextHash } = run;
  return {
    hash,
    height: run.height,
    confirmations: snapshot.tip.height - run.height + 1,
    ...detailsAt(run, 0),
    ...nextHash !== undefined && { nextHash }
  };
}

async function inactiveBlock(hash: Buffer, node: EndpointContext['node']): Promise<KnownBlock | undefined> {
  const entry = await node.entry(hash);
  if (entry === undefined) return undefined;
  const { height, chainwork, medianTime } = entry;
  return { hash, height, confirmations: -1, chainwork, medianTime };
}
