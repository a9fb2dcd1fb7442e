import { readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { UnreadableBlockError } from '../../lib/node/errors';
import { BcoinNode } from '../../lib/node/bcoin';
import { FillingError, MissingBlocksError } from '../../lib/scripts/errors';
import { scanBlock } from '../../lib/bitcoin/block';
import { fillScripts, requireAllBlocks, type FillNode, type FillParts } from '../../lib/scripts/fill/fill-scripts';
import { findFilling } from '../../lib/scripts/records/filling';
import { DiskStore } from '../../lib/store/disk-store';
import { caught } from '../support/expectations/caught';
import { flipBit } from '../support/index/flipped-bit';
import { MemoryLog } from '../support/process/memory-log';
import { activeChain, chainWithSpends, reorganize } from '../support/chain/regtest-chain';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { ScriptModel } from '../support/index/script-model';
import { expectFilled } from '../support/index/script-filling';
import { ALWAYS_KEPT, KEPT_BLOCKS, withSmallPruning } from '../support/bcoin/small-pruning';
import type { ScriptsState } from '../../lib/scripts/types';
import type { TestFullNode } from '../support/bcoin/bcoin';

const SIZES = { files: 4, checkpointBlocks: 25, sortedBytes: 0 };

describe('filling an index by script', function () {
  this.timeout(300_000);
  let host: TestFullNode;
  let node: BcoinNode;
  let folder: string;
  let log: MemoryLog;
  let states: ScriptsState[];

  before(async () => {
    host = await openRegtestNode();
    await chainWithSpends(host);
    node = new BcoinNode(host);
  });
  after(() => host.close());
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rest-fill-'));
    [log, states] = [new MemoryLog(), []];
  });
  afterEach(() => rm(folder, { recursive: true }));

  const fill = (parts: Partial<FillParts> = {}): ReturnType<typeof fillScripts> =>
    fillScripts({
      path: join(folder, 'scripts'),
      filesPath: join(folder, 'files'),
      node,
      target: node.tip().height,
      onState: (state) => states.push(state),
      logger: log,
      signal: new AbortController().signal,
      sizes: SIZES,
      ...parts
    });

  /** A node that first calls a function whenever it is asked for a block. */
  const nodeWith = (changes: Partial<FillNode>): FillNode => ({
    network: node.network,
    get resetting() {
      return node.resetting;
    },
    activeHash: (height) => node.activeHash(height),
    rawBlock: (hash) => node.rawBlock(hash),
    spentOutputs: (hash, counts) => node.spentOutputs(hash, counts),
    hasAllBlocks: () => node.hasAllBlocks(),
    ...changes
  });

  async function expectRight(height = node.tip().height): Promise<void> {
    const store = new DiskStore(join(folder, 'scripts'));
    await store.open();
    const { blocks } = new ScriptModel((await activeChain(node)).slice(0, height + 1));
    await expectFilled(store, blocks);
    await store.close();
    expect(readdirSync(folder)).to.deep.equal(['scripts']);
  }

  async function progress(): Promise<ReturnType<typeof findFilling>> {
    const store = new DiskStore(join(folder, 'scripts'));
    await store.open();
    const found = findFilling(store);
    await store.close();
    return found;
  }

  it('gives the same as following, whatever was in the store, and says how far it is', async () => {
    await fill({ target: 0 });
    await expectRight(0);
    [log, states] = [new MemoryLog(), []];
    const target = node.tip().height;
    const modes: number[] = [];
    const onState = (state: ScriptsState): void => {
      states.push(state);
      if (state.phase !== 'sorting' || state.done > 0) return;
      const files = readdirSync(join(folder, 'files')).map((name) => join('files', name));
      modes.push(...['files', 'scripts', ...files].map((name) => statSync(join(folder, name)).mode & 0o077));
    };
    expect(await fill({ onState })).to.deep.equal(node.tip());
    await expectRight();
    expect(states).to.deep.equal([
      ...Array.from({ length: target + 1 }, (_, height) => ({ phase: 'partitioning', height, target })),
      ...[0, 1, 2, 3, 4].map((done) => ({ phase: 'sorting', done, total: 4 }))
    ]);
    expect(log.lines).to.deep.equal([]);
    expect(modes.length).to.be.greaterThan(2);
    expect(new Set(modes)).to.deep.equal(new Set([0]));
  });

  it('gives the same with txids that are known already', async () => {
    let known = 0;
    const txidsOf = (raw: Buffer): Buffer => {
      known++;
      return Buffer.concat(scanBlock(raw).transactions.map(({ txid }) => txid));
    };
    await fill({ node: nodeWith({ txidsOf }) });
    await expectRight();
    expect(known).to.equal(node.tip().height + 1);
  });

  it('ends when it is told to, and is resumed the next time', async () => {
    const reason = new Error('the node is stopped');
    expect(await caught(fill({ signal: AbortSignal.abort(reason) }))).to.equal(reason);
    expect(readdirSync(folder)).to.deep.equal([]);
    for (const isEnd of [
      (state: ScriptsState) => state.phase === 'partitioning' && state.height === 40,
      (state: ScriptsState) => state.phase === 'sorting' && state.done === 2
    ]) {
      const abort = new AbortController();
      const onState = (state: ScriptsState): void => {
        if (isEnd(state)) abort.abort(reason);
      };
      expect(await caught(fill({ signal: abort.signal, onState }))).to.equal(reason);
    }
    expect(await progress()).to.include({ step: 'sorting' });
    await fill();
    await expectRight();
    expect(log.lines.join('\n'))
      .to.include('Resuming the filling of the index by script after block 24.')
      .and.not.include('Filling the index by script again');
  });

  it('ends if undo data are missing, and names the block', async () => {
    const without = nodeWith({ spentOutputs: () => Promise.resolve(undefined) });
    const error = await caught(fill({ node: without }));
    expect(error).to.be.instanceOf(MissingBlocksError);
    expect((error as Error).message).to.match(
      /^--rest-addresses needs all blocks and their undo data: the node lacks the undo data of block 10\d \([0-9a-f]{64}\)\. Sync/
    );
  });

  it('ends if the spent outputs do not fit their block, and names the block', async () => {
    const other = nodeWith({ spentOutputs: async (hash, counts) => (await node.spentOutputs(hash, counts))?.subarray(0, -1) });
    const error = await caught(fill({ node: other }));
    expect(error).to.be.instanceOf(FillingError);
    expect((error as Error).message).to.match(/^what block [0-9a-f]{64} at height 10\d spends does not fit/);
  });

  it('ends at a block that cannot be read', async () => {
    const broken = nodeWith({ rawBlock: async (hash) => (await node.rawBlock(hash))?.subarray(0, -1) });
    expect(await caught(fill({ node: broken }))).to.be.instanceOf(UnreadableBlockError);
  });

  it('ends when another process uses the store', async () => {
    const store = new DiskStore(join(folder, 'scripts'));
    await store.open();
    const error = await caught(fill());
    await store.close();
    expect(error).to.be.instanceOf(FillingError);
    expect((error as Error).message).to.include('cannot open the store in');
  });

  it('ends when the chain ends below the target', async () => {
    const end = node.tip().height;
    const error = await caught(fill({ target: end + 1 }));
    expect(error).to.include({ name: 'ChainMovedError', message: `there is no block at height ${end + 1} any more` });
  });

  it('waits while the chain is being reset, and starts over if the chain has other blocks afterwards', async () => {
    const end = node.tip().height;
    let asked = 0;
    let moved = false;
    const moving = nodeWith({
      get resetting() {
        return asked < 8;
      },
      rawBlock: async (hash) => {
        if (++asked < 8) return undefined;
        const isTime = !moved && (await node.entry(hash))?.height === 70;
        moved ||= isTime;
        if (isTime) await reorganize(host, end - 60, end - 59);
        return node.rawBlock(hash);
      }
    });
    await fill({ node: moving, target: end });
    await expectRight(end);
    expect(log.lines.filter((line) => line.includes('Filling the index by script again'))).to.have.length(1);
  });

  it('starts over once when one of its files is damaged', async () => {
    let flips = 0;
    const rotting = nodeWith({
      rawBlock: async (hash) => {
        // By then there are pieces in the files.
        if ((await node.entry(hash))?.height === 90) {
          for (const name of readdirSync(join(folder, 'files'))) await flipBit(join(folder, 'files', name), 100);
          flips++;
        }
        return node.rawBlock(hash);
      }
    });
    const error = await caught(fill({ node: rotting }));
    expect(error).to.be.instanceOf(FillingError);
    expect((error as Error).message).to.match(/\.rows has a damaged piece at byte 0$/);
    expect(flips).to.equal(2);
    expect(log.lines.filter((line) => line.includes('Filling the index by script again'))).to.have.length(1);
  });

  it('starts over when its last block is above the target, and when it is not in the chain any more at the end', async () => {
    const target = node.tip().height - 5;
    const abort = new AbortController();
    const stop = ({ phase }: ScriptsState): void => {
      if (phase === 'sorting') abort.abort(new Error('stopped'));
    };
    await caught(fill({ signal: abort.signal, onState: stop }));
    let move: Promise<void> | undefined;
    const onState = (state: ScriptsState): void => {
      if (state.phase === 'sorting') move ??= reorganize(host, 8, 9);
    };
    const moving = nodeWith({
      activeHash: async (height) => {
        await move;
        return node.activeHash(height);
      }
    });
    await fill({ node: moving, onState, target });
    await expectRight(target);
    const anew = log.lines
      .filter((line) => line.includes('Filling the index by script again'))
      .map((line) => line.replace(/[0-9a-f]{64}/, 'x'));
    expect(anew).to.deep.equal(
      [target + 5, target].map(
        (height) => `warning Filling the index by script again: block x at height ${height} is not in the chain any more.`
      )
    );
  });

  describe('of a node that prunes', () => {
    withSmallPruning();

    it('is refused at once', async () => {
      await requireAllBlocks(node);
      const pruned = await openRegtestNode({ settings: { prune: true } });
      await mine(pruned, ALWAYS_KEPT + KEPT_BLOCKS + 5);
      const error = await caught(fill({ node: new BcoinNode(pruned) }));
      await pruned.close();
      expect(error).to.be.instanceOf(MissingBlocksError);
      expect((error as Error).message).to.include('the node has thrown blocks away (--prune)');
      expect(readdirSync(folder)).to.deep.equal([]);
    });
  });
});
