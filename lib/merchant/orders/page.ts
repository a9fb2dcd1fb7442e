// The page that a browser gets for a payment request: the amount, the `bitcoin:` link and the state. It has no scripts and loads nothing
// from elsewhere.

import { formatCoins } from '../../payments/rules/amount';
import type { PaymentDetails } from '../../payments/messages';
import { payableOutputs } from '../../payments/rules/request';
import type { PaymentState } from './merchant';

export function renderPage(details: PaymentDetails, uri: string, state: PaymentState): string {
  const { total } = payableOutputs(details);
  const lines = [
    details.memo !== undefined && `<p>${escapeHtml(details.memo)}</p>`,
    `<p>${total > 0n ? `Amount: ${formatCoins(total)} BTC` : 'Amount: as much as you like'}${details.network === 'test' ? ' (test network)' : ''}</p>`,
    state.state === 'open' && `<p><a href="${escapeHtml(uri)}">Pay with a Bitcoin wallet</a></p>`,
    state.state === 'open' && details.expires !== undefined && `<p>Valid until ${expiryText(details.expires)}.</p>`,
    `<p>${describe(state)}</p>`,
    state.received && `<p>Received: ${formatCoins(state.received.amount)} BTC, confirmed: ${formatCoins(state.received.confirmed)} BTC.</p>`
  ].filter((line) => line !== false && line !== undefined);
  return `<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Payment request</title></head>
<body>
<h1>Payment request</h1>
${lines.join('\n')}
</body>
</html>
`;
}

function describe(state: PaymentState): string {
  switch (state.state) {
    case 'open':
      return 'Not paid yet.';
    case 'expired':
      return 'This request has expired.';
    case 'unconfirmed':
      return 'Paid, not confirmed yet.';
    case 'confirmed':
      return `Paid, ${state.confirmations} confirmation${state.confirmations === 1 ? '' : 's'}.`;
    case 'missing':
      return 'It was paid, but the network does not know the payment any more. It is being sent again.';
    case 'replaced':
      return 'It was paid, but another payment has taken its place. It is not confirmed yet.';
    case 'conflicted':
      return 'It was paid, but the coins were spent otherwise.';
  }
}

/** Times that a Date cannot hold (they are uint64) are shown as numbers. */
function expiryText(expires: bigint): string {
  const date = new Date(Number(expires) * 1_000);
  return Number.isNaN(date.getTime()) ? expires.toString() : date.toISOString();
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
