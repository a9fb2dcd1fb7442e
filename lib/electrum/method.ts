// What a method of the Electrum protocol is: a function from parameters and the client's session to the JSON of its result.

import type { HeaderRecord } from '../index/types';
import type { EndpointContext } from '../rest/endpoint';
import type { Waiting } from '../rest/server/work-queue';
import type { PoolFees } from '../script-answers/pool-fees';
import type { ScriptPool } from '../script-pool/script-pool';
import type { ScriptReader } from '../scripts/types';
import type { ScriptHistories } from '../script-status/history';

/** Versions that are spoken, in their order. */
export const PROTOCOLS = ['1.4', '1.4.1', '1.4.2', '1.4.3', '1.5', '1.6'] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** What methods ask. */
export interface MethodContext {
  /** What REST's endpoints ask: the node, its blocks, the cache for answers. */
  readonly rest: EndpointContext;
  /** Answers while the gate is open only. Looks at the state and at the pool that are made in one turn are of one moment. */
  readonly scripts: ScriptReader;
  readonly pool: ScriptPool;
  readonly fees: PoolFees;
  /** Histories from both. */
  readonly histories: ScriptHistories;
  /** The version of this package. */
  readonly version: string;
  /** Transactions of a script in one reply. */
  readonly maxHistory: number;
  /** Whether transactions are taken. */
  readonly broadcast: boolean;
}

/** A client as methods see it. */
export interface ElectrumClient extends Waiting {
  readonly protocol: Protocol;
  /** What it is told of by itself. */
  readonly subscriptions: Subscriptions;
  /** Adds to what the client has cost, in points: about a tenth of a millisecond of processor time each. */
  charge(points: number): void;
}

export interface Subscriptions {
  /** From now on it is told of new tips. `known`: the one that it is told in this turn. */
  addHeaders(known: HeaderRecord): void;
  /**
   * From now on it is told when the status changes. `name`: the hash as it was written, in which it is told. The present status: undefined
   * when no transaction has to do with the script. `worked`: called with how many transactions were gone through for it.
   * @throws ElectrumError when it has too many
   */
  addScript(script: Buffer, name: string, worked: (transactions: number) => void): Promise<Buffer | undefined>;
  /** Whether it was told of it. */
  removeScript(script: Buffer): boolean;
}

export interface Method {
  /** Names, in their order; those that may be left out come last, after `required` others. */
  readonly parameters: readonly string[];
  readonly required: number;
  /** The first protocol that has it, and the last one; unless given, all have it. */
  readonly since?: Protocol;
  readonly until?: Protocol;
  /** Whether it takes the heavy lane of the work queue. */
  readonly isHeavy?: true;
  /** The JSON text of the result. `values`: as they came, in the order of the names; undefined: left out. @throws ElectrumError */
  answer(values: readonly unknown[], client: ElectrumClient): Promise<string | Buffer>;
}

export type MethodTable = Readonly<Record<string, Method | undefined>>;
