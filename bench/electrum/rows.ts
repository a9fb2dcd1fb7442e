// What is asked of the servers: the rows of the table.

import { Deck } from '../serve/deck';
import { batchOf, CALLS, getOf, lineOf, linesOf, type Call } from './requests';
import { hashesOf, hashOf, SCRIPTS, type ScriptClass } from './wallet-scripts';
import type { Request, Way } from './ask-client';
import type { WalletChain } from './wallet-chain';

/** How requests follow one another on a connection: the next one after the reply to the last, or many before a reply. */
export type Mode = 'one' | 'many';

export interface Row {
  readonly name: string;
  readonly requests: readonly Request[];
  /** Whether each request is made once, over all rounds. */
  readonly isOnce: boolean;
  readonly way: Way;
  readonly modes: readonly Mode[];
  /** Calls in a request, by which the cost is divided. */
  readonly calls: number;
  /** Whether all servers must give the same answers. */
  readonly isAlike: boolean;
  /** Whether it is also measured with processes that have just started. */
  readonly isFresh: boolean;
  /** The most that a call may take, in multiples of Fulcrum, or of a bare server. */
  readonly goal: Readonly<Partial<Record<Mode, number>>>;
}

type Extras = Partial<Omit<Row, 'name' | 'requests' | 'isOnce'>>;

const SEED = 19;
/** Number of different requests in a row that repeats them. */
const HOT = 10;
/** Numbers of requests in rows that make each once. */
const MANY = 24_000;
const HALF_AS_MANY = 12_000;
const SOME = 6_000;
const FEW = 640;
const BATCH = 100;
/** Subscriptions of a session, and how many of them are of used scripts. */
export const SUBSCRIPTIONS = 100;
export const USED = 25;
/** Number of scripts that nobody has paid, beside those of sessions. */
const UNUSED = 40_000;
const MOST_HEADERS = 2_016;

const row = (isOnce: boolean, name: string, requests: readonly Request[], extras: Extras): Row => ({
  name: `${name}, ${isOnce ? 'once' : 'again'}`,
  requests,
  isOnce,
  way: 'line',
  modes: ['one', 'many'],
  calls: 1,
  isAlike: true,
  isFresh: false,
  goal: {},
  ...extras
});

const once = (name: string, requests: readonly Request[], extras: Extras = {}): Row => row(true, name, requests, extras);
const again = (name: string, requests: readonly Request[], extras: Extras = {}): Row => row(false, name, requests, extras);
/** Each request once, then some of them again. */
const onceAndAgain = (name: string, requests: readonly Request[], first: Extras, repeated: Extras = {}): Row[] => [
  once(name, requests, first),
  again(name, requests.slice(0, HOT), { ...first, isFresh: false, ...repeated })
];

/** With one request on a connection at a time: there are too few for more, or each is large. */
const ONE_ONLY: Extras = { modes: ['one'] };
const atMost = (one: number, many = one): Extras => ({ goal: { one, many } });
/** Browsers do not pipeline either. */
const HTTP: Extras = { ...ONE_ONLY, way: 'http' };

export function rowsOf(chain: WalletChain): Row[] {
  const take = scriptTaker();
  return [again('server.ping', [lineOf(CALLS.ping())]), ...scriptRows(take), ...chainRows(chain), ...httpRows(take, chain)];
}

/** Takes scripts of a class that no other row has. */
type Take = (kind: ScriptClass, count: number) => string[];

function scriptTaker(): Take {
  const decks = new Map<ScriptClass, Deck<string>>();
  return (kind, count) => {
    const deck = decks.get(kind) ?? new Deck(hashesOf(kind), SEED);
    decks.set(kind, deck);
    return deck.take(count);
  };
}

function scriptRows(take: Take): Row[] {
  const { one, ten, hundred, thousand, tenThousand, coins } = SCRIPTS;
  const { history, balance, unspent, subscribe } = CALLS;
  const lines = (call: (name: string) => Call, names: readonly string[]): Request[] => names.map((name) => lineOf(call(name)));
  const unused = Array.from({ length: UNUSED }, (_, i) => hashOf(`unused ${i}`));
  const batches = inGroups(take(one, MANY), BATCH).map((names) => batchOf(names.map((name) => subscribe(name))));
  return [
    ...onceAndAgain('get_history of 1', lines(history, take(one, MANY)), { isFresh: true, ...atMost(2, 1.2) }, atMost(1)),
    ...onceAndAgain('get_history of 100', lines(history, take(hundred, SOME)), { isFresh: true, ...atMost(1) }, atMost(0.3)),
    ...onceAndAgain('get_history of 1,000', lines(history, take(thousand, 140)), { ...ONE_ONLY, ...atMost(1) }, atMost(0.3)),
    ...onceAndAgain('get_history of 10,000', lines(history, take(tenThousand, 15)), { ...ONE_ONLY, ...atMost(1) }, atMost(0.3)),
    once('subscribe, unused', lines(subscribe, unused)),
    once('subscribe in 100s, 1 row', batches, { ...ONE_ONLY, calls: BATCH, isFresh: true, ...atMost(1.2) }),
    once('subscribe, 1,000 rows', lines(subscribe, take(thousand, 110)), ONE_ONLY),
    once('session, 100 subscriptions', sessions(take(one, MANY)), {
      ...ONE_ONLY,
      way: 'session',
      isAlike: false,
      isFresh: true,
      ...atMost(1)
    }),
    once('get_balance of 1', lines(balance, take(one, MANY)), { isFresh: true, ...atMost(1.2) }),
    once('get_balance of 10', lines(balance, take(ten, HALF_AS_MANY)), atMost(1.2)),
    once('get_balance of 100', lines(balance, take(hundred, SOME)), atMost(1.2)),
    once('listunspent of 1', lines(unspent, take(one, MANY)), atMost(1.2)),
    once('listunspent of 10', lines(unspent, take(ten, HALF_AS_MANY)), atMost(1.2)),
    ...onceAndAgain('listunspent, 500 coins', lines(unspent, take(coins, 170)), { ...ONE_ONLY, ...atMost(1) })
  ];
}

/** What a client sends after `server.version`, at once. */
function sessions(used: readonly string[]): Request[] {
  return inGroups(used, USED).map((names, session) => {
    const unused = Array.from({ length: SUBSCRIPTIONS - names.length }, (_, i) => hashOf(`unused ${session} ${i}`));
    return linesOf([CALLS.newHeaders(), ...[...names, ...unused].map((name) => CALLS.subscribe(name))]);
  });
}

function chainRows({ transactions, height }: WalletChain): Row[] {
  const deck = new Deck(transactions, SEED);
  const heights = new Deck(
    Array.from({ length: height }, (_, i) => i),
    SEED
  );
  const { merkle, transaction, header, headers, fee, feeHistogram } = CALLS;
  const held = atMost(1);
  const proofs = deck.take(HALF_AS_MANY).map(([txid, at]) => lineOf(merkle(txid, at)));
  const whole = deck.take(HALF_AS_MANY).map(([txid]) => lineOf(transaction(txid)));
  const proven = heights.take(SOME).map((at) => lineOf(header(at, height)));
  const chunks = heights.take(60).map((at) => lineOf(headers(Math.min(at, height - MOST_HEADERS), MOST_HEADERS)));
  const targets = Array.from({ length: HOT }, (_, i) => lineOf(fee(2 + i)));
  return [
    ...onceAndAgain('get_merkle', proofs, held),
    ...onceAndAgain('transaction.get', whole, held),
    ...onceAndAgain('header with a proof', proven, held),
    ...onceAndAgain('headers, 2016', chunks, { ...ONE_ONLY, ...held }),
    again('estimatefee', targets, { isAlike: false, ...held }),
    again('get_fee_histogram', [lineOf(feeHistogram())], { isAlike: false, ...held })
  ];
}

/** Other servers have no such interfaces. */
function httpRows(take: Take, { busy, transactions }: WalletChain): Row[] {
  const pageOf = (name: string): Request => getOf(`/api/scripthash/${Buffer.from(name, 'hex').reverse().toString('hex')}/txs`);
  const spends = new Deck(busy, SEED).take(FEW).map((txid) => getOf(`/api/tx/${txid}/outspends`));
  const whole = new Deck(transactions, SEED).take(HALF_AS_MANY).map(([txid]) => getOf(`/rest/tx/${txid}.json`));
  return [
    once('rest tx.json', whole, { ...HTTP, isFresh: true }),
    ...onceAndAgain('first page of 1', take(SCRIPTS.one, MANY).map(pageOf), { ...HTTP, isFresh: true }),
    ...onceAndAgain('first page of 100', take(SCRIPTS.hundred, FEW).map(pageOf), HTTP),
    ...onceAndAgain('outspends, busy', spends, HTTP, atMost(3))
  ];
}

function inGroups<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.floor(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}
