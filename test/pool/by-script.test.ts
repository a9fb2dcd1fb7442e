import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { keyOf } from '../../lib/bitcoin/hash';
import { LastPoolChanges } from '../../lib/pool/by-script/last-changes';
import { PooledTransaction } from '../../lib/pool/by-script/pooled-transaction';
import { Replacements } from '../../lib/pool/by-script/replacements';
import { plainTransaction } from '../support/chain/made-blocks';

const MOST_REPLACEMENTS = 10_000;

const hashed = (text: string): Buffer => createHash('sha256').update(text).digest();

describe('what the pool by script remembers', () => {
  it('is of each script since when its part has not changed, and of none what was before all may have changed', () => {
    const changes = new LastPoolChanges();
    const [script, other] = [keyOf(hashed('a script')), keyOf(hashed('another one'))];
    const before = changes.now;
    changes.of([script]);
    expect([changes.isSame(script, before), changes.isSame(other, before)]).to.deep.equal([false, true]);
    const after = changes.now;
    expect(changes.isSame(script, after)).to.equal(true);
    changes.ofAll();
    expect([changes.isSame(script, after), changes.isSame(other, after)]).to.deep.equal([false, false]);
    expect([changes.isSame(script, changes.now), changes.isSame(other, changes.now)]).to.deep.equal([true, true]);
  });

  it('is what has replaced the last ten thousand transactions, without the oldest', () => {
    const replacements = new Replacements();
    const txids = Array.from({ length: MOST_REPLACEMENTS + 1 }, (_, n) => hashed(`${n}`));
    const [first, second, last] = [txids[0], txids[1], txids.at(-1)] as [Buffer, Buffer, Buffer];
    for (const txid of txids.slice(0, -1)) replacements.add(keyOf(txid), last);
    expect([replacements.size, replacements.of(first)]).to.deep.equal([MOST_REPLACEMENTS, last]);
    // It is no longer the oldest.
    replacements.add(keyOf(first), second);
    replacements.add(keyOf(last), second);
    expect([replacements.size, replacements.of(first), replacements.of(second)]).to.deep.equal([MOST_REPLACEMENTS, second, undefined]);
  });

  it('is of a transaction the coins that it spends, of whatever value', () => {
    const coins = [0, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x1_0000_0000, 2_100_000_000_000_000].map((value, n) => ({
      value,
      script: Buffer.alloc(n * 100, n)
    }));
    const txid = hashed('a transaction');
    const raw = plainTransaction(
      coins.map(() => txid),
      1,
      10
    );
    expect(new PooledTransaction({ txid, raw, coins }).spent).to.deep.equal(coins);
  });
});
