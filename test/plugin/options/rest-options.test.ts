import { expect } from 'chai';
import { describe, it } from 'mocha';
import { DEFAULT_LIMITS } from '../../../lib/server/limits';
import { PROFILES } from '../../../lib/views/profile';
import { readOptions } from '../../../plugin/options/rest-options';
import { configOf, expectRefused, optionsOf } from './real-config';

describe('options', () => {
  it('have the defaults of the reference', async () => {
    expect(await optionsOf({})).to.deep.equal({
      warmup: 'synced',
      witness: true,
      auth: false,
      explorer: false,
      undoDepth: 4_320,
      cacheBytes: 201_326_592,
      catchUpCacheBytes: 268_435_456,
      answerCacheBytes: 67_108_864,
      bootstrap: 'blocks',
      filters: false,
      spentHashes: false,
      scrubMs: 86_400_000,
      modernPool: false,
      trustedProxies: [],
      metrics: undefined,
      notifiers: [],
      profile: PROFILES['0.17'],
      limits: { ...DEFAULT_LIMITS, threads: 4, workQueue: 16 }
    });
    expect(DEFAULT_LIMITS).to.include({ timeoutMs: 30_000, maxOutpoints: 15, maxHeaders: 2000 });
  });

  it("select today's Bitcoin Core, with its own defaults, and deprecated fields", async () => {
    const modern = await optionsOf({ 'rest-core': 'modern' });
    expect(modern).to.deep.include({ profile: PROFILES.modern });
    expect(modern.limits).to.include({ threads: 16, workQueue: 64 });
    const { profile } = await optionsOf({ 'rest-core': 'modern', 'rest-deprecated': 'bip125,warnings' });
    expect(profile).to.deep.equal({ ...PROFILES.modern, fields: { ...PROFILES.modern.fields, bip125: true, warningsInList: false } });
  });

  it('are accepted under the names of Bitcoin Core', async () => {
    const { witness, limits } = await optionsOf({ rpcserialversion: 0, rpcthreads: '7', rpcworkqueue: 33, rpctimeout: '5' });
    expect(witness).to.equal(false);
    expect(limits).to.include({ threads: 7, workQueue: 33, timeoutMs: 5_000 });
  });

  it('are accepted under their own names, which take precedence', async () => {
    const { limits } = await optionsOf({
      'rest-threads': '9',
      rpcthreads: '7',
      'rest-max-body': 600,
      'rest-max-outpoints': '20',
      'rest-max-headers': 5
    });
    expect(limits).to.include({ threads: 9, maxBodyBytes: 600, maxOutpoints: 20, maxHeaders: 5 });
  });

  it('are read from a configuration file as well', async () => {
    const config = await configOf({});
    Object.assign(config.data, { restthreads: '3', restwarmup: 'indexed' });
    expect(readOptions(config)).to.deep.include({ warmup: 'indexed' });
    expect(readOptions(config).limits.threads).to.equal(3);
  });

  it('require the API key only if the node has one', async () => {
    expect((await optionsOf({ 'rest-auth': 'true', 'api-key': 'sesame' })).auth).to.equal(true);
    expect((await optionsOf({ 'rest-auth': false })).auth).to.equal(false);
    await expectRefused({ 'rest-auth': true }, '--rest-auth needs the node to have a key: set --api-key');
  });

  const wrong: readonly [name: string, value: string, sentence: string][] = [
    ['rest-core', '31', "--rest-core must be one of 0.17, modern, not '31'"],
    ['rest-deprecated', 'bip125,', "--rest-deprecated must be some of bip125, fullrbf, warnings, separated by commas, not 'bip125,'"],
    ['rest-deprecated', 'bip125', '--rest-deprecated has no effect without --rest-core=modern'],
    ['rpcthreads', '0', "--rpcthreads must be a whole number from 1 to 1000, not '0'"],
    ['rest-threads', 'four', "--rest-threads must be a whole number from 1 to 1000, not 'four'"],
    ['rest-threads', '-1', "--rest-threads must be a whole number from 1 to 1000, not '-1'"],
    ['rest-threads', '1.5', "--rest-threads must be a whole number from 1 to 1000, not '1.5'"],
    ['rest-threads', '', "--rest-threads must be a whole number from 1 to 1000, not ''"],
    ['rest-threads', 'true', "--rest-threads must be a whole number from 1 to 1000, not 'true'"],
    ['rpcworkqueue', '100001', "--rpcworkqueue must be a whole number from 1 to 100000, not '100001'"],
    ['rpctimeout', '0', "--rpctimeout must be a whole number from 1 to 86400, not '0'"],
    ['rpcserialversion', '2', "--rpcserialversion must be a whole number from 0 to 1, not '2'"],
    ['rest-max-body', '1e3', "--rest-max-body must be a whole number from 1 to 33554432, not '1e3'"],
    ['rest-max-outpoints', '0', "--rest-max-outpoints must be a whole number from 1 to 10000, not '0'"],
    ['rest-max-headers', '0', "--rest-max-headers must be a whole number from 1 to 100000, not '0'"],
    ['rest-warmup', 'never', "--rest-warmup must be one of synced, indexed, not 'never'"],
    ['rest-auth', 'maybe', "--rest-auth must be true or false, not 'maybe'"]
  ];
  for (const [name, value, sentence] of wrong)
    it(`are refused with a sentence: ${name} = '${value}'`, () => expectRefused({ [name]: value }, sentence));
});
