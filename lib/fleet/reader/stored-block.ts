/** A block as it is serialized, with what a node has stored for undoing it (lib/node/undo-record.ts). */
export interface StoredBlock {
  readonly raw: Buffer;
  /** undefined: not known, or the block spends nothing. */
  readonly undo?: Buffer;
}
