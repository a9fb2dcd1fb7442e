// The description of Esplora's API, as a node gives it, held against its routes, against recorded answers, and against the node's own.

import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { fromHost } from '../../lib/node/host';
import { esploraRoutes } from '../../lib/esplora/routes';
import { bcoin, type HostKeyRing } from '../support/bcoin/bcoin';
import { jsonIn } from '../support/chain/chain-a';
import { DescribedHttp, type HttpDocument, type Operation } from '../support/client/described-http';
import { needsNode } from '../support/fleet/fleet';
import { esploraText, type RecordedTransaction } from '../support/recorded/esplora';
import { mine } from '../support/bcoin/regtest-node';
import { ServedNode } from '../support/node/served-node';
import { signed } from '../support/chain/signed';

interface Recorded {
  readonly path: string;
  readonly json: unknown;
}

const recorded = (name: string): Recorded[] => jsonIn(join(__dirname, `../vectors/esplora/${name}.jsonl.gz`));

/** Those that are whole answers: others have only some fields, or only txids. */
const wholeAnswers = (): Recorded[] => [
  ...recorded('answers').filter(({ path }) => !path.includes('#')),
  ...recorded('scripts')
    .filter(({ path }) => !path.includes('#') || path.endsWith('#sorted'))
    .map(({ path, json }) => ({ path: path.replace('#sorted', ''), json })),
  ...recorded('transactions').map(({ path, json }) => ({ path, json: JSON.parse(esploraText(json as RecordedTransaction)) as unknown }))
];

async function describedBy(served: ServedNode, path = '/api'): Promise<DescribedHttp> {
  const { status, contentType, body } = await served.get('', { path: `${path}/openapi.json` });
  expect([status, contentType]).to.deep.equal([200, 'application/json']);
  const document = JSON.parse(body.toString()) as HttpDocument;
  expect([document.openapi, document.servers]).to.deep.equal(['3.1.0', [{ url: path }]]);
  return new DescribedHttp(document);
}

describe('the description of Esplora’s API', () => {
  const ring: HostKeyRing = bcoin.KeyRing.generate();
  let served: ServedNode;
  let described: DescribedHttp;
  /** What stands for the parameters of paths. */
  let values: Readonly<Record<string, string>>;
  let hex: string;

  before(async () => {
    served = await ServedNode.open({ settings: { 'require-standard': true, 'limit-free-relay': 0 } });
    await served.node.connect();
    const blocks = await mine(served.node, 110, undefined, ring.getAddress());
    const [first, second, third] = blocks.map(({ txs }) => txs[0] ?? expect.fail('a coinbase'));
    if (first === undefined || second === undefined || third === undefined) return expect.fail('three blocks');
    await served.node.mempool.addTX(signed(ring, [first], [[ring.getAddress(), 4_999_990_000]]));
    await mine(served.node, 1);
    const pooled = signed(ring, [second], [[ring.getAddress(), 4_999_990_000]]);
    await served.node.mempool.addTX(pooled);
    await served.settle();
    hex = signed(ring, [third], [[ring.getAddress(), 4_999_990_000]])
      .toRaw()
      .toString('hex');
    values = {
      hash: toDisplayHex(blocks[0]?.hash() ?? Buffer.alloc(32)),
      txid: toDisplayHex(first.hash()),
      last: toDisplayHex(pooled.hash()),
      index: '0',
      start: '0',
      height: '5',
      prefix: 'bc1',
      count: '5',
      interval: '1y',
      address: ring.getAddress('string', served.node.network.type),
      scripthash: '00'.repeat(32)
    };
    described = await describedBy(served);
  });
  after(() => served.close());

  const pathOf = ({ path }: Operation): string =>
    path.replaceAll(
      /\{(\w+)\}/g,
      (_, name: string) => values[name === 'script' ? (/address|scripthash/.exec(path)?.[0] ?? '') : name] ?? expect.fail(name)
    );

  it('has the operations of the routes, and no others', () => {
    const routes = esploraRoutes({ ...served.answers, broadcast: true, mining: false, list: undefined, maxUnspent: 500, version: '1.0.0' });
    const ours = routes.map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
    expect(described.operations.map(({ method, path }) => `${method} ${path}`)).to.have.members([...ours, 'GET /openapi.json']);
  });

  it('has every recorded answer, and none of those with a field taken away', () => {
    const faults = wholeAnswers().flatMap(({ path, json }) => {
      const operation = described.find('GET', path) ?? expect.fail(path);
      const isText = typeof json === 'string';
      const body = Buffer.from(isText ? json : JSON.stringify(json));
      const given = { status: 200, contentType: isText ? 'text/plain' : 'application/json', body };
      const fault = described.faultIn(operation, given);
      return [
        ...(fault === undefined ? [] : [`${path}: ${fault}`]),
        ...described.unmissed(operation, given).map((place) => `${path}: ${place}`)
      ];
    });
    expect(faults).to.deep.equal([]);
    expect(described.schemas.taken).to.be.above(3_000);
    expect(described.schemas.unproven).to.deep.equal({ always: [], never: [] });
  });

  it('has the node’s answers to a request of each operation', async () => {
    const bodies: Readonly<Record<string, string>> = {
      postTransaction: hex,
      testTransactions: JSON.stringify([hex]),
      postPackage: JSON.stringify([hex]),
      postPackageOfMempool: JSON.stringify([hex]),
      postAddressesTransactions: JSON.stringify([values['address']]),
      postScriptHashesTransactions: JSON.stringify([values['scripthash']])
    };
    const queries: Readonly<Record<string, string>> = {
      broadcastTransaction: `?tx=${hex}`,
      getOutspendsOfMany: `?txids=${values['txid'] ?? ''}`,
      getTransactionTimes: `?txId[]=${values['last'] ?? ''}`
    };
    // The transaction is broadcast last.
    const operations = described.operations.toSorted((a, b) => Number(a.method === 'POST') - Number(b.method === 'POST'));
    for (const operation of operations) {
      const { operationId: id, responses } = operation.of;
      const path = `${pathOf(operation)}${queries[id] ?? ''}`;
      const list = id.startsWith('postAddresses') ? 'address' : 'scripthash';
      const body = bodies[id] ?? (id.includes('Summary') && operation.method === 'POST' ? JSON.stringify([values[list]]) : undefined);
      const reply = await served.get(path, body === undefined ? {} : { method: 'POST', body: Buffer.from(body) });
      // A package of one is none for bcoin's own pool if the transaction is there already; some operations are always refused.
      if (id !== 'postTransaction' && !id.startsWith('postPackage') && '200' in responses)
        expect(reply.status, `${path} ${reply.body.toString()}`).to.equal(200);
      expect(described.faultIn(operation, reply), path).to.equal(undefined);
      if (reply.status === 200) expect(described.unmissed(operation, reply), path).to.deep.equal([]);
    }
  });

  it('has blocks to mine, if they are given out', async () => {
    const other = await ServedNode.open({ settings: { 'rest-mining': true } });
    const there = await describedBy(other);
    const blocks = await mine(other.node, 110, undefined, ring.getAddress());
    const [coinbase] = blocks[0]?.txs ?? [];
    const pooled = signed(ring, [coinbase ?? expect.fail('a coinbase')], [[ring.getAddress(), 4_999_990_000]]);
    await other.node.mempool.addTX(pooled);
    await other.settle();
    const reply = await other.get('/block-template');
    expect([reply.status, reply.headers['cache-control']]).to.deep.equal([200, 'no-store']);
    const operation = there.find('GET', '/block-template') ?? expect.fail('an operation');
    expect(there.faultIn(operation, reply)).to.equal(undefined);
    expect(there.unmissed(operation, reply)).to.deep.equal([]);
    const template = JSON.parse(reply.body.toString()) as { height: number; previousblockhash: string; transactions: { txid: string }[] };
    expect(template.height).to.equal(111);
    expect(template.previousblockhash).to.equal(toDisplayHex(fromHost(other.node.chain.tip.hash)));
    expect(template.transactions.map(({ txid }) => txid)).to.deep.equal([toDisplayHex(pooled.hash())]);
    await other.close();
  });

  it('says with the node’s error why it has no block to mine, as Blockstream’s server', async function () {
    needsNode(this, 'what is held up here is in the node');
    // On other networks than regtest a node without peers gives none.
    const other = await ServedNode.open({ settings: { 'rest-mining': true, network: 'testnet' } });
    const reply = await other.get('/block-template');
    const shown = [reply.status, reply.headers['cache-control'], reply.headers['content-type'], reply.body.toString()];
    const error = '{"error":{"code":-9,"message":"Bitcoin is not connected!"}}';
    expect(shown).to.deep.equal([502, 'no-store', 'application/json', error]);
    const there = await describedBy(other);
    const operation = there.find('GET', '/block-template') ?? expect.fail('an operation');
    expect(there.faultIn(operation, reply)).to.equal(undefined);
    await other.close();
  });

  it('says what is switched off, at the path of the interface', async () => {
    const other = await ServedNode.open({ settings: { 'rest-no-broadcast': true, 'rest-addresses-path': '/esplora' } });
    const { operations } = await describedBy(other, '/esplora');
    const refused = operations.filter(({ of }) => !('200' in of.responses)).map(({ of }) => of.operationId);
    expect(refused).to.have.members([
      'searchAddresses',
      'getBlockTemplate',
      'getHistoricalPrices',
      'postTransaction',
      'broadcastTransaction',
      'postPackage',
      'postPackageOfMempool'
    ]);
    await other.close();
  });
});
