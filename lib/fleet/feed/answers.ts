// What a node answers to the questions of readers.

import { setTimeout } from 'node:timers/promises';
import { HEADER_LENGTH, previousHashOf } from '../../bitcoin/header';
import { FleetReplyError, type QuestionName, type Replied } from '../messages/questions';
import { MOST_PAGE_BYTES } from './pool-feed';
import { hashIn, headerCountIn, locatorIn, methodIn, numberIn, partIn, rawIn, rawsIn, type AskedFields } from './question-fields';
import type { NodeSource } from '../../node/types/source';
import type { Term } from './term';

/** How an answer to each question is found. */
export type NodeAnswers = { readonly [Name in QuestionName]: (fields: AskedFields) => Promise<Replied<Name>> };

export interface AnswerParts {
  readonly node: NodeSource;
  /** While this node leads. */
  readonly term: () => Term | undefined;
  /** Brings the log to a block that is the node's tip. Resolves with the sequence of the record. @throws FleetReplyError */
  readonly rewind: (hash: Buffer) => Promise<number>;
}

/** How long a broadcast waits until the transaction is in the log's pool. */
const PUBLISHED_MS = 2_000;

const MOST_RATE = Number.MAX_SAFE_INTEGER;

/** They throw FleetReplyError: `refused` for fields that are wrong, `not leading` for what only the node that leads knows. */
export function nodeAnswersOf({ node, term, rewind }: AnswerParts): NodeAnswers {
  const published = async (): Promise<{ readonly sequence?: number }> => {
    const sequence = await within(PUBLISHED_MS, term()?.reached(false));
    return sequence === undefined ? {} : { sequence };
  };
  return {
    block: (fields) => node.rawBlock(hashIn(fields)),
    part: (fields) => {
      const { offset, length, blockLength } = partIn(fields);
      return node.rawBlockPart(hashIn(fields), offset, length, blockLength);
    },
    undo: (fields) => node.undoRecord(hashIn(fields)),
    entry: (fields) => node.entry(hashIn(fields)),
    headers: (fields) => headersAbove(node, locatorIn(fields), headerCountIn(fields)),
    deployments: async (fields) => {
      const hash = hashIn(fields);
      return (await node.entry(hash)) && node.deployments(hash);
    },
    deploymentInfo: (fields) => node.deploymentInfo(hashIn(fields)),
    tips: () => node.chainTips(),
    broadcast: async (fields) => {
      await node.broadcast(rawIn(fields), numberIn(fields, 'mostRate', MOST_RATE));
      return published();
    },
    try: (fields) => node.tryTransactions(rawsIn(fields)),
    submit: async (fields) => {
      const submitted = await node.submitPackage(rawsIn(fields), numberIn(fields, 'mostRate', MOST_RATE));
      return { ...(submitted && { submitted }), ...(await published()) };
    },
    call: (fields) => node.ownCall(methodIn(fields), fields['params']),
    pool: async (fields) => {
      const leading = term();
      if (leading === undefined) throw new FleetReplyError('not leading', 'this node does not lead');
      return leading.page(numberIn(fields, 'after', Number.MAX_SAFE_INTEGER), numberIn(fields, 'mostBytes', MOST_PAGE_BYTES));
    },
    rewind: async (fields) => ({ sequence: await rewind(hashIn(fields)) })
  };
}

/** The headers of the active chain above the first block of a locator that is on it, or else all from the genesis block on. */
async function headersAbove(
  node: NodeSource,
  locator: readonly Buffer[],
  count: number
): Promise<{ readonly height: number; readonly headers: Buffer }> {
  const first = await heightAbove(node, locator);
  const headers: Buffer[] = [];
  let below: Buffer | undefined;
  for (let height = first; headers.length < count; height++) {
    const hash = await node.activeHash(height);
    const entry = hash && (await node.entry(hash));
    // The chain may be reorganized meanwhile.
    if (entry === undefined || (below !== undefined && !previousHashOf(entry.header).equals(below))) break;
    headers.push(entry.header);
    below = entry.hash;
  }
  return { height: first, headers: Buffer.concat(headers, headers.length * HEADER_LENGTH) };
}

async function heightAbove(node: NodeSource, locator: readonly Buffer[]): Promise<number> {
  for (const hash of locator) {
    const entry = await node.entry(hash);
    const active = entry && (await node.activeHash(entry.height));
    if (entry !== undefined && active?.equals(hash) === true) return entry.height + 1;
  }
  return 0;
}

/** What the promise gives, or undefined if it takes longer. */
async function within<T>(ms: number, promise: Promise<T> | undefined): Promise<T | undefined> {
  const end = new AbortController();
  try {
    return await Promise.race([promise, setTimeout(ms, undefined, { signal: end.signal })]);
  } finally {
    end.abort();
  }
}
