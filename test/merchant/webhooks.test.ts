import { readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { FolderStorage } from '../../lib/merchant/orders/storage';
import { OutboxStore } from '../../lib/merchant/webhooks/outbox';
import { Webhooks } from '../../lib/merchant/webhooks/webhooks';
import { PaymentError } from '../../lib/payments/error';
import { clockSet, ShiftedClock } from '../support/process/clock';
import { Faucet } from '../support/chain/faucet';
import { newFolder } from '../support/process/folders';
import { freePort, mine, mineOnly } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { until } from '../support/expectations/until';
import { Receiver, taken } from './receiver';
import { AUTHORIZATION, KEY, ServedMerchant } from './served-merchant';
import type { Merchant } from '../../lib/merchant/orders/merchant';
import type { StoredRequest } from '../../lib/merchant/orders/record';
import type { TestFullNode } from '../support/bcoin/bcoin';

const AMOUNT = 150_000;
const FIRST_PAUSE_MS = 5;

/** Of an order that no merchant has made. */
const ID = 'ab'.repeat(16);
const UNKNOWN = new PaymentError('not-yet-known', 'it is not known');

describe('webhooks', () => {
  let served: RestNode;
  let faucet: Faucet;
  let folder: string;
  let receiver: Receiver;
  let shop: ServedMerchant;
  let orders = 0;

  before(async () => {
    served = await openRestNode({ settings: { 'api-key': KEY } });
    await untilReady(served);
    faucet = await Faucet.on(served.node, 20);
  });
  after(() => served.node.close());
  beforeEach(async () => {
    folder = await newFolder();
    receiver = await Receiver.open();
    await open();
  });
  afterEach(async () => {
    await shop.close();
    receiver.close();
    expect(receiver.faults).to.deep.equal([]);
  });

  const open = async (origins: readonly string[] = [receiver.origin], giveUpMs?: number): Promise<void> => {
    const patience = { firstPauseMs: FIRST_PAUSE_MS, ...(giveUpMs !== undefined && { giveUpMs }) };
    shop = await ServedMerchant.on(served, folder, { notifyOrigins: origins, patience });
    receiver.secret = await shop.secret();
  };
  const reopen = async (origins?: readonly string[], giveUpMs?: number): Promise<void> => {
    await shop.close();
    await open(origins, giveUpMs);
  };
  /** A new order with a script of its own. */
  const created = async (more: object = {}): Promise<{ readonly id: string; readonly script: Buffer }> => {
    const script = Buffer.from(`0014${(++orders).toString(16).padStart(40, '0')}`, 'hex');
    const response = await shop.create({
      outputs: [{ amount: AMOUNT, script: script.toString('hex') }],
      notify_url: `${receiver.origin}/paid`,
      ...more
    });
    expect(response.status, await response.clone().text()).to.equal(201);
    return { id: ((await response.json()) as { id: string }).id, script };
  };
  const untilTypes = (id: string, ...types: readonly string[]): Promise<void> =>
    until(() => receiver.typesOf(id).join() === types.map((type) => `order.${type}`).join());
  const outboxOf = async (id: string): Promise<{ waiting: readonly unknown[] }> =>
    JSON.parse(await readFile(join(folder, `${id}.webhooks.json`), 'utf8')) as { waiting: readonly unknown[] };

  const orderOf = (id: string): StoredRequest => ({
    id,
    notifyUrl: `${receiver.origin}/paid`,
    createdAt: new Date(),
    request: Buffer.alloc(0),
    payments: [],
    received: []
  });
  /** Webhooks beside those of the shop, of a merchant whose statuses come from the test. */
  const lookingAt = async (progress: Merchant['progress'], isReady = (): boolean => true): Promise<Webhooks> => {
    const webhooks = new Webhooks({
      merchant: () => ({ progress }),
      outboxes: new OutboxStore(await FolderStorage.open(await newFolder())),
      key: Buffer.alloc(32),
      origins: [receiver.origin],
      isReady,
      logger: shop.log
    });
    await webhooks.open();
    return webhooks;
  };

  it('tell of each change of an order, signed, with what the order has received', async () => {
    const { id, script } = await created({ memo: 'Two mugs', merchant_url: 'https://shop.example/cart' });
    await untilTypes(id, 'open');
    await faucet.sends(script, 100_000);
    await untilTypes(id, 'open', 'underpaid');
    await faucet.sends(script, 50_000);
    await untilTypes(id, 'open', 'underpaid', 'seen');
    await mine(served.node, 1);
    await untilTypes(id, 'open', 'underpaid', 'seen', 'confirmed');
    const url = `${shop.baseUrl}/pay/${id}`;
    expect(receiver.messages.map(({ data }) => data)).to.containSubset([
      { id, status: 'open', state: 'open', amount: AMOUNT, received: 0, missing: AMOUNT, memo: 'Two mugs', url },
      { status: 'underpaid', received: 100_000, confirmed: 0, missing: 50_000, merchant_url: 'https://shop.example/cart' },
      { status: 'seen', received: AMOUNT, confirmed: 0, missing: 0 },
      { status: 'confirmed', received: AMOUNT, confirmed: AMOUNT, missing: 0, confirmations: 1 }
    ]);
    expect(new Set(receiver.messages.map((message) => message.id)).size).to.equal(4);
    for (const message of receiver.messages) {
      expect(message.id).to.include(id);
      expect(message.path).to.equal('/paid');
    }
  });

  it('tell when a reorganization takes a payment back', async () => {
    const { id, script } = await created();
    const before = served.node.chain.tip;
    await faucet.sends(script, AMOUNT);
    await mine(served.node, 1);
    await until(() => receiver.typesOf(id).at(-1) === 'order.confirmed');
    // bcoin gives transactions back to a pool that is not empty.
    await faucet.sends(script, 1_000);
    await mineOnly(served.node, [], await mineOnly(served.node, [], before));
    await until(() => receiver.typesOf(id).at(-1) === 'order.seen');
  });

  /** As when the pool is full. */
  const drops = ({ mempool }: TestFullNode, txid: string): void => {
    mempool.evictEntry([...mempool.map.values()].find(({ tx }) => toDisplayHex(tx.hash()) === txid) ?? expect.fail('an entry'));
  };

  it('tell when the pool drops a payment', async () => {
    const { id, script } = await created();
    await untilTypes(id, 'open');
    const txid = await faucet.sends(script, AMOUNT);
    await untilTypes(id, 'open', 'seen');
    drops(served.node, txid);
    await untilTypes(id, 'open', 'seen', 'open');
  });

  it('tell when the pool is emptied', async () => {
    const { id, script } = await created();
    await untilTypes(id, 'open');
    await faucet.sends(script, AMOUNT);
    await untilTypes(id, 'open', 'seen');
    // A node resets its chain once it has connections.
    await served.node.connect();
    await served.node.chain.reset(served.node.chain.height);
    await untilTypes(id, 'open', 'seen', 'open');
  });

  it('tell when an order expires', async () => {
    // It has to be made before.
    const { id } = await created({ expires: Math.floor(Date.now() / 1_000) + 3 });
    await untilTypes(id, 'open', 'expired');
  });

  it('are sent again until they are taken, each in its turn', async () => {
    let refusals = 3;
    receiver.answer = (response, message) => {
      if (message.type === 'order.open' && refusals-- > 0) response.statusCode = [500, 404, 302][refusals] ?? 500;
      response.setHeader('Location', `${receiver.origin}/elsewhere`);
      response.end();
    };
    const { id, script } = await created();
    await until(() => receiver.messages.length > 0);
    await faucet.sends(script, AMOUNT);
    await untilTypes(id, 'open', 'open', 'open', 'open', 'seen');
    expect(new Set(receiver.messages.slice(0, 4).map((message) => message.id)).size).to.equal(1);
    expect(receiver.messages.map(({ path }) => path)).to.deep.equal(Array(5).fill('/paid'));
    expect(shop.log.lines.filter((line) => line.includes(receiver.origin) && /^(warning|error)/.test(line))).to.deep.equal([
      `warning payments: ${receiver.origin} did not take a webhook: the answer was 302. It is sent again.`
    ]);
    await until(() => shop.log.lines.includes(`info payments: ${receiver.origin} takes webhooks again.`));
  });

  it('are sent again in time when the clock is set back', async () => {
    receiver.answer = (response) => {
      response.statusCode = 503;
      response.end();
    };
    const { id } = await created();
    // The pauses get longer: the clock is set within one of them.
    await until(() => receiver.messages.length === 7);
    await setTimeout(20);
    const restore = clockSet(-3_600_000);
    try {
      receiver.answer = taken;
      await until(async () => (await outboxOf(id)).waiting.length === 0);
    } finally {
      restore();
    }
  });

  it('survive a restart: what was not taken is sent, and what has changed meanwhile is told', async () => {
    receiver.answer = (response) => response.destroy();
    const { id, script } = await created();
    await until(() => receiver.messages.length > 0);
    await shop.close();
    await faucet.sends(script, AMOUNT);
    await mine(served.node, 1);
    const first = receiver.messages[0]?.id;
    receiver.messages.length = 0;
    receiver.answer = taken;
    await open();
    await untilTypes(id, 'open', 'confirmed');
    expect(receiver.messages[0]?.id).to.equal(first);
    await until(async () => (await outboxOf(id)).waiting.length === 0);
    receiver.messages.length = 0;
    await reopen();
    await created();
    await until(() => receiver.messages.length > 0);
    expect(receiver.typesOf(id)).to.deep.equal([]);
  });

  it('are given up after a time and ten attempts, which the log says, and the next change is told', async () => {
    receiver.answer = (response) => {
      response.statusCode = 503;
      response.end();
    };
    const { id, script } = await created();
    await until(() => receiver.messages.length > 0);
    await shop.close();
    receiver.messages.length = 0;
    await open(undefined, 0);
    const said = `error payments: order ${id}: its receiver was not told that it is open, and will not be: the answer was 503.`;
    await until(() => shop.log.lines.includes(said));
    expect(receiver.typesOf(id)).to.deep.equal(Array(10).fill('order.open'));
    receiver.messages.length = 0;
    receiver.answer = taken;
    await faucet.sends(script, AMOUNT);
    await untilTypes(id, 'seen');
  });

  it('go nowhere but to the origins that the operator allows, also after a restart', async () => {
    const refusedAt = async (notify_url: unknown): Promise<string> => {
      const response = await shop.create({ outputs: [{ amount: AMOUNT, script: `0014${'ee'.repeat(20)}` }], notify_url });
      expect(response.status).to.equal(400);
      return response.text();
    };
    const { port } = receiver;
    expect(await refusedAt(`http://localhost:${port}/`)).to.equal(
      `Order: notify_url: a URL at ${receiver.origin} expected, one at http://localhost:${port} came.\r\n`
    );
    expect(await refusedAt(`http://user:word@127.0.0.1:${port}/`)).to.include('a URL without user and password expected');
    for (const url of [
      'ftp://127.0.0.1/',
      'javascript:alert(1)',
      `http://127.0.0.1:${port}/\n`,
      `${receiver.origin}/${'a'.repeat(2_000)}`,
      ''
    ]) {
      expect(await refusedAt(url)).to.include('notify_url: an http or https URL of at most 2000 characters expected');
    }
    expect(await refusedAt(5)).to.include('notify_url: text expected');

    receiver.answer = (response) => response.destroy();
    const { id } = await created();
    await until(() => receiver.messages.length > 0);
    await reopen(['https://other.example']);
    const said = `warning payments: ${receiver.origin} did not take a webhook: its origin is not allowed any more. It is sent again.`;
    receiver.messages.length = 0;
    await until(() => shop.log.lines.includes(said));
    expect((await outboxOf(id)).waiting).to.have.length(1);
    expect(receiver.messages).to.deep.equal([]);
    await reopen([]);
    expect(await refusedAt(receiver.origin)).to.include('this merchant notifies nobody');
  });

  it('leave a damaged file as it is, and say so', async () => {
    const { id } = await created();
    await untilTypes(id, 'open');
    await shop.close();
    await writeFile(join(folder, `${id}.webhooks.json`), '{');
    await open();
    await until(() => shop.log.lines.some((line) => line.startsWith(`error payments: The record ${id}.webhooks.json is damaged`)));
    expect(await readFile(join(folder, `${id}.webhooks.json`), 'utf8')).to.equal('{');
  });

  it('are sent by a node with the option, signed with the secret in its folder', async () => {
    const settings = {
      'rest-payments': join(folder, 'own'),
      'rest-payments-notify': `https://shop.example,${receiver.origin}`,
      'api-key': KEY
    };
    const own = await openRestNode({ settings });
    await untilReady(own);
    receiver.secret = (await readFile(join(folder, 'own/webhook-secret'), 'utf8')).trim();
    const order = { outputs: [{ amount: AMOUNT, script: `0014${'ef'.repeat(20)}` }], notify_url: receiver.origin };
    await fetch(`${own.baseUrl}/pay`, { method: 'POST', headers: { authorization: AUTHORIZATION }, body: JSON.stringify(order) });
    await until(() => receiver.messages.length > 0);
    expect(receiver.messages).to.containSubset([{ path: '/', type: 'order.open' }]);
    await own.node.close();
  });

  describe('with a hostile receiver', () => {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined).resume();
      socket.on('close', () => sockets.delete(socket));
      behaviour(socket);
    });
    let behaviour: (socket: Socket) => void = () => undefined;
    let origin: string;
    let cut = 0;

    before(async () => {
      const port = await freePort();
      origin = `http://127.0.0.1:${port}`;
      await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    });
    after(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });

    /** Writes without end. @returns how many bytes the other side has let it write */
    const floods = (head: string, piece: string): ((socket: Socket) => void) => {
      return (socket) => {
        socket.write(head);
        const more = (): void => {
          while (!socket.destroyed && socket.write(piece));
        };
        socket.on('drain', more);
        socket.on('close', () => cut++);
        more();
      };
    };

    for (const [title, head, piece, taken] of [
      ['an answer without end', 'HTTP/1.1 200 OK\r\n\r\n', 'a'.repeat(65_536), true],
      ['headers without end', 'HTTP/1.1 200 OK\r\n', `X: ${'a'.repeat(1_000)}\r\n`, false],
      ['what is not HTTP', 'SSH-2.0\r\n', 'a'.repeat(65_536), false]
    ] as const) {
      it(`cut ${title} off`, async () => {
        cut = 0;
        behaviour = floods(head, piece);
        await reopen([origin]);
        const { id } = await created({ notify_url: origin });
        await until(() => cut > 0);
        if (taken) await until(async () => (await outboxOf(id)).waiting.length === 0);
        else expect((await outboxOf(id)).waiting).to.have.length(1);
      });
    }

    it('cut off what comes before an answer without end', async () => {
      cut = 0;
      behaviour = floods('', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3_000));
      await reopen([origin]);
      await created({ notify_url: origin });
      const said = `warning payments: ${origin} did not take a webhook: no answer within 24576 bytes. It is sent again.`;
      await until(() => shop.log.lines.some((line) => line.includes('did not take')));
      expect(shop.log.lines).to.include(said);
      await until(() => cut > 0);
    });

    it('say in one line that what answers does not speak TLS', async () => {
      behaviour = (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n');
      const secure = origin.replace('http:', 'https:');
      await reopen([secure]);
      await created({ notify_url: secure });
      await until(() => shop.log.lines.some((line) => line.includes('did not take')));
      const said = shop.log.lines.filter((line) => line.includes('did not take'));
      expect(said.join()).to.match(
        new RegExp(`^warning payments: ${secure} did not take a webhook: .*wrong version number.*\\. It is sent again\\.$`)
      );
    });

    it('do not make others wait, and have few connections to it', async () => {
      behaviour = () => undefined;
      await reopen([origin, receiver.origin]);
      for (let i = 0; i < 8; i++) await created({ notify_url: origin });
      await until(() => sockets.size >= 4);
      const { id } = await created();
      await untilTypes(id, 'open');
      expect(sockets.size).to.equal(4);
      // Closing waits for nobody, and blames nobody for what it cuts off.
      await shop.close();
      await until(() => sockets.size === 0);
      expect(shop.log.lines.filter((line) => line.includes('did not take'))).to.deep.equal([]);
      await open();
    });

    it('end an attempt that takes too long', async () => {
      behaviour = (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        const trickle = async (): Promise<void> => {
          while (!socket.destroyed) {
            socket.write('X: 1\r\n');
            await setTimeout(5);
          }
        };
        void trickle();
      };
      await shop.close();
      shop = await ServedMerchant.on(served, folder, { notifyOrigins: [origin], patience: { attemptMs: 50 } });
      await created({ notify_url: origin });
      const said = `warning payments: ${origin} did not take a webhook: no answer within 0.05 seconds. It is sent again.`;
      await until(() => shop.log.lines.includes(said));
    });
  });

  it('do not hold the event loop while what could not be known is due and the index is not in sync', async () => {
    const clock = new ShiftedClock();
    let isReady = true;
    let [asked, looks] = [0, 0];
    const webhooks = await lookingAt(
      () => {
        asked++;
        return Promise.reject(UNKNOWN);
      },
      // Ends a loop that would go on for good.
      () => ++looks > 1_000 || isReady
    );
    try {
      webhooks.followed(orderOf(ID));
      await until(() => asked === 1);
      isReady = false;
      clock.passes(60_000);
      const before = looks;
      webhooks.settled();
      await until(() => looks > before);
      // Others are told meanwhile.
      const { id } = await created();
      await untilTypes(id, 'open');
      expect(asked).to.equal(1);
      isReady = true;
      webhooks.settled();
      await until(() => asked === 2);
    } finally {
      clock.restore();
      await webhooks.close();
    }
  });

  it('look for what cannot be known after pauses that double, and whenever the chain moves on', async () => {
    const clock = new ShiftedClock();
    let passed = 0;
    const asked: string[] = [];
    const webhooks = await lookingAt((id) => {
      asked.push(id);
      return Promise.reject(UNKNOWN);
    });
    let others = 0;
    /** Has everything looked at that is due: what comes with a new order is done when the next one is looked at. */
    const looksAt = async (seconds: number): Promise<number> => {
      clock.passes((seconds - passed) * 1_000);
      passed = seconds;
      for (let i = 0; i < 2; i++) {
        const id = (++others).toString(16).padStart(32, '0');
        webhooks.followed(orderOf(id));
        await until(() => asked.includes(id));
      }
      return asked.filter((one) => one === ID).length;
    };
    try {
      webhooks.followed(orderOf(ID));
      const looks: number[] = [];
      for (const seconds of [0, 11, 25, 32, 60, 73]) looks.push(await looksAt(seconds));
      expect(looks).to.deep.equal([1, 2, 2, 3, 3, 4]);
      webhooks.settled();
      expect(await looksAt(74)).to.equal(5);
    } finally {
      clock.restore();
      await webhooks.close();
    }
  });

  it('look again for what cannot be known if the chain moves on while they look', async () => {
    const looks: ((error: Error) => void)[] = [];
    const webhooks = await lookingAt(() => new Promise((_, reject) => looks.push(reject)));
    webhooks.followed(orderOf(ID));
    for (let look = 1; look <= 3; look++) {
      await until(() => looks.length === look);
      webhooks.settled();
      looks[look - 1]?.(UNKNOWN);
    }
    await until(() => looks.length === 4);
    looks[3]?.(UNKNOWN);
    await webhooks.close();
  });

  it('leave nothing in the folder of an order whose record is gone', async () => {
    const { id } = await created();
    await untilTypes(id, 'open');
    await until(async () => (await outboxOf(id)).waiting.length === 0);
    await shop.close();
    await rm(join(folder, `${id}.json`));
    await open();
    await until(async () => !(await readdir(folder)).some((name) => name.startsWith(id)));
  });
});
