// What an endpoint is: a function from a request to a reply. It throws RestError for everything that is not a success, and lets pass
// what index and node could not tell.

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

/** What endpoints ask, and by which rules. */
export interface EndpointContext {
  readonly node: NodeSource;
  /** The edition of Bitcoin Core's interface that is spoken. */
  readonly profile: Profile;
  /** Answers while the gate is open only. */
  readonly reader: IndexReader;
  /** For what waits, and then looks at something else than the index. */
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

/** Where the txids of a block may be had for less than hashing its transactions. */
export interface TxidSource {
  /** Of a block of the active chain, in its order; undefined: they are not there. Undefined itself: nobody keeps them. */
  of: ((block: BlockPoint) => Promise<readonly Buffer[] | undefined>) | undefined;
}

/** How JSON shows what it shows. */
export function styleOf({ node, profile: { fields } }: Pick<EndpointContext, 'node' | 'profile'>): JsonStyle {
  return { prefixes: node.network.addressPrefixes, fields };
}

/** A request as its endpoint sees it. */
export class RestRequest implements Waiting {
  /** What follows the endpoint's prefix in the target, not decoded. Whether the query is cut off is the profile's. */
  readonly path: string;
  /** The same without a query: up to the last question mark. */
  readonly pathOnly: string;
  /** Empty where the endpoint does not read bodies. */
  readonly body: Buffer;
  /** Not the response: a response behind others on its connection never hears of the end. */
  readonly #socket: Pick<Socket, 'destroyed'>;
  /** Behind the endpoint's prefix. */
  readonly #target: string;

  constructor(target: string, body: Buffer, socket: Pick<Socket, 'destroyed'>, cutsQuery = false) {
    const end = target.lastIndexOf('?');
    this.#target = target;
    this.pathOnly = end < 0 ? target : target.slice(0, end);
    this.path = cutsQuery ? this.pathOnly : target;
    this.body = body;
    this.#socket = socket;
  }

  /**
   * The first value of a query parameter, percent-decoded as Bitcoin Core does it since 31: what is no percent sign with two hex digits
   * stays, a plus too. The query begins at the first question mark, unlike the end of the path. Empty without an equals sign.
   * As latin1: bytes stay what they are.
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

  /** True once nobody waits for the reply any more. */
  get isGone(): boolean {
    return this.#socket.destroyed;
  }
}

function percentDecoded(text: string): string {
  return text.replace(/%([0-9a-fA-F]{2})/g, (_, digits: string) => String.fromCharCode(parseInt(digits, 16)));
}
