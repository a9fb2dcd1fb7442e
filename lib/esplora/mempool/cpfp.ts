// A transaction of the pool among those that pay for it, or for which it pays.

import { WEIGHT_PER_VBYTE } from '../../bitcoin/transaction';
import { toDisplayHex } from '../../bitcoin/hash';
import { described, listOf, named, object, type Schema } from '../../describe/schema';
import { COUNT, FEE_RATE, NUMBER, SATOSHIS, TXID, WEIGHT } from '../../describe/values';
import type { PoolNode } from '../../pool/order/graph';
import type { PlacedTransaction, Projection } from '../../pool/projection/projected-blocks';

/** The largest chunk whose transactions are listed, and the largest cluster that is shown. */
const MOST_RELATIVES = 500;

/** `CpfpInfo` in node-api.interface.ts; undefined for a transaction that the projection does not have. */
export function cpfpInfo(txid: Buffer, projection: Projection): object | undefined {
  const found = projection.find(txid);
  if (found === undefined) return undefined;
  const { node, chunk } = found;
  const { entry } = node;
  const place = chunk.nodes.indexOf(node);
  // Those that are mined together with it, before it and after it.
  return {
    ancestors: chunk.nodes.slice(Math.max(0, place - MOST_RELATIVES), place).map(relative),
    bestDescendant: null,
    descendants: chunk.nodes.slice(place + 1, place + 1 + MOST_RELATIVES).map(relative),
    effectiveFeePerVsize: chunk.fee / (chunk.weight / WEIGHT_PER_VBYTE),
    fee: entry.fee,
    adjustedVsize: entry.adjustedWeight / WEIGHT_PER_VBYTE,
    ...clusterOf(found, projection)
  };
}

const relative = ({ entry }: PoolNode): object => ({ txid: toDisplayHex(entry.txid), weight: entry.weight, fee: entry.fee });

/** The cluster in the order in which it is mined; undefined for a transaction without relatives, and for a very large cluster. */
function clusterOf({ chunk }: PlacedTransaction, projection: Projection): { readonly cluster?: object } {
  const members = chunk.cluster.nodes;
  if (members.length === 1 || members.length > MOST_RELATIVES) return {};
  const chunks = [...new Set(members.flatMap(({ entry }) => projection.find(entry.txid)?.chunk ?? []))];
  const inOrder = chunks.sort((a, b) => b.fee * a.weight - a.fee * b.weight || a.weightAtRate - b.weightAtRate);
  const places = new Map(inOrder.flatMap(({ nodes }) => nodes).map((node, place) => [node, place]));
  return {
    cluster: {
      txs: [...places.keys()].map(({ entry, parents }) => ({
        txid: toDisplayHex(entry.txid),
        fee: entry.fee,
        weight: entry.weight,
        parents: [...parents].flatMap((parent) => places.get(parent) ?? [])
      })),
      chunks: inOrder.map(({ nodes, fee, weight }) => ({
        txs: nodes.flatMap((node) => places.get(node) ?? []),
        feerate: fee / (weight / WEIGHT_PER_VBYTE)
      })),
      chunkIndex: inOrder.indexOf(chunk)
    }
  };
}

const RELATIVE = named('Ancestor', object({ txid: TXID, weight: WEIGHT, fee: SATOSHIS }));

/** What `cpfpInfo` makes, or `{"ancestors": []}`. */
export const CPFP_INFO: Schema = named(
  'CpfpInfo',
  object(
    { ancestors: described('Those with which it is mined, before it.', listOf(RELATIVE)) },
    {
      bestDescendant: described('Always null.', { type: 'null' }),
      descendants: described('And after it.', listOf(RELATIVE)),
      effectiveFeePerVsize: described('Of those with which a miner takes it.', FEE_RATE),
      fee: SATOSHIS,
      adjustedVsize: described('Virtual bytes, more if it has many signature operations.', NUMBER),
      cluster: described(
        'All that are connected with it, in the order in which a miner takes them; absent for a single transaction.',
        object({
          txs: listOf(object({ txid: TXID, fee: SATOSHIS, weight: WEIGHT, parents: described('Places in this list.', listOf(COUNT)) })),
          chunks: listOf(object({ txs: listOf(COUNT), feerate: FEE_RATE })),
          chunkIndex: described('The chunk of the transaction.', COUNT)
        })
      )
    }
  )
);
