// /rest/chaininfo.json (contract 4.4): the state of the chain, rendered once per change.

import { bitsOf } from '../../bitcoin/header';
import { ChainMovedError } from '../../node/errors';
import { chainInfoJson, type ChainInfo } from '../../views/chain-info';
import { chainMoving } from '../errors';
import { jsonReply, requireJson, type Reply } from '../format';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';
import type { Deployments, NodeProgress, NodeSource } from '../../node/types';
import type { Endpoint, EndpointContext } from '../endpoint';

/** What a block costs in a blk file beside its bytes: magic and length. */
const FRAMING_BYTES = 8;

/** All that the reply is made of and that changes. Of one tip: the index', where node and index may stand apart for a moment. */
interface ChainState {
  readonly tip: HeaderRecord;
  readonly progress: NodeProgress;
  /** Lowest height whose block the node still has, if it throws blocks away. */
  readonly pruneHeight: number | undefined;
  readonly sizeOnDisk: number;
}

export function chainInfoEndpoint({ node, reader }: EndpointContext): Endpoint {
  let rendered: { readonly state: ChainState; readonly reply: Reply } | undefined;
  let soft: { readonly tipHash: Buffer; readonly deployments: Deployments } | undefined;

  const render = (state: ChainState, deployments: Deployments): Reply => {
    const reply = jsonReply(chainInfoJson(describe(state, deployments, node)));
    rendered = { state, reply };
    return reply;
  };

  const askAndRender = async (state: ChainState): Promise<Reply> => {
    const { hash } = state.tip;
    const deployments = await node.deployments(hash).catch((error: unknown) => {
      throw error instanceof ChainMovedError ? chainMoving() : error;
    });
    soft = { tipHash: hash, deployments };
    return render(state, deployments);
  };

  return ({ path }) => {
    requireJson(path);
    const state = reader.read((snapshot) => chainState(snapshot, node));
    if (rendered !== undefined && isSame(state, rendered.state)) return rendered.reply;
    return soft?.tipHash.equals(state.tip.hash) === true ? render(state, soft.deployments) : askAndRender(state);
  };
}

function chainState(snapshot: IndexSnapshot, node: NodeSource): ChainState {
  const { tip } = snapshot;
  const pruneHeight = node.pruned ? node.pruneHeight() : undefined;
  return { tip, progress: node.progress(), pruneHeight, sizeOnDisk: sizeOnDisk(snapshot, pruneHeight ?? 0) };
}

/** Of the blocks from height `lowest` up. */
function sizeOnDisk(snapshot: IndexSnapshot, lowest: number): number {
  const { tip } = snapshot;
  const before = snapshot.headerAt(lowest - 1)?.chainBytes ?? 0;
  return tip.chainBytes - before + (tip.height - lowest + 1) * FRAMING_BYTES;
}

function isSame(a: ChainState, b: ChainState): boolean {
  return a.tip.hash.equals(b.tip.hash) && a.progress.synced === b.progress.synced && a.progress.verified === b.progress.verified
    && a.pruneHeight === b.pruneHeight && a.sizeOnDisk === b.sizeOnDisk;
}

function describe({ tip, progress, pruneHeight, sizeOnDisk }: ChainState, deployments: Deployments, node: NodeSource): ChainInfo {
  return {
    chain: node.network.chain,
    blocks: tip.height,
    // bcoin keeps no headers ahead of its blocks.
    headers: tip.height,
    bestHash: tip.hash,
    bits: bitsOf(tip.header),
    medianTime: tip.medianTime,
    verified: progress.verified,
    initialBlockDownload: !progress.synced,
    chainwork: tip.chainwork,
    sizeOnDisk,
    ...pruneHeight !== undefined && { prune: { height: pruneHeight, automatic: true } },
    deployments,
    warnings: ''
  };
}
