// How long the long tests go on, and where chance begins.
//   TEST_SCALE  times as many rounds as `npm test` has (default 1)
//   TEST_SEED   the seed that a title printed, to see the same again

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
