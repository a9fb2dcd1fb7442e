import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { needsNode } from '../support/fleet/fleet';
import { ask } from '../support/client/http';
import { mine } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';
import { replaceStoredBlock } from '../support/bcoin/stored-block';

/** Modern: as Bitcoin Core 31 answered when a file of blocks was deleted. */
const EXPECTED = {
  '0.17': (hash: string) => `404 ${hash} not found\r\n`,
  modern: (hash: string) => `500 I/O error reading ${hash}\r\n`
} as const;

describe('a block that the node has lost on its disk', () => {
  for (const profile of ['0.17', 'modern'] as const)
    it(`is refused as by Bitcoin Core, and so are its transactions (${profile})`, async function () {
      needsNode(this, 'a reader has blocks of its own');
      const served = await ServedNode.open({ settings: { 'rest-core': profile } });
      try {
        const [block] = await mine(served.node, 3);
        await served.settle();
        if (block === undefined) throw new Error('expected a block');
        await replaceStoredBlock(served.node, block.hash(), (stored) => stored.subarray(0, -1));
        const text = async (path: string): Promise<string> => {
          const { status, body } = await ask(served.port, { path: `/rest/${path}` });
          return `${status} ${body.toString()}`;
        };
        const [hash, txid] = [block, block.txs[0]].map((one) => toDisplayHex(one?.hash() ?? Buffer.alloc(0))) as [string, string];
        for (const endpoint of ['block', 'block/notxdetails'])
          for (const format of ['.bin', '.hex', '.json', ''])
            expect(await text(`${endpoint}/${hash}${format}`), endpoint + format).to.equal(EXPECTED[profile](hash));
        for (const format of ['.bin', '.hex', '.json'])
          expect(await text(`tx/${txid}${format}`), format).to.equal(`404 ${txid} not found\r\n`);
        const reason = `block ${hash} cannot be read: `;
        expect(served.log.lines.filter((line) => line.includes(reason))).to.have.length(11);
        expect(await text(`headers/1/${hash}.hex`)).to.match(/^200 /);
      } finally {
        await served.node.close();
      }
    });
});
