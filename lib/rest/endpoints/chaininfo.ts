// /rest/chaininfo.json (contract 4.4): the state of the chain.

import { bitsOf } from '../../bitcoin/header';
import { chainInfoJson, softForksJson, type ChainInfo } from '../../views/chain-info';
import { jsonReply, requireJson } from '../format';
import type { IndexSnapshot } from '../../index/types';
import type { NodeSource } from '../../node/types';
import type { Endpoint, EndpointContext } from '../endpoint';

/** What a block costs in a blk file beside its bytes: magic and length. */
const FRAMING_BYTES = 8;

export function chainInfoEndpoint({ node, reader }: EndpointContext): Endpoint {
  let softForks: { readonly tipHash: Buffer; readonly json: Buffer } | undefined;
  return async ({ path }) => {
    requireJson(path);
    // Everything is of one tip: the index', where node and index may stand apart for a moment.
    const info = reader.read((snapshot) => describe(snapshot, node));
    const tipHash = info.bestHash;
    if (softForks?.tipHash.equals(tipHash) !== true) softForks = { tipHash, json: softForksJson(await node.deployments(tipHash)) };
    return jsonReply(chainInfoJson(info, softForks.json));
  };
}

function describe(snapshot: IndexSnapshot, node: NodeSource): ChainInfo {
  const { tip } = snapshot;
  const { verified, synced } = node.progress();
  const pruneHeight = node.pruned ? node.pruneHeight() : undefined;
  return {
    chain: node.network.chain,
    blocks: tip.height,
    // bcoin keeps no headers ahead of its blocks.
    headers: tip.height,
    bestHash: tip.hash,
    bits: bitsOf(tip.header),
    medianTime: tip.medianTime,
    verified,
    initialBlockDownload: !synced,
    chainwork: tip.chainwork,
    sizeOnDisk: sizeOnDisk(snapshot, pruneHeight ?? 0),
    ...(pruneHeight !== undefined && { prune: { height: pruneHeight, automatic: true } }),
    warnings: ''
  };
}

/** Of the blocks from height `lowest` up. */
function sizeOnDisk(snapshot: IndexSnapshot, lowest: number): number {
  const { tip } = snapshot;
  const before = snapshot.headerAt(lowest - 1)?.chainBytes ?? 0;
  return tip.chainBytes - before + (tip.height - lowest + 1) * FRAMING_BYTES;
}
