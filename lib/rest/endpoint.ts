// What an endpoint is: a function from a request to a reply. It throws RestError for everything that is not a success, and lets
// errors of index and node pass.

import type { Socket } from 'node:net';
import type { IndexReader } from '../index/types';
import type { BlockPoint, NodeSource } from '../node/types';
import type { Profile } from '../profile/profile';
import type { AnswerCache } from './cache/answers';
import type { Reply } from './format';
import type { Gate } from './server/gate';
import type { Limits } from './limits';
import type { PoolTexts } from './cache/pool-texts';
import type { RawBlocks } from './cache/blocks';
import type { SpentOutputs } from './spent-outputs';
import type { BlockTexts } from './cache/texts';
import type { JsonStyle } from '../views/script';
import type { Waiting } from './server/work-queue';

export type Endpoint = (request: RestRequest) => Promise<Reply>;

/** What endpoints answer from, and the rules they follow. */
export interface EndpointContext {
  readonly node: NodeSource;
  /** The edition of Bitcoin Core's interface that is spoken. */
  readonly profile: Profile;
  /** Answers only while the gate is open. */
  readonly reader: IndexReader;
  /** For code that waits and then reads something other than the index. */
  readonly gate: Pick<Gate, 'requireOpen'>;
  /** Whether bin and hex carry witnesses (`rpcserialversion`). */
  readonly witness: boolean;
  /** Whether blocks have filters. */
  readonly filters: boolean;
  readonly limits: Limits;
  readonly cache: AnswerCache;
  readonly blocks: RawBlocks;
  readonly texts: BlockTexts;
  readonly poolTexts: PoolTexts;
  readonly spent: SpentOutputs;
  readonly txids: TxidSource;
}

/** A source of a block's txids that is cheaper than hashing its transactions. */
export interface TxidSource {
  /** The txids of a block of the active chain, in block order; undefined if they are missing. Not set when no index keeps txids. */
  of: ((block: BlockPoint) => Promise<readonly Buffer[] | undefined>) | undefined;
}

/** How JSON shows addresses and fields on this network and in this edition. */
export function styleOf({ node, profile: { fields } }: Pick<EndpointContext, 'node' | 'profile'>): JsonStyle {
  return { prefixes: node.network.addressPrefixes, fields };
}

/** A request as its endpoint sees it. */
export class RestRequest implements Waiting {
  /** What follows the endpoint's prefix in the target, not decoded. The profile says whether the query is cut off. */
  readonly path: string;
  /** What follows the prefix, without a query: up to the last question mark. */
  readonly pathOnly: string;
  /** Empty where the endpoint does not read bodies. */
  readonly body: Buffer;
  /** Not the response: a response that waits behind others on its connection is never told that the connection closed. */
  readonly #socket: Pick<Socket, 'destroyed'>;
  /** What follows the endpoint's prefix, with the query. */
  readonly #target: string;

  constructor(target: string, body: Buffer, socket: Pick<Socket, 'destroyed'>, cutsQuery = false) {
    // V8 searches backwards slowly, and targets of getutxos are long.
    const end = target.includes('?') ? target.lastIndexOf('?') : -1;
    this.#target = target;
    this.pathOnly = end < 0 ? target : target.slice(0, end);
    this.path = cutsQuery ? this.pathOnly : target;
    this.body = body;
    this.#socket = socket;
  }

  /**
   * The first value of a query parameter, percent-decoded as Bitcoin Core does since 31: only a percent sign with two hex digits is
   * decoded, and a plus stays a plus. The query begins at the first question mark, but `pathOnly` ends at the last. A parameter without
   * an equals sign is empty. The value is latin1, so bytes stay as they are.
   */
  query(name: string): string | undefined {
    const start = this.#target.indexOf('?');
    if (start < 0) return undefined;
    const [query = ''] = this.#target.slice(start + 1).split('#');
    for (const pair of query.split('&')) {
      const equals = pair.indexOf('=');
      const key = equals < 0 ? pair : pair.slice(0, equals);
      if (percentDecoded(key) === name) return equals < 0 ? '' : percentDecoded(pair.slice(equals + 1));
    }
    return undefined;
  }

  /** True once the client has disconnected. */
  get isGone(): boolean {
    return this.#socket.destroyed;
  }
}

function percentDecoded(text: string): string {
  return text.replace(/%([0-9a-fA-F]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
}
