// Options that are given without a value, as of a variable of the shell that is not set: bcoin leaves them out without a word, and
// with it a check that the operator wants.

import { existsSync, readFileSync } from 'node:fs';
import { OptionError } from './errors';
import { bareName, VARIABLE_PREFIX } from './names';
import { OPTIONS, type OptionRow } from './table';
import type { HostConfig } from '../../lib/node/host';

const KNOWN: ReadonlySet<string> = new Set(OPTIONS.flatMap(({ name, alias }: OptionRow) => [name, alias ?? name]).map(bareName));

const isOurs = (name: string): boolean => /^rest[-_]/i.test(name) || KNOWN.has(bareName(name));

/** On the command line, in the environment and in bcoin.conf. @throws OptionError */
export function refuseEmpty(config: HostConfig): void {
  const given = emptyFlag(process.argv) ?? emptyVariable(process.env) ?? emptyLine(config);
  if (given !== undefined) throw new OptionError(`${given} is given without a value`);
}

function emptyFlag(args: readonly string[]): string | undefined {
  return args.map((arg) => /^(--([^=]+))=$/.exec(arg)).find((match) => match !== null && isOurs(match[2] ?? ''))?.[1];
}

function emptyVariable(env: Readonly<Record<string, string | undefined>>): string | undefined {
  return Object.keys(env).find(
    (name) => env[name] === '' && name.startsWith(VARIABLE_PREFIX) && isOurs(name.slice(VARIABLE_PREFIX.length))
  );
}

/** A node that has read nothing from a file may have been told to read none. */
function emptyLine(config: HostConfig): string | undefined {
  const file = Object.keys(config.data).length === 0 ? undefined : config.getFile?.('bcoin.conf');
  if (file === undefined || !existsSync(file)) return undefined;
  const names = readFileSync(file, 'utf8')
    .split(/[\r\n]+/)
    .flatMap((line) => /^\s*([\w-]+)\s*:\s*$/.exec(line)?.[1] ?? []);
  const name = names.find(isOurs);
  return name === undefined ? undefined : `${name} in ${file}`;
}
