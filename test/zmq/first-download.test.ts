// What is published while a node gets many blocks that it lacks, beside what Bitcoin Core 31 published then (test/vectors/README.md).

import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { filter, firstValueFrom } from 'rxjs';
import { scanBlock } from '../../lib/bitcoin/block';
import { toDisplayHex } from '../../lib/bitcoin/hash';
import { previousHashOf } from '../../lib/bitcoin/header';
import { TOPICS, type Topic } from '../../lib/zmq/topics';
import { bcoin } from '../support/bcoin/bcoin';
import { chainABlocks, jsonIn, type ChainABlock } from '../support/chain/chain-a';
import { CHAIN_A_TIMEOUT_MS, copiedChain } from '../support/node/chain-a-node';
import { freePort, openRegtestNode, trustSpends } from '../support/bcoin/regtest-node';
import { openRestNode, type RestNode } from '../support/node/rest-node';
import { until } from '../support/expectations/until';
import { TestSubscriber, type Message } from './subscriber';

interface RecordedTopic {
  readonly count: number;
  readonly bytes: number;
  readonly sha256OfSha256s: string;
}

interface Recorded {
  readonly about?: { readonly mockTime: number };
  readonly step?: string;
  readonly blocks?: number;
  readonly topics?: Readonly<Record<Topic, RecordedTopic>>;
}

const DAY_SECONDS = 86_400;

/** The block with which the node begins. */
const FIRST_HEIGHT = 440;

/** Recorded blocks that come at once, of which the index is far behind; then some with that which ends the download among them. */
const [MANY_TO, SOME_TO] = [560, 590] as const;

/** Blocks that are told with their transactions. */
const MOST_WAITING_BLOCKS = 100;

describe('what is published while a node is far behind', function () {
  this.timeout(CHAIN_A_TIMEOUT_MS);

  const records = jsonIn<Recorded>(join(__dirname, '../vectors/zmq/A-31.jsonl.gz'));
  const { blocks: count = 0, topics } = records.find(({ step }) => step === 'initial') ?? expect.fail('the download');
  const { block: rules } = bcoin.Network.get('regtest');
  const { maxTipAge } = rules;

  let prefix: string;
  let rest: RestNode;
  let subscriber: TestSubscriber;
  let blocks: readonly ChainABlock[];

  before(async () => {
    // The node has not been up to date yet.
    rules.maxTipAge = 0;
    prefix = await copiedChain();
    const bare = await openRegtestNode({ prefix });
    await bare.chain.reset(FIRST_HEIGHT);
    await bare.close();
    const address = `tcp://127.0.0.1:${await freePort()}`;
    const settings: Record<string, unknown> = { 'rest-core': 'modern', 'rest-pool': 'modern' };
    for (const topic of TOPICS) Object.assign(settings, { [`rest-zmq-${topic}`]: address, [`rest-zmq-${topic}hwm`]: 0 });
    rest = await openRestNode({ prefix, settings, isFleet: false });
    trustSpends(rest.node);
    await firstValueFrom(rest.rest.ready$.pipe(filter((ready) => ready)));
    subscriber = await TestSubscriber.open(address);
    const recorded = chainABlocks().slice(0, count);
    const [next, ...others] = recorded.slice(recorded.findIndex(({ height, stale }) => !stale && height === FIRST_HEIGHT) + 1);
    blocks = others;
    // Blocks below may still be told.
    await rest.node.chain.add(bcoin.Block.fromRaw(next?.raw ?? Buffer.alloc(0)));
    await until(() => ofTopic('sequence').at(-1)?.body.toString('hex', 0, 32) === next?.hash);
    subscriber.messages.length = 0;
    const about = records[0]?.about ?? expect.fail('the time of the recording');
    rules.maxTipAge = Math.floor(Date.now() / 1_000) - about.mockTime + DAY_SECONDS;

    const before = count - blocks.length;
    const parts = [blocks.slice(0, MANY_TO - before), blocks.slice(MANY_TO - before, SOME_TO - before)];
    for (const part of [...parts, ...blocks.slice(SOME_TO - before).map((each) => [each])]) {
      for (const { raw } of part) await rest.node.chain.add(bcoin.Block.fromRaw(raw));
      await until(() => ofTopic('sequence').at(-1)?.body.toString('hex', 0, 32) === toDisplayHex(rest.rest.node.tip().hash));
    }
    await until(() => ofTopic('rawblock').length >= (topics?.rawblock.count ?? 0));
  });
  after(async () => {
    rules.maxTipAge = maxTipAge;
    await subscriber.close();
    await rest.node.close();
    await rm(prefix, { recursive: true });
  });

  it('are the tips that Bitcoin Core publishes: none before that which ends the download', () => {
    for (const topic of ['hashblock', 'rawblock'] as const) {
      const bodies = ofTopic(topic).map(({ body }) => body);
      const { bytes, sha256OfSha256s } = topics?.[topic] ?? expect.fail('the topic');
      expect(bodies.reduce((sum, { length }) => sum + length, 0)).to.equal(bytes);
      expect(digestOf(bodies)).to.equal(sha256OfSha256s);
    }
  });

  it('is each block, after the one below it', () => {
    const parents = new Map(blocks.map(({ raw, hash }) => [hash, toDisplayHex(previousHashOf(raw))]));
    const connected = ofTopic('sequence').map(({ body }) => {
      expect(body.toString('latin1', 32)).to.equal('C');
      return body.toString('hex', 0, 32);
    });
    expect(connected.slice(1).map((hash) => parents.get(hash))).to.deep.equal(connected.slice(0, -1));
    expect(connected).to.have.members(blocks.filter(({ stale }) => !stale).map(({ hash }) => hash));
  });

  it('are all transactions of a block in their order, or none while more than a hundred blocks wait', () => {
    const transactions = new Map(blocks.map(({ raw, hash }) => [hash, scanBlock(raw).transactions]));
    let [told, whole]: [string[], number] = [[], 0];
    for (const { topic, body } of subscriber.messages) {
      if (topic === 'hashtx' || topic === 'rawtx') told.push(`${topic} ${body.toString('hex')}`);
      if (topic !== 'sequence') continue;
      const expected = (transactions.get(body.toString('hex', 0, 32)) ?? []).flatMap(({ txid, bytes, offset, length }) => [
        `hashtx ${toDisplayHex(txid)}`,
        `rawtx ${bytes.toString('hex', offset, offset + length)}`
      ]);
      if (told.length > 0) expect(told).to.deep.equal(expected);
      if (told.length > 0) whole++;
      told = [];
    }
    expect(whole).to.be.at.least(MOST_WAITING_BLOCKS);
  });

  it('has numbers without a gap in each topic', () => {
    for (const topic of TOPICS) {
      const numbers = ofTopic(topic).map(({ number }) => number);
      expect(numbers.length, topic).to.be.greaterThan(0);
      expect(numbers, topic).to.deep.equal(numbers.map((_, i) => (numbers[0] ?? 0) + i));
    }
  });

  const ofTopic = (topic: Topic): Message[] => subscriber.messages.filter((message) => message.topic === topic);
});

function digestOf(bodies: readonly Buffer[]): string {
  const all = createHash('sha256');
  for (const body of bodies) all.update(createHash('sha256').update(body).digest());
  return all.digest('hex');
}
