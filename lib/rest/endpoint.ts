// What an endpoint is: a function from a request to a reply. It throws RestError for everything that is not a success, and lets pass
// what index and node could not tell.

import type { Socket } from 'node:net';
import type { IndexReader } from '../index/types';
import type { NodeSource } from '../node/types';
import type { AnswerCache } from './cache/answers';
import type { Reply } from './format';
import type { Gate } from './server/gate';
import type { Limits } from './limits';
import type { RawBlocks } from './cache/blocks';
import type { BlockTexts } from './cache/texts';
import type { Waiting } from './server/work-queue';

export type Endpoint = (request: RestRequest) => Promise<Reply>;

/** What endpoints ask, and by which rules. */
export interface EndpointContext {
  readonly node: NodeSource;
  /** Answers while the gate is open only. */
  readonly reader: IndexReader;
  /** For an endpoint that waits, and then looks at something else than the index. */
  readonly gate: Pick<Gate, 'requireOpen'>;
  /** Whether bin and hex carry witnesses (`rpcserialversion`). */
  readonly witness: boolean;
  readonly limits: Limits;
  readonly cache: AnswerCache;
  readonly blocks: RawBlocks;
  readonly texts: BlockTexts;
}

/** A request as its endpoint sees it. */
export class RestRequest implements Waiting {
  /** What follows the endpoint's prefix in the path: not decoded, query and all. */
  readonly path: string;
  /** Empty where the endpoint does not read bodies. */
  readonly body: Buffer;
  /** Not the response: a response behind others on its connection never hears of the end. */
  readonly #socket: Pick<Socket, 'destroyed'>;

  constructor(path: string, body: Buffer, socket: Pick<Socket, 'destroyed'>) {
    this.path = path;
    this.body = body;
    this.#socket = socket;
  }

  /** True once nobody waits for the reply any more. */
  get isGone(): boolean {
    return this.#socket.destroyed;
  }
}
