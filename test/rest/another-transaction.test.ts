import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { putRecord } from '../../lib/index/records/layout';
import { encodePosition, positionKey } from '../../lib/index/records/position';
import { TxidHasher } from '../../lib/index/records/txid-hash';
import { DiskStore } from '../../lib/store/disk-store';
import { COINBASE_SATS } from '../support/chain/coinbases';
import { newFolder } from '../support/process/folders';
import { ask } from '../support/client/http';
import { mineCoinbases, spend } from '../support/chain/regtest-chain';
import { mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';

describe('tx of a txid whose short hash in the index is that of another transaction', () => {
  let prefix: string;
  let served: RestNode;

  beforeEach(async () => {
    prefix = await newFolder();
    served = await openRestNode({ prefix });
  });
  afterEach(() => served.node.close());

  /** Makes the index look as if the txid had the same short hash as the coinbase of block 1. */
  async function confuse(txid: Buffer): Promise<void> {
    await served.node.close();
    const store = new DiskStore(join(prefix, 'regtest/rest/index'));
    await store.open();
    await store.batch([putRecord(positionKey(TxidHasher.of(store).hash(txid)), encodePosition({ height: 1, index: 0 }))], {
      durable: true
    });
    await store.close();
    served = await openRestNode({ prefix });
    await untilReady(served);
  }

  const get = (txid: Buffer, format: string): ReturnType<typeof ask> =>
    ask(served.port, { path: `/rest/tx/${toDisplayHex(txid)}.${format}` });

  it('is not found, whether its block is in memory or not', async () => {
    const block = (await mine(served.node, 2))[0] ?? expect.fail('a block');
    const invented = Buffer.alloc(32, 0xab);
    await confuse(invented);
    for (const format of ['json', 'bin', 'hex']) {
      const { status, body } = await get(invented, format);
      expect(`${status} ${body.toString()}`, format).to.equal(`404 ${toDisplayHex(invented)} not found\r\n`);
    }
    await ask(served.port, { path: `/rest/block/${toDisplayHex(block.hash())}.bin` });
    expect((await get(invented, 'json')).status).to.equal(404);
    expect((await get(block.txs[0]?.hash() ?? expect.fail('a coinbase'), 'json')).status).to.equal(200);
  });

  it('is the pool’s transaction if the pool has it, and only of the present state', async () => {
    const [coinbase] = await mineCoinbases(served.node, 1);
    await mine(served.node, 101);
    const waiting = await spend(served.node, coinbase ?? expect.fail('a coinbase'), COINBASE_SATS);
    const raw = waiting.toRaw();
    await confuse(waiting.hash());
    expect((await get(waiting.hash(), 'bin')).status).to.equal(404);
    await served.node.mempool.addTX(waiting);
    expect((await get(waiting.hash(), 'bin')).body).to.deep.equal(raw);
  });
});
