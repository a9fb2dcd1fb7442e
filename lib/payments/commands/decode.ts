// `payments decode`: prints what is in a file, the messages inside a message too. Signatures
// and rules are not looked at.

import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import {
  DEFAULTS, decodeOutput, decodePayment, decodePaymentACK, decodePaymentDetails, decodePaymentRequest, decodeX509Certificates,
  type Output, type Payment, type PaymentDetails
} from '../messages';
import { displayTxid, parseTransaction } from '../rules/transaction';
import { inOneLine } from '../x509/name';
import type { CommandIo } from './command';
import { printed } from './print';
import { UsageError, oneFile, parseArguments } from './usage';

const DECODERS: Readonly<Record<string, (bytes: Buffer) => object>> = {
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

export async function decodeFile(args: readonly string[], io: CommandIo): Promise<number> {
  const { values, positionals } = parseArguments(args, { type: { type: 'string' }, json: { type: 'boolean' } });
  const { type = 'request', json = false } = values;
  const describe = Object.hasOwn(DECODERS, type) ? DECODERS[type] : undefined;
  if (!describe) throw new UsageError(`--type: one of ${Object.keys(DECODERS).join(', ')} expected, ${JSON.stringify(type)} came.`);
  io.out(printed(describe(await readFile(oneFile(positionals))), json));
  return 0;
}

function describeRequest(bytes: Buffer): object {
  const { paymentDetailsVersion, pkiType, pkiData, serializedPaymentDetails, ...rest } = decodePaymentRequest(bytes);
  return {
    paymentDetailsVersion: paymentDetailsVersion ?? DEFAULTS.paymentDetailsVersion,
    pkiType: pkiType ?? DEFAULTS.pkiType,
    ...pkiData && (pkiType?.startsWith('x509') ? { certificates: decodeX509Certificates(pkiData).certificate.map(describeCertificate) } : { pkiData }),
    paymentDetails: withDetailsDefaults(decodePaymentDetails(serializedPaymentDetails)),
    ...rest
  };
}

/** Shown as it is, whether it is any good or not: judging is for `verify`. */
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
