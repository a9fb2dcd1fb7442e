// What a process of the fleet asks a node, and what the node replies. Errors come back as data.

import { MissingOutputsError, TransactionRefusedError, UnreadableTransactionError, type RefusalWords } from '../../node/errors';
import { messageOf } from '../../system/error-text';
import { MalformedMessageError } from './errors';
import { decodeValue, encodeValue } from './values';
import type { BlockEntry, ChainTip } from '../../node/types/chain';
import type { SubmittedPackage, Trials } from '../../node/types/pool';
import type { DeploymentInfo, Deployments } from '../../node/types/soft-forks';
import type { OwnReply } from '../../node/types/source';
import type { LogPosition, PoolAdd } from './records';

/** Questions by name: what is asked, and the reply. undefined: the node does not know it. */
export interface Questions {
  readonly block: Question<{ readonly hash: Buffer }, Buffer | undefined>;
  readonly part: Question<
    { readonly hash: Buffer; readonly offset: number; readonly length: number; readonly blockLength: number },
    Buffer | undefined
  >;
  /** The node's undo record of a block. */
  readonly undo: Question<{ readonly hash: Buffer }, Buffer | undefined>;
  readonly entry: Question<{ readonly hash: Buffer }, BlockEntry | undefined>;
  /**
   * Headers of the active chain, 80 bytes each, above the first block of the locator that is on it, or else from the genesis block.
   * `height`: of the first header.
   */
  readonly headers: Question<
    { readonly locator: readonly Buffer[]; readonly count: number },
    { readonly height: number; readonly headers: Buffer }
  >;
  readonly deployments: Question<{ readonly hash: Buffer }, Deployments | undefined>;
  readonly deploymentInfo: Question<{ readonly hash: Buffer }, DeploymentInfo | undefined>;
  readonly tips: Question<Empty, ChainTip[]>;
  /** `sequence`: of the record with which the transaction entered the log's pool; undefined: the node does not lead, or it did not get there in time. */
  readonly broadcast: Question<{ readonly raw: Buffer; readonly mostRate: number }, { readonly sequence?: number }>;
  readonly try: Question<{ readonly raws: readonly Buffer[] }, Trials>;
  /** `sequence`: as in a broadcast, of the last one. */
  readonly submit: Question<
    { readonly raws: readonly Buffer[]; readonly mostRate: number },
    { readonly submitted?: SubmittedPackage; readonly sequence?: number }
  >;
  readonly call: Question<{ readonly method: string; readonly params: unknown }, OwnReply>;
  /** A page of the log's pool; only a leader knows it. */
  readonly pool: Question<{ readonly after: number; readonly mostBytes: number }, PoolPage>;
  /** Has the leader write a Reset to this block of its chain, even if that has less work than the log. */
  readonly rewind: Question<{ readonly hash: Buffer }, { readonly sequence: number }>;
}

interface Question<Asked, Replied> {
  readonly asked: Asked;
  readonly replied: Replied;
}

type Empty = Readonly<Record<string, never>>;

export type QuestionName = keyof Questions;

/** About blocks: another node may lack those of the log's chain, or what they spend. */
export const LEADER_KNOWS: readonly QuestionName[] = ['block', 'part', 'undo', 'entry'];

export type Asked<Name extends QuestionName> = Questions[Name]['asked'];
export type Replied<Name extends QuestionName> = Questions[Name]['replied'];

/**
 * Entries of the log's pool in the order in which they entered it. Who starts reads the log from the first page's `at` on: later changes
 * of these entries come from there.
 */
export interface PoolPage {
  /** The log's last record when the page was made. */
  readonly at: LogPosition;
  /** `number`: ascending; the next page begins after the last one. */
  readonly entries: readonly { readonly number: number; readonly entry: PoolAdd }[];
  readonly more: boolean;
}

/** Bytes of the longest question: a package of transactions, or a call. */
const MOST_QUESTION_BYTES = 4 * 1_024 * 1_024;

/** Bytes of the longest reply: a block. */
const MOST_REPLY_BYTES = 8 * 1_024 * 1_024;

export const MOST_HEADERS = 2_000;
export const MOST_LOCATOR = 64;

/** The node could not answer; in its words. */
export class FleetReplyError extends Error {
  override readonly name = 'FleetReplyError';

  constructor(
    /** `refused`: the question cannot be answered, by any node. `busy`: too many are waiting. `failed`: this node cannot. */
    readonly code: FaultCode,
    message: string
  ) {
    super(message);
  }
}

export type FaultCode = 'refused' | 'busy' | 'failed' | 'not leading';

interface Fault {
  readonly type: FaultCode | TransactionFault;
  readonly message: string;
  readonly words?: RefusalWords;
}

type TransactionFault = 'transaction refused' | 'missing outputs' | 'unreadable transaction';

/** What a message holds: one of the two. */
interface Envelope {
  readonly value?: unknown;
  readonly fault?: Fault;
}

/** `_`: for the types alone; which question it is, the subject says. */
export function encodeQuestion<Name extends QuestionName>(_: Name, asked: Asked<Name>): Buffer {
  return encodeValue(asked);
}

/** The fields of a question, which a stranger may have sent: none is checked. @throws MalformedMessageError */
export function decodeQuestion(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  const value = decodeValue(bytes, MOST_QUESTION_BYTES);
  if (typeof value !== 'object' || value === null) throw new MalformedMessageError('a question: an object expected');
  return value as Readonly<Record<string, unknown>>;
}

/** `_`: for the types alone. */
export function encodeReply<Name extends QuestionName>(_: Name, value: Replied<Name>): Buffer {
  return encodeValue({ value } satisfies Envelope);
}

/** An error in place of a reply. `decodeReply` throws the same for a refused transaction and FleetReplyError; others become `failed`. */
export function encodeFault(error: unknown): Buffer {
  return encodeValue({ fault: faultOf(error) } satisfies Envelope);
}

/**
 * @throws FleetReplyError; TransactionRefusedError and its kinds; MalformedMessageError. The fields of a value are as the node sent them.
 */
export function decodeReply<Name extends QuestionName>(_: Name, bytes: Uint8Array): Replied<Name> {
  const envelope = decodeValue(bytes, MOST_REPLY_BYTES);
  if (typeof envelope !== 'object' || envelope === null) throw new MalformedMessageError('a reply: an object expected');
  const { value, fault } = envelope as Envelope;
  if (fault !== undefined) throw errorOf(fault);
  return value as Replied<Name>;
}

function faultOf(error: unknown): Fault {
  const message = messageOf(error);
  if (error instanceof TransactionRefusedError)
    return { type: transactionFaultOf(error), message, ...(error.words && { words: error.words }) };
  return { type: error instanceof FleetReplyError ? error.code : 'failed', message };
}

function transactionFaultOf(error: TransactionRefusedError): TransactionFault {
  if (error instanceof MissingOutputsError) return 'missing outputs';
  return error instanceof UnreadableTransactionError ? 'unreadable transaction' : 'transaction refused';
}

function errorOf({ type, message, words }: Fault): Error {
  const extra = words && { words };
  switch (type) {
    case 'transaction refused':
      return new TransactionRefusedError(message, extra);
    case 'missing outputs':
      return new MissingOutputsError(message, extra);
    case 'unreadable transaction':
      return new UnreadableTransactionError(message, extra);
    default:
      return new FleetReplyError(type, message);
  }
}
