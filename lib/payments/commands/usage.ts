// Arguments of the commands, checked into values, and how results are printed.

import { parseArgs, type ParseArgsConfig } from 'node:util';
import { messageOf } from '../error';

/** The command was called wrongly. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

type Options = NonNullable<ParseArgsConfig['options']>;
type Parsed<Known extends Options> = ReturnType<typeof parseArgs<{ options: Known; allowPositionals: true }>>;

/** @throws UsageError for an unknown option. */
export function parseArguments<Known extends Options>(args: readonly string[], options: Known): Parsed<Known> {
  try {
    return parseArgs({ args: [...args], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(messageOf(error), { cause: error });
  }
}

/** @throws UsageError unless exactly one file is named. */
export function oneFile(positionals: readonly string[]): string {
  const [file] = positionals;
  if (file === undefined || positionals.length > 1) throw new UsageError(`One file expected, ${positionals.length} came.`);
  return file;
}

/** @throws UsageError when the option is missing. */
export function required(name: string, value: string | undefined): string {
  if (value === undefined) throw new UsageError(`--${name} is required.`);
  return value;
}

/** @throws UsageError */
export function hexOption(name: string, value: string): Buffer {
  if (!/^([0-9a-f]{2})*$/i.test(value)) throw new UsageError(`--${name}: hex expected, ${JSON.stringify(value)} came.`);
  return Buffer.from(value, 'hex');
}

/** @throws UsageError */
export function integerOption(name: string, value: string): bigint {
  if (!/^\d{1,20}$/.test(value)) throw new UsageError(`--${name}: a whole number expected, ${JSON.stringify(value)} came.`);
  return BigInt(value);
}
