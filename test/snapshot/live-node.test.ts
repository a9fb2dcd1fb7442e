import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { secretIn } from '../../lib/index/records/txid-hash';
import { DiskStore } from '../../lib/store/disk-store';
import { newFolder } from '../support/process/folders';
import { chainWithSpends, reorganize } from '../support/chain/regtest-chain';
import { mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { runIndexHere } from '../support/node/stopped-node';
import { testScale } from '../support/process/scale';
import { onRegtest, snapshot } from './made';

const SETTINGS = { 'rest-addresses': true };

interface SnapshotFacts {
  readonly signer: string;
  readonly index: { readonly height: number; readonly hash: string };
  readonly scripts?: { readonly height: number; readonly hash: string };
}

describe('a snapshot of a node that connects blocks', function () {
  this.timeout(240_000 * testScale());
  let prefix: string;
  let served: RestNode;
  const snapshots: { readonly folder: string; readonly facts: SnapshotFacts }[] = [];

  before(async () => {
    prefix = await newFolder();
    served = await openRestNode({ prefix, settings: SETTINGS });
    await chainWithSpends(served.node);
    await untilReady(served);
    await untilByScript(served);
  });

  /** Resolves when the index by script answers. */
  async function untilByScript({ port }: RestNode): Promise<void> {
    while ((await fetch(`http://127.0.0.1:${port}/api/blocks/tip/height`)).status !== 200) await setTimeout(20);
  }

  /** An index that was built anew has another one. */
  async function secretOf(node: string, name: string): Promise<Buffer> {
    const store = new DiskStore(join(node, 'regtest/rest', name));
    await store.open();
    try {
      return secretIn(store);
    } finally {
      await store.close();
    }
  }

  it('is made while blocks come and go', async () => {
    const run = { isOver: false };
    const chain = (async () => {
      for (let i = 0; !run.isOver; i++) {
        await mine(served.node, 3);
        if (i % 2 === 0) await reorganize(served.node, 2, 3);
      }
    })();
    try {
      for (let i = 0; i < 5 * testScale(); i++) {
        const folder = join(await newFolder(), 'snapshot');
        const { status, out } = await snapshot('make', folder, ...onRegtest(prefix), '--json');
        expect(status, out).to.equal(0);
        snapshots.push({ folder, facts: JSON.parse(out) as SnapshotFacts });
      }
    } finally {
      run.isOver = true;
      await chain;
    }
    expect(new Set(snapshots.map(({ facts }) => facts.index.hash)).size).to.be.greaterThan(1);
    for (const { facts } of snapshots) expect(facts.scripts?.height).to.be.a('number');
    await mine(served.node, 10);
    await served.node.close();
  });

  it('lets another node answer without building an index', async () => {
    for (const { folder, facts } of snapshots) {
      const other = await newFolder();
      await cp(prefix, other, { recursive: true });
      await rm(join(other, 'regtest/rest'), { recursive: true });
      expect(await snapshot('fetch', folder, '--trust', facts.signer, ...onRegtest(other))).to.include({ status: 0, err: '' });
      const node = await openRestNode({ prefix: other, settings: SETTINGS });
      await untilReady(node);
      await untilByScript(node);
      const info = (await (await fetch(`${node.baseUrl}/rest/chaininfo.json`)).json()) as { readonly blocks: number };
      expect(info.blocks).to.equal(node.node.chain.height);
      await node.node.close();
      // Everything in both indexes is right, wherever the snapshot stood.
      expect(await runIndexHere(other, 'verify')).to.include({ status: 0 });
      expect(await runIndexHere(other, 'verify', '--scripts')).to.include({ status: 0 });
      for (const name of ['index', 'scripts']) expect(await secretOf(other, name)).to.deep.equal(await secretOf(prefix, name));
    }
  });
});
