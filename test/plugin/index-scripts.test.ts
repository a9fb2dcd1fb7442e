import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { GENESIS_KEY, putRecord, recordOf } from '../../lib/index/records/layout';
import { describeScriptRecord, kindOfRecord } from '../../lib/scripts/records/describe-record';
import { putFilling } from '../../lib/scripts/records/filling';
import { FILLING_KEY, LAYOUT_VERSION } from '../../lib/scripts/records/layout';
import { LooseScripts } from '../../lib/scripts/records/loose-scripts';
import { RowCursor } from '../../lib/scripts/records/row';
import { groupKey } from '../../lib/scripts/records/block-txids';
import { undoKey } from '../../lib/scripts/records/undo-record';
import { PAGE_TXIDS } from '../../lib/scripts/txids/transaction-numbers';
import { versionRecord, WHOLE_STORE } from '../../lib/store/migrate';
import { PAGE_LENGTH } from '../../lib/store/pages';
import { TIP_KEY } from '../../lib/index/records/chain';
import { reorganize } from '../support/chain/regtest-chain';
import { mine } from '../support/bcoin/regtest-node';
import { StoppedNodeFolder } from '../support/node/stopped-node';
import type { Store } from '../../lib/store/store';

const HEIGHT = 118;
const UNDO = 20;

/** The last record of rows that satisfies `isRight`. */
async function rowsRecord(store: Store, isRight: (cursor: RowCursor, rows: number) => boolean): Promise<[key: Buffer, value: Buffer]> {
  let found: [Buffer, Buffer] | undefined;
  for await (const [key, value] of store.range(WHOLE_STORE)) {
    if (kindOfRecord(key) !== 'rows') continue;
    const cursor = new RowCursor(key, value);
    let rows = 0;
    while (cursor.next()) rows++;
    if (isRight(cursor, rows)) found = [key, value];
  }
  return found ?? expect.fail('such rows');
}

const single = (store: Store): Promise<[Buffer, Buffer]> => rowsRecord(store, ({ height }, rows) => rows === 1 && height > HEIGHT - UNDO);
const grouped = (store: Store): Promise<[Buffer, Buffer]> => rowsRecord(store, (_, rows) => rows > 3);

describe('the tools for the index by script of a stopped node', function () {
  this.timeout(300_000);
  let made: StoppedNodeFolder;
  let folder: StoppedNodeFolder;

  before(async () => {
    made = await StoppedNodeFolder.make();
    await writeFile(join(made.prefix, 'regtest/bcoin.conf'), `rest-undo: ${UNDO}\nrest-addresses: true\n`);
    // There is no index by script yet.
    expect(await made.run('verify', '--scripts')).to.include({ status: 3 });
    const { status, out } = made.runAlone('rebuild', '--scripts');
    expect(status).to.equal(0);
    expect(out).to.match(/^The index by script was filled again up to block 118 \([0-9a-f]{64}\), in \d+ s\.\n$/);
    expect(existsSync(join(made.prefix, 'regtest/rest/scripts-filling'))).to.equal(false);
  });
  after(() => made.remove());
  beforeEach(async () => {
    folder = await made.copy();
  });
  afterEach(() => folder.remove());

  const verified = async (...options: string[]): Promise<object> =>
    JSON.parse((await folder.run('verify', ...options, '--json')).out) as object;

  describe('status', () => {
    it('shows its block beside that of the index', async () => {
      const { status, out } = await folder.run('status');
      expect(status).to.equal(0);
      expect(out).to.match(
        /\nScripts +block 118 \([0-9a-f]{64}\)\n +in step\n +txids of \d+ transactions\n +[0-9.]+ MB in \S+rest\/scripts\n$/
      );
      await folder.withNode((node) => mine(node, 2));
      const json = JSON.parse((await folder.run('status', '--json')).out) as object;
      expect(json).to.have.property('scripts').that.deep.includes({ onNodeChain: true, blocksBehind: 2, switchedOn: true });
    });

    it('shows it without the other index', async () => {
      await rm(folder.indexFolder, { recursive: true });
      const { status, out } = await folder.run('status');
      expect(status).to.equal(3);
      expect(out).to.match(/^Index +there is no index in \S+rest\/index; .*\nScripts +block 118 \([0-9a-f]{64}\)\n/);
      const json = JSON.parse((await folder.run('status', '--json')).out) as object;
      expect(json).to.have.property('index', null);
      expect(json).to.have.property('scripts').that.deep.includes({ onNodeChain: true });
    });

    it('says that it is switched off, and how large it is', async () => {
      await writeFile(join(folder.prefix, 'regtest/bcoin.conf'), '');
      expect((await folder.run('status')).out).to.match(
        / MB in \S+rest\/scripts\n +not switched on in bcoin\.conf or the environment \(rest-addresses\); it stays as it is\n$/
      );
    });

    it('says that its blocks are not those of the node, and fails', async () => {
      await folder.withNode((node) => reorganize(node, 2, 3));
      const { status, out } = await folder.run('status');
      expect(status).to.equal(1);
      expect(out).to.include("the index by script is not on the node's chain");
    });

    it('shows how far the filling is, which the node continues', async () => {
      await folder.withScripts((store) =>
        store.batch(
          [
            { type: 'del', key: TIP_KEY },
            putFilling({ step: 'sorting', at: { height: 98, hash: Buffer.alloc(32, 1) }, loaded: 3, lengths: [1, 2, 3, 4] })
          ],
          { durable: true }
        )
      );
      const { status, out } = await folder.run('status');
      expect(status).to.equal(0);
      expect(out).to.include('\nScripts  being filled: step 2 of 2, 3 of 4 files sorted\n');
      expect(await folder.run('verify', '--scripts'))
        .to.include({ status: 3 })
        .and.to.have.property('err')
        .that.includes('being filled');
      await folder.withScripts((store) =>
        store.batch([{ type: 'del', key: FILLING_KEY }, versionRecord(LAYOUT_VERSION + 1)], { durable: true })
      );
      expect(await folder.run('status'))
        .to.include({ status: 3 })
        .and.to.have.property('err')
        .that.includes(`has layout ${LAYOUT_VERSION + 1}`);
    });
  });

  describe('verify --scripts', () => {
    it('finds no difference in a correct index, whole or in part, behind the node or not', async () => {
      const { status, out } = await folder.run('verify', '--scripts');
      expect(status).to.equal(0);
      expect(out).to.match(
        /^The index by script is right: all its \d+ rows, and the txids of all blocks, up to block 118 \(.*\)\.\nIts last 20 blocks can be undone without the node\.\n$/
      );
      await folder.withNode((node) => mine(node, 2));
      expect(await verified('--scripts')).to.include({ verified: true, blocks: 119, undoableBlocks: UNDO });
      expect(await verified('--scripts=10%')).to.include({ verified: true, blocks: 12, percent: 10 });
      expect((await folder.run('verify', '--scripts=0.1%')).out).to.match(
        /^The index by script is right: all \d+ rows, and the txids, of 1 of its 119 /
      );
    });

    const changes: readonly (readonly [what: string, change: (store: Store) => Promise<RegExp>])[] = [
      [
        'a row that is missing',
        async (store) => {
          const [key] = await single(store);
          await store.batch([{ type: 'del', key }], { durable: true });
          return new RegExp(`${describeScriptRecord(key)}: missing\\.`);
        }
      ],
      [
        'a row of other amounts in an undamaged record',
        async (store) => {
          const [key, value] = await single(store);
          const record = Buffer.from(recordOf(key, value));
          record.writeUInt8(record.readUInt8(1) ^ 1, 1);
          await store.batch([putRecord(key, record)], { durable: true });
          return new RegExp(`${describeScriptRecord(key)}: expected \\d+ bytes, got \\d+; at byte 1: expected `);
        }
      ],
      [
        'rows that are missing at the end of an undamaged record of many',
        async (store) => {
          const [key, value] = await grouped(store);
          const cursor = new RowCursor(key, value);
          cursor.next();
          const record = recordOf(key, value);
          const end = cursor.bytes.byteOffset - record.byteOffset + cursor.bytes.length;
          await store.batch([putRecord(key, record.subarray(0, end))], { durable: true });
          return /row of transaction \d+ of the block at height \d+, of the script with the hash [0-9a-f]{20}: missing\./;
        }
      ],
      [
        'wrong undo records',
        async (store) => {
          const key = undoKey(110);
          const [value = Buffer.alloc(0)] = await store.load([key]);
          const record = Buffer.from(recordOf(key, value));
          record.writeUInt8(record.readUInt8(70) ^ 1, 70);
          await store.batch([putRecord(key, record)], { durable: true });
          return /undo record of height 110: expected \d+ bytes, got \d+; at byte 70: /;
        }
      ],
      [
        'a gap in the undo records',
        async (store) => {
          await store.batch([{ type: 'del', key: undoKey(105) }], { durable: true });
          return /undo record of height 105: missing\./;
        }
      ],
      [
        'other txids',
        async (store) => {
          const page: Buffer[] = [];
          store.pages.visit([1], 0, 1, Infinity, (_, bytes, start) => page.push(Buffer.from(bytes.subarray(start, start + PAGE_LENGTH))));
          const [bytes = expect.fail('a page')] = page;
          await store.pages.write(1, bytes.fill(7, 64, 96));
          // Each block has one transaction.
          const height = PAGE_TXIDS + 2;
          return new RegExp(`txid of transaction 0 of the block at height ${height}: expected [0-9a-f]{64}, got (07){32}\\.`);
        }
      ],
      [
        'another checksum of txids',
        async (store) => {
          const key = groupKey(60);
          const record = Buffer.from(recordOf(key, store.get(key) ?? expect.fail('a record')));
          record.writeUInt8(record.readUInt8(6 + 6 * 60 + 3) ^ 1, 6 + 6 * 60 + 3);
          await store.batch([putRecord(key, record)], { durable: true });
          return /the checksum of the txids of the block at height 60 is wrong\./;
        }
      ]
    ];

    for (const [what, change] of changes)
      it(`finds ${what}, in all blocks and in chosen ones`, async () => {
        let expected = /never/;
        await folder.withScripts(async (store) => {
          expected = await change(store);
        });
        const { status, out } = await folder.run('verify', '--scripts');
        expect(status).to.equal(1);
        expect(out)
          .to.match(/^The index by script is wrong: /)
          .and.match(expected);
        // In effect all blocks.
        const chosen = await folder.run('verify', '--scripts=99.9%');
        expect(chosen.status).to.equal(1);
        expect(chosen.out).to.match(expected);
      });

    it('finds superfluous records', async () => {
      for (const change of [
        async (store: Store): Promise<string> => {
          const [key, value] = await single(store);
          const other = Buffer.from(key);
          other[10] = other.readUInt8(10) ^ 1;
          await store.batch([putRecord(other, recordOf(key, value))], { durable: true });
          return `rows of the block at height ${key.readUInt32BE(11)}: expected `;
        },
        async (store: Store): Promise<string> => {
          // A filter that knows of no script.
          await store.batch(LooseScripts.forChain(0).writes(HEIGHT + 1), { durable: true });
          return 'readers do not know that there is one';
        },
        async (store: Store): Promise<string> => {
          await store.batch([putRecord(undoKey(HEIGHT + 1), Buffer.alloc(32))], { durable: true });
          return `undo record of height ${HEIGHT + 1}: expected no such record`;
        },
        async (store: Store): Promise<string> => {
          await store.batch([putRecord(Buffer.from('x12'), Buffer.alloc(32))], { durable: true });
          return 'unknown record 783132: expected no such record';
        }
      ]) {
        await folder.remove();
        folder = await made.copy();
        let what = '';
        await folder.withScripts(async (store) => {
          what = await change(store);
        });
        const { status, out } = await folder.run('verify', '--scripts');
        expect(status, what).to.equal(1);
        expect(out).to.include(what);
      }
    });

    it('names damage, and the index that has it', async () => {
      await folder.withScripts(async (store) => {
        const [key, value] = await single(store);
        const flipped = Buffer.from(value);
        flipped[0] = flipped.readUInt8() ^ 1;
        await store.batch([{ type: 'put', key, value: flipped }], { durable: true });
      });
      const { status, err } = await folder.run('verify', '--scripts');
      expect(status).to.equal(1);
      expect(err).to.match(/^in the index by script: the record under 73[0-9a-f]{32} is damaged: expected checksum /);
      expect(await folder.run('verify')).to.include({ status: 0 });
    });

    it('says that its blocks are not those of the node', async () => {
      await folder.withNode((node) => reorganize(node, 2, 3));
      expect(await verified('--scripts')).to.include({ verified: false, onNodeChain: false });
    });
  });

  describe('rebuild --scripts', () => {
    it('repairs a wrong index, and replaces an unfinished filling', async () => {
      await folder.withScripts((store) =>
        store.batch([{ type: 'del', key: TIP_KEY }, putRecord(undoKey(3), Buffer.alloc(7))], { durable: true })
      );
      await writeFile(join(folder.prefix, 'regtest/bcoin.conf'), 'rest-undo: 1000\n');
      expect(await folder.run('rebuild', '--scripts')).to.include({ status: 0 });
      expect(await verified('--scripts')).to.include({ verified: true, undoableBlocks: HEIGHT });
    });

    it('leaves an index of another network alone, like the other commands', async () => {
      await folder.withScripts((store) => store.batch([putRecord(GENESIS_KEY, Buffer.alloc(32, 7))], { durable: true }));
      for (const [command, ...options] of [['rebuild', '--scripts'], ['verify', '--scripts'], ['status']] as const)
        expect(await folder.run(command, ...options))
          .to.include({ status: 3 })
          .and.to.have.property('err')
          .that.includes('the index is of another network');
    });
  });

  it('leave it alone while the node is running, or another process works on it', async () => {
    await folder.withScripts(async () => {
      for (const command of ['verify', 'rebuild']) expect(await folder.run(command, '--scripts')).to.include({ status: 3 });
    });
    await folder.withNode(async () => {
      for (const command of ['verify', 'rebuild'])
        expect(await folder.run(command, '--scripts'))
          .to.include({ status: 3 })
          .and.to.have.property('err')
          .that.includes('the node is running');
    });
    expect(await verified('--scripts')).to.include({ verified: true });
  });

  it('refuse malformed percentages, and percentages for other commands', async () => {
    for (const [args, words] of [
      [['verify', '--scripts=0%'], "--scripts must be a part of the blocks, such as --scripts=1%, or stand alone, not '0%'"],
      [['verify', '--scripts=101%'], "not '101%'"],
      [['verify', '--scripts=some'], "not 'some'"],
      [['rebuild', '--scripts=1%'], "rebuild always rebuilds the whole index by script: --scripts, not '--scripts=1%'"],
      [['status', '--scripts'], '--scripts is for verify and rebuild; status shows both indexes']
    ] as const)
      expect(await folder.run(args[0], args[1]))
        .to.include({ status: 2 })
        .and.to.have.property('err')
        .that.includes(words);
  });
});
