import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { IndexRefusedError } from '../../lib/follow/errors';
import { IndexUnavailableError } from '../../lib/index/errors';
import { DiskStore } from '../../lib/store/disk-store';
import { LAYOUT_VERSION_KEY, versionRecord } from '../../lib/store/migrate';
import { caught } from '../support/expectations/caught';
import { nodeWith } from '../support/bcoin/changed-node';
import { newFolder } from '../support/process/folders';
import { current, expectLevel, newIndex, openNew, reach, withNodeAndIndex } from '../support/node/indexed-node';
import { mine } from '../support/bcoin/regtest-node';
import { reorganize } from '../support/chain/regtest-chain';

describe('opening and closing an index', () => {
  withNodeAndIndex();

  it('refuses an index of another network and leaves it alone', async () => {
    await mine(current.host, 2);
    await current.index.open();
    await reach('live');
    await current.index.close();
    const other = { ...current.node.network, chain: 'main', genesisHash: Buffer.alloc(32, 1) };
    const error = await caught(newIndex({ node: nodeWith(current.node, { network: other }) }).open());
    expect(error)
      .to.be.instanceOf(IndexRefusedError)
      .with.property('message')
      .that.matches(/^the index is of another network: expected main with genesis block (01){32}, got one with 0f9188f1/);
    await openNew();
    await expectLevel();
  });

  it('refuses an index of a newer layout', async () => {
    await current.store.open();
    await current.store.batch([versionRecord(99)], { durable: false });
    await current.store.close();
    expect(await caught(current.index.open()))
      .to.be.instanceOf(IndexRefusedError)
      .with.property('message')
      .that.includes('layout 99');
  });

  it('rebuilds an index whose layout version is damaged or missing', async () => {
    await mine(current.host, 5);
    await current.index.open();
    await reach('live');
    for (const damage of [
      { type: 'put', key: LAYOUT_VERSION_KEY, value: Buffer.from('00000003282c9631', 'hex') },
      { type: 'del', key: LAYOUT_VERSION_KEY }
    ] as const) {
      await current.index.close();
      await current.store.open();
      await current.store.batch([damage], { durable: false });
      await current.store.close();
      const said = current.log.lines.length;
      await openNew();
      await expectLevel();
      expect(current.log.lines[said]).to.match(/^warning Rebuilding the index: .* layout version/);
    }
  });

  it('has nothing to read before its first block and when it is closed', async () => {
    expect(() => current.index.reader.read(() => 0)).to.throw(IndexUnavailableError, 'the index is not open');
    await current.store.open();
    expect(() => current.index.reader.read(() => 0)).to.throw(IndexUnavailableError, 'the index is empty');
    await current.index.open();
    await reach('live');
    await current.index.close();
    expect(current.index.state).to.deep.equal({ phase: 'closed' });
    expect(() => current.index.reader.read(() => 0)).to.throw(IndexUnavailableError, 'the index is closed');
  });

  it('lets the chain continue when it is closed, also in the middle of catching up', async () => {
    await mine(current.host, 20);
    await current.index.open();
    const mined = mine(current.host, 3);
    await current.index.close();
    await mined;
    expect(current.host.chain.height).to.equal(23);
    await openNew();
    await expectLevel();
  });
});

describe('an index on disk', () => {
  withNodeAndIndex();

  let folder: string;

  beforeEach(async () => {
    folder = await newFolder();
    current.store = new DiskStore(join(folder, 'index'));
    current.index = newIndex();
    await mine(current.host, 12);
    await current.index.open();
    await reach('live');
  });

  afterEach(() => current.index.close());

  it('continues after it was closed', async () => {
    await current.index.close();
    await mine(current.host, 2);
    current.store = new DiskStore(join(folder, 'index'));
    await openNew();
    await expectLevel();
    expect(current.log.lines.join()).to.not.include('Rebuilding the index');
  });

  it('is rebuilt when its folder was deleted', async () => {
    await current.index.close();
    await rm(join(folder, 'index'), { recursive: true });
    current.store = new DiskStore(join(folder, 'index'));
    await openNew();
    await expectLevel();
  });

  it('is rebuilt from a live state, and its old files are gone in between', async () => {
    await current.index.close();
    current.index = newIndex({ undoDepth: 1 });
    await current.index.open();
    await mine(current.host, 4);
    await reach('live');
    await reorganize(current.host, 3, 4);
    await reach('live');
    await expectLevel();
    expect(current.log.lines.join()).to.include('Rebuilding the index');
  });
});
