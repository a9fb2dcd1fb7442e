import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { bcoin } from '../support/bcoin';
import { chainAPool, jsonIn } from '../support/chain-a';
import { CHAIN_A_TIMEOUT_MS, copiedChain } from '../support/chain-a-node';
import { ServedNode } from '../support/served-node';
import { MethodCaller } from '../support/method-caller';
import { withCoreAddresses } from '../support/recorded-core';
import { differencesOf, type RecordedAnswer, type RecordedPair } from '../support/recorded-electrum';
import { testScale } from '../support/scale';
import { sharedFolder } from '../support/shared';

/** Of the records without an error one in this many is tested, unless the test is to be longer. */
const STEP = 20;

describe('the Electrum protocol over chain A', () => {
  let served: ServedNode;
  let caller: MethodCaller;
  withCoreAddresses();

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    served = await ServedNode.open({ prefix: await copiedChain() });
    for (const raw of chainAPool()) await served.node.mempool.addTX(bcoin.TX.fromRaw(raw));
    caller = new MethodCaller(served);
  });
  after(() => served.node.close());

  it('answers like ElectrumX or Fulcrum', async () => {
    const pairs = jsonIn<RecordedPair>(join(__dirname, '../vectors/electrum/answers.jsonl.gz'));
    expect(await differencesOf(pairs, caller)).to.deep.equal([]);
  });

  it(`answers like them to every ${STEP}th of all recorded calls, or to all in a longer test`, async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    const shared = sharedFolder();
    if (shared === undefined) {
      console.log('      skipped: the recorded answers are in the shared folder, and there is none');
      this.skip();
    }
    const recorded = (server: string): RecordedAnswer[] => jsonIn(join(shared, `fixtures/wallet/A-${server}.jsonl.gz`));
    const fulcrum = recorded('fulcrum-2.1.1');
    const all = recorded('electrumx-1.20.0').map((electrumx, i): RecordedPair => ({ electrumx, fulcrum: fulcrum[i] as RecordedAnswer }));
    const pairs = all.filter(({ electrumx: { error } }, i) => testScale() > 1 || error !== undefined || i % STEP === 0);
    expect(await differencesOf(pairs, caller)).to.deep.equal([]);
  });
});
