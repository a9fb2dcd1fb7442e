import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { scanBlock, spendingInputs } from '../../lib/bitcoin/block';
import { MalformedBytesError } from '../../lib/bitcoin/reader';
import { hashOfUndo } from '../../lib/fleet/reader/undo-hash';
import { COIN_OVERHEAD, writeCoin } from '../../lib/index/records/coin-record';
import { SpentHasher, SPENT_HASHES } from '../../lib/index/records/spent-hash';
import { BcoinNode } from '../../lib/node/bcoin';
import { undoCoins } from '../../lib/node/undo-record';
import { MemoryStore } from '../../lib/store/memory-store';
import { untilLive } from '../support/index/base-index';
import { bcoin } from '../support/bcoin/bcoin';
import { CHAIN_A_TIMEOUT_MS, copiedChain } from '../support/node/chain-a-node';
import { indexerOn } from '../support/node/indexed-node';
import { activeChain, reorganize } from '../support/chain/regtest-chain';
import { openRegtestNode } from '../support/bcoin/regtest-node';
import type { ChainIndexer } from '../../lib/index/chain-index';
import type { TestFullNode } from '../support/bcoin/bcoin';

/** undefined for bytes that are no record. */
function refusal(error: unknown): undefined {
  if (!(error instanceof MalformedBytesError)) throw error;
}

describe('the hash over the coins that a block spends', function () {
  this.timeout(CHAIN_A_TIMEOUT_MS);
  let host: TestFullNode;
  let node: BcoinNode;
  let index: ChainIndexer;
  const store = new MemoryStore();
  /** Undo records of the blocks that spend something. */
  const records: { readonly hash: Buffer; readonly undo: Buffer }[] = [];

  before(async () => {
    host = await openRegtestNode({ prefix: await copiedChain() });
    node = new BcoinNode(host);
    index = indexerOn(node, { store, spentHashes: true });
    await index.open();
    await untilLive(index);
    for (const raw of await activeChain(node)) {
      const block = scanBlock(raw);
      if (spendingInputs(block) === 0) continue;
      records.push({ hash: block.hash, undo: (await node.undoRecord(block.hash)) ?? expect.fail('an undo record') });
    }
  });

  after(async () => {
    await index.close();
    await host.close();
  });

  const known = (hash: Buffer): Buffer | undefined => index.latest.read((snapshot) => snapshot.spentHash(hash));

  it('is that of the undo record of a node, for every block of a real chain', async () => {
    expect(records.length).to.be.greaterThan(20);
    for (const { hash, undo } of records) expect(await hashOfUndo(undo)).to.deep.equal(known(hash));
  });

  it('is another one whatever is changed in the record but the version of a transaction, which no answer has', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 255 }), async (which, where, change) => {
        const { hash, undo } = records[which % records.length] ?? expect.fail('a record');
        const other = Buffer.from(undo);
        const at = where % undo.length;
        other.writeUInt8(other.readUInt8(at) ^ change, at);
        const made = await hashOfUndo(other).catch(refusal);
        if (made === undefined) return;
        const isSame = made.equals(known(hash) ?? expect.fail('a hash'));
        const coins = [undo, other].map((record) => [...undoCoins(record)]);
        expect(isSame).to.equal(JSON.stringify(coins[0]) === JSON.stringify(coins[1]));
      })
    );
  });

  it('is not made of a record whose key is on no curve, or whose script has a negative length', async () => {
    // One coin: version 1, height 0, 1 satoshi, and the script.
    const record = (script: string): Buffer => Buffer.from(`01000000010000000001${script}`, 'hex');
    const noKey = record(`04${'5'.padStart(64, '0')}`);
    const noLength = record('fd0500');
    for (const bytes of [noKey, noLength]) expect(await hashOfUndo(bytes).catch(refusal)).to.equal(undefined);
  });

  it('is of a coin with the longest scripts as well', async () => {
    const script = Buffer.alloc(100_000, 0x51);
    const hasher = new SpentHasher();
    const coin = Buffer.alloc(script.length + COIN_OVERHEAD);
    hasher.add(7, true, coin, 0, writeCoin(coin, 0, 31, 5, script, 0, script.length));
    // One coin: version 1, height 7 of a coinbase, 5 satoshis, the script after its length + 6.
    const record = Buffer.concat([Buffer.from('01000000010f00000005fea6860100', 'hex'), script]);
    expect(await hashOfUndo(record)).to.deep.equal(hasher.take());
  });

  it('is not made by an index that started from coins: it does not have those that a block spends of them', async () => {
    const { hash } = records.at(-1) ?? expect.fail('a record');
    const height = index.latest.read((snapshot) => snapshot.heightOf(hash)) ?? expect.fail('a height');
    const above = (await activeChain(node)).slice(height);
    await host.chain.reset(height - 1);
    const fromCoins = new MemoryStore();
    const other = indexerOn(node, { store: fromCoins, spentHashes: true, bootstrap: 'coins' });
    await other.open();
    await untilLive(other);
    for (const raw of above) await host.chain.add(bcoin.Block.fromRaw(raw));
    await untilLive(other);
    expect(other.latest.read((snapshot) => snapshot.heightOf(hash))).to.equal(height);
    for await (const [key] of fromCoins.range(SPENT_HASHES)) expect.fail(key.toString('hex'));
    await other.close();
    await untilLive(index);
  });

  it('is kept when the block has left the chain, and is not made without the option', async () => {
    const { hash } = records.at(-1) ?? expect.fail('a record');
    const before = known(hash);
    const height = index.latest.read((snapshot) => snapshot.heightOf(hash)) ?? expect.fail('a height');
    const back = host.chain.height - height + 1;
    await reorganize(host, back, back + 1);
    await untilLive(index);
    expect(index.latest.read((snapshot) => snapshot.heightOf(hash))).to.equal(undefined);
    expect(known(hash)).to.deep.equal(before);
    const plain = new MemoryStore();
    const without = indexerOn(node, { store: plain });
    await without.open();
    await untilLive(without);
    for await (const [key] of plain.range(SPENT_HASHES)) expect.fail(key.toString('hex'));
    await without.close();
  });
});
