// All options of the plugin: the reader of settings, `npm start -- --help` and the tables in README.md and docs/operating.md follow it.

import { DEFAULT_UNDO_DEPTH } from '../../lib/index/chain-index';
import { DEFAULT_CACHE_BYTES } from '../../lib/index/write/index-writer';
import { DEFAULT_LIMITS } from '../../lib/server/limits';
import type { Topic } from '../../lib/zmq/topics';

/** `fallback`: undefined where it depends on the edition; `shown` is the default in texts then. */
type NumberKind = {
  readonly type: 'number';
  readonly fallback?: number;
  readonly shown?: string;
  readonly least: number;
  readonly most: number;
};

type TextKind = { readonly type: 'text'; readonly fallback?: string };

export type OptionKind =
  | { readonly type: 'flag' }
  | NumberKind
  /** The first is the default. */
  | { readonly type: 'choice'; readonly choices: readonly [string, ...string[]] }
  /** Some of these, separated by commas. */
  | { readonly type: 'list'; readonly choices: readonly string[] }
  | TextKind;

/** Sections of the texts in which options are listed. */
export type OptionGroup = 'REST' | 'wallets' | 'payments' | 'notifications' | 'running' | 'fleet';

/** The kinds of processes that have options: bcoin nodes with the plugin, and readers of a fleet (`bcoin-rest reader`). */
export type Role = 'node' | 'reader';

interface Extras {
  /** Bitcoin Core's name, which is accepted as well. */
  readonly alias?: string;
  /** Few need it: it is listed in docs/operating.md alone. */
  readonly isRare?: true;
  /** The only kind of process that has it. */
  readonly only?: Role;
}

export interface OptionRow<Name extends string = string, Kind extends OptionKind = OptionKind> extends Extras {
  /** Without the leading `--`. */
  readonly name: Name;
  /** The name, and how `--help` shows the value unless the option is a flag. */
  readonly usage: string;
  readonly group: OptionGroup;
  readonly kind: Kind;
  /** Without this option it has no effect, and is refused. */
  readonly needs?: 'rest-addresses' | 'rest-payments' | 'rest-feed' | `rest-zmq-${Topic}` | undefined;
  /** In `--help`, without the default. */
  readonly meaning: string;
}

type NameIn<Usage extends string> = Usage extends `${infer Name} ${string}` ? Name : Usage;

/** Makes the rows of a group. */
const rowsOf =
  (group: OptionGroup, needs?: OptionRow['needs']) =>
  <Usage extends string, const Kind extends OptionKind>(
    usage: Usage,
    kind: Kind,
    meaning: string,
    extras: Extras = {}
  ): OptionRow<NameIn<Usage>, Kind> => ({ name: usage.split(' ')[0] as NameIn<Usage>, usage, group, kind, needs, meaning, ...extras });

const rest = rowsOf('REST');
const wallets = rowsOf('wallets', 'rest-addresses');
const running = rowsOf('running');
const notifications = rowsOf('notifications');
const waiting = (topic: Topic) => rowsOf('notifications', `rest-zmq-${topic}`);
const fleet = rowsOf('fleet');
const feeding = rowsOf('fleet', 'rest-feed');

const FLAG = { type: 'flag' } as const;
const TEXT: TextKind = { type: 'text' };
const RARE = { isRare: true } as const;
const OF_NODES = { only: 'node' } as const;
const RARE_OF_NODES = { only: 'node', isRare: true } as const;
const OF_READERS = { only: 'reader', isRare: true } as const;
const number = (fallback: number, least: number, most: number): NumberKind => ({ type: 'number', fallback, least, most });
const byEdition = (shown: string, least: number, most: number): NumberKind => ({ type: 'number', shown, least, most });

const MIB = 1_024 * 1_024;

const HWM = number(1_000, 0, 1_000_000_000);

export const OPTIONS = [
  rest(
    'rest-core EDITION',
    { type: 'choice', choices: ['0.17', 'modern'] },
    "of Bitcoin Core's interface: 0.17, or modern, which adds JSON-RPC"
  ),
  rest(
    'rest-deprecated NAMES',
    { type: 'list', choices: ['bip125', 'fullrbf', 'warnings'] },
    'fields that modern leaves out: some of bip125,fullrbf,warnings',
    RARE
  ),
  rest('rest-filters', FLAG, 'build compact block filters (BIP158)'),
  rest('rest-rpc-user USER:PASSWORD', TEXT, 'accepted for JSON-RPC beside the API key'),
  rest(
    'rest-rpc-whitelist USER:CALLS',
    TEXT,
    'the calls that the RPC user or __cookie__ may make: USER:call,call; more users after spaces',
    RARE
  ),
  rest('rest-explorer', FLAG, 'a page for browsers at /explorer: blocks, transactions, addresses, the pool'),
  rest('rest-auth', FLAG, "require the node's API key"),
  rest('rest-serial-version N', number(1, 0, 1), '0: bin and hex without witnesses', { alias: 'rpcserialversion', isRare: true }),
  rest('rest-max-body BYTES', number(DEFAULT_LIMITS.maxBodyBytes, 1, 32 * MIB), 'of a request', RARE),
  rest('rest-max-outpoints N', number(DEFAULT_LIMITS.maxOutpoints, 1, 10_000), 'in a getutxos request', RARE),
  rest('rest-max-headers N', number(DEFAULT_LIMITS.maxHeaders, 1, 100_000), 'in a request', RARE),

  rowsOf('wallets')('rest-addresses', FLAG, "keep an index by script as well, and answer Esplora's API under /api"),
  wallets('rest-addresses-path PATH', { type: 'text', fallback: '/api' }, "of Esplora's API", RARE),
  wallets('rest-addresses-socket FILE', TEXT, 'a Unix socket over which it is answered as well, and nothing else', RARE),
  wallets('rest-addresses-socket-mode MODE', { type: 'text', fallback: '660' }, 'of that socket, in octal digits: who may connect', RARE),
  wallets(
    'rest-addresses-search',
    FLAG,
    'answer /address-prefix of it, from a list of all addresses that takes more disk than the index by script',
    RARE_OF_NODES
  ),
  wallets('rest-mining', FLAG, 'answer /block-template of it, a block to mine', RARE_OF_NODES),
  wallets('rest-cors ORIGINS', TEXT, 'whose web pages may use it: origins separated by commas, or *'),
  wallets('rest-no-broadcast', FLAG, 'accept no transactions', RARE),
  wallets('rest-max-unspent N', number(500, 1, 1_000_000), "coins in one reply of Esplora's API", RARE),
  wallets('rest-electrum HOST:PORT', TEXT, 'answer the Electrum protocol there; a port alone: on 127.0.0.1'),
  wallets('rest-electrum-tls HOST:PORT', TEXT, 'answer the Electrum protocol over TLS there'),
  wallets('rest-electrum-cert FILE', TEXT, 'certificate in PEM; by default the node makes one', RARE),
  wallets('rest-electrum-key FILE', TEXT, 'its key in PEM', RARE),
  wallets('rest-electrum-banner FILE', TEXT, 'with a text for users', RARE),
  wallets('rest-electrum-donation ADDRESS', TEXT, 'for donations to the operator', RARE),
  wallets('rest-electrum-hosts PLACES', TEXT, 'where clients reach this server: ssl://host:port, separated by commas', RARE),
  wallets('rest-electrum-peers PLACES', TEXT, 'where other servers are, of which clients are told', RARE),
  wallets('rest-electrum-sessions N', number(1_000, 1, 100_000), 'clients at a time', RARE),
  wallets('rest-electrum-subscriptions N', number(75_000, 1, 10_000_000), 'scripts and outpoints to which one client may subscribe', RARE),
  wallets(
    'rest-electrum-cost POINTS',
    number(100_000, 0, 1_000_000_000),
    'of 0.1 ms of processor time, above which an address is cut off; 0: never',
    RARE
  ),
  wallets('rest-max-history N', number(80_000, 1, 1_000_000), 'transactions of a script in one Electrum reply', RARE),

  rowsOf('payments')('rest-payments DIR', TEXT, 'accept payments (BIP70), with records in DIR; needs --api-key', RARE_OF_NODES),
  rowsOf('payments', 'rest-payments')('rest-payments-url URL', TEXT, 'where customers reach the node', RARE_OF_NODES),
  rowsOf('payments', 'rest-payments')(
    'rest-payments-notify ORIGINS',
    TEXT,
    'where shops may be notified of changes of their orders: origins separated by commas',
    RARE_OF_NODES
  ),

  notifications(
    'rest-zmq-hashblock ADDRESSES',
    TEXT,
    'where ZeroMQ has the hash of each new tip: addresses such as tcp://127.0.0.1:28332',
    RARE_OF_NODES
  ),
  notifications('rest-zmq-hashtx ADDRESSES', TEXT, 'where it has the txid of each transaction, of pool and blocks', RARE_OF_NODES),
  notifications('rest-zmq-rawblock ADDRESSES', TEXT, 'where it has each new tip', RARE_OF_NODES),
  notifications('rest-zmq-rawtx ADDRESSES', TEXT, 'where it has each transaction', RARE_OF_NODES),
  notifications('rest-zmq-sequence ADDRESSES', TEXT, 'where it has which blocks and transactions come and go', RARE_OF_NODES),
  waiting('hashblock')('rest-zmq-hashblockhwm N', HWM, 'messages that wait for one subscriber; 0: no limit', RARE_OF_NODES),
  waiting('hashtx')('rest-zmq-hashtxhwm N', HWM, 'messages that wait for one subscriber; 0: no limit', RARE_OF_NODES),
  waiting('rawblock')('rest-zmq-rawblockhwm N', HWM, 'messages that wait for one subscriber; 0: no limit', RARE_OF_NODES),
  waiting('rawtx')('rest-zmq-rawtxhwm N', HWM, 'messages that wait for one subscriber; 0: no limit', RARE_OF_NODES),
  waiting('sequence')('rest-zmq-sequencehwm N', HWM, 'messages that wait for one subscriber; 0: no limit', RARE_OF_NODES),

  running(
    'rest-warmup WHEN',
    { type: 'choice', choices: ['synced', 'indexed'] },
    "when to answer: synced, once node and index are in sync; indexed, once the index is at the node's tip"
  ),
  running(
    'rest-pool RULES',
    { type: 'choice', choices: ['bcoin', 'modern'] },
    "what enters the node's pool: bcoin, by bcoin's rules; modern, by those of Bitcoin Core 31, with taproot and replacement",
    OF_NODES
  ),
  running('rest-cache MIB', number(DEFAULT_CACHE_BYTES / MIB, 4, 4_096), 'memory for caches'),
  running(
    'rest-bootstrap FROM',
    { type: 'choice', choices: ['blocks', 'coins'] },
    'what an empty index is built from: blocks or coins',
    OF_NODES
  ),
  running('rest-threads N', byEdition('4, modern 16', 1, 1_000), 'requests worked on at a time', { alias: 'rpcthreads' }),
  running('rest-work-queue N', byEdition('16, modern 64', 1, 100_000), 'requests that may wait', { alias: 'rpcworkqueue' }),
  running(
    'rest-timeout SECONDS',
    number(DEFAULT_LIMITS.timeoutMs / 1_000, 1, 86_400),
    'cut off clients after this time without a byte from them',
    { alias: 'rpctimeout' }
  ),
  running(
    'rest-read-rate BYTES',
    number(DEFAULT_LIMITS.readRate, 1, 1_000_000_000),
    'a second at which clients have to read replies',
    RARE
  ),
  running('rest-trusted-proxies NETWORKS', TEXT, 'of proxies that name the client they ask for, such as 10.0.0.0/8,127.0.0.1', RARE),
  running('rest-metrics HOST:PORT', TEXT, 'metrics for Prometheus and health there; a port alone: on 127.0.0.1', RARE),
  running('rest-undo BLOCKS', number(DEFAULT_UNDO_DEPTH, 1, 1_000_000), 'that the index can undo without the node', RARE),
  running('rest-scrub HOURS', number(24, 0, 168), 'in which all files of the index are checked once; 0: never', RARE),

  fleet('rest-feed URLS', TEXT, 'feed a fleet of readers over these servers of NATS: nats://a,b,c', RARE_OF_NODES),
  feeding('rest-feed-name NAME', TEXT, "of this node in the fleet; by default the machine's", RARE_OF_NODES),
  feeding(
    'rest-feed-lead WHEN',
    { type: 'choice', choices: ['auto', 'never'] },
    'when this node writes the log: auto, whenever no other node does; never',
    RARE_OF_NODES
  ),
  fleet('rest-nats URLS', TEXT, 'of the servers of NATS that have the log: nats://a,b,c', OF_READERS),
  fleet('rest-nats-creds FILE', TEXT, 'with the credentials for NATS', RARE),
  fleet('rest-stale SECONDS', number(30, 5, 86_400), 'without a word from a node, after which nothing is answered', OF_READERS),
  fleet('rest-block-cache GB', number(20, 0, 100_000), 'of blocks that are kept on the disk; 0: none', OF_READERS),
  fleet(
    'rest-release WHEN',
    { type: 'choice', choices: ['alone', 'together'] },
    'when a reader shows a block: alone, at once; together, when all readers have it, half a second later at most',
    OF_READERS
  ),
  fleet('rest-rpc-forward', FLAG, "pass bcoin's own calls of JSON-RPC on to a node", OF_READERS)
] as const;

type Row = (typeof OPTIONS)[number];
type Rows = { readonly [Each in Row as Each['name']]: Each };

/** The names of all options, or of those of a type. */
export type OptionName<Type extends OptionKind['type'] = OptionKind['type']> = Extract<Row, { kind: { type: Type } }>['name'];

/** The texts among which an option chooses. */
export type ChoiceOf<Name extends OptionName<'choice' | 'list'>> = Rows[Name]['kind']['choices'][number];

/** Without the leading `--`. */
export const NAMES: readonly OptionName[] = OPTIONS.map(({ name }) => name);

/** With Bitcoin Core's names for some of them. */
export const ACCEPTED_NAMES: readonly string[] = OPTIONS.flatMap(({ name, alias }: OptionRow) =>
  alias === undefined ? name : [name, alias]
);

const ROWS = Object.fromEntries(OPTIONS.map((row) => [row.name, row])) as Rows;

export function optionOf<Name extends OptionName>(name: Name): Rows[Name] {
  return ROWS[name];
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
