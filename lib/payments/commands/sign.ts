// `payments sign`: writes a PaymentRequest signed with a key and its certificates.

import { readFile, writeFile } from 'node:fs/promises';
import { identityOfPem } from '../identity';
import { decodePaymentRequest } from '../messages';
import { signPaymentRequest } from '../signature';
import type { CommandIo } from './command';
import { printed } from './print';
import { oneFile, parseArguments, required } from './usage';

const OPTIONS = {
  key: { type: 'string' },
  certificates: { type: 'string' },
  out: { type: 'string' },
  json: { type: 'boolean' }
} as const;

export async function signFile(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArguments(args, OPTIONS);
  const out = required('out', values.out);
  const key = await readFile(required('key', values.key), 'utf8');
  const certificates = await readFile(required('certificates', values.certificates), 'utf8');
  const request = decodePaymentRequest(await readFile(oneFile(positionals)));
  const identity = identityOfPem(key, certificates, io.now());
  const signed = signPaymentRequest(request, identity);
  await writeFile(out, signed);
  io.out(printed({ written: out, bytes: signed.length, certificates: identity.certificates.length }, values.json ?? false));
  return 0;
}
