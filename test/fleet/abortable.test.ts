import { getEventListeners } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { untilAborted } from '../../lib/fleet/log/abortable';
import { caught } from '../support/expectations/caught';

describe('work that is waited for until a signal', () => {
  const over = new Error('it is over');

  it('gives what it gives before the signal', async () => {
    expect(await untilAborted(Promise.resolve(1), new AbortController().signal)).to.equal(1);
  });

  it('is left at the signal, and at once if the signal came before', async () => {
    const end = new AbortController();
    const left = caught(untilAborted(new Promise(() => undefined), end.signal));
    end.abort(over);
    expect(await left).to.equal(over);
    expect(await caught(untilAborted(Promise.resolve(1), end.signal))).to.equal(over);
  });

  it('leaves nothing with a signal that outlives it', async () => {
    const { signal } = new AbortController();
    await untilAborted(Promise.resolve(), signal);
    await caught(untilAborted(Promise.reject(over), signal));
    expect(getEventListeners(signal, 'abort')).to.have.length(0);
  });

  it('may fail after it was left, whether the signal came while it was waited for or before', async () => {
    const unheard: unknown[] = [];
    const take = (error: unknown): void => void unheard.push(error);
    process.on('unhandledRejection', take);
    const fails: ((error: Error) => void)[] = [];
    const work = (): Promise<void> => new Promise((_, reject) => fails.push(reject));
    const end = new AbortController();
    const first = caught(untilAborted(work(), end.signal));
    end.abort(over);
    expect([await first, await caught(untilAborted(work(), end.signal))]).to.deep.equal([over, over]);
    for (const fail of fails) fail(new Error('NATS is away'));
    await setImmediate();
    process.off('unhandledRejection', take);
    // Such an error ends the process.
    expect(unheard).to.deep.equal([]);
  });
});
