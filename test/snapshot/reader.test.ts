import { join } from 'node:path';
import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { scriptHashOf, toDisplayHex } from '../../lib/bitcoin/hash';
import { BcoinNode } from '../../lib/node/bcoin';
import { ReaderConfig } from '../../plugin/reader/config';
import { ReaderLogger } from '../../plugin/reader/logger';
import { Reader } from '../../plugin/reader/reader';
import { HandFedLog } from '../fleet/hand-fed-log';
import { newFolder } from '../support/process/folders';
import { ask } from '../support/client/http';
import { Nats, needsNats } from '../support/fleet/nats';
import { chainWithSpends } from '../support/chain/regtest-chain';
import { freePort, mine, openRegtestNode } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import { onRegtest, snapshot } from './made';
import type { TestFullNode } from '../support/bcoin/bcoin';

describe('a snapshot of a reader', () => {
  let host: TestFullNode;
  let node: BcoinNode;
  let nats: Nats;
  let log: HandFedLog;
  const readers: Reader[] = [];

  before(async function () {
    nats = await Nats.open(needsNats(this));
    host = await openRegtestNode();
    node = new BcoinNode(host);
    await chainWithSpends(host);
    log = new HandFedLog(nats.url, node);
    await log.open();
    await log.writeStart(node.tip().height);
    log.keepBeating();
  });

  afterEach(async () => {
    for (const reader of readers.splice(0)) await reader.close();
  });

  after(async () => {
    await log.close();
    await host.close();
    await nats.close();
  });

  /** Opens one that answers, over all interfaces, at the node's tip. */
  async function open(prefix: string): Promise<number> {
    const port = await freePort();
    const options = [`--rest-nats=${nats.url}`, '--network=regtest', `--prefix=${prefix}`, `--http-port=${port}`, '--no-auth=true'];
    const reader = new Reader(new ReaderConfig([...options, '--rest-addresses'], {}), new ReaderLogger('none', () => undefined));
    readers.push(reader);
    await reader.open();
    const name = toDisplayHex(node.tip().hash);
    await until(async () => {
      const { status, body } = await ask(port, { path: '/fleet/health' });
      return status === 200 && body.includes(name);
    });
    return port;
  }

  const blocksAsked = (): number => log.asked.filter((name) => ['block', 'part', 'undo'].includes(name)).length;

  it('lets another one answer, for which no node is asked for a block', async () => {
    const own = await newFolder();
    const first = await open(own);
    expect(blocksAsked()).to.be.greaterThan(node.tip().height);
    const folder = join(await newFolder(), 'snapshot');
    const made = await snapshot('make', folder, ...onRegtest(own), '--json');
    expect(made.status, made.out).to.equal(0);
    const { signer, scripts } = JSON.parse(made.out) as { readonly signer: string; readonly scripts?: { readonly height: number } };
    expect(scripts?.height).to.equal(node.tip().height);
    const prefix = await newFolder();
    expect(await snapshot('fetch', folder, '--trust', signer, ...onRegtest(prefix))).to.include({ status: 0, err: '' });
    const before = blocksAsked();
    const second = await open(prefix);
    const [coin] = (await node.spentCoins(node.tip().hash)) ?? expect.fail('coins');
    const script = scriptHashOf(coin?.script ?? expect.fail('a script')).toString('hex');
    for (const path of ['/rest/chaininfo.json', `/api/scripthash/${script}`, `/api/scripthash/${script}/utxo`]) {
      const [one, other] = [await ask(first, { path }), await ask(second, { path })];
      expect(other.status).to.equal(200);
      expect(other.body.toString()).to.equal(one.body.toString());
    }
    expect(blocksAsked()).to.equal(before);
    await mine(host, 1);
    await log.writeBlock(node.tip().height);
    await until(async () => (await ask(second, { path: '/api/blocks/tip/hash' })).body.toString() === toDisplayHex(node.tip().hash));
  });
});
