// Why a PSBT cannot be read, in Bitcoin Core's words.

import { MalformedBytesError } from '../reader';

export class PsbtError extends Error {
  override readonly name = 'PsbtError';
}

/** Its streams have this behind each of their errors. */
export const broken = (words: string): PsbtError => new PsbtError(`${words}: iostream error`);

/** For bytes that do not have the form in which they are read. */
export function brokenBytes({ expected }: MalformedBytesError): PsbtError {
  if (expected.startsWith('a compact size in')) return broken('non-canonical ReadCompactSize()');
  if (expected.startsWith('a compact size of')) return broken('ReadCompactSize(): size too large');
  if (expected.startsWith('a witness item')) return broken('Superfluous witness record');
  if (expected.startsWith('inputs or')) return broken('Unknown transaction optional data');
  return broken('SpanReader::read(): end of data');
}
