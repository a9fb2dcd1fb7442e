import { expect } from 'chai';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { scriptHashOf } from '../../lib/bitcoin/hash';
import { BcoinNode } from '../../lib/node/bcoin';
import { NoNodeError } from '../../lib/node/errors';
import { undoCoins } from '../../lib/node/undo-record';
import { ScriptIndexer } from '../../lib/scripts/script-indexer';
import { MemoryStore } from '../../lib/store/memory-store';
import { caught } from '../support/expectations/caught';
import { newFolder } from '../support/process/folders';
import { Nats, needsNats } from '../support/fleet/nats';
import { chainWithSpends } from '../support/chain/regtest-chain';
import { openRegtestNode } from '../support/bcoin/regtest-node';
import { HandFedLog } from './hand-fed-log';
import { ReadNode } from './read-node';
import type { TestFullNode } from '../support/bcoin/bcoin';

/** One coin: version 1, height 1, 1 satoshi, the script OP_TRUE. */
const LIE = Buffer.from('010000000102000000010751', 'hex');
const OP_TRUE = Buffer.of(0x51);
const MOST_ROWS = 1_000;

describe('a reader that is told wrong what a block spends', () => {
  let host: TestFullNode;
  let node: BcoinNode;
  let nats: Nats;
  let log: HandFedLog;
  let folder: string;
  let reader: ReadNode;

  before(async function () {
    const program = needsNats(this);
    nats = await Nats.open(program);
    host = await openRegtestNode();
    node = new BcoinNode(host);
    await chainWithSpends(host);
  });

  after(async () => {
    await host.close();
    await nats.close();
  });

  beforeEach(async () => {
    log = new HandFedLog(nats.url, node);
    await log.open();
    folder = await newFolder();
    expect([...undoCoins(LIE)]).to.deep.equal([{ height: 1, coinbase: false, value: 1, script: OP_TRUE }]);
  });

  afterEach(async () => {
    await reader.close();
    await log.bus.manager.streams.delete(log.subjects.stream);
    await log.close();
  });

  /** The log has a wrong record with the last block. */
  async function openLiedTo(): Promise<void> {
    const { height } = node.tip();
    await log.writeStart(height - 1);
    reader = await new ReadNode({ nats: log.access, folder }).open();
    await reader.reaches({ height: height - 1, hash: (await node.activeHash(height - 1)) ?? expect.fail('a block') });
    await log.writeBlock(height, LIE);
    await reader.reaches(node.tip());
  }

  const undoAsked = (): number => log.asked.filter((name) => name === 'undo').length;
  const warnings = (): number => reader.log.lines.filter((line) => line.includes('spends was said wrong')).length;

  it('by the log asks a node, says so once, has none of it in its index by script, and keeps the truth on its disk', async () => {
    await openLiedTo();
    const { hash, height } = node.tip();
    const scripts = new ScriptIndexer({
      store: new MemoryStore(),
      index: reader.index,
      node: reader.source,
      logger: reader.log,
      undoDepth: 1_000,
      filling: undefined,
      scrubMs: 0
    });
    scripts.open();
    await firstValueFrom(scripts.state$.pipe(filter((state) => state.phase === 'live' && state.height === height)));
    const blocks = Array.from({ length: height }, async (_, i) =>
      node.spentCoins((await node.activeHash(i + 1)) ?? expect.fail('a block'))
    );
    const spent = (await Promise.all(blocks)).flatMap((coins) => coins ?? []);
    // All coins have the same script.
    const script = spent[0]?.script ?? expect.fail('a coin');
    const [lied, paid] = await scripts.reader.read(async (snapshot) => [
      await snapshot.totals(scriptHashOf(OP_TRUE), MOST_ROWS),
      await snapshot.totals(scriptHashOf(script), MOST_ROWS)
    ]);
    expect(lied.spent.count).to.equal(0);
    expect(paid.spent).to.deep.equal({ count: spent.length, value: spent.reduce((sum, { value }) => sum + value, 0) });
    await scripts.close();
    const [asked, coins] = [undoAsked(), await node.spentCoins(hash)];
    expect(coins?.length).to.be.greaterThan(1);
    expect(warnings()).to.equal(1);
    await reader.close();
    reader = await new ReadNode({ nats: log.access, folder }).open();
    await reader.reaches(node.tip());
    expect(await reader.source.spentCoins(hash)).to.deep.equal(coins);
    expect(await reader.source.spentSpan(hash, { start: 1, count: 1 })).to.deep.equal(coins?.slice(1, 2));
    expect([undoAsked(), warnings()]).to.deep.equal([asked, 0]);
  });

  it('by a node asks another one, and answers nothing while none tells the truth', async () => {
    await openLiedTo();
    const { hash } = node.tip();
    log.answers = { undo: () => Promise.resolve(undefined) };
    expect(await reader.source.spentCoins(hash)).to.equal(undefined);
    for (const lie of [LIE, Buffer.concat([LIE, LIE])]) {
      log.answers = { undo: () => Promise.resolve(lie) };
      expect(await caught(reader.source.spentCoins(hash))).to.be.instanceOf(NoNodeError);
    }
    let asked = 0;
    log.answers = { undo: async () => (asked++ === 0 ? LIE : node.undoRecord(hash)) };
    expect(await reader.source.spentCoins(hash)).to.deep.equal(await node.spentCoins(hash));
    expect(asked).to.equal(2);
  });
});
