import { expect } from 'chai';
import { describe, it } from 'mocha';
import { fieldsOf } from '../../lib/payments/wire';
import { codeOf, vector } from './vectors';

describe('fieldsOf', () => {
  it('gives the fields in the order of the bytes, with their bounds', () => {
    expect([...fieldsOf(vector('messages/Output.extensions.hex'))]).to.deep.equal([
      { number: 1, start: 0, end: 2 },
      { number: 2, start: 2, end: 5 },
      { number: 100, start: 5, end: 10 },
      { number: 536870911, start: 10, end: 17 }
    ]);
  });

  it('gives nothing for no bytes', () => expect([...fieldsOf(Buffer.alloc(0))]).to.deep.equal([]));

  it('refuses a field that is cut off', () => expect(codeOf(() => [...fieldsOf(Buffer.from('080112', 'hex'))])).to.equal('malformed'));
});
