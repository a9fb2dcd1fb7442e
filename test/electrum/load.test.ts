import { hash } from 'node:crypto';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { bcoin, type HostFullBlock, type HostKeyRing } from '../support/bcoin/bcoin';
import { COINBASE_SATS } from '../support/chain/coinbases';
import { LineClient, type Reply } from '../support/client/line-client';
import { freePort, mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { testScale } from '../support/process/scale';
import { signed } from '../support/chain/signed';
import { heldBytes } from '../support/process/garbage';

/** With TEST_SCALE=20 a thousand sessions with a hundred scripts each, of which a block touches five thousand. */
const SESSIONS = 50 * testScale();
const SCRIPTS = 5 * testScale();
const TOUCHED = 5;
const PAID_AT_ONCE = 1_000;
const MATURE = 101;
const VALUE = 1_000;
const FEE = 50_000;
/** Replies of at least sixteen kilobytes for a client that reads none of them: together more than the operating system buffers. */
const UNREAD = 2_000;
/** How much more memory may be held at the end than before. */
const MOST_BYTES = 16_000_000;

const scriptOf = (session: number, i: number): Buffer =>
  Buffer.concat([Buffer.from([0x00, 20]), hash('sha256', `${session} ${i}`, 'buffer').subarray(0, 20)]);
const nameOf = (script: Buffer): string => toDisplayHex(hash('sha256', script, 'buffer'));

describe('many clients that are subscribed to many scripts', function () {
  this.timeout(60_000 * testScale());
  let served: RestNode;
  let port: number;
  let ring: HostKeyRing;
  let coinbases: HostFullBlock[];
  const blocks = Math.ceil((SESSIONS * TOUCHED) / PAID_AT_ONCE);

  before(async () => {
    port = await freePort();
    const settings = { 'rest-addresses': true, 'rest-electrum': port, 'rest-electrum-sessions': SESSIONS + 1, 'rest-timeout': 1 };
    served = await openRestNode({ settings });
    ring = bcoin.KeyRing.generate();
    coinbases = await mine(served.node, MATURE + blocks, undefined, ring.getAddress());
    await untilReady(served);
  });
  after(() => served.node.close());

  /** A client that is admitted. */
  async function connect(): Promise<LineClient> {
    for (;;) {
      const client = await LineClient.connect(port).catch(() => undefined);
      client?.send({ id: 0, method: 'server.ping' });
      if ((await client?.line()) !== undefined) return client as LineClient; // who has a line
      await new Promise(setImmediate);
    }
  }

  /** Sends transactions that pay to the scripts that are to be touched. @returns the txid of one of them */
  async function pay(): Promise<string> {
    const scripts = Array.from({ length: SESSIONS }, (_, session) =>
      Array.from({ length: TOUCHED }, (__, i) => scriptOf(session, i))
    ).flat();
    let txid = '';
    for (let i = 0; i < blocks; i++) {
      const coinbase = coinbases[i]?.txs[0] as HostFullBlock['txs'][number]; // every block has a coinbase
      const transaction = signed(
        ring,
        [coinbase],
        [
          ...scripts.slice(i * PAID_AT_ONCE, (i + 1) * PAID_AT_ONCE).map((script) => [script, VALUE] as const),
          [ring.getAddress(), COINBASE_SATS - PAID_AT_ONCE * VALUE - FEE]
        ]
      );
      await served.node.mempool.addTX(transaction);
      txid = toDisplayHex(transaction.hash());
    }
    return txid;
  }

  it('are told once what a block changed, while one that does not read is cut off; and no memory is kept of them', async () => {
    const before = await heldBytes();
    const clients: LineClient[] = [];
    for (let session = 0; session < SESSIONS; session++) {
      const client = await connect();
      const names = Array.from({ length: SCRIPTS }, (_, i) => nameOf(scriptOf(session, i)));
      client.send(names.map((name, id) => ({ id, method: 'blockchain.scripthash.subscribe', params: [name] })));
      const replies = (await client.value()) as unknown as readonly Reply[];
      expect(replies.map(({ result }) => result)).to.deep.equal(names.map(() => null));
      clients.push(client);
    }
    const lazy = await connect();
    const all = Array.from({ length: SESSIONS }, (_, session) => nameOf(scriptOf(session, 0)));
    lazy.send(all.map((name, id) => ({ id, method: 'blockchain.scripthash.subscribe', params: [name] })));
    await lazy.value();
    lazy.socket.pause();

    const txid = await pay();
    lazy.send(...Array.from({ length: UNREAD }, (_, id) => ({ id, method: 'blockchain.transaction.get', params: [txid] })));
    /** All clients are told of the pool's transactions, then of the block's. */
    for (const height of [0, MATURE + blocks + 1]) {
      if (height > 0) await mine(served.node, 1);
      for (const [session, client] of clients.entries()) {
        const told = new Map<unknown, unknown>();
        while (told.size < TOUCHED) {
          const { params } = (await client.value()) as { params: readonly unknown[] };
          expect(told.has(params[0])).to.equal(false);
          told.set(params[0], params[1]);
        }
        expect([...told.keys()]).to.have.members(Array.from({ length: TOUCHED }, (_, i) => nameOf(scriptOf(session, i))));
        expect(client.waiting).to.equal(0);
        const [[name, status] = []] = told;
        const { result } = await client.ask('blockchain.scripthash.get_history', [name]);
        const [{ tx_hash, height: at } = { tx_hash: '', height: -1 }] = result as readonly { tx_hash: string; height: number }[];
        expect(at).to.equal(height);
        expect(status).to.equal(hash('sha256', `${tx_hash}:${String(at)}:`));
      }
    }

    // There is room for one more as soon as the slow one is cut off.
    const next = await connect();
    let replies = 0;
    lazy.socket.resume();
    while ((await lazy.line()) !== undefined) replies++;
    expect(replies).to.be.below(UNREAD);
    for (const client of [...clients.splice(0), next]) client.socket.destroy();
    // As many clients as before are admitted again.
    for (let session = 0; session <= SESSIONS; session++) clients.push(await connect());
    for (const client of clients.splice(0)) client.socket.destroy();
    expect((await heldBytes()) - before).to.be.below(MOST_BYTES);
  });
});
