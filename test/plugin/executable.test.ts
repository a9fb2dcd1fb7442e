import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import * as plugin from '../../plugin';
import { OptionError } from '../../plugin/options/errors';
import { bcoinTarget } from '../support/bcoin/bcoin';
import { BcoinProcess, bcoinFolder } from '../support/bcoin/process';
import { caught } from '../support/expectations/caught';
import { makeCertificate } from '../payments/made-certificates';
import { newFolder } from '../support/process/folders';
import { openSocket } from '../support/client/http';
import { createRegtestNode, freePort } from '../support/bcoin/regtest-node';

const project = resolve(__dirname, '../..');
/** In this project the package of this name is the project itself; another bcoin needs the folder. */
const pluginName = bcoinTarget === 'bcoin' ? 'rest' : project;
const executable = join(bcoinFolder, 'bin/bcoin');

describe("bcoin's own executable", () => {
  let folder: string;
  const nodes: BcoinProcess[] = [];

  beforeEach(async () => {
    folder = await newFolder();
  });

  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.kill();
  });

  const start = async (...options: string[]): Promise<BcoinProcess> => {
    const node = BcoinProcess.executable(executable, folder, await freePort(), ...options);
    nodes.push(node);
    return node;
  };

  it('serves REST with --plugins rest', async () => {
    const started = await start('--memory', '--plugins', pluginName, '--rest-warmup', 'indexed');
    await started.printed(/Node is loaded/);
    const response = await started.answer('/rest/chaininfo.json');
    expect(await response.json()).to.deep.include({ chain: 'regtest', blocks: 0 });
  });

  it('takes plugin and options from bcoin.conf', async () => {
    await writeFile(join(folder, 'bcoin.conf'), `plugins: ${pluginName}\nrest-warmup: indexed\nrest-max-headers: 7\n`);
    const started = await start('--config', join(folder, 'bcoin.conf'));
    await started.printed(/Node is loaded/);
    const response = await started.answer('/rest/headers/8/0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206.bin');
    expect(await response.text()).to.equal('Header count out of range: 8\r\n');
  });

  it('closes the node at SIGTERM, which is no failure, and at SIGINT, and removes the cookie', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const started = await start('--plugins', pluginName, '--rest-core', 'modern', '--rest-warmup', 'indexed');
      await started.printed(/Node is loaded/);
      expect(await readFile(join(folder, 'regtest', '.cookie'), 'utf8')).to.match(/^__cookie__:/);
      const socket = await openSocket(started.ports.http);
      socket.on('error', () => undefined);
      socket.write('GET / HTTP/1.1\r\nHo');
      started.signal(signal);
      // bcoin 2 closes the node at SIGINT, too, and may be the one that ends the process.
      const atInterrupt = bcoinTarget === 'bcoin' ? [null] : [0, null];
      expect(await started.ended(), signal).to.be.oneOf(signal === 'SIGTERM' ? [0] : atInterrupt);
      expect(existsSync(join(folder, 'regtest', '.cookie')), signal).to.equal(false);
    }
  });

  it('reads certificates and the level of the log again at SIGHUP', async () => {
    const configuration = join(folder, 'bcoin.conf');
    const write = (level?: string): Promise<void> =>
      writeFile(configuration, `plugins: ${pluginName}\nrest-warmup: indexed\n${level === undefined ? '' : `log-level: ${level}\n`}`);
    await write('info');
    const electrum = ['--rest-addresses', '--rest-electrum-tls', String(await freePort())];
    const started = await start('--config', configuration, '--log-console', 'true', ...electrum);
    await started.printed(/Electrum over TLS listens/);
    await write('spam');
    started.signal('SIGHUP');
    await started.printed(/The level of the log is spam\./);
    await write();
    started.signal('SIGHUP');
    await started.printed(/The level of the log is debug\./);
    await started.printed(/Electrum over TLS has the certificate with SHA-256 [0-9A-F:]+ from now on\./);
    await write('loud');
    started.signal('SIGHUP');
    await started.printed(/The level of the log stays as it was: --log-level or bcoin.conf cannot be used: .*Invalid log level/);
    await write('warning');
    started.signal('SIGHUP');
    await started.printed(/The level of the log is warning\./);
    await write();
    started.signal('SIGHUP');
    await started.printed(/warning\.[^]*The level of the log is debug\./);
    started.signal('SIGTERM');
    expect(await started.ended()).to.equal(0);
  });

  it('reads the level of the log at SIGHUP from a bcoin.conf that was empty before', async () => {
    const configuration = join(folder, 'bcoin.conf');
    await writeFile(configuration, '');
    const started = await start('--config', configuration, '--log-console', 'true', '--plugins', pluginName, '--rest-warmup', 'indexed');
    await started.printed(/Node is loaded/);
    await writeFile(configuration, 'log-level: warning\n');
    started.signal('SIGHUP');
    await started.printed(/The level of the log is warning\./);
  });

  it('stops at a wrong option with a sentence that names it, and nothing else', async () => {
    const stopped = await start('--memory', '--plugins', pluginName, '--rpcthreads', 'many');
    expect(await stopped.ended()).to.equal(1);
    expect(stopped.output).to.equal("--rpcthreads must be a whole number from 1 to 1000, not 'many'\n");
  });

  it('stops at certificates that have expired with a sentence that names the file', async () => {
    const leaf = makeCertificate({ commonName: 'shop.example', notBefore: new Date('2020-01-01'), notAfter: new Date('2021-01-01') });
    await writeFile(join(folder, 'key.pem'), leaf.keyPem);
    await writeFile(join(folder, 'certificates.pem'), leaf.pem);
    const stopped = await start('--memory', '--plugins', pluginName, '--rest-payments', folder, '--api-key', 'sesame');
    expect(await stopped.ended()).to.not.equal(0);
    expect(stopped.output).to.include(
      `${join(folder, 'certificates.pem')}: "CN=shop.example" was valid until 2021-01-01T00:00:00.000Z. Put a renewed certificate there.`
    );
  });

  it('stops where another node keeps its payments with a sentence that names the option, and not if that one was killed', async () => {
    const shop = join(folder, 'shop');
    const options = ['--memory', '--plugins', pluginName, '--rest-payments', shop, '--api-key', 'sesame', '--log-console', 'true'];
    const first = await start(...options);
    await first.printed(/Payments are taken at \/pay/);
    const second = await start(...options);
    expect(await second.ended()).to.not.equal(0);
    expect(second.output).to.include(`--rest-payments must be a folder of its own: another process has ${shop}`);
    await first.kill();
    const third = await start(...options);
    await third.printed(/Payments are taken at \/pay/);
  });

  it('stops as an SPV node with a sentence that says why', async () => {
    const stopped = await start('--memory', '--spv', '--plugins', pluginName);
    expect(await stopped.ended()).to.equal(1);
    expect(stopped.output).to.equal('rest needs a full node: an SPV node (--spv) keeps no blocks to index\n');
  });

  it('is the only one to be ended: a program that constructs a node itself gets the error', async () => {
    const error = await caught(createRegtestNode({ plugins: [plugin], settings: { rpcthreads: 'many' } }));
    expect(error).to.be.instanceOf(OptionError);
  });
});
