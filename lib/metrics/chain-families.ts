// Where node and indexes are, how long blocks take, how far long work is, the pool, and sizes on disk.

import { folderBytes } from './folder-size';
import { gauge, histogram, labelled, type AnyFamily, type Labels } from './family';
import type { Durations } from '../server/figures/durations';
import type { AddressesState } from '../addresses/state';
import type { IndexState } from '../index/types';
import type { ScriptsState } from '../scripts/types';
import type { BlockTimes } from './block-times';
import type { Observed } from './observed';

export function chainFamilies(observed: Observed, blockTimes: BlockTimes): AnyFamily[] {
  const { version, serving, answers, index, wallets, folders } = observed;
  const { node, gate } = serving;
  const { profile } = answers;
  return [
    gauge('info', 'The service.', () => [[1, { version, network: node.network.chain, core: profile.rpc ? 'modern' : '0.17' }]]),
    gauge('ready', 'Whether clients are answered: all, and those that ask by address.', () =>
      labelled('of', { index: Number(gate.isReady), scripts: wallets && Number(wallets.answers.scriptsGate.isReady) })
    ),
    gauge('node_synced', 'Whether the node considers itself up to date with its peers.', () => [[Number(node.synced)]]),
    gauge('height', 'Height of the latest block.', () => labelled('of', heightsOf(observed))),
    gauge('lag_blocks', "Blocks from the index to the node's tip.", () => {
      const { node: tip, ...heights } = heightsOf(observed);
      return labelled('of', { index: lag(tip, heights.index), scripts: lag(tip, heights.scripts) });
    }),
    histogram(
      'block_duration_seconds',
      'From the moment in which the node connects a block until an index has it.',
      function* (): Generator<readonly [Durations, Labels]> {
        yield [blockTimes.index, { of: 'index' }];
        if (wallets !== undefined) yield [blockTimes.scripts, { of: 'scripts' }];
      }
    ),
    histogram(
      'reorganization_depth_blocks',
      'Reorganizations that the live index has followed, by the number of blocks that were undone.',
      () => [[blockTimes.reorganizations, {}]]
    ),
    gauge('undo_left_blocks', 'Blocks that the index can undo without the node.', () => labelled('of', { index: index.figures.undoable })),
    gauge('refused_blocks', "Blocks of the node's chain that other nodes refuse.", () => [[answers.warnings().length]]),
    gauge('job_progress_ratio', 'How far long work is; 1: it is done. Some is shown only while it is under way.', () =>
      labelled('job', jobsOf(observed))
    ),
    gauge('disk_bytes', 'Bytes of the files of each store, counted once a minute.', async () =>
      labelled(
        'of',
        Object.fromEntries(await Promise.all(Object.entries(folders).map(async ([name, path]) => [name, await folderBytes(path)] as const)))
      )
    ),
    gauge('pool_transactions', 'Transactions in the pool.', () => [[node.pool.info().size]]),
    gauge('pool_bytes', 'Virtual bytes of the transactions in the pool.', () => [[node.pool.info().bytes]]),
    gauge('pool_usage_bytes', 'Memory of the pool, as the node counts it.', () => [[node.pool.info().usage]])
  ];
}

type Heights = Readonly<Record<'index' | 'scripts', number | undefined>>;

function heightsOf({ serving: { node }, index, wallets }: Observed): Heights & { readonly node: number } {
  const state = wallets?.scripts.state;
  return {
    node: node.tip().height,
    index: index.figures.height,
    scripts: state !== undefined && 'height' in state ? state.height : undefined
  };
}

/** Each from 0 to 1. */
function jobsOf({ index, wallets, addresses }: Observed): Record<string, number | undefined> {
  const { backfill, filters, scrub } = index.figures;
  return {
    ...indexingOf(index.state),
    backfill,
    filters,
    scrub,
    ...(wallets && { ...fillingOf(wallets.scripts.state), scripts_scrub: wallets.scripts.scrubbed }),
    ...(addresses && { addresses: listedOf(addresses.state) })
  };
}

function indexingOf(state: IndexState): Record<string, number> {
  if (state.phase === 'copying') return { copying: ratio(state.coins, state.of), indexing: 0 };
  return { indexing: state.phase === 'indexing' ? ratio(state.height, state.target) : Number(state.phase === 'live') };
}

function fillingOf(state: ScriptsState): Record<string, number> {
  switch (state.phase) {
    case 'partitioning':
      return { scripts_partitioning: ratio(state.height, state.target), scripts_indexing: 0 };
    case 'sorting':
      return { scripts_sorting: ratio(state.done, state.total), scripts_indexing: 0 };
    case 'catching-up':
      return { scripts_indexing: ratio(state.height, state.target) };
    default:
      return { scripts_indexing: Number(state.phase === 'live') };
  }
}

const listedOf = (state: AddressesState): number =>
  state.phase === 'filling' ? ratio(state.height, state.target) : Number(state.phase === 'live');

/** Undefined while an index has no height. */
const lag = (tip: number, height: number | undefined): number | undefined => (height === undefined ? undefined : Math.max(0, tip - height));

const ratio = (done: number, of: number): number => (of <= 0 ? 1 : Math.max(0, Math.min(1, done / of)));
