// Who made a snapshot: Ed25519 (RFC 8032) over the bytes of its manifest. A key's public half is shown and given as 64 hex digits.

import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isMissingFile } from '../system/system-errors';
import { writePrivate } from '../system/private-file';
import { SnapshotError } from './errors';

const KIND = 'ed25519';
const KEY_TEXT = /^[0-9a-f]{64}$/;
const SIGNATURE_TEXT = /^[0-9a-f]{128}$/;
/** Longer texts are not looked at. */
export const MOST_SIGNATURE_BYTES = 4_096;

export class SigningKey {
  readonly #key: KeyObject;
  /** The public half. */
  readonly trusted: string;

  private constructor(key: KeyObject) {
    this.#key = key;
    this.trusted = Buffer.from(createPublicKey(key).export({ format: 'jwk' }).x ?? '', 'base64url').toString('hex');
  }

  /** The key in a file (PEM), which is made, readable by its owner only, if it does not exist. @throws SnapshotError, errors of the system */
  static async at(path: string): Promise<SigningKey> {
    const pem = await readFile(path).catch((error: unknown) => {
      if (!isMissingFile(error)) throw error;
      return undefined;
    });
    if (pem !== undefined) return new SigningKey(keyIn(pem, path));
    const { privateKey } = generateKeyPairSync(KIND);
    await writePrivate(path, privateKey.export({ type: 'pkcs8', format: 'pem' }));
    return new SigningKey(privateKey);
  }

  /** The text of the file with the signature. */
  sign(manifest: Buffer): string {
    return `${JSON.stringify({ key: this.trusted, signature: sign(null, manifest, this.#key).toString('hex') })}\n`;
  }
}

function keyIn(pem: Buffer, path: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(pem);
  } catch (error) {
    throw new SnapshotError(`${path} is not a key in PEM`, { cause: error });
  }
  if (key.asymmetricKeyType !== KIND) throw new SnapshotError(`${path} is a key of type ${String(key.asymmetricKeyType)}, not ${KIND}`);
  return key;
}

/** Whether a text is the public half of a key. */
export const isKeyText = (text: string): boolean => KEY_TEXT.test(text);

/**
 * Checks a signature, and returns the key that made it. `trusted`: whose signature it must be; undefined: anybody's.
 * @throws SnapshotError
 */
export function signerOf(manifest: Buffer, signatureText: string, trusted: string | undefined): string {
  const { key, signature } = signatureIn(signatureText);
  if (trusted !== undefined && key !== trusted) throw new SnapshotError(`the snapshot is signed by ${key}, not by ${trusted}`);
  const publicKey = createPublicKey({
    key: { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(key, 'hex').toString('base64url') },
    format: 'jwk'
  });
  if (!verify(null, manifest, publicKey, Buffer.from(signature, 'hex')))
    throw new SnapshotError(
      'the signature of the snapshot is wrong: its manifest was changed, or its files were put together from two snapshots'
    );
  return key;
}

function signatureIn(text: string): { readonly key: string; readonly signature: string } {
  try {
    const { key, signature } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (typeof key === 'string' && isKeyText(key) && typeof signature === 'string' && SIGNATURE_TEXT.test(signature))
      return { key, signature };
  } catch {
    // Then it is not a signature, either.
  }
  throw new SnapshotError('the file with the signature of the snapshot is damaged');
}
