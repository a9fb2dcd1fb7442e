// Walks, with all that is served beside their nodes.

import { afterEach } from 'mocha';
import { NotifyingNode } from './notifying-node';
import { PoolWalk } from './pool-walk';

export interface ServedWalk {
  readonly walk: PoolWalk;
  readonly all: NotifyingNode;
}

/** For a group of tests: begins a walk. It ends, and what is served with it, when the next one begins, and after each test. */
export function servedWalks(): (start?: () => Promise<PoolWalk>) => Promise<ServedWalk> {
  let walk: PoolWalk | undefined;
  let all: NotifyingNode | undefined;
  const close = async (): Promise<void> => {
    await all?.close();
    await walk?.close();
    all = walk = undefined;
  };
  afterEach(close);
  return async (start = () => PoolWalk.start()) => {
    await close();
    walk = await start();
    all = await NotifyingNode.beside(walk.host);
    return { walk, all };
  };
}
