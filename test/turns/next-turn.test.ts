import { expect } from 'chai';
import { describe, it } from 'mocha';
import { goOnInNextTurn, renewInNextTurn } from '../../lib/turns/next-turn';

describe('the next turn', () => {
  it('renews what was used before work goes on with it, whichever was asked for first', async () => {
    const order: string[] = [];
    const renew = (): unknown => order.push('renewal');
    await new Promise<void>((resolve) => {
      goOnInNextTurn(() => {
        order.push('work');
        renewInNextTurn(renew);
        goOnInNextTurn(() => {
          order.push('work');
          resolve();
        });
      });
      renewInNextTurn(renew);
    });
    expect(order).to.deep.equal(['renewal', 'work', 'renewal', 'work']);
  });

  it('renews once what was used several times', async () => {
    let renewals = 0;
    const renew = (): unknown => renewals++;
    await new Promise<void>((resolve) => {
      for (let use = 0; use < 3; use++) renewInNextTurn(renew);
      goOnInNextTurn(resolve);
    });
    expect(renewals).to.equal(1);
  });
});
