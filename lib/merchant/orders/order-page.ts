// The page that a browser gets for an order: what is to be paid, how, and how far it has come. Its parts (`data-part`) are what the
// script replaces when something has changed.

import { formatCoins } from '../../payments/rules/amount';
import { documentOf, escapeHtml, formatSats, linesOf, timeHtml, type PageAssets } from './page-document';
import { qrSvg } from './qr-code';
import type { OrderView } from './merchant';
import type { OrderProgress } from './progress';
import type { WaysToPay } from './ways-to-pay';

export function renderOrder(view: OrderView, assets: PageAssets): string {
  const { progress } = view;
  const { title } = describe(progress);
  return documentOf(
    `${title} · ${progress.memo ?? 'Payment'}`,
    linesOf([
      '<main class="shop">',
      `<article class="card order" data-status="${progress.status}">`,
      dueHtml(view),
      `<div class="status" data-part="status" role="status" tabindex="-1">${statusHtml(progress)}</div>`,
      `<div class="pay" data-part="pay">${view.ways ? payHtml(view.ways, progress) : otherwiseHtml(progress)}</div>`,
      `<div class="steps" data-part="steps">${stepsHtml(progress)}</div>`,
      '</article>',
      '<p class="lost-connection" role="status" data-connection></p>',
      '<noscript><p class="quiet note">Load this page again to see whether the payment has come.</p></noscript>',
      progress.merchantUrl !== undefined && shopHtml(progress.merchantUrl),
      '</main>'
    ]),
    assets
  );
}

function dueHtml({ details, progress: { amount, memo } }: OrderView): string {
  return linesOf([
    '<header class="due">',
    `<h1 class="memo">${escapeHtml(memo ?? 'Payment')}</h1>`,
    amount > 0n
      ? `<p class="total"><span class="amount">${formatCoins(amount)} <span class="unit">BTC</span></span></p>`
      : '<p class="total">As much as you like</p>',
    amount > 0n && `<p class="quiet amount">${formatSats(amount)}</p>`,
    details.network === 'test' && '<p class="network">Test network: no real money</p>',
    '</header>'
  ]);
}

/** What a status means for the customer. */
function describe(progress: OrderProgress): { readonly title: string; readonly detail: string } {
  const { received, missing, confirmations = 0, state } = progress;
  switch (progress.status) {
    case 'open':
      return { title: 'Waiting for your payment', detail: 'This page shows it as soon as the network has it.' };
    case 'underpaid':
      return {
        title: `${formatCoins(missing)} BTC is missing`,
        detail: `${formatCoins(received)} BTC (${formatSats(received)}) has come, ${formatSats(missing)} has not.`
      };
    case 'seen':
      return { title: 'Payment seen', detail: 'It waits for its first confirmation, which takes ten minutes on average.' };
    case 'confirmed':
      return { title: 'Paid', detail: `${confirmations} confirmation${confirmations === 1 ? '' : 's'}` };
    case 'expired':
      return { title: 'This request has expired', detail: 'Do not pay any more. The shop can give you a new one.' };
    case 'lost':
      return { title: 'The payment is not there any more', detail: LOST[state] ?? '' };
  }
}

const LOST: Partial<Record<OrderProgress['state'], string>> = {
  missing: 'The network does not know it any more. It is being sent again.',
  replaced: 'Another transaction has taken its place, which is not confirmed yet.',
  conflicted: 'Its coins were spent otherwise.'
};

function statusHtml(progress: OrderProgress): string {
  const { title, detail } = describe(progress);
  const mark = `<svg class="mark" viewBox="0 0 24 24" aria-hidden="true">${MARKS[progress.status]}</svg>`;
  return `${mark}<div><p class="title">${title}</p><p class="detail">${detail}</p></div>`;
}

/** Outlines: a clock, a half circle, an eye, a tick, a cross, an exclamation mark. */
const MARKS: Record<OrderProgress['status'], string> = {
  open: '<circle cx="12" cy="12" r="9"/><path d="M12 7v5l3.500 2"/>',
  underpaid: '<circle cx="12" cy="12" r="9"/><path d="M12 3v18"/>',
  seen: '<path d="M2.500 12S6 5.500 12 5.500 21.500 12 21.500 12 18 18.500 12 18.500 2.500 12 2.500 12z"/><circle cx="12" cy="12" r="2.800"/>',
  confirmed: '<circle cx="12" cy="12" r="9"/><path d="m7.500 12.300 3 3 6-6.300"/>',
  expired: '<circle cx="12" cy="12" r="9"/><path d="m8.500 8.500 7 7m0-7-7 7"/>',
  lost: '<circle cx="12" cy="12" r="9"/><path d="M12 7v6.500m0 3v.010"/>'
};

function payHtml({ uri, address, amount }: WaysToPay, { status, missing, expires, created }: OrderProgress): string {
  const code = qrSvg(uri, 'QR code for your wallet');
  return linesOf([
    code !== undefined && `<a class="code" href="${escapeHtml(uri)}" tabindex="-1" aria-hidden="true">${code}</a>`,
    '<div class="ways">',
    `<a class="button wallet" href="${escapeHtml(uri)}">Open in your wallet</a>`,
    address !== undefined && copiedHtml('Address', 'the address', address, groupsOf(address)),
    amount !== undefined && copiedHtml(amountName(status, amount > missing), 'the amount', formatCoins(amount)),
    address === undefined && '<p class="quiet">The wallet has to know payment requests (BIP70): this order has several recipients.</p>',
    expires !== undefined && countdownHtml(created, expires),
    '</div>'
  ]);
}

function amountName(status: OrderProgress['status'], isMoreThanMissing: boolean): string {
  if (isMoreThanMissing) return 'The least that can be sent, in BTC';
  return status === 'underpaid' ? 'Missing, in BTC' : 'Amount in BTC';
}

/** A text that is typed or compared, and a place where the script puts a button that copies it. */
function copiedHtml(name: string, what: string, text: string, shown = escapeHtml(text)): string {
  return (
    `<div class="copied"><span class="name">${name}</span><span class="value"><code>${shown}</code>` +
    `<span data-copy="${escapeHtml(text)}" data-what="${what}"></span></span></div>`
  );
}

/** In groups of four, which are easier to compare; what is selected and copied has no blanks. */
function groupsOf(address: string): string {
  return (address.match(/.{1,4}/g) ?? []).map((group) => `<span>${escapeHtml(group)}</span>`).join('');
}

function countdownHtml(created: bigint, expires: bigint): string {
  return (
    `<div class="countdown"><p>Valid until ${timeHtml(expires)}<span data-left="${expires}"></span></p>` +
    `<progress data-from="${created}" data-until="${expires}" aria-label="Time left" max="1" value="1" hidden></progress></div>`
  );
}

/** In the place of the ways to pay. */
function otherwiseHtml({ status }: OrderProgress): string {
  return status === 'underpaid' ? '<p class="quiet">The rest can no longer be paid here. The shop can help.</p>' : '';
}

const STEPS = [
  ['open', 'Waiting'],
  ['seen', 'Seen'],
  ['confirmed', 'Confirmed']
] as const;

function stepsHtml({ status }: OrderProgress): string {
  if (status === 'expired' || status === 'lost') return '';
  const present = STEPS.findIndex(([name]) => name === (status === 'underpaid' ? 'open' : status));
  const items = STEPS.map(([, text], index) => {
    const isDone = index < present || status === 'confirmed';
    return `<li${isDone ? ' class="done"' : ''}${index === present ? ' aria-current="step"' : ''}>${text}</li>`;
  });
  return `<ol>${items.join('')}</ol>`;
}

function shopHtml(merchantUrl: string): string {
  return `<p class="back"><a href="${escapeHtml(merchantUrl)}">Back to ${escapeHtml(new URL(merchantUrl).host)}</a></p>`;
}
