// What Bitcoin Core 31 publishes while chain and pool change, step by step (test/vectors/README.md), and what a node with the same blocks and
// transactions publishes.

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { fromDisplayHex } from '../../lib/bitcoin/hash';
import { TOPICS } from '../../lib/zmq/topics';
import { bcoin, type TestFullNode } from '../support/bcoin/bcoin';
import { chainAActiveBlocks, chainABlocks, chainAPool, jsonIn } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, copiedChain } from '../support/node/chain-a-node';
import { ask } from '../support/client/http';
import { freePort } from '../support/bcoin/regtest-node';
import { openRestNode, type RestNode } from '../support/node/rest-node';
import { until } from '../support/expectations/until';
import { TestSubscriber, type Message } from './subscriber';
import type { HostEntry } from '../../lib/node/host';

interface RecordedBytes {
  readonly block?: number;
  readonly pool?: number;
  readonly raw?: string;
}

type RecordedMessage = readonly [topic: string, number: number, body: string | { readonly length: number; readonly sha256: string }];

interface Operation {
  readonly method: string;
  readonly params: readonly unknown[];
  readonly messages?: readonly RecordedMessage[];
}

interface RecordedStep {
  /** Other records have none. */
  readonly step?: string;
  readonly ops?: readonly Operation[];
  /** Of all operations, if they were made at once. */
  readonly messages?: readonly RecordedMessage[];
  readonly tip: string;
  readonly mempool_sequence: number;
  /** Blocks that the node made. */
  readonly blocks?: readonly string[];
}

/** The chain before the steps. */
const FIRST_HEIGHT = 591;

/**
 * Steps in which the node does something else than Bitcoin Core, with what it publishes then (docs/zmq.md). After `over the limit` the
 * pools differ.
 */
const DIFFERENCES: Readonly<Record<string, { readonly labels: string; readonly messages: number }>> = {
  'own: fifteen disconnected': { labels: 'DAADAADADADDDDDDDDDDD', messages: 75 },
  'own: fifteen connected': { labels: 'CCCCCCCCCCCCCCC', messages: 87 },
  'own: coinbase too young': { labels: 'DAA', messages: 13 },
  'own: over the limit, pays least': { labels: 'AR', messages: 4 },
  'own: over the limit, pays most': { labels: 'AR', messages: 4 }
};

const steps = jsonIn<RecordedStep>(join(__dirname, '../vectors/zmq/A-31.jsonl.gz')).filter(({ step = 'initial' }) => step !== 'initial');
const last = steps.findIndex(({ step }) => step === 'own: over the limit, pays most');

describe('messages over ZeroMQ', function () {
  this.timeout(CHAIN_A_TIMEOUT_MS);

  let prefix: string;
  let rest: RestNode;
  let host: TestFullNode & { readonly chain: MovableChain };
  let subscriber: TestSubscriber;
  let restoreAge: () => void;

  before(async () => {
    restoreAge = acceptOldTips();
    prefix = await copiedChain();
    const address = `tcp://127.0.0.1:${await freePort()}`;
    const settings: Record<string, unknown> = { 'rest-core': 'modern', 'rest-pool': 'modern' };
    for (const topic of TOPICS) {
      settings[`rest-zmq-${topic}`] = address;
      settings[`rest-zmq-${topic}hwm`] = 0;
    }
    rest = await openRestNode({ prefix, settings, isFleet: false });
    host = rest.node as typeof host;
    await host.connect();
    await firstValueFrom(rest.rest.ready$.pipe(filter((ready) => ready)));
    subscriber = await TestSubscriber.open(address);
    await host.chain.reset(FIRST_HEIGHT);
    // What is told of the reset ends with its lowest block.
    const { hash } = chainAActiveBlocks()[FIRST_HEIGHT + 1] ?? expect.fail('a block of the chain');
    const isLast = ({ body }: Message): boolean => body.toString('hex') === `${hash}${Buffer.from('D').toString('hex')}`;
    await until(() => subscriber.messages.some(isLast));
    subscriber.messages.length = 0;
  });
  after(async () => {
    restoreAge();
    await subscriber.close();
    await host.close();
    await rm(prefix, { recursive: true });
  });

  it('are those of Bitcoin Core, in its order, but for what its pool does otherwise', async () => {
    let at = 0;
    let behind: number | undefined;
    for (const recorded of steps.slice(0, last + 1)) {
      const { step = '' } = recorded;
      const messages = recorded.messages ?? (recorded.ops ?? []).flatMap((operation) => operation.messages ?? []);
      const difference = DIFFERENCES[step];
      await take(recorded);
      if (difference !== undefined) {
        await subscriber.received(at + difference.messages);
        expect(labelsIn(subscriber.messages.slice(at, at + difference.messages)), step).to.equal(difference.labels);
        at += difference.messages;
        behind = recorded.mempool_sequence - (await nextNumber());
        continue;
      }
      // What is published beyond that is seen with the next step.
      const published = (await subscriber.received(at + messages.length)).slice(at, at + messages.length);
      at += messages.length;
      const next = await nextNumber();
      behind ??= recorded.mempool_sequence - next;
      expect(next, step).to.equal(recorded.mempool_sequence - behind);
      expect(readable(published.map(written), 0), step).to.deep.equal(readable(messages, behind));
    }
    expect(subscriber.messages).to.have.lengthOf(at);
  });

  it('have numbers without a gap in each topic', () => {
    for (const topic of TOPICS) {
      const numbers = subscriber.messages.filter((message) => message.topic === topic).map(({ number }) => number);
      expect(numbers.length, topic).to.be.greaterThan(100);
      expect(numbers, topic).to.deep.equal(numbers.map((_, i) => (numbers[0] as number) + i));
    }
  });

  const nextNumber = async (): Promise<number> => {
    const { body } = await ask(rest.port, { path: '/rest/mempool/contents.json?verbose=false&mempool_sequence=true' });
    return (JSON.parse(body.toString()) as { mempool_sequence: number }).mempool_sequence;
  };

  const take = async ({ step = '', ops = [], blocks = [], tip }: RecordedStep): Promise<void> => {
    const made = [...blocks];
    if (step === 'grown') for (const raw of made) await submit(Buffer.from(raw, 'hex'));
    // Neither pool counts memory as the other one does.
    if (step.startsWith('own: over the limit')) (host.mempool.options as { maxSize: number }).maxSize = host.mempool.getSize();
    for (const { method, params } of ops) {
      const [first] = params;
      switch (method) {
        case 'submitblock':
          await submit(bytesOf(first as RecordedBytes));
          break;
        case 'generateblock':
          await submit(Buffer.from(made.shift() ?? '', 'hex'));
          break;
        case 'sendrawtransaction':
          await rest.rest.node.broadcast(bytesOf(first as RecordedBytes)).catch(() => undefined);
          break;
        case 'submitpackage':
          await rest.rest.node.submitPackage((first as RecordedBytes[]).map(bytesOf), 0);
          break;
        case 'invalidateblock':
          await leave(first as string);
          break;
        case 'reconsiderblock':
          await reorganize(tip);
          break;
        case 'prioritisetransaction':
          await rest.rest.node.ownCall(method, params);
          break;
        default:
          throw new Error(`${step}: ${method}`);
      }
    }
  };

  /** Blocks that the node refuses are recorded, too. */
  const submit = async (raw: Buffer): Promise<void> => {
    await host.chain.add(bcoin.Block.fromRaw(raw)).catch(() => undefined);
  };

  const entry = async (hash: string): Promise<HostEntry> => {
    const bytes = fromDisplayHex(hash);
    const found = await host.chain.getEntry(typeof host.chain.tip.hash === 'string' ? bytes.toString('hex') : bytes);
    if (found === null) throw new Error(`expected the block ${hash}`);
    return found;
  };

  /** bcoin's own way is to reset the chain, which empties the pool. */
  const leave = async (hash: string): Promise<void> => {
    const { height } = await entry(hash);
    while (host.chain.tip.height >= height) await locked(() => host.chain.disconnect(host.chain.tip));
  };

  const reorganize = async (hash: string): Promise<void> => {
    const { chain } = host;
    const branch: HostEntry[] = [];
    let fork = await entry(hash);
    while (!(await chain.isMainChain(fork))) {
      branch.unshift(fork);
      fork = (await chain.getPrevious(fork)) as HostEntry; // below is the main chain
    }
    await locked(async () => {
      while (chain.tip.height > fork.height) await chain.disconnect(chain.tip);
      for (const block of branch) await chain.reconnect(block);
    });
  };

  const locked = async (move: () => Promise<unknown>): Promise<void> => {
    const unlock = await host.chain.locker.lock();
    await move();
    unlock();
  };
});

interface MovableChain {
  readonly tip: HostEntry;
  disconnect(entry: HostEntry): Promise<void>;
  reconnect(entry: HostEntry): Promise<void>;
  isMainChain(entry: HostEntry): Promise<boolean>;
  getPrevious(entry: HostEntry): Promise<HostEntry | null>;
}

/** The recorded chain is years old. @returns a function that ends this */
function acceptOldTips(): () => void {
  const block = bcoin.Network.get('regtest').block;
  const { maxTipAge } = block;
  block.maxTipAge = Number.MAX_SAFE_INTEGER;
  return () => {
    block.maxTipAge = maxTipAge;
  };
}

function bytesOf({ block, pool, raw }: RecordedBytes): Buffer {
  const bytes = block !== undefined ? chainABlocks()[block]?.raw : pool !== undefined ? chainAPool()[pool] : Buffer.from(raw ?? '', 'hex');
  if (bytes === undefined) throw new Error(`expected the bytes of ${JSON.stringify({ block, pool })}`);
  return bytes;
}

const LONGEST_WRITTEN = 300;

/** As it is recorded. */
function written({ topic, number, body }: Message): RecordedMessage {
  const isLong = body.length > LONGEST_WRITTEN;
  return [topic, number, isLong ? { length: body.length, sha256: sha256(body) } : body.toString('hex')];
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

const HASH_DIGITS = 64;

/**
 * Messages as lines, without their own numbers. Transactions that leave together do so in any order. `behind`: by how much the numbers of the
 * pool are too large.
 */
function readable(messages: readonly RecordedMessage[], behind: number): string[] {
  const lines: string[] = [];
  let leaving: { readonly txid: string; readonly number: bigint }[] = [];
  const flush = (): void => {
    const txids = leaving.map(({ txid }) => txid).sort();
    lines.push(...leaving.map(({ number }, i) => `R ${number} ${txids[i] ?? ''}`));
    leaving = [];
  };
  for (const [topic, , body] of messages) {
    const [hash, label, number] = topic === 'sequence' && typeof body === 'string' ? sequenceOf(body) : [];
    if (hash === undefined || label === undefined) {
      flush();
      lines.push(`${topic} ${typeof body === 'string' ? body : `${body.length} bytes ${body.sha256}`}`);
    } else if (label === 'R') leaving.push({ txid: hash, number: (number as bigint) - BigInt(behind) });
    else {
      flush();
      lines.push(`${label} ${number === undefined ? '' : number - BigInt(behind)} ${hash}`);
    }
  }
  flush();
  return lines;
}

/** Hash, label and, of a transaction, the number of the change. */
function sequenceOf(body: string): readonly [string, string, bigint | undefined] {
  const bytes = Buffer.from(body.slice(HASH_DIGITS), 'hex');
  return [body.slice(0, HASH_DIGITS), bytes.toString('latin1', 0, 1), bytes.length > 1 ? bytes.readBigUInt64LE(1) : undefined];
}

const labelsIn = (messages: readonly Message[]): string =>
  messages.flatMap(({ topic, body }) => (topic === 'sequence' ? [sequenceOf(body.toString('hex'))[1]] : [])).join('');
