import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { scanBlock } from '../../lib/bitcoin/block';
import { bcoin } from '../support/bcoin/bcoin';
import { coldAnswers } from './cold-answers';
import { regtestGenesis } from '../support/chain/chain-a';
import { ask, askInOneWrite, openSocket, requestBytes, untilClosed } from '../support/client/http';
import { blockHash } from '../support/chain/made-blocks';
import { BlockMaker } from '../support/chain/mined-blocks';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { settledAt } from '../support/client/settled-ports';

const MATURE = 101;
const LARGE_BLOCKS = 8;
/** Outputs of 10,000 bytes each, whose JSON is some 60,000. */
const LARGE_OUTPUTS = Array.from({ length: 50 }, () => 4);

describe('long replies', () => {
  let served: RestNode;
  let paths: string[];
  const expected = new Map<string, string>();

  before(async () => {
    // The cache has room for one of the texts.
    served = await openRestNode({ settings: { 'rest-work-queue': '64', 'rest-cache': '16' } });
    await untilReady(served);
    const maker = new BlockMaker();
    let tip = blockHash(regtestGenesis);
    const hashes: string[] = [];
    for (let height = 1; height <= MATURE + LARGE_BLOCKS; height++) {
      const transactions = height > MATURE ? [{ spends: [0], outputs: LARGE_OUTPUTS }] : [];
      const raw = maker.make(tip, { repeat: undefined, transactions });
      await served.node.chain.add(bcoin.Block.fromRaw(raw));
      tip = scanBlock(raw).hash;
      if (height > MATURE) hashes.push(toDisplayHex(tip));
    }
    paths = hashes.flatMap((hash) => [`/rest/block/${hash}.json`, `/rest/block/${hash}.hex`]);
    await settledAt(served.port);
    const cold = coldAnswers(served);
    for (const path of paths) expected.set(path, await cold(path));
  });

  after(() => served.node.close());

  const compare = (path: string, body: Buffer): void => {
    expect(body.toString('latin1') === expected.get(path), path).to.equal(true);
  };

  it('have the bytes of a cold answer, at first and from the cache', async () => {
    for (let time = 0; time < 4; time++) for (const path of paths) compare(path, (await ask(served.port, { path })).body);
  });

  it('stay whole for slow readers while others ask, leave and ask again', async () => {
    // Longer than the operating system buffers for one connection.
    const slow = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const socket = await openSocket(served.port);
        socket.pause();
        socket.write(Buffer.concat(paths.map((path, i) => requestBytes({ path }, i === paths.length - 1))));
        return socket;
      })
    );
    for (let time = 0; time < 6; time++) {
      const leaving = await openSocket(served.port);
      leaving.on('error', () => undefined);
      leaving.write(requestBytes({ path: paths[time] as string }, true));
      leaving.once('data', () => leaving.destroy());
      await Promise.all(
        [0, 1, 2].map(async (i) => {
          const path = paths[(time * 3 + i) % paths.length] as string;
          compare(path, (await ask(served.port, { path })).body);
        })
      );
    }
    for (const socket of slow) {
      const all = await untilClosed(socket.resume());
      let at = 0;
      for (const path of paths) {
        at = all.indexOf('\r\n\r\n', at) + 4;
        const text = expected.get(path) as string;
        compare(path, all.subarray(at, at + text.length));
        at += text.length;
      }
      expect(at).to.equal(all.length);
    }
  });

  it('have the bytes of a cold answer, each of several that are asked for in one write', async () => {
    const replies = await askInOneWrite(
      served.port,
      paths.map((path) => ({ path }))
    );
    replies.forEach(({ body }, i) => {
      compare(paths[i] as string, body);
    });
  });
});
