// What JSON.parse does not say of the text of calls: the ids as they were written, and members that come twice. JavaScript's numbers cannot hold
// every id that a client may send, so ids are taken from the text, and come back as Bitcoin Core (UniValue) prints them: numbers as they were
// written, strings with its escapes, no white space.

import { COLON, COMMA, JsonWriter, QUOTE } from '../../views/json-writer';
import { HALF_A_PAIR } from './values';

export interface CallText {
  /** undefined: it has none. Of duplicate members the last counts, as in JSON.parse. `null` for arrays and objects with very many texts. */
  readonly id: string | undefined;
  /** The members of all objects in the call. One that comes twice counts twice, while JSON.parse keeps only the last. */
  readonly members: number;
}

export interface CallTexts {
  readonly calls: readonly CallText[];
  /** How deep arrays and objects are nested in the text. */
  readonly depth: number;
}

const BACKSLASH = 0x5c;
/** Brackets differ from braces in this bit. */
const BRACE_BIT = 0x20;
const OPENING = 0x7b;
const CLOSING = 0x7d;

/** The texts in arrays and objects that come back as ids: each takes time of its own. */
const MOST_TEXTS_IN_ID = 1_000;

/** `"\u0069\u0064"` */
const LONGEST_ID = 14;

/** Reads a text that must be JSON. `isBatch`: the calls are the items of an array. */
export function callTextsIn(text: string, isBatch: boolean): CallTexts {
  let call: { id: string | undefined; members: number } = { id: undefined, members: 0 };
  const calls = [call];
  /** The level of the members of calls. */
  const callLevel = isBatch ? 2 : 1;
  let level = 0;
  let depth = 0;
  /** Where the latest string ends if it is `id`, and where the value of such a member begins; otherwise -1. */
  let name = -1;
  let value = -1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const start = at;
      at = stringEnd(text, start);
      name = level === callLevel && isId(text, start, at) ? at : -1;
      continue;
    }
    if (code === COLON) {
      call.members++;
      if (level === callLevel && name >= 0) value = at + 1;
      name = -1;
      continue;
    }
    const bracket = code | BRACE_BIT;
    if (bracket === OPENING) {
      if (++level > depth) depth = level;
    } else if (code === COMMA || bracket === CLOSING) {
      if (level === callLevel && value >= 0) {
        call.id = textOf(text.slice(value, at).trim());
        value = -1;
      }
      if (code !== COMMA) level--;
      else if (level === callLevel - 1) calls.push((call = { id: undefined, members: 0 }));
    }
  }
  return { calls, depth };
}

/** Where the closing quote of the string is that begins at `start`. */
function stringEnd(text: string, start: number): number {
  for (let end = start; ;) {
    end = text.indexOf('"', end + 1);
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes++;
    if (escapes % 2 === 0) return end;
  }
}

/** Whether the string between two quotes is `id`, whose characters may be escaped. */
function isId(text: string, start: number, end: number): boolean {
  if (end - start >= LONGEST_ID) return false;
  const token = text.slice(start, end + 1);
  return token === '"id"' || (token.includes('\\') && JSON.parse(token) === 'id');
}

function textOf(json: string): string {
  if (!json.startsWith('[') && !json.startsWith('{')) return json.startsWith('"') ? stringText(json) : json;
  const parts: string[] = [];
  for (let at = 0; at < json.length;) {
    const isString = json.charCodeAt(at) === QUOTE;
    const end = isString ? stringEnd(json, at) + 1 : nextQuote(json, at);
    const part = json.slice(at, end);
    parts.push(isString ? stringText(part) : part.replace(/\s+/g, ''));
    at = end;
    // Between two texts is something else.
    if (parts.length > 2 * MOST_TEXTS_IN_ID) return 'null';
  }
  return parts.join('');
}

function nextQuote(json: string, from: number): number {
  const at = json.indexOf('"', from);
  return at < 0 ? json.length : at;
}

function stringText(json: string): string {
  const text = JSON.parse(json) as string;
  // What is no character is left escaped.
  if (HALF_A_PAIR.test(text)) return JSON.stringify(text);
  const writer = new JsonWriter();
  writer.string(text);
  return writer.toString();
}
