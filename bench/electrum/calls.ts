// The calls that are measured, beside an empty method.

import { Deck } from '../serve/deck';
import { hashOf, type WalletChain } from './wallet-chain';
import type { Call } from './line-client';

export interface CallRow {
  readonly name: string;
  /** Calls that are repeated, or each made once over all rounds. */
  readonly calls: readonly Call[];
  readonly isOnce: boolean;
}

const SEED = 19;
const HOT = 10;
/** Number of calls in a row that makes each once. */
const ONCE = 1_400;
/** Number of scripts that nobody has paid. */
const QUIET = 60_000;
const MOST_HEADERS = 2_016;

export const EMPTY_ROW = 'server.ping';

export function callRows({ long, single, transactions, height }: WalletChain): CallRow[] {
  const singles = new Deck(single, SEED);
  const longs = new Deck(long, SEED);
  const proofs = new Deck(transactions, SEED);
  const again = (name: string, calls: readonly Call[]): CallRow => ({ name, calls, isOnce: false });
  const once = (name: string, calls: readonly Call[]): CallRow => ({ name, calls, isOnce: true });
  const of =
    (method: string) =>
    (...params: readonly unknown[]): Call => ({ method, params });
  const [history, subscribe, merkle] = [
    of('blockchain.scripthash.get_history'),
    of('blockchain.scripthash.subscribe'),
    of('blockchain.transaction.get_merkle')
  ];
  const [header, headers] = [of('blockchain.block.header'), of('blockchain.block.headers')];
  const heights = Array.from({ length: HOT }, (_, i) => Math.floor((height * i) / HOT));
  const quiet = Array.from({ length: QUIET }, (_, i) => subscribe(hashOf(`quiet ${i}`)));
  return [
    again(EMPTY_ROW, [{ method: EMPTY_ROW, params: [] }]),
    again('get_history, 1', singles.take(HOT).map((name) => history(name))),
    once('get_history, 1, once', singles.take(ONCE).map((name) => history(name))),
    again('get_history, 1,000', longs.take(HOT).map((name) => history(name))),
    once('subscribe, untouched', quiet),
    once('subscribe, 1', singles.take(ONCE).map((name) => subscribe(name))),
    once('subscribe, 1,000', longs.take(48).map((name) => subscribe(name))),
    again('get_merkle', proofs.take(HOT).map(([txid, at]) => merkle(txid, at))),
    once('get_merkle, once', proofs.take(1_100).map(([txid, at]) => merkle(txid, at))),
    again('headers, 2016', heights.map((at) => headers(Math.min(at, height - MOST_HEADERS), MOST_HEADERS))),
    again('header with proof', heights.map((at) => header(at, height)))
  ]; // prettier-ignore
}
