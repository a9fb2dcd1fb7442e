import { fork } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { compiledProgram } from '../support/process/compiled';
import { freePort } from '../support/bcoin/regtest-node';

const [COUNT, BYTES] = [250, 200_000];

describe('what waits for a subscriber that never reads', () => {
  /** Bytes of messages that the publisher holds after it has sent all. */
  const held = async (hwm: number): Promise<number> => {
    const child = fork(compiledProgram('unread-publisher'), [`${await freePort()}`, `${hwm}`, `${COUNT}`, `${BYTES}`]);
    const [message] = await Promise.all([once(child, 'message') as Promise<[number]>, once(child, 'exit')]);
    return message[0];
  };

  it('is as many messages as the high-water mark says, and all without one', async () => {
    const [bounded, unbounded] = [await held(20), await held(0)];
    // Some more are in the buffers of the system, and on their way there.
    expect(bounded).to.be.below(60 * BYTES);
    expect(unbounded).to.be.above((COUNT / 2) * BYTES);
  });
});
