interface Reader<Snapshot> {
  read<T>(use: (snapshot: Snapshot) => T): T;
}

interface Openable {
  /** @throws HttpError 503 while it is closed. */
  requireOpen(): void;
}

/** An index as endpoints read it: only while the gate is open, because the index may be rebuilt while an endpoint waits. */
export class GatedReader<Snapshot> implements Reader<Snapshot> {
  readonly #reader: Reader<Snapshot>;
  readonly #gate: Openable;

  constructor(reader: Reader<Snapshot>, gate: Openable) {
    this.#reader = reader;
    this.#gate = gate;
  }

  /** @throws HttpError 503 while the gate is closed. */
  read<T>(use: (snapshot: Snapshot) => T): T {
    this.#gate.requireOpen();
    return this.#reader.read(use);
  }
}
