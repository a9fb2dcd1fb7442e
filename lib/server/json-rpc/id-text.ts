// The id of a call as text. JavaScript's numbers cannot hold every id that a client may send, so ids are taken from the text, and come back as
// Bitcoin Core (UniValue) prints them: numbers as they were written, strings with its escapes, no white space.

import { JsonWriter } from '../../views/json-writer';
import { HALF_A_PAIR } from './values';
import type { JsonItem } from '../json/scan';

/** Each text in an id takes time of its own. */
const MOST_BYTES = 16_384;

const ID_NAME = '"id"';
const SPACE = 0x20;
const COMMA = 0x2c;
const COLON = ':';
const CLOSING_BRACE = 0x7d;

const TEXT_OR_OTHER = /"(?:[^"\\]|\\.)*"|[^"]+/g;

/** The id of a call that is JSON; undefined: it has none. `null` in the place of a very long one. */
export function idTextOf(bytes: Buffer, { id }: Pick<JsonItem, 'id'>): string | undefined {
  if (id === undefined) return undefined;
  const [begin, end] = id;
  return end - begin > MOST_BYTES ? 'null' : printed(bytes.toString('utf8', begin, end).trim());
}

/** The id of a call that was parsed, if it is a number that stands in the call's text as JavaScript prints it: nearly all are. */
export function plainIdOf(call: string, id: unknown): string | undefined {
  if (typeof id !== 'number') return undefined;
  const name = call.indexOf(ID_NAME);
  // A name that stands there once, without anything escaped, is the one of the member that JSON.parse has found.
  if (call.includes(ID_NAME, name + 1) || call.includes('\\')) return undefined;
  let at = name + ID_NAME.length + COLON.length;
  // Python's clients write a space.
  if (call.charCodeAt(at) === SPACE) at++;
  const text = String(id);
  if (!call.startsWith(text, at)) return undefined;
  const next = call.charCodeAt(at + text.length);
  return next === COMMA || next === CLOSING_BRACE ? text : undefined;
}

function printed(json: string): string {
  if (json.startsWith('"')) return printedText(json);
  // Outside of texts there is white space to leave out.
  return json.startsWith('[') || json.startsWith('{')
    ? json.replace(TEXT_OR_OTHER, (part) => (part.startsWith('"') ? printedText(part) : part.replace(/\s+/g, '')))
    : json;
}

function printedText(json: string): string {
  const text = JSON.parse(json) as string;
  // What is no character is left escaped.
  if (HALF_A_PAIR.test(text)) return JSON.stringify(text);
  const writer = new JsonWriter();
  writer.string(text);
  return writer.toString();
}
