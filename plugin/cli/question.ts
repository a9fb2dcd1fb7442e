// Requests for help or the version, at every level of a command line.

import { createRequire } from 'node:module';

export type Question = 'help' | 'version';

/**
 * Finds `--help`, `-h` and `--version` anywhere before a `--`, and `help` as the first word that is not a command.
 * A file of that name can be given as `./help`.
 * @param commands the words that may come before `help`.
 */
export function questionOf(args: readonly string[], commands: readonly string[] = []): Question | undefined {
  const end = args.indexOf('--');
  const words = end < 0 ? args : args.slice(0, end);
  if (words.includes('--help') || words.includes('-h')) return 'help';
  if (words.includes('--version')) return 'version';
  return words.find((word) => !commands.includes(word)) === 'help' ? 'help' : undefined;
}

/** `bcoin-rest 0.1.0`. */
export function versionText(): string {
  const { name, version } = createRequire(__filename)('bcoin-rest/package.json') as { readonly name: string; readonly version: string };
  return `${name} ${version}`;
}
