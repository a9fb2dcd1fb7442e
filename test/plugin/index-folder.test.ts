import { chmod, cp, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { diskStore } from '../../lib/store/level-store';
import { caught } from '../support/caught';
import { mine } from '../support/regtest-node';
import { activeChain, chainWithSpends } from '../support/regtest-chain';
import { openRestNode, untilReady, type RestNode } from '../support/rest-node';
import { expectIndexOf } from '../support/utxo-model';

describe("the folder of a node's index", function () {
  this.timeout(30_000);
  let folder: string;
  const prefixOf = (name: string): string => join(folder, name);
  const indexOf = (name: string): string => join(prefixOf(name), 'regtest/rest/index');

  beforeEach(async () => { folder = await mkdtemp(join(tmpdir(), 'rest-folder-')); });
  afterEach(() => rm(folder, { recursive: true }));

  async function withNode(name: string, use: (served: RestNode) => Promise<void>): Promise<void> {
    const served = await openRestNode({ prefix: prefixOf(name) });
    await untilReady(served);
    await use(served);
    await served.node.close();
  }

  it("may be another chain's: the index becomes that of the node", async () => {
    await withNode('one', async ({ node }) => { await chainWithSpends(node); });
    await withNode('other', async ({ node }) => { await mine(node, 3); });
    await rm(indexOf('other'), { recursive: true });
    await cp(indexOf('one'), indexOf('other'), { recursive: true });
    let chain: Buffer[] = [];
    await withNode('other', async ({ rest }) => { chain = await activeChain(rest.node); });
    expect(chain).to.have.length(4);
    const store = diskStore(indexOf('other'));
    await store.open();
    await expectIndexOf(store, chain);
    await store.close();
  });

  it('may be in use: the node does not start and says where and why', async () => {
    await mkdir(indexOf('one'), { recursive: true });
    const holder = diskStore(indexOf('one'));
    await holder.open();
    const error = await caught(openRestNode({ prefix: prefixOf('one') }));
    expect(error).to.have.property('reason', 'locked');
    expect(error).to.have.property('message').that.includes(`cannot open the store in ${indexOf('one')}: `).and.includes('lock');
    await holder.close();
  });

  it('may be closed to us: the node does not start and says so', async function () {
    if (process.getuid?.() === 0) {
      console.log('      skipped: nothing is closed to the superuser');
      this.skip();
    }
    await mkdir(indexOf('one'), { recursive: true });
    await chmod(indexOf('one'), 0o500);
    const error = await caught(openRestNode({ prefix: prefixOf('one') }));
    await chmod(indexOf('one'), 0o700);
    expect(error).to.have.property('reason', 'denied');
  });
});
