// The new coins that blocks may create (GetBlockSubsidy of Bitcoin Core).

const FIRST_SUBSIDY_SATS = 5_000_000_000;
/** Halvings after which nothing is left of 50 bitcoins. */
const MOST_HALVINGS = 33;

/** The most satoshis that the coinbase of the block at a height may create. */
export function subsidyAt(height: number, halvingInterval: number): number {
  const halvings = Math.floor(height / halvingInterval);
  return halvings < MOST_HALVINGS ? Math.floor(FIRST_SUBSIDY_SATS / 2 ** halvings) : 0;
}

/** The most satoshis that can be in coins after the block at a height. The output of the genesis block is not a coin. */
export function totalSubsidy(height: number, halvingInterval: number): number {
  let [total, from] = [-FIRST_SUBSIDY_SATS, 0];
  for (let halvings = 0; halvings < MOST_HALVINGS && from <= height; halvings++, from += halvingInterval) {
    total += Math.floor(FIRST_SUBSIDY_SATS / 2 ** halvings) * Math.min(halvingInterval, height - from + 1);
  }
  return total;
}
