// The soft forks as the node's chain sees them, counted as Bitcoin Core counts them (BIP9).

import { LRUCache } from 'lru-cache';
import { keyOf } from '../bitcoin/hash';
import { ChainMovedError } from './errors';
import { fromHost, type HostChain, type HostDeployment, type HostEntry, type HostHash, type HostNetwork } from './host';
import type { Bip9Deployment, DeploymentInfo, Deployments, SignalledFork } from './types/soft-forks';

/** bcoin's thresholdStates, by number. */
const STATUSES = ['defined', 'started', 'locked_in', 'active', 'failed'] as const;

/** The deployments that Bitcoin Core 0.17 lists, in its order. */
const LISTED = ['csv', 'segwit'] as const;

/** The deployments that Bitcoin Core lists since 0.19 and for which bcoin counts signals. */
const SIGNALLED = [...LISTED, 'testdummy'] as const;

/** Bitcoin Core's names of those flags of bcoin (script/common.js) that stand for rules of blocks. */
const FLAG_NAMES = {
  P2SH: 1 << 0,
  DERSIG: 1 << 2,
  NULLDUMMY: 1 << 4,
  CHECKLOCKTIMEVERIFY: 1 << 9,
  CHECKSEQUENCEVERIFY: 1 << 10,
  WITNESS: 1 << 11
} as const;

/** How many states of periods are cached. */
const MOST_PERIODS = 64;

type Statistics = NonNullable<Bip9Deployment['statistics']>;
interface PeriodState {
  readonly status: Bip9Deployment['status'];
  readonly since: number;
}

const NOT_YET: PeriodState = { status: 'defined', since: 0 };

export class DeploymentReader {
  /** By deployment and last block of the previous period: a state holds for a whole period. */
  readonly #periods = new LRUCache<string, PeriodState>({ max: MOST_PERIODS });
  readonly #chain: HostChain;
  readonly #network: HostNetwork;

  constructor(chain: HostChain, network: HostNetwork) {
    this.#chain = chain;
    this.#network = network;
  }

  /** The state of every listed soft fork for the block after this one. @throws ChainMovedError when this block is no longer known. */
  async read(hash: HostHash): Promise<Deployments> {
    for (;;) {
      const before = this.#chain.tip;
      const tip = await this.#chain.getEntryByHash(hash);
      if (tip === null) throw new ChainMovedError('the chain has been reset to below the block');
      const deployments = await this.#readAt(tip);
      // Ancestors of a block of the active chain are looked up by height: the chain must not have moved meanwhile.
      if (this.#chain.tip === before) return deployments;
      this.#periods.clear();
    }
  }

  /** The state of every soft fork as the block itself sees it, on any branch; undefined when the block is not known. */
  async describe(hash: HostHash): Promise<DeploymentInfo | undefined> {
    for (;;) {
      const before = this.#chain.tip;
      const entry = await this.#chain.getEntryByHash(hash);
      if (entry === null) return undefined;
      const info = await this.#describeAt(entry);
      if (this.#chain.tip === before) return info;
      this.#periods.clear();
    }
  }

  async #describeAt(entry: HostEntry): Promise<DeploymentInfo> {
    const {
      deployments,
      block: { bip34height, bip66height, bip65height }
    } = this.#network;
    const previous = await this.#chain.getPrevious(entry);
    const { flags } = previous === null ? { flags: 0 } : await this.#chain.getDeployments(entry.time, previous);
    const signalled: SignalledFork[] = [];
    for (const id of SIGNALLED) {
      const deployment = deployments[id];
      if (deployment !== undefined) signalled.push(await this.#signalled(id, deployment, entry, previous));
    }
    return {
      hash: fromHost(entry.hash),
      height: entry.height,
      scriptFlags: Object.entries(FLAG_NAMES)
        .flatMap(([name, flag]) => ((flags & flag) === 0 ? [] : [name]))
        .sort(),
      buried: [
        { id: 'bip34', height: bip34height },
        { id: 'bip66', height: bip66height },
        { id: 'bip65', height: bip65height }
      ],
      signalled
    };
  }

  /** `previous`: null for the genesis block, to which no deployment applied. */
  async #signalled(id: string, deployment: HostDeployment, entry: HostEntry, previous: HostEntry | null): Promise<SignalledFork> {
    const { status, since } = previous === null ? NOT_YET : await this.#state(id, deployment, previous);
    const { status: nextStatus } = await this.#state(id, deployment, entry);
    const period = this.#period(deployment);
    const isSignalled = status === 'started' || status === 'locked_in';
    return {
      id,
      status,
      nextStatus,
      bit: deployment.bit,
      startTime: BigInt(deployment.startTime),
      timeout: BigInt(deployment.timeout),
      since,
      activeSince: status === 'active' ? since : nextStatus === 'active' ? entry.height + 1 : undefined,
      signals: isSignalled ? await this.#signals(deployment, entry, (entry.height % period) + 1) : undefined,
      period,
      threshold: this.#threshold(deployment)
    };
  }

  /** Whether each of the last `count` blocks up to and including this one signals, the lowest first. */
  async #signals({ bit }: HostDeployment, last: HostEntry, count: number): Promise<boolean[]> {
    const signals: boolean[] = [];
    let entry: HostEntry | null = last;
    for (let left = count; left > 0 && entry !== null; left--) {
      signals.push(entry.hasBit(bit));
      entry = await this.#chain.getPrevious(entry);
    }
    return signals.reverse();
  }

  async #readAt(tip: HostEntry): Promise<Deployments> {
    const {
      deployments,
      block: { bip34height, bip66height, bip65height }
    } = this.#network;
    const bip9: Bip9Deployment[] = [];
    for (const id of LISTED) {
      const deployment = deployments[id];
      if (deployment !== undefined) bip9.push(await this.#deployment(id, deployment, tip));
    }
    return {
      versionForks: [
        { id: 'bip34', version: 2, active: tip.height >= bip34height },
        { id: 'bip66', version: 3, active: tip.height >= bip66height },
        { id: 'bip65', version: 4, active: tip.height >= bip65height }
      ],
      bip9
    };
  }

  async #deployment(id: string, deployment: HostDeployment, tip: HostEntry): Promise<Bip9Deployment> {
    const { status, since } = await this.#state(id, deployment, tip);
    return {
      id,
      status,
      bit: deployment.bit,
      startTime: BigInt(deployment.startTime),
      timeout: BigInt(deployment.timeout),
      since,
      ...(status === 'started' && { statistics: await this.#statistics(deployment, tip) })
    };
  }

  async #state(id: string, deployment: HostDeployment, tip: HostEntry): Promise<PeriodState> {
    if (deployment.startTime === -1) return { status: 'active', since: 0 };
    const periodEnd = await this.#periodEnd(deployment, tip);
    if (periodEnd === undefined) return NOT_YET;
    const key = `${id} ${keyOf(fromHost(periodEnd.hash))}`;
    const known = this.#periods.get(key);
    if (known !== undefined) return known;
    const state = await this.#walkBack(deployment, periodEnd);
    this.#periods.set(key, state);
    return state;
  }

  /** The status after `periodEnd`, and the first block to which it applied (Core's `GetStateSinceHeightFor`). */
  async #walkBack(deployment: HostDeployment, periodEnd: HostEntry): Promise<PeriodState> {
    const period = this.#period(deployment);
    const state = await this.#chain.getState(periodEnd, deployment);
    const status = STATUSES[state] ?? 'defined';
    if (status === 'defined') return { status, since: 0 };
    let first = periodEnd;
    for (;;) {
      const earlier = await this.#chain.getAncestor(first, first.height - period);
      if (earlier === null || (await this.#chain.getState(earlier, deployment)) !== state) break;
      first = earlier;
    }
    return { status, since: first.height + 1 };
  }

  async #statistics(deployment: HostDeployment, tip: HostEntry): Promise<Statistics> {
    const period = this.#period(deployment);
    const threshold = this.#threshold(deployment);
    const elapsed = (tip.height + 1) % period;
    const count = (await this.#signals(deployment, tip, elapsed)).filter(Boolean).length;
    return { period, threshold, elapsed, count, possible: period - threshold >= elapsed - count };
  }

  /** The last block of the last whole period up to `tip`. */
  async #periodEnd(deployment: HostDeployment, tip: HostEntry): Promise<HostEntry | undefined> {
    const height = tip.height - ((tip.height + 1) % this.#period(deployment));
    if (height < 0) return undefined;
    return (await this.#chain.getAncestor(tip, height)) ?? undefined;
  }

  #threshold({ threshold }: HostDeployment): number {
    return threshold === -1 ? this.#network.activationThreshold : threshold;
  }

  #period(deployment: HostDeployment): number {
    return deployment.window === -1 ? this.#network.minerWindow : deployment.window;
  }
}
