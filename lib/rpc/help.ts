// The text of `help`: all calls with their parameters, a line each, or one of them and what it does.

import { CALLS } from './call-table';
import { usageOf } from './parameters';
import type { NodeSource } from '../node/types/source';

/** `method`: empty for the list. The calls that are passed on to the node are listed by their names. */
export function helpText(method: string, { ownCalls = [] }: Pick<NodeSource, 'ownCalls'>): string {
  if (method !== '') return helpOn(method, ownCalls);
  const here = Array.from(CALLS, ([name, { parameters }]) => usageOf(name, parameters)).sort();
  const passedOn = ownCalls.filter((name) => !CALLS.has(name)).sort();
  return ['== Answered here ==', ...here, ...(passedOn.length > 0 ? ['', '== Passed on to bcoin ==', ...passedOn] : [])].join('\n');
}

function helpOn(method: string, ownCalls: readonly string[]): string {
  const definition = CALLS.get(method);
  if (definition !== undefined) return `${usageOf(method, definition.parameters)}\n\n${definition.summary}\n`;
  return ownCalls.includes(method) ? `${method}\n\nA call of bcoin.\n` : `help: unknown command: ${method}`;
}
