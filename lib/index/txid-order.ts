// The transactions of a batch in the order of their txids, nearly: the store's table of new
// records is in this order, and neighbours go in there faster than what lies far apart.

/** Numbers that sort: three bytes of the txid, which block of the batch it is, the position: together less than a double's 53 bits. */
const POSITIONS = 0x1_0000;
const BLOCKS = 0x1000;

/** `txidsOfBlocks`: for each block of a batch, 32 bytes for each transaction. To be read with `blockIn` and `positionIn`. */
export function inOrderOfTxids(txidsOfBlocks: readonly Uint8Array[]): Float64Array {
  const order = new Float64Array(txidsOfBlocks.reduce((count, txids) => count + txids.length / 32, 0));
  let next = 0;
  txidsOfBlocks.forEach((txids, block) => {
    for (let at = 0; at < txids.length; at += 32) {
      const start = (txids[at] as number) << 16 | (txids[at + 1] as number) << 8 | (txids[at + 2] as number); // whole txids
      order[next++] = (start * BLOCKS + block) * POSITIONS + at / 32;
    }
  });
  return order.sort();
}

export function blockIn(transaction: number): number {
  return Math.floor(transaction / POSITIONS) % BLOCKS;
}

export function positionIn(transaction: number): number {
  return transaction % POSITIONS;
}
