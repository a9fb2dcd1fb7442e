import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { scrubAgainAndAgain } from '../../lib/follow/scrub';
import { DiskStore } from '../../lib/store/disk-store';
import { StoreError } from '../../lib/store/errors';
import { caught } from '../support/expectations/caught';
import { flipBit } from '../support/index/flipped-bit';
import { newFolder } from '../support/process/folders';
import { MemoryLog } from '../support/process/memory-log';
import { MergingStore } from '../support/index/merging-store';

const RECORDS = 100;
const range = (letter: string): { gte: Buffer; lt: Buffer } => ({ gte: Buffer.from(letter), lt: Buffer.from(`${letter}~`) });

describe('a store of which only some tables are read when it is opened', () => {
  let folder: string;
  let store: DiskStore;
  let log: MemoryLog;
  let damage: Error[];

  const tables = async (): Promise<string[]> => (await readdir(folder)).filter((name) => name.endsWith('.ldb')).sort();

  /** One pass over the files of the open store. */
  const firstPass = async (onPart: () => void = () => undefined): Promise<void> => {
    const closing = new AbortController();
    await scrubAgainAndAgain({
      store,
      name: 'the index by script',
      wasChecked: false,
      logger: log,
      passMs: 0,
      onDamage: (error) => {
        damage.push(error);
        closing.abort();
      },
      onPart,
      signal: closing.signal
    });
  };

  beforeEach(async () => {
    folder = await newFolder();
    const filled = new MergingStore(folder);
    for (const letter of ['a', 'b']) {
      await filled.open();
      const writes = Array.from(
        { length: RECORDS },
        (_, n) => ({ type: 'put', key: Buffer.from(`${letter}${n}`), value: Buffer.alloc(50) }) as const
      );
      await filled.batch(writes, { durable: false });
      await filled.close();
    }
    expect(await tables()).to.have.length(2);
    store = new DiskStore(folder, { checkedFirst: range('a') });
    [log, damage] = [new MemoryLog(), []];
  });
  afterEach(() => store.close());

  it('does not open if one of them is damaged', async () => {
    const [name = ''] = await tables();
    await flipBit(join(folder, name), 100);
    expect(await caught(store.open()))
      .to.be.instanceOf(StoreError)
      .with.property('message')
      .that.includes(`${name}: `);
  });

  it('does not open if any is missing', async () => {
    const [, name = ''] = await tables();
    await rm(join(folder, name));
    expect(await caught(store.open()))
      .to.be.instanceOf(StoreError)
      .with.property('message')
      .that.includes(`${name} is missing`);
  });

  it('does not open if one is damaged that has only its last key in the range, but one that begins right after the range', async () => {
    const keys = Array.from({ length: RECORDS }, (_, n) => `a${n}`).sort();
    const damagedStore = new DiskStore(folder, { checkedFirst: { gte: Buffer.from(keys.at(-1) ?? ''), lt: Buffer.from('b0') } });
    const [name = '', next = ''] = await tables();
    await flipBit(join(folder, next), 100);
    await damagedStore.open();
    await damagedStore.close();
    await flipBit(join(folder, name), 100);
    expect(await caught(damagedStore.open()))
      .to.be.instanceOf(StoreError)
      .with.property('message')
      .that.includes(`${name}: `);
  });

  it('opens if another one is damaged, which the first pass finds at once', async () => {
    const [, name = ''] = await tables();
    await flipBit(join(folder, name), 100);
    await store.open();
    await firstPass();
    expect(damage.map(({ message }) => message).join()).to.include(`${name}: `);
    expect(log.lines).to.deep.equal([]);
  });

  it('is read from the beginning if it is opened again for another use meanwhile, and no damage is missed', async () => {
    const [, name = ''] = await tables();
    await flipBit(join(folder, name), 100);
    await store.open();
    let prepared: Promise<void> | undefined;
    await firstPass(() => {
      prepared ??= store.prepareFor('catching-up');
    });
    await prepared;
    expect(damage.map(({ message }) => message).join()).to.include(`${name}: `);
    expect(log.lines).to.deep.equal([]);
  });

  it('is read once it is open, if it was not yet at first', async () => {
    const pass = firstPass();
    await store.open();
    await pass;
    expect(log.lines).to.have.length(1);
  });

  it('is read once if there are no further passes', async () => {
    await store.open();
    await firstPass();
    expect(damage).to.deep.equal([]);
    expect(log.lines).to.have.length(1);
    expect(log.lines[0]).to.match(/^info The files of the index by script were looked through: \d+\.\d MB, all sound\.$/);
  });
});
