import { expect } from 'chai';
import { describe, it } from 'mocha';
import { SUBSCRIPTION_BYTES, SubscriptionMemory, TooManySubscriptionsError } from '../../lib/server/bounds/subscription-memory';

const [OWN, FAR, FARTHER] = ['127.0.0.1', '192.0.2.1', '198.51.100.1'] as const;

describe('the memory for subscriptions', () => {
  it('is for so many, of which clients of one address have a quarter', () => {
    const memory = new SubscriptionMemory(8 * SUBSCRIPTION_BYTES);
    const [one, other] = [memory.open(FAR), memory.open(FAR)];
    one.take();
    other.take();
    expect(() => one.take()).to.throw(TooManySubscriptionsError, 'of one address');
    memory.open(FARTHER).take();
    const own = memory.open(OWN);
    for (let i = 3; i < 8; i++) own.take();
    expect(() => own.take()).to.throw(TooManySubscriptionsError, 'of all clients');
    expect(memory.count).to.equal(8);
  });

  it('is given back once, by each end of a subscription and when the client has gone', () => {
    const memory = new SubscriptionMemory(100 * SUBSCRIPTION_BYTES);
    const [one, other] = [memory.open(FAR), memory.open(FAR)];
    for (const client of [one, one, one, other]) client.take();
    one.giveBack();
    expect(memory.count).to.equal(3);
    one.close();
    expect(memory.count).to.equal(1);
    // Requests of a client that has gone may still be under way.
    one.take();
    one.giveBack();
    one.giveBack();
    one.close();
    expect(memory.count).to.equal(1);
  });
});
