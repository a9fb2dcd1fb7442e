// How long the long tests run, and the seed of their random choices.
//   TEST_SCALE  number of rounds, in multiples of those in `npm test` (default 1)
//   TEST_SEED   the seed that a title printed, to repeat a run

function wholeNumber(name: string): number | undefined {
  const text = process.env[name];
  if (text === undefined) return undefined;
  const number = Number(text);
  if (!Number.isInteger(number)) throw new Error(`${name} must be a whole number, not '${text}'`);
  return number;
}

export function testScale(): number {
  return wholeNumber('TEST_SCALE') ?? 1;
}

export function testSeed(): number {
  return wholeNumber('TEST_SEED') ?? Math.floor(Math.random() * 0x7fff_ffff);
}
