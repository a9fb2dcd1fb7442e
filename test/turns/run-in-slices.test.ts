import { expect } from 'chai';
import { describe, it } from 'mocha';
import { ClientGoneError } from '../../lib/turns/client';
import { runInOrder, runInSlices, soon } from '../../lib/turns/slices';
import { caught } from '../support/expectations/caught';
import { afterThisTurn } from '../support/expectations/turn';

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
  it('answers a short view in its first slice', async () => {
    expect(await runInSlices(endless({ end: true, steps: 0 }), here)).to.equal('done');
  });

  it('gives the event loop back between slices', async () => {
    const state = { end: false, steps: 0 };
    const result = runInSlices(endless(state), here);
    const before = state.steps;
    await new Promise(setImmediate);
    await new Promise(setImmediate);
    expect(state.steps).to.be.above(before);
    state.end = true;
    expect(await result).to.equal('done');
  });

  it('gives each turn of the event loop to one of the views under way', async () => {
    const states = Array.from({ length: 3 }, () => ({ end: false, steps: 0 }));
    const results = states.map(async (state) => runInSlices(endless(state), here));
    const turns: number[] = [];
    for (let turn = 0; turn < 6; turn++) {
      const before = states.map(({ steps }) => steps);
      await new Promise(setImmediate);
      const moved = states.flatMap(({ steps }, i) => (steps > (before[i] ?? 0) ? [i] : []));
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
    expect(await caught(result)).to.be.instanceOf(ClientGoneError);
    const { steps } = state;
    await new Promise(setImmediate);
    expect(state.steps).to.equal(steps);
  });

  it('passes on what a view throws, early or late', async () => {
    function* failing(after: () => boolean): Generator<void, string> {
      while (!after()) yield;
      throw new Error('broken view');
    }
    for (const after of [() => true, afterThisTurn()])
      expect(await caught(runInSlices(failing(after), here))).to.have.property('message', 'broken view');
  });
});

/** Which of the views moved in each of the next turns of the event loop. */
async function turnsOf(states: readonly { readonly steps: number }[], count: number): Promise<number[]> {
  const turns: number[] = [];
  for (let turn = 0; turn < count; turn++) {
    const before = states.map(({ steps }) => steps);
    await new Promise(setImmediate);
    turns.push(...states.flatMap(({ steps }, i) => (steps > (before[i] ?? 0) ? [i] : [])));
  }
  return turns;
}

describe('runInOrder', () => {
  it('answers a short view in its first slice', async () => {
    expect(await runInOrder(endless({ end: true, steps: 0 }), here)).to.equal('done');
  });

  it('starts a view when those before it have ended, and shares turns with other views', async () => {
    const states = Array.from({ length: 3 }, () => ({ end: false, steps: 0 }));
    const [first, second, other] = states as [(typeof states)[0], (typeof states)[0], (typeof states)[0]];
    const results = [
      async () => runInOrder(endless(first), here),
      async () => runInOrder(endless(second), here),
      async () => runInSlices(endless(other), here)
    ].map((run) => run());
    // Each of the two has its first slice at once.
    await turnsOf(states, 1);
    const turns = await turnsOf(states, 6);
    expect(second.steps).to.equal(0);
    expect(turns.filter((i) => i === 0)).to.have.length(3);
    expect(turns.filter((i) => i === 2)).to.have.length(3);
    first.end = true;
    expect(await results[0]).to.equal('done');
    await turnsOf(states, 2);
    expect(second.steps).to.be.above(0);
    second.end = other.end = true;
    expect(await Promise.all(results)).to.deep.equal(['done', 'done', 'done']);
  });

  it('continues after a view whose client has gone, and after one that fails', async () => {
    const client = { isGone: false };
    const left = runInOrder(endless({ end: false, steps: 0 }), client);
    function* failing(): Generator<void, string> {
      yield;
      throw new Error('broken view');
    }
    const broken = runInOrder(failing(), here);
    const next = runInOrder(endless({ end: true, steps: 0 }), here);
    client.isGone = true;
    expect(await caught(left)).to.be.instanceOf(ClientGoneError);
    expect(await caught(broken)).to.have.property('message', 'broken view');
    expect(await next).to.equal('done');
  });
});

describe('pieces of work that come together', () => {
  it('go on at once until they have taken a slice of the turn, and then in later turns', async () => {
    expect(soon()).to.equal(undefined);
    for (const end = performance.now() + 2; performance.now() < end;);
    let isNextTurn = false;
    setImmediate(() => (isNextTurn = true));
    await soon();
    expect(isNextTurn).to.equal(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect(soon()).to.equal(undefined);
  });
});
