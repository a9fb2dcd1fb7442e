import { cp, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, afterEach, beforeEach, describe, it } from 'mocha';
import { AddressList } from '../../lib/addresses/address-list';
import { STATE_KEYS } from '../../lib/addresses/records';
import { AddressesUnavailableError } from '../../lib/addresses/state';
import { DiskStore } from '../../lib/store/disk-store';
import { MemoryStore } from '../../lib/store/memory-store';
import { bcoin } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { FAULT, FaultyStore } from '../support/index/faulty-store';
import { flipBit } from '../support/index/flipped-bit';
import { deleteFolders, newFolder } from '../support/process/folders';
import { MemoryLog } from '../support/process/memory-log';
import { entryOf, mine } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';
import { until } from '../support/expectations/until';
import type { NodeSource } from '../../lib/node/types/source';
import type { Store } from '../../lib/store/store';

const ALL = 1_000;

describe('the list of addresses', () => {
  let served: ServedNode;
  let log: MemoryLog;
  /** Heights of the blocks that lists have read. */
  let read: number[];
  const lists: AddressList[] = [];
  let keys = 0;

  beforeEach(async () => {
    served = await ServedNode.open();
    log = new MemoryLog();
    read = [];
    keys = 0;
  });
  afterEach(async () => {
    for (const list of lists.splice(0)) if (list.state.phase !== 'closed') await list.close();
    await served.close();
  });
  after(deleteFolders);

  function opened(store: Store): AddressList {
    const { source: node, index } = served;
    const noting: Pick<NodeSource, 'rawBlock' | 'activeHash' | 'resetting' | 'network'> = {
      network: node.network,
      resetting: false,
      activeHash: (height) => node.activeHash(height),
      rawBlock: (hash) => {
        read.push(index.latest.read((main) => main.heightOf(hash)) ?? -1);
        return node.rawBlock(hash);
      }
    };
    const list = new AddressList({ store, index, node: noting, logger: log, scrubMs: 0, failurePauseMs: 20 });
    lists.push(list);
    list.open();
    return list;
  }
  const storeIn = (folder: string): DiskStore => new DiskStore(folder, { checkedFirst: STATE_KEYS });
  const level = (list: AddressList): Promise<void> =>
    until(() => list.state.phase === 'live' && list.state.height === served.node.chain.height);
  /** Mines a block for each of some new addresses, and returns them. */
  async function paid(count: number, parent = served.node.chain.tip): Promise<string[]> {
    const addresses: string[] = [];
    let tip = parent;
    for (let i = 0; i < count; i++) {
      const ring = bcoin.KeyRing.fromPrivate(Buffer.alloc(32, ++keys), true);
      ring.witness = keys % 2 === 0;
      const [block] = await mine(served.node, 1, tip, ring.getAddress());
      if (block === undefined) throw new Error('expected a block');
      tip = await entryOf(served.node, block);
      addresses.push(ring.getAddress('string', 'regtest'));
    }
    await served.settle();
    return addresses;
  }

  it('has all addresses that the blocks pay to, and those of new blocks', async () => {
    const first = await paid(12);
    const list = opened(new MemoryStore());
    await level(list);
    expect(await list.search('', ALL)).to.deep.equal(first.toSorted());
    const more = await paid(3);
    await level(list);
    const all = [...first, ...more].toSorted();
    expect(await list.search('', ALL)).to.deep.equal(all);
    for (const prefix of [all[0]?.slice(0, 3) ?? '', 'rb1q', 'RB1Q', all[5] ?? '', `${all[5] ?? ''}x`, 'é'])
      expect(await list.search(prefix, ALL), prefix).to.deep.equal(all.filter((address) => address.startsWith(prefix)));
    expect(await list.search('', 4)).to.deep.equal(all.slice(0, 4));
  });

  it('reads each block once, also after a kill, and keeps the addresses of blocks that have left the chain', async () => {
    const folder = await newFolder();
    const first = await paid(20);
    const list = opened(storeIn(folder));
    await level(list);
    expect(read).to.deep.equal(Array.from({ length: 21 }, (_, height) => height));
    // As a kill leaves the files.
    const copy = await newFolder();
    await cp(folder, copy, { recursive: true, filter: (path) => !path.endsWith('LOCK') });
    await list.close();
    read.length = 0;

    // While it is off, the last three blocks are replaced by five others.
    const fork = await served.node.chain.getEntryByHeight(17);
    if (fork === null) throw new Error('expected a block');
    const others = await paid(5, fork);
    const again = opened(storeIn(copy));
    await level(again);
    expect(read).to.deep.equal([18, 19, 20, 21, 22]);
    expect(await again.search('', ALL)).to.deep.equal([...first, ...others].toSorted());

    // While it is on, too.
    read.length = 0;
    const lower = await served.node.chain.getEntryByHeight(21);
    const last = await paid(3, lower ?? undefined);
    await level(again);
    expect(new Set(read)).to.deep.equal(new Set([22, 23, 24]));
    expect(await again.search('', ALL)).to.deep.equal([...first, ...others, ...last].toSorted());
  });

  it('finds the fork below a reorganization of any depth', async () => {
    const folder = await newFolder();
    const first = await paid(40);
    const list = opened(storeIn(folder));
    await level(list);
    await list.close();
    read.length = 0;
    const others = await paid(36, (await served.node.chain.getEntryByHeight(5)) ?? undefined);
    const again = opened(storeIn(folder));
    await level(again);
    expect(await again.search('', ALL)).to.deep.equal([...first, ...others].toSorted());
    expect(Math.min(...read)).to.be.below(6);
    expect(new Set(read).size).to.equal(read.length);
  });

  it('says that it is being filled, and tries again when its store fails', async () => {
    const addresses = await paid(10);
    const store = new FaultyStore(new MemoryStore());
    store.fail('batch', 0);
    const list = opened(store);
    const states: string[] = [];
    list.state$.subscribe((state) => states.push(state.phase === 'filling' ? `filling ${state.height} of ${state.target}` : state.phase));
    expect(await caught(list.search('', ALL))).to.be.instanceOf(AddressesUnavailableError);
    await until(() => list.state.phase === 'failed');
    expect(await caught(list.search('', ALL)))
      .to.be.instanceOf(AddressesUnavailableError)
      .with.property('message', 'the list of addresses failed; the log of the node says why');
    expect(log.lines.filter((line) => line.includes(FAULT))).to.deep.equal([`error The list of addresses stopped: ${FAULT}.`]);
    store.heal();
    await level(list);
    expect(states).to.include('filling 0 of 10');
    expect(await list.search('', ALL)).to.deep.equal(addresses.toSorted());
  });

  it('is filled again if a file or a record is damaged, and if its addresses have another form', async () => {
    const folder = await newFolder();
    const addresses = await paid(10);
    const list = opened(storeIn(folder));
    await level(list);
    await list.close();
    const tables = (await readdir(folder)).filter((name) => name.endsWith('.ldb'));
    expect(tables).not.to.deep.equal([]);
    for (const table of tables) await flipBit(join(folder, table), 100);
    const again = opened(storeIn(folder));
    await level(again);
    expect(log.lines.filter((line) => line.startsWith('warning Filling the list of addresses again: '))).to.have.length(1);
    expect(await again.search('', ALL)).to.deep.equal(addresses.toSorted());
    await again.close();

    const store = storeIn(folder);
    await store.open();
    await store.batch([{ type: 'put', key: Buffer.from('arb1qqqqq'), value: Buffer.alloc(4) }], { durable: true });
    await store.close();
    const third = opened(storeIn(folder));
    await level(third);
    expect(await caught(third.search('', ALL))).to.be.instanceOf(AddressesUnavailableError);
    await level(third);
    expect(await third.search('', ALL)).to.deep.equal(addresses.toSorted());
    await third.close();

    const elsewhere = storeIn(folder);
    await elsewhere.open();
    const [entry] = await entriesOf(elsewhere);
    const [key, value] = entry ?? [Buffer.alloc(0), Buffer.alloc(0)];
    expect(key.toString()).to.equal('S');
    await elsewhere.batch([{ type: 'put', key, value: value.subarray(0, 3) }], { durable: true });
    await elsewhere.close();
    const fourth = opened(storeIn(folder));
    await level(fourth);
    expect(await fourth.search('', ALL)).to.deep.equal(addresses.toSorted());
  });
});

async function entriesOf(store: Store): Promise<(readonly [Buffer, Buffer])[]> {
  const entries: (readonly [Buffer, Buffer])[] = [];
  for await (const entry of store.range(STATE_KEYS)) entries.push(entry);
  return entries;
}
