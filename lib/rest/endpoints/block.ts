// /rest/block/<hash>.<bin|hex|json> and /rest/block/notxdetails/... (contract 4.2): all blocks
// that the node knows, also off the active chain. Texts that are asked for again are kept;
// where a kept one's block has moved in the chain, its place is written anew.

import { blockWithoutWitness, scanBlock } from '../../bitcoin/block';
import { blockJson, blockSummaryJson, isSamePlace, placedAt, type BlockContext, type BlockPlace, type BlockText } from '../../views/block';
import { detailsAt } from '../../views/header';
import { hexLine } from '../../views/hex';
import { AGAIN } from '../cache/answers';
import { BlockDigests } from '../cache/block-digests';
import { chainMoving, notFound, prunedBlock } from '../errors';
import { ALL_FORMATS, binaryReplyIn, jsonReply, splitSuffix, type Format, type Reply } from '../format';
import { parseHash } from './hash-parameter';
import { LongTexts, type HeldText } from '../cache/block-texts';
import { keyOf } from '../cache/blocks';
import type { Allocate } from '../../bitcoin/text-writer';
import type { IndexSnapshot } from '../../index/types';
import type { HeaderContext } from '../../views/header-fields';
import type { Endpoint, EndpointContext, RestRequest } from '../endpoint';

/** Blocks with their transactions in JSON. */
export function blockEndpoint(context: EndpointContext): Endpoint {
  return endpointWith(withTransactions, 'block-json', context);
}

/** Blocks with only the txids of their transactions in JSON. */
export function blockSummaryEndpoint(context: EndpointContext): Endpoint {
  return endpointWith(withTxids, 'block-summary', context);
}

/** Makes the JSON of a block. */
type View = (raw: Buffer, context: BlockContext, digests: BlockDigests, allocate: Allocate) => Generator<void, BlockText>;

function* withTransactions(raw: Buffer, context: BlockContext, digests: BlockDigests, allocate: Allocate): Generator<void, BlockText> {
  const block = scanBlock(raw);
  return yield* blockJson(block, yield* digests.of(keyOf(block.hash), block), context, allocate);
}

function* withTxids(raw: Buffer, context: BlockContext, digests: BlockDigests, allocate: Allocate): Generator<void, BlockText> {
  const block = scanBlock(raw);
  return blockSummaryJson(block, yield* digests.txidsOf(keyOf(block.hash), block), context, allocate);
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

/** Digits are made five times as fast, for the room that they take, as the blocks are read that would have to go. */
const LINE_KEPT_AFTER = 16;

function endpointWith(view: View, name: string, context: EndpointContext): Endpoint {
  const { node, reader } = context;
  const answers = new BlockAnswers(view, name, context);
  return (request) => {
    const { parameter, format } = splitSuffix(request.path);
    const hash = parseHash(parameter);
    const question = { parameter, format, request };
    const active = reader.read((snapshot) => activeBlock(hash, snapshot));
    if (active !== undefined) return answers.reply(active, question);
    return inactiveBlock(hash, node).then((inactive) => {
      if (inactive === undefined) throw node.resetting ? chainMoving() : notFound(parameter);
      return answers.reply(inactive, question);
    });
  };
}

class BlockAnswers {
  private readonly texts: LongTexts<BlockText>;
  private readonly lines: LongTexts<Buffer>;
  private readonly digests: BlockDigests;

  constructor(private readonly view: View, name: string, private readonly context: EndpointContext) {
    const { cache, memory } = context;
    this.texts = new LongTexts(cache, name, memory, ({ json }) => json, AGAIN);
    // Both endpoints have the same bytes.
    this.lines = new LongTexts(cache, 'block-hex', memory, (line) => line, LINE_KEPT_AFTER);
    this.digests = new BlockDigests(cache);
  }

  reply(block: KnownBlock, question: Question): Reply | Promise<Reply> {
    const { format, request } = question;
    const { blocks, node } = this.context;
    const key = keyOf(block.hash);
    // The node may drop what is off the chain at any time.
    if (block.confirmations < 0) return node.rawBlock(block.hash).then((read) => this.replyFrom(read, block, question));
    if (!blocks.isPruned(block)) {
      const line = format === 'hex' ? this.lines.get(key) : undefined;
      if (line !== undefined) return lineReply(line);
      const text = format === 'json' ? this.texts.get(key) : undefined;
      if (text !== undefined) return this.placedReply(text, block);
    }
    const raw = blocks.block(block, request);
    if (raw instanceof Promise) return raw.then((read) => this.replyFrom(read, block, question));
    return this.replyFrom(raw, block, question);
  }

  private replyFrom(raw: Buffer | undefined, block: KnownBlock, question: Question): Reply | Promise<Reply> {
    if (raw === undefined) return this.refuse(block, question);
    const { format, request } = question;
    const { node, witness } = this.context;
    const key = keyOf(block.hash);
    const bytes = (): Buffer => witness ? raw : blockWithoutWitness(raw);
    if (format === 'hex') {
      const line = this.lines.make(key, request, (allocate) => hexLine(bytes(), allocate));
      return line instanceof Promise ? line.then(lineReply) : lineReply(line);
    }
    if (format !== 'json') return binaryReplyIn(format, bytes, ALL_FORMATS, request);
    const context = { ...block, prefixes: node.network.addressPrefixes, hexWithWitness: witness };
    const text = this.texts.make(key, request, (allocate) => this.view(raw, context, this.digests, allocate));
    return text instanceof Promise ? text.then((made) => this.placedReply(made, block)) : this.placedReply(text, block);
  }

  /** The node does not have the bytes. */
  private async refuse(block: KnownBlock, { parameter }: Question): Promise<never> {
    const { node, blocks } = this.context;
    if (block.confirmations > 0) await blocks.requireActive(block);
    else if (node.resetting) throw chainMoving();
    throw node.pruned ? prunedBlock(parameter) : notFound(parameter);
  }

  /** The text may be of another place: it was kept, or others asked for it before a block came. */
  private placedReply({ text, release }: HeldText<BlockText>, block: KnownBlock): Reply {
    if (isSamePlace(text.place, block)) return { ...jsonReply(text.json), release };
    const placed = this.texts.renew(keyOf(block.hash), (allocate) => placedAt(text, block, allocate));
    release();
    return { ...jsonReply(placed.text.json), release: placed.release };
  }
}

function lineReply({ text, release }: HeldText<Buffer>): Reply {
  return { contentType: 'text/plain', body: text, release };
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
