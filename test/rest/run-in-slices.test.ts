import { expect } from 'chai';
import { describe, it } from 'mocha';
import { ClientGoneError } from '../../lib/rest/errors';
import { runInSlices } from '../../lib/rest/run-in-slices';
import { caught } from '../support/caught';
import { afterThisTurn } from '../support/turn';

const here = { isGone: false };

/** Yields until it is told to end. */
function* endless(state: { end: boolean; steps: number }): Generator<void, string> {
  while (!state.end) {
    state.steps++;
    yield;
  }
  return 'done';
}

describe('runInSlices', () => {
  it('answers a short view at once', () => {
    expect(runInSlices(endless({ end: true, steps: 0 }), here)).to.equal('done');
  });

  it('gives the event loop back between slices', async () => {
    const state = { end: false, steps: 0 };
    const result = runInSlices(endless(state), here);
    expect(result).to.be.instanceOf(Promise);
    const before = state.steps;
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(state.steps).to.be.above(before);
    state.end = true;
    expect(await result).to.equal('done');
  });

  it('gives each turn of the event loop to one of those under way', async () => {
    const states = Array.from({ length: 3 }, () => ({ end: false, steps: 0 }));
    const results = states.map(async (state) => runInSlices(endless(state), here));
    const turns: number[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const before = states.map(({ steps }) => steps);
      await new Promise(setImmediate);
      const moved = states.flatMap(({ steps }, i) => steps > (before[i] ?? 0) ? [i] : []);
      expect(moved).to.have.length(1);
      turns.push(...moved);
    }
    expect(turns).to.deep.equal([0, 1, 2, 0, 1, 2]);
    for (const state of states) state.end = true;
    expect(await Promise.all(results)).to.deep.equal(['done', 'done', 'done']);
  });

  it('stops when the client has gone', async () => {
    const state = { end: false, steps: 0 };
    const client = { isGone: false };
    const result = runInSlices(endless(state), client);
    client.isGone = true;
    expect(await caught(Promise.resolve(result))).to.be.instanceOf(ClientGoneError);
    const { steps } = state;
    await new Promise(setImmediate);
    expect(state.steps).to.equal(steps);
  });

  it('passes on what a view throws, early or late', async () => {
    function* failing(after: () => boolean): Generator<void, string> {
      while (!after()) yield;
      throw new Error('broken view');
    }
    expect(() => runInSlices(failing(() => true), here)).to.throw('broken view');
    expect(await caught(Promise.resolve(runInSlices(failing(afterThisTurn()), here)))).to.have.property('message', 'broken view');
  });
});
