// Options that are given without a value, as by an unset shell variable. bcoin ignores them silently, and a check that the operator wants
// would be off.

import { configurationFileOf } from './configuration-file';
import { OptionError } from './errors';
import { bareName, VARIABLE_PREFIX } from './names';
import { ACCEPTED_NAMES } from './table';
import type { HostConfig } from '../../lib/node/host';

const KNOWN: ReadonlySet<string> = new Set(ACCEPTED_NAMES.map(bareName));

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

function emptyLine(config: HostConfig): string | undefined {
  const file = configurationFileOf(config);
  const [name] = file?.options.find(([each, value]) => value === '' && isOurs(each)) ?? [];
  return file === undefined || name === undefined ? undefined : `${name} in ${file.path}`;
}
