import { expect } from 'chai';
import { describe, it } from 'mocha';
import { headersJson } from '../../lib/views/header';
import { finish } from '../support/finish';
import { recordedBody, recordedSuccesses } from '../support/chain-a';
import { chainAView } from '../support/chain-a-views';

describe('headersJson', () => {
  it('writes every recorded array byte for byte', () => {
    const answers = recordedSuccesses('headers', 'json');
    expect(answers).to.have.length.above(20);
    for (const answer of answers) {
      const text = recordedBody(answer).toString();
      const views = (JSON.parse(text) as { hash: string }[]).map(({ hash }) => chainAView(hash));
      expect(finish(headersJson(views)).toString(), answer.id).to.equal(text);
    }
  });

  it('writes no headers as an empty array', () => {
    expect(finish(headersJson([])).toString()).to.equal('[]\n');
  });
});
