import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { chainAFolder, chainAManifest } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, copiedChain } from '../support/node/chain-a-node';
import { runIndexHere } from '../support/node/stopped-node';

describe('bcoin-rest index verify --utxo-hash', function () {
  this.timeout(CHAIN_A_TIMEOUT_MS);
  let prefix: string;

  before(async () => {
    prefix = await copiedChain();
    for (const options of [[], ['--scripts']]) expect(await runIndexHere(prefix, 'rebuild', ...options)).to.include({ status: 0 });
  });
  after(() => rm(prefix, { recursive: true, force: true }));

  const expectRecorded = async (): Promise<void> => {
    const recorded = JSON.parse(readFileSync(join(chainAFolder, 'muhash.json'), 'utf8')) as { height: number; muhash: string }[];
    const { height, tip } = chainAManifest();
    const { status, out, err } = await runIndexHere(prefix, 'verify', '--utxo-hash', '--json');
    expect(status, err).to.equal(0);
    expect(JSON.parse(out)).to.deep.equal({
      index: { height, hash: tip },
      muhash: recorded.find((each) => each.height === height)?.muhash,
      coins: 13_824,
      amount: '14223.12653226'
    });
  };

  it('says what Bitcoin Core says, with txids from the index by script', expectRecorded);

  it('says the same with txids from the blocks', async () => {
    await rm(join(prefix, 'regtest/rest/scripts'), { recursive: true });
    await expectRecorded();
  });

  it('goes with verify alone', async () => {
    expect((await runIndexHere(prefix, 'status', '--utxo-hash')).status).to.equal(2);
    expect((await runIndexHere(prefix, 'verify', '--utxo-hash', '--scripts')).status).to.equal(2);
  });
});
