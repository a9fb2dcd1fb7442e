// What an index command is, what it is given, and how it ends.

import { parseArgs } from 'node:util';
import type { StoppedNode } from './stopped-node';

/** Exit codes, for scripts. */
export const EXIT = { done: 0, different: 1, usage: 2, impossible: 3, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface CommandIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

export interface CommandContext extends CommandIo {
  readonly stopped: StoppedNode;
  /** Results as JSON. */
  readonly json: boolean;
  /** Aborted when the operator interrupts. */
  readonly signal: AbortSignal;
}

export type Command = (context: CommandContext) => Promise<ExitCode>;

export interface CommandOptions {
  readonly network: string | undefined;
  readonly prefix: string | undefined;
  readonly json: boolean;
}

/** The command was called wrongly. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** The command cannot do its work here; nothing is wrong with the index. */
export class ImpossibleError extends Error {
  override readonly name = 'ImpossibleError';
}

const OPTIONS = { network: { type: 'string' }, prefix: { type: 'string' }, json: { type: 'boolean' } } as const;

/** bcoin's names of its networks. */
const NETWORKS = ['main', 'testnet', 'regtest', 'simnet'];

/** @throws UsageError */
export function parseOptions(args: readonly string[]): CommandOptions {
  const { network, prefix, json = false } = parse(args);
  if (network !== undefined && !NETWORKS.includes(network))
    throw new UsageError(`--network must be one of ${NETWORKS.join(', ')}, not '${network}'`);
  if (prefix === '') throw new UsageError("--prefix must be a folder, not ''");
  return { network, prefix, json };
}

function parse(args: readonly string[]): { readonly network?: string; readonly prefix?: string; readonly json?: boolean } {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
