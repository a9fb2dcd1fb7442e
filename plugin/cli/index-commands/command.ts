// What an index command is: its context, its result and its exit codes.

import type { ProgressDisplay } from '../../progress';
import type { StoppedNode } from './stopped-node';

/** Exit codes, for scripts. */
export const EXIT = { done: 0, different: 1, usage: 2, impossible: 3, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface CommandContext {
  readonly stopped: StoppedNode;
  readonly display: ProgressDisplay;
  /** Aborted when the operator interrupts. */
  readonly signal: AbortSignal;
}

export interface CommandResult {
  readonly exit: ExitCode;
  /** The output with `--json`; `text` is the output without it. */
  readonly json: object;
  readonly text: string;
}

export type Command = (context: CommandContext) => Promise<CommandResult>;
