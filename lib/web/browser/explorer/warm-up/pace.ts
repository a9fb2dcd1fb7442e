// Estimates how long a job that reports only its progress will take, from its progress a while ago.

interface Sample {
  readonly ms: number;
  readonly part: number;
}

const WINDOW_MS = 60_000;

/** Less is no measure. */
const LEAST_MS = 3_000;

export class Pace {
  #samples: Sample[] = [];

  /** Takes note of the part (0 to 1) that is done at a time in milliseconds, and gives the seconds that are left, if they can be estimated. */
  secondsLeft(part: number, ms: number): number | undefined {
    // Work that begins anew has another pace.
    if (part < (this.#samples.at(-1)?.part ?? 0)) this.#samples = [];
    this.#samples = [...this.#samples.filter((sample) => ms - sample.ms <= WINDOW_MS), { ms, part }];
    const [first] = this.#samples;
    if (first === undefined || ms - first.ms < LEAST_MS || part <= first.part) return undefined;
    return ((1 - part) * (ms - first.ms)) / (part - first.part) / 1_000;
  }
}
