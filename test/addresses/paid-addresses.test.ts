import { expect } from 'chai';
import { describe, it } from 'mocha';
import { addPaidAddresses } from '../../lib/addresses/paid-addresses';
import { keptHeights } from '../../lib/addresses/records';
import { runAtOnce } from '../../lib/turns/slices';
import { chainAAnswers31, chainABlocks, coreRegtestPrefixes, recordedBody, recordedSuccesses } from '../support/chain/chain-a';

interface ShownBlock {
  readonly hash: string;
  readonly tx: readonly { readonly vout: readonly { readonly scriptPubKey: { readonly address?: string } }[] }[];
}

describe('the addresses to which a block pays', () => {
  it('are those that Bitcoin Core shows', () => {
    const shown = recordedSuccesses('block', 'json', chainAAnswers31()).map(
      (answer) => JSON.parse(recordedBody(answer).toString()) as ShownBlock
    );
    const raws = new Map(chainABlocks().map(({ hash, raw }) => [hash, raw]));
    let total = 0;
    for (const { hash, tx } of shown) {
      const raw = raws.get(hash);
      if (raw === undefined) continue;
      const found = new Set<string>();
      runAtOnce(addPaidAddresses(raw, coreRegtestPrefixes, found));
      const addresses = tx.flatMap(({ vout }) => vout.flatMap(({ scriptPubKey: { address } }) => address ?? []));
      expect([...found].toSorted(), hash).to.deep.equal([...new Set(addresses)].toSorted());
      total += found.size;
    }
    expect(total).to.be.above(100);
  });
});

describe('the heights whose hashes the list of addresses keeps', () => {
  it('go from its last block down to the first, all near it and ever fewer below', () => {
    expect(keptHeights(0)).to.deep.equal([0]);
    expect(keptHeights(3)).to.deep.equal([3, 2, 1, 0]);
    expect(keptHeights(100)).to.deep.equal([100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 88, 84, 76, 60, 28, 0]);
    expect(keptHeights(10_000_000)).to.have.length.below(40);
  });
});
