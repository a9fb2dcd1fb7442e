import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { undoKey } from '../../lib/index/records/undo-record';
import { nodeWith } from '../support/bcoin/changed-node';
import { current, expectLevel, openNew, withNodeAndIndex } from '../support/node/indexed-node';
import { mine } from '../support/bcoin/regtest-node';
import { reorganize } from '../support/chain/regtest-chain';
import type { NodeSource } from '../../lib/node/types/source';

const UNDO_DEPTH = 3;

/** Opens an index on the store that adds block by block, and waits until it is level at a height. */
async function catchUpTo(height: number, node: NodeSource = current.node): Promise<void> {
  await openNew({ node, undoDepth: UNDO_DEPTH, cacheBytes: 0 });
  await firstValueFrom(current.index.state$.pipe(filter((state) => state.phase === 'live' && state.height === height)));
}

/** A node whose chain goes back to `height` when its block at `asked` is asked for. */
async function goingBack(asked: number, height: number): Promise<NodeSource> {
  const wanted = await current.node.activeHash(asked);
  const rawBlock = async (hash: Buffer): Promise<Buffer | undefined> => {
    if (wanted?.equals(hash) !== true) return current.node.rawBlock(hash);
    await current.host.chain.reset(height);
    return undefined;
  };
  return nodeWith(current.node, { rawBlock });
}

function heightsWithUndo(): number[] {
  return Array.from({ length: current.host.chain.height + 1 }, (_, height) => height).filter(
    (height) => current.store.get(undoKey(height)) !== undefined
  );
}

describe('the undo records of an index that catches up', () => {
  withNodeAndIndex();
  // On 1.0.2 a reset does not reach the pool while the node is not connected.
  beforeEach(() => current.host.connect());

  it('belong to the last blocks', async () => {
    await mine(current.host, 30);
    await catchUpTo(30);
    expect(heightsWithUndo()).to.deep.equal([28, 29, 30]);
  });

  it('reach as deep when the chain goes back meanwhile, by at most that depth', async () => {
    await mine(current.host, 30);
    await catchUpTo(27, await goingBack(28, 27));
    expect(heightsWithUndo()).to.deep.equal([25, 26, 27]);
    await reorganize(current.host, UNDO_DEPTH, UNDO_DEPTH + 1);
    await expectLevel();
    expect(current.log.lines.filter((line) => line.startsWith('warning'))).to.deep.equal([]);
  });

  it('have no gap when the chain goes back by more', async () => {
    await mine(current.host, 10);
    await catchUpTo(10);
    expect(heightsWithUndo()).to.deep.equal([8, 9, 10]);
    await current.index.close();
    await mine(current.host, 20);
    await catchUpTo(11, await goingBack(12, 11));
    expect(heightsWithUndo()).to.deep.equal([]);
    await mine(current.host, 2);
    expect(heightsWithUndo()).to.deep.equal([12, 13]);
    await expectLevel();
  });
});
