import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { parseNatsUrls } from '../../lib/fleet/log/access';
import { runCommandLine } from '../../plugin/cli/run';
import { FeedingNode } from '../support/fleet/feeding-node';
import { Nats, needsNats } from '../support/fleet/nats';
import { mine } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import { ReadNode } from './read-node';

describe('bcoin-rest fleet', function () {
  this.timeout(90_000);
  let nats: Nats;
  let feeding: FeedingNode;
  let reader: ReadNode | undefined;

  beforeEach(async function () {
    nats = await Nats.open(needsNats(this));
    feeding = await FeedingNode.open(nats.url);
    reader = undefined;
    await mine(feeding.node, 3);
  });

  afterEach(async () => {
    await reader?.close();
    await feeding.stop();
    await feeding.node.close();
    await nats.close();
  });

  const run = async (...args: readonly string[]): Promise<[code: number, said: string]> => {
    let said = '';
    const out = (text: string): void => void (said += text);
    const code = await runCommandLine(['fleet', ...args, '--network=regtest', `--rest-nats=${nats.url}`], {
      out,
      err: out,
      now: () => new Date()
    });
    return [code, said];
  };

  it('says who leads and how far each reader is', async () => {
    expect(await run('status')).to.deep.equal([1, 'No node has written a log yet.\nReaders  none was heard\n']);
    await feeding.lead();
    reader = await new ReadNode({ nats: parseNatsUrls(nats.url) ?? expect.fail('a URL') }).open();
    await reader.reaches(feeding.source.tip());
    const { source } = reader;
    await until(() => source.synced);
    const [code, said] = await run('status');
    const tip = `3 ${toDisplayHex(feeding.source.tip().hash)}`;
    expect(said).to.match(/^Log {6}REST_LOG_regtest, record \d+, 0\.0 MB on one server, since 20/);
    expect(said).to.include('Leader   a, term ').and.include(`\nBlock    ${tip}\n`);
    expect(said).to.include(`: ${tip}, 0 behind, record `).and.include('version 1.2.3, answers\n');
    expect(said).to.include('; heard now, version 1.2.3, in sync\n');
    expect(code).to.equal(0);
  });

  it('says since when a leader is silent', async () => {
    await feeding.lead();
    await feeding.feed.settled();
    await feeding.stop();
    const [code, said] = await run('status');
    expect(said).to.match(/\nLeader {3}none; silent since 20[-0-9T:.]+Z by its clock, version 1\.2\.3, in sync\n/);
    expect(code).to.equal(1);
  });

  it('resets the log, which the leader begins anew, if that is meant', async () => {
    expect(await run('reset-log')).to.deep.equal([2, 'reset-log deletes the log: say --yes if that is meant\n']);
    expect(await run('reset-log', '--yes=true')).to.deep.equal([0, 'There was no log REST_LOG_regtest.\n']);
    await feeding.lead();
    expect(await run('reset-log', '--yes')).to.deep.equal([0, 'The log REST_LOG_regtest is deleted.\n']);
    await until(async () => (await run('status'))[1].includes('\nBlock    3 '));
  });

  it('rewinds the log to a block at which a node is', async () => {
    await feeding.lead();
    expect(await run('rewind')).to.deep.equal([2, 'rewind needs --to: the hash of the block to go to, 64 hex digits\n']);
    await feeding.node.chain.reset(2);
    const [code, said] = await run('rewind', `--to=${toDisplayHex(feeding.source.tip().hash)}`);
    expect([code, said]).to.satisfy(([, text]: [number, string]) => /^The log is at the block since record \d+\.\n$/.test(text), said);
  });

  it('says what is wrong with its arguments', async () => {
    expect((await run('dance'))[0]).to.equal(2);
    expect((await run())[1]).to.include('Usage: bcoin-rest fleet');
    // A mistyped one must not mean the main network.
    expect(await run('reset-log', '--yes', '--netwrok=regtest')).to.deep.equal([
      2,
      '--netwrok is not an option here; known are --network, --rest-nats, --rest-nats-creds, --yes\n'
    ]);
    expect((await run('status', '--yes'))[0]).to.equal(2);
    const away = await runCommandLine(['fleet', 'status', '--rest-nats=http://a'], {
      out: () => undefined,
      err: () => undefined,
      now: () => new Date()
    });
    expect(away).to.equal(2);
  });
});
