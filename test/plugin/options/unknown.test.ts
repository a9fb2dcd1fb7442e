import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { OptionError } from '../../../plugin/options/errors';
import { readOptions } from '../../../plugin/options/rest-options';
import { configOf, expectRefused } from './real-config';
import type { HostConfig } from '../../../lib/node/host';

describe('unknown options', () => {
  it('are refused with a sentence', async () => {
    for (const [name, value, sentence] of [
      ['rest-thread', '4', '--rest-thread is not an option of the REST service; did you mean --rest-threads?'],
      ['rest', '1', '--rest is not needed: the plugin answers /rest wherever it is loaded'],
      ['rest-picture', 'red', '--rest-picture is not an option of the REST service; it knows --rest-core, ']
    ] as const)
      await expectRefused({ [name]: value }, sentence);
  });

  it('are named as they stand on the command line', async () => {
    process.argv.push('--restart=5');
    try {
      await expectRefused({ argv: true }, /^--restart is not an option of the REST service; /);
    } finally {
      process.argv.pop();
    }
  });

  describe('in the environment', () => {
    const set = new Set<string>();
    afterEach(() => {
      for (const name of set) Reflect.deleteProperty(process.env, name);
      set.clear();
    });

    /** The configuration of a node with this variable. */
    function configWith(name: string, value: string): Promise<HostConfig> {
      set.add(name);
      process.env[name] = value;
      return configOf({ env: true });
    }

    it('are accepted if they are known', async () => {
      expect(readOptions(await configWith('BCOIN_REST_THREADS', '3')).limits.threads).to.equal(3);
    });

    const refused: readonly [name: string, value: string, sentence: string][] = [
      ['BCOIN_REST_THREAD', '4', 'BCOIN_REST_THREAD is not an option of the REST service; did you mean BCOIN_REST_THREADS?'],
      ['BCOIN_REST_threads', '4', 'BCOIN_REST_threads is not an option of the REST service; did you mean BCOIN_REST_THREADS?'],
      ['BCOIN_REST_MAX_BOBY', '', 'BCOIN_REST_MAX_BOBY is not an option of the REST service; did you mean BCOIN_REST_MAX_BODY?'],
      ['BCOIN_REST', '1', 'BCOIN_REST is not needed: the plugin answers /rest wherever it is loaded'],
      ['BCOIN_REST_PICTURE', 'red', 'BCOIN_REST_PICTURE is not an option of the REST service; it knows BCOIN_REST_CORE, ']
    ];
    for (const [name, value, sentence] of refused)
      it(`are refused with a sentence: ${name}='${value}'`, async () => {
        const config = await configWith(name, value);
        expect(() => readOptions(config)).to.throw(OptionError, sentence);
      });
  });
});
