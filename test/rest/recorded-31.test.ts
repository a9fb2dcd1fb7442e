import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { bcoin } from '../support/bcoin';
import { chainAAnswers31, chainAPool, coreRegtestPrefixes, type RecordedAnswer } from '../support/chain-a';
import { CHAIN_A_TIMEOUT_MS, openChainANode, type ChainANode } from '../support/chain-a-node';
import { ask } from '../support/http';
import { differenceFrom31, isForService } from '../support/recorded-31-comparison';

/** Requests at a time: fewer than slots and queue together. */
const CLIENTS = 8;

/** Endpoints whose answers are not replayed: those that do not answer so yet. */
const NOT_YET_SERVED = [
  'mempool-info',
  'mempool-contents',
  'deploymentinfo',
  'blockhashbyheight',
  'blockpart',
  'spenttxouts',
  'blockfilter',
  'blockfilterheaders'
];

describe('what Bitcoin Core 31 was recorded to answer', () => {
  const regtest = bcoin.Network.get('regtest');
  const { addressPrefix } = regtest;
  let served: ChainANode;

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    // The recorded node's: addresses, and descriptors with their checksums, come out to the letter.
    regtest.addressPrefix = { ...addressPrefix, ...coreRegtestPrefixes };
    served = await openChainANode({ 'rest-core': 'modern' });
  });

  after(async () => {
    regtest.addressPrefix = addressPrefix;
    await served.close();
  });

  const replay = async (state: RecordedAnswer['state'], least: number): Promise<void> => {
    const answers = chainAAnswers31().filter(
      (answer) => answer.state === state && isForService(answer) && !NOT_YET_SERVED.includes(answer.tags[0])
    );
    expect(answers).to.have.length.above(least);
    const forgetsSpent = bcoin.pkg.version.startsWith('v1.');
    const differences: string[] = [];
    const remaining = answers.values();
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        for (const answer of remaining) {
          const { id, method, path, headers, requestBodyHex } = answer;
          const body = requestBodyHex === undefined ? undefined : Buffer.from(requestBodyHex, 'hex');
          const reply = await ask(served.port, { method, path, headers: headers ?? {}, body });
          const difference = differenceFrom31(answer, reply, forgetsSpent);
          if (difference !== undefined) differences.push(`${id}: ${difference}`);
        }
      })
    );
    expect(differences).to.deep.equal([]);
  };

  it('is answered with an empty pool', async function () {
    this.timeout(60_000);
    await replay('confirmed', 240);
  });

  it('is answered again from what was kept', async function () {
    this.timeout(60_000);
    await replay('confirmed', 240);
  });

  it('is answered with transactions in the pool', async function () {
    this.timeout(120_000);
    for (const raw of chainAPool()) await served.node.mempool.addTX(bcoin.TX.fromRaw(raw));
    await replay('with-mempool', 2_000);
  });
});
