// The secret with which webhooks are signed. It is made at the first start and stays in the merchant's folder, from where the shop
// gets its copy.

import { join } from 'node:path';
import { makeSecret, signingKeyOf } from './signature';
import type { PaymentStorage } from '../orders/storage';

export const SECRET_FILE = 'webhook-secret';

/** @throws Error naming the file if there is something else in it; errors of the file system. */
export async function readSecret(storage: PaymentStorage, folder: string): Promise<Buffer> {
  const text = (await storage.read(SECRET_FILE))?.toString().trim() ?? (await newSecret(storage));
  const key = signingKeyOf(text);
  if (key === undefined)
    throw new Error(`${join(folder, SECRET_FILE)}: a secret for webhooks expected, "whsec_" and 24 to 64 bytes in base64.`);
  return key;
}

async function newSecret(storage: PaymentStorage): Promise<string> {
  const secret = makeSecret();
  await storage.write(SECRET_FILE, Buffer.from(`${secret}\n`));
  return secret;
}
