import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { parseNatsUrls } from '../../lib/fleet/log/access';
import { connectToNats, type NatsBus } from '../../lib/fleet/log/connection';
import { subjectsOf } from '../../lib/fleet/log/subjects';
import { MalformedMessageError } from '../../lib/fleet/messages/errors';
import { decodeState, encodeState, type ReaderState } from '../../lib/fleet/readers/announcement';
import { HeardReaders } from '../../lib/fleet/readers/heard-readers';
import { BcoinNode } from '../../lib/node/bcoin';
import { Nats, needsNats } from '../support/nats';
import { mine, openRegtestNode } from '../support/regtest-node';
import { until } from '../support/until';
import { HandFedLog } from './hand-fed-log';
import { ReadNode } from './read-node';
import type { TestFullNode } from '../support/bcoin';

const LENGTH = 4;

/** Longer than any test. */
const NEVER_MS = 600_000;

/** Who says nothing for seconds is not waited for. */
const SPEAKING_MS = 200;

const SUBJECTS = subjectsOf('regtest');

describe('readers that show blocks together', function () {
  this.timeout(60_000);
  let host: TestFullNode;
  let node: BcoinNode;
  let nats: Nats;
  let log: HandFedLog;
  let bus: NatsBus;
  let readers: ReadNode[];
  let heard: HeardReaders;
  let speaking: NodeJS.Timeout | undefined;

  beforeEach(async function () {
    const program = needsNats(this);
    nats = await Nats.open(program);
    host = await openRegtestNode();
    node = new BcoinNode(host);
    await mine(host, LENGTH);
    log = new HandFedLog(nats.url, node);
    await log.open();
    await log.writeStart(LENGTH);
    readers = [];
    bus = await connectToNats(parseNatsUrls(nats.url) ?? expect.fail('a URL'), 'test');
    heard = new HeardReaders(SUBJECTS);
    heard.listen(bus.connection);
  });

  afterEach(async () => {
    clearInterval(speaking);
    await Promise.all(readers.map((reader) => reader.close()));
    await bus.connection.close();
    await log.close();
    await host.close();
    await nats.close();
  });

  const open = async (togetherMs = NEVER_MS): Promise<ReadNode> => {
    const reader = await new ReadNode({ nats: log.access, togetherMs }).open();
    readers.push(reader);
    await reader.reaches(node.tip());
    // Only a beat that comes now, and not from the past, says that the node is there.
    await until(async () => {
      await log.writeBeat();
      return reader.source.synced;
    });
    return reader;
  };
  const next = async (): Promise<number> => {
    await mine(host, 1);
    const { height } = node.tip();
    await log.writeBlock(height);
    return height;
  };
  const heightOf = ({ index }: ReadNode, of: 'reader' | 'latest' = 'reader'): number => index[of].read(({ tip }) => tip.height);
  /** Another reader speaks, and says the same again and again. */
  const say = async (state: Partial<ReaderState>): Promise<void> => {
    clearInterval(speaking);
    const bytes = encodeState({ isReady: true, why: '', tip: undefined, applied: undefined, version: '1.2.3', ...state });
    const speak = (): void => {
      bus.connection.publish(SUBJECTS.reader('other'), bytes);
    };
    speaking = setInterval(speak, SPEAKING_MS);
    speak();
    await bus.connection.flush();
  };

  it('tell once a second what they have come to', async () => {
    const reader = await open();
    await until(() => heard.present.some(({ state }) => state.isReady && state.tip?.height === LENGTH));
    const [{ state }] = heard.present as [HeardReaders['present'][number]];
    const { log: incarnation, sequence } = reader.source.position.now;
    expect(state).to.deep.include({ isReady: true, why: '', version: '1.2.3', applied: { incarnation, sequence } });
    expect(state.tip?.hash.equals(node.tip().hash)).to.equal(true);
  });

  it('hold a block back until another one has it, and are not late for those behind', async () => {
    const reader = await open();
    const { log: incarnation, sequence } = reader.source.position.now;
    await say({ applied: { incarnation, sequence } });
    const height = await next();
    await until(() => heightOf(reader, 'latest') === height);
    expect(heightOf(reader)).to.equal(height - 1);
    await say({ applied: { incarnation, sequence: sequence + 100 } });
    await until(() => heightOf(reader) === height);
    // The same for two real ones, one after the other.
    const second = await open();
    const tips: string[] = [];
    for (const [name, { index }] of [['first', reader] as const, ['second', second] as const])
      index.tip$.subscribe((tip) => tips.push(`${name} ${tip.height}`));
    const above = await next();
    await until(() => heightOf(reader) === above && heightOf(second) === above);
    expect(tips.slice(-2).sort()).to.deep.equal([`first ${above}`, `second ${above}`]);
  });

  it('show only the end of a reorganization, when another one has it, and one that stops half way', async () => {
    const reader = await open();
    const shown: number[] = [];
    reader.index.tip$.subscribe(({ height }) => shown.push(height));
    const { log: incarnation, sequence } = reader.source.position.now;
    await say({ applied: { incarnation, sequence } });
    const old = node.tip();
    await mine(host, 2, (await host.chain.getEntry(LENGTH - 1)) ?? undefined);
    await log.writeDisconnect(LENGTH, old.hash);
    for (const height of [LENGTH, LENGTH + 1]) await log.writeBlock(height);
    await until(() => heightOf(reader, 'latest') === LENGTH + 1);
    expect(heightOf(reader)).to.equal(LENGTH);
    expect(reader.index.reader.read(({ tip }) => tip.hash)).to.deep.equal(old.hash);
    await say({ applied: { incarnation, sequence: sequence + 100 } });
    await until(() => heightOf(reader) === LENGTH + 1);
    expect(shown).to.deep.equal([LENGTH, LENGTH + 1]);
    await log.writeDisconnect(LENGTH + 1, node.tip().hash);
    await until(() => heightOf(reader, 'latest') === LENGTH);
    expect(heightOf(reader)).to.equal(LENGTH + 1);
    log.keepBeating();
    await until(() => heightOf(reader) === LENGTH);
    expect(shown).to.deep.equal([LENGTH, LENGTH + 1, LENGTH]);
  });

  it('show a block without one that does not come, when the time is up', async () => {
    const reader = await open(300);
    const { log: incarnation, sequence } = reader.source.position.now;
    await say({ applied: { incarnation, sequence } });
    const height = await next();
    await until(() => heightOf(reader) === height);
  });

  it('do not wait for one that is not ready, or that follows another log', async () => {
    const reader = await open();
    for (const state of [
      { isReady: false, why: 'indexing', applied: { incarnation: reader.source.position.now.log, sequence: 0 } },
      { applied: { incarnation: 'of-yesterday', sequence: 0 } }
    ]) {
      await say(state);
      const height = await next();
      await until(() => heightOf(reader) === height);
    }
  });

  it('ignore what is no state of a reader', async () => {
    const texts = [
      '',
      '{',
      '[]',
      'null',
      '7',
      '{"ready":1,"why":"","version":""}',
      `{"ready":true,"why":"${'x'.repeat(3_000)}","version":""}`
    ];
    for (const text of texts) {
      expect(() => decodeState(Buffer.from(text)), text.slice(0, 40)).to.throw(MalformedMessageError);
      bus.connection.publish(SUBJECTS.reader('liar'), text);
    }
    await bus.connection.flush();
    await say({});
    await until(() => heard.present.length > 0);
    expect(heard.present.map(({ id }) => id)).to.deep.equal(['other']);
  });
});
