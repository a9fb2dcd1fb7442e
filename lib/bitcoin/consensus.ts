// Numbers of the consensus rules (consensus/amount.h and consensus/consensus.h of Bitcoin Core).

export const SATOSHIS_PER_COIN = 100_000_000;

/** In satoshis: outputs, alone or together, are never worth more. */
export const MAX_MONEY = 21_000_000 * SATOSHIS_PER_COIN;

/** No block has more bytes either. */
export const MAX_BLOCK_WEIGHT = 4_000_000;

/** How many blocks above a coinbase the first block is that may spend it. */
export const COINBASE_MATURITY = 100;
