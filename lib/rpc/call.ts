// What a call is: its parameters, and a function from them to JSON text. It throws CallError for everything that is not a success, and
// lets errors of answers, index and node pass.

import { Observable } from 'rxjs';
import { jsonText } from '../server/json-rpc/values';
import type { Socket } from 'node:net';
import type { Answers, ScriptAnswers } from '../answers/answers';
import type { HeldText } from '../answers/blocks/texts';
import type { ChainIndex } from '../index/types';
import type { ChangePoint } from '../node/types/fleet';
import type { HttpHost } from '../node/types/http-host';
import type { Schema } from '../describe/schema';
import type { Client } from '../turns/client';
import type { ProfileFields } from '../views/profile';
import type { Parameter, Parameters } from './parameters';

/** JSON text in consecutive parts. */
export interface Answer {
  readonly parts: readonly Buffer[];
  /** What shows the change that the call has made, or may have made; absent: it has made none. */
  readonly change?: ChangePoint;
  /** To be called once the operating system has the parts, or the client has gone. */
  readonly release?: (() => void) | undefined;
}

/** The client that waits for the reply. */
export class RpcClient implements Client {
  readonly socket: Pick<Socket, 'destroyed' | 'once' | 'off'>;

  constructor(socket: RpcClient['socket']) {
    this.socket = socket;
  }

  get isGone(): boolean {
    return this.socket.destroyed;
  }

  /** Emits once the client has disconnected. */
  readonly gone$ = new Observable<void>((subscriber) => {
    const end = (): void => {
      subscriber.next();
    };
    if (this.isGone) end();
    this.socket.once('close', end);
    return () => this.socket.off('close', end);
  });
}

export interface ActiveCall {
  readonly method: string;
  /** As `performance.now()` has it. */
  readonly begin: number;
}

/** What calls answer from. */
export interface CallContext extends Answers {
  readonly host: Pick<HttpHost, 'uptime'>;
  readonly index: Pick<ChainIndex, 'state' | 'tip$'>;
  /** Undefined without an index by script. */
  readonly scripts: () => Pick<ScriptAnswers, 'scripts' | 'totals'> | undefined;
  /** What is published over ZeroMQ: topic, address, and how many messages wait for one subscriber. */
  readonly notifiers: readonly { readonly topic: string; readonly address: string; readonly hwm: number }[];
  /** The version of this package. */
  readonly version: string;
  /** The calls as an OpenRPC document: JSON text. */
  readonly document: () => Buffer;
  /** All calls, or how one of them is made, as text. */
  readonly help: (method: string) => string;
  /** The calls that are being answered. */
  readonly active: () => readonly ActiveCall[];
  /** Emits when the HTTP server has begun to close, which waits for its clients. */
  readonly closing$: Observable<void>;
}

export interface CallDefinition {
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  /** The schema of its result, as the edition shows it. */
  readonly result: (fields: ProfileFields) => Schema;
  /** Whether the call takes the heavy lane of the work queue; absent: never. */
  readonly isHeavy?: (parameters: Parameters) => boolean;
  /** Set for a call that may wait indefinitely; it holds no slot of the work queue. */
  readonly waits?: true;
  readonly answer: (parameters: Parameters, context: CallContext, client: RpcClient) => Promise<Answer> | Answer;
}

export const jsonAnswer = (text: Buffer): Answer => ({ parts: [text] });

/** For values without amounts, whose eight decimals it does not write. */
export const plainAnswer = (value: unknown): Answer => jsonAnswer(Buffer.from(jsonText(value)));

const QUOTE = Buffer.from('"');

export const hexAnswer = (bytes: Buffer): Answer => plainAnswer(bytes.toString('hex'));

/** A text without the line feed at its end. */
export const lineAnswer = (text: Buffer): Answer => jsonAnswer(text.subarray(0, -1));

/** As `lineAnswer`, for a text in a buffer that is used again. */
export const textAnswer = ({ text, release }: HeldText): Answer => ({ parts: [text.subarray(0, -1)], release });

/** As `textAnswer`, as a JSON string. */
export const quotedAnswer = ({ text, release }: HeldText): Answer => ({ parts: [QUOTE, text.subarray(0, -1), QUOTE], release });
