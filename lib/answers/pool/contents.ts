// The JSON of the pool's contents (MempoolToJSON of Bitcoin Core, as in 0.17 and as since 31).

import { anyOf, described, listOf, mapOf, named, object, type Schema } from '../../describe/schema';
import { COUNT, TXID } from '../../describe/values';
import { PoolGraph, type PoolNode } from '../../pool/order/graph';
import { PoolOrder } from '../../pool/order/order';
import { COLON, COMMA, OBJECT_START, JsonWriter } from '../../views/json-writer';
import { entrySchema, writeChunkEntry, writeEntry } from '../../views/pool-entry';
import type { PoolEntry } from '../../node/types/pool';
import type { ProfileFields } from '../../views/profile';

const ENTRY_BYTES_IN_JSON = 900;
/** A txid in quotes, and a comma or colon. */
const TXID_BYTES_IN_JSON = 67;

/** The pool's contents as they were last written: only entries that have changed since are written again. */
export class PoolContents {
  readonly #fields: Pick<ProfileFields, 'chunks' | 'bip125'>;
  readonly #graph = new PoolGraph();
  /** undefined: entries are shown in the order in which they entered. */
  readonly #order: PoolOrder | undefined;
  readonly #texts = new Map<PoolEntry, Buffer>();
  readonly #writer = new JsonWriter(ENTRY_BYTES_IN_JSON);
  #textBytes = 0;

  constructor(fields: Pick<ProfileFields, 'chunks' | 'bip125'>) {
    this.#fields = fields;
    this.#order = fields.chunks ? new PoolOrder() : undefined;
  }

  /** Of the texts of all entries. */
  get byteLength(): number {
    return this.#textBytes;
  }

  /** Whether the pool was last in the best possible order. */
  get isBestOrder(): boolean {
    return this.#order?.isBest ?? true;
  }

  /**
   * The transactions by txid, and a line feed. Yields often; must be run to its end before any other method is called. An entry is
   * identified by its object.
   */
  *json(entries: readonly PoolEntry[]): Generator<void, Buffer> {
    yield* this.update(entries);
    const writer = new JsonWriter(this.#textBytes + entries.length + 3);
    writer.char(OBJECT_START);
    let isFirst = true;
    for (const entry of this.#ordered(entries)) {
      if (!isFirst) writer.char(COMMA);
      const text = this.#texts.get(entry) as Buffer; // written when the graph reported it
      writer.bytes(text, 0, text.length);
      isFirst = false;
      yield;
    }
    writer.ascii('}\n');
    return writer.toBuffer();
  }

  /** The txids alone, and a line feed; with `sequence`, an object that also has it. Yields and must be run to its end like `json`. */
  *txids(entries: readonly PoolEntry[], sequence?: number): Generator<void, Buffer> {
    yield* this.update(entries);
    const writer = new JsonWriter(entries.length * TXID_BYTES_IN_JSON + 64);
    writer.ascii(sequence === undefined ? '[' : '{"txids":[');
    let isFirst = true;
    for (const { txid } of this.#ordered(entries)) {
      if (!isFirst) writer.char(COMMA);
      writer.hashString(txid);
      isFirst = false;
      yield;
    }
    writer.ascii(sequence === undefined ? ']\n' : `],"mempool_sequence":${sequence}}\n`);
    return writer.toBuffer();
  }

  /** The JSON of an entry, without its txid. @throws RangeError for an entry that the last update did not see. */
  entryText(entry: PoolEntry): Buffer {
    const text = this.#texts.get(entry);
    if (text === undefined) throw new RangeError('expected a transaction of the pool');
    return text.subarray(TXID_BYTES_IN_JSON);
  }

  /** The ancestors or the descendants of an entry, sorted by txid. @throws RangeError as `entryText` */
  relativesOf(entry: PoolEntry, direction: 'parents' | 'children'): PoolEntry[] {
    return this.#graph.relativesOf(entry, direction).sort((a, b) => a.txid.compare(b.txid));
  }

  /** Updates the contents to the present entries of the pool. Yields and must be run to its end like `json`. */
  *update(entries: readonly PoolEntry[]): Generator<void, void> {
    const change = yield* this.#graph.update(entries);
    const moved = this.#order === undefined ? [] : yield* this.#order.update(change);
    for (const { entry } of change.removed) this.#drop(entry);
    for (const node of new Set([...change.touched, ...moved])) {
      this.#write(node);
      yield;
    }
  }

  *#ordered(entries: readonly PoolEntry[]): Generator<PoolEntry, void> {
    if (this.#order === undefined) yield* entries;
    else for (const { nodes } of this.#order.chunks) for (const { entry } of nodes) yield entry;
  }

  #write(node: PoolNode): void {
    this.#drop(node.entry);
    const writer = this.#writer;
    writer.unwrite(writer.length);
    writer.hashString(node.entry.txid);
    writer.char(COLON);
    if (this.#order === undefined) writeEntry(writer, node);
    else writeChunkEntry(writer, node, this.#order.chunkOf(node), this.#fields.bip125);
    const text = Buffer.from(writer.toBuffer());
    this.#texts.set(node.entry, text);
    this.#textBytes += text.length;
  }

  #drop(entry: PoolEntry): void {
    this.#textBytes -= this.#texts.get(entry)?.length ?? 0;
    this.#texts.delete(entry);
  }
}

/** What `PoolContents.json` writes. */
export const entriesSchema = (fields: Pick<ProfileFields, 'chunks' | 'bip125'>): Schema =>
  named('MempoolContents', described('The transactions by txid.', mapOf(TXID, entrySchema(fields))));

/** What `PoolContents` writes: the transactions, or their txids, alone or with the sequence. */
export function poolContentsSchema(fields: Pick<ProfileFields, 'chunks' | 'bip125'>): Schema {
  const withSequence = object({ txids: listOf(TXID), mempool_sequence: described('Rises with each change of the pool.', COUNT) });
  return anyOf(entriesSchema(fields), listOf(TXID), named('MempoolTxids', withSequence));
}
