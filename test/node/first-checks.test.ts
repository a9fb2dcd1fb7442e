// Imported first: bcoin 1.0.2 cannot read its pool from the disk otherwise.
import '../../plugin/leveldown-6';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { BcoinNode } from '../../lib/node/bcoin';
import { MissingOutputsError, TransactionRefusedError } from '../../lib/node/errors';
import { caught } from '../support/expectations/caught';
import { COINBASE_SATS, Coinbases, FEE_SATS } from '../support/chain/coinbases';
import { madeTransaction, type MadeInput, type MadeOutput } from '../support/chain/made-blocks';
import { openModernNode, type ModernNode } from '../support/bcoin/modern-node';
import { mine, openRegtestNode } from '../support/bcoin/regtest-node';

/** A key hash of nobody. */
const SCRIPT = Buffer.concat([Buffer.from('0014', 'hex'), Buffer.alloc(20, 7)]);
const MAX_MONEY = 2_100_000_000_000_000;
/** Blocks after which all forks are active. */
const ACTIVE = 500;
const MOST_ITEMS = 20_000;

const inputs = (count: number, witness?: readonly Buffer[]): MadeInput[] =>
  Array.from({ length: count }, (_, index) => ({ txid: Buffer.alloc(32, 9), index, ...(witness && { witness }) }));
const items = (count: number): Buffer[] => Array<Buffer>(count).fill(Buffer.alloc(0));
const outputs = (count: number, value = 10_000): MadeOutput[] => Array<MadeOutput>(count).fill({ value, script: SCRIPT });

describe('the first checks of a transaction', () => {
  const settings = { 'require-standard': true };
  let modern: ModernNode;
  let own: ModernNode;

  before(async () => {
    modern = await openModernNode({ settings });
    const host = await openRegtestNode({ settings });
    own = { host, node: new BcoinNode(host) };
    await mine(modern.host, ACTIVE);
    await mine(own.host, ACTIVE);
  });
  after(async () => {
    await modern.host.close();
    await own.host.close();
  });

  /** The reason for which both pools refuse a transaction that spends nothing that is there; undefined: only that. */
  async function reasonFor(raw: Buffer): Promise<string | undefined> {
    const reasons: (string | undefined)[] = [];
    for (const { node } of [modern, own]) {
      const error = await caught(node.broadcast(raw));
      if (!(error instanceof TransactionRefusedError)) throw error;
      const isMissing = error instanceof MissingOutputsError;
      const { results } = await node.tryTransactions([raw]);
      const { words, message: reason } = error;
      expect(results).to.deep.equal([isMissing ? { type: 'missing' } : { type: 'refused', reason, ...(words && { words }) }]);
      reasons.push(isMissing ? undefined : reason);
    }
    const [reason, ofOwn] = reasons;
    expect(ofOwn).to.equal(reason);
    return reason;
  }

  it('find what is too large, after what is wrong in any block', async () => {
    expect(await reasonFor(madeTransaction(inputs(2_000), outputs(100), 0))).to.equal(undefined);
    expect(await reasonFor(madeTransaction(inputs(2_500), outputs(100), 0))).to.equal('tx-size');
    expect(await reasonFor(madeTransaction(inputs(1), outputs(4_000), 0))).to.equal('tx-size');
    expect(await reasonFor(madeTransaction(inputs(2_500), outputs(1, MAX_MONEY + 1), 0))).to.equal('bad-txns-vout-toolarge');
    expect(await reasonFor(madeTransaction([...inputs(2_500), ...inputs(1)], outputs(1), 0))).to.equal('bad-txns-inputs-duplicate');
    expect(await reasonFor(madeTransaction(inputs(1), outputs(35_000), 0))).to.equal('bad-txns-oversize');
  });

  it('find witnesses with more items than scripts can use', async () => {
    expect(await reasonFor(madeTransaction(inputs(1, items(MOST_ITEMS)), outputs(1), 0))).to.equal(undefined);
    expect(await reasonFor(madeTransaction(inputs(1, items(MOST_ITEMS + 1)), outputs(1), 0))).to.equal('bad-witness-nonstandard');
    expect(await reasonFor(madeTransaction(inputs(21, items(1_000)), outputs(1), 0))).to.equal('bad-witness-nonstandard');
  });

  it('refuse a member of a package, and the others are judged by themselves', async () => {
    const wrong = madeTransaction(inputs(1, items(MOST_ITEMS + 1)), outputs(1), 0);
    const other = madeTransaction(inputs(2).slice(1), outputs(1), 0);
    const coinbases = await Coinbases.mine(modern.host, 100);
    const good = coinbases.paying([coinbases.fresh()], COINBASE_SATS / 8 - FEE_SATS); // after three halvings
    const submitted = await modern.node.submitPackage([good.toRaw(), other, wrong], 0);
    expect(submitted?.message).to.equal('transaction failed');
    expect(submitted?.members.map((member) => (member.type === 'refused' ? member.reason : member.type))).to.deep.equal([
      'entered',
      'bad-txns-inputs-missingorspent',
      'bad-witness-nonstandard'
    ]);
    expect(modern.node.pool.txids()).to.deep.equal([good.hash()]);
    expect(await own.node.submitPackage([other, wrong], 0)).to.equal(undefined);
  });

  it('name of several that are tried the first that fails', async () => {
    const wrong = madeTransaction(inputs(1, items(MOST_ITEMS + 1)), outputs(1), 0);
    const missing = madeTransaction(inputs(2).slice(1), outputs(1), 0);
    for (const { host, node } of [modern, own]) {
      const coinbases = await Coinbases.mine(host, 101);
      const coin = coinbases.fresh();
      const good = coinbases.paying([coin], (coin.outputs[0]?.value ?? 0) - FEE_SATS).toRaw();
      const typesOf = async (...transactions: readonly Buffer[]): Promise<unknown[]> =>
        (await node.tryTransactions(transactions)).results.map((result) => result?.type);
      expect(await typesOf(good, missing, wrong)).to.deep.equal([undefined, 'missing', undefined]);
      expect(await typesOf(good, wrong, missing)).to.deep.equal([undefined, 'refused', undefined]);
      expect(await typesOf(good)).to.deep.equal(['taken']);
    }
  });
});
