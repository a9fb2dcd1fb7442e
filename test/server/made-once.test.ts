import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MadeOnce } from '../../lib/server/cache/made-once';
import { ClientGoneError } from '../../lib/turns/client';
import { caught } from '../support/expectations/caught';
import type { Client } from '../../lib/turns/client';

describe('making a value once for several clients', () => {
  it('gives all clients that ask meanwhile the same value, and makes it again for later ones', async () => {
    const once = new MadeOnce<object>();
    let finish: () => void = () => undefined;
    let made = 0;
    const make = async (): Promise<object> => {
      made++;
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return {};
    };
    const both = Array.from({ length: 2 }, async () => once.get('a', { isGone: false }, make));
    const other = once.get('b', { isGone: false }, () => Promise.resolve({}));
    finish();
    const [first, second] = await Promise.all(both);
    expect(first).to.equal(second);
    expect(await other).to.not.equal(first);
    expect(made).to.equal(1);
    void once.get('a', { isGone: false }, make);
    expect(made).to.equal(2);
  });

  it('continues until the last of them has left', async () => {
    const once = new MadeOnce<number>();
    const clients = [{ isGone: false }, { isGone: false }];
    const seen: boolean[] = [];
    const make = async (everybody: Client): Promise<number> => {
      for (const client of [undefined, ...clients]) {
        if (client !== undefined) client.isGone = true;
        await Promise.resolve();
        seen.push(everybody.isGone);
      }
      return 0;
    };
    await Promise.all(clients.map(async (client) => once.get('a', client, make)));
    expect(seen).to.deep.equal([false, false, true]);
  });

  it('starts again for a new client when all others have left, even before the old work has ended', async () => {
    const once = new MadeOnce<number>();
    const ends: (() => void)[] = [];
    const ending = (): Promise<void> => new Promise((resolve) => ends.push(resolve));
    const leaves = { isGone: false };
    const givenUp = once.get('a', leaves, async () => {
      await ending();
      throw new ClientGoneError('nobody waits');
    });
    leaves.isGone = true;
    const first = once.get('a', { isGone: false }, async () => {
      await ending();
      return 2;
    });
    ends[0]?.();
    expect(await caught(givenUp)).to.be.instanceOf(ClientGoneError);
    const second = once.get('a', { isGone: false }, () => Promise.resolve(3));
    ends[1]?.();
    expect(await Promise.all([first, second])).to.deep.equal([2, 2]);
  });

  it('does not remember failures', async () => {
    const once = new MadeOnce<number>();
    const failing = (): Promise<number> => Promise.reject(new Error('broken'));
    expect(await caught(once.get('a', { isGone: false }, failing))).to.have.property('message', 'broken');
    expect(await once.get('a', { isGone: false }, () => Promise.resolve(2))).to.equal(2);
  });
});
