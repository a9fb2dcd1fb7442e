// The description of the merchant's pages, held against the replies of a running node's merchant.

import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { PAYMENT_ACK_TYPE, PAYMENT_REQUEST_TYPE, PAYMENT_TYPE } from '../../lib/payments';
import { bcoin, type HostKeyRing } from '../support/bcoin/bcoin';
import { DescribedHttp, type HttpDocument, type Operation } from '../support/client/described-http';
import { newFolder } from '../support/process/folders';
import { ask, basicAuth, type RawReply } from '../support/client/http';
import { mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { signed } from '../support/chain/signed';
import { until } from '../support/expectations/until';
import { paymentFor } from './orders/shop';

const KEY = { Authorization: basicAuth('x:key') };

describe('the description of the merchant’s pages', () => {
  const ring: HostKeyRing = bcoin.KeyRing.generate();
  let served: RestNode;
  let described: DescribedHttp;

  beforeEach(async () => {
    served = await openRestNode({ settings: { 'rest-payments': await newFolder(), 'api-key': 'key' } });
    await untilReady(served);
    const { status, contentType, body } = await ask(served.port, { path: '/pay/openapi.json' });
    expect([status, contentType]).to.deep.equal([200, 'application/json']);
    described = new DescribedHttp(JSON.parse(body.toString()) as HttpDocument);
  });
  afterEach(() => served.node.close());

  const operation = (id: string): Operation =>
    described.operations.find(({ of }) => of.operationId === id) ?? expect.fail(`an operation ${id}`);
  const isDescribed = (id: string, reply: RawReply): void => {
    expect(described.faultIn(operation(id), reply), `${id}: ${reply.status} ${reply.body.toString('latin1')}`).to.equal(undefined);
    if (reply.contentType?.startsWith('application/json') === true) expect(described.unmissed(operation(id), reply)).to.deep.equal([]);
  };

  it('has every page, and says that only the merchant makes and lists orders', () => {
    expect(described.operations.map(({ method, path }) => `${method} ${path}`)).to.have.members([
      ...['POST /pay', 'GET /pay', 'GET /pay/{id}', 'GET /pay/{id}/status', 'POST /pay/{id}', 'GET /pay/openapi.json']
    ]);
    expect(described.operations.filter(({ of }) => of.security !== undefined).map(({ of }) => of.operationId)).to.deep.equal([
      'createOrder',
      'listOrders'
    ]);
  });

  it('has the replies from an order to its confirmation, and the refusals', async () => {
    await served.node.connect();
    const [block] = await mine(served.node, 102, undefined, ring.getAddress());
    const coinbase = block?.txs[0] ?? expect.fail('a coinbase');
    const create = (order: unknown, headers: Record<string, string> = KEY): Promise<RawReply> =>
      ask(served.port, { method: 'POST', path: '/pay', headers, body: Buffer.from(JSON.stringify(order)) });
    const order = {
      outputs: [{ amount: 100_000_000, script: `76a914${ring.getKeyHash().toString('hex')}88ac` }],
      memo: 'Two mugs',
      expires: 4_000_000_000
    };
    const body = operation('createOrder').of.requestBody?.content['application/json']?.schema ?? {};
    expect([described.schemas.faultIn(body, order), described.schemas.unmissed(body, order)]).to.deep.equal([undefined, []]);
    const created = await create(order);
    expect(created.status).to.equal(201);
    const foreign = await create(order, { ...KEY, 'Sec-Fetch-Site': 'cross-site' });
    const encoded = await create(order, { ...KEY, 'Content-Encoding': 'gzip' });
    expect([foreign.status, encoded.status]).to.deep.equal([403, 415]);
    for (const reply of [created, await create(order, {}), await create({}), await create('a'.repeat(300_000)), foreign, encoded])
      isDescribed('createOrder', reply);
    const { id } = JSON.parse(created.body.toString()) as { id: string };
    const get = (accept: string, of = id): Promise<RawReply> => ask(served.port, { path: `/pay/${of}`, headers: { Accept: accept } });
    for (const accept of [PAYMENT_REQUEST_TYPE, 'text/uri-list', 'text/html', 'application/json'])
      isDescribed('getOrder', await get(accept));
    isDescribed('getOrder', await get('text/html', 'unknown'));
    isDescribed('getOrderStatus', await ask(served.port, { path: '/pay/unknown/status' }));
    for (const path of ['/pay', '/pay?status=open&limit=1', '/pay?limit=0'])
      for (const accept of ['application/json', 'text/html'])
        for (const headers of [KEY, {}])
          isDescribed('listOrders', await ask(served.port, { path, headers: { ...headers, Accept: accept } }));
    const pay = (type: string, payment: Buffer): Promise<RawReply> =>
      ask(served.port, { method: 'POST', path: `/pay/${id}`, headers: { 'Content-Type': type }, body: payment });
    const transaction = signed(
      ring,
      [coinbase],
      [
        [ring.getAddress(), 100_000_000],
        [ring.getAddress(), 4_899_990_000]
      ]
    ).toRaw();
    const paid = await pay(PAYMENT_TYPE, paymentFor(id, [transaction]));
    expect([paid.status, paid.contentType], paid.body.toString()).to.deep.equal([200, PAYMENT_ACK_TYPE]);
    for (const reply of [
      paid,
      await pay('text/plain', transaction),
      await pay(PAYMENT_TYPE, transaction),
      await pay(PAYMENT_TYPE, Buffer.alloc(60_000))
    ])
      isDescribed('payOrder', reply);
    const states = new Set<string>();
    const state = async (): Promise<string> => {
      const reply = await get('application/json');
      isDescribed('getOrder', reply);
      isDescribed('getOrderStatus', await ask(served.port, { path: `/pay/${id}/status` }));
      const { state: name } = JSON.parse(reply.body.toString()) as { state: string };
      states.add(name);
      return name;
    };
    await state();
    await mine(served.node, 1);
    await until(async () => (await state()) === 'confirmed');
    expect([...states]).to.include.members(['unconfirmed', 'confirmed']);
  });
});
