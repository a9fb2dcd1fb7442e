import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { BcoinNode } from '../../lib/node/bcoin';
import { fillingIn } from '../../lib/scripts/records/filling';
import { DiskStore } from '../../lib/store/disk-store';
import { activeChain, chainWithSpends } from '../support/regtest-chain';
import { openRegtestNode } from '../support/regtest-node';
import { testScale, testSeed } from '../support/scale';
import { ScriptModel } from '../support/script-model';
import { expectFilled } from '../support/script-filling';
import type { FillingNodeMessage } from '../support/filling-node';

describe('an index by script whose process is lost while it is filled', function () {
  this.timeout(120_000 * testScale());
  const seed = testSeed();
  let folder: string;
  let model: ScriptModel;
  const prefix = (): string => join(folder, 'node');
  const path = (): string => join(folder, 'scripts');

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'rest-fill-kill-'));
    const host = await openRegtestNode({ prefix: prefix() });
    await chainWithSpends(host);
    model = new ScriptModel(await activeChain(new BcoinNode(host)));
    await host.close();
  });
  after(() => rm(folder, { recursive: true }));

  function start(): ChildProcess {
    const args = [prefix(), folder, String(model.blocks.length - 1)];
    return fork(join(__dirname, '../support/filling-node.ts'), args, {
      execArgv: ['-r', 'ts-node/register/transpile-only'],
      // Without the --import that npm adds: it leaves the entry point to a loader that knows no TypeScript.
      env: { ...process.env, NODE_OPTIONS: '', NODE_BACKEND: process.env['NODE_BACKEND'] ?? 'js' },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc']
    });
  }

  /** Waits for a message of this kind, the n-th one. */
  function heard(child: ChildProcess, type: FillingNodeMessage['type'], n = 1): Promise<FillingNodeMessage> {
    return new Promise((resolve, reject) => {
      let left = n;
      child.on('message', (message: FillingNodeMessage) => {
        if (message.type === type && --left === 0) resolve(message);
        else if (message.type === 'filled' || message.type === 'failed') reject(new Error(JSON.stringify(message)));
      });
      child.once('close', () => reject(new Error(`the process ended before it was '${type}'`)));
    });
  }

  async function progress(): Promise<ReturnType<typeof fillingIn>> {
    const store = new DiskStore(path());
    await store.open();
    const found = fillingIn(store);
    await store.close();
    return found;
  }

  it(`is filled by others that go on, TEST_SEED=${seed}`, async () => {
    for (let round = 0; round < testScale(); round++) {
      await rm(path(), { recursive: true, force: true });
      for (const [type, most, step] of [
        ['partitioning', 100, 'partitioning'],
        ['sorting', 30, 'sorting']
      ] as const) {
        const child = start();
        await heard(child, type, 1 + ((seed + round) % most));
        child.kill('SIGKILL');
        await once(child, 'close');
        expect((await progress())?.step).to.be.oneOf(['partitioning', step]);
      }
      const last = start();
      await heard(last, 'filled');
      await once(last, 'close');
      const store = new DiskStore(path());
      await store.open();
      await expectFilled(store, model.blocks);
      await store.close();
      expect(readdirSync(folder).sort()).to.deep.equal(['node', 'scripts']);
    }
  });
});
