// What an endpoint is: a function from a request to a reply. It throws RestError for
// everything that is not a success.

import type { Socket } from 'node:net';
import type { IndexReader } from '../index/types';
import type { NodeSource } from '../node/types';
import type { AnswerCache } from './cache/answers';
import type { Reply } from './format';
import type { Gate } from './server/gate';
import type { Limits } from './limits';
import type { RawBlocks } from './cache/blocks';
import type { ReplyMemory } from './cache/buffers';
import type { Waiting } from './server/work-queue';

export type Endpoint = (request: RestRequest) => Reply | Promise<Reply>;

/** Whom endpoints ask, and by which rules. */
export interface EndpointContext {
  readonly node: NodeSource;
  /** Answers while the gate is open only. */
  readonly reader: IndexReader;
  /** For who waits, and then looks at something else than the index. */
  readonly gate: Pick<Gate, 'requireOpen'>;
  /** Whether bin and hex carry witnesses (`rpcserialversion`). */
  readonly witness: boolean;
  readonly limits: Limits;
  readonly cache: AnswerCache;
  readonly memory: ReplyMemory;
  readonly blocks: RawBlocks;
}

/** A request as its endpoint sees it. */
export class RestRequest implements Waiting {
  constructor(
    /** What follows the endpoint's prefix in the path: not decoded, query and all. */
    readonly path: string,
    /** Empty where the endpoint does not read bodies. */
    readonly body: Buffer,
    /** Not the response: behind others on its connection it never hears of the end. */
    private readonly socket: Pick<Socket, 'destroyed'>
  ) {}

  /** True once nobody waits for the reply any more. */
  get isGone(): boolean {
    return this.socket.destroyed;
  }
}
