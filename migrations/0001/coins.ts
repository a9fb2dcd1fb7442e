// Coins from 'c' to 'o': those of a transaction move together. In layout 1 a coin is
//
//   height * 2 + coinbase 4, value 8, script
//
// and in layout 2, in records of up to 32 outputs, one behind the other:
//
//   kind of script * 32 + index % 32   1
//   amount      decimal zeros in four bits, three bits of the rest, then more, seven bits each
//   script      what differs among scripts of its kind; for kind 7 all of it behind its length

import { partByTxid, type Passes, type Share } from '../pass';
import { del, keyOf, put, recordIn, u16, variableInteger, Writer } from '../records';
import { placeBytes, placesOf, type Place } from './place';
import type { Store, StoreWrite } from '../../lib/store/store';

const GROUP_SIZE = 32;
const WHOLE_SCRIPT = 7;

/** P2PKH, P2SH, P2WPKH, P2WSH, P2TR, P2PK with an even key and with an odd one: what comes before, between and after. */
const KINDS = [
  /^(76a914)(.{40})88ac$/, /^(a914)(.{40})87$/, /^(0014)(.{40})$/, /^(0020)(.{64})$/, /^(5120)(.{64})$/, /^(2102)(.{64})ac$/, /^(2103)(.{64})ac$/
];
/** No kind is longer. */
const LONGEST_KIND = 35;

/** So many are looked up at once. */
const TRANSACTIONS_PER_LOOKUP = 500;

interface OldCoin {
  readonly key: Buffer;
  readonly index: number;
  readonly coin: Buffer;
}

/** A transaction and the coins that it has left. */
interface OldCoins {
  readonly txid: Buffer;
  readonly coins: OldCoin[];
}

export async function moveCoins(store: Store, passes: Passes, share: Share): Promise<void> {
  const writer = new Writer(store);
  let transactions: OldCoins[] = [];
  const move = async (): Promise<void> => {
    const places = await placesOf(store, transactions.map(({ txid }) => txid));
    for (const [i, { coins }] of transactions.entries()) await writer.add(coinWrites(places[i] as Place, coins)); // one for each
    transactions = [];
  };
  for await (const [key, value] of passes.over('c', share, partByTxid)) {
    const txid = key.subarray(1, 33);
    if (transactions.at(-1)?.txid.equals(txid) !== true) {
      if (transactions.length === TRANSACTIONS_PER_LOOKUP) await move();
      transactions.push({ txid, coins: [] });
    }
    const index = key.readUInt32BE(33);
    transactions.at(-1)?.coins.push({ key, index, coin: packedCoin(index, recordIn(key, value)) });
  }
  await move();
  await writer.flush();
}

/** Coins come in the order of their indexes. */
function coinWrites(place: Place, coins: readonly OldCoin[]): StoreWrite[] {
  const groups = new Map<number, Buffer[]>();
  for (const { index, coin } of coins) {
    const group = groupOf(index);
    groups.set(group, [...groups.get(group) ?? [], coin]);
  }
  return [
    ...[...groups].map(([group, packed]) => put(coinKey(place, group), Buffer.concat(packed))),
    ...coins.map(({ key }) => del(key))
  ];
}

export function groupOf(index: number): number {
  return Math.floor(index / GROUP_SIZE);
}

function coinKey(place: Place, group: number): Buffer {
  return keyOf('o', placeBytes(place), ...group === 0 ? [] : [u16(group)]);
}

/** A coin of layout 1 as layout 2 has it. */
export function packedCoin(index: number, old: Buffer): Buffer {
  const value = old.readUInt32BE(4) * 0x1_0000_0000 + old.readUInt32BE(8);
  const script = old.subarray(12);
  const hex = script.length <= LONGEST_KIND ? script.toString('hex') : '';
  const kind = KINDS.findIndex((pattern) => pattern.test(hex));
  const payload = kind < 0
    ? Buffer.concat([variableInteger(script.length), script])
    : Buffer.from(KINDS[kind]?.exec(hex)?.[2] ?? '', 'hex');
  return Buffer.concat([Buffer.from([(kind < 0 ? WHOLE_SCRIPT : kind) << 5 | index % GROUP_SIZE]), packedAmount(value), payload]);
}

function packedAmount(value: number): Buffer {
  let [rest, zeros] = [value, 0];
  for (; zeros < 15 && rest !== 0 && rest % 10 === 0; zeros++) rest /= 10;
  const first = rest % 8 << 4 | zeros;
  return rest < 8 ? Buffer.from([first]) : Buffer.concat([Buffer.from([first | 0x80]), variableInteger(Math.floor(rest / 8))]);
}
