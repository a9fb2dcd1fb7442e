// Soft forks as a node knows them.

import type { BlockPoint } from './chain';

/** A soft fork that was switched on by block version alone (BIP34, BIP66, BIP65). */
export interface VersionFork {
  readonly id: string;
  readonly version: number;
  /** True once blocks of lower version are rejected. */
  readonly active: boolean;
}

/** A BIP9 deployment, as the next block will see it. */
export interface Bip9Deployment {
  readonly id: string;
  readonly status: 'defined' | 'started' | 'locked_in' | 'active' | 'failed';
  readonly bit: number;
  /** May be -1, "always active". */
  readonly startTime: bigint;
  readonly timeout: bigint;
  /** Height of the first block to which the status applies. */
  readonly since: number;
  /** Signalling in the current period; only while started. */
  readonly statistics?: {
    readonly period: number;
    readonly threshold: number;
    readonly elapsed: number;
    readonly count: number;
    readonly possible: boolean;
  };
}

export interface Deployments {
  readonly versionForks: readonly VersionFork[];
  readonly bip9: readonly Bip9Deployment[];
}

/** A soft fork that the node switches on at a fixed height. */
export interface BuriedFork {
  readonly id: string;
  readonly height: number;
}

/** A soft fork that blocks signal (BIP9), as a block and the next block see it. */
export interface SignalledFork extends Omit<Bip9Deployment, 'statistics'> {
  /** Status for the next block. */
  readonly nextStatus: Bip9Deployment['status'];
  /** Height of the first block to which the fork applies; undefined: not known yet. */
  readonly activeSince: number | undefined;
  /** While started or locked in: for each block of the period up to and including this one, whether it signals. */
  readonly signals: readonly boolean[] | undefined;
  /** Number of blocks after which the status may change, and how many of them must signal. */
  readonly period: number;
  readonly threshold: number;
}

/** The soft forks as one block sees them. */
export interface DeploymentInfo extends BlockPoint {
  /** The rules by which the block's scripts were checked, by Bitcoin Core's names, sorted. */
  readonly scriptFlags: readonly string[];
  readonly buried: readonly BuriedFork[];
  readonly signalled: readonly SignalledFork[];
}
