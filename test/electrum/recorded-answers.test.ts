import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { bcoin } from '../support/bcoin';
import { chainAPool, coreRegtestPrefixes } from '../support/chain-a';
import { CHAIN_A_TIMEOUT_MS, copiedChain } from '../support/chain-a-node';
import { ServedNode } from '../support/served-node';
import { MethodCaller } from '../support/method-caller';
import { differencesOf, type RecordedAnswer, type RecordedPair } from '../support/recorded-electrum';
import { testScale } from '../support/scale';
import { sharedFolder } from '../support/shared';

function linesOf<T>(path: string): T[] {
  const lines = gunzipSync(readFileSync(path)).toString().trim().split('\n');
  return lines.map((line) => JSON.parse(line) as T);
}

/** Of the records without an error one in this many is tested, unless the test is to be longer. */
const STEP = 20;

describe('the Electrum protocol over chain A', () => {
  let served: ServedNode;
  let caller: MethodCaller;
  const regtest = bcoin.Network.get('regtest');
  const { addressPrefix } = regtest;

  before(async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    // So addresses, and descriptors with their checksums, are the same to the letter.
    regtest.addressPrefix = { ...addressPrefix, ...coreRegtestPrefixes };
    served = await ServedNode.open({ prefix: await copiedChain() });
    for (const raw of chainAPool()) await served.node.mempool.addTX(bcoin.TX.fromRaw(raw));
    caller = new MethodCaller(served);
  });
  after(async () => {
    regtest.addressPrefix = addressPrefix;
    await served.node.close();
  });

  it('answers like ElectrumX or Fulcrum', async () => {
    const pairs = linesOf<RecordedPair>(join(__dirname, '../vectors/electrum/answers.jsonl.gz'));
    expect(await differencesOf(pairs, caller)).to.deep.equal([]);
  });

  it(`answers like them to every ${STEP}th of all recorded calls, or to all in a longer test`, async function () {
    this.timeout(CHAIN_A_TIMEOUT_MS);
    const shared = sharedFolder();
    if (shared === undefined) {
      console.log('      skipped: the recorded answers are in the shared folder, and there is none');
      this.skip();
    }
    const recorded = (server: string): RecordedAnswer[] => linesOf(join(shared, `fixtures/wallet/A-${server}.jsonl.gz`));
    const fulcrum = recorded('fulcrum-2.1.1');
    const all = recorded('electrumx-1.20.0').map((electrumx, i): RecordedPair => ({ electrumx, fulcrum: fulcrum[i] as RecordedAnswer }));
    const pairs = all.filter(({ electrumx: { error } }, i) => testScale() > 1 || error !== undefined || i % STEP === 0);
    expect(await differencesOf(pairs, caller)).to.deep.equal([]);
  });
});
