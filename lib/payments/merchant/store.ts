// What a merchant remembers, as records in a PaymentStorage:
//
//   <id>.json           a request, the Payments that came for it, their ACKs and refund outputs
//   <txid>.claims.json  which request each output of a transaction has paid: index to id
//
// Ids are 32 hex digits; txids are in display order.

import { PaymentError } from '../error';
import { displayTxid } from '../rules/transaction';
import { objectOf, readRecord, undamaged, writeRecord, type StoredRequest } from './record';
import type { PaymentStorage } from './storage';

export type Claims = Readonly<Record<number, string>>;

const ID = /^[0-9a-f]{32}$/;

export class PaymentStore {
  constructor(private readonly storage: PaymentStorage) {}

  /** @throws PaymentError `unknown-request`, or DamagedRecordError. */
  async request(id: string): Promise<StoredRequest> {
    const name = `${id}.json`;
    // The check also keeps anything but ids out of file names.
    const bytes = ID.test(id) ? await this.storage.read(name) : undefined;
    if (!bytes) throw new PaymentError('unknown-request', 'No such payment request.');
    return undamaged(name, bytes, (json) => readRecord(id, json));
  }

  async save(request: StoredRequest): Promise<void> {
    await this.storage.write(`${request.id}.json`, Buffer.from(`${JSON.stringify(writeRecord(request), undefined, 2)}\n`));
  }

  /**
   * The requests that outputs of a transaction have paid already: index to id.
   * @throws DamagedRecordError
   */
  async claimsOn(txid: Buffer): Promise<Claims> {
    const name = claimsName(txid);
    const bytes = await this.storage.read(name);
    return bytes ? undamaged(name, bytes, readClaims) : {};
  }

  async saveClaims(txid: Buffer, claims: Claims): Promise<void> {
    await this.storage.write(claimsName(txid), Buffer.from(`${JSON.stringify(claims)}\n`));
  }
}

function claimsName(txid: Buffer): string {
  return `${displayTxid(txid)}.claims.json`;
}

function readClaims(json: unknown): Claims {
  const claims = objectOf(json);
  if (!Object.values(claims).every((id) => typeof id === 'string' && ID.test(id))) throw new Error('ids of requests expected');
  return claims as Claims;
}
