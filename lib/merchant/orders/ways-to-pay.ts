// How a wallet is told what to pay: the `bitcoin:` URI of an order's page.

import { dustThreshold } from '../../payments/rules/amount';
import { isExpired, payableOutputs } from '../../payments/rules/request';
import { formatBitcoinUri } from '../../payments/transport/bitcoin-uri';
import type { PaymentDetails } from '../../payments/messages';
import type { OrderProgress } from './progress';

export interface WaysToPay {
  readonly uri: string;
  /** Absent if the order has none, or more than one. */
  readonly address?: string;
  /** Satoshis to be sent to the address; absent if the customer chooses. More than what is missing if that alone would be dust. */
  readonly amount?: bigint;
}

/** A longer memo would make the QR code too fine for cameras. */
const MOST_MESSAGE_CHARACTERS = 80;

/**
 * With the URL of the request, and with address and amount for wallets that fetch no requests (BIP21, BIP72). A URI has one address, so
 * only an order with one script can be paid by these.
 * @param addressOf the address of a script.
 * @returns undefined if nothing more is to be paid, or no URI can ask for what is missing.
 */
export function waysToPay(
  details: PaymentDetails,
  progress: OrderProgress,
  addressOf: (script: Buffer) => string | undefined,
  now: Date
): WaysToPay | undefined {
  const { status, missing, url } = progress;
  const isWhole = status === 'open' || isAnyAmountOpen(progress);
  if ((!isWhole && status !== 'underpaid') || isExpired(details, now)) return undefined;
  const script = scriptOfAll(details);
  const address = script && addressOf(script);
  // The request asks for everything; once a part has come, only a URI without it can ask for the rest.
  const request = isWhole ? { paymentUrl: url } : {};
  if (script === undefined || address === undefined) return isWhole ? { uri: formatBitcoinUri(request) } : undefined;
  const amount = missing > 0n ? { amount: relayed(missing, script) } : {};
  const { memo = '' } = details;
  const message = memo !== '' && memo.length <= MOST_MESSAGE_CHARACTERS ? { message: memo } : {};
  return { address, ...amount, uri: formatBitcoinUri({ address, ...amount, ...message, ...request }) };
}

/** Whether the customer chooses the amount and has sent no Payment: what has come may be a stranger's, and next to nothing. */
function isAnyAmountOpen({ amount, state }: OrderProgress): boolean {
  return amount === 0n && state === 'open';
}

/** No node passes on less. */
function relayed(amount: bigint, script: Buffer): bigint {
  const least = dustThreshold(script);
  return amount < least ? least : amount;
}

/** The script of all outputs, if it is one. */
function scriptOfAll(details: PaymentDetails): Buffer | undefined {
  const [first, ...others] = payableOutputs(details).outputs;
  return first !== undefined && others.every(({ script }) => script.equals(first.script)) ? first.script : undefined;
}
