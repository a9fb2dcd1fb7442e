// What a process that follows nodes through a log knows, and has done.

import type { Observable } from 'rxjs';

/** A place in a log of changes: the number of a record, and the name of the log (printable ASCII without spaces). Another log counts anew. */
export interface LogPoint {
  readonly log: string;
  readonly sequence: number;
}

/** What shows a change that a request has made; `unknown`: this process does not know, as it has not seen the change itself. */
export type ChangePoint = LogPoint | 'unknown';

/** How far a process has read the changes of chain and pool. */
export interface ReadingPosition {
  /** The last change that every answer shows. */
  readonly now: LogPoint;
  /** Emits after `now` has changed. */
  readonly moved$: Observable<unknown>;
}

/** What a process that follows nodes through a log knows of them. */
export interface FleetFacts {
  /** Why its answers may be too old to give; undefined: they are not. A status for strangers, without a full stop. */
  readonly why: string | undefined;
  /** Milliseconds since the node that leads was last heard of; undefined: never. */
  readonly beatAgeMs: number | undefined;
  /** The term of the node that leads, as the log has it. */
  readonly term: number | undefined;
  /** What is wrong with the chain of the node that leads, as it says. */
  readonly warnings: readonly string[];
}

/** What a reader of a fleet has done so far. */
export interface ReaderFigures {
  /** Records that it has taken in. */
  readonly read: number;
  /** Records of the log behind the last one that it has read; undefined: it reads none. */
  readonly pending: number | undefined;
  readonly term: FleetFacts['term'];
  readonly beatAgeMs: FleetFacts['beatAgeMs'];
  /** How often a connection to NATS was made, or has come back. */
  readonly connections: number;
  /** Questions to nodes, by kind. */
  readonly asked: Readonly<Record<string, number>>;
  /** Blocks in memory; hits are those in memory or in files, misses those that nodes were asked for. */
  readonly blocks: { readonly hits: number; readonly misses: number; readonly bytes: number; readonly entries: number };
  /** Blocks in files; undefined: there are no files. */
  readonly files: { readonly bytes: number; readonly entries: number } | undefined;
}

/** What a node that feeds a fleet has done so far. */
export interface FeedFigures {
  /** Whether it writes the log now. */
  readonly leads: boolean;
  /** Undefined while it does not. */
  readonly term: number | undefined;
  /** Records that it has written. */
  readonly written: number;
  /** As of a reader. */
  readonly connections: number;
}
