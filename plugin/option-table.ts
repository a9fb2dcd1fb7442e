// All options of the plugin: the reader of settings, `npm start -- --help` and the tables in README.md and docs/operating.md follow it.

import { DEFAULT_UNDO_DEPTH } from '../lib/index/chain-index';
import { DEFAULT_CACHE_BYTES } from '../lib/index/write/index-writer';
import { DEFAULT_LIMITS } from '../lib/server/limits';

export type OptionKind =
  | { readonly type: 'flag' }
  /** `fallback`: undefined where it depends on other options; `shown` is the default in texts then. */
  | { readonly type: 'number'; readonly fallback?: number; readonly shown?: string; readonly least: number; readonly most: number }
  /** The first is the default. */
  | { readonly type: 'choice'; readonly choices: readonly [string, ...string[]] }
  /** Some of these, with commas between them. */
  | { readonly type: 'list'; readonly choices: readonly string[] }
  | { readonly type: 'text'; readonly fallback?: string };

/** Sections of the texts in which options are listed. */
export type OptionGroup = 'REST' | 'wallets' | 'payments' | 'running';

export interface OptionRow {
  /** Without the leading `--`. */
  readonly name: string;
  /** Bitcoin Core's name, which is accepted as well. */
  readonly alias?: string;
  readonly group: OptionGroup;
  readonly kind: OptionKind;
  /** How `--help` shows its value; absent for a flag. */
  readonly value?: string;
  /** Without this option it has no effect, and is refused. */
  readonly needs?: 'rest-addresses' | 'rest-payments';
  /** Few need it: it is listed in docs/operating.md alone. */
  readonly isRare?: true;
  /** In `--help`, without the default. */
  readonly meaning: string;
}

const MIB = 1_024 * 1_024;

const number = (fallback: number, least: number, most: number): OptionKind => ({ type: 'number', fallback, least, most });
const FLAG: OptionKind = { type: 'flag' };
const TEXT: OptionKind = { type: 'text' };

export const OPTIONS = [
  {
    name: 'rest-core',
    group: 'REST',
    kind: { type: 'choice', choices: ['0.17', 'modern'] },
    value: 'EDITION',
    meaning: "of Bitcoin Core's interface: 0.17, or modern, which adds JSON-RPC"
  },
  {
    name: 'rest-deprecated',
    group: 'REST',
    kind: { type: 'list', choices: ['bip125', 'fullrbf', 'warnings'] },
    value: 'NAMES',
    isRare: true,
    meaning: 'fields that modern leaves out: some of bip125,fullrbf,warnings'
  },
  { name: 'rest-filters', group: 'REST', kind: FLAG, meaning: 'build compact block filters (BIP158)' },
  { name: 'rest-rpc-user', group: 'REST', kind: TEXT, value: 'USER:PASSWORD', meaning: 'accepted for JSON-RPC beside the API key' },
  { name: 'rest-auth', group: 'REST', kind: FLAG, meaning: "require the node's API key" },
  {
    name: 'rest-serial-version',
    alias: 'rpcserialversion',
    group: 'REST',
    kind: number(1, 0, 1),
    value: 'N',
    isRare: true,
    meaning: '0: bin and hex without witnesses'
  },
  {
    name: 'rest-max-body',
    group: 'REST',
    kind: number(DEFAULT_LIMITS.maxBodyBytes, 1, 0x0200_0000),
    value: 'BYTES',
    isRare: true,
    meaning: 'of a request'
  },
  {
    name: 'rest-max-outpoints',
    group: 'REST',
    kind: number(DEFAULT_LIMITS.maxOutpoints, 1, 10_000),
    value: 'N',
    isRare: true,
    meaning: 'in a getutxos request'
  },
  {
    name: 'rest-max-headers',
    group: 'REST',
    kind: number(DEFAULT_LIMITS.maxHeaders, 1, 100_000),
    value: 'N',
    isRare: true,
    meaning: 'in a request'
  },
  {
    name: 'rest-addresses',
    group: 'wallets',
    kind: FLAG,
    meaning: "keep an index by script as well, and answer Esplora's API under /api"
  },
  {
    name: 'rest-addresses-path',
    group: 'wallets',
    kind: { type: 'text', fallback: '/api' },
    value: 'PATH',
    needs: 'rest-addresses',
    isRare: true,
    meaning: "of Esplora's API"
  },
  {
    name: 'rest-cors',
    group: 'wallets',
    kind: TEXT,
    value: 'ORIGINS',
    needs: 'rest-addresses',
    meaning: 'whose web pages may use it: origins with commas between them, or *'
  },
  { name: 'rest-no-broadcast', group: 'wallets', kind: FLAG, needs: 'rest-addresses', isRare: true, meaning: 'accept no transactions' },
  {
    name: 'rest-max-unspent',
    group: 'wallets',
    kind: number(500, 1, 1_000_000),
    value: 'N',
    needs: 'rest-addresses',
    isRare: true,
    meaning: "coins in one reply of Esplora's API"
  },
  {
    name: 'rest-electrum',
    group: 'wallets',
    kind: TEXT,
    value: 'HOST:PORT',
    needs: 'rest-addresses',
    meaning: 'answer the Electrum protocol there; a port alone: on 127.0.0.1'
  },
  {
    name: 'rest-electrum-tls',
    group: 'wallets',
    kind: TEXT,
    value: 'HOST:PORT',
    needs: 'rest-addresses',
    meaning: 'answer the Electrum protocol over TLS there'
  },
  {
    name: 'rest-electrum-cert',
    group: 'wallets',
    kind: TEXT,
    value: 'FILE',
    needs: 'rest-addresses',
    meaning: 'certificate in PEM; by default the node makes one'
  },
  { name: 'rest-electrum-key', group: 'wallets', kind: TEXT, value: 'FILE', needs: 'rest-addresses', meaning: 'its key in PEM' },
  {
    name: 'rest-electrum-sessions',
    group: 'wallets',
    kind: number(1_000, 1, 100_000),
    value: 'N',
    needs: 'rest-addresses',
    isRare: true,
    meaning: 'clients at a time'
  },
  {
    name: 'rest-electrum-subscriptions',
    group: 'wallets',
    kind: number(75_000, 1, 10_000_000),
    value: 'N',
    needs: 'rest-addresses',
    isRare: true,
    meaning: 'scripts to which one client may subscribe'
  },
  {
    name: 'rest-electrum-cost',
    group: 'wallets',
    kind: number(100_000, 0, 1_000_000_000),
    value: 'POINTS',
    needs: 'rest-addresses',
    isRare: true,
    meaning: 'of 0.1 ms of processor time, above which an address is cut off; 0: never'
  },
  {
    name: 'rest-max-history',
    group: 'wallets',
    kind: number(80_000, 1, 1_000_000),
    value: 'N',
    needs: 'rest-addresses',
    isRare: true,
    meaning: 'transactions of a script in one Electrum reply'
  },
  {
    name: 'rest-payments',
    group: 'payments',
    kind: TEXT,
    value: 'DIR',
    meaning: 'accept payments (BIP70), with records in DIR; needs --api-key'
  },
  {
    name: 'rest-payments-url',
    group: 'payments',
    kind: TEXT,
    value: 'URL',
    needs: 'rest-payments',
    meaning: 'where customers reach the node'
  },
  {
    name: 'rest-warmup',
    group: 'running',
    kind: { type: 'choice', choices: ['synced', 'indexed'] },
    value: 'WHEN',
    meaning: "when to answer: synced, once node and index are in sync; indexed, once the index is at the node's tip"
  },
  {
    name: 'rest-cache',
    group: 'running',
    kind: number(DEFAULT_CACHE_BYTES / MIB, 4, 4_096),
    value: 'MIB',
    meaning: 'memory for caches'
  },
  {
    name: 'rest-bootstrap',
    group: 'running',
    kind: { type: 'choice', choices: ['blocks', 'coins'] },
    value: 'FROM',
    meaning: 'what an empty index is built from: blocks or coins'
  },
  {
    name: 'rest-threads',
    alias: 'rpcthreads',
    group: 'running',
    kind: { type: 'number', shown: '4, modern 16', least: 1, most: 1_000 },
    value: 'N',
    meaning: 'requests worked on at a time'
  },
  {
    name: 'rest-work-queue',
    alias: 'rpcworkqueue',
    group: 'running',
    kind: { type: 'number', shown: '16, modern 64', least: 1, most: 100_000 },
    value: 'N',
    meaning: 'requests that may wait'
  },
  {
    name: 'rest-timeout',
    alias: 'rpctimeout',
    group: 'running',
    kind: number(DEFAULT_LIMITS.timeoutMs / 1_000, 1, 86_400),
    value: 'SECONDS',
    meaning: 'cut off clients after this time without a byte from them'
  },
  {
    name: 'rest-read-rate',
    group: 'running',
    kind: number(DEFAULT_LIMITS.readRate, 1, 1_000_000_000),
    value: 'BYTES',
    isRare: true,
    meaning: 'a second at which clients have to read replies'
  },
  {
    name: 'rest-undo',
    group: 'running',
    kind: number(DEFAULT_UNDO_DEPTH, 1, 1_000_000),
    value: 'BLOCKS',
    isRare: true,
    meaning: 'that the index can undo without the node'
  },
  {
    name: 'rest-scrub',
    group: 'running',
    kind: number(24, 0, 168),
    value: 'HOURS',
    isRare: true,
    meaning: 'in which all files of the index are checked once; 0: never'
  }
] as const satisfies readonly OptionRow[];

export type OptionName = (typeof OPTIONS)[number]['name'];

/** Without the leading `--`. */
export const NAMES: readonly string[] = OPTIONS.map(({ name }) => name);

const BY_NAME: ReadonlyMap<string, OptionRow> = new Map(OPTIONS.map((row) => [row.name, row]));

export function optionOf(name: OptionName): OptionRow {
  return BY_NAME.get(name) as OptionRow; // the names are those of the rows
}

/** The default as texts show it; undefined where there is none to show. */
export function defaultOf({ kind }: OptionRow): string | undefined {
  switch (kind.type) {
    case 'flag':
    case 'list':
      return undefined;
    case 'number':
      return kind.shown ?? String(kind.fallback);
    case 'choice':
      return kind.choices[0];
    case 'text':
      return kind.fallback;
  }
}
