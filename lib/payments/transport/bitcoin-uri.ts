// The `bitcoin:` URI (BIP21) with the URL of a payment request in `r` (BIP72). A wallet that supports `r` fetches the request and
// ignores the rest, which is for other wallets. Bitcoin addresses are passed on as text: the wallet checks them.

import { PaymentError } from '../error';
import { MAX_MONEY, formatCoins, parseCoins } from '../rules/amount';

export interface BitcoinUri {
  /** May be absent when there is a payment URL (BIP72). */
  readonly address?: string;
  /** Satoshis. */
  readonly amount?: bigint;
  readonly label?: string;
  readonly message?: string;
  /** Where the PaymentRequest is: http or https. */
  readonly paymentUrl?: string;
}

const SCHEME = /^bitcoin:/i;
/** As others write them, beyond ASCII too, but without blanks and line ends: two parsers could see two different URLs. */
const WEB_URL = /^https?:\/\/[^\s\p{C}]+$/iu;

/** @throws PaymentError `malformed` without address and payment URL. */
export function formatBitcoinUri(uri: BitcoinUri): string {
  const { address, amount, label, message, paymentUrl } = uri;
  if (address === undefined && paymentUrl === undefined) throw malformed('an address or a payment URL expected, neither came');
  const parameters = [
    amount !== undefined && ['amount', formatAmount(amount)],
    label !== undefined && ['label', label],
    message !== undefined && ['message', message],
    paymentUrl !== undefined && ['r', checkUrl(paymentUrl)]
  ];
  const query = parameters
    .filter((parameter) => parameter !== false)
    .map(([name = '', value = '']) => `${name}=${encode(value)}`)
    .join('&');
  return `bitcoin:${encode(address ?? '')}${query && '?'}${query}`;
}

/**
 * @throws PaymentError `malformed`, also for a `req-` parameter that is not understood:
 *   BIP21 makes the whole URI invalid then.
 */
export function parseBitcoinUri(text: string): BitcoinUri {
  if (!SCHEME.test(text)) throw malformed(`"bitcoin:" expected, ${JSON.stringify(text.slice(0, 20))} came`);
  const rest = text.replace(SCHEME, '').split('#', 1)[0] ?? '';
  const [address = '', ...queries] = rest.split('?');
  const parameters = parseQuery(queries.join('?'));
  const amount = parameters.get('amount');
  const label = parameters.get('label');
  const message = parameters.get('message');
  const paymentUrl = parameters.get('r');
  if (address === '' && paymentUrl === undefined) throw malformed('an address or a payment URL expected, neither came');
  return {
    ...(address !== '' && { address: decode(address) }),
    ...(amount !== undefined && { amount: parseAmount(amount) }),
    ...(label !== undefined && { label }),
    ...(message !== undefined && { message }),
    ...(paymentUrl !== undefined && { paymentUrl: checkUrl(paymentUrl) })
  };
}

function parseQuery(query: string): Map<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const [rawName = '', ...values] = pair.split('=');
    const name = decode(rawName);
    if (name.startsWith('req-')) throw malformed(`the required parameter ${JSON.stringify(name)} is not understood`);
    if (parameters.has(name)) throw malformed(`the parameter ${JSON.stringify(name)} is there twice`);
    parameters.set(name, decode(values.join('=')));
  }
  return parameters;
}

function encode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch (error) {
    throw new PaymentError('malformed', 'bitcoin URI: well-formed text expected, half a character came.', { cause: error });
  }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new PaymentError('malformed', `bitcoin URI: percent-encoded UTF-8 expected, ${JSON.stringify(text.slice(0, 40))} came.`, {
      cause: error
    });
  }
}

function formatAmount(amount: bigint): string {
  if (amount < 0n || amount > MAX_MONEY) throw malformed(`0 to 21 million coins expected, ${amount} satoshis came`);
  return formatCoins(amount);
}

function parseAmount(text: string): bigint {
  const amount = parseCoins(text);
  if (amount === undefined)
    throw malformed(`up to 21 million coins with up to eight decimals expected, ${JSON.stringify(text.slice(0, 40))} came`);
  return amount;
}

/** A link must not make a wallet open anything but web URLs: no files, no scripts. */
function checkUrl(text: string): string {
  if (!WEB_URL.test(text) || !URL.canParse(text))
    throw malformed(`an http or https URL expected, ${JSON.stringify(text.slice(0, 40))} came`);
  return text;
}

function malformed(what: string): PaymentError {
  return new PaymentError('malformed', `bitcoin URI: ${what}.`);
}
