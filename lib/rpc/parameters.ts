// Parameters of calls: checks of their number and types, by position or by name (RPCHelpMan and transformNamedArguments of Bitcoin
// Core), and their conversion to values.

import { invalidParameter, misc, CallError, typeError, CODES } from '../answers/errors';
import { amountOf, feeRateOf } from '../answers/transactions/amounts';
import { findDisplayHex } from '../bitcoin/hash';
import type { Call } from './json-rpc';

export interface Parameter {
  /** The name; aliases follow it, separated by bars. */
  readonly name: string;
  /** `any`: the call checks the type itself. */
  readonly type: 'string' | 'number' | 'bool' | 'array' | 'any';
  readonly isOptional?: true;
}

/** The values that a call was given, in the order of its parameters, with their types checked. */
export class Parameters {
  readonly #values: readonly unknown[];

  /** `usage`: the line that is shown when the number of parameters is wrong. @throws CallError */
  constructor(parameters: readonly Parameter[], params: Call['params'], usage: string) {
    const values = isPositional(params) ? params : positional(parameters, params);
    const required = parameters.filter(({ isOptional }) => isOptional !== true).length;
    if (values.length < required || values.length > parameters.length) throw misc(`${usage}\n`);
    const wrong = parameters.flatMap(({ name, type, isOptional }, i): (readonly [string, string])[] => {
      const value = values[i] ?? null;
      if (type === 'any' || (isOptional === true && value === null) || typeName(value) === type) return [];
      return [[`Position ${i + 1} (${name})`, `JSON value of type ${typeName(value)} is not of expected type ${type}`]];
    });
    if (wrong.length > 0) throw typeError(`Wrong type passed:\n${JSON.stringify(Object.fromEntries(wrong), undefined, 4)}`);
    this.#values = values;
  }

  text(position: number): string {
    return this.#values[position] as string; // a string by its type
  }

  optionalText(position: number): string | undefined {
    return (this.#values[position] as string | null | undefined) ?? undefined; // a string by its type
  }

  flag(position: number, fallback: boolean): boolean {
    return (this.#values[position] as boolean | null | undefined) ?? fallback; // a boolean by its type
  }

  list(position: number): readonly unknown[] {
    return this.#values[position] as readonly unknown[]; // an array by its type
  }

  /** A whole number within the limits of its type in Bitcoin Core. @throws CallError -1 */
  integer(position: number, fallback = 0, least = -0x8000_0000, most = 0x7fff_ffff): number {
    return wholeNumber(this.#values[position] ?? fallback, least, most);
  }

  /** 32 bytes in wire order. `name`: what errors call the parameter. @throws CallError -8 */
  hash(position: number, name: string): Buffer {
    return parseHash(this.text(position), name);
  }

  /** A number, or a boolean as 0 or 1 (ParseVerbosity). @throws CallError -1, -3 */
  verbosity(position: number, fallback: number): number {
    const value = this.#values[position] ?? fallback;
    if (typeof value === 'boolean') return value ? 1 : 0;
    if (typeof value !== 'number') throw typeError(`JSON value of type ${typeName(value)} is not of expected type number`);
    return wholeNumber(value, -0x8000_0000, 0x7fff_ffff);
  }

  /** An amount in bitcoins, given as a number or a string, converted to satoshis. @throws CallError -3 */
  amount(position: number, fallback: number): number {
    return amountOf(this.#values[position], fallback);
  }

  /** A fee rate in bitcoins per 1,000 virtual bytes, converted to satoshis. @throws CallError -3, -8 */
  feeRate(position: number, fallback: number): number {
    return feeRateOf(this.#values[position], fallback);
  }
}

const isPositional = (params: Call['params']): params is readonly unknown[] => Array.isArray(params);

/** Puts named parameters into their positions, after the positional ones in `args`. @throws CallError -8 */
function positional(parameters: readonly Parameter[], named: Readonly<Record<string, unknown>>): unknown[] {
  const left = new Map(Object.entries(named));
  const first = left.get('args');
  const values: unknown[] = Array.isArray(first) ? [...(first as unknown[])] : [];
  if (Array.isArray(first)) left.delete('args');
  for (const [i, { name }] of parameters.entries()) {
    const [given, again] = name.split('|').filter((one) => left.has(one));
    if (given === undefined) continue;
    if (again !== undefined) throw invalidParameter(`Parameter ${again} specified multiple times`);
    if (i < values.length) throw invalidParameter(`Parameter ${given} specified twice both as positional and named argument`);
    while (values.length < i) values.push(null);
    values.push(left.get(given));
    left.delete(given);
  }
  for (const name of left.keys()) throw invalidParameter(`Unknown named parameter ${name}`);
  return values;
}

/** The type of a JSON value, as Bitcoin Core names it. */
function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? 'array' : typeof value;
}

function wholeNumber(value: unknown, least: number, most: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) throw misc('JSON integer out of range');
  return value;
}

/** @throws CallError -8 */
function parseHash(text: string, name: string): Buffer {
  if (text.length !== 64) throw invalidParameter(`${name} must be of length 64 (not ${text.length}, for '${text}')`);
  const hash = findDisplayHex(Buffer.from(text));
  if (hash === undefined) throw invalidParameter(`${name} must be hexadecimal string (not '${text}')`);
  return hash;
}

/** The value as a string. @throws CallError -3 when it has another type */
export function requireText(value: unknown): string {
  if (typeof value !== 'string') throw new CallError(CODES.type, `JSON value of type ${typeName(value)} is not of expected type string`);
  return value;
}

/** The first line of Bitcoin Core's help: optional parameters in brackets, strings in quotes. */
export function usageOf(method: string, parameters: readonly Parameter[]): string {
  const words = parameters.map(({ name, type }) => {
    const [first = ''] = name.split('|');
    if (type === 'string') return `"${first}"`;
    return type === 'array' ? `["${first}",...]` : first;
  });
  const required = words.filter((_, i) => parameters[i]?.isOptional !== true);
  const optional = words.slice(required.length);
  return [method, ...required, ...(optional.length > 0 ? ['(', ...optional, ')'] : [])].join(' ');
}
