// The content that an index must have after some blocks, kept in simple objects and maps.

import { expect } from 'chai';
import { toDisplayHex } from '../../../lib/bitcoin/hash';
import { findBase, withKnownBytes } from '../../../lib/index/records/base';
import { decodeBaseCoin } from '../../../lib/index/records/base-coin';
import { decodeHeader } from '../../../lib/index/records/chain';
import { coinsIn } from '../../../lib/index/records/coin-record';
import { recordOf } from '../../../lib/index/records/layout';
import { spanOf } from '../../../lib/index/records/lengths';
import { decodePosition } from '../../../lib/index/records/position';
import { TxidHasher } from '../../../lib/index/records/txid-hash';
import { expectSame } from '../expectations/expect-same';
import { knownHash, knownScan } from '../chain/known-blocks';
import type { Position } from '../../../lib/index/types';
import type { Coin } from '../../../lib/index/types';
import type { Store } from '../../../lib/store/store';

export interface IndexModel {
  /** `<txid>-<index>` to `<height> <coinbase> <value> <script>`. */
  readonly coins: Map<string, string>;
  /** Txid to `<height> <offset> <length>`. */
  readonly locations: Map<string, string>;
  /** By height: `<hash> <transactions> <bytes of the chain>`. */
  readonly headers: string[];
}

/** A coin in the model's form. */
export function describeCoin({ height, coinbase, value, script }: Coin): string {
  return `${height} ${String(coinbase)} ${value} ${script.toString('hex')}`;
}

/** The effect of a transaction on the state, in the model's form. */
export interface ModelTransaction {
  readonly txid: Buffer;
  /** As displayed. */
  readonly name: string;
  readonly location: string;
  /** Names of the coins that it spends; empty for a coinbase. */
  readonly spent: readonly string[];
  /** Every output's name, and the coin that it makes, if it makes one. */
  readonly outputs: readonly { readonly name: string; readonly coin: string | undefined }[];
}

const known = new WeakMap<Buffer, { readonly height: number; readonly transactions: readonly ModelTransaction[] }>();

/** The transactions of a block, computed once for each buffer. */
export function modelTransactions(raw: Buffer, height: number): readonly ModelTransaction[] {
  const before = known.get(raw);
  if (before?.height === height) return before.transactions;
  const transactions = knownScan(raw).transactions.map(({ txid, offset, length, isCoinbase, inputs, outputs }) => {
    const name = toDisplayHex(txid);
    return {
      txid,
      name,
      location: `${height} ${offset} ${length}`,
      spent: (isCoinbase ? [] : inputs).map((input) => `${toDisplayHex(input.txid)}-${input.index}`),
      outputs: outputs.map(({ value, script }, index) => {
        const unspendable = script.toString('hex').startsWith('6a') || script.length > 10_000;
        const coin = unspendable || height === 0 ? undefined : describeCoin({ height, coinbase: isCoinbase, value, script });
        return { name: `${name}-${index}`, coin };
      })
    };
  });
  known.set(raw, { height, transactions });
  return transactions;
}

/** The state after the blocks of a chain, from the genesis block up. */
export function modelOf(chain: readonly Buffer[]): IndexModel {
  const model: IndexModel = { coins: new Map(), locations: new Map(), headers: [] };
  let chainBytes = 0;
  chain.forEach((raw, height) => {
    const transactions = modelTransactions(raw, height);
    chainBytes += raw.length;
    model.headers.push(`${toDisplayHex(knownHash(raw))} ${transactions.length} ${chainBytes}`);
    for (const { name, location, spent, outputs } of transactions) {
      model.locations.set(name, location);
      for (const coin of spent) model.coins.delete(coin);
      for (const { name, coin } of outputs) if (coin !== undefined) model.coins.set(name, coin);
    }
  });
  return model;
}

/** The content of a store in the model's form. During a backfill, blocks below it are left out. */
async function modelIn(store: Store, chain: readonly Buffer[]): Promise<IndexModel> {
  const model: IndexModel = { coins: new Map(), locations: new Map(), headers: [] };
  const hasher = TxidHasher.of(store);
  /** The index has only hashes of txids. */
  const byHash = new Map(chain.flatMap(modelTransactions).map(({ txid, name }) => [hasher.hash(txid).toString('hex'), name]));
  const txidOf = (hash: Buffer): string =>
    byHash.get(hash.toString('hex')) ?? expect.fail(`a record of no transaction of the chain: hash ${hash.toString('hex')}`);
  const txids = new Map<string, string>();
  for await (const [key, value] of store.range({ gte: Buffer.from('p'), lt: Buffer.from('q') })) {
    const place = decodePosition(key, value);
    const { height } = place;
    const txid = txidOf(key.subarray(1));
    const { offset, length } = spanOf(store, place);
    txids.set(nameOf(place), txid);
    model.locations.set(txid, `${height} ${offset} ${length}`);
  }
  for await (const [key, value] of store.range({ gte: Buffer.from('o'), lt: Buffer.from('p') })) {
    const place = { height: key.readUInt32BE(1), index: key.readUInt16BE(5) };
    const first = key.length === 7 ? 0 : key.readUInt16BE(7) * 32;
    const txid = txids.get(nameOf(place)) ?? expect.fail(`coins at a place without a txid: ${nameOf(place)}`);
    for (const { slot, value: satoshis, script } of coinsIn(recordOf(key, value)))
      model.coins.set(
        `${txid}-${first + slot}`,
        describeCoin({ height: place.height, coinbase: place.index === 0, value: satoshis, script })
      );
  }
  const base = findBase(store);
  for await (const [key, value] of store.range({ gte: Buffer.from('c'), lt: Buffer.from('d') })) {
    const coin = decodeBaseCoin(key, value, base ?? expect.fail('a base'));
    if (coin !== undefined) model.coins.set(`${toDisplayHex(key.subarray(1, 33))}-${key.readUInt32BE(33)}`, describeCoin(coin));
  }
  for await (const [key, value] of store.range({ gte: Buffer.from('h'), lt: Buffer.from('i') })) {
    const header = decodeHeader(key, value);
    const { hash, transactionCount, chainBytes } = base === undefined ? header : withKnownBytes(base, header);
    model.headers.push(`${toDisplayHex(hash)} ${transactionCount} ${chainBytes}`);
  }
  return model;
}

const nameOf = ({ height, index: position }: Position): string => `${height}/${position}`;

/** Fails unless the store holds the state after exactly these blocks. */
export async function expectIndexOf(store: Store, chain: readonly Buffer[]): Promise<void> {
  const [found, expected] = [await modelIn(store, chain), modelOf(chain)];
  expectSame(found.headers, expected.headers);
  expectSameEntries(found.coins, expected.coins);
  expectSameEntries(found.locations, expected.locations);
}

/** Fails unless the store holds the state after these blocks, with positions from a height up. */
export async function expectIndexBackfilledFrom(store: Store, chain: readonly Buffer[], positionsFrom: number): Promise<void> {
  const [found, expected] = [await modelIn(store, chain), modelOf(chain)];
  expectSame(
    found.headers.map((header) => header.slice(0, 64)),
    expected.headers.map((header) => header.slice(0, 64))
  );
  expectSameEntries(found.coins, expected.coins);
  for (const [txid, place] of expected.locations) if (Number(place.split(' ')[0]) < positionsFrom) expected.locations.delete(txid);
  expectSameEntries(found.locations, expected.locations);
}

function expectSameEntries(found: ReadonlyMap<string, string>, expected: ReadonlyMap<string, string>): void {
  // Compared before sorting, which takes longer than everything else.
  if (found.size === expected.size && [...found].every(([key, value]) => expected.get(key) === value)) return;
  expect(sorted(found)).to.deep.equal(sorted(expected));
}

function sorted(map: ReadonlyMap<string, string>): string[] {
  return [...map].map(([key, value]) => `${key} ${value}`).sort();
}

/** Every byte of a store, undo records and all. */
export async function imageOf(store: Store): Promise<string[]> {
  const image: string[] = [];
  for await (const [key, value] of store.range({ gte: Buffer.alloc(0), lt: Buffer.from([0xff]) }))
    image.push(`${key.toString('hex')} ${value.toString('hex')}`);
  return image;
}
