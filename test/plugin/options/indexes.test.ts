import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readOptions } from '../../../plugin/options/rest-options';
import { configOf, expectRefused, optionsOf } from './real-config';

describe('options for the indexes', () => {
  it('have two ways to build an empty index', async () => {
    expect((await optionsOf({ 'rest-bootstrap': 'coins' })).bootstrap).to.equal('coins');
    expect((await optionsOf({ 'rest-bootstrap': 'blocks' })).bootstrap).to.equal('blocks');
    await expectRefused({ 'rest-bootstrap': 'utxos' }, "--rest-bootstrap must be one of blocks, coins, not 'utxos'");
  });

  it('say how much memory coins may take, in MiB', async () => {
    expect(await optionsOf({ 'rest-cache': '4' })).to.include({
      cacheBytes: 3_145_728,
      catchUpCacheBytes: 4_194_304,
      answerCacheBytes: 1_048_576
    });
    for (const outside of ['3', '4097'])
      await expectRefused({ 'rest-cache': outside }, `--rest-cache must be a whole number from 4 to 4096, not '${outside}'`);
  });

  it('say in how many hours the files of the index are checked once', async () => {
    expect((await optionsOf({ 'rest-scrub': '168' })).scrubMs).to.equal(604_800_000);
    expect((await optionsOf({ 'rest-scrub': 0 })).scrubMs).to.equal(0);
    await expectRefused({ 'rest-scrub': 169 }, "--rest-scrub must be a whole number from 0 to 168, not '169'");
  });

  it('keep hashes over what blocks spend for a fleet: on a node that feeds one, and on a reader', async () => {
    expect((await optionsOf({})).spentHashes).to.equal(false);
    expect((await optionsOf({ 'rest-feed': 'nats://a' })).spentHashes).to.equal(true);
    expect(readOptions(await configOf({ 'rest-nats': 'nats://a' }), 'reader').spentHashes).to.equal(true);
  });

  it('say for how many blocks undo records are kept', async () => {
    expect((await optionsOf({ 'rest-undo': '1' })).undoDepth).to.equal(1);
    expect((await optionsOf({ 'rest-undo': 1_000_000 })).undoDepth).to.equal(1_000_000);
    for (const outside of ['0', '1000001'])
      await expectRefused({ 'rest-undo': outside }, `--rest-undo must be a whole number from 1 to 1000000, not '${outside}'`);
  });
});
