// The key and certificates in the merchant's folder with which requests are signed. They are read at start, and again when they have
// changed, so that certificates can be renewed while the node runs.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isMissingFile } from '../system/system-errors';
import { PaymentError, messageOf } from '../payments/error';
import { checkCertificates, checkIdentity, readCertificates, readPrivateKey, type Identity } from '../payments/identity';

/** If both files exist, requests are signed. */
const KEY_FILE = 'key.pem';
const CERTIFICATES_FILE = 'certificates.pem';

export interface SigningFilesParts {
  readonly folder: string;
  readonly clock: () => Date;
  readonly logger: { error(message: string): void; info(message: string): void };
}

export class SigningFiles {
  readonly #parts: SigningFilesParts;
  #identity: Identity | undefined;
  /** The files as they were when they were read last. */
  #seen: string;

  /** Only called by `open`, which has read the files. */
  constructor(parts: SigningFilesParts, identity: Identity | undefined, seen: string) {
    this.#parts = parts;
    this.#identity = identity;
    this.#seen = seen;
  }

  /**
   * Reads the files; without both of them requests are not signed.
   * @throws PaymentError `cannot-sign` naming the file that is wrong, or an Error of the file system.
   */
  static async open(parts: SigningFilesParts): Promise<SigningFiles> {
    const seen = await look(parts.folder);
    return new SigningFiles(parts, await readIdentity(parts.folder, parts.clock()), seen);
  }

  /** Whether requests are signed. */
  get sign(): boolean {
    return this.#identity !== undefined;
  }

  /**
   * The signer of a request that is made now. If changed files cannot be used, this is logged and the previous identity stays.
   * @returns undefined: requests are not signed.
   * @throws PaymentError `cannot-sign` when the certificates have expired since they were read.
   */
  async identity(): Promise<Identity | undefined> {
    await this.#readAgain();
    const { folder, clock } = this.#parts;
    const identity = this.#identity;
    if (identity)
      naming(join(folder, CERTIFICATES_FILE), () => {
        checkCertificates(identity.certificates, clock());
      });
    return identity;
  }

  async #readAgain(): Promise<void> {
    const { folder, clock, logger } = this.#parts;
    const seen = await look(folder);
    if (seen === this.#seen) return;
    // A change after this `look` is noticed the next time.
    this.#seen = seen;
    try {
      const identity = await readIdentity(folder, clock());
      if (!identity && this.#identity) throw new Error(`${KEY_FILE} and ${CERTIFICATES_FILE} are gone from ${folder}.`);
      this.#identity = identity;
      if (identity) logger.info(`Payment requests are signed with the new ${KEY_FILE} and ${CERTIFICATES_FILE} from now on.`);
    } catch (error) {
      const signed = this.#identity ? 'signed with the previous key and certificates' : 'not signed';
      logger.error(`payments: ${messageOf(error)} Payment requests are ${signed}.`);
    }
  }
}

async function readIdentity(folder: string, time: Date): Promise<Identity | undefined> {
  const [keyFile, certificatesFile] = [join(folder, KEY_FILE), join(folder, CERTIFICATES_FILE)];
  const [keyPem, certificatesPem] = await Promise.all([keyFile, certificatesFile].map((file) => ifThere(readFile(file, 'utf8'))));
  if (keyPem === undefined && certificatesPem === undefined) return undefined;
  if (keyPem === undefined || certificatesPem === undefined) {
    const files = `both ${KEY_FILE} and ${CERTIFICATES_FILE}`;
    throw new PaymentError('cannot-sign', `${folder} needs ${files} to sign payment requests, or neither.`);
  }
  const key = naming(keyFile, () => readPrivateKey(keyPem));
  const certificates = naming(certificatesFile, () => readCertificates(certificatesPem, time));
  return naming(`${keyFile}, ${certificatesFile}`, () => checkIdentity({ key, certificates }));
}

/** Inode, size and times of the files; their contents are not read. */
async function look(folder: string): Promise<string> {
  const looks = await Promise.all(
    [KEY_FILE, CERTIFICATES_FILE].map(async (name) => {
      const found = await ifThere(stat(join(folder, name), { bigint: true }));
      return found && `${found.ino} ${found.size} ${found.mtimeNs} ${found.ctimeNs}`;
    })
  );
  return looks.join(', ');
}

async function ifThere<Found>(found: Promise<Found>): Promise<Found | undefined> {
  try {
    return await found;
  } catch (error) {
    if (isMissingFile(error)) return undefined;
    throw error;
  }
}

/** Puts the file's name before the error about it. */
function naming<Read>(file: string, read: () => Read): Read {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    throw new PaymentError(error.code, `${file}: ${error.message}`, { cause: error });
  }
}
