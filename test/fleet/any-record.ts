// Records with any values that the types allow.

import * as fc from 'fast-check';
import type { Bip9Deployment, DeploymentInfo, Deployments, SignalledFork } from '../../lib/node/types/soft-forks';
import type { Beat, ChainPoint, LogRecord, RecordBody } from '../../lib/fleet/messages/records';

const bytes = (least: number, most: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ minLength: least, maxLength: most }).map((each) => Buffer.from(each));
const hash = bytes(32, 32);
const u32 = fc.nat(0xffff_ffff);
const amount = fc.maxSafeNat();
const text = fc.string({ maxLength: 20, unit: 'grapheme' });
const work = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n });
const time = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const status = fc.constantFrom<Bip9Deployment['status']>('defined', 'started', 'locked_in', 'active', 'failed');

const bip9: fc.Arbitrary<Bip9Deployment> = fc.record(
  {
    id: text,
    status,
    bit: fc.nat(31),
    startTime: time,
    timeout: time,
    since: u32,
    statistics: fc.record({ period: u32, threshold: u32, elapsed: u32, count: u32, possible: fc.boolean() })
  },
  { requiredKeys: ['id', 'status', 'bit', 'startTime', 'timeout', 'since'] }
);

const deployments: fc.Arbitrary<Deployments> = fc.record({
  versionForks: fc.array(fc.record({ id: text, version: u32, active: fc.boolean() }), { maxLength: 3 }),
  bip9: fc.array(bip9, { maxLength: 3 })
});

const signalled: fc.Arbitrary<SignalledFork> = fc.record({
  id: text,
  status,
  nextStatus: status,
  bit: fc.nat(31),
  startTime: time,
  timeout: time,
  since: u32,
  // From the first block on, in many of them.
  activeSince: fc.option(fc.oneof(fc.constant(0), u32), { nil: undefined }),
  signals: fc.option(fc.array(fc.boolean(), { maxLength: 10 }), { nil: undefined }),
  period: u32,
  threshold: u32
});

const forkRules: fc.Arbitrary<Omit<DeploymentInfo, 'hash' | 'height'>> = fc.record({
  scriptFlags: fc.array(text, { maxLength: 3 }),
  buried: fc.array(fc.record({ id: text, height: u32 }), { maxLength: 3 }),
  signalled: fc.array(signalled, { maxLength: 3 })
});

const point: fc.Arbitrary<ChainPoint> = fc
  .record({ height: u32, hash, header: bytes(80, 80), chainwork: work, medianTime: u32, deployments, forkRules })
  .map(({ forkRules: rules, ...rest }) => ({ ...rest, deploymentInfo: { height: rest.height, hash: rest.hash, ...rules } }));

export const anyBeat: fc.Arbitrary<Beat> = fc.record({
  type: fc.constant('beat'),
  tip: fc.record({ height: u32, hash }),
  synced: fc.boolean(),
  verified: fc.double({ min: 0, max: 1, noNaN: true }),
  pool: fc.record({
    mostDataCarrierBytes: u32,
    usage: amount,
    maxUsage: amount,
    minFeeRate: amount,
    minRelayFeeRate: amount,
    replaces: fc.boolean(),
    size: u32,
    bytes: amount
  }),
  network: fc.record({
    agent: text,
    protocolVersion: u32,
    services: u32,
    relays: fc.boolean(),
    timeOffset: fc.integer(),
    isActive: fc.boolean(),
    inbound: u32,
    outbound: u32,
    proxy: fc.option(fc.string({ minLength: 1, maxLength: 20 }), { nil: undefined }),
    onion: fc.boolean(),
    localAddresses: fc.array(fc.record({ address: text, port: fc.nat(65_535), score: fc.integer() }), { maxLength: 3 })
  }),
  fees: fc.array(fc.record({ blocks: u32, rate: amount }), { maxLength: 5 }),
  mostFeeBlocks: u32,
  warnings: fc.array(text, { maxLength: 3 }),
  release: text,
  pruned: fc.boolean()
});

const body: fc.Arbitrary<RecordBody> = fc.oneof(
  fc
    .record({ type: fc.constant('block' as const), hash, part: fc.nat(10), more: fc.integer({ min: 1, max: 10 }), bytes: bytes(0, 200) })
    .map(({ more, ...rest }) => ({ ...rest, parts: rest.part + more })),
  fc
    .record({ point, blockBytes: u32, undoBytes: u32, blockSequence: amount })
    .map(({ point: at, ...rest }) => ({ type: 'connect' as const, ...at, ...rest })),
  fc.record({ type: fc.constant('disconnect' as const), height: u32, hash, chainwork: work, previous: hash }),
  fc
    .record({ point, reason: fc.constantFrom('start' as const, 'gap' as const, 'rewind' as const) })
    .map(({ point: at, reason }) => ({ type: 'reset' as const, ...at, reason })),
  fc.record({
    type: fc.constant('add' as const),
    raw: bytes(0, 300),
    coins: fc.array(fc.record({ value: amount, script: bytes(0, 40) }), { maxLength: 3 }),
    size: u32,
    adjustedWeight: u32,
    time: amount,
    height: u32,
    fee: amount,
    modifiedFee: fc.maxSafeInteger(),
    isUnbroadcast: fc.boolean()
  }),
  fc.record({ type: fc.constant('remove' as const), txid: hash, replacement: hash }, { requiredKeys: ['type', 'txid'] }),
  fc.record({
    type: fc.constant('change' as const),
    txid: hash,
    modifiedFee: fc.maxSafeInteger(),
    height: u32,
    isUnbroadcast: fc.boolean()
  }),
  fc.record({ type: fc.constant('clear' as const), kept: fc.array(hash, { maxLength: 4 }), part: fc.nat(), hasMore: fc.boolean() }),
  anyBeat
);

export const anyRecord: fc.Arbitrary<LogRecord> = fc.record({
  term: amount,
  termId: bytes(8, 8),
  termStart: amount,
  node: text,
  at: amount,
  body
});
