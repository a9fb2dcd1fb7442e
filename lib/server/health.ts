// `/fleet/health`: whether this process answers, and what it knows about itself, for a proxy in front of several processes.

import { toDisplayHex } from '../bitcoin/hash';
import { NO_BODY } from './http/body';
import { pathOf } from './http/mount';
import type { NodeSource } from '../node/types/source';
import type { HttpInterface } from './app';
import type { HeaderList } from './errors';
import type { Serving } from './serving';

const PATH = '/fleet/health';

/** An interface that has a gate of its own: why it is not open. */
export interface HealthyPart {
  readonly isReady: boolean;
  status(): string;
}

export interface HealthParts {
  readonly serving: Pick<Serving, 'gate' | 'shown' | 'responses'>;
  readonly node: Pick<NodeSource, 'position' | 'progress' | 'fleet'>;
  /** What must answer as well. */
  readonly others: readonly HealthyPart[];
  /** The version of this package. */
  readonly version: string;
}

/** Needs no key, and takes no slot: it says nothing that the other replies do not. */
export function healthInterface(parts: HealthParts): HttpInterface {
  const { responses } = parts.serving;
  return {
    takes: ({ url = '' }) => {
      const path = pathOf(url);
      return path === PATH || path.startsWith(`${PATH}?`);
    },
    middleware: ({ req: { method }, res }) => {
      if (method !== 'GET' && method !== 'HEAD') responses.send(res, 405, ['Allow', 'GET, HEAD', 'Content-Length', '0'], NO_BODY);
      else {
        const health = healthOf(parts);
        const body = Buffer.from(`${JSON.stringify(health)}\n`);
        responses.send(res, health.ready ? 200 : 503, headersOf(body), body);
      }
      return Promise.resolve();
    }
  };
}

/** Fields that this process has nothing to say about are left out. */
interface Health {
  readonly ready: boolean;
  /** Why it is not ready. */
  readonly why?: string;
  readonly tip?: { readonly height: number; readonly hash: string };
  /** The last record of the log that answers show, and the name of the log. */
  readonly seq: number;
  readonly incarnation: string;
  /** Blocks that the node has, and this process does not show yet. */
  readonly lag_blocks?: number;
  /** Milliseconds since a node was heard of. */
  readonly beat_age_ms?: number;
  /** Of the node that leads. */
  readonly term?: number;
  readonly version: string;
}

function healthOf({ serving: { gate, shown }, node, others, version }: HealthParts): Health {
  const why = [gate, ...others].find(({ isReady }) => !isReady)?.status() ?? node.fleet?.why;
  const { log, sequence } = node.position.now;
  const { now: tip } = shown;
  const { beatAgeMs, term } = node.fleet ?? {};
  return {
    ready: why === undefined,
    ...(why !== undefined && { why }),
    ...(tip !== undefined && { tip: { height: tip.height, hash: toDisplayHex(tip.hash) } }),
    seq: sequence,
    incarnation: log,
    ...(tip !== undefined && { lag_blocks: Math.max(0, node.progress().height - tip.height) }),
    ...(beatAgeMs !== undefined && { beat_age_ms: Math.round(beatAgeMs) }),
    ...(term !== undefined && { term }),
    version
  };
}

const headersOf = ({ length }: Buffer): HeaderList => [
  ...['Content-Type', 'application/json', 'Cache-Control', 'no-store', 'Content-Length', String(length)]
];
