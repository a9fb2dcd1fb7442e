// The soft forks as the node's chain sees them, counted as Bitcoin Core counts them:
// the state is that of the block after the one that is asked about (BIP9).

import { ChainMovedError } from './errors';
import { sameHostHash, type HostChain, type HostDeployment, type HostEntry, type HostHash, type HostNetwork } from './host';
import type { Bip9Deployment, Deployments } from './types';

/** bcoin's thresholdStates, by number. */
const STATUSES = ['defined', 'started', 'locked_in', 'active', 'failed'] as const;

/** The deployments that Bitcoin Core 0.17 lists, in its order. */
const LISTED = ['csv', 'segwit'] as const;

type Statistics = NonNullable<Bip9Deployment['statistics']>;
interface PeriodState {
  readonly periodEnd: HostHash;
  readonly status: Bip9Deployment['status'];
  readonly since: number;
}

export class DeploymentReader {
  /** A state holds for a whole period: one walk back per period. */
  readonly #periods = new Map<string, PeriodState>();
  readonly #chain: HostChain;
  readonly #network: HostNetwork;

  constructor(chain: HostChain, network: HostNetwork) {
    this.#chain = chain;
    this.#network = network;
  }

  /** The state of every listed soft fork for the block after this one. @throws ChainMovedError when it is not known any more. */
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
    if (deployment.startTime === -1) return { periodEnd: tip.hash, status: 'active', since: 0 };
    const periodEnd = await this.#periodEnd(deployment, tip);
    if (periodEnd === undefined) return { periodEnd: tip.hash, status: 'defined', since: 0 };
    const known = this.#periods.get(id);
    if (known !== undefined && sameHostHash(known.periodEnd, periodEnd.hash)) return known;
    const state = await this.#walkBack(deployment, periodEnd);
    this.#periods.set(id, state);
    return state;
  }

  /** The first block to which today's status applied (Core's `GetStateSinceHeightFor`). */
  async #walkBack(deployment: HostDeployment, periodEnd: HostEntry): Promise<PeriodState> {
    const period = this.#period(deployment);
    const state = await this.#chain.getState(periodEnd, deployment);
    const status = STATUSES[state] ?? 'defined';
    if (status === 'defined') return { periodEnd: periodEnd.hash, status, since: 0 };
    let first = periodEnd;
    for (;;) {
      const earlier = await this.#chain.getAncestor(first, first.height - period);
      if (earlier === null || (await this.#chain.getState(earlier, deployment)) !== state) break;
      first = earlier;
    }
    return { periodEnd: periodEnd.hash, status, since: first.height + 1 };
  }

  async #statistics(deployment: HostDeployment, tip: HostEntry): Promise<Statistics> {
    const period = this.#period(deployment);
    const threshold = deployment.threshold === -1 ? this.#network.activationThreshold : deployment.threshold;
    const elapsed = (tip.height + 1) % period;
    let count = 0;
    let entry: HostEntry | null = tip;
    for (let i = 0; i < elapsed && entry !== null; i++) {
      if (entry.hasBit(deployment.bit)) count++;
      entry = await this.#chain.getPrevious(entry);
    }
    return { period, threshold, elapsed, count, possible: period - threshold >= elapsed - count };
  }

  /** The last block of the last whole period up to `tip`. */
  async #periodEnd(deployment: HostDeployment, tip: HostEntry): Promise<HostEntry | undefined> {
    const height = tip.height - ((tip.height + 1) % this.#period(deployment));
    if (height < 0) return undefined;
    return (await this.#chain.getAncestor(tip, height)) ?? undefined;
  }

  #period(deployment: HostDeployment): number {
    return deployment.window === -1 ? this.#network.minerWindow : deployment.window;
  }
}
