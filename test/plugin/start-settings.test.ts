import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ClassicLevel } from 'classic-level';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { loadBcoin } from '../../plugin/bcoin';
import { unknownOptions } from '../../plugin/start/mistyped';
import { resetDemonstration } from '../../plugin/start/reset';
import { startSettings, type ApiKey, type StartSettings } from '../../plugin/start/settings';
import { caught } from '../support/expectations/caught';
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
    ['--http_port', '--http-port'],
    ['--walet-http-port=1', '--wallet-http-port']
  ] as const)
    it(`an option that looks like one of bcoin’s: ${option}`, () => {
      expect(unknownOptions([option])).to.deep.equal([{ text: `${option.replace('=1', '')} is no option; ${meant} is`, isFatal: true }]);
    });

  it('no option that bcoin has, and nothing behind two hyphens', () => {
    expect(unknownOptions(['--http-port', '--httpport=1', '--wallet-http-port', '--', '--htp-port'])).to.deep.equal([]);
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

describe('npm start', () => {
  it('makes a key, which it keeps in a file, unless the node is in memory, has a key or wants none', async () => {
    const prefix = await newFolder();
    const keyOf = async (...args: string[]): Promise<unknown> =>
      ((await settingsOf('--network', 'regtest', '--prefix', prefix, ...args)) as StartSettings).apiKey;
    for (const option of ['--no-auth', '--api-key=x']) expect(await keyOf(option), option).to.equal(undefined);
    expect(await keyOf('--memory')).to.have.all.keys('key', 'isNew');
    expect(existsSync(join(prefix, 'regtest'))).to.equal(false);
    const file = join(prefix, 'regtest/api-key');
    const made = (await keyOf()) as ApiKey;
    expect(made).to.deep.equal({ key: made.key, file, isNew: true });
    expect(await readFile(file, 'utf8')).to.match(/^[0-9a-f]{64}\n$/);
    expect(await keyOf()).to.deep.equal({ key: made.key, file, isNew: false });
  });

  it('has the wallet in the folder of the node, unless another one is named', async () => {
    const prefix = await newFolder();
    const folderOf = async (...args: string[]): Promise<unknown> =>
      ((await settingsOf('--network', 'regtest', '--prefix', prefix, '--no-auth', ...args)) as StartSettings).options['walletPrefix'];
    expect(await folderOf()).to.equal(join(prefix, 'regtest'));
    expect(await folderOf('--wallet-prefix=/elsewhere')).to.equal('/elsewhere');
  });

  it('resets no demonstration that a running node uses', async () => {
    const folder = await newFolder();
    const store = new ClassicLevel(join(folder, 'regtest/rest/index'));
    await store.open();
    const refused = await caught(resetDemonstration(folder));
    expect(refused).to.have.property('message', `another process uses ${folder}: stop that node first`);
    await store.close();
    await resetDemonstration(folder);
    expect(existsSync(folder)).to.equal(false);
    await resetDemonstration(folder);
  });
});
