import { expect } from 'chai';
import { describe, it } from 'mocha';
import { OptionError } from '../../../plugin/options/errors';
import { readOptions } from '../../../plugin/options/rest-options';
import { ReaderConfig } from '../../../plugin/reader/config';
import { expectRefused, optionsOf, type Settings } from './real-config';

describe('options that name ports', () => {
  const shared: readonly (readonly [names: string, settings: Settings])[] = [
    ['--rest-electrum and --rest-electrum-tls', { 'rest-electrum': 'localhost:49800', 'rest-electrum-tls': 49_800 }],
    ['--rest-electrum and --rest-electrum-tls', { 'rest-electrum': '10.0.0.1:49800', 'rest-electrum-tls': '0.0.0.0:49800' }],
    ['--rest-metrics and --rest-electrum', { 'rest-electrum': 49_800, 'rest-metrics': 49_800 }],
    ['--http-port and --rest-electrum', { 'http-port': 49_800, 'rest-electrum': 49_800 }],
    ['--http-port and --rest-electrum-tls', { 'http-port': '49800', 'rest-electrum-tls': '[::]:49800' }],
    ['--http-port and --rest-metrics', { 'http-host': '0.0.0.0', 'http-port': 49_800, 'rest-metrics': 49_800 }]
  ];
  for (const [names, settings] of shared)
    it(`are refused if they are one: ${JSON.stringify(settings)}`, () =>
      expectRefused({ 'rest-addresses': true, ...settings }, `${names} must be two ports`));

  it('are refused if they are the port that the HTTP server has unless one is given', () => {
    const config = new ReaderConfig(['--network=regtest', '--rest-nats=nats://a', '--rest-metrics=48332'], {});
    expect(() => readOptions(config, 'reader')).to.throw(OptionError, '--http-port and --rest-metrics must be two ports');
  });

  it('may be one number on different addresses', async () => {
    const ports = { 'http-port': 49_800, 'rest-electrum': '10.0.0.1:49800', 'rest-electrum-tls': '10.0.0.2:49800' };
    expect(await optionsOf({ 'rest-addresses': true, ...ports })).to.have.property('addresses');
  });
});
