import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { BcoinNode } from '../../lib/node/bcoin';
import { runCommandLine } from '../../plugin/cli/run';
import { OptionError } from '../../plugin/options/errors';
import { ReaderConfig } from '../../plugin/reader/config';
import { ReaderHttp } from '../../plugin/reader/http-host';
import { ReaderLogger } from '../../plugin/reader/logger';
import { Reader } from '../../plugin/reader/reader';
import { BcoinProcess } from '../support/bcoin/process';
import { caught } from '../support/expectations/caught';
import { newFolder } from '../support/process/folders';
import { ask, basicAuth } from '../support/client/http';
import { Nats, needsNats } from '../support/fleet/nats';
import { projectFolder } from '../support/process/project-folder';
import { freePort, mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { RpcCaller } from '../support/client/rpc';
import { until } from '../support/expectations/until';
import { HandFedLog } from './hand-fed-log';
import type { TestFullNode } from '../support/bcoin/bcoin';

const PROGRAM = join(projectFolder, 'dist/plugin/cli/main.js');

/** Loaded before the program: bcoin and all that comes with it count as not installed. */
const WITHOUT_BCOIN = `
const Module = require('node:module');
const resolve = Module._resolveFilename;
Module._resolveFilename = function (request, ...more) {
  if (/^(bcoin|bcrypto|bdb|bufio|bcfg|blgr|bweb|bns|bclient|bsert|leveldown)(\\/|$)/.test(request))
    throw Object.assign(new Error('there is no ' + request), { code: 'MODULE_NOT_FOUND' });
  return resolve.call(this, request, ...more);
};
`;

describe('the settings of a reader', () => {
  const settings = (args: readonly string[], env: Readonly<Record<string, string>> = {}): ReaderConfig => new ReaderConfig(args, env);

  it('are flags with a value behind them or without one, then variables that are not empty', () => {
    const args = ['--a=1', '--B-c', '2', '--Text=two\nlines', '--d', '--e=', '--f'];
    const config = settings(args, { BCOIN_A: '3', BCOIN_G_H: '4', BCOIN_I: '', J: '5' });
    const names = ['a', 'b-c', 'text', 'd', 'e', 'f', 'g-h', 'i', 'j'];
    expect(names.map((name) => config.get(name))).to.deep.equal(['1', '2', 'two\nlines', true, '', true, '4', null, null]);
    expect(names.filter((name) => !config.has(name))).to.deep.equal(['i', 'j']);
    expect(config.flagOf('bc')).to.equal('--B-c');
  });

  it('are true or false if they say so in one of two ways each', () => {
    const config = settings(['--a=true', '--b=1', '--c=false', '--d=0', '--e=yes', '--f']);
    expect(['a', 'b', 'c', 'd', 'f', 'g'].map((name) => config.bool(name))).to.deep.equal([true, true, false, false, true, null]);
    expect(config.bool('g', true)).to.equal(true);
    expect(() => config.bool('e')).to.throw(OptionError, "--e must be true or false, not 'yes'");
  });

  it('are paths below the working folder or the home of the user, and each network has a folder in that of the reader', () => {
    const config = settings(['--a=x/y', '--b=~', '--c=~/x', '--d=~x', '--e=', '--f']);
    const home = homedir();
    const paths = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => config.path(name));
    expect(paths).to.deep.equal([resolve('x/y'), home, join(home, 'x'), resolve('~x'), null, null, null]);
    expect(settings(['--prefix=/x']).location('y')).to.equal('/x/y');
    expect(settings(['--prefix=/x', '--network=main']).location('y')).to.equal('/x/y');
    expect(settings(['--prefix=/x', '--network=regtest']).location('y')).to.equal('/x/regtest/y');
  });

  it('say of which levels the log has lines, with the part that writes each', () => {
    const lines: string[] = [];
    const logger = new ReaderLogger('info', (line) => lines.push(line.replace(/:\d{4}-.*?Z/, '')));
    logger.error('%d of %s', 1, 'them');
    for (const one of [logger, logger.context('fleet')]) {
      one.info('told');
      one.debug('not told');
    }
    expect(lines).to.deep.equal(['[E] 1 of them\n', '[I] told\n', '[I] (fleet) told\n']);
  });
});

describe('bcoin-rest reader', () => {
  let folder: string;
  const processes: BcoinProcess[] = [];

  beforeEach(async () => {
    folder = await newFolder();
    await writeFile(join(folder, 'without-bcoin.cjs'), WITHOUT_BCOIN);
  });

  afterEach(async function () {
    for (const each of processes.splice(0)) {
      await each.kill();
      if (this.currentTest?.isFailed() === true) console.log(each.output);
    }
  });

  function run(http: number, options: readonly string[]): BcoinProcess {
    const child = new BcoinProcess(['-r', join(folder, 'without-bcoin.cjs'), PROGRAM, 'reader', ...options], { http, wallet: 0 });
    processes.push(child);
    return child;
  }

  const refusals: readonly (readonly [options: readonly string[], sentence: string])[] = [
    [['--prefix=x'], '--rest-nats is missing: where the servers of NATS are, such as nats://a,b,c'],
    [['--rest-nats=nats://a'], "a reader needs --prefix: a folder of its own for its index, not a node's"],
    [['--rest-nats=http://a', '--prefix=x'], '--rest-nats must be the addresses of servers, such as nats://a:4222,b,c'],
    [['--rest-nats=nats://a', '--prefix=x', '--rest-payments=y'], '--rest-payments is for nodes, not for a reader of a fleet'],
    [['--rest-nats=nats://a', '--prefix=x', '--rest-bootstrap=coins'], '--rest-bootstrap is for nodes, not for a reader of a fleet'],
    [['--rest-nats=nats://a', '--prefix=x', '--rest-pool=modern'], '--rest-pool is for nodes, not for a reader of a fleet'],
    [['--rest-nats=nats://a', '--prefix=x', '--network=nothing'], "--network must be main, testnet, regtest or simnet, not 'nothing'"],
    [['--rest-nats=nats://a', '--prefix=x', '--http-port=99999'], "--http-port must be a port, not '99999'"],
    [['--rest-nats=nats://a', '--prefix=x', '--rest-stale=1'], "--rest-stale must be a whole number from 5 to 86400, not '1'"],
    [['--rest-nats=nats://a', '--prefix=x', '--rest-nat=1'], '--rest-nat is not an option of the REST service; did you mean --rest-nats?'],
    [['--rest-nats=nats://a', '--prefix=x', '--api-key='], '--api-key must be a key, not nothing'],
    [['--rest-nats=nats://a', '--prefix=x', '--api-key'], '--api-key must be a key, not nothing'],
    [['--rest-nats=nats://a', '--prefix=x', '--max-outbound=1'], '--max-outbound is not an option of a reader'],
    [['--rest-nats=nats://a', '--prefix=x', '--rest-auth'], '--rest-auth needs the node to have a key: set --api-key'],
    [['main'], "'main' is not an option: options begin with --"]
  ];
  for (const [options, sentence] of refusals) {
    it(`refuses ${options.at(-1) ?? ''}: ${sentence}`, async () => {
      let said = '';
      const err = (text: string): void => void (said += text);
      expect(await runCommandLine(['reader', ...options], { out: err, err, now: () => new Date() })).to.equal(2);
      expect(said).to.include(sentence);
    });
  }

  it('takes Bitcoin Core’s names of options, as a node does', async () => {
    let said = '';
    const err = (text: string): void => void (said += text);
    const cores = ['--rpcthreads=8', '--rpcworkqueue=9', '--rpctimeout=5', '--rpcserialversion=0'];
    const args = ['reader', '--rest-nats=nats://a', '--prefix=x', ...cores, '--max-outbound=1'];
    expect(await runCommandLine(args, { out: err, err, now: () => new Date() })).to.equal(2);
    expect(said).to.include('--max-outbound is not an option of a reader');
  });

  it('names the options of a port that it cannot use', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    try {
      for (const host of ['127.0.0.1', 'no-such-host.invalid']) {
        const http = new ReaderHttp({ host, port, apiKey: undefined, needsApiKey: true });
        expect(await caught(http.open()))
          .to.be.instanceOf(OptionError)
          .with.property('message')
          .that.includes(`--http-host, --http-port: the reader cannot listen on ${host}:${port}: `);
      }
    } finally {
      taken.close();
    }
  });

  it('ends if it cannot use the port', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const child = run(port, ['--rest-nats=nats://127.0.0.1:9', '--network=regtest', `--prefix=${folder}`, `--http-port=${port}`]);
    expect(await child.ended()).to.equal(2);
    expect(child.output).to.include('--http-host, --http-port: the reader cannot listen on');
    taken.close();
  });

  it('has a key that nobody knows unless one is given', () => {
    const options = { host: '127.0.0.1', port: 0, needsApiKey: true };
    expect(new ReaderHttp({ ...options, apiKey: undefined }).isApiKey('')).to.equal(false);
    const http = new ReaderHttp({ ...options, apiKey: 'secret' });
    expect(['secret', 'Secret', ''].map((key) => http.isApiKey(key))).to.deep.equal([true, false, false]);
  });

  it('goes on after a connection that the system could not accept', async () => {
    const http = new ReaderHttp({ host: '127.0.0.1', port: 0, apiKey: undefined, needsApiKey: true });
    await http.open();
    // As Node says it; without a listener it would end the process.
    http.server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE', syscall: 'accept' }));
    expect((await ask((http.server.address() as AddressInfo).port, { path: '/' })).status).to.equal(404);
    await http.close();
  });

  describe('with a log', () => {
    let host: TestFullNode;
    let node: BcoinNode;
    let nats: Nats;
    let log: HandFedLog;

    beforeEach(async function () {
      nats = await Nats.open(needsNats(this));
      host = await openRegtestNode();
      node = new BcoinNode(host);
      await mine(host, 3);
      log = new HandFedLog(nats.url, node);
    });

    afterEach(async () => {
      await log.close();
      await host.close();
      await nats.close();
    });

    it('starts without bcoin, waits for the log, answers, and ends at a signal', async () => {
      const http = await freePort();
      const child = run(http, [
        `--rest-nats=${nats.url}`,
        '--network=regtest',
        `--prefix=${folder}`,
        `--http-port=${http}`,
        '--api-key=secret',
        '--rest-core=modern',
        '--rest-rpc-forward'
      ]);
      await child.printed(/there is no log REST_LOG_regtest: no node feeds it yet/);
      // The port is opened after the log was looked for.
      await until(() =>
        ask(http, { path: '/rest/chaininfo.json' }).then(
          ({ status }) => status === 503,
          () => false
        )
      );
      await log.open();
      await log.writeStart(3);
      log.keepBeating();
      const { status } = await child.answer('/rest/chaininfo.json');
      expect(status).to.equal(200);
      const info = JSON.parse((await ask(http, { path: '/rest/chaininfo.json' })).body.toString()) as Record<string, unknown>;
      expect(info).to.include({ chain: 'regtest', blocks: 3, bestblockhash: toDisplayHex(node.tip().hash) });
      expect((await ask(http, { path: '/' })).status).to.equal(404);
      const call = (key: string): Promise<{ status: number; body: Buffer }> =>
        ask(http, {
          method: 'POST',
          path: '/',
          headers: { Authorization: basicAuth(`x:${key}`) },
          body: Buffer.from('{"method":"getblockcount","id":1}')
        });
      expect((await call('secret')).body.toString()).to.equal('{"result":3,"error":null,"id":1}\n');
      expect((await call('wrong')).status).to.equal(401);
      child.signal('SIGTERM');
      // As long as it listens it answers, or says 503: another status would be taken for an answer.
      for (;;) {
        const answer = await ask(http, { path: '/rest/chaininfo.json' }).catch(() => undefined);
        if (answer === undefined) break;
        expect(answer.status).to.be.oneOf([200, 503]);
      }
      expect(await child.ended()).to.equal(0);
    }).timeout(60_000);

    it('replies to calls that wait when it ends', async () => {
      await log.open();
      await log.writeStart(3);
      log.keepBeating();
      const port = await freePort();
      const options = [`--rest-nats=${nats.url}`, '--network=regtest', `--prefix=${folder}`, `--http-port=${port}`, '--no-auth=true'];
      const reader = new Reader(new ReaderConfig([...options, '--rest-core=modern'], {}), new ReaderLogger('none', () => undefined));
      await reader.open();
      await firstValueFrom(reader.rest.ready$.pipe(filter((ready) => ready)));
      const caller = new RpcCaller(port);
      const waiting = caller.call('waitfornewblock');
      await until(async () => (await caller.active('waitfornewblock')) === 1);
      expect(await caller.call('getblockcount')).to.equal(3);
      await reader.close();
      expect(await waiting).to.deep.equal({ hash: toDisplayHex(node.tip().hash), height: 3 });
    }).timeout(60_000);
  });
});
