// The JSON of the transaction pool: its summary and its contents (mempoolInfoToJSON and
// entryToJSON of Bitcoin Core 0.17).

import { JsonWriter } from './json-writer';
import { poolGraph, type PoolGraphEntry, type PoolPlace } from './pool-graph';

export interface PoolInfoView {
  readonly size: number;
  /** Sum of the entries' sizes. */
  readonly bytes: number;
  /** Memory in bytes. */
  readonly usage: number;
  readonly maxUsage: number;
  /** Satoshis per 1,000 virtual bytes. */
  readonly minFeeRate: number;
  readonly minRelayFeeRate: number;
}

/** Sizes are sigop-adjusted virtual bytes, fees satoshis, hashes in wire order. */
export interface PoolEntryView extends PoolGraphEntry {
  readonly wtxid: Buffer;
  readonly fee: number;
  /** Unix seconds of the entry into the pool. */
  readonly time: number;
  /** Chain height at the entry into the pool. */
  readonly height: number;
}

const ENTRY_BYTES_IN_JSON = 900;

const compareDisplayed = (a: Buffer, b: Buffer): number => Buffer.from(a).reverse().compare(Buffer.from(b).reverse());

/** `{size, bytes, usage, maxmempool, mempoolminfee, minrelaytxfee}` and a line feed. */
export function mempoolInfoJson(info: PoolInfoView): Buffer {
  const writer = new JsonWriter();
  writer.ascii(`{"size":${info.size},"bytes":${info.bytes},"usage":${info.usage},"maxmempool":${info.maxUsage},"mempoolminfee":`);
  // What is not relayed does not enter the pool either.
  writer.amount(Math.max(info.minFeeRate, info.minRelayFeeRate));
  writer.ascii(',"minrelaytxfee":');
  writer.amount(info.minRelayFeeRate);
  writer.ascii('}\n');
  return writer.toBuffer();
}

function writeHashes(writer: JsonWriter, hashes: readonly Buffer[]): void {
  writer.char(0x5b);
  hashes.forEach((hash, i) => {
    if (i > 0)
      writer.char(0x2c);
    writer.hashString(hash);
  });
  writer.char(0x5d);
}

function writeFees(writer: JsonWriter, entry: PoolEntryView, { ancestors, descendants }: PoolPlace): void {
  writer.ascii('{"fees":{"base":');
  writer.amount(entry.fee);
  writer.ascii(',"modified":');
  writer.amount(entry.modifiedFee);
  writer.ascii(',"ancestor":');
  writer.amount(ancestors.fees);
  writer.ascii(',"descendant":');
  writer.amount(descendants.fees);
  writer.char(0x7d);
}

/** `descendantfees` and `ancestorfees` are satoshis, unlike all other fees. */
function writeTotals(writer: JsonWriter, { ancestors, descendants }: PoolPlace): void {
  writer.ascii(',"descendantcount":');
  writer.integer(descendants.count);
  writer.ascii(',"descendantsize":');
  writer.integer(descendants.size);
  writer.ascii(',"descendantfees":');
  writer.integer(descendants.fees);
  writer.ascii(',"ancestorcount":');
  writer.integer(ancestors.count);
  writer.ascii(',"ancestorsize":');
  writer.integer(ancestors.size);
  writer.ascii(',"ancestorfees":');
  writer.integer(ancestors.fees);
}

function writeEntry(writer: JsonWriter, entry: PoolEntryView, place: PoolPlace, txidAt: (position: number) => Buffer): void {
  writeFees(writer, entry, place);
  writer.ascii(',"size":');
  writer.integer(entry.size);
  writer.ascii(',"fee":');
  writer.amount(entry.fee);
  writer.ascii(',"modifiedfee":');
  writer.amount(entry.modifiedFee);
  writer.ascii(',"time":');
  writer.integer(entry.time);
  writer.ascii(',"height":');
  writer.integer(entry.height);
  writeTotals(writer, place);
  writer.ascii(',"wtxid":');
  writer.hashString(entry.wtxid);
  // The reference keeps parents in a set of texts, children in one of hashes.
  writer.ascii(',"depends":');
  writeHashes(writer, place.parents.map(txidAt).sort(compareDisplayed));
  writer.ascii(',"spentby":');
  writeHashes(writer, place.children.map(txidAt).sort((a, b) => a.compare(b)));
  writer.char(0x7d);
}

/** The pool's transactions by txid, in the order given, and a line feed; yields often. */
export function* mempoolContentsJson(entries: readonly PoolEntryView[]): Generator<void, Buffer> {
  const places = yield* poolGraph(entries);
  const writer = new JsonWriter(entries.length * ENTRY_BYTES_IN_JSON + 3);
  const txidAt = (position: number): Buffer => (entries[position] as PoolEntryView).txid; // positions are those of the entries
  writer.char(0x7b);
  for (const [position, entry] of entries.entries()) {
    if (position > 0)
      writer.char(0x2c);
    writer.hashString(entry.txid);
    writer.char(0x3a);
    writeEntry(writer, entry, places[position] as PoolPlace, txidAt);
    yield;
  }
  writer.ascii('}\n');
  return writer.toBuffer();
}
