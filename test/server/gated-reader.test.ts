import { expect } from 'chai';
import { describe, it } from 'mocha';
import { unavailable } from '../../lib/server/errors';
import { GatedReader } from '../../lib/server/work/gated-reader';
import { current, reach, withNodeAndIndex } from '../support/node/indexed-node';

describe('the index behind the gate', () => {
  withNodeAndIndex();

  it('is read only while the gate is open, also by requests that have read before', async () => {
    await current.index.open();
    await reach('live');
    let isOpen = true;
    const reader = new GatedReader(current.index.reader, {
      requireOpen: () => {
        if (!isOpen) throw unavailable('closed');
      }
    });
    expect(reader.read(({ tip }) => tip.height)).to.equal(0);
    isOpen = false;
    expect(() => reader.read(({ tip }) => tip.height)).to.throw('Service temporarily unavailable: closed');
    isOpen = true;
    expect(reader.read(({ tip }) => tip.height)).to.equal(0);
  });
});
