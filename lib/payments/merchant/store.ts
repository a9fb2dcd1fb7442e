// What a merchant remembers, as records in a PaymentStorage:
//
//   <id>.json           a request, the Payments that came for it, their ACKs and refund outputs
//   <txid>.claims.json  which request each output of a transaction has paid: index to id
//
// Ids are 32 hex digits; txids are in display order; bytes are hex, satoshis decimal text.

import { PaymentError } from '../error';
import type { Output } from '../messages';
import { displayTxid } from '../rules/transaction';
import type { PaymentStorage } from './storage';

/** A Payment that was taken. Without acknowledgement, its broadcast has not been seen to succeed. */
export interface StoredPayment {
  readonly receivedAt: Date;
  /** As received. */
  readonly payment: Buffer;
  /** Wire order. */
  readonly txids: readonly Buffer[];
  /** Recorded for the merchant; nothing is ever paid back automatically. */
  readonly refundTo: readonly Output[];
  /** As sent. */
  readonly acknowledgement?: Buffer;
}

export interface StoredRequest {
  readonly id: string;
  readonly createdAt: Date;
  /** The PaymentRequest as it is served. */
  readonly request: Buffer;
  /** In the order they came; more than one only when the chain forgot those before. */
  readonly payments: readonly StoredPayment[];
}

export type Claims = Readonly<Record<number, string>>;

interface RequestRecord {
  readonly createdAt: string;
  readonly request: string;
  readonly payments: readonly {
    readonly receivedAt: string;
    readonly payment: string;
    readonly txids: readonly string[];
    readonly refundTo: readonly { readonly amount?: string; readonly script: string }[];
    readonly acknowledgement?: string;
  }[];
}

const ID = /^[0-9a-f]{32}$/;

export class PaymentStore {
  constructor(private readonly storage: PaymentStorage) {}

  /** @throws PaymentError `unknown-request`. */
  async request(id: string): Promise<StoredRequest> {
    // The check also keeps anything but ids out of file names.
    const bytes = ID.test(id) ? await this.storage.read(`${id}.json`) : undefined;
    if (!bytes) throw new PaymentError('unknown-request', 'No such payment request.');
    return fromRecord(id, JSON.parse(bytes.toString()) as RequestRecord);
  }

  async save(request: StoredRequest): Promise<void> {
    await this.storage.write(`${request.id}.json`, Buffer.from(`${JSON.stringify(toRecord(request), undefined, 2)}\n`));
  }

  /** The requests that outputs of a transaction have paid already: index to id. */
  async claimsOn(txid: Buffer): Promise<Claims> {
    const bytes = await this.storage.read(claimsName(txid));
    return bytes ? JSON.parse(bytes.toString()) as Claims : {};
  }

  async saveClaims(txid: Buffer, claims: Claims): Promise<void> {
    await this.storage.write(claimsName(txid), Buffer.from(`${JSON.stringify(claims)}\n`));
  }
}

function claimsName(txid: Buffer): string {
  return `${displayTxid(txid)}.claims.json`;
}

function toRecord({ createdAt, request, payments }: StoredRequest): RequestRecord {
  return {
    createdAt: createdAt.toISOString(),
    request: request.toString('hex'),
    payments: payments.map(({ receivedAt, payment, txids, refundTo, acknowledgement }) => ({
      receivedAt: receivedAt.toISOString(),
      payment: payment.toString('hex'),
      txids: txids.map(displayTxid),
      refundTo: refundTo.map(({ amount, script }) => ({
        ...amount !== undefined && { amount: amount.toString() },
        script: script.toString('hex')
      })),
      ...acknowledgement && { acknowledgement: acknowledgement.toString('hex') }
    }))
  };
}

function fromRecord(id: string, { createdAt, request, payments }: RequestRecord): StoredRequest {
  return {
    id,
    createdAt: new Date(createdAt),
    request: Buffer.from(request, 'hex'),
    payments: payments.map(({ receivedAt, payment, txids, refundTo, acknowledgement }) => ({
      receivedAt: new Date(receivedAt),
      payment: Buffer.from(payment, 'hex'),
      txids: txids.map((txid) => Buffer.from(txid, 'hex').reverse()),
      refundTo: refundTo.map(({ amount, script }) => ({
        ...amount !== undefined && { amount: BigInt(amount) },
        script: Buffer.from(script, 'hex')
      })),
      ...acknowledgement !== undefined && { acknowledgement: Buffer.from(acknowledgement, 'hex') }
    }))
  };
}
