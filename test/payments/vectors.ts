// The vectors of test/vectors/payments, read for tests.

import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PaymentError, type PaymentErrorCode } from '../../lib/payments/error';
import { TrustRoots } from '../../lib/payments/x509/trust';
import type { Identity } from '../../lib/payments/identity';

export const vectorsFolder = join(__dirname, '../vectors/payments');

/** A time at which all certificates but `expired` are valid. */
export const VALID_TIME = new Date('2027-01-01T00:00:00Z');

/** Bytes of a file of hex with comments. */
export function vector(name: string): Buffer {
  return Buffer.from(readFileSync(join(vectorsFolder, name), 'utf8').replace(/#.*/g, '').replace(/\s/g, ''), 'hex');
}

/** Names of the message vectors, `<Message>.<case>`. */
export function messageVectors(): string[] {
  return readdirSync(join(vectorsFolder, 'messages'))
    .filter((file) => file.endsWith('.hex'))
    .map((file) => file.slice(0, -4));
}

export function pem(name: string): string {
  return readFileSync(join(vectorsFolder, 'certificates', `${name}.pem`), 'utf8');
}

export function der(name: string): Buffer {
  return new X509Certificate(pem(name)).raw;
}

export function keyFile(name: string): string {
  return join(vectorsFolder, 'certificates', `${name}.key`);
}

export function key(name: string): KeyObject {
  return createPrivateKey(readFileSync(keyFile(name)));
}

/** The identity of the holder of a certificate; most leaves share the key of `p256`. */
export function identity(certificates: readonly string[], keyName = 'p256'): Identity {
  return { key: key(keyName), certificates: certificates.map(der) };
}

export function testRoots(...names: readonly string[]): TrustRoots {
  return new TrustRoots((names.length > 0 ? names : ['root']).map(pem));
}

/** The code of the PaymentError that is thrown; fails for anything else. */
export function codeOf(action: () => unknown): PaymentErrorCode {
  return errorOf(action).code;
}

/** The PaymentError that is thrown; fails for anything else. */
export function errorOf(action: () => unknown): PaymentError {
  let result: unknown;
  try {
    result = action();
  } catch (error) {
    if (error instanceof PaymentError) return error;
    throw error;
  }
  throw new Error(`expected a PaymentError, got ${String(result)}`);
}

/** The PaymentError that the promise is rejected with; fails for anything else. */
export async function rejection(promise: Promise<unknown>): Promise<PaymentError> {
  let result: unknown;
  try {
    result = await promise;
  } catch (error) {
    if (error instanceof PaymentError) return error;
    throw error;
  }
  throw new Error(`expected a PaymentError, got ${String(result)}`);
}
