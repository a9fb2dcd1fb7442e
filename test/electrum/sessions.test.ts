import { once } from 'node:events';
import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { MOST_BYTES_IN_FLIGHT } from '../../lib/server/limits';
import { openElectrumNode, type ElectrumNode } from '../support/node/electrum-node';
import { LineClient, type Reply } from '../support/client/line-client';
import { until } from '../support/expectations/until';
import type { NotifiedClient } from '../../lib/electrum/method';

/** Requests that are worked on at a time. */
const MOST_AT_WORK = 10;
const MOST_WAITING = 500;
/** The length of a reply, more than the operating system buffers for a client. */
const LETTERS = 8_000_000;

describe('a session of the Electrum protocol', () => {
  let served: ElectrumNode;
  /** Ends requests that are being worked on. */
  const held: (() => void)[] = [];
  const clients: LineClient[] = [];

  before(async () => {
    served = await openElectrumNode({
      held: (release) => void held.push(release),
      settings: { 'rest-threads': 16, 'rest-timeout': 1 }
    });
  });
  after(() => served.node.close());
  afterEach(async () => {
    for (const release of held.splice(0)) release();
    for (const client of clients.splice(0)) client.socket.destroy();
    await until(() => served.electrum.sessions === 0);
  });

  async function connect(): Promise<LineClient> {
    const client = await LineClient.connect(served.port);
    clients.push(client);
    return client;
  }

  const notifiedOne = (): NotifiedClient => {
    const [client] = served.notified;
    if (client === undefined) throw new Error('expected a client');
    return client;
  };

  it('speaks the version that was agreed upon', async () => {
    const client = await connect();
    expect(await client.ask('blockchain.relayfee')).to.have.property('result');
    expect(await client.ask('server.version', ['wallet', ['1.4', '1.6']])).to.deep.include({ result: ['bcoin-rest 1.2.3', '1.6'] });
    expect(await client.ask('blockchain.relayfee')).to.have.nested.property('error.code', -32_601);
    expect(await client.ask('mempool.get_info')).to.have.property('result');
  });

  it('works on ten requests at a time, and answers in any order', async () => {
    const client = await connect();
    for (let id = 0; id < MOST_AT_WORK + 5; id++) client.send({ id, method: 'test.hold' });
    await until(() => held.length === MOST_AT_WORK);
    const other = await connect();
    expect(await other.ask('server.ping')).to.deep.include({ result: null });
    expect(held).to.have.length(MOST_AT_WORK);
    held.splice(3, 1)[0]?.();
    expect(await client.value()).to.deep.include({ id: 3, result: 'held' });
    await until(() => held.length === MOST_AT_WORK);
  });

  it('is not read from while too many of its requests wait', async () => {
    const client = await connect();
    for (let id = 0; id < MOST_AT_WORK; id++) client.send({ id, method: 'test.hold' });
    const line = `${JSON.stringify({ id: 'x', method: 'server.ping', pad: ' '.repeat(10_000) })}\n`;
    let isTaken = true;
    for (let sent = 0; isTaken && sent < 20 * MOST_WAITING; sent++) {
      isTaken = client.socket.write(line);
      if (!isTaken) isTaken = await Promise.race([once(client.socket, 'drain').then(() => true), quietAnswers()]);
    }
    // Bytes that the client cannot send wait on its side.
    expect(isTaken).to.equal(false);
    for (const release of held.splice(0)) release();
    for (let id = 0; id < MOST_AT_WORK; id++) expect(await client.value()).to.have.property('result');
    await once(client.socket, 'drain');
  });

  it('is read from again once what waited was answered at once', async () => {
    const client = await connect();
    const asked = Array.from({ length: 10 * MOST_WAITING }, (_, id) => ({ id, method: 'test.now' }));
    client.send(...asked);
    for (const { id } of asked) expect(await client.value()).to.have.property('id', id);
  });

  /** False once another client was answered many times. */
  async function quietAnswers(): Promise<boolean> {
    const other = await connect();
    for (let i = 0; i < 200; i++) await other.ask('server.ping');
    other.socket.destroy();
    return false;
  }

  it('is refused what is heavy or long while too many replies wait to be read', async () => {
    const client = await connect();
    const { responses } = served.serving;
    const lengthOf = async (method: string, count: number): Promise<unknown> => {
      const { result, error } = await client.ask(method, [count]);
      return error?.message ?? (result as string).length;
    };
    responses.countOthers(MOST_BYTES_IN_FLIGHT);
    const refused = 'too many replies wait to be read';
    expect(await lengthOf('test.letters', 1)).to.equal(refused);
    expect(await lengthOf('test.small', 1)).to.equal(1);
    expect(await lengthOf('test.small', 64 * 1_024)).to.equal(refused);
    responses.countOthers(-MOST_BYTES_IN_FLIGHT);
    expect(await lengthOf('test.small', 64 * 1_024)).to.equal(64 * 1_024);
  });

  it('is cut off when it does not read, without harm to others', async () => {
    const [lazy, other] = [await connect(), await connect()];
    lazy.socket.pause();
    lazy.send(...Array.from({ length: 4 }, (_, id) => ({ id, method: 'test.letters', params: [LETTERS] })));
    expect((await other.ask('test.letters', [LETTERS])).result).to.have.length(LETTERS);
    await until(() => served.electrum.sessions === 1);
    expect(await other.ask('server.ping')).to.deep.include({ result: null });
    expect(served.answers.limits.timeoutMs).to.equal(1_000);
  });

  it('is cut off when it does not read its notifications', async () => {
    const lazy = await connect();
    lazy.socket.pause();
    await until(() => served.notified.size === 1);
    const client = notifiedOne();
    const params = JSON.stringify(['x'.repeat(1_000_000)]);
    for (let i = 0; i < 200 && served.notified.size === 1; i++) {
      client.notify('blockchain.scripthash.subscribe', params, String(i));
      await new Promise(setImmediate);
    }
    await until(() => served.electrum.sessions === 0);
  });

  it('gets notifications after replies that are older', async () => {
    const client = await connect();
    // Replies to nothing: none is due.
    client.send([
      { id: 'x', result: null },
      { id: 'y', error: null }
    ]);
    client.send([
      { id: 1, method: 'server.ping' },
      { id: 2, method: 'test.hold' }
    ]);
    await until(() => held.length === 1);
    notifiedOne().notify('blockchain.headers.subscribe', '[{}]', 'tips');
    expect(await quietAnswers()).to.equal(false);
    expect(client.waiting).to.equal(0);
    held.splice(0)[0]?.();
    expect(await client.value()).to.have.length(2);
    expect(await client.value()).to.deep.equal({ jsonrpc: '2.0', method: 'blockchain.headers.subscribe', params: [{}] });
  });

  it('gets only the newest notification about each thing, and none that is older than an answer', async () => {
    const client = await connect();
    client.send([{ id: 1, method: 'test.hold' }]);
    await until(() => held.length === 1);
    const notified = notifiedOne();
    for (const [params, about] of [
      ['[1]', 'one'],
      ['[2]', 'other'],
      ['[3]', 'one']
    ] as const)
      notified.notify('test.news', params, about);
    notified.withdraw('other');
    // Those that were replaced are not what it has yet to read: together they are more than a client may have.
    const long = JSON.stringify(['x'.repeat(1_000_000)]);
    for (let i = 0; i < 40; i++) notified.notify('test.news', long, 'long');
    notified.withdraw('long');
    held.splice(0)[0]?.();
    expect(await client.value()).to.have.length(1);
    expect(await client.value()).to.deep.equal({ jsonrpc: '2.0', method: 'test.news', params: [3] });
    expect(await client.ask('server.ping', [], 2)).to.deep.include({ id: 2 });
  });

  it('gets an error if a method fails unexpectedly, and the log has the reason', async () => {
    const client = await connect();
    for (const method of ['test.fail', 'test.throw']) {
      const { error } = await client.ask(method);
      expect(error).to.deep.equal({ code: -32_603, message: 'Internal error; the log of the node has details' });
      expect(served.log.lines.at(-1)).to.include('something that nobody thought of');
    }
  });

  it('keeps numeric ids as they were written', async () => {
    const client = await connect();
    for (const id of ['12345678901234567890', '1.50', '1e400', '"ä"', 'null']) {
      client.socket.write(`{"id":${id},"method":"server.ping"}\n`);
      expect(await client.line()).to.equal(`{"jsonrpc":"2.0","result":null,"id":${id}}`);
    }
  });

  it('is refused a message of very many values, which is not parsed', async () => {
    const client = await connect();
    const ping = (values: number): string => `{"id":1,"method":"server.ping","params":[${Array(values).fill('0').join(',')}]}`;
    // The object, its members and the list count, too.
    for (const [message, refusal] of [
      [ping(19_996), '-32602 19996 arguments passed to method server.ping taking at most 0'],
      [ping(19_999), '-32600 message has more than 20000 values'],
      [`[${ping(9_990)},${ping(10_010)}]`, '-32600 message has more than 20000 values'],
      [`{"id":1,"params":[${'[],'.repeat(10_000)}`, '-32600 message has more than 20000 values']
    ] as const) {
      client.socket.write(`${message}\n`);
      const { error } = await client.value();
      expect(`${error?.code} ${error?.message}`).to.equal(refusal);
    }
  });

  it('gets one reply to a batch, unless it is too long', async () => {
    const client = await connect();
    client.send(Array.from({ length: 1_000 }, (_, id) => ({ id, method: 'server.ping' })));
    expect(await client.value()).to.have.length(1_000);
    client.send(Array.from({ length: 1_001 }, (_, id) => ({ id, method: 'server.ping' })));
    expect(await client.value())
      .to.deep.include({ id: null })
      .and.to.have.nested.property('error.code', -32_600);
    client.send(Array.from({ length: 20 }, (_, id) => ({ id, method: 'test.letters', params: [2_000_000] })));
    const replies = (await client.value()) as readonly Reply[];
    const refused = replies.filter(({ error }) => error !== undefined);
    expect(replies).to.have.length(20);
    expect(refused).to.have.length.within(1, 12);
    for (const { error } of refused) expect(error).to.have.property('code', 1);
  });

  it('gets the replies to a batch in the order of its requests', async () => {
    const client = await connect();
    client.send([
      { id: 'a', method: 'test.hold' },
      { id: 'b', method: 'nothing' },
      { method: 'server.ping' },
      { id: 'c', method: 'test.letters', params: [1] },
      { id: 'd', method: 'test.hold' },
      { id: 'e', method: 'server.ping' }
    ]);
    await until(() => held.length === 2);
    for (const release of held.splice(0).reverse()) release();
    const replies = (await client.value()) as readonly Reply[];
    expect(replies.map(({ id }) => id)).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
  });

  it('ends with its requests when the client has gone', async () => {
    const client = await connect();
    const letters = { id: 'letters', method: 'test.small', params: [1_000_000] as const };
    const notification = '[]';
    const batch = [letters, ...Array.from({ length: 100 }, (_, id) => ({ id, method: 'test.hold' }))];
    client.send(batch);
    await until(() => held.length === MOST_AT_WORK);
    notifiedOne().notify('test.news', notification, 'news');
    const { responses, unfinished } = served.serving;
    const { length } = JSON.stringify(batch);
    // The line counts as well until the next one is looked for.
    await until(() => unfinished.bytes > 0.9 * length && unfinished.bytes < 1.1 * length);
    await until(() => responses.unreadBytes > letters.params[0] + notification.length);
    client.socket.destroy();
    await until(() => served.electrum.sessions === 0);
    expect(served.notified.size).to.equal(0);
    for (const release of held.splice(0)) release();
    expect(await (await connect()).ask('server.ping')).to.deep.include({ result: null });
    expect(held).to.have.length(0);
    // Nothing counts any more: what was asked, a reply that waited for the others of its batch, and a notification behind it.
    await until(() => responses.unreadBytes + unfinished.bytes === 0);
  });

  it('ends work in the midst when the client has gone, which is nothing for the log', async () => {
    const { length } = served.log.lines;
    const client = await connect();
    client.send({ id: 1, method: 'test.work' });
    expect(await client.ask('server.ping', [], 2)).to.have.property('id', 2);
    client.socket.destroy();
    await until(() => served.electrum.sessions === 0);
    expect(await quietAnswers()).to.equal(false);
    expect(served.log.lines.slice(length)).to.deep.equal([]);
  });

  it('is one of at most a thousand', async () => {
    const others = await Promise.all(Array.from({ length: 1_000 }, () => connect()));
    const answers = await Promise.all(others.map((client) => client.ask('blockchain.block.header', [0])));
    expect(new Set(answers.map(({ result }) => result))).to.have.length(1);
    await Promise.all(others.map((client) => client.ask('test.subscribe')));
    const late = await connect();
    expect(await late.line()).to.equal(undefined);
    others[0]?.socket.destroy();
    await until(() => served.electrum.sessions === 999);
    expect(await (await connect()).ask('server.ping')).to.deep.include({ result: null });
  });
});

describe('a session of the Electrum protocol when the node stops', () => {
  it('gets the answers to what it has asked, and ends', async () => {
    const held: (() => void)[] = [];
    const served = await openElectrumNode({ held: (release) => void held.push(release), settings: { 'rest-threads': 16 } });
    const client = await LineClient.connect(served.port);
    const asked = Array.from({ length: MOST_AT_WORK + 2 }, (_, id) => id);
    for (const id of asked) client.send({ id, method: 'test.hold' });
    // Is answered as soon as it is read, however much waits: then all of the others have been read.
    expect(await client.ask('server.version', ['test', '1.4'], 'version')).to.have.property('id', 'version');
    await until(() => held.length === MOST_AT_WORK);
    const closing = served.node.close();
    const releasing = setInterval(() => {
      for (const release of held.splice(0)) release();
    });
    const answered: unknown[] = [];
    for (let line = await client.line(); line !== undefined; line = await client.line()) answered.push((JSON.parse(line) as Reply).id);
    clearInterval(releasing);
    expect(answered).to.deep.equal(asked);
    await closing;
  });

  it('gets the answers to what waits for the requests of others, and ends without waiting for their end', async () => {
    const held: (() => void)[] = [];
    const served = await openElectrumNode({ held: (release) => void held.push(release), settings: { 'rest-threads': 2 } });
    const connect = (): Promise<LineClient> => LineClient.connect(served.port);
    const [long, short, waiting, atOnce] = [await connect(), await connect(), await connect(), await connect()];
    for (const client of [long, short]) client.send({ id: 1, method: 'test.hold' });
    await until(() => held.length === 2);
    for (const [client, method] of [
      [waiting, 'server.ping'],
      [atOnce, 'test.now']
    ] as const) {
      client.send({ id: 1, method });
      expect(await client.ask('server.version', ['test', '1.4'], 'version')).to.have.property('id', 'version');
    }
    const closing = served.node.close();
    await until(() => served.electrum.addresses.length === 0);
    held.pop()?.();
    for (const client of [short, waiting, atOnce]) {
      expect(await client.value()).to.have.property('id', 1);
      expect(await client.line()).to.equal(undefined);
    }
    held.pop()?.();
    expect(await long.value()).to.have.property('result', 'held');
    await closing;
  });

  it('ends with what it has asked when that takes long', async () => {
    const served = await openElectrumNode({ held: () => undefined });
    const client = await LineClient.connect(served.port);
    client.send({ id: 1, method: 'test.hold' });
    client.send({ id: 2, method: 'server.ping' });
    expect(await client.value()).to.have.property('id', 2);
    await served.node.close();
    expect(await client.line()).to.equal(undefined);
  });
});
