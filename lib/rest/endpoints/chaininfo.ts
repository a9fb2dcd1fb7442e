// /rest/chaininfo.json (contract 4.4): the state of the chain, rendered once per change.

import { bitsOf } from '../../bitcoin/header';
import { chainInfoJson, type ChainInfo } from '../../views/chain-info';
import { jsonReply, requireJson, type Reply } from '../format';
import type { HeaderRecord, IndexSnapshot } from '../../index/types';
import type { Deployments, NodeProgress, NodeSource } from '../../node/types';
import type { Endpoint, EndpointContext } from '../endpoint';

/** What a block costs in a blk file beside its bytes: magic and length. */
const FRAMING_BYTES = 8;

/** All that the reply is made of and that changes. */
interface ChainState {
  readonly tip: HeaderRecord;
  readonly progress: NodeProgress;
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
    const deployments = await node.deployments();
    // The chain may have moved on meanwhile: this reply is sent, but not kept.
    if (!node.tip().hash.equals(state.tip.hash)) return jsonReply(chainInfoJson(describe(state, deployments, node)));
    soft = { tipHash: state.tip.hash, deployments };
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
  return { tip, progress: node.progress(), sizeOnDisk: sizeOnDisk(snapshot, node.pruned ? node.pruneHeight() : 0) };
}

/** Of the blocks from height `lowest` up. */
function sizeOnDisk(snapshot: IndexSnapshot, lowest: number): number {
  const { tip } = snapshot;
  const before = snapshot.headerAt(lowest - 1)?.chainBytes ?? 0;
  return tip.chainBytes - before + (tip.height - lowest + 1) * FRAMING_BYTES;
}

function isSame(a: ChainState, b: ChainState): boolean {
  return a.tip.hash.equals(b.tip.hash) && a.progress.synced === b.progress.synced && a.progress.verified === b.progress.verified
    && a.progress.height === b.progress.height && a.sizeOnDisk === b.sizeOnDisk;
}

function describe({ tip, progress, sizeOnDisk }: ChainState, deployments: Deployments, node: NodeSource): ChainInfo {
  return {
    chain: node.network.chain,
    blocks: tip.height,
    headers: progress.height,
    bestHash: tip.hash,
    bits: bitsOf(tip.header),
    medianTime: tip.medianTime,
    verified: progress.verified,
    initialBlockDownload: !progress.synced,
    chainwork: tip.chainwork,
    sizeOnDisk,
    ...node.pruned && { prune: { height: node.pruneHeight(), automatic: true } },
    deployments,
    warnings: ''
  };
}
