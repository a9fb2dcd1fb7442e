import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { hashOfUndo } from '../../lib/fleet/reader/undo-hash';
import { describeRecord } from '../../lib/index/records/describe-record';
import {
  decodeFilterEntry,
  filterEntryKey,
  filterKey,
  findFilterSpan,
  putFilterEntry,
  putFilterSpan
} from '../../lib/index/records/filter';
import { GENESIS_KEY, LAYOUT_VERSION, putRecord } from '../../lib/index/records/layout';
import { putSpentHash } from '../../lib/index/records/spent-hash';
import { undoKey } from '../../lib/index/records/undo-record';
import { BcoinNode } from '../../lib/node/bcoin';
import { versionRecord } from '../../lib/store/migrate';
import { runCommandLine } from '../../plugin/cli/run';
import { CapturedIo } from '../support/process/captured-io';
import { mine } from '../support/bcoin/regtest-node';
import { reorganize } from '../support/chain/regtest-chain';
import {
  deleteFirst,
  flip,
  recordOfKind,
  runIndex,
  runIndexHere,
  StoppedNodeFolder,
  type CommandResult
} from '../support/node/stopped-node';
import type { StoreWrite } from '../../lib/store/store';

describe('the tools for the index of a stopped node', () => {
  let made: StoppedNodeFolder;
  let folder: StoppedNodeFolder;

  before(async () => {
    made = await StoppedNodeFolder.make();
  });
  after(() => made.remove());
  beforeEach(async () => {
    folder = await made.copy();
  });
  afterEach(() => folder.remove());

  function expectNothingLeft({ indexFolder } = folder): void {
    expect(existsSync(`${indexFolder}-verify`), 'the folder of verify').to.equal(false);
  }

  describe('status', () => {
    it('shows the blocks of index and node', async () => {
      const { status, out } = folder.runAlone('status');
      expect(status).to.equal(0);
      expect(out).to.match(
        /^Index +block 118 \([0-9a-f]{64}\)\nNode +block 118 .*\n +in step\nNetwork +regtest\nLayout +\d+\nUndo +the last 118 blocks\nOn disk +[0-9.]+ MB in .*rest\/index\n$/
      );
      const json = JSON.parse((await folder.run('status', '--json')).out) as object;
      expect(json).to.deep.include({ network: 'regtest', layout: LAYOUT_VERSION, onNodeChain: true, blocksBehind: 0, undoableBlocks: 118 });
    });

    it('says how far the index is behind', async () => {
      await folder.withNode((node) => mine(node, 3));
      expect((await folder.run('status')).out).to.include('the index is 3 blocks behind');
      expect(await folder.run('status')).to.have.property('status', 0);
    });

    it('says where the index forks from the chain of the node, and fails', async () => {
      await folder.withNode((node) => reorganize(node, 2, 3));
      const { status, out } = await folder.run('status');
      expect(status).to.equal(1);
      expect(out).to.include("the index is not on the node's chain: they fork after block 116");
    });

    it('does not create a missing index', async () => {
      await rm(folder.indexFolder, { recursive: true });
      const { status, err } = await folder.run('status');
      expect(status).to.equal(3);
      expect(err).to.include(`there is no index in ${folder.indexFolder}`);
      expect(existsSync(folder.indexFolder)).to.equal(false);
    });

    it('shows the index also if the file of the refused block is damaged, and fails', async () => {
      await writeFile(join(folder.indexFolder, '../refused-block.json'), '{');
      const { status, out } = await folder.run('status');
      expect(status).to.equal(1);
      expect(out)
        .to.match(/^Index +block 118 /)
        .and.match(/\nRefused +\S+\/rest\/refused-block\.json cannot be read: .+\n/);
      const json = JSON.parse((await folder.run('status', '--json')).out) as object;
      expect(json).to.have.property('refused').that.has.property('error').that.includes('cannot be read');
    });

    it('says that the tip is damaged, and fails', async () => {
      await folder.withIndex((store) => flip(store, 'tip'));
      const { status, out } = await folder.run('status', '--json');
      expect(status).to.equal(1);
      expect(JSON.parse(out)).to.have.property('error').that.includes('is damaged');
    });
  });

  describe('verify', () => {
    it('finds no difference in a correct index, behind the node or not', async () => {
      expect(await folder.run('verify')).to.have.property('status', 0);
      await folder.withNode((node) => mine(node, 2));
      const { status, out } = await folder.run('verify');
      expect(status).to.equal(0);
      expect(out).to.match(/^The index is right: all its \d+ records up to block 118 /);
      expectNothingLeft();
    });

    it('accepts any number of blocks that can be undone, and reports it', async () => {
      await folder.withIndex((store) => deleteFirst(store, 'undo record'));
      const { status, out } = await folder.run('verify');
      expect(status).to.equal(0);
      expect(out).to.include(
        '\nIts last 117 blocks can be undone without the node; --rest-undo asks for 118, and each new block adds one.\n'
      );
      await folder.withIndex(async (store) => {
        for (let height = 2; height <= 118; height++) await store.batch([{ type: 'del', key: undoKey(height) }], { durable: false });
      });
      expect(await folder.run('verify')).to.have.property('status', 0);
      expect(JSON.parse((await folder.run('verify', '--json')).out)).to.include({ verified: true, undoableBlocks: 0 });
    });

    it('finds a gap in the undo records', async () => {
      await folder.withIndex((store) => store.batch([{ type: 'del', key: undoKey(60) }], { durable: false }));
      const { status, out } = await folder.run('verify');
      expect(status).to.equal(1);
      expect(out).to.include('undo record of height 60: missing');
    });

    for (const kind of ['height of block', 'coin', 'header', 'undo record', 'position', 'lengths'])
      it(`finds a flipped byte in a record of the kind '${kind}'`, async () => {
        let what = '';
        await folder.withIndex(async (store) => {
          what = await flip(store, kind);
        });
        const { status, out } = await folder.run('verify');
        expect(status).to.equal(1);
        expect(out).to.include(`${what}: expected `).and.to.include('at byte 0: expected ');
        expectNothingLeft();
      });

    for (const kind of ['hash of the genesis block', 'height of block', 'coin', 'header', 'position', 'lengths'])
      it(`finds a missing record of the kind '${kind}'`, async () => {
        let what = '';
        await folder.withIndex(async (store) => {
          what = await deleteFirst(store, kind);
        });
        const { status, out } = await folder.run('verify');
        expect(status).to.equal(1);
        expect(out).to.include(`${what}: missing`);
      });

    for (const [kind, message] of [
      ['tip', /expected a tip beside/],
      ['layout version', /but no layout version/]
    ] as const)
      it(`says that the ${kind} is missing`, async () => {
        await folder.withIndex((store) => deleteFirst(store, kind));
        const { status, err } = await folder.run('verify');
        expect(status).to.equal(1);
        expect(err).to.match(message);
      });

    it('names the file that is damaged', async () => {
      // Opening turns the log into a table.
      await folder.withIndex(() => Promise.resolve());
      const [table = ''] = (await readdir(folder.indexFolder)).filter((name) => name.endsWith('.ldb'));
      const path = join(folder.indexFolder, table);
      const bytes = await readFile(path);
      bytes.writeUInt8(bytes.readUInt8(1_000) ^ 4, 1_000);
      await writeFile(path, bytes);
      const { status, err } = await folder.run('verify');
      expect(status).to.equal(1);
      expect(err).to.include(`${table}: the block at byte `);
      expect((await folder.run('rebuild')).status).to.equal(0);
      expect((await folder.run('verify')).status).to.equal(0);
    });

    it('finds a coin that should not be there', async () => {
      let what = '';
      await folder.withIndex(async (store) => {
        const [key, value] = await recordOfKind(store, 'coin');
        const other = Buffer.from(key);
        other[key.length - 1] = 0xee;
        what = describeRecord(other, value);
        await store.batch([{ type: 'put', key: other, value }], { durable: true });
      });
      const { status, out } = await folder.run('verify', '--json');
      expect(status).to.equal(1);
      expect(JSON.parse(out)).to.have.property('difference').that.deep.includes({ record: what, kind: 'extra' });
    });

    it('takes hashes over what blocks spend where there are some, and finds a wrong one', async () => {
      const spending: { readonly hash: Buffer; readonly undo: Buffer }[] = [];
      await folder.withNode(async (host) => {
        const node = new BcoinNode(host);
        for (let height = 1; height <= node.tip().height && spending.length < 2; height++) {
          const hash = (await node.activeHash(height)) ?? expect.fail('a block');
          const undo = await node.undoRecord(hash);
          if (undo !== undefined) spending.push({ hash, undo });
        }
      });
      const [first, second] = spending;
      if (first === undefined || second === undefined) expect.fail('blocks that spend something');
      const right = [putSpentHash(first.hash, await hashOfUndo(first.undo)), putSpentHash(Buffer.alloc(32, 1), Buffer.alloc(20))];
      await folder.withIndex((store) => store.batch(right, { durable: true }));
      expect(await folder.run('verify')).to.include({ status: 0 });
      const wrong = putSpentHash(second.hash, await hashOfUndo(first.undo));
      await folder.withIndex((store) => store.batch([wrong], { durable: true }));
      const { status, out } = await folder.run('verify');
      expect(status).to.equal(1);
      expect(out).to.include(`hash over what block ${toDisplayHex(second.hash)} spends`);
    });

    it('says first that the index is not on the chain of the node', async () => {
      await folder.withNode((node) => reorganize(node, 2, 3));
      const { status, out } = await folder.run('verify');
      expect(status).to.equal(1);
      expect(out).to.include("is not on the node's chain: they fork after block 116");
    });

    it('removes what a killed run has left', async () => {
      await mkdir(`${folder.indexFolder}-verify`);
      await writeFile(join(`${folder.indexFolder}-verify`, 'CURRENT'), 'no database');
      expect((await folder.run('verify')).status).to.equal(0);
      expectNothingLeft();
    });
  });

  describe('of an index with filters', () => {
    let filtered: StoppedNodeFolder;
    let copy: StoppedNodeFolder;

    before(async () => {
      filtered = await StoppedNodeFolder.make({ 'rest-filters': true });
    });
    after(() => filtered.remove());
    beforeEach(async () => {
      copy = await filtered.copy();
    });
    afterEach(() => copy.remove());

    it('status shows them', async () => {
      expect((await copy.run('status')).out).to.include('\nFilters  of all blocks\n');
      expect(JSON.parse((await copy.run('status', '--json')).out)).to.deep.include({ filters: { from: 0, upTo: 118, headers: true } });
    });

    it('verify finds no difference in a correct one, nor in one that is still to be filled in', async () => {
      expect(await copy.run('verify')).to.deep.include({ status: 0 });
      await copy.withIndex(async (store) => {
        const span = findFilterSpan(store) ?? expect.fail('a span');
        const writes: StoreWrite[] = [putFilterSpan({ ...span, from: 100 })];
        for (let height = 50; height <= span.height; height++) {
          const key = filterEntryKey(height);
          const entry = decodeFilterEntry(key, store.get(key) ?? expect.fail('an entry'));
          writes.push(putFilterEntry(height, { ...entry, header: undefined }));
        }
        for (let height = 50; height < 100; height++)
          for (const key of [filterKey(height), filterEntryKey(height)]) writes.push({ type: 'del', key });
        await store.batch(writes, { durable: true });
      });
      expect(await copy.run('verify')).to.deep.include({ status: 0 });
      expect((await copy.run('status')).out).to.include(
        '\nFilters  of the blocks from 100 up; the others are made while the node runs with --rest-filters\n'
      );
    });

    for (const [kind, change] of [
      ['filter of the block', flip],
      ['filter of the block', deleteFirst],
      ['hashes of the filter', deleteFirst]
    ] as const)
      it(`verify finds the ${kind} that ${change === flip ? 'was changed' : 'is missing'}`, async () => {
        let what = '';
        await copy.withIndex(async (store) => {
          what = await change(store, kind);
        });
        const { status, out } = await copy.run('verify');
        expect(status).to.equal(1);
        expect(out).to.include(`${what}: ${change === flip ? 'expected' : 'missing'}`);
      });

    it('verify finds a filter of other scripts and a header of other filters in undamaged records', async () => {
      await copy.withIndex((store) => store.batch([putRecord(filterKey(60), Buffer.from('00', 'hex'))], { durable: true }));
      expect((await copy.run('verify')).out).to.include('filter of the block at height 60: expected');
      await copy.remove();
      copy = await filtered.copy();
      await copy.withIndex(async (store) => {
        const key = filterEntryKey(70);
        const entry = decodeFilterEntry(key, store.get(key) ?? expect.fail('an entry'));
        await store.batch([putFilterEntry(70, { ...entry, header: Buffer.alloc(32, 7) })], { durable: true });
      });
      expect((await copy.run('verify')).out).to.include('hashes of the filter of the block at height 70: expected');
    });

    it('rebuild makes them if bcoin.conf says so', async () => {
      expect((await copy.run('rebuild')).status).to.equal(0);
      expect((await copy.run('status')).out).not.to.include('Filters');
      await writeFile(join(copy.prefix, 'regtest/bcoin.conf'), 'rest-filters: true\n');
      expect((await copy.run('rebuild')).status).to.equal(0);
      expect((await copy.run('status')).out).to.include('\nFilters  of all blocks\n');
      expect((await copy.run('verify')).status).to.equal(0);
    });
  });

  describe('rebuild', () => {
    it('repairs a wrong index', async () => {
      await folder.withIndex((store) => flip(store, 'coin'));
      const { status, out } = await folder.run('rebuild');
      expect(status).to.equal(0);
      expect(out).to.match(/^The index was rebuilt up to block 118 /);
      expect((await folder.run('verify')).status).to.equal(0);
    });

    it('repairs files that the engine cannot read, and builds a missing index', async () => {
      await writeFile(join(folder.indexFolder, 'CURRENT'), 'nonsense');
      expect((await folder.run('verify')).status).to.equal(1);
      expect((await folder.run('rebuild')).status).to.equal(0);
      await rm(join(folder.indexFolder, 'CURRENT'));
      await writeFile(join(folder.indexFolder, 'CURRENT'), 'MANIFEST-999999\n');
      expect((await folder.run('rebuild')).status).to.equal(0);
      await rm(folder.indexFolder, { recursive: true });
      expect((await folder.run('rebuild')).status).to.equal(0);
      expect((await folder.run('verify')).status).to.equal(0);
    });

    it('replaces an index of a newer layout, which the other commands refuse', async () => {
      await folder.withIndex((store) => store.batch([versionRecord(256)], { durable: true }));
      expect(await folder.run('status'))
        .to.deep.include({ status: 3 })
        .and.to.have.property('err')
        .that.includes('layout 256, made by a newer version');
      expect((await folder.run('rebuild')).status).to.equal(0);
      expect((await folder.run('verify')).status).to.equal(0);
    });

    it('keeps undo records for as many blocks as bcoin.conf says', async () => {
      await writeFile(join(folder.prefix, 'regtest/bcoin.conf'), 'rest-undo: 7\nplugins: rest\n');
      expect((await folder.run('rebuild')).status).to.equal(0);
      expect(JSON.parse((await folder.run('status', '--json')).out)).to.have.property('undoableBlocks', 7);
    });
  });

  for (const command of ['status', 'verify', 'rebuild']) {
    it(`${command} cannot be done while the node is running`, () =>
      folder.withNode(async () => {
        const { status, err } = await folder.run(command);
        expect(status).to.equal(3);
        expect(err).to.include('the node is running');
      }));

    it(`${command} leaves an index of another network alone`, async () => {
      await folder.withIndex((store) => store.batch([putRecord(GENESIS_KEY, Buffer.alloc(32, 7))], { durable: true }));
      const { status, err } = await folder.run(command);
      expect(status).to.equal(3);
      expect(err).to.include('the index is of another network: expected regtest');
    });

    it(`${command} cannot be done where there is no node`, async () => {
      const prefix = join(folder.prefix, 'nowhere');
      const { status, err } = await runIndexHere(prefix, command);
      expect(status).to.equal(3);
      expect(err).to.include('there is no regtest node here');
      expect(existsSync(prefix)).to.equal(false);
    });
  }

  it('leave an index alone that another process works on', async () => {
    await folder.withIndex(async () => {
      expect((await folder.run('verify')).status).to.equal(3);
      expect((await folder.run('rebuild')).status).to.equal(3);
    });
    expect((await folder.run('verify')).status).to.equal(0);
  });

  for (const settings of [{ indexTx: true, indexAddress: true }, { prune: true }])
    it(`read a chain that bcoin opens only with ${Object.keys(settings).join(' and ')}`, async () => {
      const other = await StoppedNodeFolder.make(settings, 1);
      try {
        expect(await other.run('verify')).to.deep.include({ status: 0 });
      } finally {
        await other.remove();
      }
    });

  it('show their usage', async () => {
    const run = async (...args: string[]): Promise<CommandResult> => {
      const { out, err, said } = new CapturedIo();
      return { status: await runCommandLine(['index', ...args], { out, err, now: () => new Date() }), ...said };
    };
    expect(await run('--help'))
      .to.deep.include({ status: 0, err: '' })
      .and.to.have.property('out')
      .that.includes('Exit codes');
    expect(await run())
      .to.deep.include({ status: 2, out: '' })
      .and.to.have.property('err')
      .that.includes('Usage');
    for (const dancing of [await run('dance'), runIndex('dance')])
      expect(dancing).to.deep.include({ status: 2 }).and.to.have.property('err').that.includes("there is no command 'dance'");
    expect(await run('status', '--network', 'moon'))
      .to.deep.include({ status: 2 })
      .and.to.have.property('err')
      .that.includes("not 'moon'");
    for (const unknown of ['--fast', 'extra'])
      expect(await run('status', unknown))
        .to.deep.include({ status: 2 })
        .and.to.have.property('err')
        .that.matches(/^[^\n]*'.*\n\nUsage/);
  });

  describe('that are interrupted when they begin to index', () => {
    /** So many that it takes a moment. */
    const MORE_BLOCKS = 400;
    let long: StoppedNodeFolder;

    before(async () => {
      long = await StoppedNodeFolder.make({}, MORE_BLOCKS);
    });
    after(() => long.remove());

    /** Repeats if the command was faster. */
    async function interrupt(command: string): Promise<void> {
      let code: unknown = 0;
      while (code === 0) {
        const child = long.start(command);
        child.stderr?.once('data', () => {
          child.kill('SIGINT');
        });
        [code] = (await once(child, 'exit')) as [unknown];
        expectNothingLeft(long);
      }
      expect(code).to.equal(130);
    }

    it('leave nothing of verify', async () => {
      await interrupt('verify');
      expect((await long.run('verify')).status).to.equal(0);
    });

    it('leave a usable index of rebuild', async () => {
      await interrupt('rebuild');
      expect((await long.run('status')).status).to.equal(0);
      expect((await long.run('verify')).status).to.equal(0);
    });
  });
});
