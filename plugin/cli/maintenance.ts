// What commands that maintain indexes have in common: their output, and how they say that they have failed.

import { detailsOf, messageOf } from '../../lib/system/error-text';

export interface CommandIo {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Where progress is shown; by default standard error. */
  readonly progress?: NodeJS.WriteStream;
}

/** The arguments are wrong. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

interface Failing {
  /** An unexpected error is shown with its stack. */
  readonly isExpected: boolean;
  readonly isJson: boolean;
  /** Shown if the arguments are wrong. */
  readonly usage: string;
}

/** As a sentence, with the usage after wrong arguments, or as JSON. */
export function sayFailure(error: unknown, { isExpected, isJson, usage }: Failing, io: CommandIo): void {
  const message = isExpected ? messageOf(error) : detailsOf(error);
  if (isJson) io.out(`${JSON.stringify({ error: message })}\n`);
  else io.err(`${message}${error instanceof UsageError ? `\n\n${usage}` : '\n'}`);
}
