import { once } from 'node:events';
import { expect } from 'chai';
import fc from 'fast-check';
import { after, before, describe, it } from 'mocha';
import { CODES } from '../../lib/electrum/errors';
import { openElectrumNode, type ElectrumNode } from '../support/node/electrum-node';
import { LineClient, type Reply } from '../support/client/line-client';
import { testScale, testSeed } from '../support/process/scale';
import { until } from '../support/expectations/until';
import { heldBytes } from '../support/process/garbage';

const LINES = 100_000;
/** Lines that are generated together; memory is first measured after one batch. */
const BATCH = 5_000;
const CLIENTS = 5;
/** How much more memory may be held at the end than after a first batch. */
const MOST_BYTES = 16_000_000;

const method = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('server.ping', 'server.banner', 'blockchain.block.header', 'blockchain.transaction.broadcast', 'test.throw')
  },
  { weight: 1, arbitrary: fc.constantFrom('__proto__', 'constructor', 'toString', '', 'nothing') },
  { weight: 1, arbitrary: fc.jsonValue() }
);

const id = fc.oneof(
  { weight: 6, arbitrary: fc.nat() },
  { weight: 1, arbitrary: fc.double() },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.jsonValue() }
);

const params = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 3, arbitrary: fc.array(fc.oneof(fc.nat(3), fc.jsonValue()), { maxLength: 3 }) },
  { weight: 2, arbitrary: fc.dictionary(fc.constantFrom('height', 'raw_tx', '__proto__', 'x'), fc.oneof(fc.nat(3), fc.jsonValue())) },
  { weight: 1, arbitrary: fc.jsonValue() }
);

const request = fc.record({ jsonrpc: fc.constantFrom('2.0', '1.0', 2), id, method, params }, { requiredKeys: ['method'] });

const value = fc.oneof(
  { weight: 6, arbitrary: request },
  {
    weight: 1,
    arbitrary: fc.array(fc.oneof({ weight: 4, arbitrary: request }, { weight: 1, arbitrary: fc.jsonValue() }), { maxLength: 4 })
  },
  { weight: 1, arbitrary: fc.record({ id, result: fc.jsonValue() }) },
  { weight: 1, arbitrary: fc.jsonValue() }
);

/** A value as bytes. */
const line = fc
  .tuple(
    value.map((json) => Buffer.from(JSON.stringify(json))),
    fc.constantFrom('\n', '\r\n', ' \n')
  )
  .map(([bytes, end]) => Buffer.concat([bytes, Buffer.from(end)]));

/** How many lines are made from one: itself, and others with changed bytes. */
const VARIANTS = 20;

/** Numbers below 2^32 by xorshift: random enough, and fast. */
function* numbers(seed: number): Generator<number, never> {
  let state = seed | 1;
  for (;;) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    yield state >>> 0;
  }
}

function variantsOf(bytes: Buffer, chance: Generator<number, never>): Buffer[] {
  return Array.from({ length: VARIANTS }, (_, i) => {
    const changed = Buffer.from(bytes);
    // The end of the line may be changed as well.
    for (let changes = i === 0 ? 0 : chance.next().value % 4; changes > 0; changes--)
      changed[chance.next().value % changed.length] = chance.next().value & 0xff;
    return changed;
  });
}

const ERRORS = new Set<number>(Object.values(CODES));

describe('the Electrum protocol with arbitrary lines', function () {
  const seed = testSeed();
  const count = LINES * testScale();
  this.timeout(300_000 * testScale());
  let served: ElectrumNode;

  before(async () => {
    served = await openElectrumNode();
  });
  after(() => served.node.close());

  /** A plain check: an assertion for each reply would take longer than the replies. */
  function isProper({ jsonrpc, id: of, result, error }: Reply & { jsonrpc?: unknown }): boolean {
    return jsonrpc === '2.0' && of !== undefined && (error === undefined ? result !== undefined : ERRORS.has(error.code));
  }

  /** One client sends the lines in pieces of random length, and the replies are checked. */
  async function visit(lines: readonly Buffer[], from: number): Promise<void> {
    const client = await LineClient.connect(served.port);
    const bytes = Buffer.concat(lines);
    const [length] = fc.sample(fc.integer({ min: 1_000, max: 100_000 }), { seed: from, numRuns: 1 });
    for (let at = 0; at < bytes.length; at += length ?? bytes.length) {
      if (!client.socket.write(bytes.subarray(at, at + (length ?? bytes.length)))) await once(client.socket, 'drain');
    }
    client.socket.write('\n');
    client.send({ id: 'the last one', method: 'server.ping' });
    for (let isLast = false; !isLast;) {
      const reply = (await client.value()) as Reply | Reply[];
      for (const one of Array.isArray(reply) ? reply : [reply]) if (!isProper(one)) expect.fail(JSON.stringify(one));
      isLast = !Array.isArray(reply) && reply.id === 'the last one';
    }
    client.socket.destroy();
  }

  async function visitAll(lines: number, from: number): Promise<void> {
    for (let done = 0; done < lines; done += BATCH) {
      const chance = numbers(from + done);
      const batch = fc.sample(line, { seed: from + done, numRuns: BATCH / VARIANTS }).flatMap((bytes) => variantsOf(bytes, chance));
      const share = Math.ceil(batch.length / CLIENTS);
      await Promise.all(Array.from({ length: CLIENTS }, (_, i) => visit(batch.slice(i * share, (i + 1) * share), from + done + i)));
    }
    await until(() => served.electrum.sessions === 0);
    served.log.lines.length = 0;
  }

  it(`answers ${count} of them with results and its own errors, and keeps no memory of them, TEST_SEED=${seed}`, async () => {
    await visitAll(BATCH, seed);
    const bytes = await heldBytes();
    await visitAll(count - BATCH, seed + BATCH);
    expect((await heldBytes()) - bytes).to.be.below(MOST_BYTES);
    const client = await LineClient.connect(served.port);
    expect(await client.ask('server.ping')).to.deep.equal({ jsonrpc: '2.0', result: null, id: 1 });
    client.socket.destroy();
  });
});
