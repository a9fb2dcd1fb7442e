// Whether a PaymentRequest is payable (BIP70): a known version, the right network, not expired, and payable outputs. The result has
// the schema's defaults in place of absent fields.

import { PaymentError } from '../error';
import { DEFAULTS, decodePaymentDetails, type PaymentDetails, type PaymentRequest } from '../messages';
import { isWebUrl } from '../web-url';
import { MAX_MONEY, dustThreshold, isUnspendable } from './amount';

/** BIP70 knows no other networks; regtest and signet count as `test`. */
export type PaymentNetwork = 'main' | 'test';

export interface RequestedOutput {
  /** Satoshis; 0 only if the customer chooses how much to pay. */
  readonly amount: bigint;
  readonly script: Buffer;
}

/** A request that may be paid. */
export interface PayableRequest {
  readonly network: PaymentNetwork;
  /** The outputs to be paid: if there is a total, only those with an amount. */
  readonly outputs: readonly RequestedOutput[];
  /** Satoshis; 0: the customer chooses, and may use any of the outputs. */
  readonly total: bigint;
  /** Unix seconds. */
  readonly time: bigint;
  readonly expires?: bigint;
  readonly memo?: string;
  readonly paymentUrl?: string;
  readonly merchantData?: Buffer;
}

export interface RequestConditions {
  readonly network: PaymentNetwork;
  readonly time: Date;
}

/** The newest `payment_details_version` that is supported. */
const DETAILS_VERSION = 1;

/**
 * @throws PaymentError `upgrade`, `wrong-network`, `expired`, `unpayable`, or `malformed`.
 */
export function checkPaymentRequest(request: PaymentRequest, conditions: RequestConditions): PayableRequest {
  const version = request.paymentDetailsVersion ?? DEFAULTS.paymentDetailsVersion;
  if (version > DETAILS_VERSION) {
    throw new PaymentError('upgrade', `The request is of version ${version}; version ${DETAILS_VERSION} is understood. Please upgrade.`);
  }
  const details = decodePaymentDetails(request.serializedPaymentDetails);
  const network = details.network ?? DEFAULTS.network;
  if (network !== conditions.network) {
    throw new PaymentError(
      'wrong-network',
      `A request for the network ${conditions.network} expected, one for ${JSON.stringify(network)} came.`
    );
  }
  checkExpiry(details, conditions.time);
  return { ...optionalsOf(details), network: conditions.network, time: details.time, ...payableOutputs(details) };
}

/** @throws PaymentError `expired`. */
export function checkExpiry(details: Pick<PaymentDetails, 'expires'>, time: Date): void {
  if (details.expires !== undefined && isExpired(details, time)) {
    throw new PaymentError('expired', `The request expired at ${details.expires} (Unix seconds).`);
  }
}

/** BIP70: `expires` is the last second at which the request is valid. */
export function isExpired(details: Pick<PaymentDetails, 'expires'>, time: Date): boolean {
  return details.expires !== undefined && unixSeconds(time) > details.expires;
}

/** Rounded down. */
export function unixSeconds(time: Date): bigint {
  return BigInt(Math.floor(time.getTime() / 1_000));
}

/**
 * The outputs to be paid and their sum. BIP70: unless the sum is 0, outputs of 0 are ignored.
 * @throws PaymentError `unpayable`: no outputs, dust, or more than 21 million coins.
 */
export function payableOutputs(details: Pick<PaymentDetails, 'outputs'>): Pick<PayableRequest, 'outputs' | 'total'> {
  const outputs = details.outputs.map(({ amount = DEFAULTS.amount, script }) => ({ amount, script }));
  if (outputs.length === 0) throw new PaymentError('unpayable', 'At least one output expected, none came.');
  const total = outputs.reduce((sum, output) => sum + output.amount, 0n);
  if (total > MAX_MONEY) throw new PaymentError('unpayable', `At most 21 million coins expected, ${total} satoshis came.`);
  if (total === 0n) return { outputs, total };
  const paid = outputs.filter((output) => output.amount > 0n);
  for (const { amount, script } of paid) {
    const dust = dustThreshold(script);
    if (amount < dust)
      throw new PaymentError('unpayable', `At least ${dust} satoshis for each output expected, ${amount} came: dust is not relayed.`);
  }
  return { outputs: paid, total };
}

/** In the year 5138. The same number in milliseconds is in 1973, so a time in milliseconds is refused. */
const LATEST_EXPIRY = 100_000_000_000n;

/**
 * What a merchant may ask for: less than what wallets can pay, because it would be a mistake.
 * @throws PaymentError `unpayable`, `expired`, or `malformed` for an expiry or a payment_url that must be a mistake.
 */
export function checkAsked({ outputs, expires, paymentUrl }: Pick<PaymentDetails, 'outputs' | 'expires' | 'paymentUrl'>, now: Date): void {
  payableOutputs({ outputs });
  if (outputs.some(({ script }) => isUnspendable(script)))
    throw new PaymentError('unpayable', 'Outputs that can be spent expected, one came that nobody ever can (OP_RETURN).');
  checkExpiry({ ...(expires !== undefined && { expires }) }, now);
  if (expires !== undefined && expires > LATEST_EXPIRY)
    throw new PaymentError('malformed', `expires: Unix seconds expected, ${expires} came (milliseconds?).`);
  if (paymentUrl !== undefined && !isWebUrl(paymentUrl)) throw new PaymentError('malformed', 'payment_url: an http or https URL expected.');
}

function optionalsOf({
  expires,
  memo,
  paymentUrl,
  merchantData
}: PaymentDetails): Pick<PayableRequest, 'expires' | 'memo' | 'paymentUrl' | 'merchantData'> {
  return {
    ...(expires !== undefined && { expires }),
    ...(memo !== undefined && { memo }),
    ...(paymentUrl !== undefined && { paymentUrl }),
    ...(merchantData !== undefined && { merchantData })
  };
}
