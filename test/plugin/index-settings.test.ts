import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { SPENT_HASHES } from '../../lib/index/records/spent-hash';
import { asOtherUser } from '../support/process/other-user';
import { StoppedNodeFolder } from '../support/node/stopped-node';

describe('the settings of a stopped node', () => {
  let folder: StoppedNodeFolder;

  before(async () => {
    folder = await StoppedNodeFolder.make();
  });
  after(() => folder.remove());

  const configure = (...lines: readonly string[]): Promise<void> =>
    writeFile(join(folder.prefix, 'regtest/bcoin.conf'), `${lines.join('\n')}\n`);

  async function spentHashes(): Promise<number> {
    let count = 0;
    await folder.withIndex(async (store) => {
      for await (const [key] of store.range(SPENT_HASHES)) count += Math.sign(key.length);
    });
    return count;
  }

  it('are not read by another user than the one whose node it is', async () => {
    const chain = join(folder.prefix, 'regtest/chain');
    const before = await readdir(chain);
    for (const command of ['status', 'verify', 'rebuild']) {
      const { status, err } = await asOtherUser(() => folder.run(command));
      expect(status).to.equal(3);
      expect(err).to.match(/chain belongs to the user \d+, who could not read what \d+ makes there: run this as the user of the node\n$/);
    }
    expect(await readdir(chain)).to.deep.equal(before);
  });

  it('need not have what only serving needs: a key, files, ports', async () => {
    await configure(
      'rest-auth: true',
      `rest-payments: ${join(folder.prefix, 'shop')}`,
      'rest-addresses: true',
      'rest-electrum: 50001',
      `rest-electrum-banner: ${join(folder.prefix, 'no-such-file')}`
    );
    for (const command of ['status', 'verify', 'rebuild']) {
      const { status, err } = await folder.run(command);
      expect(status, err).to.equal(0);
    }
  });

  it('are refused if one of them does not exist, or makes no index', async () => {
    await configure('rest-undoo: 7');
    expect(await folder.run('rebuild')).to.include({
      status: 2,
      err: '--rest-undoo is not an option of the REST service; did you mean --rest-undo?\n'
    });
    await configure('rest-bootstrap: nothing');
    expect(await folder.run('rebuild')).to.include({ status: 2, err: "--rest-bootstrap must be one of blocks, coins, not 'nothing'\n" });
  });

  it('are refused if one of them has no value', async () => {
    await configure('rest-undo: 7', 'rest-filters:');
    expect(await folder.run('rebuild')).to.include({
      status: 2,
      err: `rest-filters in ${join(folder.prefix, 'regtest/bcoin.conf')} is given without a value\n`
    });
  });

  it('have rebuild keep the hashes that a node needs that feeds a fleet', async () => {
    await configure('');
    expect(await folder.run('rebuild')).to.include({ status: 0 });
    expect(await spentHashes()).to.equal(0);
    await configure('rest-feed: nats://127.0.0.1');
    expect(await folder.run('rebuild')).to.include({ status: 0 });
    expect(await spentHashes()).to.be.greaterThan(0);
  });
});
