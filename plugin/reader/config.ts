// The settings of a reader, in the form in which the plugin reads those of a node: flags, then the environment (`BCOIN_REST_THREADS=8`).
// Names count without dashes, in lower case, as in bcoin.

import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { OptionError } from '../options/errors';
import { bareName, flagOf } from '../options/names';
import type { HostConfig } from '../../lib/node/host';

type Values = Readonly<Record<string, string | true>>;

/** bcoin's prefix of variables. */
const VARIABLE = /^BCOIN_([A-Z0-9_]+)$/;

export class ReaderConfig implements HostConfig {
  readonly args: Values;
  readonly env: Values;
  readonly data = {};
  readonly options = {};
  /** Names of flags as they stand on the command line, by the names that count. */
  readonly #spelled = new Map<string, string>();

  /** `args`: `--name=value`, `--name value`, or `--name` alone, which is `true`. @throws OptionError for a word that is no option */
  constructor(args: readonly string[], env: Readonly<Record<string, string | undefined>>) {
    this.args = this.#readFlags(args);
    this.env = readVariables(env);
  }

  has(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  get(key: string): string | boolean | null {
    return this.#find(key) ?? null;
  }

  bool(key: string, fallback: boolean | null = null): boolean | null {
    const value = this.#find(key);
    if (value === undefined) return fallback;
    if (value === true || value === 'true' || value === '1') return true;
    if (value === 'false' || value === '0') return false;
    throw new OptionError(`--${key} must be true or false, not '${value}'`);
  }

  path(key: string): string | null {
    const value = this.#find(key);
    if (value === undefined || value === true || value === '') return null;
    return value === '~' || value.startsWith('~/') ? join(homedir(), value.slice(1)) : resolve(value);
  }

  /** In the reader's folder. @throws OptionError if it has none */
  location(name: string): string {
    return join(this.#folder(), name);
  }

  #folder(): string {
    const prefix = this.path('prefix');
    if (prefix === null) throw new OptionError("a reader needs --prefix: a folder of its own for its index, not a node's");
    // As in bcoin, the main network's folder is the prefix itself.
    const network = String(this.get('network') ?? 'main');
    return network === 'main' ? prefix : join(prefix, network);
  }

  /** A flag as it stands on the command line. `name`: one of `args`. */
  flagOf(name: string): string {
    return flagOf(this.#spelled.get(name) ?? name);
  }

  #readFlags(args: readonly string[]): Values {
    const values: Record<string, string | true> = {};
    for (let i = 0; i < args.length; i++) {
      const arg = args[i] as string; // within the list
      const [, name, value] = /^--([a-z][\w-]*)(?:=(.*))?$/is.exec(arg) ?? [];
      if (name === undefined) throw new OptionError(`'${arg}' is not an option: options begin with --`);
      const next = args[i + 1];
      if (value === undefined && next !== undefined && !next.startsWith('--')) i++;
      values[bareName(name)] = value ?? (next === undefined || next.startsWith('--') ? true : next);
      this.#spelled.set(bareName(name), name);
    }
    return values;
  }

  #find(key: string): string | true | undefined {
    const name = bareName(key);
    return this.args[name] ?? this.env[name];
  }
}

/** @throws OptionError for any other flag. `remark`: what the sentence says after its name */
export function requireKnown(config: ReaderConfig, names: readonly string[], remark: string): void {
  const known = new Set(names.map(bareName));
  const unknown = Object.keys(config.args).find((name) => !known.has(name));
  if (unknown !== undefined) throw new OptionError(`${config.flagOf(unknown)} ${remark}`);
}

function readVariables(env: Readonly<Record<string, string | undefined>>): Values {
  const values: Record<string, string> = {};
  for (const [variable, value = ''] of Object.entries(env)) {
    const [, name] = VARIABLE.exec(variable) ?? [];
    if (name !== undefined && value !== '') values[bareName(name)] = value;
  }
  return values;
}
