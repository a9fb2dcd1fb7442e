import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { coldAnswers } from './cold-answers';
import { needsNode, NO_FEED_WHILE_SHORTER } from '../support/fleet/fleet';
import { activeChain, chainWithSpends, reorganize } from '../support/chain/regtest-chain';
import { ask } from '../support/client/http';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';

/** Paths for every block and transaction that ever existed here, in every format. */
function pathsOf(raws: Iterable<Buffer>): string[] {
  const paths = ['/rest/chaininfo.json'];
  for (const raw of raws) {
    const { hash, transactions } = scanBlock(raw);
    const id = toDisplayHex(hash);
    for (const prefix of ['block/', 'block/notxdetails/', 'headers/1/', 'headers/70/', 'headers/2000/'])
      for (const suffix of ['.bin', '.hex', '.json']) paths.push(`/rest/${prefix}${id}${suffix}`);
    for (const txid of transactions.slice(-2).map((transaction) => toDisplayHex(transaction.txid)))
      for (const suffix of ['.bin', '.json']) paths.push(`/rest/tx/${txid}${suffix}`, `/rest/getutxos/${txid}-0/${txid}-1${suffix}`);
  }
  return paths;
}

/** Bodies that ask for the first two outputs of each transaction, without and with the pool. */
function outpointBodies(raws: Iterable<Buffer>): Buffer[] {
  return [...raws]
    .flatMap((raw) => scanBlock(raw).transactions.slice(-2))
    .flatMap(({ txid }) =>
      [0, 1].map((pool) => Buffer.concat([Buffer.of(pool, 2), ...[0, 1].flatMap((index) => [txid, Buffer.of(index, 0, 0, 0)])]))
    );
}

describe('answers that were given before', () => {
  let served: RestNode;
  /** Every block that ever was in the chain, by its hash. */
  let known: Map<string, Buffer>;

  beforeEach(async () => {
    served = await openRestNode();
    await untilReady(served);
    known = new Map();
  });

  afterEach(() => served.node.close());

  /** Asks for everything more than once, since some replies are cached only then: warm replies must equal cold ones. */
  const compare = async (): Promise<void> => {
    for (const raw of await activeChain(served.rest.node)) known.set(toDisplayHex(scanBlock(raw).hash), raw);
    const cold = coldAnswers(served);
    for (const path of pathsOf([...known.values()].slice(-16)))
      for (let time = 0; time < 3; time++)
        expect((await ask(served.port, { path })).body.toString('latin1') === (await cold(path)), path).to.equal(true);
    for (const body of outpointBodies([...known.values()].slice(-16)))
      for (let time = 0; time < 2; time++) {
        const reply = await ask(served.port, { method: 'POST', path: '/rest/getutxos.bin', body });
        expect(reply.body.toString('latin1') === (await cold('/rest/getutxos.bin', body)), body.toString('hex')).to.equal(true);
      }
  };

  it('are not given again when they no longer hold, whatever the chain does', async function () {
    this.timeout(300_000);
    await chainWithSpends(served.node);
    await compare();
    await reorganize(served.node, 1, 2);
    await compare();
    await reorganize(served.node, 6, 7);
    await compare();
  });

  it('are not given again after the chain was reset', async function () {
    needsNode(this, NO_FEED_WHILE_SHORTER);
    this.timeout(300_000);
    await chainWithSpends(served.node);
    await compare();
    await served.node.chain.reset(100);
    await untilReady(served);
    await compare();
  });
});
