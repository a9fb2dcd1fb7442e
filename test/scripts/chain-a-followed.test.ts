import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { ChainIndexer } from '../../lib/index/chain-index';
import { BcoinNode } from '../../lib/node/bcoin';
import { MemoryStore } from '../../lib/store/memory-store';
import { bcoin, type TestFullNode } from '../support/bcoin';
import { chainABlocks } from '../support/chain-a';
import { MemoryLog } from '../support/memory-log';
import { activeChain } from '../support/regtest-chain';
import { openRegtestNode } from '../support/regtest-node';
import { testScale } from '../support/scale';
import { WalkedScripts } from '../support/walked-scripts';

/** More than chain A goes back. */
const UNDO_DEPTH = 100;
/** Beside the heights around reorganizations. */
const EVERY = 200;

describe('the index by script of chain A, block by block', function () {
  // bcoin takes half a minute for the blocks.
  this.timeout(600_000);
  let host: TestFullNode;
  let node: BcoinNode;
  let index: ChainIndexer;
  let folder: string;
  const log = new MemoryLog();
  const opened: WalkedScripts[] = [];

  before(async function () {
    if (testScale() === 1) {
      console.log('    skipped: takes a minute (npm run test:long)');
      this.skip();
    }
    folder = await mkdtemp(join(tmpdir(), 'rest-chain-a-'));
    host = await openRegtestNode();
    node = new BcoinNode(host);
    index = new ChainIndexer({ store: new MemoryStore(), node, logger: log, migrations: [] });
    await index.open();
  });

  after(async () => {
    if (testScale() === 1) return;
    for (const scripts of opened) await scripts.close();
    await index.close();
    await host.close();
    await rm(folder, { recursive: true });
  });

  async function open(path?: string): Promise<WalkedScripts> {
    const scripts = new WalkedScripts(node, path, UNDO_DEPTH, log);
    opened.push(scripts);
    scripts.beside(index);
    scripts.open();
    await scripts.untilAtRest();
    return scripts;
  }

  it('is right before and after every reorganization, and when it is filled at the end', async () => {
    const followed = await open();
    const settled = (): Promise<unknown> => firstValueFrom(index.tip$.pipe(filter(({ hash }) => hash.equals(node.tip().hash))));
    const blocks = chainABlocks();
    let reorganizations = 0;
    for (const [i, { raw, height, stale }] of blocks.entries()) {
      const before = node.tip();
      const next = blocks[i + 1];
      const isBefore = stale !== next?.stale || next.height !== height + 1;
      if (isBefore && i > 0) {
        await settled();
        await followed.expectRight(await activeChain(node));
      }
      await host.chain.add(bcoin.Block.fromRaw(raw));
      const isBehind = (await node.activeHash(before.height))?.equals(before.hash) !== true;
      if (isBehind) reorganizations++;
      if (!isBehind && i % EVERY > 0) continue;
      await settled();
      await followed.expectRight(await activeChain(node));
    }
    expect(reorganizations).to.be.greaterThan(0);
    await settled();
    const chain = await activeChain(node);
    await followed.expectRight(chain);
    await (await open(folder)).expectRight(chain);
    expect(log.lines.filter((line) => line.includes('anew') || line.startsWith('error'))).to.deep.equal([]);
  });
});
