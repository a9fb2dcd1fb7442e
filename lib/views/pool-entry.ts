// The JSON of a transaction in the pool, after its txid (entryToJSON of Bitcoin Core): as in 0.17, and as since 31.

import { compareDisplayed } from '../bitcoin/hash';
import { WEIGHT_PER_VBYTE } from '../bitcoin/transaction';
import { ARRAY_END, ARRAY_START, COMMA, OBJECT_END, type JsonWriter } from './json-writer';
import { described, listOf, named, object, type Schema } from '../describe/schema';
import { COINS, COUNT, FLAG, HASH, HEIGHT, SATOSHIS, TIME, TXID, VBYTES, WEIGHT } from '../describe/values';
import type { PoolNode } from '../pool/order/graph';
import type { PoolChunk } from '../pool/order/order';
import type { ProfileFields } from './profile';

/** As in 0.17. `descendantfees` and `ancestorfees` are satoshis, unlike all other fees. */
export function writeEntry(writer: JsonWriter, node: PoolNode): void {
  const { entry, modifiedFee, ancestors, descendants } = node;
  writer.amountField('{"fees":{"base":', entry.fee);
  writer.amountField(',"modified":', modifiedFee);
  writer.amountField(',"ancestor":', ancestors.fees);
  writer.amountField(',"descendant":', descendants.fees);
  writer.integerField('},"size":', entry.size);
  writer.amountField(',"fee":', entry.fee);
  writer.amountField(',"modifiedfee":', modifiedFee);
  writeWhenAndKin(writer, node, true);
  writeRelatives(writer, node);
  writer.char(OBJECT_END);
}

/** As since 31. `bip125`: with `bip125-replaceable`. */
export function writeChunkEntry(writer: JsonWriter, node: PoolNode, chunk: PoolChunk, bip125: boolean): void {
  const { entry, modifiedFee, ancestors, descendants } = node;
  writer.integerField('{"vsize_adjusted":', entry.size);
  writer.integerField(',"vsize":', entry.size);
  writer.integerField(',"vsize_bip141":', Math.ceil(entry.weight / WEIGHT_PER_VBYTE));
  writer.integerField(',"weight":', entry.weight);
  writeWhenAndKin(writer, node, false);
  writer.integerField(',"chunkweight":', chunk.weight);
  writer.amountField(',"fees":{"base":', entry.fee);
  writer.amountField(',"modified":', modifiedFee);
  writer.amountField(',"ancestor":', ancestors.fees);
  writer.amountField(',"descendant":', descendants.fees);
  writer.amountField(',"chunk":', chunk.fee);
  writer.char(OBJECT_END);
  writeRelatives(writer, node);
  writer.ascii(`,"unbroadcast":${entry.isUnbroadcast}`);
  if (bip125) writer.ascii(`,"bip125-replaceable":${isReplaceable(node)}`);
  writer.char(OBJECT_END);
}

/** When it came, how many relatives it has, and their sizes. `hasFees`: with their fees in satoshis. */
function writeWhenAndKin(writer: JsonWriter, { entry, ancestors, descendants }: PoolNode, hasFees: boolean): void {
  writer.integerField(',"time":', entry.time);
  writer.integerField(',"height":', entry.height);
  writer.integerField(',"descendantcount":', descendants.count);
  writer.integerField(',"descendantsize":', descendants.size);
  if (hasFees) writer.integerField(',"descendantfees":', descendants.fees);
  writer.integerField(',"ancestorcount":', ancestors.count);
  writer.integerField(',"ancestorsize":', ancestors.size);
  if (hasFees) writer.integerField(',"ancestorfees":', ancestors.fees);
  writer.hashField(',"wtxid":', entry.wtxid);
}

/** Bitcoin Core keeps parents in a set of texts, and children in a set of hashes: their orders differ. */
function writeRelatives(writer: JsonWriter, { parents, children }: PoolNode): void {
  writer.ascii(',"depends":');
  writeHashes(writer, txidsOf(parents).sort(compareDisplayed));
  writer.ascii(',"spentby":');
  writeHashes(
    writer,
    txidsOf(children).sort((a, b) => a.compare(b))
  );
}

/** Most transactions have no relatives. */
const txidsOf = (nodes: ReadonlySet<PoolNode>): Buffer[] => (nodes.size === 0 ? [] : Array.from(nodes, ({ entry }) => entry.txid));

/** Txids as displayed, in an array. */
function writeHashes(writer: JsonWriter, hashes: readonly Buffer[]): void {
  writer.char(ARRAY_START);
  hashes.forEach((hash, i) => {
    if (i > 0) writer.char(COMMA);
    writer.hashString(hash);
  });
  writer.char(ARRAY_END);
}

/** Whether the transaction, or an ancestor in the pool, signals that it may be replaced (BIP125). */
function isReplaceable(node: PoolNode): boolean {
  const found = new Set([node]);
  for (const one of found) {
    if (one.entry.signalsReplacement) return true;
    for (const parent of one.parents) found.add(parent);
  }
  return false;
}

/** What `writeEntry` or `writeChunkEntry` writes. */
export function entrySchema({ chunks, bip125 }: Pick<ProfileFields, 'chunks' | 'bip125'>): Schema {
  const fees = object({
    base: COINS,
    modified: described('BTC, with what the operator has added.', COINS),
    ancestor: described('BTC, with all ancestors in the pool.', COINS),
    descendant: described('BTC, with all descendants in the pool.', COINS),
    ...(chunks && { chunk: described('BTC, of the chunk with which a miner would take it.', COINS) })
  });
  return named(
    'MempoolEntry',
    object({
      ...(chunks
        ? {
            vsize_adjusted: described('Virtual bytes that count in the pool.', VBYTES),
            vsize: described('As vsize_adjusted.', VBYTES),
            vsize_bip141: VBYTES,
            weight: WEIGHT,
            chunkweight: described('The weight of the chunk with which a miner would take it.', WEIGHT)
          }
        : {
            size: VBYTES,
            fee: COINS,
            modifiedfee: COINS,
            descendantfees: SATOSHIS,
            ancestorfees: SATOSHIS
          }),
      fees: named('MempoolFees', fees),
      time: described('When it entered, Unix time in seconds.', TIME),
      height: described('The height of the chain when it entered.', HEIGHT),
      descendantcount: COUNT,
      descendantsize: VBYTES,
      ancestorcount: COUNT,
      ancestorsize: VBYTES,
      wtxid: described('The hash with the witness.', HASH),
      depends: described('Parents in the pool.', listOf(TXID)),
      spentby: described('Children in the pool.', listOf(TXID)),
      ...(chunks && { unbroadcast: described('Whether no peer has asked for it yet.', FLAG) }),
      ...(bip125 && { 'bip125-replaceable': FLAG })
    })
  );
}
