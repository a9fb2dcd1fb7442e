import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { loadBcoin } from '../../plugin/bcoin';
import { unknownOptions } from '../../plugin/start/mistyped';
import { startSettings } from '../../plugin/start/settings';
import { newFolder } from '../support/process/folders';

/** The settings for this command line, or the sentence with which they are refused. */
async function settingsOf(...args: string[]): Promise<unknown> {
  const { argv } = process;
  process.argv = [...argv.slice(0, 2), ...args];
  try {
    return await startSettings(loadBcoin());
  } catch (error) {
    return error instanceof Error ? error.message : error;
  } finally {
    process.argv = argv;
  }
}

describe('npm start refuses with a sentence', () => {
  for (const [option, meant] of [
    ['--htp-port', '--http-port'],
    ['--nolisten', '--listen'],
    ['--walet-http-port=1', '--wallet-http-port']
  ] as const)
    it(`an option that looks like one of bcoin’s: ${option}`, () => {
      expect(unknownOptions([option])).to.deep.equal([{ text: `${option.replace('=1', '')} is no option; ${meant} is`, isFatal: true }]);
    });

  it('a network that does not exist', async () => {
    expect(await settingsOf('--network', 'nosuch')).to.equal('--network must be one of main, testnet, regtest, simnet');
  });

  it('--reset where it has no effect', async () => {
    expect(await settingsOf('--network', 'regtest', '--reset')).to.equal(
      '--reset makes a new demonstration: it has no effect with --network, --prefix or --config'
    );
  });

  it('an empty file of the key, which would let everybody in', async () => {
    const prefix = await newFolder();
    await mkdir(join(prefix, 'regtest'));
    const file = join(prefix, 'regtest/api-key');
    await writeFile(file, '\n');
    expect(await settingsOf('--network', 'regtest', '--prefix', prefix)).to.include(
      `${file} is empty: write the key of bcoin's RPC and wallet into it, or delete it`
    );
  });

  it('wrong values before it makes a key', async () => {
    const prefix = await newFolder();
    expect(await settingsOf('--network', 'regtest', '--prefix', prefix, '--rest-threads=0')).to.match(
      /^--rest-threads must be a whole number from 1 to /
    );
    expect(existsSync(join(prefix, 'regtest'))).to.equal(false);
  });
});
