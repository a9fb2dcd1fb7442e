import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Idlest } from '../../lib/server/bounds/idlest';

describe('who makes room', () => {
  it('is who has been idle for longest; nobody who is busy, or was busy since all were looked at', () => {
    const since = new Map<string, number | undefined>([
      ['second', 2],
      ['first', 1],
      ['busy', undefined],
      ['third', 3],
      ['fourth', 4]
    ]);
    const idlest = new Idlest(
      () => since.keys(),
      (one) => since.get(one)
    );
    expect(idlest.next()).to.equal('first');
    since.set('second', 5);
    since.delete('third');
    expect(idlest.next()).to.equal('fourth');
    expect(idlest.next()).to.equal(undefined);
  });
});
