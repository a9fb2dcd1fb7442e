// The figures by which a pool of today takes transactions: those of Bitcoin Core 31 (policy/policy.h, policy/truc_policy.h,
// policy/packages.h, policy/rbf.h, node/transaction.h, kernel/mempool_options.h). Rates are in satoshis per 1,000 virtual bytes.

import { VBYTES_PER_RATE } from '../bitcoin/transaction';
import { MOST_IN_BEST_ORDER } from '../clusters/linearization';

export const LIMITS = {
  /** What a transaction has to pay at least. */
  relayRate: 100,
  /** What a replacement has to pay for itself, beyond the fees of what it replaces. */
  incrementalRate: 100,
  /** An output is dust if spending it at this rate would cost more than its value. */
  dustRate: 3_000,
  mostDustOutputs: 1,
  leastVersion: 1,
  mostVersion: 3,
  mostWeight: 400_000,
  /** Bytes without witness. */
  leastStrippedBytes: 65,
  mostScriptSigBytes: 1_650,
  /** Keys of a multisig script that is no script hash. */
  mostBareKeys: 3,
  /** In all locking and unlocking scripts that are run, without those of witnesses (BIP54). */
  mostLegacySigops: 2_500,
  mostScriptHashSigops: 15,
  mostSigopCost: 16_000,
  /** A signature operation counts for this weight at least. */
  weightPerSigop: 20,
  mostWitnessScriptBytes: 3_600,
  /** Beside the script. */
  mostWitnessItems: 100,
  mostWitnessItemBytes: 80,
  /** Larger clusters are not put in the best order. */
  mostInCluster: MOST_IN_BEST_ORDER,
  mostClusterWeight: 404_000,
  /** Clusters in which transactions lie that a replacement conflicts with. */
  mostReplacedClusters: 100,
  /** Transactions of this version are topologically restricted until confirmation (TRUC, BIP431). */
  trucVersion: 3,
  /** Virtual bytes. */
  mostTrucSize: 10_000,
  /** Virtual bytes, if it spends from another one of the pool. */
  mostTrucChildSize: 1_000,
  /** Of a package that is submitted, and of transactions that are tested together. */
  mostInPackage: 25,
  mostPackageWeight: 404_000,
  /** Transactions leave the pool after this time. */
  expirySeconds: 336 * 3_600
} as const;

/** The fee in satoshis of `size` virtual bytes at a rate, rounded up. */
export const feeAt = (rate: number, size: number): number => Math.ceil((rate * size) / VBYTES_PER_RATE);
