// What load balancers ask: whether the event loop turns, and whether clients are answered.

import type { Observed } from './observed';

export interface Health {
  readonly status: number;
  /** For people. */
  readonly text: string;
}

const OK: Health = { status: 200, text: 'ok' };

const MOST_LAG = 1_000_000;

/**
 * 200 while clients are answered, otherwise 503 with the text of the gate. `of=scripts`: those that ask by address. `maxlag=N`: 503 also
 * while the index is more than N blocks behind the node's tip.
 */
export function readinessOf({ serving: { gate, node }, index, wallets }: Observed, query: URLSearchParams): Health {
  const of = query.get('of') ?? 'index';
  const text = query.get('maxlag');
  const mostLag = text === null ? Infinity : /^\d{1,7}$/.test(text) ? Number(text) : NaN;
  if (!(mostLag <= MOST_LAG || mostLag === Infinity)) return refused(`maxlag must be a whole number from 0 to ${MOST_LAG}`);
  if (of !== 'index' && of !== 'scripts') return refused('of must be index or scripts');
  if (of === 'scripts' && wallets === undefined) return refused('there is no index by script without --rest-addresses');
  const asked = of === 'scripts' && wallets !== undefined ? wallets.answers.scriptsGate : gate;
  if (!asked.isReady) return { status: 503, text: asked.status() };
  const state = of === 'scripts' ? wallets?.scripts.state : undefined;
  const height = (of === 'scripts' ? state !== undefined && 'height' in state && state.height : index.figures.height) || 0;
  const lag = node.tip().height - height;
  return lag > mostLag ? { status: 503, text: `the index is ${lag} blocks behind the node` } : OK;
}

const refused = (text: string): Health => ({ status: 400, text });

/** The process turns: it has answered. */
export const ALIVE = OK;
