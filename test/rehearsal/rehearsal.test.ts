import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { BehaviorSubject } from 'rxjs';
import { scriptHashOf, toDisplayHex } from '../../lib/bitcoin/hash';
import { methodTable } from '../../lib/electrum/method-table';
import { Rehearsal, type RehearsalParts } from '../../lib/rehearsal/rehearsal';
import { unavailable } from '../../lib/server/errors';
import { GatedReader } from '../../lib/server/work/gated-reader';
import { BUSY_SCRIPT, busyChain } from './busy-chain';
import { ask, basicAuth, type RawReply } from '../support/client/http';
import { LineClient } from '../support/client/line-client';
import { MemoryLog } from '../support/process/memory-log';
import { freePort, openRegtestNode } from '../support/bcoin/regtest-node';
import { assembled, ServedNode, type Assembled } from '../support/node/served-node';
import { until } from '../support/expectations/until';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { MethodTable } from '../../lib/electrum/method';
import type { ScriptsState } from '../../lib/scripts/types';
import type { TestFullNode } from '../support/bcoin/bcoin';

/** What is asked is bounded by its number and not by time, since it depends on the machine what is asked in a time. */
const ASKED = { mostMs: 60_000, mostQuestions: 3_000 };

/** A few more than a chain needs for a rehearsal. */
const TRANSACTIONS = 2_100;

const AUTHORIZED = { Authorization: basicAuth('me:secret') };

const RUNNING = 'Service temporarily unavailable: warming up';

/** A rehearsal, its log, and whether it is over. */
interface Another {
  readonly rehearsal: Rehearsal;
  readonly log: MemoryLog;
  readonly over$: BehaviorSubject<boolean>;
}

describe('the rehearsal', () => {
  let served: ServedNode;
  let electrumPort: number;
  /** What clients were told by REST, Esplora's API and JSON-RPC until REST answered. */
  const heard: RawReply[][] = [];
  /** The line that an Electrum client was answered with as soon as REST answered. */
  let firstLine: string | undefined;
  /** How often each method was called. */
  const calls = new Map<string, number>();
  /** What they were about first. */
  const askedAbout = new Set<unknown>();

  const counted = (table: MethodTable): MethodTable =>
    Object.fromEntries(
      Object.entries(table).map(([name, method]) => [
        name,
        method && {
          ...method,
          answer: (...values) => {
            calls.set(name, (calls.get(name) ?? 0) + 1);
            askedAbout.add(values[0][0]);
            return method.answer(...values);
          }
        }
      ])
    );

  before(async () => {
    const { folder } = await busyChain(TRANSACTIONS);
    electrumPort = await freePort();
    const httpPort = await freePort();
    let made: Assembled | undefined;
    const init = (host: TestFullNode): Assembled['parts'] => {
      made = assembled(host, { methods: (context) => counted(methodTable(context)), rehearsal: ASKED });
      return made.parts;
    };
    const settings = { 'rest-electrum': electrumPort, 'rest-core': 'modern', 'rest-rpc-user': 'me:secret', httpPort };
    const node = await openRegtestNode({ prefix: folder, settings, plugins: [{ id: 'rest', init }] });
    if (made === undefined) throw new Error('expected the node to load its plugin');
    served = new ServedNode(node, made);
    for (let isAnswered = false; !isAnswered;) {
      const replies = await Promise.all([
        ask(httpPort, { path: '/rest/chaininfo.json' }),
        served.get('/blocks/tip/height'),
        ask(httpPort, { method: 'POST', path: '/', headers: AUTHORIZED, body: Buffer.from('{"id":1,"method":"getblockcount"}') })
      ]);
      heard.push(replies);
      isAnswered = replies[0].status === 200;
    }
    const client = await LineClient.connect(electrumPort);
    client.send({ id: 1, method: 'server.ping' });
    firstLine = await client.line();
    client.socket.destroy();
    await until(() => served.wallets.electrum.sessions === 0);
  });
  after(() => served.node.close());

  it('refuses clients while it runs, in the words of each interface', () => {
    const running = heard.filter(([rest]) => rest?.body.toString() === `${RUNNING}\r\n`);
    expect(running).to.have.length.above(0);
    for (const [rest, esplora, rpc] of running.slice(0, 1)) {
      expect(rest).to.deep.include({ status: 503 });
      expect(rest?.headers).to.include({ 'retry-after': '5' });
      expect(esplora).to.deep.include({ status: 503, body: Buffer.from(RUNNING) });
      expect(JSON.parse(rpc?.body.toString() ?? '')).to.deep.include({ result: null });
      expect(rpc?.body.toString()).to.include('warming up');
    }
  });

  it('opens REST, Esplora’s API and the Electrum protocol together', () => {
    expect(heard.at(-1)?.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(JSON.parse(firstLine ?? '')).to.deep.include({ result: null });
  });

  it('asks what wallets ask, and leaves no session, subscription or error behind', () => {
    for (const name of ['get_history', 'subscribe', 'get_balance'])
      expect(calls.get(`blockchain.scripthash.${name}`), name).to.be.above(10);
    expect(served.wallets.electrum.sessions).to.equal(0);
    expect(served.wallets.statuses.size).to.equal(0);
    expect(served.log.lines.filter((line) => line.startsWith('error'))).to.deep.equal([]);
  });

  it('asks about several scripts, none of which has a very long history', () => {
    expect(askedAbout.size).to.be.above(5);
    expect(askedAbout).not.to.include(toDisplayHex(scriptHashOf(BUSY_SCRIPT)));
  });

  /** Another one on the same node, with a gate of its own. */
  function open(replaced: Partial<RehearsalParts> = {}): Another {
    const { source: node, serving, wallets, scripts } = served;
    const { host, reader, own } = serving;
    const [log, over$] = [new MemoryLog(), new BehaviorSubject(false)];
    const rehearsal = new Rehearsal({
      node,
      reader,
      gate: {
        open$: serving.gate.open$,
        isOpen: true,
        endRehearsal: () => {
          over$.next(true);
        }
      },
      http: { server: host.server, own, needsKey: false },
      wallets: { scripts, path: '/api', accept: wallets.electrum.accept },
      logger: log,
      ...ASKED,
      ...replaced
    });
    rehearsal.open();
    return { rehearsal, log, over$ };
  }

  it('ends its sessions before others begin, as clients do', async () => {
    const { wallets, scripts } = served;
    const sessions: number[] = [];
    const accept = (socket: Socket, address?: string): void => {
      wallets.electrum.accept(socket, address);
      sessions.push(wallets.electrum.sessions);
    };
    const { over$ } = open({ wallets: { scripts, path: '/api', accept } });
    await until(() => over$.value);
    expect(sessions.length).to.be.above(16);
    // Eight clients at a time; the last ones may be on their way out.
    expect(Math.max(...sessions)).to.be.at.most(16);
  });

  it('has clients of several versions, and some that subscribe to a hundred scripts at once', async () => {
    const { wallets, scripts } = served;
    const pieces: string[] = [];
    const accept = (socket: Socket, address?: string): void => {
      socket.on('data', (piece: Buffer) => pieces.push(piece.toString()));
      wallets.electrum.accept(socket, address);
    };
    const { over$ } = open({ wallets: { scripts, path: '/api', accept } });
    await until(() => over$.value);
    const greetings = new Set(pieces.filter((piece) => piece.includes('server.version')));
    expect(greetings.size).to.be.above(1);
    const subscriptions = pieces.map((piece) => piece.split('blockchain.scripthash.subscribe').length - 1);
    expect(Math.max(...subscriptions)).to.equal(100);
  });

  it('asks over HTTP with and without a body, and the node itself, and all is answered', async () => {
    const { host, own } = served.serving;
    const replies = new Set<string>();
    const note = ({ method, url = '', socket }: IncomingMessage, response: ServerResponse): void => {
      if (!own.has(socket)) return;
      const name = `${method} ${url.split('/').slice(0, 3).join('/')}`;
      response.once('finish', () => replies.add(`${name} ${response.statusCode}`));
    };
    host.server.on('request', note);
    const { over$ } = open();
    await until(() => over$.value);
    host.server.removeListener('request', note);
    expect(replies).to.include.keys('GET /rest/tx 200', 'POST /rest/getutxos.hex 200', 'GET / 200', 'GET /api/scripthash 200');
    expect([...replies].filter((reply) => !reply.endsWith(' 200'))).to.deep.equal([]);
  });

  it('waits until a reader of a fleet knows the chain of the fleet', async () => {
    calls.clear();
    const { gate, reader } = served.serving;
    let isKnown = false;
    let looks = 0;
    const requireOpen = (): void => {
      if (!isKnown) throw unavailable('waiting for the log of the fleet');
    };
    const { rehearsal, log } = open({
      reader: new GatedReader(reader, { requireOpen }),
      gate: {
        open$: gate.open$,
        get isOpen() {
          looks++;
          return isKnown;
        },
        endRehearsal: () => undefined
      }
    });
    await until(() => looks > 3);
    expect(calls.size).to.equal(0);
    isKnown = true;
    await until(() => calls.size > 0);
    await rehearsal.close();
    expect(log.lines).to.deep.equal([]);
  });

  it('ends when the node stops', async () => {
    calls.clear();
    const { rehearsal, log, over$ } = open();
    await until(() => calls.size > 0);
    expect(over$.value).to.equal(false);
    await rehearsal.close();
    expect(over$.value).to.equal(false);
    expect(log.lines).to.deep.equal([]);
    await until(() => served.wallets.electrum.sessions === 0);
  });

  it('keeps nobody waiting when it fails', async () => {
    const { log, over$ } = open({ node: { rawBlock: () => Promise.reject(new Error('the disk is gone')) } });
    await until(() => over$.value);
    expect(log.lines).to.have.length(1);
    expect(log.lines[0]).to.match(/^error The rehearsal failed: Error: the disk is gone\n/);
  });

  it('ends without replies when its connections are not served', async () => {
    const server = createServer((request) => request.socket.destroy());
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      const wallets = { scripts: served.scripts, path: '/api', accept: (socket: Socket) => socket.destroy() };
      const { over$ } = open({ wallets, http: { server, own: new WeakSet(), needsKey: false } });
      await until(() => over$.value);
    } finally {
      server.close();
    }
  });

  it('asks nothing over HTTP when requests need a key', async () => {
    const { host, own } = served.serving;
    let requests = 0;
    const count = (): number => requests++;
    host.server.on('request', count);
    calls.clear();
    const { over$ } = open({ http: { server: host.server, own, needsKey: true } });
    await until(() => over$.value);
    host.server.off('request', count);
    expect(requests).to.equal(0);
    expect(calls.size).to.be.above(0);
  });

  it('reads no block when requests need a key and there is no other interface', async () => {
    const { host, own } = served.serving;
    const node = { rawBlock: () => Promise.reject(new Error('expected no block to be read')) };
    const { over$, log } = open({ node, http: { server: host.server, own, needsKey: true }, wallets: undefined });
    await until(() => over$.value);
    expect(log.lines).to.deep.equal([]);
  });

  it('does not wait for an index by script that is filled', async () => {
    const state$ = new BehaviorSubject<ScriptsState>({ phase: 'sorting', done: 1, total: 2 });
    calls.clear();
    const { over$ } = open({
      wallets: { scripts: { state$, reader: served.scripts.reader }, path: '/api', accept: served.wallets.electrum.accept }
    });
    await until(() => over$.value);
    expect(calls.size).to.equal(0);
  });

  it('is not made again when the gate opens again', async () => {
    const open$ = new BehaviorSubject(true);
    let ends = 0;
    const { rehearsal } = open({ gate: { open$, isOpen: true, endRehearsal: () => ends++ } });
    await until(() => ends === 1);
    calls.clear();
    open$.next(false);
    open$.next(true);
    await rehearsal.close();
    expect([ends, calls.size]).to.deep.equal([1, 0]);
  });
});

describe('the rehearsal on a chain with few transactions', () => {
  it('reads no block', async () => {
    const served = await ServedNode.open();
    try {
      const { gate, reader, own } = served.serving;
      const [log, over$] = [new MemoryLog(), new BehaviorSubject(false)];
      const rehearsal = new Rehearsal({
        node: { rawBlock: () => Promise.reject(new Error('expected no block to be read')) },
        reader,
        gate: {
          open$: gate.open$,
          isOpen: true,
          endRehearsal: () => {
            over$.next(true);
          }
        },
        http: { server: served.serving.host.server, own, needsKey: false },
        wallets: undefined,
        logger: log
      });
      rehearsal.open();
      await until(() => over$.value);
      expect(log.lines).to.deep.equal([]);
    } finally {
      await served.close();
    }
  });
});
