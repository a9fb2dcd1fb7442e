import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { checkPaymentRequest, decodePaymentRequest, type PayableRequest } from '../../lib/payments';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin } from '../support/bcoin/bcoin';
import { COINBASE_SATS } from '../support/chain/coinbases';
import { newFolder } from '../support/process/folders';
import { paymentOf } from '../support/chain/paying-wallet';
import { mine } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';
import { signed } from '../support/chain/signed';
import { basicAuth } from '../support/client/http';
import type { HostTransaction } from '../../lib/node/host';

const KEY = 'sesame';
const SCRIPT = Buffer.from(`0014${'ab'.repeat(20)}`, 'hex');
const AMOUNT = 150_000;

describe('an acknowledged payment that is replaced in the pool', () => {
  let served: ServedNode;
  const ring = bcoin.KeyRing.generate();
  let coin: HostTransaction;
  let url: string;
  let id: string;
  let request: PayableRequest;

  beforeEach(async () => {
    const folder = await newFolder();
    served = await ServedNode.open({ settings: { 'rest-pool': 'modern', 'rest-payments': join(folder, 'shop'), 'api-key': KEY } });
    const [block] = await mine(served.node, 101, undefined, ring.getAddress());
    coin = block?.txs[0] as HostTransaction;
    await served.settle();
    const authorization = basicAuth(`x:${KEY}`);
    const body = JSON.stringify({ outputs: [{ amount: AMOUNT, script: SCRIPT.toString('hex') }] });
    const created = await fetch(`http://127.0.0.1:${served.port}/pay`, { method: 'POST', headers: { authorization }, body });
    ({ id } = (await created.json()) as { id: string });
    url = `http://127.0.0.1:${served.port}/pay/${id}`;
    const bytes = Buffer.from(await (await fetch(url, { headers: { accept: 'application/bitcoin-paymentrequest' } })).arrayBuffer());
    request = checkPaymentRequest(decodePaymentRequest(bytes), { network: 'test', time: new Date() });
    const payment = paymentOf(request, [paying(1_000, AMOUNT)]);
    const headers = { 'content-type': 'application/bitcoin-payment' };
    expect((await fetch(url, { method: 'POST', headers, body: new Uint8Array(payment) })).status).to.equal(200);
  });
  afterEach(() => served.node.close());

  const paying = (fee: number, amount: number): HostTransaction =>
    signed(ring, [coin], [...(amount > 0 ? [[SCRIPT, amount] as const] : []), [ring.getAddress(), COINBASE_SATS - amount - fee]]);
  const state = async (): Promise<Record<string, unknown>> =>
    (await (await fetch(url, { headers: { accept: 'application/json' } })).json()) as Record<string, unknown>;
  /** The line about the order in the log of the operator, or a later one. */
  const said = async (after = 0): Promise<string> => {
    for (;;) {
      const line = served.log.lines.filter((one) => one.includes(id))[after];
      if (line !== undefined) return line;
      await setTimeout(5);
    }
  };
  const excluded = (received: number): string =>
    `warning payments: Order ${id}: a payment that was acknowledged cannot be confirmed any more: another transaction in the chain has spent its coins. The order has received ${received} satoshis.`;

  it('is said at once to the operator, and shown, when the replacement pays nothing', async () => {
    const theft = paying(100_000, 0);
    await served.source.broadcast(theft.toRaw());
    const by = toDisplayHex(theft.hash());
    expect(await said()).to.equal(
      `warning payments: Order ${id}: a payment that was acknowledged was replaced in the pool by ${by}, which pays nothing to the order.`
    );
    expect(await state()).to.deep.equal({ id, state: 'replaced', by });
    const page = await (await fetch(url, { headers: { accept: 'text/html' } })).text();
    expect(page).to.include('Another transaction has taken its place');
    await mine(served.node, 1);
    await served.settle();
    expect(await state()).to.deep.include({ state: 'conflicted' });
    expect(await said(1)).to.equal(excluded(0));
  });

  it('is said, with what the replacement pays, when a wallet has raised the fee', async () => {
    const bumped = paying(100_000, AMOUNT);
    await served.source.broadcast(bumped.toRaw());
    const by = toDisplayHex(bumped.hash());
    expect(await said()).to.equal(
      `warning payments: Order ${id}: a payment that was acknowledged was replaced in the pool by ${by}, which pays ${AMOUNT} satoshis to the order.`
    );
    expect(await state())
      .to.deep.include({ state: 'replaced', by })
      .and.to.have.nested.property('received.amount', AMOUNT);
    await mine(served.node, 1);
    await served.settle();
    expect(await state()).to.have.nested.property('received.confirmed', AMOUNT);
    expect(await said(1)).to.equal(excluded(AMOUNT));
  });
});
