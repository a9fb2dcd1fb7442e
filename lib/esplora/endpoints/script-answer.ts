// The arguments and results of the endpoints of a script.

import type { BasesAt } from '../../answers/scripts/bases';
import type { Operation } from '../../describe/open-api';
import type { PooledScript } from '../../answers/scripts/pooled-script';
import type { ScriptSnapshot } from '../../scripts/types';
import type { StatsSubject } from '../../views/esplora/coins';
import type { EsploraRequest } from '../endpoint';
import type { EsploraReply } from '../reply';

/** The script that is asked about, in one state. */
export interface AskedScript {
  /** SHA-256 of the script, not reversed. */
  readonly hash: Buffer;
  readonly subject: StatsSubject;
  readonly snapshot: ScriptSnapshot;
  /** The script's part of the pool, at the moment of the snapshot. */
  readonly pooled: PooledScript;
  /** What answers of that moment depend on. */
  readonly bases: BasesAt;
}

/** Called in the turn of the event loop in which the snapshot was taken. */
export type ScriptAnswer = (asked: AskedScript, request: EsploraRequest) => Promise<EsploraReply>;

/** An endpoint's description, without the script in the path. `id`: behind `get` and the kind of the script's name. */
export type ScriptOperation = Operation;
