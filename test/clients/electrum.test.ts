// Wallets of one key that know of the chain what the npm clients of the Electrum protocol read from ours: over TCP, over TLS with the
// node's own certificate, and over WebSocket.

import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { WebSocket } from 'ws';
import { caught } from '../support/expectations/caught';
import { withEarlyForks } from '../support/chain/early-forks';
import { newFolder } from '../support/process/folders';
import { KeyWallet, type SignedSpend } from '../support/chain/key-wallet';
import { freePort } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import { ELECTRUM_CLIENTS, type ElectrumClient, type Way } from './electrum-clients';
import { WalletNode } from './wallet-node';
import type { HistoryItem } from './esplora-clients';

/** Carries lines of a TCP connection as frames of a WebSocket, and back, for clients that speak the protocol only over TCP. */
class LineBridge {
  readonly #server: Server;
  readonly #url: () => string;

  private constructor(url: () => string) {
    this.#url = url;
    this.#server = createServer((socket) => {
      this.#carry(socket);
    });
  }

  /** `url`: where the WebSocket of the next connection goes. */
  static async open(url: () => string): Promise<LineBridge> {
    const bridge = new LineBridge(url);
    bridge.#server.listen(0, '127.0.0.1');
    await once(bridge.#server, 'listening');
    return bridge;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections stay. */
  close(): void {
    this.#server.close();
  }

  #carry(socket: Socket): void {
    const webSocket = new WebSocket(this.#url());
    // If anything happens to one of the two, the other is closed.
    socket.on('error', () => undefined);
    webSocket.on('error', () => undefined);
    socket.on('close', () => {
      webSocket.terminate();
    });
    webSocket.on('close', () => {
      socket.destroy();
    });
    webSocket.on('open', () => {
      createInterface({ input: socket }).on('line', (line) => {
        webSocket.send(line);
      });
    });
    webSocket.on('message', (frame: Buffer) => {
      socket.write(`${frame.toString()}\n`);
    });
  }
}

const RECEIVED = 30_000_000;
const SENT = 10_000_000;
const SENT_BACK = 1_000_000;
const TIMEOUT_MS = 60_000;
const WAYS = ['TCP', 'TLS', 'WebSocket'] as const;

/** What a client is told of a script. */
const statusOf = (history: readonly HistoryItem[]): string =>
  createHash('sha256')
    .update(history.map(({ txid, height = 0 }) => `${txid}:${height}:`).join(''))
    .digest('hex');

describe('wallets over clients of the Electrum protocol', function () {
  this.timeout(TIMEOUT_MS);
  withEarlyForks();
  const count = WAYS.length * ELECTRUM_CLIENTS.length;
  const clients: { readonly client: ElectrumClient; readonly address: string }[] = [];
  let prefix: string;
  let served: WalletNode;
  let bridge: LineBridge;
  let ways: Readonly<Record<(typeof WAYS)[number], Way>>;

  before(async () => {
    prefix = await newFolder();
    const [tcp, tls] = [await freePort(), await freePort()];
    served = await WalletNode.open(3 * count, { 'rest-electrum': tcp, 'rest-electrum-tls': tls }, prefix);
    bridge = await LineBridge.open(() => `ws://127.0.0.1:${served.port}/electrum`);
    ways = {
      TCP: { protocol: 'tcp', port: tcp },
      TLS: { protocol: 'ssl', port: tls },
      WebSocket: { protocol: 'tcp', port: bridge.port }
    };
  });
  after(async () => {
    for (const { client } of clients) client.close();
    bridge.close();
    await served.close();
  });

  const tip = (): number => served.node.chain.height;

  for (const { name, connect } of ELECTRUM_CLIENTS)
    for (const way of WAYS)
      describe(`${name} over ${way}`, () => {
        const wallet = new KeyWallet();
        const { address } = wallet;
        const [shop, bystander] = [new KeyWallet(), new KeyWallet()];
        let client: ElectrumClient;
        let statuses: (string | null)[] | undefined;
        let received: string;
        let sent: SignedSpend;

        before(async () => {
          client = await connect(ways[way]);
          clients.push({ client, address });
        });

        /** What it has by now, and, if it can be told of things, was told last. */
        async function expectHistory(...history: HistoryItem[]): Promise<void> {
          expect(await client.history(address)).to.deep.equal(history);
          if (statuses !== undefined) await until(() => statuses?.at(-1) === statusOf(history));
        }

        it('finds nothing at an address that nobody has used', async () => {
          expect(await client.totals(address)).to.deep.equal({ confirmed: 0, pooled: 0 });
          expect(await client.history(address)).to.deep.equal([]);
          statuses = await client.watch?.(address);
          if (statuses !== undefined) expect(statuses).to.deep.equal([null]);
        });

        it('receives: sees it in the pool, then in a block', async () => {
          received = await served.faucet.pays(address, RECEIVED);
          await expectHistory({ txid: received, height: undefined });
          expect(await client.totals(address)).to.deep.equal({ confirmed: 0, pooled: RECEIVED });
          await served.confirm();
          await expectHistory({ txid: received, height: tip() });
          expect(await client.totals(address)).to.deep.equal({ confirmed: RECEIVED, pooled: 0 });
        });

        it('sends what it has received', async () => {
          sent = wallet.sends(await client.transaction(received), RECEIVED, shop.address, SENT);
          expect(await client.send(sent.hex)).to.equal(sent.txid);
          await expectHistory({ txid: received, height: tip() }, { txid: sent.txid, height: undefined });
          expect(await client.totals(address)).to.deep.equal({ confirmed: RECEIVED, pooled: sent.change - RECEIVED });
          await served.confirm();
          await expectHistory({ txid: received, height: tip() - 1 }, { txid: sent.txid, height: tip() });
          expect(await client.totals(address)).to.deep.equal({ confirmed: sent.change, pooled: 0 });
          expect(await client.totals(shop.address)).to.deep.equal({ confirmed: SENT, pooled: 0 });
        });

        it('is told why a coin is not spent twice', async () => {
          const twice = wallet.sends(await client.transaction(received), RECEIVED, shop.address, SENT_BACK);
          const { message } = (await caught(client.send(twice.hex))) as { readonly message: string };
          expect(message).to.match(/the transaction was rejected by network rules\.\n\nbad-txns-inputs-missingorspent\n/);
        });

        it('sees in the pool again what a reorganization took out of the chain, and in another block later', async () => {
          await served.takeBack(2, bystander.address);
          const pooled = await client.history(address);
          expect(pooled).to.have.deep.members([
            { txid: received, height: undefined },
            { txid: sent.txid, height: undefined }
          ]);
          expect(await client.totals(address)).to.deep.equal({ confirmed: 0, pooled: sent.change });
          await served.confirm();
          await expectHistory({ txid: received, height: tip() }, { txid: sent.txid, height: tip() });
          expect(await client.totals(address)).to.deep.equal({ confirmed: sent.change, pooled: 0 });
        });
      });

  // Groups come behind the tests beside them: so this is one.
  describe('all of them', () => {
    it('connect again to a node that was started again, and are told of what happens from then on', async () => {
      const before = await Promise.all(clients.map(({ client, address }) => client.history(address)));
      for (const { client } of clients) client.leaves();
      await served.restart();
      await Promise.all(
        clients.map(async ({ client, address }, i) => {
          await client.reconnected();
          expect(await client.history(address)).to.deep.equal(before[i]);
          const statuses = await client.watch?.(address);
          const txid = await served.faucet.pays(address, RECEIVED);
          const history = [...(before[i] ?? []), { txid, height: undefined }];
          expect(await client.history(address)).to.deep.equal(history);
          if (statuses !== undefined) await until(() => statuses.at(-1) === statusOf(history));
        })
      );
    });
  });
});
