// Transactions of the pool that are connected by spending from each other.

/** Transactions by their index. Of two with the same fee and weight, the one with the lower index comes first. */
export interface Cluster {
  /** Satoshis. */
  readonly fees: readonly number[];
  readonly weights: readonly number[];
  readonly parents: readonly (readonly number[])[];
}
