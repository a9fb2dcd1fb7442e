import { randomBytes, X509Certificate } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import {
  TrustRoots,
  checkPaymentRequest,
  decodePaymentACK,
  decodePaymentDetails,
  decodePaymentRequest,
  encodePayment,
  keyPin,
  parseBitcoinUri,
  verifyPaymentRequest,
  type PayableRequest,
  type Verification
} from '../../lib/payments';
import { makeCertificate, type MadeCertificate } from '../payments/made-certificates';
import { bcoin, type HostKeyRing } from '../support/bcoin/bcoin';
import { newFolder } from '../support/process/folders';
import { mine, mineOnly } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { signed } from '../support/chain/signed';
import { basicAuth } from '../support/client/http';
import type { HostEntry, HostTransaction } from '../../lib/node/host';

const KEY = 'sesame';
const SCRIPT = `0014${'ab'.repeat(20)}`;
const AMOUNT = 150_000;
const COIN = 2_499_990_000;
const FEE = 10_000;

describe('a merchant on the node', () => {
  let folder: string;
  let served: RestNode;
  let ring: HostKeyRing;
  /** Two coins of the wallet, not coinbases: bcoin's pool drops spends of coinbases at every reorganization. */
  let coins: HostTransaction;

  const open = async (): Promise<void> => {
    served = await openRestNode({ prefix: join(folder, 'node'), settings: { 'rest-payments': join(folder, 'shop'), 'api-key': KEY } });
    await untilReady(served);
  };

  beforeEach(async () => {
    folder = await newFolder();
    await open();
    ring = bcoin.KeyRing.generate();
    const [first] = await mine(served.node, 101, undefined, ring.getAddress());
    coins = signed(
      ring,
      [first?.txs[0] as HostTransaction],
      [
        [ring.getAddress(), COIN],
        [ring.getAddress(), COIN]
      ]
    );
    await served.node.mempool.addTX(coins);
    await mine(served.node, 1);
  });

  afterEach(() => served.node.close());

  const authorization = basicAuth(`x:${KEY}`);
  const create = (order: unknown, headers: Record<string, string> = { authorization }): Promise<Response> =>
    fetch(`${served.baseUrl}/pay`, { method: 'POST', headers, body: JSON.stringify(order) });
  const createOrder = async (script = SCRIPT): Promise<{ readonly id: string; readonly url: string; readonly uri: string }> => {
    const response = await create({ outputs: [{ amount: AMOUNT, script }], memo: 'Two mugs' });
    expect(response.status).to.equal(201);
    return (await response.json()) as { id: string; url: string; uri: string };
  };
  const get = (url: string, accept: string): Promise<Response> => fetch(url, { headers: { accept } });
  const requestOf = async (url: string): Promise<PayableRequest> => {
    const bytes = Buffer.from(await (await get(url, 'application/bitcoin-paymentrequest')).arrayBuffer());
    return checkPaymentRequest(decodePaymentRequest(bytes), { network: 'test', time: new Date() });
  };
  /** The state without `received`. */
  const stateOf = async (url: string): Promise<unknown> => {
    const state = (await (await get(url, 'application/json')).json()) as Record<string, unknown>;
    delete state['received'];
    return state;
  };
  const pay = (url: string, body: Buffer): Promise<Response> =>
    fetch(url, { method: 'POST', headers: { 'content-type': 'application/bitcoin-payment' }, body: new Uint8Array(body) });

  /** Pays the requested amount, or `valueSats`, with change for the wallet. */
  function walletPays({ outputs }: PayableRequest, valueSats?: number, from = coins): HostTransaction {
    return signed(
      ring,
      [[from, 0]],
      [...outputs.map(({ amount, script }) => [script, valueSats ?? Number(amount)] as const), [ring.getAddress(), COIN - AMOUNT - 2 * FEE]]
    );
  }
  const paymentOf = (request: PayableRequest, ...transactions: readonly HostTransaction[]): Buffer =>
    encodePayment({
      transactions: transactions.map((transaction) => transaction.toRaw()),
      refundTo: [{ script: Buffer.from(SCRIPT, 'hex') }],
      ...(request.merchantData && { merchantData: request.merchantData })
    });

  it('is paid, sees the payment wait, confirm, and wait again after a reorganization', async () => {
    const { url, id } = await createOrder();
    expect(await stateOf(url)).to.deep.equal({ id, state: 'open' });
    const request = await requestOf(url);
    const payment = paymentOf(request, walletPays(request));

    const acknowledged = await pay(url, payment);
    expect(acknowledged.headers.get('content-type')).to.equal('application/bitcoin-paymentack');
    const acknowledgement = Buffer.from(await acknowledged.arrayBuffer());
    expect(decodePaymentACK(acknowledgement).payment.transactions).to.have.length(1);
    expect(served.node.mempool.map.size).to.equal(1);
    expect(await stateOf(url)).to.deep.equal({ id, state: 'unconfirmed' });

    const before = served.node.chain.tip;
    await mine(served.node, 1);
    expect(await stateOf(url)).to.deep.equal({ id, state: 'confirmed', confirmations: 1 });
    await mine(served.node, 2);
    expect(await stateOf(url)).to.deep.equal({ id, state: 'confirmed', confirmations: 3 });

    // bcoin forgets disconnected transactions when its pool is empty: the merchant broadcasts them again.
    await mineWithoutPool(before, 4);
    while (((await stateOf(url)) as { state: string }).state === 'missing') await setImmediate();
    expect(await stateOf(url)).to.deep.equal({ id, state: 'unconfirmed' });

    const again = await pay(url, payment);
    expect(Buffer.from(await again.arrayBuffer())).to.deep.equal(acknowledgement);
  });

  it('sees a payment wait again when a reorganization gives it back to the pool', async () => {
    const { url, id } = await createOrder();
    const request = await requestOf(url);
    await pay(url, paymentOf(request, walletPays(request)));
    const before = served.node.chain.tip;
    await mine(served.node, 1);
    await served.node.mempool.addTX(signed(ring, [[coins, 1]], [[ring.getAddress(), COIN - FEE]]));
    await mineWithoutPool(before, 2);
    expect(await stateOf(url)).to.deep.equal({ id, state: 'unconfirmed' });
  });

  /** Mines a longer chain without the pool's transactions. */
  async function mineWithoutPool(parent: HostEntry, count: number): Promise<void> {
    for (let i = 0, tip = parent; i < count; i++) tip = await mineOnly(served.node, [], tip);
  }

  it('keeps requests, payments and acknowledgements over a restart', async () => {
    const { url, id } = await createOrder();
    const request = await requestOf(url);
    const payment = paymentOf(request, walletPays(request));
    const acknowledgement = Buffer.from(await (await pay(url, payment)).arrayBuffer());
    await served.node.close();
    await open();
    const again = await pay(`${served.baseUrl}/pay/${id}`, payment);
    expect(Buffer.from(await again.arrayBuffer())).to.deep.equal(acknowledgement);
    expect(await readdir(join(folder, 'shop'))).to.include(`${id}.json`);
  });

  it('accepts a payment whose parents are confirmed already, or come after their child', async () => {
    const { url, id } = await createOrder();
    const request = await requestOf(url);
    const parent = signed(ring, [[coins, 1]], [[ring.getAddress(), COIN - FEE]]);
    expect((await pay(url, paymentOf(request, walletPays(request, AMOUNT, parent), parent, coins))).status).to.equal(200);
    expect(await stateOf(url)).to.deep.equal({ id, state: 'unconfirmed' });
    expect(served.node.mempool.map.size).to.equal(2);
  });

  it('refuses a payment that pays too little, and broadcasts nothing', async () => {
    const { url } = await createOrder();
    const request = await requestOf(url);
    const response = await pay(url, paymentOf(request, walletPays(request, AMOUNT - 1)));
    expect(response.status).to.equal(400);
    expect(await response.text()).to.match(/149999.*\r\n$/);
    expect(served.node.mempool.map.size).to.equal(0);
  });

  it('refuses a payment that the node refuses, with its reason', async () => {
    const { url } = await createOrder();
    const request = await requestOf(url);
    const good = walletPays(request).toRaw();
    const unsigned = Buffer.concat([good.subarray(0, 43), Buffer.from([good.readUInt8(43) ^ 1]), good.subarray(44)]);
    const response = await pay(url, paymentOf(request, bcoin.TX.fromRaw(unsigned)));
    expect(response.status).to.equal(400);
    expect(await response.text()).to.match(/^The node does not take a transaction: .+\r\n$/);
    expect(served.node.mempool.map.size).to.equal(0);
  });

  it('creates requests only for holders of the API key', async () => {
    for (const headers of [{}, { authorization: basicAuth('x:guess') }]) {
      const response = await create({ outputs: [] }, headers);
      expect(response.status).to.equal(401);
      expect(response.headers.get('www-authenticate')).to.equal('Basic realm="rest"');
    }
    expect((await create({ outputs: [{ amount: 'much', script: SCRIPT }] })).status).to.equal(400);
  });

  it('signs with the key and certificates in its folder, and with renewed ones without a restart', async () => {
    const orderSignedBy = async (signer: MadeCertificate): Promise<Verification> => {
      const { url } = await createOrder(`0014${randomBytes(20).toString('hex')}`);
      const request = Buffer.from(await (await get(url, 'application/bitcoin-paymentrequest')).arrayBuffer());
      return verifyPaymentRequest(request, {
        roots: new TrustRoots([]),
        pinnedKeys: [keyPin(new X509Certificate(signer.der))],
        time: new Date()
      });
    };
    const [first, second] = [makeCertificate({ commonName: 'shop.example' }), makeCertificate({ commonName: 'shop.example' })];
    expect(await orderSignedBy(first)).to.deep.equal({ status: 'none' });
    for (const leaf of [first, second]) {
      await writeFile(join(folder, 'shop/key.pem'), leaf.keyPem);
      await writeFile(join(folder, 'shop/certificates.pem'), leaf.pem);
      expect(await orderSignedBy(leaf)).to.include({ status: 'trusted', name: 'shop.example' });
    }
    expect(await orderSignedBy(first)).to.include({ status: 'untrusted' });
  });

  it('shows a request as message, as URI and as page', async () => {
    const { url, uri } = await createOrder();
    expect(url).to.match(new RegExp(`^${served.baseUrl}/pay/[0-9a-f]{32}$`));
    expect(parseBitcoinUri(uri).paymentUrl).to.equal(url);
    expect((await (await get(url, 'text/uri-list')).text()).trim()).to.equal(uri);
    expect(await (await get(url, 'text/html')).text()).to.include('Two mugs');
    const message = Buffer.from(await (await get(url, 'application/bitcoin-paymentrequest')).arrayBuffer());
    expect(decodePaymentDetails(decodePaymentRequest(message).serializedPaymentDetails)).to.deep.include({
      network: 'test',
      paymentUrl: url
    });
  });

  it('answers unknown paths with 404 and large bodies with 413', async () => {
    expect((await get(`${served.baseUrl}/pay/${'0'.repeat(32)}`, 'text/html')).status).to.equal(404);
    expect((await get(`${served.baseUrl}/pay/..%2f..%2fetc`, 'text/html')).status).to.equal(404);
    const { url } = await createOrder();
    expect((await pay(url, Buffer.alloc(50_001))).status).to.equal(413);
    expect((await fetch(url, { method: 'DELETE' })).status).to.equal(405);
  });

  it('leaves REST and the node’s own interface unchanged', async () => {
    expect((await fetch(`${served.baseUrl}/rest/chaininfo.json`)).status).to.equal(200);
    expect((await fetch(served.baseUrl)).status).to.equal(401);
    expect((await fetch(served.baseUrl, { headers: { authorization } })).status).to.equal(200);
  });
});
