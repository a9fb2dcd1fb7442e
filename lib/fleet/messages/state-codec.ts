// The node's state inside records, as the fields of proto/fleet.proto and back: soft forks, and the beat.

import { MalformedMessageError } from './errors';
import { toHash, toNumber, type Codec, type Wide } from './schema';
import type { Bip9Deployment, DeploymentInfo, Deployments, SignalledFork, VersionFork } from '../../node/types/soft-forks';
import type { FeeEstimate, NetworkStatus } from '../../node/types/source';
import type { Beat, BeatPool } from './records';

const STATUSES: readonly Bip9Deployment['status'][] = ['defined', 'started', 'locked_in', 'active', 'failed'];

interface Bip9Fields extends Omit<Bip9Deployment, 'status' | 'startTime' | 'timeout' | 'statistics'> {
  readonly status: string;
  readonly startTime: Signed;
  readonly timeout: Signed;
  readonly statistics: Required<Bip9Deployment>['statistics'] | null;
}

/** A number of 64 bits as protobufjs reads it, which may not fit a double. */
type Signed = number | { toString(): string };

export const DEPLOYMENTS: Codec<Deployments> = {
  toFields: ({ versionForks, bip9 }) => ({
    versionForks,
    bip9: bip9.map((deployment) => ({ ...deployment, startTime: longOf(deployment.startTime), timeout: longOf(deployment.timeout) }))
  }),
  fromFields: (fields) => {
    const { versionForks = [], bip9 = [] } = fields as {
      readonly versionForks?: readonly VersionFork[];
      readonly bip9?: readonly Bip9Fields[];
    };
    return {
      versionForks: versionForks.map(({ id, version, active }) => ({ id, version, active })),
      bip9: bip9.map(bip9Of)
    };
  }
};

function bip9Of({ id, status, bit, startTime, timeout, since, statistics }: Bip9Fields): Bip9Deployment {
  return {
    id,
    status: statusOf(status),
    bit,
    startTime: BigInt(String(startTime)),
    timeout: BigInt(String(timeout)),
    since,
    ...(statistics && { statistics: statisticsOf(statistics) })
  };
}

function statisticsOf({
  period,
  threshold,
  elapsed,
  count,
  possible
}: Required<Bip9Deployment>['statistics']): Required<Bip9Deployment>['statistics'] {
  return { period, threshold, elapsed, count, possible };
}

function statusOf(text: string): Bip9Deployment['status'] {
  const status = STATUSES.find((each) => each === text);
  if (status === undefined) throw new MalformedMessageError('a status of BIP9 expected');
  return status;
}

type ForkRules = Omit<DeploymentInfo, 'hash' | 'height'>;

interface SignalledFields extends Omit<SignalledFork, 'status' | 'nextStatus' | 'startTime' | 'timeout' | 'activeSince' | 'signals'> {
  readonly status: string;
  readonly nextStatus: string;
  readonly startTime: Signed;
  readonly timeout: Signed;
  readonly activeSince?: number | null;
  readonly signals?: Buffer | null;
}

/** Without the block that the soft forks are those of. */
export const DEPLOYMENT_INFO: Codec<ForkRules> = {
  toFields: ({ scriptFlags, buried, signalled }) => ({
    scriptFlags,
    buried,
    signalled: signalled.map(({ startTime, timeout, signals, ...fork }) => ({
      ...fork,
      startTime: longOf(startTime),
      timeout: longOf(timeout),
      signals: signals && Buffer.from(signals.map(Number))
    }))
  }),
  fromFields: (fields) => {
    const { scriptFlags, buried, signalled } = fields as Omit<ForkRules, 'signalled'> & { readonly signalled: readonly SignalledFields[] };
    return { scriptFlags, buried: buried.map(({ id, height }) => ({ id, height })), signalled: signalled.map(signalledOf) };
  }
};

function signalledOf({
  id,
  status,
  nextStatus,
  bit,
  startTime,
  timeout,
  since,
  activeSince,
  signals,
  period,
  threshold
}: SignalledFields): SignalledFork {
  return {
    id,
    status: statusOf(status),
    nextStatus: statusOf(nextStatus),
    bit,
    startTime: BigInt(String(startTime)),
    timeout: BigInt(String(timeout)),
    since,
    activeSince: activeSince ?? undefined,
    signals: signals ? Array.from(signals, Boolean) : undefined,
    period,
    threshold
  };
}

/** As protobufjs writes a number of 64 bits. */
function longOf(value: bigint): { readonly low: number; readonly high: number; readonly unsigned: false } {
  return { low: Number(BigInt.asIntN(32, value)), high: Number(BigInt.asIntN(32, value >> 32n)), unsigned: false };
}

interface BeatFields {
  readonly height: number;
  readonly hash: Buffer;
  readonly synced: boolean;
  readonly verified: number;
  readonly pool: PoolFields | null;
  readonly network: NetworkFields | null;
  readonly fees: readonly { readonly blocks: number; readonly rate: Wide }[];
  readonly mostFeeBlocks: number;
  readonly warnings: readonly string[];
  readonly release: string;
  readonly pruned: boolean;
}

type PoolFields = { readonly [Name in keyof BeatPool]: BeatPool[Name] extends number ? Wide : BeatPool[Name] };

interface NetworkFields extends Omit<NetworkStatus, 'isActive' | 'proxy'> {
  readonly active: boolean;
  readonly proxy: string;
}

export const BEAT: Codec<Beat> = {
  toFields: ({ tip, network, ...rest }) => ({ ...rest, ...tip, network: { ...network, active: network.isActive } }),
  fromFields: (fields) => {
    const { height, hash, pool, network, fees, synced, verified, mostFeeBlocks, warnings, release, pruned } = fields as BeatFields;
    if (pool === null || network === null) throw new MalformedMessageError('Beat: the state of pool and network expected');
    return {
      type: 'beat',
      tip: { height, hash: toHash('Beat.hash', hash) },
      synced,
      verified,
      pool: poolOf(pool),
      network: networkOf(network),
      fees: fees.map(({ blocks, rate }): FeeEstimate => ({ blocks, rate: toNumber('FeeEstimate.rate', rate) })),
      mostFeeBlocks,
      warnings,
      release,
      pruned
    };
  }
};

function poolOf({ mostDataCarrierBytes, usage, maxUsage, minFeeRate, minRelayFeeRate, replaces, size, bytes }: PoolFields): BeatPool {
  const number = (wide: Wide): number => toNumber('PoolInfo', wide);
  return {
    mostDataCarrierBytes: number(mostDataCarrierBytes),
    usage: number(usage),
    maxUsage: number(maxUsage),
    minFeeRate: number(minFeeRate),
    minRelayFeeRate: number(minRelayFeeRate),
    replaces,
    size: number(size),
    bytes: number(bytes)
  };
}

function networkOf(fields: NetworkFields): NetworkStatus {
  // Named one by one: absent fields are properties of the prototype.
  const { active, proxy, localAddresses } = fields;
  const { agent, protocolVersion, services, relays, timeOffset, inbound, outbound, onion } = fields;
  return {
    agent,
    protocolVersion,
    services,
    relays,
    timeOffset,
    isActive: active,
    inbound,
    outbound,
    proxy: proxy === '' ? undefined : proxy,
    onion,
    localAddresses: localAddresses.map(({ address, port, score }) => ({ address, port, score }))
  };
}
