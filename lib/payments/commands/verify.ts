// `payments verify`: says who signed a PaymentRequest, and with its exit code whether that
// is somebody who is trusted.

import { readFile } from 'node:fs/promises';
import { verifyPaymentRequest, type TrustPolicy } from '../verify';
import { TrustRoots, certificatesOfPem } from '../x509/trust';
import type { CommandIo } from './command';
import { printed } from './print';
import { UsageError, hexOption, integerOption, oneFile, parseArguments } from './usage';

const PIN_SIZE = 32;

const OPTIONS = {
  roots: { type: 'string' },
  pin: { type: 'string', multiple: true },
  'allow-sha1': { type: 'boolean' },
  time: { type: 'string' },
  json: { type: 'boolean' }
} as const;

export async function verifyFile(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArguments(args, OPTIONS);
  const policy: TrustPolicy = {
    roots: values.roots === undefined ? TrustRoots.builtIn() : await readRoots(values.roots),
    pinnedKeys: (values.pin ?? []).map(pinOption),
    allowSha1: values['allow-sha1'] ?? false,
    time: values.time === undefined ? io.now() : new Date(Number(integerOption('time', values.time)) * 1_000)
  };
  const verification = verifyPaymentRequest(await readFile(oneFile(positionals)), policy);
  io.out(printed(verification, values.json ?? false));
  return verification.status === 'trusted' ? 0 : 1;
}

async function readRoots(file: string): Promise<TrustRoots> {
  const certificates = certificatesOfPem(await readFile(file, 'utf8'));
  if (certificates.length === 0) throw new UsageError(`--roots: certificates in PEM expected, ${file} has none.`);
  return new TrustRoots(certificates);
}

function pinOption(value: string): Buffer {
  const pin = hexOption('pin', value);
  if (pin.length !== PIN_SIZE) throw new UsageError(`--pin: the ${PIN_SIZE} bytes of a SHA-256 expected, ${pin.length} came.`);
  return pin;
}
