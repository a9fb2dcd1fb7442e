// What the endpoints of a script are given, and give.

import type { ScriptSnapshot } from '../../scripts/types';
import type { StatsSubject } from '../../views/esplora/coins';
import type { EsploraRequest } from '../endpoint';
import type { PooledScript } from '../../script-answers/pooled-script';
import type { EsploraReply } from '../reply';

/** What is asked about, in one state. */
export interface AskedScript {
  /** SHA-256 of the script, as SHA-256 gives it. */
  readonly hash: Buffer;
  readonly subject: StatsSubject;
  readonly snapshot: ScriptSnapshot;
  /** Of the same moment. */
  readonly pooled: PooledScript;
}

/** Its first turn is that of the state. */
export type ScriptAnswer = (asked: AskedScript, request: EsploraRequest) => Promise<EsploraReply>;
