import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { WrongPasswords } from '../../lib/rpc/server/wrong-passwords';
import { isFleetWanted } from '../support/fleet/fleet';
import { heldTimers } from '../support/process/clock';
import { newFolder } from '../support/process/folders';
import { ask, askInOneWrite, openSocket, requestBytes, untilClosed, type RawRequest } from '../support/client/http';
import { basic, RpcCaller } from '../support/client/rpc';
import { until } from '../support/expectations/until';
import { calledNodes, KEY } from './called-nodes';

describe('who may call', () => {
  const open = calledNodes();
  const call = (credentials: string): RawRequest => ({
    method: 'POST',
    path: '/',
    headers: basic(credentials),
    body: Buffer.from('{"method":"getblockcount"}')
  });

  it('is everybody if the node requires no credentials', async () => {
    const { port } = await open();
    for (const headers of [{}, basic('oracle:oracle'), { Authorization: 'x' }])
      expect(await new RpcCaller(port, headers).call('getblockcount')).to.equal(0);
  });

  it('are not pages of other sites, with which a browser sends the credentials that it remembers', async () => {
    const { port } = await open(KEY);
    const statusFor = async (site: string): Promise<number> =>
      (await new RpcCaller(port, { ...basic('any:sesame'), 'Sec-Fetch-Site': site }).post('{"method":"getblockcount"}')).status;
    expect(await Promise.all(['cross-site', 'same-site', 'same-origin', 'none'].map(statusFor))).to.deep.equal([403, 403, 200, 200]);
  });

  it('sends long bodies; what others send is neither kept nor parsed', async () => {
    const { port } = await open(KEY);
    const announced = (headers: Readonly<Record<string, string>>): string =>
      [
        'POST / HTTP/1.1',
        'Host: x',
        ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
        'Content-Length: 30000000'
      ].join('\r\n');
    for (const [headers, status] of [
      [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
      [{ 'Sec-Fetch-Site': 'cross-site', ...basic('x:sesame') }, 403],
      [{}, 401],
      [basic('x:wrong'), 401]
    ] as const) {
      const socket = await openSocket(port);
      socket.write(`${announced(headers)}\r\n\r\n[1,`);
      // The reply comes before the end of a body that is longer than strangers may send.
      const [reply] = (await once(socket, 'data')) as [Buffer];
      expect(reply.toString()).to.match(new RegExp(`^HTTP/1.1 ${status} `));
      socket.destroy();
      const batch = `[${'1,'.repeat(100_000)}1]`;
      expect((await new RpcCaller(port, headers).post(batch)).status, JSON.stringify(headers)).to.equal(status);
    }
  });

  it('is whoever has the API key, the user’s password, or the cookie; the node’s own calls need the key', async () => {
    const prefix = await newFolder();
    const { port } = await open({ ...KEY, 'rest-rpc-user': 'alice:open:says me' }, prefix);
    const cookie = await readFile(join(prefix, 'regtest', '.cookie'), 'utf8');
    expect(cookie).to.match(/^__cookie__:[0-9a-f]{64}$/);
    expect(statSync(join(prefix, 'regtest', '.cookie')).mode & 0o777).to.equal(0o600);
    for (const credentials of ['any:sesame', ':sesame', 'alice:open:says me', cookie])
      expect(await new RpcCaller(port, basic(credentials)).call('getblockcount'), credentials).to.equal(0);
    const [ours, theirs] = ['{"method":"getblockcount","id":1}', '{"method":"listbanned","id":1}'];
    for (const credentials of ['alice:open:says me', cookie]) {
      const caller = new RpcCaller(port, basic(credentials));
      expect(await caller.statusAndText(theirs)).to.equal('403 ');
      expect(await caller.statusAndText(`[${ours},${theirs}]`)).to.equal('403 ');
      // A reader that passes calls on does not know which there are.
      if (isFleetWanted) expect(await caller.statusAndText('{"method":"nothing","id":1}')).to.equal('403 ');
      else expect(await caller.statusAndText('{"method":"nothing","id":1}')).to.match(/^404 .*"code":-32601/);
    }
    expect((await new RpcCaller(port, basic('any:sesame')).post(`[${ours},${theirs}]`)).status).to.equal(200);
    for (const headers of [
      {},
      basic('alice:x'),
      basic('alice'),
      basic('__cookie__:'),
      basic('bob:open:says me'),
      { Authorization: 'Bearer x' }
    ]) {
      const refused = await new RpcCaller(port, headers).post(ours);
      expect(refused.status).to.equal(401);
      expect(refused.headers).to.include({ 'www-authenticate': 'Basic realm="jsonrpc"', 'content-length': '0' });
    }
    expect((await new RpcCaller(port, {}).post(`{"method":"getblockcount","x":"${'x'.repeat(1_100_000)}"}`)).status).to.equal(401);
    expect(
      (await new RpcCaller(port, basic('x:sesame')).post(`{"method":"getblockcount","x":"${'x'.repeat(1_100_000)}"}`)).status
    ).to.equal(200);
  });

  it('is not guessed any faster over many connections: wrong passwords of one client are answered one after the other', async () => {
    const passwords = new WrongPasswords();
    const order: string[] = [];
    const socket = new Socket();
    const wrong = (address: string): Promise<void> => passwords.delay(address, socket).finally(() => order.push(address));
    const areTooMany = (address: string): boolean => passwords.areTooMany(address, socket);
    await Promise.all([wrong('2001:db8::1'), wrong('2001:db8::2'), wrong('2001:db8::3'), wrong('192.0.2.1')]);
    expect(order).to.deep.equal(['2001:db8::1', '192.0.2.1', '2001:db8::2', '2001:db8::3']);
    const waiting = Array.from({ length: 16 }, (_, i) => {
      expect(areTooMany('2001:db8::1')).to.equal(false);
      return wrong(`2001:db8::${i}`);
    });
    expect([areTooMany('2001:db8::ffff'), areTooMany('192.0.2.1')]).to.deep.equal([true, false]);
    passwords.close();
    await Promise.all(waiting);
    expect(areTooMany('2001:db8::1')).to.equal(false);
  });

  it('is nobody at an address of which many wrong passwords wait', async () => {
    const { port } = await open(KEY);
    const warnings: string[] = [];
    const warned = ({ name }: Error): unknown => warnings.push(name);
    process.on('warning', warned);
    const replies = await askInOneWrite(port, [...Array.from({ length: 16 }, (_, i) => call(`x:${i}`)), call('x:sesame')]);
    expect(replies.map(({ status }) => status)).to.deep.equal([...Array<number>(16).fill(401), 503]);
    expect((await ask(port, call('x:sesame'))).status).to.equal(200);
    process.off('warning', warned);
    expect(warnings).to.deep.equal([]);
  });

  it('is who has sent the right password over a connection before, on that one until a wrong one comes', async () => {
    const { port } = await open(KEY);
    const known = await openSocket(port);
    known.write(requestBytes(call('x:sesame'), false));
    const [first] = (await once(known, 'data')) as [Buffer];
    // No wrong password is answered before all of them wait, however busy the machine is.
    const letGo = heldTimers();
    const wrong = askInOneWrite(
      port,
      Array.from({ length: 16 }, (_, i) => call(`x:${i}`))
    );
    let second: Buffer;
    try {
      await until(async () => (await ask(port, call('x:sesame'))).status === 503);
      known.write(Buffer.concat(['x:sesame', 'x:wrong', 'x:sesame'].map((credentials, i) => requestBytes(call(credentials), i === 2))));
      [second] = (await once(known, 'data')) as [Buffer];
    } finally {
      letGo();
    }
    const further = Buffer.concat([second, await untilClosed(known)]);
    const statuses = [first, further].map((bytes) => bytes.toString().match(/(?<=HTTP\/1.1 )\d+/g));
    expect(statuses).to.deep.equal([['200'], ['200', '401', '503']]);
    expect(new Set((await wrong).map(({ status }) => status))).to.deep.equal(new Set([401]));
  });

  it('is, at one address behind a proxy, not who has sent the right password at another one', () => {
    const passwords = new WrongPasswords();
    const connection = new Socket();
    const waiting = Array.from({ length: 16 }, () => passwords.delay('192.0.2.1', new Socket()));
    passwords.accept('198.51.100.1', connection);
    expect(passwords.areTooMany('192.0.2.1', connection)).to.equal(true);
    passwords.accept('192.0.2.1', connection);
    expect(passwords.areTooMany('192.0.2.1', connection)).to.equal(false);
    passwords.close();
    return Promise.all(waiting);
  });

  it('is limited to some calls for each user, those of the node among them', async () => {
    const prefix = await newFolder();
    const whitelist = 'alice:uptime,listbanned,nothing __cookie__:';
    const { port } = await open({ ...KEY, 'rest-rpc-user': 'alice:sesame seeds', 'rest-rpc-whitelist': whitelist }, prefix);
    const cookie = await readFile(join(prefix, 'regtest', '.cookie'), 'utf8');
    const statusOf = async (credentials: string, method: string): Promise<number> =>
      (await new RpcCaller(port, basic(credentials)).post(`{"method":"${method}","id":1}`)).status;
    expect(await statusOf('alice:sesame seeds', 'uptime')).to.equal(200);
    expect(await statusOf('alice:sesame seeds', 'listbanned')).to.equal(200);
    expect(await statusOf('alice:sesame seeds', 'nothing')).to.equal(404);
    expect(await statusOf('alice:sesame seeds', 'getblockcount')).to.equal(403);
    expect(await statusOf('alice:wrong', 'uptime')).to.equal(401);
    expect(await statusOf(cookie, 'uptime')).to.equal(403);
    expect(await statusOf('any:sesame', 'getblockcount')).to.equal(200);
    const { status } = await new RpcCaller(port, basic('alice:sesame seeds')).post('[{"method":"uptime"},{"method":"getblockcount"}]');
    expect(status).to.equal(403);
  });

  it('sends no batch with an item of which a whitelist cannot know the call', async () => {
    const { port } = await open({ ...KEY, 'rest-rpc-user': 'alice:sesame seeds', 'rest-rpc-whitelist': 'alice:uptime' });
    const [alice, all] = [new RpcCaller(port, basic('alice:sesame seeds')), new RpcCaller(port, basic('any:sesame'))];
    const uptime = '{"method":"uptime","id":1}';
    const refused = (status: number, code: number, message: string): string =>
      `${status} {"result":null,"error":{"code":${code},"message":"${message}"},"id":null}\n`;
    const noObject = refused(400, -32600, 'Invalid Request object');
    const noText = (type: string): string => refused(500, -32700, `JSON value of type ${type} is not of expected type string`);
    for (const [batch, reply] of [
      [`[${uptime},1]`, noObject],
      [`[{"method":"stop"},1]`, '403 '],
      [`[1,{"method":"stop"}]`, noObject],
      [`[${uptime},{"id":2}]`, noText('null')],
      [`[${uptime},{"id":2,"method":["uptime"]}]`, noText('array')],
      [`[${uptime},{"method":"stop","params":5}]`, '403 ']
    ] as const)
      expect(await alice.statusAndText(batch), batch).to.equal(reply);
    expect(await alice.statusAndText('[{"method":"uptime","params":5,"id":1}]')).to.match(/^200 .*"Params must be an array or object"/);
    expect(await alice.statusAndText('{"method":"stop","params":5,"id":1}')).to.match(/^400 .*"Params must be an array or object"/);
    expect(await all.statusAndText(`[${uptime},1]`)).to.match(/^200 \[\{"result":\d+,.*"Invalid Request object"/);
  });

  it('is nobody who is not in the list once there is one, whatever the body', async () => {
    const prefix = await newFolder();
    const { port } = await open({ ...KEY, 'rest-rpc-user': 'alice:sesame seeds', 'rest-rpc-whitelist': 'alice:uptime' }, prefix);
    const cookie = await readFile(join(prefix, 'regtest', '.cookie'), 'utf8');
    const statusOf = async (credentials: string): Promise<number> =>
      (await new RpcCaller(port, basic(credentials)).post('{"method":"uptime","id":1}')).status;
    expect([await statusOf('alice:sesame seeds'), await statusOf(cookie), await statusOf('any:sesame')]).to.deep.equal([200, 403, 200]);
    for (const body of ['[]', '[1]', '{"id":1}', '{"method":"nothing"}'])
      expect(await new RpcCaller(port, basic(cookie)).statusAndText(body)).to.equal('403 ');
  });

  it('is who has the cookie, a new one at each start and none after the end; another process’s is left alone', async () => {
    const prefix = await newFolder();
    const path = join(prefix, 'regtest', '.cookie');
    const { node } = await open(KEY, prefix);
    const first = await readFile(path, 'utf8');
    await node.close();
    expect(() => statSync(path)).to.throw('ENOENT');
    await writeFile(path, 'left behind', { mode: 0o644 });
    const { node: again, port } = await open(KEY, prefix);
    const second = await readFile(path, 'utf8');
    expect(second)
      .to.match(/^__cookie__:/)
      .and.not.equal(first);
    expect(statSync(path).mode & 0o777).to.equal(0o600);
    expect((await new RpcCaller(port, basic(first)).post('{"method":"uptime"}')).status).to.equal(401);
    await writeFile(path, 'another’s');
    await again.close();
    expect(await readFile(path, 'utf8')).to.equal('another’s');
  });

  it('is who has the cookie as soon as its file can be written, if it could not at the start', async () => {
    const prefix = await newFolder();
    const path = join(prefix, 'regtest', '.cookie');
    // Something is in its place.
    await mkdir(join(path, 'folder'), { recursive: true });
    const { port } = await open(KEY, prefix);
    expect(await new RpcCaller(port, basic('x:sesame')).call('getblockcount')).to.equal(0);
    await rm(path, { recursive: true });
    await until(() => existsSync(path));
    expect(await new RpcCaller(port, basic(await readFile(path, 'utf8'))).call('getblockcount')).to.equal(0);
  });
});
