// Looks through JSON before JSON.parse has it, which works on all of it in one turn of the event loop: counts what it would make, and finds what
// it does not say. JSON.parse says whether it is JSON at all.

export interface JsonBounds {
  /** Items of the list, if it is one. */
  readonly items: number;
  /** Bytes of an item; absent: as many as there are. */
  readonly bytes?: number;
  /** Values in an item: those of lists and objects inside it, about. */
  readonly values: number;
  /** Names in the objects of an item: one that is new takes JSON.parse ten times as long as other values. */
  readonly names: number;
  /** Values in all items together. */
  readonly allValues: number;
}

/** The bound that is exceeded, or `frame`: what is around the items is no JSON. */
export type ScanFault = keyof JsonBounds | 'frame';

export interface JsonItem {
  /** Where its bytes are. What is between the brackets and commas of the list may be no JSON. */
  readonly begin: number;
  readonly end: number;
  /** The names in all objects of the item. One that comes twice counts twice, while JSON.parse keeps only the last. */
  readonly names: number;
  /** Where the value of its member `id` is; of duplicate ones the last. */
  readonly id: readonly [begin: number, end: number] | undefined;
}

export interface JsonScan {
  readonly isList: boolean;
  /** Of a list; otherwise what was scanned is the only one. */
  readonly items: readonly JsonItem[];
  /** How deep lists and objects are nested. */
  readonly depth: number;
  /** Whether half of a surrogate pair, which is no character, is escaped in a text. */
  readonly hasHalfAPair: boolean;
}

/** Bytes between two yields. */
const STEP_BYTES = 65_536;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
const SMALL_D = 0x64;
const SMALL_I = 0x69;
const SMALL_U = 0x75;
/** Capital letters differ from small ones in this bit. */
const CASE_BIT = 0x20;

/** `\ud83d` */
const ESCAPE_LENGTH = 6;

const ID_NAME = '"id"';
const ESCAPED_ID_NAME = /^"(i|\\u0069)(d|\\u0064)"$/;
const LONGEST_ID_NAME = '"\\u0069\\u0064"'.length;

/** Scans UTF-8. Yields after every few thousand bytes. */
export function* scanJson(bytes: Buffer, bounds: JsonBounds): Generator<void, JsonScan | ScanFault> {
  const scanner = new Scanner(bytes, bounds);
  for (let end = STEP_BYTES; end < bytes.length; end += STEP_BYTES) {
    const fault = scanner.goOn(end);
    if (fault !== undefined) return fault;
    yield;
  }
  return scanner.goOn(bytes.length) ?? scanner.finish();
}

/** As `scanJson`, for what is known to be short. */
export function scanShortJson(bytes: Buffer, bounds: JsonBounds): JsonScan | ScanFault {
  const scanner = new Scanner(bytes, bounds);
  return scanner.goOn(bytes.length) ?? scanner.finish();
}

class Scanner {
  readonly #bytes: Buffer;
  readonly #bounds: JsonBounds;
  readonly #mostBytes: number;
  readonly #items: JsonItem[] = [];
  #at = 0;
  /** Undefined up to the first character. */
  #isList: boolean | undefined;
  /** Whether the list is over. */
  #isEnded = false;
  #level = 0;
  #depth = 0;
  #allValues = 0;
  #hasHalfAPair = false;
  /** Where the text begins that is being scanned, or -1. */
  #text = -1;
  /** Whether the latest text is `id`. */
  #isId = false;
  /** Where the value of such a member of the item begins, or -1. */
  #idValue = -1;
  // The item.
  #begin = 0;
  #isBlank = true;
  #values = 0;
  #names = 0;
  #id: JsonItem['id'];

  constructor(bytes: Buffer, bounds: JsonBounds) {
    this.#bytes = bytes;
    this.#bounds = bounds;
    this.#mostBytes = bounds.bytes ?? Infinity;
  }

  /** Scans up to `end`, or a few bytes more. */
  goOn(end: number): ScanFault | undefined {
    const bytes = this.#bytes;
    let at = this.#at;
    let fault: ScanFault | undefined;
    while (at < end && fault === undefined) {
      if (this.#text >= 0) at = this.#goOnWithText(at, end);
      else {
        const code = bytes[at] as number; // within
        if (!isSpace(code)) fault = this.#take(code, at);
        at++;
      }
    }
    this.#at = at;
    return fault ?? (!this.#isEnded && at - this.#begin > this.#mostBytes ? 'bytes' : undefined);
  }

  /** To be called when everything is scanned. */
  finish(): JsonScan | ScanFault {
    const isList = this.#isList === true;
    if (isList && !this.#isEnded) return 'frame';
    if (!isList) this.#endItem(this.#bytes.length);
    return { isList, items: this.#items, depth: this.#depth, hasHalfAPair: this.#hasHalfAPair };
  }

  /** Takes a character between texts. */
  #take(code: number, at: number): ScanFault | undefined {
    if (this.#isEnded) return 'frame';
    this.#isList ??= code === OPENING_BRACKET;
    switch (code) {
      case QUOTE:
        this.#text = at;
        break;
      case COLON:
        if (this.#isId && this.#isAmongMembers) this.#idValue = at + 1;
        if (++this.#names > this.#bounds.names) return 'names';
        break;
      case COMMA:
        this.#endIdValue(at);
        if (this.#isList && this.#level === 1) return this.#endItem(at) ?? this.#beginItem(at + 1);
        return this.#countValue();
      case OPENING_BRACKET:
      case OPENING_BRACE:
        this.#depth = Math.max(this.#depth, ++this.#level);
        if (this.#isList && this.#level === 1) return this.#beginItem(at + 1);
        this.#isBlank = false;
        return this.#countValue();
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        this.#endIdValue(at);
        this.#isEnded = --this.#level === 0 && this.#isList;
        if (!this.#isEnded) return undefined;
        if (code === CLOSING_BRACE) return 'frame';
        return this.#isBlank && this.#items.length === 0 ? undefined : this.#endItem(at);
    }
    this.#isBlank = false;
    return undefined;
  }

  /** Gives where the text ends, or its next part begins. */
  #goOnWithText(begin: number, end: number): number {
    const bytes = this.#bytes;
    let at = begin;
    while (at < end && bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++;
    if (at === end) return at;
    if (bytes[at] === BACKSLASH) return this.#endOfEscape(at);
    at++;
    this.#isId = this.#isAmongMembers && isIdName(bytes, this.#text, at);
    this.#text = -1;
    return at;
  }

  #endOfEscape(at: number): number {
    const half = halfAt(this.#bytes, at);
    const isPair = half === 'first' && halfAt(this.#bytes, at + ESCAPE_LENGTH) === 'second';
    if (half !== undefined && !isPair) this.#hasHalfAPair = true;
    return at + (isPair ? 2 * ESCAPE_LENGTH : 2);
  }

  /** Whether the members of an item are on this level. */
  get #isAmongMembers(): boolean {
    return this.#level === (this.#isList === true ? 2 : 1);
  }

  #endIdValue(at: number): void {
    if (this.#idValue < 0 || !this.#isAmongMembers) return;
    this.#id = [this.#idValue, at];
    this.#idValue = -1;
  }

  #countValue(): ScanFault | undefined {
    if (++this.#values > this.#bounds.values) return 'values';
    return ++this.#allValues > this.#bounds.allValues ? 'allValues' : undefined;
  }

  #beginItem(begin: number): ScanFault | undefined {
    this.#begin = begin;
    this.#isBlank = true;
    this.#values = 0;
    this.#names = 0;
    this.#id = undefined;
    return this.#countValue();
  }

  #endItem(end: number): ScanFault | undefined {
    if (end - this.#begin > this.#mostBytes) return 'bytes';
    this.#items.push({ begin: this.#begin, end, names: this.#names, id: this.#id });
    return this.#items.length > this.#bounds.items ? 'items' : undefined;
  }
}

/** Space, tab, and what ends a line. */
const isSpace = (code: number): boolean => code <= 0x20 && (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09);

/** Whether the text with its quotes is `id`. */
function isIdName(bytes: Buffer, begin: number, end: number): boolean {
  const [first, second] = [bytes[begin + 1], bytes[begin + 2]];
  if (end - begin === ID_NAME.length) return first === SMALL_I && second === SMALL_D;
  const isEscaped = first === BACKSLASH || second === BACKSLASH;
  return isEscaped && end - begin <= LONGEST_ID_NAME && ESCAPED_ID_NAME.test(bytes.toString('latin1', begin, end));
}

/** Which half of a surrogate pair is escaped there: `\ud800` to `\udbff`, or `\udc00` to `\udfff`. */
function halfAt(bytes: Buffer, at: number): 'first' | 'second' | undefined {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== SMALL_U || ((bytes[at + 2] ?? 0) | CASE_BIT) !== SMALL_D) return undefined;
  const digit = parseInt(String.fromCharCode(bytes[at + 3] ?? 0), 16);
  if (!(digit >= 8)) return undefined;
  return digit < 12 ? 'first' : 'second';
}
