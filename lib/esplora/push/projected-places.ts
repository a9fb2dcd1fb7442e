// Where transactions of the pool are in one projection, with those that are mined with them. Each text is written once for all clients.

import { keyOf } from '../../bitcoin/hash';
import { cpfpInfo } from '../mempool/cpfp';
import { hashText, objectOf } from '../messages';
import type { PlacedTransaction, Projection } from '../../pool/projection/projected-blocks';

export class ProjectedPlaces {
  readonly #projection: Projection;
  readonly #texts = new Map<string, Buffer>();

  constructor(projection: Projection) {
    this.#projection = projection;
  }

  /** Undefined for a transaction that the pool does not have. */
  of(txid: Buffer): PlacedTransaction | undefined {
    return this.#projection.find(txid);
  }

  /** For a transaction that has this place: `txPosition` as JSON. */
  text(txid: Buffer, { position }: PlacedTransaction): Buffer {
    const key = keyOf(txid);
    const known = this.#texts.get(key);
    if (known !== undefined) return known;
    const made = objectOf([
      ['txid', hashText(txid)],
      ['position', JSON.stringify(position)],
      ['accelerationPositions', '[]'],
      ['cpfp', JSON.stringify(cpfpInfo(txid, this.#projection))]
    ]);
    this.#texts.set(key, made);
    return made;
  }
}
