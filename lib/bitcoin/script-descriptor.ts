// Output descriptors that name one script by itself (BIP385): `addr(...)` and `raw(...)`, with or without a checksum (BIP380).

import { scriptOfDestination, type AddressPrefixes } from './address';
import { writeDescriptorChecksum } from './descriptor-checksum';
import { TextWriter } from './text-writer';

const CHECKSUM_LENGTH = 8;

/** Of a script of 100,000 bytes with its checksum. */
const MOST_CHARACTERS = 200_014;

/** All that may stand in front of a checksum. */
const CHARACTERS = /^[ -~]*$/;

/** The descriptors of scripts that are made of keys. */
const OF_KEYS = /^(?:pk|pkh|wpkh|combo|multi|sortedmulti|sh|wsh|tr|rawtr)\(/;

/** A text that describes no script, in Bitcoin Core's words. */
export class DescriptorError extends Error {
  override readonly name = 'DescriptorError';
}

/** @throws DescriptorError, also for scripts that are made of keys */
export function scriptOfDescriptor(text: string, prefixes: readonly AddressPrefixes[]): Buffer {
  if (text.length > MOST_CHARACTERS) throw new DescriptorError(`more than ${MOST_CHARACTERS} characters`);
  const expression = withoutChecksum(text);
  const [, kind, inside = ''] = /^(addr|raw)\((.*)\)$/s.exec(expression) ?? [];
  if (kind === 'raw') {
    if (!/^(?:[0-9a-fA-F]{2})+$/.test(inside)) throw new DescriptorError('Raw script is not hex');
    return Buffer.from(inside, 'hex');
  }
  if (kind === 'addr') {
    const script = scriptOfDestination(inside, prefixes);
    if (typeof script === 'string') throw new DescriptorError('Address is not valid');
    return script;
  }
  throw new DescriptorError(
    OF_KEYS.test(expression) ? 'Only addr() and raw() are understood here, no keys' : `'${expression}' is not a valid descriptor function`
  );
}

/** @throws DescriptorError */
function withoutChecksum(text: string): string {
  const [expression = '', checksum, more] = text.split('#');
  if (more !== undefined) throw new DescriptorError("Multiple '#' symbols");
  if (checksum !== undefined && checksum.length !== CHECKSUM_LENGTH)
    throw new DescriptorError(`Expected ${CHECKSUM_LENGTH} character checksum, not ${checksum.length} characters`);
  if (!CHARACTERS.test(expression)) throw new DescriptorError('Invalid characters in payload');
  if (checksum === undefined) return expression;
  const writer = new TextWriter();
  writer.utf8(expression);
  writeDescriptorChecksum(writer, 0);
  const computed = writer.toString().slice(-CHECKSUM_LENGTH);
  if (computed !== checksum) throw new DescriptorError(`Provided checksum '${checksum}' does not match computed checksum '${computed}'`);
  return expression;
}
