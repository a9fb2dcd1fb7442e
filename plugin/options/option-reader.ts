// Reads single options by their rows in the table.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { messageOf } from '../../lib/system/error-text';
import { OptionError } from './errors';
import { optionOf, type ChoiceOf, type OptionName } from './table';
import { parseSocketAddress } from './values';
import type { HostConfig } from '../../lib/node/host';
import type { SocketAddress } from '../../lib/server/ports/listener';

export class OptionReader {
  readonly #config: HostConfig;

  constructor(config: HostConfig) {
    this.#config = config;
  }

  /** `fallback`: where the table of options has none. */
  integer(name: OptionName<'number'>, fallback?: number): number {
    const { least, most, ...kind } = optionOf(name).kind;
    return this.#read(name, kind.fallback ?? fallback ?? least, `a whole number from ${least} to ${most}`, (value) => {
      const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
      return number >= least && number <= most ? number : undefined;
    });
  }

  choice<Name extends OptionName<'choice'>>(name: Name): ChoiceOf<Name> {
    const choices: readonly [ChoiceOf<Name>, ...ChoiceOf<Name>[]] = optionOf(name).kind.choices;
    return this.#read(name, choices[0], `one of ${choices.join(', ')}`, (value) => choices.find((choice) => choice === value));
  }

  list<Name extends OptionName<'list'>>(name: Name): readonly ChoiceOf<Name>[] {
    const { choices } = optionOf(name).kind;
    return this.#read(name, [], `some of ${choices.join(', ')}, separated by commas`, (value) => {
      const names = value.split(',').map((item) => choices.find((choice) => choice === item));
      return names.every((item) => item !== undefined) ? names : undefined;
    });
  }

  /** An empty text where the table of options has no default. */
  text(name: OptionName<'text'>, expected: string, isRight: (value: string) => boolean): string {
    const { fallback = '' } = optionOf(name).kind;
    return this.#read(name, fallback, expected, (value) => (isRight(value) && !isAlone(value) ? value : undefined));
  }

  endpoint(name: OptionName<'text'>): SocketAddress | undefined {
    return this.#read<SocketAddress | undefined>(name, undefined, 'host:port, or a port alone for this machine only', parseSocketAddress);
  }

  flag(name: OptionName<'flag'>): boolean {
    return this.#read(name, false, 'true or false', (value) =>
      ['true', '1'].includes(value) ? true : ['false', '0'].includes(value) ? false : undefined
    );
  }

  /** The parsed value. `parse` gives undefined for an invalid one. The option's own name takes precedence over Bitcoin Core's. */
  #read<T>(name: OptionName, fallback: T, expected: string, parse: (value: string) => T | undefined): T {
    const { alias: core } = optionOf(name);
    const key = core !== undefined && !this.#config.has(name) ? core : name;
    const value = this.#config.get(key);
    if (value === null) return fallback;
    const parsed = parse(String(value));
    if (parsed === undefined) throw new OptionError(`--${key} must be ${expected}, not '${value}'`);
    return parsed;
  }
}

/** Without `--api-key` bcoin makes up a random key that nobody knows. */
export function requireApiKey(option: string, config: HostConfig): void {
  if (!config.has('api-key')) throw new OptionError(`--${option} needs the node to have a key: set --api-key`);
}

/** The absolute path of a file or folder; undefined: it is not given. @throws OptionError */
export function readPath(config: HostConfig, name: OptionName<'text'>, what: 'file' | 'folder'): string | undefined {
  const value = config.get(name);
  if (value === null) return undefined;
  const path = isAlone(value) ? null : config.path(name);
  if (path === null) throw new OptionError(`--${name} must be a ${what}, not '${value}'`);
  return resolve(path);
}

/** The bytes of the file that an option names. @throws OptionError */
export function readNamedFile(name: OptionName<'text'>, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new OptionError(`--${name} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** Whether an option was given without a value, which is `true` then. */
const isAlone = (value: string | number | boolean): boolean => String(value) === 'true';
