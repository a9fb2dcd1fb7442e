// Parameters of calls: checks of their number and types, by position or by name (RPCHelpMan and transformNamedArguments of Bitcoin
// Core), and their conversion to values.

import { invalidParameter, misc, CallError, typeError, CODES } from '../answers/errors';
import { amountOf, feeRateOf } from '../answers/transactions/amounts';
import { findDisplayHex } from '../bitcoin/hash';
import { isPositional, type Params } from '../server/json-rpc/values';
import type { PlainSchema, Schema } from '../describe/schema';

export interface Parameter {
  /** The name; aliases follow it, separated by bars. */
  readonly name: string;
  /** `any`: the call checks the type itself. */
  readonly type: 'string' | 'number' | 'bool' | 'array' | 'object' | 'any';
  /** Members of an object that may also be given as named parameters of the call. */
  readonly members?: readonly string[];
  /** How the line of usage shows it, if not by its name. */
  readonly usage?: string;
  readonly isOptional?: true;
  /** Of a value that the call accepts. */
  readonly schema: Schema;
}

/** For `Parameters.verbosity`. */
export const verbosity = (description: string, otherwise: number): PlainSchema => ({
  type: ['integer', 'boolean'],
  description: `${description} false is 0, true is 1.`,
  default: otherwise
});

/** The values that a call was given, in the order of its parameters, with their types checked. */
export class Parameters {
  readonly #parameters: readonly Parameter[];
  readonly #values: readonly unknown[];

  /** `usage`: the line that is shown when the number of parameters is wrong. @throws CallError */
  constructor(parameters: readonly Parameter[], params: Params, usage: string) {
    const values = isPositional(params) ? params : positional(parameters, params);
    const required = parameters.filter(({ isOptional }) => isOptional !== true).length;
    if (values.length < required || values.length > parameters.length) throw misc(`${usage}\n`);
    const wrong = parameters.flatMap(({ name, type, isOptional }, i): (readonly [string, string])[] => {
      const value = values[i] ?? null;
      if (type === 'any' || (isOptional === true && value === null) || typeName(value) === type) return [];
      return [[`Position ${i + 1} (${name})`, `JSON value of type ${typeName(value)} is not of expected type ${type}`]];
    });
    if (wrong.length > 0) throw typeError(`Wrong type passed:\n${JSON.stringify(Object.fromEntries(wrong), undefined, 4)}`);
    this.#parameters = parameters;
    this.#values = values;
  }

  /** A string that the call requires. */
  text(position: number): string {
    return this.#values[position] as string; // a string by its type
  }

  /** undefined for null, too. */
  optionalText(position: number): string | undefined {
    return (this.#values[position] as string | null | undefined) ?? undefined; // a string by its type
  }

  /** `fallback`: for a parameter that is missing or null. */
  flag(position: number, fallback: boolean): boolean {
    return (this.#values[position] as boolean | null | undefined) ?? fallback; // a boolean by its type
  }

  /** An array that the call requires; the types of its values are not checked. */
  list(position: number): readonly unknown[] {
    return this.#values[position] as readonly unknown[]; // an array by its type
  }

  /** undefined for null, too; the types of the values are not checked. */
  optionalList(position: number): readonly unknown[] | undefined {
    return (this.#values[position] as readonly unknown[] | null | undefined) ?? undefined; // an array by its type
  }

  /** An object; empty unless it was given. */
  object(position: number): Readonly<Record<string, unknown>> {
    return (this.#values[position] as Readonly<Record<string, unknown>> | null | undefined) ?? {}; // an object by its type
  }

  /** All values as they came. */
  get all(): readonly unknown[] {
    return this.#values;
  }

  /** The value as it came; undefined for null, too. */
  any(position: number): unknown {
    return this.#values[position] ?? undefined;
  }

  /** False for null, too. */
  has(position: number): boolean {
    return this.any(position) !== undefined;
  }

  /** A whole number within the limits of its type in Bitcoin Core. @throws CallError -1 */
  integer(position: number, fallback = 0, least = -0x8000_0000, most = 0x7fff_ffff): number {
    return wholeNumber(this.#values[position] ?? fallback, least, most);
  }

  /** 32 bytes in wire order. `name`: what errors call the parameter, if not by its name. @throws CallError -8 */
  hash(position: number, name = this.#parameters[position]?.name ?? ''): Buffer {
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

/** Puts named parameters into their positions, behind the positional ones in `args`. @throws CallError -8 */
export function positional(
  parameters: readonly Pick<Parameter, 'name' | 'members'>[],
  named: Readonly<Record<string, unknown>>
): unknown[] {
  const known = new Set(['args']);
  const values: unknown[] = [];
  let first: { readonly position: number; readonly name: string } | undefined;
  for (const [position, { name, members = [] }] of parameters.entries()) {
    // Of several aliases the first in the list counts; another one is then unknown.
    const given = name.split('|').find((alias) => Object.hasOwn(named, alias) && !known.has(alias));
    const options = members.filter((member) => Object.hasOwn(named, member) && !known.has(member));
    const [option] = options;
    if (given === undefined && option === undefined) continue;
    if (given !== undefined && option !== undefined) throw invalidParameter(`Parameter ${given} conflicts with parameter ${option}`);
    first ??= { position, name };
    while (values.length < position) values.push(null);
    values.push(given === undefined ? Object.fromEntries(options.map((one) => [one, named[one]])) : named[given]);
    for (const one of given === undefined ? options : [given]) known.add(one);
  }
  // Anything but a list is left out, as by Bitcoin Core.
  const args = Object.hasOwn(named, 'args') ? named['args'] : undefined;
  const before: readonly unknown[] = Array.isArray(args) ? args : [];
  if (first !== undefined && first.position < before.length)
    throw invalidParameter(`Parameter ${first.name} specified twice both as positional and named argument`);
  // Only the names: there may be very many.
  const unknown = Object.keys(named).find((name) => !known.has(name));
  if (unknown !== undefined) throw invalidParameter(`Unknown named parameter ${unknown}`);
  return [...before, ...values.slice(before.length)];
}

/** The type of a JSON value, as Bitcoin Core names it. */
export function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (typeof value === 'boolean') return 'bool';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** @throws CallError -1 */
export function wholeNumber(value: unknown, least: number, most: number): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most) throw misc('JSON integer out of range');
  return value;
}

/** 32 bytes in wire order. `name`: what errors call it. @throws CallError -8 */
export function parseHash(text: string, name: string): Buffer {
  const digits = Buffer.from(text);
  if (digits.length !== 64) throw invalidParameter(`${name} must be of length 64 (not ${digits.length}, for '${text}')`);
  const hash = findDisplayHex(digits);
  if (hash === undefined) throw invalidParameter(`${name} must be hexadecimal string (not '${text}')`);
  return hash;
}

/** The value as a string. @throws CallError -3 when it has another type */
export function requireText(value: unknown): string {
  if (typeof value !== 'string') throw new CallError(CODES.type, `JSON value of type ${typeName(value)} is not of expected type string`);
  return value;
}

/** Types of the members of an object, as Bitcoin Core checks them; `?` behind the type: it may be missing. */
export type MemberTypes = Readonly<Record<string, 'string' | 'number' | 'bool' | 'string?' | 'number?' | 'bool?'>>;

/** The value as an object with members of these types, and no others. @throws CallError -3 */
export function requireObject(value: unknown, types: MemberTypes): Readonly<Record<string, unknown>> {
  if (typeName(value) !== 'object') throw typeError(`JSON value of type ${typeName(value)} is not of expected type object`);
  const members = value as Readonly<Record<string, unknown>>; // as was checked
  for (const [name, type] of Object.entries(types)) {
    const member = members[name] ?? null;
    const [expected = '', optional] = type.split('?');
    if (member === null) {
      if (optional === undefined) throw typeError(`Missing ${name}`);
      continue;
    }
    if (typeName(member) !== expected)
      throw typeError(`JSON value of type ${typeName(member)} for field ${name} is not of expected type ${expected}`);
  }
  for (const name of Object.keys(members)) if (!Object.hasOwn(types, name)) throw typeError(`Unexpected key ${name}`);
  return members;
}

/** The bytes of a text in hex. @throws CallError -8. `name`: what the error calls it */
export function parseHex(text: string, name: string): Buffer {
  if (text === '' || text.length % 2 !== 0 || /[^0-9a-fA-F]/.test(text))
    throw invalidParameter(`${name} must be hexadecimal string (not '${text}')`);
  return Buffer.from(text, 'hex');
}

/** The first line of Bitcoin Core's help: optional parameters in brackets, strings in quotes. */
export function usageOf(method: string, parameters: readonly Parameter[]): string {
  const words = parameters.map(({ name, type, usage }) => {
    const [first = ''] = name.split('|');
    if (usage !== undefined) return usage;
    if (type === 'string') return `"${first}"`;
    return type === 'array' ? `["${first}",...]` : first;
  });
  const required = words.filter((_, i) => parameters[i]?.isOptional !== true);
  const optional = words.slice(required.length);
  return [method, ...required, ...(optional.length > 0 ? ['(', ...optional, ')'] : [])].join(' ');
}
