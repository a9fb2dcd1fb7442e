import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { UnreadableTransactionError } from '../../lib/node/errors';
import { HostTransactions } from '../../lib/node/host-transactions';
import { bcoin, type TestFullNode } from '../support/bcoin/bcoin';
import { caught } from '../support/expectations/caught';
import { madeTransaction, type MadeInput, type MadeOutput } from '../support/chain/made-blocks';
import { openRegtestNode } from '../support/bcoin/regtest-node';
import { afterThisTurn } from '../support/expectations/turn';

const MANY = 2_000;
const SCRIPT = Buffer.from('76a90088ac', 'hex');
const UNLOCK = Buffer.from('0151', 'hex');

const inputs = (count: number, witness?: readonly Buffer[]): MadeInput[] =>
  Array.from({ length: count }, (_, index) => ({
    txid: Buffer.alloc(32, 9),
    index,
    unlock: UNLOCK,
    ...(index % 2 === 0 && witness && { witness })
  }));
const outputs = (count: number, value = 10_000): MadeOutput[] => Array<MadeOutput>(count).fill({ value, script: SCRIPT });

describe('a large transaction for the pool', () => {
  let host: TestFullNode;
  let transactions: HostTransactions;

  before(async () => {
    host = await openRegtestNode();
    transactions = new HostTransactions(host);
  });
  after(() => host.close());

  it('is what bcoin itself would have read', async () => {
    const raws = {
      'many outputs': madeTransaction(inputs(1), outputs(MANY), 500_000_001),
      'many inputs': madeTransaction(inputs(MANY), outputs(1), 7),
      witnesses: madeTransaction(inputs(MANY, [SCRIPT, Buffer.alloc(0), Buffer.alloc(300, 5)]), outputs(2), 0),
      'a long script': madeTransaction(inputs(1), [{ value: 1, script: Buffer.alloc(50_000, 0x61) }], 0)
    };
    for (const [name, raw] of Object.entries(raws)) {
      const padded = Buffer.concat([Buffer.alloc(3), raw]);
      const read = await transactions.read(scanWholeTransaction(padded.subarray(3)));
      const own = bcoin.TX.fromRaw(raw);
      for (const each of [read, own]) {
        each.hash();
        each.witnessHash();
      }
      expect(read, name).to.be.instanceOf(bcoin.TX);
      expect(read, name).to.deep.equal(own);
      expect(read.getWeight(), name).to.equal(own.getWeight());
    }
  });

  it('is read in slices, between which others have their turns', async () => {
    await transactions.read(scanWholeTransaction(madeTransaction(inputs(1), outputs(1), 0)));
    const hasTurned = afterThisTurn();
    await transactions.read(scanWholeTransaction(madeTransaction(inputs(1), outputs(MANY), 0)));
    expect(hasTurned()).to.equal(true);
  });

  it('is refused as a small one is if bcoin cannot read it', async () => {
    for (const count of [1, MANY]) {
      const raw = madeTransaction(inputs(1), outputs(count, 2 ** 62), 0);
      expect(await caught(transactions.read(scanWholeTransaction(raw))), `${count}`).to.be.instanceOf(UnreadableTransactionError);
    }
  });
});
