// The checksum of an output descriptor (BIP380): eight symbols of a BCH code over GF(32), like that of bech32. Each character is in one
// of three groups, and adds a symbol for its place in the group; every three characters are followed by a symbol for their groups. The
// state has 40 bits, kept in halves of 20. Three characters make four symbols, which are as long as a half, so that they cost seven
// look-ups.

import { BECH32_ALPHABET } from './bech32';
import type { TextWriter } from './text-writer';

const CHARACTERS = "0123456789()[],'/*abcdefgh@:$%{}" + 'IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~' + 'ijklmnopqrstuvwxyzABCDEFGH`#"\\ ';
const GENERATORS = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn];

const HASH = 0x23;
const SYMBOLS = 8;
const HALF_BITS = 20;
const HALF = (1 << HALF_BITS) - 1;

/** Place and group of each character. Characters outside the set count as its first one; descriptors of scripts have no such characters. */
const places = Array.from({ length: 256 }, (_, code) => Math.max(0, CHARACTERS.indexOf(String.fromCharCode(code))));

/** What the first, second and third of three characters add to their four symbols. */
const FIRST = Uint32Array.from(places, (place) => ((place & 31) << 15) + (place >> 5) * 9);
const SECOND = Uint32Array.from(places, (place) => ((place & 31) << 10) + (place >> 5) * 3);
const THIRD = Uint32Array.from(places, (place) => ((place & 31) << 5) + (place >> 5));

/** One step of the code with the symbol zero. */
function shifted(state: bigint): bigint {
  const top = state >> 35n;
  return GENERATORS.reduce((sum, generator, bit) => ((top >> BigInt(bit)) & 1n ? sum ^ generator : sum), (state & 0x7_ffff_ffffn) << 5n);
}

/**
 * What ten bits of the state, from bit number `bits` up, become in `steps` steps. The code is linear: the results for several parts of
 * the state are XORed.
 */
function tableOf(bits: bigint, steps: number): { readonly high: Uint32Array; readonly low: Uint32Array } {
  const states = Array.from({ length: 1_024 }, (_, index) => {
    let state = BigInt(index) << bits;
    for (let i = 0; i < steps; i++) state = shifted(state);
    return state;
  });
  return {
    high: Uint32Array.from(states, (state) => Number(state >> BigInt(HALF_BITS))),
    low: Uint32Array.from(states, (state) => Number(state & BigInt(HALF)))
  };
}

const { high: UPPER_HIGH, low: UPPER_LOW } = tableOf(30n, 4);
const { high: LOWER_HIGH, low: LOWER_LOW } = tableOf(20n, 4);
/** For one step, by the five bits at the top. */
const { high: STEP_HIGH, low: STEP_LOW } = tableOf(35n, 1);

/** The state after the text so far, in halves of 20 bits. */
let high = 0;
let low = 0;
const checksum = new Uint8Array(SYMBOLS);

function addSymbol(symbol: number): void {
  const top = high >>> 15;
  high = (((high & 0x7fff) << 5) | (low >>> 15)) ^ (STEP_HIGH[top] as number);
  low = (((low & 0x7fff) << 5) | symbol) ^ (STEP_LOW[top] as number);
}

function addFour(symbols: number): void {
  const [upper, lower] = [high >>> 10, high & 1023];
  high = low ^ (UPPER_HIGH[upper] as number) ^ (LOWER_HIGH[lower] as number);
  low = symbols ^ (UPPER_LOW[upper] as number) ^ (LOWER_LOW[lower] as number);
}

/** Writes `#` and the checksum of the text that was written from `start` on. */
export function writeDescriptorChecksum(writer: TextWriter, start: number): void {
  const { memory: text, length: end } = writer;
  high = 0;
  low = 1;
  let at = start;
  for (; at + 2 < end; at += 3) {
    addFour((FIRST[text[at] as number] as number) + (SECOND[text[at + 1] as number] as number) + (THIRD[text[at + 2] as number] as number));
  }
  addRest(text, at, end);
  addFour(0);
  addFour(0);
  low ^= 1;
  for (let i = 0; i < SYMBOLS; i++) checksum[i] = ((i < 4 ? high : low) >>> (15 - 5 * (i & 3))) & 31;
  writer.char(HASH);
  writer.digits(checksum, 0, SYMBOLS, BECH32_ALPHABET);
}

/** Adds the last one or two characters, then the symbol for their groups. */
function addRest(text: Buffer, at: number, end: number): void {
  if (at === end) return;
  let groups = 0;
  for (; at < end; at++) {
    const place = places[text[at] as number] as number;
    addSymbol(place & 31);
    groups = groups * 3 + (place >> 5);
  }
  addSymbol(groups);
}
