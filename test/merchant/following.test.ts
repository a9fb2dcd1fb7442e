import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { checkPaymentRequest, decodePaymentRequest, encodePayment, type PayableRequest } from '../../lib/payments';
import * as plugin from '../../plugin';
import { bcoin } from '../support/bcoin/bcoin';
import { newFolder } from '../support/process/folders';
import { FEE, PayingWallet, paymentOf } from '../support/chain/paying-wallet';
import { createRegtestNode, mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { AUTHORIZATION, KEY, ServedMerchant } from './served-merchant';
import type { AddressInfo } from 'node:net';

const SCRIPT = Buffer.from(`0014${'ab'.repeat(20)}`, 'hex');
const AMOUNT = 150_000;
/** When an order expires that is to be made, and read, before. */
const SOON_SECONDS = 3;

interface Order {
  readonly id: string;
  readonly request: PayableRequest;
}

interface State {
  readonly state: string;
  readonly confirmations?: number;
  readonly received?: {
    readonly amount: number;
    readonly confirmed: number;
    readonly outputs: readonly { readonly confirmations: number }[];
  };
}

describe('a merchant that follows the chain', function () {
  this.timeout(120_000);
  let folder: string;
  let served: RestNode;
  let wallet: PayingWallet;

  beforeEach(async () => {
    folder = await newFolder();
    nodeName = 'node';
    await open();
    wallet = await PayingWallet.on(served.node);
  });

  afterEach(() => served.node.close());

  const settings = (): Record<string, unknown> => ({ 'rest-warmup': 'indexed', 'rest-payments': join(folder, 'shop'), 'api-key': KEY });
  let nodeName = 'node';
  const nodeFolder = (): string => join(folder, nodeName);

  async function open(more: Record<string, unknown> = {}): Promise<void> {
    served = await openRestNode({ prefix: nodeFolder(), settings: { ...settings(), ...more } });
    await untilReady(served);
  }

  const recordOf = (id: string): string => join(folder, 'shop', `${id}.json`);
  const pathOf = (id: string): string => `${served.baseUrl}/pay/${id}`;
  const get = (id: string, accept: string): Promise<Response> => fetch(pathOf(id), { headers: { accept } });

  async function created(script: Buffer = SCRIPT, more: Record<string, unknown> = {}): Promise<Order> {
    const response = await fetch(`${served.baseUrl}/pay`, {
      method: 'POST',
      headers: { authorization: AUTHORIZATION },
      body: JSON.stringify({ outputs: [{ amount: AMOUNT, script: script.toString('hex') }], ...more })
    });
    const { id } = (await response.json()) as { id: string };
    const bytes = Buffer.from(await (await get(id, 'application/bitcoin-paymentrequest')).arrayBuffer());
    return { id, request: checkPaymentRequest(decodePaymentRequest(bytes), { network: 'test', time: new Date() }) };
  }

  /** The status, and the text unless it is an acknowledgement. */
  async function pay(id: string, payment: Buffer): Promise<readonly [number, string]> {
    const response = await fetch(pathOf(id), {
      method: 'POST',
      headers: { 'content-type': 'application/bitcoin-payment' },
      body: new Uint8Array(payment)
    });
    return [response.status, response.status === 200 ? '' : await response.text()];
  }

  async function stateOf(id: string): Promise<State> {
    const response = await get(id, 'application/json');
    if (response.status !== 200) return { state: `${response.status} ${await response.text()}` };
    return (await response.json()) as State;
  }

  async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
    const { node } = served;
    while (!(await isSo())) {
      if (!node.opened) throw new Error('the node was closed before it was so');
      await setImmediate();
    }
  }
  const untilState = (id: string, isSo: (state: State) => boolean): Promise<void> => until(async () => isSo(await stateOf(id)));

  /** An order that was paid and acknowledged. */
  async function paid(script: Buffer = SCRIPT): Promise<Order> {
    const order = await created(script);
    expect(await pay(order.id, paymentOf(order.request, [wallet.pays(0, order.request)]))).to.deep.equal([200, '']);
    return order;
  }

  describe('with an acknowledged payment', () => {
    it('broadcasts it again at start, and accepts no second payment', async () => {
      const { id, request } = await paid();
      await served.node.close();
      await open();
      await untilState(id, ({ state }) => state === 'unconfirmed');
      expect(served.node.mempool.map.size).to.equal(1);
      expect(await pay(id, paymentOf(request, [wallet.pays(1, request)]))).to.deep.equal([400, 'The request is paid already.\r\n']);
      expect(await pay(id, paymentOf(request, [wallet.pays(0, request)], { memo: 'Thanks' }))).to.deep.equal([200, '']);
    });

    it('broadcasts it again when a reorganization has dropped it', async () => {
      const { id } = await paid();
      const { tip } = served.node.chain;
      await mine(served.node, 1);
      await untilState(id, ({ state, received }) => state === 'confirmed' && received?.confirmed === AMOUNT);
      // bcoin takes nothing back into an empty pool. The other branch does not have the payment.
      const other = await openRegtestNode();
      for (let height = 1; height <= tip.height; height++) {
        const raw = await served.rest.node.rawBlock((await served.rest.node.activeHash(height)) ?? Buffer.alloc(0));
        await other.chain.add(bcoin.Block.fromRaw(raw ?? Buffer.alloc(0)));
      }
      const branch = (await mine(other, 2)).map((block) => bcoin.Block.fromRaw(block.toRaw()));
      await other.close();
      for (const block of branch) await served.node.chain.add(block);
      await untilState(id, ({ state }) => state === 'unconfirmed');
      expect(await stateOf(id))
        .to.deep.include({ state: 'unconfirmed' })
        .and.to.have.nested.property('received.confirmed', 0);
      await mine(served.node, 1);
      await untilState(id, ({ state }) => state === 'confirmed');
    });

    it('broadcasts it again from time to time', async () => {
      const { id } = await paid();
      const payments = join(folder, 'shop');
      await served.node.close();
      served = await openRestNode({ prefix: nodeFolder(), settings: { 'rest-warmup': 'indexed', 'api-key': KEY } });
      const merchant = await ServedMerchant.on(served, payments, { reviewMs: 20 });
      for (let time = 0; time < 3; time++) {
        await until(() => served.node.mempool.map.size === 1);
        await served.node.mempool.reset();
      }
      await untilState(id, ({ state }) => state === 'unconfirmed');
      await merchant.close();
      expect(merchant.log.lines.filter((line) => line.startsWith('error'))).to.deep.equal([]);
    });

    it('accepts another payment when another transaction in the chain has spent the coins', async () => {
      const { id, request } = await paid();
      await served.node.mempool.reset();
      expect(await stateOf(id)).to.deep.equal({ id, state: 'missing' });
      expect(await pay(id, paymentOf(request, [wallet.pays(1, request)]))).to.deep.equal([400, 'The request is paid already.\r\n']);
      await served.node.mempool.addTX(wallet.moves(0));
      await mine(served.node, 1);
      await untilState(id, ({ state }) => state === 'conflicted');
      expect(await pay(id, paymentOf(request, [wallet.pays(1, request)]))).to.deep.equal([200, '']);
      await untilState(id, ({ state }) => state === 'unconfirmed');
    });
  });

  it('sees at once what had paid to the script of an order before the order was made', async () => {
    await served.node.mempool.addTX(wallet.sends(0, SCRIPT, AMOUNT));
    // From now on an order is watched, and the pool was looked at.
    await created(Buffer.from(`0014${'cd'.repeat(20)}`, 'hex'));
    const { id } = await created();
    await untilState(id, ({ received }) => received?.amount === AMOUNT);
  });

  describe('while the index does not know all transactions', () => {
    const rules = bcoin.Network.get('regtest').block;
    const asShipped = { ...rules };

    afterEach(() => {
      Object.assign(rules, asShipped);
    });

    /** Rebuilds the index from the node's coins. The node gives no block until the returned function is called. */
    async function begunWithCoins({ forgotten, ...more }: { forgotten?: string; prune?: true } = {}): Promise<() => void> {
      await served.node.close();
      if (forgotten !== undefined) await forgetBlocks(forgotten);
      await rm(join(nodeFolder(), 'regtest', 'rest'), { recursive: true });
      const node = await createRegtestNode({
        prefix: nodeFolder(),
        settings: { ...settings(), 'rest-bootstrap': 'coins', ...more },
        plugins: [plugin]
      });
      const rest = node.get(plugin.id) as plugin.RestPlugin;
      const rawBlock = rest.node.rawBlock.bind(rest.node);
      let isHeld = more.prune === undefined;
      Object.assign(rest.node, { rawBlock: (hash: Buffer) => (isHeld ? Promise.resolve(undefined) : rawBlock(hash)) });
      await node.ensure();
      await node.open();
      const { port } = rest.http.server.address() as AddressInfo;
      served = { node, rest, port, baseUrl: `http://127.0.0.1:${port}` };
      await untilReady(served);
      return () => {
        isHeld = false;
      };
    }

    /** Waits until the merchant has searched all blocks. */
    async function untilLookedThrough(): Promise<void> {
      const position = join(folder, 'shop', 'position.json');
      const isThere = (json: string): boolean => (JSON.parse(json) as { height: number }).height === served.node.chain.height;
      await until(async () => isThere(await readFile(position, 'utf8')));
    }

    /** Makes the record look as if the merchant had seen nothing confirmed. */
    async function forgetBlocks(id: string): Promise<void> {
      const record = JSON.parse(await readFile(recordOf(id), 'utf8')) as { received?: unknown; payments: { seenIn?: unknown }[] };
      delete record.received;
      for (const payment of record.payments) delete payment.seenIn;
      await writeFile(recordOf(id), JSON.stringify(record));
    }

    const confirmed = async (script?: Buffer): Promise<Order> => {
      const order = await paid(script);
      await mine(served.node, 6);
      await untilState(order.id, ({ confirmations, received }) => confirmations === 6 && received?.confirmed === AMOUNT);
      await untilLookedThrough();
      return order;
    };

    it('remembers the payments that it has seen confirmed', async () => {
      const { id, request } = await confirmed();
      await begunWithCoins();
      const state = await stateOf(id);
      expect(state).to.include({ state: 'confirmed', confirmations: 6 });
      expect(state).to.have.nested.property('received.confirmed', AMOUNT);
      expect(await pay(id, paymentOf(request, [wallet.pays(1, request)]))).to.deep.equal([400, 'The request is paid already.\r\n']);
    });

    it('knows a payment by its coin when it has not seen it confirmed', async () => {
      const { id } = await confirmed();
      await begunWithCoins({ forgotten: id });
      expect(await stateOf(id)).to.include({ state: 'confirmed', confirmations: 6 });
    });

    it('answers 503 until it knows, and accepts no second payment', async () => {
      const { id, request } = await confirmed(wallet.tillScript);
      await spendAll(id);
      const give = await begunWithCoins({ forgotten: id });
      const text = 'Service temporarily unavailable: transaction index is being built: 0.0% (height 111)\r\n';
      expect((await stateOf(id)).state).to.equal(`503 ${text}`);
      expect(await pay(id, paymentOf(request, [wallet.pays(1, request)]))).to.deep.equal([503, text]);
      give();
      // With the next block it is tried again.
      await mine(served.node, 1);
      await untilState(id, ({ confirmations }) => confirmations === 9);
    });

    it('says on a pruned node that it will never know', async () => {
      Object.assign(rules, { keepBlocks: 10, pruneAfterHeight: 5 });
      await served.node.close();
      nodeName = 'pruned';
      await open({ prune: true });
      wallet = await PayingWallet.on(served.node);
      const { id, request } = await confirmed(wallet.tillScript);
      const { id: unspent } = await created();
      await spendAll(id);
      await mine(served.node, 20);
      await untilLookedThrough();
      await begunWithCoins({ forgotten: id, prune: true });
      await until(() => served.rest.reader.read(({ backfilling: filling }) => filling) === undefined);
      const text = 'Service temporarily unavailable: the node has thrown the blocks away that would tell what became of the payment\r\n';
      expect((await stateOf(id)).state).to.equal(`503 ${text}`);
      expect(await pay(id, paymentOf(request, [wallet.pays(1, request)]))).to.deep.equal([503, text]);
      expect(await stateOf(unspent)).to.deep.equal({ id: unspent, state: 'open' });
      const list = await fetch(`${served.baseUrl}/pay`, { headers: { authorization: AUTHORIZATION } });
      const { orders } = (await list.json()) as { orders: object[] };
      expect(orders).to.containSubset([
        { id: unspent, status: 'open' },
        { id, error: text.trim() }
      ]);
    });

    /** Spends the payment and its change, so that it has no coin by which it can be found. */
    async function spendAll(id: string): Promise<void> {
      const {
        payments: [payment]
      } = JSON.parse(await readFile(recordOf(id), 'utf8')) as { payments: [{ txids: [string] }] };
      const block = await served.rest.reader.read(async (snapshot) => {
        const txid = Buffer.from(payment.txids[0], 'hex').reverse();
        const {
          block: { hash },
          offset,
          length
        } = snapshot.location(txid) ?? expect.fail('a location');
        return (await served.rest.node.rawBlock(hash))?.subarray(offset, offset + length);
      });
      const transaction = bcoin.TX.fromRaw(Buffer.from(block ?? Buffer.alloc(0)));
      await served.node.mempool.addTX(wallet.takes(transaction, 0, AMOUNT - FEE));
      await served.node.mempool.addTX(wallet.takes(transaction, 1, 2_499_990_000 - AMOUNT - 2 * FEE));
      await mine(served.node, 2);
      await untilLookedThrough();
    }
  });

  describe('with money that came without an accepted Payment', () => {
    it('acknowledges it only with the witness that pool or chain has', async () => {
      const { id, request } = await created();
      const transaction = wallet.pays(0, request);
      await served.node.mempool.addTX(transaction);
      const { merchantData = Buffer.alloc(0) } = request;
      const altered = encodePayment({ merchantData, transactions: [withAWitness(transaction.toRaw())], refundTo: [] });
      const text = `The node has transaction ${toDisplayHex(transaction.hash())} with another witness. Send it as it was broadcast.\r\n`;
      expect(await pay(id, altered)).to.deep.equal([400, text]);
      await mine(served.node, 1);
      expect(await pay(id, altered)).to.deep.equal([400, text]);
      expect(await stateOf(id)).to.include({ state: 'open' });
      expect(await pay(id, paymentOf(request, [transaction]))).to.deep.equal([200, '']);
      expect(await stateOf(id)).to.include({ state: 'confirmed' });
    });

    it('shows it, in the pool and confirmed', async () => {
      const { id } = await created();
      await served.node.mempool.addTX(wallet.sends(0, SCRIPT, 100_000));
      expect(await stateOf(id))
        .to.have.property('received')
        .that.includes({ amount: 100_000, confirmed: 0 });
      await mine(served.node, 1);
      await untilState(id, ({ received }) => received?.confirmed === 100_000);
      expect(await stateOf(id)).to.include({ state: 'open' });
    });

    it('shows it when it was mined elsewhere, and while the merchant was off', async () => {
      const { id } = await created();
      await served.node.close();
      const off = await openRegtestNode({ prefix: nodeFolder() });
      await off.mempool.addTX(wallet.sends(0, SCRIPT, 100_000));
      await mine(off, 3);
      await off.close();
      await open();
      await untilState(id, ({ received }) => received?.confirmed === 100_000);
      expect((await stateOf(id)).received?.outputs).to.have.length(1);
      expect((await stateOf(id)).received?.outputs[0]).to.include({ confirmations: 3 });
    });

    it('shows it, and keeps the Payment, when the Payment came too late', async () => {
      const { id, request } = await created(SCRIPT, { expires: Math.floor(Date.now() / 1_000) + SOON_SECONDS });
      const transaction = wallet.pays(0, request);
      await served.node.mempool.addTX(transaction);
      await untilState(id, ({ state }) => state === 'expired');
      const [status, reason] = await pay(id, paymentOf(request, [transaction]));
      expect(status).to.equal(400);
      expect(await stateOf(id))
        .to.have.property('received')
        .that.includes({ amount: AMOUNT, confirmed: 0 });
      await mine(served.node, 1);
      await untilState(id, ({ received }) => received?.confirmed === AMOUNT);
      const {
        payments: [kept]
      } = JSON.parse(await readFile(recordOf(id), 'utf8')) as { payments: [Record<string, unknown>] };
      const outcome = { decision: 'refused', code: 'expired', reason: reason.trim() };
      expect(kept).to.deep.include({ refundTo: [{ script: '51' }], outcome });
    });
  });
});

/** A transaction with one input and no witness, with one that nobody has signed. Its txid stays the same. */
function withAWitness(raw: Buffer): Buffer {
  const [marker, witness] = [Buffer.from('0001', 'hex'), Buffer.from('010101', 'hex')];
  return Buffer.concat([raw.subarray(0, 4), marker, raw.subarray(4, -4), witness, raw.subarray(-4)]);
}
