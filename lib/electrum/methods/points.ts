// What the work behind an answer costs, in points of about a tenth of a millisecond. Requests, and the bytes of their replies, are counted
// where they come and go.

/** A row of a history, with its txid. */
export const ROW_POINTS = 0.15;

/** A row that is counted only. */
export const COUNT_POINTS = 0.02;

/** Long histories are counted once. */
export const MOST_COUNT_POINTS = 1_000;

/** A coin is looked for in the main index. */
export const COIN_POINTS = 0.3;

/** Also when it is from memory: nobody knows before. */
export const HASH_POINTS = 0.01;

export const HEADER_POINTS = 0.01;

/** Transactions lie anywhere in the node's files. */
export const TRANSACTION_POINTS = 3;

/** Its signatures are checked. */
export const BROADCAST_POINTS = 20;
