// Options of the merchant.

import { OptionError } from './errors';
import { readPath, requireApiKey, type OptionReader } from './option-reader';
import { isOrigin } from './values';
import { isWebUrl } from '../../lib/payments/web-url';
import type { HostConfig } from '../../lib/node/host';

export interface PaymentOptions {
  readonly folder: string;
  /** The URL under which customers reach the node's HTTP server, without a slash at the end; by default the server's address. */
  readonly publicUrl: string | undefined;
  /** The origins at which shops may be notified of changes of their orders. */
  readonly notifyOrigins: readonly string[];
}

/** undefined: no payments are accepted. @throws OptionError */
export function readPaymentOptions(read: OptionReader, config: HostConfig): PaymentOptions | undefined {
  const folder = readPath(config, 'rest-payments', 'folder');
  const publicUrl = config.get('rest-payments-url') ?? undefined;
  if (folder === undefined) return undefined;
  requireApiKey('rest-payments', config);
  if (publicUrl !== undefined && !isPublicUrl(String(publicUrl))) {
    throw new OptionError(`--rest-payments-url must be an http or https address without a slash at its end, not '${publicUrl}'`);
  }
  return {
    folder,
    publicUrl: publicUrl === undefined ? undefined : String(publicUrl),
    notifyOrigins: readNotifyOrigins(read)
  };
}

/** Whether paths can be written after the URL. */
function isPublicUrl(text: string): boolean {
  return isWebUrl(text) && !/[?#]|\/$/.test(text);
}

/** Each has deliveries of its own under way. */
const MOST_NOTIFY_ORIGINS = 16;

function readNotifyOrigins(read: OptionReader): readonly string[] {
  const what = `at most ${MOST_NOTIFY_ORIGINS} origins such as https://shop.example, separated by commas`;
  const text = read.text('rest-payments-notify', what, (value) => {
    const origins = value.split(',');
    return origins.length <= MOST_NOTIFY_ORIGINS && origins.every(isOrigin);
  });
  return text === '' ? [] : text.split(',');
}
