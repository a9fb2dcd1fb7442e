// What a text that somebody searches for may be. Only the node knows what it is.

export type Reading =
  | { readonly kind: 'height'; readonly height: number }
  /** Of a block, a transaction or a script. */
  | { readonly kind: 'hash'; readonly hash: string }
  | { readonly kind: 'outpoint'; readonly txid: string; readonly output: number }
  | { readonly kind: 'address'; readonly address: string }
  /** Sentences about what it could have been. `beginning`: of an address, if it may be one. */
  | { readonly kind: 'nothing'; readonly hints: readonly string[]; readonly beginning?: string };

const HASH_DIGITS = 64;
const BASE58 = /^[1-9A-HJ-NP-Za-km-z]+$/;
const BECH32_DATA = /^[02-9ac-hj-np-z]+$/;

/** Of an address; with fewer characters it says little. With more it has the form of an address, or is perhaps a key with a mistake. */
const BEGINNING = /^(?=.*[A-Za-z])[\dA-Za-z]{4,25}$/;

/** The beginnings of witness addresses, and the networks that they are of. bcoin's regtest and simnet have their own. */
const WITNESS_PREFIXES: Readonly<Record<string, string>> = {
  bc: 'main',
  tb: 'testnet',
  bcrt: 'regtest',
  rb: 'bcoin’s regtest',
  sb: 'simnet',
  ltc: 'Litecoin',
  bchtest: 'Bitcoin Cash'
};

/** What nobody but its owner should see, by the names under which it is spoken of instead. */
const SECRETS: ReadonlyMap<string, string> = new Map([
  ['a private key', 'This looks like a private key. It was not sent to the node. Nobody but you should ever see it.'],
  [
    'an extended key',
    'This looks like an extended key, from which all addresses of a wallet follow. It was not sent to the node. Search for one address.'
  ],
  [
    'a recovery phrase',
    'This looks like the words from which a wallet is restored. They were not sent to the node. Nobody but you should ever see them.'
  ]
]);

/** How many words a recovery phrase has at least (BIP39), and what can be one: in Chinese a character, in Korean two. */
const FEWEST_WORDS = 12;
const WORD = /^(?:[\p{L}\p{M}]{3,24}|\p{Script=Han}|\p{Script=Hangul}{2})$/u;

/** A text as it may stand in an address, which browsers send to the node when they load it again: the name of a secret in its place. */
export function withoutSecret(typed: string): string {
  return secretIn(typed) ?? typed;
}

export function readingOf(typed: string): Reading {
  const secret = SECRETS.get(secretIn(typed) ?? typed);
  if (secret !== undefined) return { kind: 'nothing', hints: [secret] };
  const text = stripped(typed);
  const digits = text.replace(/[,_' ]/g, '');
  if (/^\d{1,9}$/.test(digits)) return { kind: 'height', height: Number(digits) };
  if (/^[\da-f]{64}$/i.test(text)) return { kind: 'hash', hash: text.toLowerCase() };
  const [, txid, output] = /^([\da-f]{64})[:,;/_-](\d{1,7})$/i.exec(text) ?? [];
  if (txid !== undefined) return { kind: 'outpoint', txid: txid.toLowerCase(), output: Number(output) };
  const witness = witnessPartsOf(text);
  if (witness !== undefined && BECH32_DATA.test(witness.data) && isOneCase(text)) return { kind: 'address', address: text.toLowerCase() };
  if (BASE58.test(text) && text.length >= 26 && text.length <= 36) return { kind: 'address', address: text };
  return { kind: 'nothing', hints: hintsFor(text), ...(BEGINNING.test(text) && { beginning: text }) };
}

/** Without what often comes along: quotes, spaces between groups, `bitcoin:`, the address of another explorer. */
function stripped(typed: string): string {
  let text = typed.trim().replace(/^["'<]+|["'>]+$/g, '');
  if (/^https?:\/\//i.test(text)) text = text.split(/[?#]/)[0]?.replace(/\/+$/, '').split('/').at(-1) ?? '';
  text = text.replace(/^bitcoin:/i, '').split('?')[0] ?? '';
  const joined = text.replace(/\s+/g, '');
  return /^0x[\da-f]+$/i.test(joined) ? joined.slice(2) : joined;
}

/** The name of what a text seems to be, or to contain; undefined: no secret. */
function secretIn(typed: string): string | undefined {
  // Between words there may be numbers, commas, or nothing, and around them other text.
  const words = typed
    .replace(/[^\p{L}\p{M}]+/gu, ' ')
    .replace(/\p{Script=Han}/gu, ' $& ')
    .trim()
    .split(/ +/);
  let inRow = 0;
  for (const word of words) if ((inRow = WORD.test(word) ? inRow + 1 : 0) >= FEWEST_WORDS) return 'a recovery phrase';
  // Keys stand alone, perhaps with spaces in them, or within something, as a descriptor.
  const pieces = [typed, typed.replace(/\s+/g, '')].flatMap((text) => text.split(/[^\dA-Za-z]+/));
  if (pieces.some(isPrivateKey)) return 'a private key';
  return pieces.some((piece) => /^[xyztuv]p(?:rv|ub)[\dA-Za-z]{50}/i.test(piece)) ? 'an extended key' : undefined;
}

/** As wallets export it, also encrypted (BIP38), or as codex32 (BIP93). */
function isPrivateKey(text: string): boolean {
  const { length } = text;
  if (/^ms1[02-9][02-9ac-hj-np-z]{44,}$/i.test(text)) return true;
  return BASE58.test(text) && ((/^[5KL9c]/.test(text) && (length === 51 || length === 52)) || (text.startsWith('6P') && length === 58));
}

function witnessPartsOf(text: string): { readonly prefix: string; readonly data: string } | undefined {
  const lower = text.toLowerCase();
  const [, prefix, data] = /^([a-z]{2,10})1(.{8,87})$/.exec(lower) ?? [];
  return prefix !== undefined && data !== undefined && prefix in WITNESS_PREFIXES ? { prefix, data } : undefined;
}

const isOneCase = (text: string): boolean => text === text.toLowerCase() || text === text.toUpperCase();

function hintsFor(text: string): string[] {
  if (text === '') return ['Type a height, a hash, an output (txid:0) or an address.'];
  if (/^-\d+$/.test(text)) return ['Heights begin at 0.'];
  if (/^\d+$/.test(text)) return ['No chain is as high as that. A hash has 64 hexadecimal digits.'];
  if (/^ln(bc|tb|bcrt)/i.test(text)) return ['This looks like a Lightning invoice. The chain does not show what is paid over Lightning.'];
  if (/^[\da-f]+$/i.test(text)) return hexHints(text);
  const witness = witnessPartsOf(text);
  if (witness !== undefined) return witnessHints(text, witness.data);
  if (text.length >= HASH_DIGITS - 4 && text.length <= HASH_DIGITS + 4 && (text.match(/[\da-f]/gi) ?? []).length >= HASH_DIGITS - 8)
    return [wrongDigits(text)];
  if (/^[\da-f]{64}/i.test(text)) return ['An output is written as its txid, a colon and its number: txid:0.'];
  if (/^[13mn2][\da-z]{20,40}$/i.test(text)) return base58Hints(text);
  return [
    'This is neither a height, nor a hash, an output or an address.',
    'A height is a number, a hash has 64 hexadecimal digits, an output is txid:0.'
  ];
}

function hexHints(text: string): string[] {
  const { length } = text;
  if (length === 66 || length === 130) return ['This looks like a public key. Search for its address.'];
  if (length === 40) return ['This looks like the hash of a key or script (20 bytes). Search for its address.'];
  const few = `A hash has ${HASH_DIGITS} digits; this has ${length}.`;
  if (length > HASH_DIGITS) return [few, 'It could be a script, or a raw transaction: the explorer finds transactions by txid.'];
  return [length >= HASH_DIGITS - 8 ? `${few} ${HASH_DIGITS - length} are missing.` : few];
}

function wrongDigits(text: string): string {
  const wrong = [...new Set(text.match(/[^\da-f]/gi) ?? [])].slice(0, 5);
  return `A hash has ${HASH_DIGITS} digits from 0 to 9 and a to f; this has ${wrong.map((one) => `“${one}”`).join(', ')}.`;
}

function witnessHints(text: string, data: string): string[] {
  if (!isOneCase(text)) return ['Addresses of this kind are all in small letters, or all in capitals.'];
  const wrong = [...new Set(data.match(/[^02-9ac-hj-np-z]/g) ?? [])].slice(0, 5);
  return [`Behind their beginning, addresses of this kind have no ${wrong.map((one) => `“${one}”`).join(', ')}.`];
}

function base58Hints(text: string): string[] {
  const wrong = [...new Set(text.match(/[0OIl]/g) ?? [])];
  if (wrong.length > 0)
    return [`Addresses of this kind have no ${wrong.map((one) => `“${one}”`).join(', ')}: look-alikes of other letters and digits.`];
  return [`An address of this kind has 26 to 35 characters; this has ${text.length}.`];
}
