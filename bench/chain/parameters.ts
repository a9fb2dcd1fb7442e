// Parameters that determine every byte of a synthetic chain.

export interface ChainParameters {
  /** Bytes that the usual blocks have together, at least. */
  readonly bytes: number;
  /** Inputs of a transaction of a usual block, on average. */
  readonly inputs: number;
  /** How many more outputs than inputs it has, on average. */
  readonly growth: number;
  /** Blocks at the end for measuring how the index follows. */
  readonly liveBlocks: number;
  readonly seed: number;
}

/** To be increased with every change to the blocks made from the same parameters. */
export const GENERATION = 1;

export const DEFAULT_PARAMETERS: ChainParameters = { bytes: 2_000_000_000, inputs: 2.1, growth: 3.2, liveBlocks: 300, seed: 1 };

/** As options of the benchmarks, for parseArgs. */
export const CHAIN_OPTIONS = { bytes: { type: 'string' }, inputs: { type: 'string' }, growth: { type: 'string' } } as const;

/** @throws RangeError */
export function chainParameters({
  bytes,
  inputs,
  growth
}: { readonly [name in keyof typeof CHAIN_OPTIONS]?: string | undefined }): ChainParameters {
  return {
    ...DEFAULT_PARAMETERS,
    ...(bytes !== undefined && { bytes: parseSize(bytes) }),
    ...(inputs !== undefined && { inputs: parseNumber(inputs, 1) }),
    ...(growth !== undefined && { growth: parseNumber(growth, 0) })
  };
}

const UNITS: Readonly<Record<string, number>> = { MB: 1e6, GB: 1e9 };

/** `300MB`, `2GB`, or bytes. @throws RangeError */
function parseSize(text: string): number {
  const [, digits, unit] = /^(\d+(?:\.\d+)?)\s*(MB|GB)?$/i.exec(text) ?? [];
  const bytes = Number(digits) * (UNITS[unit?.toUpperCase() ?? ''] ?? 1);
  if (!Number.isSafeInteger(bytes) || bytes <= 0)
    throw new RangeError(`expected a size such as 300MB, 2GB or a number of bytes, got ${JSON.stringify(text)}`);
  return bytes;
}

/** @throws RangeError */
function parseNumber(text: string, least: number): number {
  const number = Number(text);
  if (text.trim() === '' || !(number >= least && number <= 100))
    throw new RangeError(`expected a number from ${least} to 100, got ${JSON.stringify(text)}`);
  return number;
}

/** Name of the folder for a chain held by a version of bcoin. */
export function chainName({ bytes, inputs, growth, liveBlocks, seed }: ChainParameters, bcoinVersion: string): string {
  return `chain-${GENERATION}-${bytes / 1e6}MB-inputs${inputs}-growth${growth}-live${liveBlocks}-seed${seed}-bcoin-${bcoinVersion}`;
}
