// Payment messages and results for people: as JSON or as indented text. Bytes are hex, 64-bit integers decimal text (JSON
// numbers would lose digits), absent fields are left out. Signatures and rules are not checked here.

import { X509Certificate } from 'node:crypto';
import {
  DEFAULTS,
  decodeOutput,
  decodePayment,
  decodePaymentACK,
  decodePaymentDetails,
  decodePaymentRequest,
  decodeX509Certificates,
  type Output,
  type Payment,
  type PaymentDetails
} from './messages';
import { displayTxid, parseTransaction } from './rules/transaction';
import { inOneLine } from './x509/certificate';

/** For each message name a function that gives the message's fields, with defaults, and the fields of the messages inside it. */
export const DESCRIPTIONS: Readonly<Record<string, (bytes: Buffer) => object>> = {
  request: describeRequest,
  details: (bytes) => withDetailsDefaults(decodePaymentDetails(bytes)),
  output: (bytes) => withOutputDefaults(decodeOutput(bytes)),
  certificates: decodeX509Certificates,
  payment: (bytes) => describePayment(decodePayment(bytes)),
  ack: (bytes) => {
    const { payment, ...rest } = decodePaymentACK(bytes);
    return { payment: describePayment(payment), ...rest };
  }
};

function describeRequest(bytes: Buffer): object {
  const { paymentDetailsVersion, pkiType, pkiData, serializedPaymentDetails, ...rest } = decodePaymentRequest(bytes);
  return {
    paymentDetailsVersion: paymentDetailsVersion ?? DEFAULTS.paymentDetailsVersion,
    pkiType: pkiType ?? DEFAULTS.pkiType,
    ...(pkiData &&
      (pkiType?.startsWith('x509') ? { certificates: decodeX509Certificates(pkiData).certificate.map(describeCertificate) } : { pkiData })),
    paymentDetails: withDetailsDefaults(decodePaymentDetails(serializedPaymentDetails)),
    ...rest
  };
}

/** Describes a certificate; whether it is trusted is not checked here. */
function describeCertificate(der: Buffer): object {
  try {
    const { subject, issuer, validFrom, validTo } = new X509Certificate(der);
    return { subject: inOneLine(subject), issuer: inOneLine(issuer), validFrom, validTo, der };
  } catch {
    return { der };
  }
}

function describePayment({ transactions, refundTo, ...rest }: Payment): object {
  return {
    ...rest,
    transactions: transactions.map((bytes) => ({ txid: displayTxid(parseTransaction(bytes).txid), bytes })),
    refundTo: refundTo.map(withOutputDefaults)
  };
}

function withDetailsDefaults({ network, outputs, ...rest }: PaymentDetails): object {
  return { network: network ?? DEFAULTS.network, outputs: outputs.map(withOutputDefaults), ...rest };
}

function withOutputDefaults({ amount, ...rest }: Output): object {
  return { amount: amount ?? DEFAULTS.amount, ...rest };
}

/** @returns text that ends with a line feed. */
export function printed(value: object, json: boolean): string {
  const plain = plainOf(value);
  return json ? `${JSON.stringify(plain, undefined, 2)}\n` : `${linesOf(plain, '').join('\n')}\n`;
}

function plainOf(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex');
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainOf(item)]));
}

function linesOf(value: unknown, indent: string): string[] {
  return Object.entries(value as object).flatMap(([name, item]: [string, unknown]) => {
    if (typeof item !== 'object' || item === null) return [`${indent}${name}: ${oneLine(item)}`];
    const lines = linesOf(item, `${indent}  `);
    return lines.length > 0 ? [`${indent}${name}:`, ...lines] : [`${indent}${name}: none`];
  });
}

/** A memo must not be able to forge a line or to send control characters to the terminal. */
function oneLine(value: unknown): string {
  return String(value).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
