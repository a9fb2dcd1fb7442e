// What the fleet's tests stand on: real servers, and what the log relies on in them.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parseNatsUrls, type NatsAccess } from '../../lib/fleet/log/access';
import { ConnectionCount, connectToNats } from '../../lib/fleet/log/connection';
import { NatsAwayError, NatsRefusedError } from '../../lib/fleet/log/errors';
import { makeCertificate, type CertificateWishes } from '../payments/made-certificates';
import { BcoinProcess } from '../support/bcoin/process';
import { caught } from '../support/expectations/caught';
import { newFolder } from '../support/process/folders';
import { Nats, needsNats } from '../support/fleet/nats';
import { projectFolder } from '../support/process/project-folder';
import { freePort } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';

/** After how many tries the client gives a server up, unless it is told otherwise. */
const CLIENT_TRIES = 10;

const PROGRAM = join(projectFolder, 'dist/plugin/cli/main.js');

const access = (url: string): NatsAccess => {
  const parsed = parseNatsUrls(url);
  if (parsed === undefined) throw new Error(`expected ${url} to be right`);
  return parsed;
};

describe('a list of NATS servers', () => {
  it('has one scheme, hosts with or without ports, and a user or a token', () => {
    expect(access('nats://a,b:1,[::1]:2')).to.deep.include({ servers: ['a:4222', 'b:1', '[::1]:2'], tls: false, user: undefined });
    expect(access('tls://me:s%40:t@host')).to.deep.include({ servers: ['host:4222'], tls: true, user: 'me', password: 's@:t' });
    expect(access('nats://token@host')).to.deep.include({ user: 'token', password: undefined });
    expect(access('nats://me:s@t@host')).to.deep.include({ servers: ['host:4222'], user: 'me', password: 's@t' });
    expect(access('nats://a,nats://b')).to.deep.include({ servers: ['a:4222', 'b:4222'] });
  });

  it('is refused when it is anything else', () => {
    for (const text of [
      '',
      'a',
      'http://a',
      'nats://',
      'nats://a:0',
      'nats://a:65536',
      'nats://a,',
      'nats://@a',
      'nats://%@a',
      'nats://a/b'
    ]) {
      expect(parseNatsUrls(text), text).to.equal(undefined);
    }
  });
});

describe('a connection to NATS', () => {
  let program: string;

  before(function () {
    program = needsNats(this);
  });

  it('is made to one server and to three', async () => {
    for (const count of [1, 3] as const) {
      const nats = await Nats.open(program, count);
      const { connection } = await connectToNats(access(nats.url), 'test');
      expect(connection.info?.max_payload).to.equal(0x0080_0000);
      await connection.close();
      await nats.close();
    }
  });

  it('is counted when it is made, and each time it comes back', async () => {
    const nats = await Nats.open(program);
    const count = new ConnectionCount();
    const { connection, mostBytes } = await connectToNats(access(nats.url), 'test', count);
    expect(mostBytes()).to.equal(0x0080_0000);
    expect(count.made).to.equal(1);
    const [server] = nats.servers;
    await server?.kill();
    await until(() => connection.info === undefined);
    expect([count.made, mostBytes()]).to.deep.equal([1, 0x0080_0000]);
    await server?.start();
    await until(() => count.made === 2);
    await connection.close();
    await nats.close();
  });

  it('comes back however often it was tried in vain', async () => {
    const nats = await Nats.open(program);
    const { connection } = await connectToNats(access(nats.url), 'test');
    let tries = 0;
    void (async () => {
      for await (const { type } of connection.status()) if (type === 'reconnecting') tries++;
    })();
    const [server] = nats.servers;
    await server?.kill();
    await until(() => tries > CLIENT_TRIES || connection.isClosed());
    await server?.start();
    await until(() => connection.info !== undefined || connection.isClosed());
    expect(connection.isClosed()).to.equal(false);
    await connection.close();
    await nats.close();
  });

  it('is made with a token', async () => {
    const nats = await Nats.open(program, 1, { accounts: 'authorization { token: "right" }' });
    const { connection } = await connectToNats(access(nats.url.replace('nats://', 'nats://right@')), 'test');
    await connection.close();
    expect(await caught(connectToNats(access(nats.url.replace('nats://', 'nats://wrong@')), 'test'))).to.be.instanceOf(NatsRefusedError);
    await nats.close();
  });

  it('fails with a sentence when no server is there', async () => {
    const error = await caught(connectToNats(access(`nats://127.0.0.1:${await freePort()}`), 'test'));
    expect(error)
      .to.be.instanceOf(NatsAwayError)
      .with.property('message')
      .that.matches(/^NATS at 127\.0\.0\.1:\d+ cannot be reached/);
  });

  it('fails with a sentence when the account may not use JetStream, and is closed', async () => {
    const nats = await Nats.open(program, 1, { user: { name: 'me', password: 'right', isGuest: true } });
    expect(await caught(connectToNats(access(nats.url.replace('nats://', 'nats://me:right@')), 'test')))
      .to.be.instanceOf(NatsRefusedError)
      .with.property('message')
      .that.matches(/does not let this account use JetStream/);
    await until(async () => (await nats.servers[0]?.connections()) === 0);
    await nats.close();
  });

  it('fails with the same sentence each time when the account may not hear replies', async () => {
    const nats = await Nats.open(program, 1, { user: { name: 'me', password: 'right', deaf: '_INBOX.>' } });
    const fails = (): Promise<unknown> => caught(connectToNats(access(nats.url.replace('nats://', 'nats://me:right@')), 'test'));
    const error = await fails();
    expect(error).to.be.instanceOf(NatsRefusedError);
    expect((error as Error).message).to.match(/: Permissions Violation for Subscription to "_INBOX\.>"$/);
    expect(await fails()).to.have.property('message', (error as Error).message);
    await nats.close();
  });

  it('is made over TLS to a server whose certificate is for the address that was named, and to no other', async () => {
    const folder = await newFolder();
    const authority = makeCertificate({ commonName: 'authority', ca: true });
    const authorities = join(folder, 'authorities.pem');
    await writeFile(authorities, authority.pem);
    const said = async (subject: CertificateWishes['for'], hosts: readonly string[], scheme = 'tls'): Promise<string> => {
      const made = makeCertificate({ commonName: 'server', issuer: authority, ...(subject && { for: subject }) });
      const tls = { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') };
      await writeFile(tls.certificate, made.pem);
      await writeFile(tls.key, made.keyPem);
      const nats = await Nats.open(program, 1, { tls });
      const url = `${scheme}://${hosts.map((host) => `${host}:${nats.servers[0]?.port ?? 0}`).join()}`;
      const args = [PROGRAM, 'fleet', 'status', '--network=regtest', `--rest-nats=${url}`];
      const child = new BcoinProcess(args, { http: 0, wallet: 0 }, { NODE_EXTRA_CA_CERTS: authorities });
      await child.ended();
      await nats.close();
      return child.output;
    };
    const [connected, refused] = [/No node has written a log yet/, /cannot be reached: Hostname\/IP does not match certificate's altnames/];
    expect(await said({ address: '127.0.0.1' }, ['127.0.0.1'])).to.match(connected);
    expect(await said({ name: 'localhost' }, ['localhost'])).to.match(connected);
    expect(await said({ name: 'localhost' }, ['localhost', '127.0.0.1'])).to.match(connected);
    expect(await said({ name: 'localhost' }, ['127.0.0.1'])).to.match(refused);
    expect(await said({ name: 'other.example' }, ['localhost'])).to.match(refused);
    // The server asks for TLS itself.
    expect(await said({ address: '127.0.0.1' }, ['127.0.0.1'], 'nats')).to.match(connected);
    expect(await said({ name: 'other.example' }, ['127.0.0.1'], 'nats')).to.match(refused);
  });

  it('fails with a sentence that does not show the password when the credentials are wrong', async () => {
    const nats = await Nats.open(program, 1, { user: { name: 'me', password: 'right' } });
    const error = await caught(connectToNats(access(nats.url.replace('nats://', 'nats://me:wrongest@')), 'test'));
    expect(error)
      .to.be.instanceOf(NatsRefusedError)
      .with.property('message')
      .that.matches(/refuses the credentials/);
    expect((error as Error).message).not.to.include('wrongest');
    const { connection } = await connectToNats(access(nats.url.replace('nats://', 'nats://me:right@')), 'test');
    await connection.close();
    await nats.close();
  });
});
