// The log on real servers: order, fences, lost acknowledgements, and what is not a log.

import { setTimeout } from 'node:timers/promises';
import { firstValueFrom, Subject } from 'rxjs';
import { expect } from 'chai';
import { parseNatsUrls } from '../../lib/fleet/log/access';
import { connectToNats, type NatsBus } from '../../lib/fleet/log/connection';
import { FencedError, ForeignLogError, LogGapError, LogGoneError, LogSilentError, NatsAwayError } from '../../lib/fleet/log/errors';
import { FleetLog, type LoggedRecord } from '../../lib/fleet/log/log-reader';
import { LogWriter, type Outgoing } from '../../lib/fleet/log/log-writer';
import { loadNats } from '../../lib/fleet/log/nats';
import { makeStream } from '../../lib/fleet/log/stream';
import { kindOf, subjectsOf } from '../../lib/fleet/log/subjects';
import { encodeRecord } from '../../lib/fleet/messages/record-codec';
import { messageType } from '../../lib/fleet/messages/schema';
import { NewerMessageError } from '../../lib/fleet/messages/errors';
import { caught } from '../support/expectations/caught';
import { DroppingProxy } from '../support/fleet/dropping-proxy';
import { Nats, needsNats } from '../support/fleet/nats';
import { SteppedTimers } from '../support/process/clock';
import { until } from '../support/expectations/until';

const SUBJECTS = subjectsOf('regtest');
const GENESIS = Buffer.alloc(32, 7);
const NEVER = new AbortController().signal;
/** No other timer is as long. */
const SILENCE_MS = 4_321;

const removal = (n: number, node = 'a'): Outgoing => {
  const body = { type: 'remove' as const, txid: Buffer.alloc(32, n) };
  return { kind: kindOf(body), bytes: encodeRecord({ term: 1, termId: Buffer.alloc(8), termStart: 0, node, at: 0, body }) };
};

const PARTS = 100;
const PART_BYTES = 100_000;

const blockPart = (part: number): Outgoing => {
  const body = { type: 'block' as const, hash: Buffer.alloc(32, 9), part, parts: PARTS, bytes: Buffer.alloc(PART_BYTES, part) };
  return { kind: kindOf(body), bytes: encodeRecord({ term: 1, termId: Buffer.alloc(8), termStart: 0, node: 'a', at: 0, body }) };
};

async function busTo(url: string): Promise<NatsBus> {
  const access = parseNatsUrls(url);
  if (access === undefined) throw new Error(`expected ${url} to be right`);
  return connectToNats(access, 'test');
}

async function writerOn(bus: NatsBus, standsStill: (error: Error) => void = () => undefined): Promise<LogWriter> {
  return new LogWriter(bus, SUBJECTS, await FleetLog.open(bus, SUBJECTS, GENESIS), standsStill);
}

async function readAll(bus: NatsBus, from = 1): Promise<LoggedRecord[]> {
  const log = await FleetLog.open(bus, SUBJECTS, GENESIS);
  const records: LoggedRecord[] = [];
  if (log.last < from) return records;
  for await (const record of log.read(from, { silenceMs: 5_000, signal: NEVER })) {
    records.push(record);
    if (record.sequence === log.last) return records;
  }
  return records;
}

const numbers = (records: readonly LoggedRecord[]): (number | undefined)[] =>
  records.map(({ record: { body } }) => (body.type === 'remove' ? body.txid[0] : undefined));

for (const count of [1, 3] as const) {
  describe(`the log on ${count === 1 ? 'one server' : 'three servers'}`, () => {
    let nats: Nats;
    let bus: NatsBus;

    before(async function () {
      nats = await Nats.open(needsNats(this), count);
    });

    beforeEach(async () => {
      bus = await ready(nats.url);
      await makeStream(bus, SUBJECTS, GENESIS);
    });

    afterEach(async () => {
      await bus.manager.streams.delete(SUBJECTS.stream).catch(() => undefined);
      await bus.connection.close();
    });

    after(() => nats.close());

    it('has the records in the order in which they were written, many at a time', async () => {
      const writer = await writerOn(bus);
      for (let n = 0; n < 200; n += 50)
        await writer.append(
          Array.from({ length: 50 }, (_, i) => removal(n + i)),
          NEVER
        );
      expect(writer.last).to.equal(200);
      expect(numbers(await readAll(bus))).to.deep.equal(Array.from({ length: 200 }, (_, i) => i));
      expect(numbers(await readAll(bus, 151))).to.deep.equal(Array.from({ length: 50 }, (_, i) => 150 + i));
    });

    it('is read on by who takes longer over a record than it may be silent', async () => {
      const writer = await writerOn(bus);
      await writer.append([removal(1)], NEVER);
      const log = await FleetLog.open(bus, SUBJECTS, GENESIS);
      const timers = new SteppedTimers(SILENCE_MS);
      try {
        let last = 0;
        for await (const { sequence } of log.read(1, { silenceMs: SILENCE_MS, signal: NEVER })) {
          last = sequence;
          if (sequence === 2) break;
          timers.passes(2 * SILENCE_MS);
          await writer.append([removal(2)], NEVER);
        }
        expect(last).to.equal(2);
      } finally {
        timers.restore();
      }
    });

    it('is not read on where a record is missing', async () => {
      // Servers delete no record of a log, but may lose it.
      const { config } = await makeStream(bus, SUBJECTS, GENESIS);
      await bus.manager.streams.delete(SUBJECTS.stream);
      await bus.manager.streams.add({ ...config, deny_delete: false });
      await (
        await writerOn(bus)
      ).append(
        [1, 2, 3, 4].map((n) => removal(n)),
        NEVER
      );
      await bus.manager.streams.deleteMessage(SUBJECTS.stream, 3);
      const log = await FleetLog.open(bus, SUBJECTS, GENESIS);
      const records: LoggedRecord[] = [];
      const reading = (async () => {
        for await (const record of log.read(1, { silenceMs: 5_000, signal: NEVER })) records.push(record);
      })();
      const error = await caught(reading);
      expect(error).to.be.instanceOf(LogGapError).with.property('message', 'record 3 of the log is missing: the next one is 4');
      expect(numbers(records)).to.deep.equal([1, 2]);
    });

    it('keeps everything as often as there are servers, and can be found again', async () => {
      const { config, created } = await makeStream(bus, SUBJECTS, GENESIS);
      expect(config.num_replicas).to.equal(count);
      expect((await FleetLog.open(bus, SUBJECTS, GENESIS)).incarnation).to.equal(created);
    });

    it('takes records of one writer only: the other one is fenced off, and none of its records is there', async () => {
      // Their records are equally long.
      const [a, b] = [await writerOn(bus), await writerOn(bus)];
      await a.append([removal(1, 'a')], NEVER);
      expect(await caught(b.append([removal(2, 'b'), removal(3, 'b')], NEVER))).to.be.instanceOf(FencedError);
      await a.append([removal(4, 'a')], NEVER);
      expect(numbers(await readAll(bus))).to.deep.equal([1, 4]);
    });

    it('goes on after records that were on their way together, when another one has come between them', async () => {
      const other = await ready(nats.url);
      for (let isBetween = false; !isBetween;) {
        const writer = await writerOn(bus);
        const before = writer.last;
        const parts = Array.from({ length: PARTS }, (_, part) => blockPart(part));
        const appending = Promise.allSettled([writer.append(parts, NEVER)]);
        // The first one is sent alone.
        await until(() => writer.last > before);
        const { seq } = await other.jetstream.publish(SUBJECTS.record.pool, removal(250).bytes);
        const [outcome] = await appending;
        isBetween = seq <= before + PARTS;
        expect(writer.last).to.equal(isBetween ? seq - 1 : before + PARTS);
        if (outcome.status === 'rejected') expect(outcome.reason).to.be.instanceOf(FencedError);
        expect(outcome.status).to.equal(isBetween ? 'rejected' : 'fulfilled');
      }
      // Servers take what comes next.
      await (await writerOn(other)).append([removal(251), removal(252)], NEVER);
      expect(numbers(await readAll(bus)).slice(-2)).to.deep.equal([251, 252]);
      await other.connection.close();
    });

    it('has each record once when acknowledgements are lost', async () => {
      const proxy = await DroppingProxy.open(nats.servers[0]?.port ?? 0);
      const cut = await ready(proxy.url);
      const writer = await writerOn(cut);
      for (let n = 0; n < 3; n++) {
        // The request arrives; its reply does not.
        proxy.cutAfterNextRequest(`PUB ${SUBJECTS.record.pool}`);
        await writer.append([removal(3 * n), removal(3 * n + 1), removal(3 * n + 2)], NEVER);
      }
      expect(proxy.cuts).to.equal(3);
      await cut.connection.close();
      await proxy.close();
      expect(numbers(await readAll(bus))).to.deep.equal(Array.from({ length: 9 }, (_, i) => i));
    });

    it('that takes nothing more is told of once, and has everything in order when it does', async () => {
      const {
        jetstream: { DiscardPolicy }
      } = await loadNats();
      const told: string[] = [];
      const writer = await writerOn(bus, ({ message }) => told.push(message));
      await writer.append([removal(1)], NEVER);
      await bus.manager.streams.update(SUBJECTS.stream, { max_msgs: 1, discard: DiscardPolicy.New });
      const appended = writer.append([removal(2), removal(3)], NEVER);
      await until(() => told.length > 0);
      // It is tried again and again meanwhile.
      const { outMsgs } = bus.connection.stats();
      await until(() => bus.connection.stats().outMsgs >= outMsgs + 4);
      await bus.manager.streams.update(SUBJECTS.stream, { max_msgs: -1, discard: DiscardPolicy.Old });
      await appended;
      expect(told).to.deep.equal(['the log cannot be written: maximum messages exceeded']);
      expect(numbers(await readAll(bus))).to.deep.equal([1, 2, 3]);
    });

    it('that was deleted is not written into again, even if another one is in its place', async () => {
      const writer = await writerOn(bus);
      await writer.append([removal(1)], NEVER);
      await bus.manager.streams.delete(SUBJECTS.stream);
      await makeStream(bus, SUBJECTS, GENESIS);
      expect(await caught(writer.append([removal(2)], NEVER))).to.be.instanceOf(LogGoneError);
      await bus.manager.streams.delete(SUBJECTS.stream);
      expect(await caught(FleetLog.open(bus, SUBJECTS, GENESIS))).to.be.instanceOf(LogGoneError);
    });

    it('is not waited for on a connection that was closed', async () => {
      const writer = await writerOn(bus);
      await bus.connection.close();
      expect(await caught(writer.append([removal(1)], NEVER))).to.be.instanceOf(NatsAwayError);
    });

    it('that is deleted while it is read ends with an error, and so does silence', async () => {
      const writer = await writerOn(bus);
      await writer.append([removal(1)], NEVER);
      const log = await FleetLog.open(bus, SUBJECTS, GENESIS);
      expect(await caught(drain(log, 1, 300)))
        .to.be.instanceOf(LogSilentError)
        .with.property('message')
        .that.includes('no record came');
      const { reading } = await readingFirst(log);
      await bus.manager.streams.delete(SUBJECTS.stream);
      expect(await reading).to.be.instanceOf(LogSilentError);
    });

    it('is not read on once the servers have forgotten the reader', async () => {
      await (await writerOn(bus)).append([removal(1)], NEVER);
      const { reading } = await readingFirst(await FleetLog.open(bus, SUBJECTS, GENESIS));
      const [{ name } = expect.fail('a reader')] = await bus.manager.consumers.list(SUBJECTS.stream).next();
      await bus.manager.consumers.delete(SUBJECTS.stream, name);
      expect(await reading)
        .to.be.instanceOf(LogSilentError)
        .with.property('message')
        .that.includes('consumer deleted');
    });

    it('is not read on once records were lost on their way: what comes next may be of another log', async () => {
      const proxy = await DroppingProxy.open(nats.servers[0]?.port ?? 0);
      const cut = await ready(proxy.url);
      const writer = await writerOn(bus);
      await writer.append([removal(1)], NEVER);
      const { reading } = await readingFirst(await FleetLog.open(cut, SUBJECTS, GENESIS));
      proxy.pull();
      await writer.append([removal(2)], NEVER);
      await until(() => proxy.lost.includes(SUBJECTS.record.pool));
      proxy.plug();
      const over = new AbortController();
      void reading.then(() => over.abort());
      // Only a later record shows it, and the next ones may be lost as well.
      for (let n = 3; n < 100 && !over.signal.aborted; n++) {
        await writer.append([removal(n)], NEVER);
        await setTimeout(100);
      }
      expect(await reading)
        .to.be.instanceOf(LogSilentError)
        .with.property('message', 'records of the log were lost on their way');
      await cut.connection.close();
      await proxy.close();
    });
  });
}

describe('a stream that is no log for this node', () => {
  let nats: Nats;
  let bus: NatsBus;

  before(async function () {
    nats = await Nats.open(needsNats(this));
    bus = await busTo(nats.url);
  });

  afterEach(() => bus.manager.streams.delete(SUBJECTS.stream));

  after(async () => {
    await bus.connection.close();
    await nats.close();
  });

  const openError = async (): Promise<unknown> => caught(FleetLog.open(bus, SUBJECTS, GENESIS));

  it('because it is of another network', async () => {
    await makeStream(bus, SUBJECTS, Buffer.alloc(32, 8));
    expect(await openError())
      .to.be.instanceOf(ForeignLogError)
      .with.property('message')
      .that.includes('is of another network');
    expect(await caught(makeStream(bus, SUBJECTS, GENESIS))).to.be.instanceOf(ForeignLogError);
  });

  it('because a newer version has made it', async () => {
    const { config } = await makeStream(bus, SUBJECTS, GENESIS);
    await bus.manager.streams.update(config.name, { ...config, description: config.description?.replace('log 1', 'log 2') ?? '' });
    expect(await openError())
      .to.be.instanceOf(ForeignLogError)
      .with.property('message')
      .that.includes('is of version 2');
  });

  it('because somebody else has made it', async () => {
    const expectForeign = async (): Promise<void> => {
      expect(await openError())
        .to.be.instanceOf(ForeignLogError)
        .with.property('message')
        .that.includes('was not made by bcoin-rest');
    };
    await bus.manager.streams.add({ name: SUBJECTS.stream, subjects: [SUBJECTS.log] });
    await expectForeign();
    await bus.manager.streams.delete(SUBJECTS.stream);
    await makeStream(bus, SUBJECTS, GENESIS);
    // Or has changed it since.
    for (const subjects of [['elsewhere.*'], [SUBJECTS.log, 'elsewhere.*']]) {
      await bus.manager.streams.update(SUBJECTS.stream, { subjects });
      await expectForeign();
    }
  });

  it('because somebody else wrote into it', async () => {
    await makeStream(bus, SUBJECTS, GENESIS);
    for (const [subject, bytes] of [
      [SUBJECTS.record.chain, Buffer.from('hello')],
      [SUBJECTS.record.chain, removal(1).bytes]
    ] as const) {
      await bus.jetstream.publish(subject, bytes);
      const log = await FleetLog.open(bus, SUBJECTS, GENESIS);
      for (const error of [await caught(log.lastOfChain()), await caught(drain(log, log.last, 5_000))]) {
        expect(error).to.be.instanceOf(ForeignLogError).with.property('message').that.includes(`record ${log.last} of the log`);
      }
    }
  });

  it('because a newer version writes into it', async () => {
    await makeStream(bus, SUBJECTS, GENESIS);
    await bus.jetstream.publish(SUBJECTS.record.chain, messageType('Record').encode({ version: 2, poolClear: {} }).finish());
    const log = await FleetLog.open(bus, SUBJECTS, GENESIS);
    expect(await caught(log.lastOfChain())).to.be.instanceOf(NewerMessageError);
    expect(await caught(drain(log, 1, 5_000))).to.be.instanceOf(NewerMessageError);
  });
});

/** Connects once JetStream answers: three servers need a moment to find each other. */
async function ready(url: string): Promise<NatsBus> {
  for (;;) {
    try {
      return await busTo(url);
    } catch {
      await setTimeout(100);
    }
  }
}

/** Reads, and resolves once the first record has come. `reading`: the error with which it ends. */
async function readingFirst(log: FleetLog): Promise<{ readonly reading: Promise<unknown> }> {
  const came = new Subject<void>();
  const first = firstValueFrom(came);
  const reading = caught(drain(log, 1, 20_000, () => came.next()));
  await first;
  return { reading };
}

/** `came`: called for each record. */
async function drain(log: FleetLog, from: number, silenceMs: number, came = (): void => undefined): Promise<never> {
  for await (const record of log.read(from, { silenceMs, signal: NEVER })) {
    expect(record.sequence).to.be.at.least(from);
    came();
  }
  throw new Error('the log has no end');
}
