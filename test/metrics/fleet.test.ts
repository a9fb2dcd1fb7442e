import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { newFolder } from '../support/process/folders';
import { ask } from '../support/client/http';
import { Nats, needsNats } from '../support/fleet/nats';
import { openQuietReader } from '../support/fleet/quiet-reader';
import { freePort, mine } from '../support/bcoin/regtest-node';
import { openRestNode, untilReady, type RestNode } from '../support/node/rest-node';
import { until } from '../support/expectations/until';
import { scrape } from './scrape';
import type { Reader } from '../../plugin/reader/reader';

describe('metrics of a fleet', () => {
  let nats: Nats;
  let node: RestNode;
  let reader: Reader | undefined;
  let ports: { readonly node: number; readonly reader: number; readonly http: number };

  beforeEach(async function () {
    nats = await Nats.open(needsNats(this));
    ports = { node: await freePort(), reader: await freePort(), http: await freePort() };
    node = await openRestNode({ isFleet: false, settings: { 'rest-feed': nats.url, 'rest-metrics': ports.node } });
    await untilReady(node);
  });
  afterEach(async () => {
    await reader?.close();
    reader = undefined;
    await node.node.close();
    await nats.close();
  });

  it('say who leads, what was written and read, how far a reader is behind, and what it has asked', async () => {
    const value = async (of: 'node' | 'reader', name: string, labels?: Record<string, string>): Promise<number | undefined> =>
      (await scrape(ports[of])).value(`bcoin_rest_${name}`, labels);
    await until(async () => (await value('node', 'fleet_leading')) === 1);
    await mine(node.node, 3);
    const options = [`--rest-nats=${nats.url}`, `--prefix=${await newFolder()}`, `--http-port=${ports.http}`];
    reader = await openQuietReader([...options, `--rest-metrics=${ports.reader}`]);
    await until(async () => (await value('reader', 'height', { of: 'index' })) === 3);
    await mine(node.node, 2);
    await until(async () => (await value('reader', 'height', { of: 'index' })) === 5);
    expect(await value('node', 'fleet_term'))
      .to.equal(await value('reader', 'fleet_term'))
      .and.to.be.at.least(1);
    const written = (await value('node', 'fleet_records_total', { way: 'written' })) ?? 0;
    expect(written).to.be.at.least(10);
    expect(await value('reader', 'fleet_records_total', { way: 'read' })).to.be.at.least(4);
    // Neither says what the other one does.
    expect(await value('node', 'fleet_records_total', { way: 'read' })).to.equal(undefined);
    expect(await value('reader', 'fleet_leading')).to.equal(undefined);
    await until(async () => (await value('reader', 'fleet_lag_records')) === 0);
    expect(await value('reader', 'fleet_beat_age_seconds')).to.be.a('number');
    expect([await value('node', 'fleet_connections_total'), await value('reader', 'fleet_connections_total')]).to.deep.equal([1, 1]);
    expect(await value('reader', 'fleet_questions_total', { question: 'pool' })).to.equal(1);
    // Blocks below the log's last word on the chain were asked of the node; the others came with the log.
    const asked = await value('reader', 'fleet_questions_total', { question: 'block' });
    expect(await value('reader', 'cache_misses_total', { cache: 'fleet_blocks' })).to.be.at.least(asked ?? 1);
    const { hash } = node.rest.node.tip();
    const before = (await value('reader', 'cache_hits_total', { cache: 'fleet_blocks' })) ?? 0;
    const path = `/rest/block/${Buffer.from(hash).reverse().toString('hex')}.bin`;
    const { body, status } = await ask(ports.http, { path });
    expect(status).to.equal(200);
    expect(await value('reader', 'cache_hits_total', { cache: 'fleet_blocks' })).to.be.above(before);
    expect(await value('reader', 'cache_bytes', { cache: 'fleet_blocks' })).to.be.at.least(body.length);
    expect(await value('reader', 'cache_entries', { cache: 'fleet_block_files' })).to.be.at.least(1);
  });

  it('count connections that come back', async () => {
    const connections = async (): Promise<number | undefined> => (await scrape(ports.node)).value('bcoin_rest_fleet_connections_total');
    await until(async () => (await connections()) === 1);
    const [server] = nats.servers;
    await server?.kill();
    await server?.start();
    await until(async () => ((await connections()) ?? 0) > 1);
  });

  it('are not there without a fleet', async () => {
    const port = await freePort();
    const alone = await openRestNode({ isFleet: false, settings: { 'rest-metrics': port } });
    await untilReady(alone);
    expect((await scrape(port)).text).not.to.include('bcoin_rest_fleet');
    await alone.node.close();
  });
});
