import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { decodeTransactions } from '../../lib/answers/transactions/decoding';
import { DEFAULT_MOST_FEE_RATE, Sending } from '../../lib/answers/transactions/sending';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { bcoin, type HostKeyRing } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { COINBASE_SATS } from '../support/chain/coinbases';
import { madeTransaction, type MadeOutput } from '../support/chain/made-blocks';
import { mine } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';
import { signed } from '../support/chain/signed';
import type { HostTransaction } from '../../lib/node/host';

describe('large transactions in one request', () => {
  it('are decoded in several turns of the event loop', async () => {
    const raw = madeTransaction(
      [{ txid: Buffer.alloc(32, 1), index: 0 }],
      Array<MadeOutput>(8_000).fill({ value: 0, script: Buffer.from('51', 'hex') }),
      0
    ).toString('hex');
    let turns = 0;
    let isDecoded = false;
    const count = (): void => {
      turns++;
      if (!isDecoded) setImmediate(count);
    };
    setImmediate(count);
    const transactions = await decodeTransactions(Array<string>(25).fill(raw), String);
    isDecoded = true;
    expect(transactions).to.have.length(25);
    expect(turns).to.be.above(3);
  });
});

describe('transactions that are sent while the index is behind the node', () => {
  const ring: HostKeyRing = bcoin.KeyRing.generate();
  let served: ServedNode;
  let coinbase: HostTransaction;

  before(async () => {
    served = await ServedNode.open({ settings: { 'rest-pool': 'modern' } });
    const [first] = await mine(served.node, 101, undefined, ring.getAddress());
    coinbase = first?.txs[0] as HostTransaction; // every block has one
    await served.settle();
  });
  after(() => served.node.close());

  it('are held to the fee rate that their sender allows', async () => {
    const behind = served.index.reader.hold();
    try {
      const parent = signed(ring, [coinbase], [[ring.getAddress(), COINBASE_SATS - 1_000]]);
      await served.node.mempool.addTX(parent);
      await mine(served.node, 1);
      const sending = new Sending({ node: served.source, reader: { read: (use) => use(behind.snapshot) } });
      const [dear, usual] = [COINBASE_SATS / 2, COINBASE_SATS - 2_000].map((sats) =>
        scanWholeTransaction(signed(ring, [parent], [[ring.getAddress(), sats]]).toRaw())
      );
      if (dear === undefined || usual === undefined) throw new Error('expected two transactions');
      expect(await caught(sending.send(dear, DEFAULT_MOST_FEE_RATE))).to.include({
        code: -25,
        message: 'Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)'
      });
      expect(served.source.pool.entry(dear.txid)).to.equal(undefined);
      await sending.send(usual, DEFAULT_MOST_FEE_RATE);
      expect(served.source.pool.entry(usual.txid)).to.include({ fee: 1_000 });
    } finally {
      behind.release();
    }
  });
});
