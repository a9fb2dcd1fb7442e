// Requests of mempool's WebSocket: a JSON object in which each field asks for something. Fields for things that are not served here, and
// meaningless values, are ignored; anything but an object violates the protocol.

import { scriptOfAddress, type AddressPrefixes } from '../../bitcoin/address';
import { fromDisplayHex, keyOf, scriptHashOf } from '../../bitcoin/hash';
import { OP_CHECKSIG } from '../../bitcoin/script';
import { MOST_BLOCKS } from '../../pool/projection/projected-blocks';
import { scanShortJson, type JsonBounds } from '../../server/json/scan';
import { shownValue } from '../../server/sockets/shown-value';

/** Scripts by SHA-256, one character a byte, each with the client's names for it: addresses and keys as it spells them, scripts in lower case. */
export type NamedScripts = ReadonlyMap<string, ReadonlySet<string>>;

export interface Tracking {
  /** How many names the client gave. If there are too many, none is read. */
  readonly entries: number;
  readonly scripts: NamedScripts;
  /** The first name that could not be read. */
  readonly unreadable: string | undefined;
}

export interface Wants {
  readonly blocks: boolean;
  readonly stats: boolean;
  readonly mempoolBlocks: boolean;
}

export type History = 'replacements' | 'replacementsSummary' | 'accelerations';

/** Fields are undefined if the request does not have them. */
export interface PushRequest {
  readonly action: 'init' | 'ping' | undefined;
  /** The updates that the client wants from now on. */
  readonly want: Wants | undefined;
  /** Whether the client asks for the last blocks again. */
  readonly refreshesBlocks: boolean;
  /** Null: stop tracking. */
  readonly transaction: Buffer | null | undefined;
  /** Txids; null if the value is not a list. */
  readonly transactions: readonly Buffer[] | null | undefined;
  /** The number of the projected block into which the client looks; null: none. */
  readonly mempoolBlock: number | null | undefined;
  /** Histories that this server does not keep: which of them the client asks for. */
  readonly histories: readonly History[];
  /** Whether it wants to know what became of a transaction that the pool does not have. */
  readonly watchesPool: boolean;
  readonly address: Tracking | undefined;
  readonly addresses: Tracking | undefined;
  readonly scripts: Tracking | undefined;
}

/** mempool's limit for `track-txs`. */
export const MOST_TRANSACTIONS = 100;

const STOP = 'stop';

/** How much of a name an error shows. */
const MOST_CHARACTERS = 100;

/** In one message: as many scripts as it has room for, and names of fields. What has more is not parsed. */
const MOST_VALUES = 100_000;
const BOUNDS: JsonBounds = { items: MOST_VALUES, values: MOST_VALUES, names: 100, allValues: MOST_VALUES };

/** Undefined if the message is not a request. `prefixes`: of accepted addresses. `most`: the most names that are read of a list. */
export function readRequest(message: Buffer, prefixes: readonly AddressPrefixes[], most: number): PushRequest | undefined {
  const value = parse(message);
  if (typeof value !== 'object' || value === null) return undefined;
  const { action, data, ...fields } = value as Readonly<Record<string, unknown>>;
  const address = fields['track-address'];
  const readAddress = (name: string): Named | undefined => readName(name, prefixes);
  const readList = (list: unknown, read: (name: string) => Named | undefined): Tracking | undefined =>
    Array.isArray(list) ? readTracking(list, read, most) : undefined;
  return {
    action: action === 'init' || action === 'ping' ? action : undefined,
    want: action === 'want' && Array.isArray(data) ? readWants(data) : undefined,
    refreshesBlocks: isSaid(fields['refresh-blocks']),
    transaction: readTransaction(fields['track-tx']),
    transactions: readTransactions(fields['track-txs']),
    mempoolBlock: readBlock(fields['track-mempool-block']),
    histories: readHistories(fields),
    watchesPool: isSaid(fields['watch-mempool']),
    address: address === STOP ? readList([], readAddress) : isSaid(address) ? readList([address], readAddress) : undefined,
    addresses: readList(fields['track-addresses'], readAddress),
    scripts: readList(fields['track-scriptpubkeys'], readScript)
  };
}

/** What a request asks for, in one word: of several things the first. */
export function kindOf({ action, want, transaction, transactions, mempoolBlock, address, addresses, scripts }: PushRequest): string {
  if (action === 'init') return action;
  if (want !== undefined) return 'want';
  if (address !== undefined) return 'track-address';
  if (addresses !== undefined) return 'track-addresses';
  if (scripts !== undefined) return 'track-scriptpubkeys';
  if (transaction !== undefined) return 'track-tx';
  if (transactions !== undefined) return 'track-txs';
  if (mempoolBlock !== undefined) return 'track-mempool-block';
  return action ?? 'none';
}

function parse(message: Buffer): unknown {
  if (typeof scanShortJson(message, BOUNDS) === 'string') return undefined;
  try {
    return JSON.parse(message.toString());
  } catch {
    return undefined;
  }
}

const isSaid = (value: unknown): boolean => value !== undefined && value !== null && value !== '' && value !== false && value !== 0;

const readWants = (data: readonly unknown[]): Wants => ({
  blocks: data.includes('blocks'),
  stats: data.includes('stats'),
  mempoolBlocks: data.includes('mempool-blocks')
});

/** Any value but the number of a block ends looking into it. */
function readBlock(value: unknown): number | null | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < MOST_BLOCKS ? value : null;
}

function readHistories(fields: Readonly<Record<string, unknown>>): History[] {
  const rbf = fields['track-rbf'];
  return [
    ...(rbf === 'all' || rbf === 'fullRbf' ? (['replacements'] as const) : []),
    ...(isSaid(fields['track-rbf-summary']) ? (['replacementsSummary'] as const) : []),
    ...(isSaid(fields['track-accelerations']) ? (['accelerations'] as const) : [])
  ];
}

const TXID = /^[0-9a-fA-F]{64}$/;

/** What is no txid is left out. More than one too many are not read. */
function readTransactions(value: unknown): Buffer[] | null | undefined {
  if (!isSaid(value)) return undefined;
  if (!Array.isArray(value)) return null;
  const texts: readonly unknown[] = value.slice(0, MOST_TRANSACTIONS + 1);
  return texts.flatMap((text) => (typeof text === 'string' && TXID.test(text) ? fromDisplayHex(text) : []));
}

/** Any value that is not a txid ends tracking, as `stop` does. */
function readTransaction(value: unknown): Buffer | null | undefined {
  if (!isSaid(value)) return undefined;
  return typeof value === 'string' && TXID.test(value) ? fromDisplayHex(value) : null;
}

interface Named {
  readonly name: string;
  readonly script: Buffer;
}

function readTracking(values: readonly unknown[], read: (name: string) => Named | undefined, most: number): Tracking {
  const scripts = new Map<string, Set<string>>();
  let unreadable: string | undefined;
  for (const value of values.length > most ? [] : values) {
    const named = typeof value === 'string' ? read(value) : undefined;
    if (named === undefined) {
      unreadable ??= shownValue(value, MOST_CHARACTERS);
      continue;
    }
    const key = keyOf(scriptHashOf(named.script));
    scripts.set(key, (scripts.get(key) ?? new Set()).add(named.name));
  }
  return { entries: values.length, scripts, unreadable };
}

/** An address or a public key. */
function readName(name: string, prefixes: readonly AddressPrefixes[]): Named | undefined {
  if (/^(0[23][0-9a-fA-F]{64}|04[0-9a-fA-F]{128})$/.test(name)) {
    const key = Buffer.from(name, 'hex');
    return { name, script: Buffer.from([key.length, ...key, OP_CHECKSIG]) };
  }
  const script = scriptOfAddress(name, prefixes);
  return typeof script === 'string' ? undefined : { name, script };
}

function readScript(name: string): Named | undefined {
  return /^([0-9a-fA-F]{2})+$/.test(name) ? { name: name.toLowerCase(), script: Buffer.from(name, 'hex') } : undefined;
}
