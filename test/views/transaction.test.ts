import { expect } from 'chai';
import { describe, it } from 'mocha';
import { fromDisplayHex } from '../../lib/bitcoin/hash';
import { scanWholeTransaction } from '../../lib/bitcoin/transaction';
import { transactionJson } from '../../lib/views/transaction';
import { chainAPool, coreStyles, recordedBody, recordedSuccesses } from '../support/chain/chain-a';
import { inBech32m } from '../support/recorded/core';
import { finish } from '../support/expectations/finish';

describe('transactionJson', () => {
  const answers = recordedSuccesses('tx', 'json');

  it('writes every recorded transaction byte for byte', () => {
    expect(answers).to.have.length.above(200);
    for (const answer of answers) {
      const text = recordedBody(answer).toString();
      const { hex, blockhash } = JSON.parse(text) as { hex: string; blockhash?: string };
      const context = { ...coreStyles['0.17'], ...(blockhash === undefined ? {} : { blockHash: fromDisplayHex(blockhash) }) };
      expect(finish(transactionJson(scanWholeTransaction(Buffer.from(hex, 'hex')), context)).toString(), answer.id).to.equal(
        inBech32m(text)
      );
    }
  });

  it('differs from the recorded text only in addresses of later witness versions', () => {
    const respelled = answers.map((answer) => recordedBody(answer).toString()).filter((text) => inBech32m(text) !== text);
    expect(respelled).to.have.length.above(0);
    for (const text of respelled) expect(text).to.include('witness_unknown');
  });

  it('writes addresses with the given prefixes', () => {
    const raw = chainAPool()[0] ?? Buffer.alloc(0);
    const main = finish(
      transactionJson(scanWholeTransaction(raw), { ...coreStyles['0.17'], prefixes: { pubkeyhash: 0, scripthash: 5, bech32: 'bc' } })
    ).toString();
    expect(main).to.not.equal(finish(transactionJson(scanWholeTransaction(raw), coreStyles['0.17'])).toString());
    expect(main).to.match(/"addresses":\["(1|3|bc1)/);
  });
});
