// What mempool's front end is given when it starts, and again whenever it changes, each part as JSON. Prices are not known here: they are
// those of a backend of mempool's that has no price feeds.

import { difficultyAdjustment } from '../../answers/chain/difficulty';
import { preciseFees } from '../../answers/pool/recommended-fees';
import { toDisplayHex } from '../../bitcoin/hash';
import { WEIGHT_PER_VBYTE } from '../../bitcoin/transaction';
import { mempoolInfoJson } from '../../views/pool-info';
import { projectedBlock } from './projected-block';
import type { IndexSnapshot } from '../../index/types';
import type { RecentTransaction } from '../../pool/by-script/script-pool';
import type { EsploraContext } from '../endpoint';
import type { Field } from '../messages';

export type StateContext = Pick<EsploraContext, 'node' | 'pool' | 'projections' | 'inflow' | 'version'>;

/** Transactions of the pool that are shown: the last ones. */
const MOST_LATEST = 6;

/** `ApiPrice` in PricesRepository.ts, as much of it as every reader asks for. */
export const NO_PRICES = { time: 0, USD: -1, EUR: -1, GBP: -1, CAD: -1, CHF: -1, AUD: -1, JPY: -1 };

/** `IBackendInfo` in websocket.interface.ts. The host is not named. The front end loads itself again when `gitCommit` changes. */
export function backendInfo({ node, version }: Pick<EsploraContext, 'node' | 'version'>): object {
  const { agent } = node.networkStatus();
  return { version, gitCommit: version, lightning: false, backend: 'esplora', coreVersion: agent };
}

/** Of the pool: they change together. */
export async function poolFields({ node, pool, projections, inflow }: StateContext): Promise<Field[]> {
  const { blocks } = await projections.get();
  const info = node.pool.info();
  const latest = pool
    .recent()
    .slice(0, MOST_LATEST)
    .map((recent) => latestTransaction(recent, node.pool.entry(recent.txid)?.time));
  return [
    ['mempoolInfo', mempoolInfoJson(info, { chunks: true, fullRbf: false }, true).toString().trimEnd()],
    ['vBytesPerSecond', String(inflow.perSecond)],
    ['fees', JSON.stringify(preciseFees(blocks, info))],
    ['transactions', JSON.stringify(latest)]
  ];
}

/** `stripTransaction` in common.ts of a transaction that has just entered. `time`: when it did, as long as it is in the pool. */
function latestTransaction({ txid, fee, weight, outputValue }: RecentTransaction, time: number | undefined): object {
  const vsize = weight / WEIGHT_PER_VBYTE;
  return { txid: toDisplayHex(txid), fee, vsize, value: outputValue, rate: fee / vsize, time };
}

/** Of the next blocks. */
export async function projectedFields({ projections }: Pick<StateContext, 'projections'>): Promise<Field[]> {
  return [['mempool-blocks', JSON.stringify((await projections.get()).blocks.map(projectedBlock))]];
}

/** Of the chain and of the time. */
export function difficultyFields({ node }: Pick<StateContext, 'node'>, index: Pick<IndexSnapshot, 'tip' | 'headerAt'>): Field[] {
  return [['da', JSON.stringify(difficultyAdjustment(index, node.network.chain, Math.floor(Date.now() / 1_000)))]];
}

/** What the front end starts with, without the blocks. */
export async function initialFields(context: StateContext, index: IndexSnapshot): Promise<Field[]> {
  return [
    ['backend', '"esplora"'],
    ...(await poolFields(context)),
    ...(await projectedFields(context)),
    ...difficultyFields(context, index),
    ['conversions', JSON.stringify(NO_PRICES)],
    ['backendInfo', JSON.stringify(backendInfo(context))],
    ['loadingIndicators', '{"mempool":100}']
  ];
}
