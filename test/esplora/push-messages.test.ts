import { expect } from 'chai';
import { describe, it } from 'mocha';
import { objectOf, partsOf, piecesOf } from '../../lib/esplora/messages';

describe('a message of mempool’s WebSocket', () => {
  const long = Buffer.from(JSON.stringify(Array.from({ length: 500 }, (_, i) => `transaction ${i}`)));
  const fields = [
    ['a', '[]'],
    ['b', piecesOf([['"', long]])],
    ['c', long]
  ] as const;

  it('is an object in parts, in which long values are not copied', () => {
    const parts = partsOf(fields);
    expect(Buffer.concat(parts).toString()).to.equal(`{"a":[],"b":{"\\"":${long.toString()}},"c":${long.toString()}}`);
    expect(Buffer.concat(parts)).to.deep.equal(objectOf(fields));
    expect(parts.filter((part) => part === long)).to.have.length(2);
    expect(parts).to.have.length(5);
  });

  it('is one part when it is short', () => {
    expect(partsOf([['a', '[]']]).map(String)).to.deep.equal(['{"a":[]}']);
    expect(partsOf([]).map(String)).to.deep.equal(['{}']);
  });
});
