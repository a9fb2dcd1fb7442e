// The JSON of the transaction pool: its summary and its contents (mempoolInfoToJSON and
// entryToJSON of Bitcoin Core 0.17).

import { JsonWriter } from './json-writer';
import { PoolGraph, type PoolNode } from './pool-graph';
import type { PoolEntry, PoolInfo } from '../node/types';

const ENTRY_BYTES_IN_JSON = 900;

const compareDisplayed = (a: Buffer, b: Buffer): number => Buffer.from(a).reverse().compare(Buffer.from(b).reverse());

/** `{size, bytes, usage, maxmempool, mempoolminfee, minrelaytxfee}` and a line feed. */
export function mempoolInfoJson(info: PoolInfo): Buffer {
  const writer = new JsonWriter();
  writer.ascii(`{"size":${info.size},"bytes":${info.bytes},"usage":${info.usage},"maxmempool":${info.maxUsage},"mempoolminfee":`);
  // What is not relayed does not enter the pool either.
  writer.amount(Math.max(info.minFeeRate, info.minRelayFeeRate));
  writer.amountField(',"minrelaytxfee":', info.minRelayFeeRate);
  writer.ascii('}\n');
  return writer.toBuffer();
}

function writeHashes(writer: JsonWriter, hashes: readonly Buffer[]): void {
  writer.char(0x5b);
  hashes.forEach((hash, i) => {
    if (i > 0) writer.char(0x2c);
    writer.hashString(hash);
  });
  writer.char(0x5d);
}

/** `descendantfees` and `ancestorfees` are satoshis, unlike all other fees. */
function writeEntry(writer: JsonWriter, { entry, modifiedFee, parents, children, ancestors, descendants }: PoolNode): void {
  writer.hashString(entry.txid);
  writer.amountField(':{"fees":{"base":', entry.fee);
  writer.amountField(',"modified":', modifiedFee);
  writer.amountField(',"ancestor":', ancestors.fees);
  writer.amountField(',"descendant":', descendants.fees);
  writer.integerField('},"size":', entry.size);
  writer.amountField(',"fee":', entry.fee);
  writer.amountField(',"modifiedfee":', modifiedFee);
  writer.integerField(',"time":', entry.time);
  writer.integerField(',"height":', entry.height);
  writer.integerField(',"descendantcount":', descendants.count);
  writer.integerField(',"descendantsize":', descendants.size);
  writer.integerField(',"descendantfees":', descendants.fees);
  writer.integerField(',"ancestorcount":', ancestors.count);
  writer.integerField(',"ancestorsize":', ancestors.size);
  writer.integerField(',"ancestorfees":', ancestors.fees);
  writer.hashField(',"wtxid":', entry.wtxid);
  // The reference keeps parents in a set of texts, children in one of hashes.
  writer.ascii(',"depends":');
  writeHashes(writer, txidsOf(parents).sort(compareDisplayed));
  writer.ascii(',"spentby":');
  writeHashes(
    writer,
    txidsOf(children).sort((a, b) => a.compare(b))
  );
  writer.char(0x7d);
}

/** Most have none. */
const txidsOf = (nodes: ReadonlySet<PoolNode>): Buffer[] => (nodes.size === 0 ? [] : Array.from(nodes, ({ entry }) => entry.txid));

/** The pool's contents as they were last written: only entries that have changed since are written again. */
export class PoolContents {
  readonly #graph = new PoolGraph();
  readonly #texts = new Map<PoolEntry, Buffer>();
  readonly #writer = new JsonWriter(ENTRY_BYTES_IN_JSON);
  #textBytes = 0;

  /**
   * The transactions by txid, in the order given, and a line feed. Yields often; must be run to
   * its end before the next one. An entry is known by its object.
   */
  *json(entries: readonly PoolEntry[]): Generator<void, Buffer> {
    const { touched, removed } = yield* this.#graph.update(entries);
    for (const { entry } of removed) this.#drop(entry);
    for (const node of touched) {
      this.#write(node);
      yield;
    }
    const writer = new JsonWriter(this.#textBytes + entries.length + 3);
    writer.char(0x7b);
    for (const [position, entry] of entries.entries()) {
      if (position > 0) writer.char(0x2c);
      const text = this.#texts.get(entry) as Buffer; // the graph has touched it when it came
      writer.bytes(text, 0, text.length);
      yield;
    }
    writer.ascii('}\n');
    return writer.toBuffer();
  }

  #write(node: PoolNode): void {
    this.#drop(node.entry);
    const writer = this.#writer;
    writer.unwrite(writer.length);
    writeEntry(writer, node);
    const text = Buffer.from(writer.toBuffer());
    this.#texts.set(node.entry, text);
    this.#textBytes += text.length;
  }

  #drop(entry: PoolEntry): void {
    this.#textBytes -= this.#texts.get(entry)?.length ?? 0;
    this.#texts.delete(entry);
  }
}
