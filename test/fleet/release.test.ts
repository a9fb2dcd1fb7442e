import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { parseNatsUrls } from '../../lib/fleet/log/access';
import { connectToNats, type NatsBus } from '../../lib/fleet/log/connection';
import { subjectsOf } from '../../lib/fleet/log/subjects';
import { MalformedMessageError } from '../../lib/fleet/messages/errors';
import { decodeState, encodeState, type ReaderState } from '../../lib/fleet/readers/announcement';
import { Announcer } from '../../lib/fleet/readers/announcer';
import { HeardReaders } from '../../lib/fleet/readers/heard-readers';
import { Nats, needsNats } from '../support/fleet/nats';
import { mine } from '../support/bcoin/regtest-node';
import { until } from '../support/expectations/until';
import { HandFedReaders, LENGTH } from './hand-fed-readers';
import type { BcoinNode } from '../../lib/node/bcoin';
import type { TestFullNode } from '../support/bcoin/bcoin';
import type { HandFedLog } from './hand-fed-log';
import type { ReadNode } from './read-node';

/** Longer than any test. */
const NEVER_MS = 600_000;

/** Who says nothing for seconds is not waited for. */
const SPEAKING_MS = 200;

const SUBJECTS = subjectsOf('regtest');

describe('readers that show blocks together', () => {
  let fed: HandFedReaders;
  let host: TestFullNode;
  let node: BcoinNode;
  let log: HandFedLog;
  let bus: NatsBus;
  let heard: HeardReaders;
  let speaking: NodeJS.Timeout | undefined;

  beforeEach(async function () {
    fed = await HandFedReaders.open(needsNats(this));
    ({ host, node, log } = fed);
    await log.writeStart(LENGTH);
    bus = await connectToNats(log.access, 'test');
    heard = new HeardReaders(SUBJECTS);
    heard.listen(bus.connection);
  });

  afterEach(async () => {
    clearInterval(speaking);
    await bus.connection.close();
    await fed.close();
  });

  const open = async (togetherMs = NEVER_MS): Promise<ReadNode> => {
    const reader = await fed.reader({ togetherMs });
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
});

describe('what readers tell of themselves', () => {
  const STATE: ReaderState = { isReady: true, why: '', tip: undefined, applied: undefined, version: '1.2.3' };
  const MOST_READERS = 1_000;
  let nats: Nats;
  let bus: NatsBus;
  let heard: HeardReaders;

  beforeEach(async function () {
    nats = await Nats.open(needsNats(this));
    bus = await connectToNats(parseNatsUrls(nats.url) ?? expect.fail('a URL'), 'test');
    heard = new HeardReaders(SUBJECTS);
    heard.listen(bus.connection);
  });

  afterEach(async () => {
    await bus.connection.close();
    await nats.close();
  });

  const say = (id: string, state: Partial<ReaderState> = {}): void =>
    bus.connection.publish(SUBJECTS.reader(id), encodeState({ ...STATE, ...state }));
  const versions = (): Map<string, string> => new Map(heard.present.map(({ id, state }) => [id, state.version]));

  it('is the same for those who hear it, but for the end of a long reason', () => {
    const tip = { height: 7, hash: Buffer.alloc(32, 7) };
    const applied = { incarnation: 'of-today', sequence: 0 };
    for (const state of [STATE, { ...STATE, tip }, { ...STATE, isReady: false, why: 'indexing', tip, applied }])
      expect(decodeState(encodeState(state))).to.deep.equal(state);
    expect(decodeState(encodeState({ ...STATE, why: 'x'.repeat(5_000) })).why).to.equal('x'.repeat(300));
  });

  it('has no place in chain or log where that cannot be one', () => {
    const hash = '07'.repeat(32);
    for (const fields of [
      { height: -1, hash, incarnation: 'of-today', sequence: -1 },
      { height: 1, incarnation: 'x'.repeat(301), sequence: 1 }
    ]) {
      const state = decodeState(Buffer.from(JSON.stringify({ ready: true, why: '', version: '1.2.3', ...fields })));
      expect(state).to.deep.equal(STATE);
    }
  });

  it('is ignored when it is no state of a reader', async () => {
    const texts = [
      '',
      '{',
      '[]',
      'null',
      '7',
      '{"ready":1,"why":"","version":""}',
      `{"ready":true,"why":"${'x'.repeat(301)}","version":""}`,
      `{"ready":true,"why":"","version":"","more":"${'x'.repeat(3_000)}"}`
    ];
    for (const text of texts) {
      expect(() => decodeState(Buffer.from(text)), text.slice(0, 40)).to.throw(MalformedMessageError);
      bus.connection.publish(SUBJECTS.reader('liar'), text);
    }
    say('other');
    await until(() => heard.present.length > 0);
    expect(heard.present.map(({ id }) => id)).to.deep.equal(['other']);
  });

  it('is told while there is a connection', async () => {
    let isThere = false;
    const announcer = new Announcer({ subjects: SUBJECTS, connection: () => (isThere ? bus.connection : undefined), state: () => STATE });
    announcer.tell();
    isThere = true;
    announcer.tell();
    await until(() => versions().has(announcer.id));
    await bus.connection.close();
    announcer.tell();
  });

  it('is heard once on a new connection', async () => {
    const next = await connectToNats(parseNatsUrls(nats.url) ?? expect.fail('a URL'), 'test');
    heard.listen(next.connection);
    await next.connection.flush();
    let times = 0;
    heard.heard$.subscribe(() => times++);
    say('one');
    await until(() => times > 0);
    // What was sent to the one before has come by then, too.
    for (const { connection } of [bus, next]) await connection.flush();
    expect(times).to.equal(1);
    await next.connection.close();
  });

  it('is remembered of a thousand readers, which may go on telling it, and forgotten when they are silent', async () => {
    for (let i = 0; i < MOST_READERS; i++) say(`reader-${i}`);
    say('one-more');
    say('reader-0', { version: '2.0.0' });
    await until(() => versions().get('reader-0') === '2.0.0');
    expect(versions().size).to.equal(MOST_READERS);
    expect(versions().has('one-more')).to.equal(false);
    await until(() => heard.present.length === 0);
    say('one-more');
    await until(() => versions().has('one-more'));
  });
});
