// Requests of mempool's WebSocket: a JSON object in which each field asks for something. Fields for things that are not served here, and
// meaningless values, are ignored; anything but an object violates the protocol.

import { hash } from 'node:crypto';
import { fromDisplayHex } from '../../bitcoin/hash';
import { OP_CHECKSIG } from '../../bitcoin/script';
import { scriptOfAddress, type AddressPrefixes } from '../../bitcoin/address';
import { keyOf } from '../../rest/cache/blocks';

/** Scripts by SHA-256, one character a byte, each with the names under which the client asked for it. */
export type NamedScripts = ReadonlyMap<string, readonly string[]>;

export interface Tracking {
  readonly scripts: NamedScripts;
  /** Names that could not be read. */
  readonly unreadable: readonly string[];
}

/** Fields are undefined if the request does not have them. */
export interface PushRequest {
  readonly action: 'init' | 'ping' | undefined;
  /** What the client wants to be told from now on. */
  readonly want: { readonly blocks: boolean; readonly stats: boolean } | undefined;
  /** Null: stop tracking. */
  readonly transaction: Buffer | null | undefined;
  readonly address: Tracking | undefined;
  readonly addresses: Tracking | undefined;
  readonly scripts: Tracking | undefined;
}

const STOP = 'stop';

/** Undefined if the text is not a request. `prefixes`: of accepted addresses. */
export function readRequest(text: string, prefixes: readonly AddressPrefixes[]): PushRequest | undefined {
  const value = parse(text);
  if (typeof value !== 'object' || value === null) return undefined;
  const { action, data, ...fields } = value as Readonly<Record<string, unknown>>;
  const address = fields['track-address'];
  const readAddress = (name: string): Buffer | undefined => scriptOf(name, prefixes);
  return {
    action: action === 'init' || action === 'ping' ? action : undefined,
    want: action === 'want' && Array.isArray(data) ? { blocks: data.includes('blocks'), stats: data.includes('stats') } : undefined,
    transaction: readTransaction(fields['track-tx']),
    address: address === STOP ? readTracking([], readAddress) : isSaid(address) ? readTracking([address], readAddress) : undefined,
    addresses: readList(fields['track-addresses'], readAddress),
    scripts: readList(fields['track-scriptpubkeys'], readScript)
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isSaid = (value: unknown): boolean => value !== undefined && value !== null && value !== '' && value !== false && value !== 0;

/** Any value that is not a txid ends tracking, as `stop` does. */
function readTransaction(value: unknown): Buffer | null | undefined {
  if (!isSaid(value)) return undefined;
  return typeof value === 'string' && /^[0-9a-fA-F]{64}$/.test(value) ? fromDisplayHex(value) : null;
}

function readList(value: unknown, read: (name: string) => Buffer | undefined): Tracking | undefined {
  return Array.isArray(value) ? readTracking(value, read) : undefined;
}

function readTracking(values: readonly unknown[], read: (name: string) => Buffer | undefined): Tracking {
  const scripts = new Map<string, string[]>();
  const unreadable: string[] = [];
  for (const value of values) {
    const name = typeof value === 'string' ? value : JSON.stringify(value);
    const script = typeof value === 'string' ? read(value) : undefined;
    if (script === undefined) {
      unreadable.push(name);
      continue;
    }
    const key = keyOf(hash('sha256', script, 'buffer'));
    const names = scripts.get(key) ?? [];
    scripts.set(key, names.includes(name) ? names : [...names, name]);
  }
  return { scripts, unreadable };
}

/** The script of an address or a public key. */
function scriptOf(name: string, prefixes: readonly AddressPrefixes[]): Buffer | undefined {
  if (/^(0[23][0-9a-fA-F]{64}|04[0-9a-fA-F]{128})$/.test(name)) {
    const key = Buffer.from(name, 'hex');
    return Buffer.from([key.length, ...key, OP_CHECKSIG]);
  }
  const script = scriptOfAddress(name, prefixes);
  return typeof script === 'string' ? undefined : script;
}

function readScript(name: string): Buffer | undefined {
  return /^([0-9a-fA-F]{2})+$/.test(name) ? Buffer.from(name, 'hex') : undefined;
}
