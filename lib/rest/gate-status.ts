// What is going on while requests are refused: the `<status>` of the 503 (contract part 7).

import type { IndexState } from '../index/types';
import type { NodeProgress } from '../node/types';

export interface Situation {
  readonly index: IndexState;
  readonly node: NodeProgress;
  /** True while the node resets its chain. */
  readonly resetting: boolean;
}

/** A short text for people, without a full stop. */
export function gateStatus({ index, node, resetting }: Situation): string {
  switch (index.phase) {
    case 'loading': return 'loading index';
    case 'closed': return 'shutting down';
    case 'failed': return `index failed: ${index.message}`;
    case 'rewinding': return `rewinding index, height ${index.height}, down to ${index.target}`;
    case 'indexing': return `indexing, height ${index.height} of ${index.target} (${percent(index.height, index.target)})${timeLeft(index.secondsLeft)}`;
    case 'live': return resetting
      ? 'resetting chain'
      : `syncing with the network, height ${node.height} (${percent(node.verified, 1)})`;
  }
}

/** Cut, not rounded: 100 % is when it is done. */
function percent(part: number, whole: number): string {
  const thousandths = whole > 0 ? Math.floor(part / whole * 1_000) : 0;
  return `${(thousandths / 10).toFixed(1)}%`;
}

function timeLeft(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  if (seconds < 60) return `, ${Math.ceil(seconds)} s left`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 60 ? `, ${minutes} min left` : `, ${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}
