// Options of the service that do not exist, and what was meant.

import { distance } from 'fastest-levenshtein';
import { OptionError } from './errors';
import { bareName, flagOf, variableOf, VARIABLE_PREFIX } from './names';
import { NAMES } from './table';
import type { HostConfig } from '../../lib/node/host';

/** A word may have one wrong letter for each group of this many letters. */
const LETTERS_PER_MISTAKE = 4;

/** Bitcoin Core answers /rest only with this option. */
const CORES_SWITCH = 'rest';

/** @throws OptionError for the first `rest-…` option among the settings that is unknown */
export function refuseUnknown(config: HostConfig): void {
  const sentence = unknownOption(config);
  if (sentence !== undefined) throw new OptionError(sentence);
}

function unknownOption({ args, env, data, options }: HostConfig): string | undefined {
  const known = NAMES.map(bareName);
  const textOf = (given: string, key: string, spell: (name: string) => string): string => {
    if (key === CORES_SWITCH) return `${given} is not needed: the plugin answers /rest wherever it is loaded`;
    const close = NAMES[known.indexOf(nearest(key, known, Math.ceil(key.length / LETTERS_PER_MISTAKE)) ?? '')];
    const hint = close === undefined ? `it knows ${NAMES.map(spell).join(', ')}` : `did you mean ${spell(close)}?`;
    return `${given} is not an option of the REST service; ${hint}`;
  };
  for (const key of [args, data, options].flatMap((source) => Object.keys(source)))
    if (key.startsWith('rest') && !known.includes(key)) return textOf(asGiven(key), key, flagOf);
  // bcoin ignores variables with lower-case letters in their names, and empty ones, so they are looked up in process.env too.
  for (const name of [...Object.keys(process.env), ...Object.keys(env).map((key) => `${VARIABLE_PREFIX}${key.toUpperCase()}`)]) {
    if (!/^BCOIN_REST/i.test(name)) continue;
    const key = bareName(name.slice(VARIABLE_PREFIX.length));
    if (!known.includes(key) || name !== name.toUpperCase()) return textOf(name, key, variableOf);
  }
  return undefined;
}

/** A flag as it stands on the command line. Elsewhere its hyphens are not known. */
function asGiven(key: string): string {
  const flags = process.argv.flatMap((arg) => /^--[^=]+/.exec(arg)?.[0] ?? []);
  return flags.find((flag) => bareName(flag) === key) ?? flagOf(key.replace(/^rest(?=.)/, 'rest-'));
}

/** The word that is `most` letters or fewer from the given one, and of these the nearest. */
export function nearest(given: string, words: readonly string[], most: number): string | undefined {
  const [found] = words.map((word) => ({ word, slips: distance(given, word) })).sort((a, b) => a.slips - b.slips);
  return found === undefined || found.slips > most ? undefined : found.word;
}
