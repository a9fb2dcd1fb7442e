// What a method of the Electrum protocol is: a function from parameters and the client's session to the JSON of its result.

import type { ScriptAnswers } from '../answers/answers';
import type { Outpoint } from '../bitcoin/transaction';
import type { Properties, Schema } from '../describe/schema';
import type { HeaderRecord } from '../index/types';
import type { Client } from '../turns/client';

/** The versions that are spoken, in ascending order. */
export const PROTOCOLS = ['1.4', '1.4.1', '1.4.2', '1.4.3', '1.5', '1.6'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** Where a server is reached: `tcp` and `ssl` by lines, `ws` and `wss` over WebSocket. */
export interface ServerPlace {
  readonly scheme: 'tcp' | 'ssl' | 'ws' | 'wss';
  readonly host: string;
  readonly port: number;
}

export interface ServerAbout {
  /** A text for the user; undefined: a greeting. */
  readonly banner: string | undefined;
  /** Empty: none. */
  readonly donationAddress: string;
  /** Where this server is reached. */
  readonly hosts: readonly ServerPlace[];
  /** Where other servers are. */
  readonly peers: readonly ServerPlace[];
}

/** What methods answer from. */
export interface MethodContext extends ScriptAnswers {
  /** The version of this package. */
  readonly version: string;
  /** The most transactions of a script in one reply. */
  readonly maxHistory: number;
  /** Whether transactions are accepted for broadcast. */
  readonly broadcast: boolean;
  /** What the operator has the server say of itself and of other servers. */
  readonly about: ServerAbout;
}

/** A client as methods see it. */
export interface ElectrumClient extends Client {
  readonly protocol: Protocol;
  /** What the client is subscribed to. */
  readonly subscriptions: Subscriptions;
  /** Adds to what the client has cost, in points: about a tenth of a millisecond of processor time each. */
  charge(points: number): void;
}

/** Undefined: the script has no transactions. */
export type ScriptStatus = Buffer | undefined;

export interface Subscriptions {
  /** Notifies the client of new tips from now on. `known`: the tip that the client gets in this turn. */
  addHeaders(known: HeaderRecord): void;
  /**
   * Notifies the client from now on when the status changes. `name`: the hash as the client wrote it, for notifications. Gives the present
   * status; undefined when the script has no transactions. It is a promise only if it takes more than one turn. `worked`: called with the
   * number of transactions that were read for it. `method`: of notifications.
   * @throws ElectrumError when the client has too many subscriptions
   */
  addScript(
    script: Buffer,
    name: string,
    worked: (transactions: number) => void,
    method?: ScriptMethod
  ): ScriptStatus | Promise<ScriptStatus>;
  /** Whether the client was subscribed to the script. */
  removeScript(script: Buffer): boolean;
  /** As `addScript`, without notifications. */
  statusOf(script: Buffer, worked: (transactions: number) => void): ScriptStatus | Promise<ScriptStatus>;
  /**
   * Notifies the client from now on when the status of the outpoint changes, and gives the present one as JSON. `worked`: called with the
   * number of rows of histories that were walked through. @throws ElectrumError when the client has too many subscriptions
   */
  addOutpoint(outpoint: Outpoint, client: Client, worked: (rows: number) => void): Promise<string>;
  /** Whether the client was subscribed to the outpoint. */
  removeOutpoint(outpoint: Outpoint): boolean;
}

/**
 * A client that is sent notifications. `about`: what a notification is about, a script's SHA-256, one character a byte, the key of an outpoint,
 * or the word for tips.
 */
export interface NotifiedClient {
  /** `params`: JSON text. Replaces a notification about the same thing that has not been sent yet. */
  notify(method: string, params: string, about: string): void;
  /** Drops a notification that has not been sent yet, because the client gets a newer answer. */
  withdraw(about: string): void;
  /** The client was not notified of something. */
  failed(error: unknown): void;
}

/** The methods with which clients subscribe to scripts, under whose names they are notified. */
export type ScriptMethod = 'blockchain.scripthash.subscribe' | 'blockchain.scriptpubkey.subscribe';

/** JSON text. */
export type Result = string | Buffer;

/** What a method is for, for people and for the description of the interface. */
export interface MethodAbout {
  readonly summary: string;
  /** The schemas of its parameters, in the order of their names. */
  readonly parameters: readonly Schema[];
  readonly result: Schema;
  /** The schemas of the parameters of notifications that a subscriber gets under the method's name. */
  readonly notification?: Properties;
}

export interface Method {
  readonly about: MethodAbout;
  /** Names in order: `required` of them first, then the optional ones. */
  readonly parameters: readonly string[];
  readonly required: number;
  /** The first and the last protocol version that have the method; without a first all earlier ones do, without a last all later ones. */
  readonly since?: Protocol;
  readonly until?: Protocol;
  /** Whether the method takes the heavy lane of the work queue. */
  readonly isHeavy?: true;
  /** Whether it only lets go of something: then it is answered in the heavy lane also while too many replies wait to be read. */
  readonly frees?: true;
  /**
   * The result; a promise only if it takes more than one turn of the event loop. `values`: as the client sent them, in the order of names;
   * undefined if left out. @throws ElectrumError
   */
  answer(values: readonly unknown[], client: ElectrumClient): Result | Promise<Result>;
}

export type MethodTable = Readonly<Record<string, Method | undefined>>;
