// What the work behind an answer costs, in points of about a tenth of a millisecond. The session charges for requests and for the bytes of
// their replies.

/** A row of a history, with its txid. */
export const ROW_POINTS = 0.15;

/** A row that is only counted. */
export const COUNT_POINTS = 0.02;

/** The most for counting rows: a long history is counted only once, then its totals are cached. */
export const MOST_COUNT_POINTS = 1_000;

/** Looking up a coin in the main index. */
export const COIN_POINTS = 0.3;

/** A txid or header of a Merkle tree that is made. */
export const HASH_POINTS = 0.01;

export const HEADER_POINTS = 0.01;

/** Reading a transaction, which may be anywhere in the node's files. */
export const TRANSACTION_POINTS = 3;

/** Sending a transaction, whose signatures are checked. */
export const BROADCAST_POINTS = 20;
