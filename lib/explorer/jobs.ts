// What a node does before it answers, and beside it: each piece of work with how far it is.

import type { AddressesState } from '../addresses/state';
import type { IndexFigures, IndexState } from '../index/types';
import type { NodeProgress } from '../node/types/chain';
import type { ScriptsState } from '../scripts/types';
import type { Job } from '../web/explorer-status';

export interface Working {
  readonly node: { readonly synced: boolean; progress(): NodeProgress };
  readonly index: { readonly state: IndexState; readonly figures: Pick<IndexFigures, 'backfill' | 'filters'> };
  readonly gate: { readonly isReady: boolean; readonly isRehearsing: boolean };
  /** Undefined without `--rest-addresses`. */
  readonly scripts: { readonly state: ScriptsState } | undefined;
  /** Undefined without `--rest-addresses-search`. */
  readonly addresses: { readonly state: AddressesState } | undefined;
}

/** In the order in which the work is done. */
export function jobsOf({ node, index, gate, scripts, addresses }: Working): readonly Job[] {
  const { backfill, filters } = index.figures;
  return [
    chainJob(node),
    { name: 'index', ...indexJob(index.state) },
    { name: 'rehearsal', state: gate.isReady ? 'done' : gate.isRehearsing ? 'running' : 'waiting' },
    ...(scripts === undefined ? [] : [{ name: 'scripts' as const, ...scriptsJob(scripts.state) }]),
    ...(backfill === undefined ? [] : [{ name: 'backfill' as const, state: 'running' as const, part: backfill }]),
    ...(filters === undefined ? [] : [{ name: 'filters' as const, state: 'running' as const, part: filters }]),
    ...(addresses === undefined ? [] : [{ name: 'addresses' as const, ...addressesJob(addresses.state) }])
  ];
}

function chainJob(node: Working['node']): Job {
  const { height, verified } = node.progress();
  return { name: 'chain', state: node.synced ? 'done' : 'running', step: `block ${height}`, part: node.synced ? 1 : verified };
}

type Unnamed = Omit<Job, 'name'>;

function indexJob(state: IndexState): Unnamed {
  switch (state.phase) {
    case 'loading':
      return { state: 'running', step: state.work ?? 'loading' };
    case 'copying':
      return { state: 'running', step: 'copying coins', ...reached(state.coins, state.of), unit: 'coins' };
    case 'rewinding':
      return { state: 'running', step: `going back from block ${state.height} to ${state.target}` };
    case 'indexing': {
      const { height, target, secondsLeft } = state;
      return {
        state: 'running',
        step: 'taking in blocks',
        ...reached(height, target),
        unit: 'blocks',
        ...(secondsLeft !== undefined && { secondsLeft })
      };
    }
    case 'live':
      return { state: 'done', ...reached(state.height, state.height), unit: 'blocks' };
    case 'failed':
    case 'closed':
      return { state: 'failed' };
  }
}

function scriptsJob(state: ScriptsState): Unnamed {
  switch (state.phase) {
    case 'loading':
      return { state: 'running', step: 'loading' };
    case 'waiting':
      return { state: 'waiting' };
    case 'partitioning':
      return { state: 'running', step: 'step 1 of 3, reading blocks', ...reached(state.height, state.target), unit: 'blocks' };
    case 'sorting':
      return { state: 'running', step: 'step 2 of 3, sorting', ...reached(state.done, state.total), unit: 'files' };
    case 'catching-up':
      return { state: 'running', step: 'step 3 of 3, taking in the last blocks', ...reached(state.height, state.target), unit: 'blocks' };
    case 'live':
      return { state: 'done', ...reached(state.height, state.height), unit: 'blocks' };
    case 'failed':
    case 'closed':
      return { state: 'failed' };
  }
}

function addressesJob(state: AddressesState): Unnamed {
  switch (state.phase) {
    case 'loading':
      return { state: 'running', step: 'loading' };
    case 'waiting':
      return { state: 'waiting' };
    case 'filling':
      return { state: 'running', step: 'taking in blocks', ...reached(state.height, state.target), unit: 'blocks' };
    case 'live':
      return { state: 'done', ...reached(state.height, state.height), unit: 'blocks' };
    case 'failed':
    case 'closed':
      return { state: 'failed' };
  }
}

const reached = (done: number, total: number): Pick<Job, 'part' | 'done' | 'total'> => ({
  part: total > 0 ? Math.min(1, done / total) : 1,
  done,
  total
});
