import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { hash256 } from '../../lib/bitcoin/hash';
import { DamagedIndexError } from '../../lib/follow/errors';
import { IndexUnavailableError } from '../../lib/index/errors';
import { HistoryTooLongError, ScriptsUnavailableError, TooManyCoinsError } from '../../lib/scripts/errors';
import { unpacked } from '../../lib/scripts/records/positions';
import { StoredScriptSnapshot } from '../../lib/scripts/read/script-snapshot';
import { caught } from '../support/expectations/caught';
import { blockHash, madeBlock, madeCoinbase, madeTransaction } from '../support/chain/made-blocks';
import { madeChain, madeGenesis, plannedBlock } from '../support/chain/made-chains';
import { expectScriptAnswers } from '../support/index/script-answers';
import { ScriptIndex } from '../support/index/script-index';
import { ScriptModel, sha256 } from '../support/index/script-model';
import type { Position } from '../../lib/index/types';
import type { RowTransaction, ScriptSnapshot } from '../../lib/scripts/types';

const genesisHash = blockHash(madeGenesis);

/** `limit` rows of a history on one side of a position. */
function pageOf(history: readonly RowTransaction[], beyond: Position | undefined, limit: number, ascending: boolean): RowTransaction[] {
  const order = (a: Position, b: Position): number => a.height - b.height || a.index - b.index;
  const ordered = ascending ? history : [...history].reverse();
  return ordered
    .filter(({ position }) => beyond === undefined || (ascending ? order(position, beyond) > 0 : order(position, beyond) < 0))
    .slice(0, limit);
}

/** Reads from two indexes of one chain: in memory each row has a record of its own, and on disk rows share records. */
async function readBoth(model: ScriptModel, work: (one: ScriptSnapshot, other: ScriptSnapshot) => Promise<void>): Promise<void> {
  const [single, grouped] = [await ScriptIndex.open(genesisHash), await ScriptIndex.open(genesisHash, { disk: true })];
  try {
    for (const index of [single, grouped]) await index.connect(model.blocks);
    await grouped.group(33, 7);
    await single.read((one) => grouped.read((other) => work(one, other)));
  } finally {
    await Promise.all([single.close(), grouped.close()]);
  }
}

describe('a snapshot of the index by script', () => {
  for (const disk of [false, true])
    it(`answers as the model does, after every block connected and undone, however rows share records, ${disk ? 'on disk' : 'in memory'}`, async () => {
      const way = fc.record({
        plans: fc.array(plannedBlock, { minLength: 6, maxLength: 12 }),
        grouped: fc.integer({ min: -4, max: 8 }),
        most: fc.integer({ min: 2, max: 64 }),
        out: fc.nat({ max: 4 })
      });
      await fc.assert(
        fc.asyncProperty(way, async ({ plans, grouped, most, out }) => {
          const index = await ScriptIndex.open(genesisHash, { disk });
          try {
            const chain = madeChain(plans);
            const { blocks } = new ScriptModel(chain);
            const from = Math.max(grouped, 0);
            await index.connect(blocks.slice(0, from + 1));
            await index.group(grouped, most);
            await index.connect(blocks.slice(from + 1), 3);
            await index.read((snapshot) => expectScriptAnswers(snapshot, new ScriptModel(chain)));
            const left = Math.max(from, chain.length - 1 - out);
            for (let height = chain.length - 1; height > left; height--) await index.disconnect();
            await index.read((snapshot) => expectScriptAnswers(snapshot, new ScriptModel(chain.slice(0, left + 1))));
          } finally {
            await index.close();
          }
        }),
        { numRuns: disk ? 4 : 25 }
      );
    });

  it('gives every page of a history, from any position on, in both directions', async () => {
    const [plans = []] = fc.sample(fc.array(plannedBlock, { minLength: 40, maxLength: 40 }), { seed: 7, numRuns: 1 });
    const model = new ScriptModel(madeChain(plans));
    const position = fc.record({ height: fc.nat({ max: 41 }), index: fc.oneof(fc.nat({ max: 6 }), fc.constant(0xffff)) });
    const page = fc.record({ beyond: fc.option(position, { nil: undefined }), limit: fc.nat({ max: 70 }), ascending: fc.boolean() });
    await readBoth(model, (one, other) =>
      fc.assert(
        fc.asyncProperty(fc.constantFrom(...model.scripts), page, async (script, asked) => {
          const expected = pageOf(model.history(script), asked.beyond, asked.limit, asked.ascending);
          expect(await one.history(script, asked)).to.deep.equal(expected);
          expect(await other.history(script, asked)).to.deep.equal(expected);
        }),
        { numRuns: 300 }
      )
    );
  });

  for (const [what, grouped] of [
    ['in a record of its own each', -1],
    ['in one record', 13]
  ] as const)
    it(`is walked up page by page, from any position on: rows ${what}`, async () => {
      const [plans = []] = fc.sample(fc.array(plannedBlock, { minLength: 12, maxLength: 12 }), { seed: 7, numRuns: 1 });
      const model = new ScriptModel(madeChain(plans));
      const position = fc.record({ height: fc.nat({ max: 13 }), index: fc.nat({ max: 6 }) });
      const index = await ScriptIndex.open(genesisHash);
      await index.connect(model.blocks);
      await index.group(grouped, 64);
      await index.read((snapshot) =>
        fc.assert(
          fc.asyncProperty(
            fc.constantFrom(...model.scripts),
            fc.option(position, { nil: undefined }),
            fc.integer({ min: 1, max: 5 }),
            async (script, above, most) => {
              const walk = snapshot.walk(script, above);
              const found: RowTransaction[] = [];
              for (let isOver = false; !isOver;) {
                const { positions, txids, isLast } = await walk.next(most);
                expect(positions.length).to.be.at.most(most);
                for (const [i, each] of positions.entries())
                  found.push({ position: unpacked(each), txid: txids.subarray(i * 32, (i + 1) * 32) });
                isOver = isLast;
              }
              await walk.close();
              expect(found).to.deep.equal(pageOf(model.history(script), above, Infinity, true));
            }
          )
        )
      );
      await index.close();
    });

  it('says what the newest transactions changed for any scripts together, from any position on', async () => {
    const [plans = []] = fc.sample(fc.array(plannedBlock, { minLength: 40, maxLength: 40 }), { seed: 11, numRuns: 1 });
    const model = new ScriptModel(madeChain(plans));
    const position = fc.record({ height: fc.nat({ max: 41 }), index: fc.oneof(fc.nat({ max: 6 }), fc.constant(0xffff)) });
    const asked = fc.record({
      scripts: fc.subarray([...model.scripts, sha256(Buffer.from('nobody'))]),
      beyond: fc.option(position, { nil: undefined }),
      limit: fc.nat({ max: 70 })
    });
    await readBoth(model, (one, other) =>
      fc.assert(
        fc.asyncProperty(asked, async ({ scripts, beyond, limit }) => {
          const isBelow = ({ height, index }: Position): boolean =>
            beyond === undefined || height < beyond.height || (height === beyond.height && index < beyond.index);
          const expected = model
            .changes(scripts)
            .filter((change) => isBelow(change.position))
            .slice(0, limit);
          expect(await one.changes(scripts, { beyond, limit })).to.deep.equal(expected);
          expect(await other.changes(scripts, { beyond, limit })).to.deep.equal(expected);
        }),
        { numRuns: 300 }
      )
    );
  });

  it('shows a txid that is in the chain twice only at its last position, and its coins once', async () => {
    const script = Buffer.from('51', 'hex');
    const chain = [madeGenesis];
    for (const [i, tag] of [1, 2, 1, 3].entries())
      chain.push(madeBlock(blockHash(chain.at(-1) as Buffer), [madeCoinbase(tag, [{ value: 50, script }])], i + 1));
    const index = await ScriptIndex.open(genesisHash);
    const model = new ScriptModel(chain);
    await index.connect(model.blocks);
    await index.read(async (snapshot) => {
      const heights = async (page: Parameters<ScriptSnapshot['history']>[1]): Promise<number[]> =>
        (await snapshot.history(sha256(script), page)).map(({ position }) => position.height);
      expect(await heights({ limit: 10 })).to.deep.equal([4, 3, 2]);
      expect(await heights({ limit: 2, ascending: true })).to.deep.equal([2, 3]);
      expect(await heights({ limit: 1, ascending: true })).to.deep.equal([2]);
      expect(await snapshot.changes([sha256(script)], { limit: 10 })).to.deep.equal(model.changes([sha256(script)]));
      expect(Array.from((await snapshot.coins(sha256(script), 3)).coins, ({ height }) => height)).to.deep.equal([2, 3, 4]);
      await expectScriptAnswers(snapshot, model);
    });
    await index.disconnect();
    await index.disconnect();
    await index.read((snapshot) => expectScriptAnswers(snapshot, new ScriptModel(chain.slice(0, 3))));
    await index.close();
  });

  it('has the coins of a txid that is in the chain twice once, also if the main index started from coins', async () => {
    const [script, other] = [Buffer.from('51', 'hex'), Buffer.from('52', 'hex')];
    // More than a row lists, or can be read together with those of other transactions.
    const outputs = Array.from({ length: 40 }, () => ({ value: 50, script }));
    const coinbase = madeCoinbase(1, outputs);
    const txid = hash256(coinbase);
    const spending = madeTransaction(
      outputs.map((_, index) => ({ txid, index })),
      [{ value: 2_000, script: other }],
      0
    );
    const chain = [madeGenesis];
    for (const [i, transactions] of [[coinbase], [madeCoinbase(2, [{ value: 50, script: other }]), spending], [coinbase]].entries())
      chain.push(madeBlock(blockHash(chain.at(-1) as Buffer), transactions, i + 1));
    const index = await ScriptIndex.open(genesisHash);
    const model = new ScriptModel(chain);
    await index.connect(model.blocks);
    await index.startFromCoins(outputs.map(({ value }, output) => ({ txid, index: output, height: 3, coinbase: true, value, script })));
    await index.read(async (snapshot) => {
      const { coins } = await snapshot.coins(sha256(script), 1_000);
      expect([...coins]).to.deep.equal(model.coins(sha256(script)));
      expect(coins.count).to.equal(outputs.length);
    });
    await index.close();
  });

  for (const [what, grouped] of [
    ['in a record of its own each', -1],
    ['in one record', 30]
  ] as const)
    it(`finds the coins of which rows do not say whether they are spent, also if the main index started from coins: rows ${what}`, async () => {
      const [near, far, many, often, other] = [0x51, 0x52, 0x53, 0x54, 0x55].map((code) => Buffer.of(code)) as [
        Buffer,
        Buffer,
        Buffer,
        Buffer,
        Buffer
      ];
      const paid = (...scripts: readonly Buffer[]): { value: number; script: Buffer }[] => scripts.map((script) => ({ value: 50, script }));
      /** As many as can be read together. */
      const before = Array<Buffer>(32).fill(other);
      const coinbases = [
        paid(near, other, ...Array<Buffer>(8).fill(often)),
        paid(...before, far, many),
        paid(...before, far, many),
        paid(near),
        ...Array.from({ length: 20 }, () => paid(...before, other, many))
      ].map((outputs, tag) => madeCoinbase(tag, outputs));
      const [first, second] = coinbases.map(hash256) as [Buffer, Buffer];
      // Its output stands where the 33rd of the transaction before it would, if there were as many in each.
      const next = madeTransaction([{ txid: first, index: 1 }], paid(far), 0);
      const spending = madeTransaction(
        [
          { txid: first, index: 0 },
          { txid: first, index: 5 },
          { txid: second, index: 32 },
          { txid: second, index: 33 }
        ],
        paid(other),
        0
      );
      const chain = [madeGenesis];
      for (const [i, coinbase] of coinbases.entries()) {
        const others = i === 1 ? [next] : i === coinbases.length - 1 ? [spending] : [];
        chain.push(madeBlock(blockHash(chain.at(-1) as Buffer), [coinbase, ...others], i + 1));
      }
      const model = new ScriptModel(chain);
      const index = await ScriptIndex.open(genesisHash);
      await index.connect(model.blocks);
      await index.group(grouped);
      await index.read((snapshot) => expectScriptAnswers(snapshot, model));
      await index.startFromCoins(
        [near, far, many, often].flatMap((script) => model.coins(sha256(script)).map((coin) => ({ ...coin, script })))
      );
      await index.read(async (snapshot) => {
        for (const script of [near, far, many, often].map(sha256))
          expect([...(await snapshot.coins(script, 100)).coins]).to.deep.equal(model.coins(script));
      });
      await index.close();
    });

  it('has limits, and says so when an answer would exceed them', async () => {
    const script = Buffer.from('51', 'hex');
    const chain = [madeGenesis];
    for (let height = 1; height <= 700; height++)
      chain.push(madeBlock(blockHash(chain.at(-1) as Buffer), [madeCoinbase(height % 250, [{ value: height, script }])], height));
    const index = await ScriptIndex.open(genesisHash);
    await index.connect(new ScriptModel(chain).blocks);
    await index.read(async (snapshot) => {
      const asked = sha256(script);
      expect((await snapshot.totals(asked, 700)).transactions).to.equal(700);
      expect(await caught(Promise.resolve(snapshot.totals(asked, 699)))).to.be.instanceOf(HistoryTooLongError);
      expect((await snapshot.coins(asked, 700)).coins.count).to.equal(700);
      expect(await caught(Promise.resolve(snapshot.coins(asked, 699)))).to.be.instanceOf(TooManyCoinsError);
      expect(await snapshot.history(asked, { limit: 0 })).to.deep.equal([]);
      expect(await caught(snapshot.txids(701))).to.be.instanceOf(RangeError);
      for (const [height, at] of [
        [701, 0],
        [-1, 0],
        [1, 65_536],
        [1, -1]
      ] as const)
        expect(snapshot.txidAt({ height, index: at })).to.equal(undefined);
    });
    await index.close();
  });

  it('does not exist before the first block', async () => {
    const index = await ScriptIndex.open(genesisHash);
    const records = index.store.snapshot();
    expect(StoredScriptSnapshot.tipOf(records)).to.equal(undefined);
    // It must fail before it reads the main index.
    const { changes, txids = expect.fail('txids'), loose = expect.fail('loose') } = index.writer;
    expect(
      () => new StoredScriptSnapshot(records, {} as ScriptSnapshot['index'], { changes, txids: txids.view, loose }, (work) => work)
    ).to.throw(ScriptsUnavailableError);
    records.close();
    await index.close();
  });

  it('stays the same while the index moves on', async () => {
    const [plans = []] = fc.sample(fc.array(plannedBlock, { minLength: 8, maxLength: 8 }), { seed: 9, numRuns: 1 });
    const chain = madeChain(plans);
    const { blocks } = new ScriptModel(chain);
    const index = await ScriptIndex.open(genesisHash);
    await index.connect(blocks.slice(0, 5));
    await index.read(async (snapshot) => {
      await index.connect(blocks.slice(5));
      await expectScriptAnswers(snapshot, new ScriptModel(chain.slice(0, 5)));
    });
    await index.read((snapshot) => expectScriptAnswers(snapshot, new ScriptModel(chain)));
    await index.close();
  });

  it('reports a damaged record rather than give a wrong answer, whichever bit is flipped', async () => {
    const [plans = []] = fc.sample(fc.array(plannedBlock, { minLength: 6, maxLength: 6 }), { seed: 3, numRuns: 1 });
    const chain = madeChain(plans);
    const model = new ScriptModel(chain);
    const index = await ScriptIndex.open(genesisHash);
    await index.connect(model.blocks);
    await index.group(4, 5);
    const records: (readonly [Buffer, Buffer])[] = [];
    for await (const entry of index.store.range({ gte: Buffer.from('s'), lt: Buffer.from('t') })) records.push(entry);
    let said = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...records), fc.nat(), async ([key, value], pick) => {
        const flipped = Buffer.from(value);
        const bit = pick % (value.length * 8);
        flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        await index.store.batch([{ type: 'put', key, value: flipped }], { durable: false });
        const error = await caught(index.read((snapshot) => expectScriptAnswers(snapshot, model)));
        expect((error as IndexUnavailableError).cause).to.be.instanceOf(DamagedIndexError);
        said++;
        await index.store.batch([{ type: 'put', key, value }], { durable: false });
      }),
      { numRuns: 60 }
    );
    expect(said).to.equal(60);
    await index.read((snapshot) => expectScriptAnswers(snapshot, model));
    await index.close();
  });
});
