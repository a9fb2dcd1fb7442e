// From locations to places: 'x' by way of 'y' to 't' and 'l'. A block is moved as a whole.

import { partByTxid, type Passes, type Share } from '../pass';
import { del, keyOf, lettered, put, recordIn, u32, unreadable, variableInteger, Writer } from '../records';
import { placeBytes } from './place';
import type { Store } from '../../lib/store/store';

const HEADER_LENGTH = 80;
/** Transactions of the block in a header's record. */
const TRANSACTION_COUNT_AT = 148;
/** Bytes of all blocks up to and with this one, the lower half. */
const CHAIN_BYTES_AT = 164;

interface Located {
  readonly key: Buffer;
  readonly offset: number;
  readonly length: number;
  readonly txid: Buffer;
}

/** Puts every location that is still there once more, in the order of the chain. */
export async function orderLocations(store: Store, passes: Passes, share: Share): Promise<void> {
  const writer = new Writer(store);
  for await (const [key, value] of passes.over('x', share, partByTxid)) {
    const record = recordIn(key, value);
    await writer.add([put(keyOf('y', record.subarray(0, 8)), Buffer.concat([record.subarray(8), key.subarray(1)]))]);
  }
  await writer.flush();
}

/** Gives every transaction its place, block by block, and takes its location away. */
export async function placeTransactions(store: Store, passes: Passes, share: Share): Promise<void> {
  const writer = new Writer(store);
  let block: Located[] = [];
  let height = -1;
  for await (const [key, value] of passes.over('y', share, await passes.partByHeight('y'))) {
    const record = recordIn(key, value);
    if (key.readUInt32BE(1) !== height) {
      await placeBlock(store, writer, height, block);
      block = [];
    }
    height = key.readUInt32BE(1);
    block.push({ key, offset: key.readUInt32BE(5), length: record.readUInt32BE(), txid: record.subarray(4) });
  }
  await placeBlock(store, writer, height, block);
  await writer.flush();
}

/**
 * A block of nothing but a coinbase whose txid a later one took over (BIP30) has no location
 * left; its transaction is as long as the block behind header and count.
 */
export async function addMissingLengths(store: Store): Promise<void> {
  const writer = new Writer(store);
  let before = 0;
  for await (const [key, value] of store.range(lettered('h'))) {
    const header = recordIn(key, value);
    const chainBytes = header.readUInt32BE(CHAIN_BYTES_AT);
    const lengthsKey = keyOf('l', key.subarray(1));
    if (store.get(lengthsKey) === undefined) {
      if (header.readUInt32BE(TRANSACTION_COUNT_AT) !== 1) throw unreadable(`no transaction at height ${key.readUInt32BE(1)} has a location`);
      await writer.add([put(lengthsKey, variableInteger((chainBytes - before >>> 0) - HEADER_LENGTH - 1))]);
    }
    before = chainBytes;
  }
  await writer.flush();
}

async function placeBlock(store: Store, writer: Writer, height: number, located: readonly Located[]): Promise<void> {
  const [first] = located;
  if (first === undefined) return;
  const count = transactionCount(store, height);
  const start = HEADER_LENGTH + (count < 0xfd ? 1 : count < 0x1_0000 ? 3 : 5);
  // A later coinbase of the same txid (BIP30) took the location of this block's.
  const missing = first.offset === start ? 0 : 1;
  if (located.length + missing !== count)
    throw unreadable(`${located.length} of the ${count} transactions at height ${height} have a location`);
  const lengths = [...missing === 0 ? [] : [first.offset - start], ...located.map(({ length }) => length)];
  await writer.add([
    put(keyOf('l', u32(height)), Buffer.concat(lengths.map(variableInteger))),
    ...located.flatMap(({ key, txid }, i) => [put(keyOf('t', txid), placeBytes({ height, position: i + missing })), del(keyOf('x', txid)), del(key)])
  ]);
}

function transactionCount(store: Store, height: number): number {
  const key = keyOf('h', u32(height));
  const value = store.get(key);
  if (value === undefined) throw unreadable(`there is no header at height ${height}`);
  return recordIn(key, value).readUInt32BE(TRANSACTION_COUNT_AT);
}
