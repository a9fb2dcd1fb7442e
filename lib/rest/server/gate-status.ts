// What is going on while requests are refused: the `<status>` of the 503 (contract part 7).

import { copyingText, indexingText, percent } from '../../index/progress/text';
import type { IndexState } from '../../index/types';
import type { NodeProgress } from '../../node/types';

export interface Situation {
  readonly index: IndexState;
  readonly node: NodeProgress;
  /** True while the node resets its chain. */
  readonly resetting: boolean;
}

/** A short text for people, without a full stop. */
export function gateStatus({ index, node, resetting }: Situation): string {
  switch (index.phase) {
    case 'loading': return index.work ?? 'loading index';
    case 'closed': return 'shutting down';
    case 'failed': return `index failed: ${index.message}`;
    case 'rewinding': return `rewinding index, height ${index.height}, down to ${index.target}`;
    case 'copying': return `copying coins, ${copyingText(index)}`;
    case 'indexing': return `indexing, height ${indexingText(index)}`;
    case 'live': return resetting
      ? 'resetting chain'
      : `syncing with the network, height ${node.height} (${percent(node.verified, 1)})`;
  }
}
