import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { OptionError } from '../../../plugin/options/errors';
import { readOptions } from '../../../plugin/options/rest-options';
import { newFolder } from '../../support/process/folders';
import { createRegtestNode } from '../../support/bcoin/regtest-node';
import { configOf, expectRefused } from './real-config';

describe('options without a value', () => {
  it('are refused on the command line, where bcoin leaves them out', async () => {
    const config = await configOf({});
    for (const given of ['--rest-auth=', '--rest-autth=', '--restauth=', '--rpcthreads=', '--rpcserialversion=']) {
      process.argv.push(given);
      try {
        expect(() => readOptions(config)).to.throw(OptionError, `${given.slice(0, -1)} is given without a value`);
      } finally {
        process.argv.pop();
      }
    }
    expect(() => readOptions(config)).not.to.throw();
  });

  it('are refused in the environment', async () => {
    const config = await configOf({});
    for (const name of ['BCOIN_REST_AUTH', 'BCOIN_RPCTHREADS']) {
      process.env[name] = '';
      try {
        expect(() => readOptions(config)).to.throw(OptionError, `${name} is given without a value`);
      } finally {
        Reflect.deleteProperty(process.env, name);
      }
    }
    // Of another program, with a prefix as long as bcoin's.
    process.env['OTHER_REST_AUTH'] = '';
    try {
      expect(() => readOptions(config)).not.to.throw();
    } finally {
      Reflect.deleteProperty(process.env, 'OTHER_REST_AUTH');
    }
  });

  it('are refused in bcoin.conf', async () => {
    const prefix = await newFolder();
    const file = join(prefix, 'regtest/bcoin.conf');
    await mkdir(join(prefix, 'regtest'));
    for (const name of ['rest-auth', 'restauth', 'rpcthreads']) {
      await writeFile(file, `# the node\nlog-level: info\n ${name} :\nmax-inbound:\n`);
      const { config } = await createRegtestNode({ prefix, settings: { config: true } });
      expect(() => readOptions(config)).to.throw(OptionError, `${name} in ${file} is given without a value`);
    }
    for (const text of ['log-level: info\nmax-inbound:\n# rest-auth:\n', 'max-inbound:\n', '\n', '']) {
      await writeFile(file, text);
      const { config } = await createRegtestNode({ prefix, settings: { config: true } });
      expect(() => readOptions(config)).not.to.throw();
    }
  });

  it('are refused in a bcoin.conf that has no others', async () => {
    const prefix = await newFolder();
    const file = join(prefix, 'regtest/bcoin.conf');
    await mkdir(join(prefix, 'regtest'));
    await writeFile(file, '\ufeffrest-auth: \r\n');
    const { config } = await createRegtestNode({ prefix, settings: { config: true } });
    expect(() => readOptions(config)).to.throw(OptionError, `rest-auth in ${file} is given without a value`);
  });

  it('are nothing to a node that does not read bcoin.conf', async () => {
    const prefix = await newFolder();
    await mkdir(join(prefix, 'regtest'));
    await writeFile(join(prefix, 'regtest/bcoin.conf'), 'log-level: info\nrest-auth:\n');
    const { config } = await createRegtestNode({ prefix });
    expect(() => readOptions(config)).not.to.throw();
  });

  it('are refused if they have one, where bcoin takes them for true', async () => {
    const settings = { 'api-key': 'sesame', 'rest-addresses': true, 'rest-electrum-tls': 50_002, 'rest-feed': 'nats://a' };
    for (const [name, what] of [
      ['rest-payments', 'a folder'],
      ['rest-addresses-socket', 'a file'],
      ['rest-nats-creds', 'a file'],
      ['rest-electrum-cert', 'a file'],
      ['rest-electrum-key', 'a file'],
      ['rest-electrum-banner', 'a file'],
      ['rest-electrum-donation', 'an address'],
      ['rest-feed-name', 'a name of 1 to 60 letters, digits and -._:']
    ] as const)
      for (const value of ['true', true]) await expectRefused({ ...settings, [name]: value }, `--${name} must be ${what}, not 'true'`);
  });
});
