import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { BcoinApi } from './bcoin-api';
import { BcoinProcess } from '../support/bcoin/process';
import { newFolder } from '../support/process/folders';
import { freePort } from '../support/bcoin/regtest-node';

const project = resolve(__dirname, '../..');

/** Where the wallet has nothing to do with what is seen: it takes a quarter of the time of a start. */
const WITHOUT_WALLET = '--no-wallet';

describe('npm start', function () {
  this.timeout(120_000);
  /** A copy of the project: its build and its packages. */
  let copy: string;
  let folder: string;
  let running: BcoinProcess[] = [];

  before(async () => {
    copy = await newFolder();
    await cp(join(project, 'dist'), join(copy, 'dist'), { recursive: true });
    await cp(join(project, 'package.json'), join(copy, 'package.json'));
    await symlink(join(project, 'node_modules'), join(copy, 'node_modules'));
  });

  beforeEach(async () => {
    folder = await newFolder();
  });
  afterEach(async () => {
    await Promise.all(running.map((process) => process.kill()));
    running = [];
    await rm(folder, { recursive: true, force: true });
  });

  async function start(...options: string[]): Promise<BcoinProcess> {
    const ports = { http: await freePort(), wallet: await freePort() };
    const process = new BcoinProcess(
      [join(copy, 'dist/plugin/start/main.js'), '--http-port', `${ports.http}`, '--wallet-http-port', `${ports.wallet}`, ...options],
      ports
    );
    running.push(process);
    return process;
  }

  const onRegtest = (...options: string[]): Promise<BcoinProcess> =>
    start('--network', 'regtest', '--listen', 'false', '--prefix', folder, ...options);

  /** Ends the process like Ctrl-C. */
  async function end(process: BcoinProcess): Promise<void> {
    process.signal('SIGINT');
    expect(await process.ended(), process.output).to.equal(0);
  }

  async function heightOf(process: BcoinProcess): Promise<number> {
    const reply = await fetch(`http://127.0.0.1:${process.ports.http}/rest/chaininfo.json`);
    return ((await reply.json()) as { readonly blocks: number }).blocks;
  }

  // Each test goes on with the chain that it finds: mining it takes a while.
  describe('with the demonstration chain', () => {
    it('can be interrupted, and then says that a chain of another kind must be deleted', async () => {
      const interrupted = await start(WITHOUT_WALLET);
      await interrupted.printed(/Mining a demonstration chain/);
      await end(interrupted);
      expect(interrupted.output).to.not.include('Try:');
      const other = await start('--prune', WITHOUT_WALLET);
      expect(await other.ended()).to.equal(1);
      expect(lastLine(other)).to.match(
        /^the demonstration chain in \S+\.demo\/regtest was made by another version of bcoin, or with other options: delete that folder for a fresh one \(.*retroactively.*\)$/
      );
    });

    it('finishes a chain when it was killed, goes on with what its user makes of it, and makes it anew with --reset', async () => {
      const killed = await start(WITHOUT_WALLET);
      await killed.printed(/Mining a demonstration chain/);
      const ofKilled = new BcoinApi(killed.ports.http, await keyIn(join(copy, '.demo/regtest')));
      while ((await ofKilled.call<number>('getblockcount')) < 20) await setTimeout(20);
      await killed.kill();

      const first = await start();
      const [, from] = await first.printed(/Mining a demonstration chain, from block (\d+) to 434/);
      expect(Number(from)).to.be.greaterThan(1);
      await first.printed(/REST answers at height 434\. Try:/);
      const urls = first.output.match(/http:\S+\/(rest|api)\/\S+/g) ?? [];
      expect(urls.filter((url) => url.includes('/rest/'))).to.have.length.greaterThan(4);
      expect(urls.filter((url) => url.includes('/api/address/'))).to.have.length(2);
      for (const url of urls) expect((await fetch(url)).status, url).to.equal(200);

      await first.printed(/Ctrl-C stops/);
      expect(first.output).to.match(/A coin for a wallet, in a block of its own:\n {2}curl -u .*"faucet".*ADDRESS/);
      const key = await keyIn(join(copy, '.demo/regtest'));
      const api = new BcoinApi(first.ports.http, key);
      const addresses = [
        'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
        'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6',
        'mipcBbFg9gMiCh81Kj8tqqdgoZub1ZJRfn'
      ];
      for (const address of addresses) {
        const { txid } = await api.call<{ txid: string }>('faucet', address);
        const coins = (await (await fetch(`http://127.0.0.1:${first.ports.http}/api/address/${address}/utxo`)).json()) as object[];
        expect(coins.map((coin) => coin as { txid: string; value: number })).to.deep.include.members([
          { ...coins[0], txid, value: 100_000_000 }
        ]);
      }
      for (const wrong of ['bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4', 'nothing'])
        expect(await api.call('faucet', wrong).catch((error: unknown) => String(error))).to.include('an address of regtest is needed');
      for (const address of addresses) await api.call('generatetoaddress', 1, address);

      const meanwhile = await start('--reset', WITHOUT_WALLET);
      expect(await meanwhile.ended()).to.equal(1);
      expect(lastLine(meanwhile)).to.match(/^another process uses \S+\.demo: stop that node first$/);
      await end(first);

      const second = await start('--api-key=sesame', WITHOUT_WALLET);
      await second.printed(new RegExp(`REST answers at height ${434 + 2 * addresses.length}\\. Try:`));
      await second.printed(/Ctrl-C stops/);
      expect(second.output).to.match(/curl -u x:KEY http\S+ -d '\{"method": "faucet"/);
      await end(second);

      const anew = await start('--reset', WITHOUT_WALLET);
      await anew.printed(/Mining a demonstration chain, from block 1 to 434/);
      await end(anew);
    });
  });

  describe('key', () => {
    const stopping = { method: 'stop', params: [] };

    it('is made once, readable only by its owner, and required by RPC and wallet', async () => {
      const first = await onRegtest();
      const [, key = ''] = await first.printed(/The key of bcoin's RPC and wallet, kept in \S+\/regtest\/api-key: (\S+)/);
      expect(key).to.match(/^[0-9a-f]{64}$/);
      expect(await keyIn(join(folder, 'regtest'))).to.equal(key);
      expect((await stat(join(folder, 'regtest/api-key'))).mode & 0o777).to.equal(0o600);
      await first.printed(/REST answers/);
      for (const port of [first.ports.http, first.ports.wallet]) {
        const page = await new BcoinApi(port).ask('POST', '/', stopping, {
          'Content-Type': 'text/plain',
          Origin: 'https://elsewhere.example'
        });
        expect(page.status).to.equal(401);
      }
      expect(await heightOf(first)).to.equal(0);
      await new BcoinApi(first.ports.wallet, key).get('/wallet/primary');
      await new BcoinApi(first.ports.http, key).call('stop');
      expect(await first.ended()).to.equal(0);

      const second = await onRegtest();
      await second.printed(/REST answers/);
      expect(second.output).to.not.include(key);
      expect(second.output).to.include(join(folder, 'regtest/api-key'));
      await new BcoinApi(second.ports.http, key).call('getblockcount');
      await end(second);
    });

    it("is the operator's if one is set", async () => {
      await mkdir(join(folder, 'regtest'));
      await writeFile(join(folder, 'regtest/bcoin.conf'), 'api-key: sesame\n');
      const process = await onRegtest();
      await process.printed(/REST answers/);
      expect(process.output).to.not.include('key');
      await new BcoinApi(process.ports.http, 'sesame').call('getblockcount');
      await new BcoinApi(process.ports.wallet, 'sesame').get('/wallet/primary');
      await end(process);
    });
  });

  it('names options that nobody reads, and starts', async () => {
    const process = await onRegtest('--memory', '--some-other-plugins-option=7', '--no-dns', '--wallet-cache-size=8');
    await process.printed(/REST answers/);
    expect(process.output.match(/.* is no option.*/g)).to.deep.equal([
      '--some-other-plugins-option is no option of bcoin or of bcoin-rest.'
    ]);
    await end(process);
  });

  it('keeps the wallet in the folder of the node', async () => {
    const home = join(folder, 'home');
    await mkdir(home);
    for (const network of ['regtest', 'simnet']) {
      const ports = { http: await freePort(), wallet: await freePort() };
      const process = new BcoinProcess(
        [
          join(copy, 'dist/plugin/start/main.js'),
          '--network',
          network,
          '--listen',
          'false',
          '--only',
          '127.0.0.1:1',
          '--http-port',
          `${ports.http}`,
          '--wallet-http-port',
          `${ports.wallet}`
        ],
        ports,
        { HOME: home }
      );
      running.push(process);
      await process.printed(/Node is loaded/);
      expect((await stat(join(home, '.bcoin', network, 'wallet'))).isDirectory()).to.equal(true);
      await end(process);
    }
  });

  it('says what it waits for while node and index are not in sync, and ends on request', async () => {
    const process = await start('--network', 'main', '--listen', 'false', '--only', '127.0.0.1:1', '--prefix', folder, WITHOUT_WALLET);
    await process.printed(
      new RegExp(`Not in sync yet, http://127\\.0\\.0\\.1:${process.ports.http}/rest answers 503: syncing with the network, height 0 `)
    );
    expect(process.output).to.not.include('Try:');
    await end(process);
  });

  it('ends in order when it takes a moment to close before it was in sync', async () => {
    const slow = join(folder, 'slow.js');
    await writeFile(
      slow,
      "module.exports = { id: 'slow', init: () => ({ open() {}, close: () => new Promise((end) => setTimeout(end, 1500)) }) };"
    );
    const options = ['--listen', 'false', '--only', '127.0.0.1:1', '--plugins', slow];
    const process = await start('--network', 'main', '--prefix', folder, WITHOUT_WALLET, ...options);
    await process.printed(/Node is loaded/);
    await end(process);
  });

  describe('says in a sentence what to do', () => {
    async function expectEnd(process: BcoinProcess, sentence: RegExp): Promise<void> {
      expect(await process.ended()).to.equal(1);
      expect(lastLine(process)).to.match(sentence);
      expect(process.output).to.not.match(/^ +at /m);
    }

    it('when a port is in use', async () => {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const port = `${(server.address() as { readonly port: number }).port}`;
      try {
        const wanted = [
          ['--http-port', port, WITHOUT_WALLET],
          ['--wallet-http-port', port],
          ['--port', port, '--listen', 'true', '--host', '127.0.0.1', WITHOUT_WALLET]
        ] as const;
        for (const [option, ...more] of wanted)
          await expectEnd(
            await onRegtest('--memory', option, ...more),
            new RegExp(`^port ${port} is in use: .* ${option}(, or --listen=false)?$`)
          );
      } finally {
        server.close();
      }
    });

    it('when the folder is in use', async () => {
      const first = await onRegtest(WITHOUT_WALLET);
      await first.printed(/REST answers/);
      await expectEnd(
        await onRegtest(WITHOUT_WALLET),
        /^another process uses \S+\/regtest: stop that node first, or name another folder with --prefix \(/
      );
      await end(first);
    });

    it('when the folder cannot be written, which nobody need use', async () => {
      await mkdir(join(folder, 'regtest/chain/LOCK'), { recursive: true });
      await expectEnd(await onRegtest(WITHOUT_WALLET), /^IO error: \S+\/LOCK: Is a directory$/);
      if (process.getuid?.() === 0) return; // may write everywhere
      await rm(join(folder, 'regtest/chain/LOCK'), { recursive: true });
      await chmod(join(folder, 'regtest/chain'), 0o500);
      await expectEnd(await onRegtest(WITHOUT_WALLET), /^the user that runs the node may not write in \S+\/regtest: let it, or /);
    });

    // start-settings.test.ts has all such sentences.
    it('when an option looks like one of bcoin’s, or has a wrong value', async () => {
      await expectEnd(await start('--htp-port', '1'), /^--htp-port is no option; --http-port is$/);
      const process = await onRegtest('--rest-threads=0');
      await expectEnd(process, /^--rest-threads must be a whole number from 1 to /);
      expect(process.output).to.not.include('The key');
      expect(existsSync(join(folder, 'regtest/api-key'))).to.equal(false);
    });

    it('when the folder for payments is a file', async () => {
      const file = join(folder, 'file');
      await writeFile(file, '');
      await expectEnd(
        await onRegtest('--rest-payments', file, '--api-key', 'sesame', WITHOUT_WALLET),
        /^--rest-payments must be a folder that can be read and written: .*file/
      );
    });
  });

  const keyIn = async (path: string): Promise<string> => (await readFile(join(path, 'api-key'), 'utf8')).trim();
  const lastLine = ({ output }: BcoinProcess): string => output.trimEnd().split('\n').at(-1) ?? '';
});
