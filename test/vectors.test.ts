import { expect } from 'chai';
import { describe, it } from 'mocha';
import { scanBlock } from '../lib/bitcoin/block';
import { toDisplayHex } from '../lib/bitcoin/hash';
import { recordedBody, recordedSuccesses, regtestGenesis } from './support/chain/chain-a';

describe('the vectors of chain A', () => {
  it('have, for each recorded block body, the block that was asked for', () => {
    const blocks = recordedSuccesses('block', 'bin');
    expect(blocks).to.have.length.above(30);
    for (const answer of blocks) expect(answer.path.toLowerCase()).to.include(toDisplayHex(scanBlock(recordedBody(answer)).hash));
  });

  it('know the genesis block', () => {
    const genesis = recordedSuccesses('block', 'hex').find(({ path }) => path.includes(toDisplayHex(scanBlock(regtestGenesis).hash)));
    expect(genesis?.body).to.equal(`${regtestGenesis.toString('hex')}\n`);
  });
});
