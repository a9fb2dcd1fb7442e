// The merchant's list of orders as a page.

import { formatCoins } from '../../payments/rules/amount';
import { documentOf, escapeHtml, linesOf, timeHtml, type PageAssets } from './page-document';
import { ORDER_STATUSES } from './progress';
import type { UnreadableOrder, OrderPage, OrderQuery } from './order-list';
import type { OrderProgress, OrderStatus } from './progress';

export function renderList({ orders, next }: OrderPage, asked: OrderQuery, assets: PageAssets): string {
  return documentOf(
    'Orders',
    linesOf([
      '<main class="orders">',
      '<h1>Orders</h1>',
      `<nav class="filter" aria-label="Status">${[undefined, ...ORDER_STATUSES].map((status) => filterHtml(status, asked)).join('')}</nav>`,
      orders.length > 0 ? tableHtml(orders) : `<p class="quiet none">${noneText(next !== undefined)}</p>`,
      '<p class="pages">',
      asked.before !== undefined && `<a class="button" href="${hrefOf({ ...asked, before: undefined })}">Newest</a>`,
      next !== undefined && `<a class="button" href="${hrefOf({ ...asked, before: next })}">Older</a>`,
      '</p>',
      '</main>'
    ]),
    assets
  );
}

function noneText(hasMore: boolean): string {
  return hasMore ? 'None among these; there are older orders.' : 'No orders.';
}

function filterHtml(status: OrderStatus | undefined, asked: OrderQuery): string {
  const isPresent = status === asked.status;
  return `<a href="${hrefOf({ ...asked, status, before: undefined })}"${isPresent ? ' aria-current="page"' : ''}>${status ?? 'all'}</a>`;
}

function hrefOf({ status, before, limit }: { readonly [Name in keyof OrderQuery]: OrderQuery[Name] | undefined }): string {
  const query = new URLSearchParams({ ...(status && { status }), ...(before !== undefined && { before }), limit: String(limit) });
  return escapeHtml(`?${query.toString()}`);
}

function tableHtml(orders: OrderPage['orders']): string {
  return linesOf([
    // The roles are for narrow screens, on which rows are not shown as a table.
    '<table class="card" role="table" aria-label="Orders">',
    `<thead role="rowgroup"><tr role="row">${Object.values(COLUMNS).map(headHtml).join('')}</tr></thead>`,
    '<tbody role="rowgroup">',
    ...orders.map((order) => ('error' in order ? unreadableHtml(order) : rowHtml(order))),
    '</tbody>',
    '</table>'
  ]);
}

interface Column {
  readonly name: string;
  readonly isNumber?: true;
}

const COLUMNS = {
  order: { name: 'Order' },
  status: { name: 'Status' },
  amount: { name: 'Amount, BTC', isNumber: true },
  received: { name: 'Received, BTC', isNumber: true },
  created: { name: 'Made' },
  expires: { name: 'Valid until' }
} as const satisfies Record<string, Column>;

function headHtml({ name, isNumber }: Column): string {
  return `<th role="columnheader" scope="col"${isNumber ? ' class="number"' : ''}>${name}</th>`;
}

function cellHtml(column: keyof typeof COLUMNS, html: string): string {
  const { name, isNumber }: Column = COLUMNS[column];
  return `<td role="cell" data-name="${name}"${isNumber ? ' class="number"' : ''}>${html}</td>`;
}

function rowHtml({ id, url, memo, status, confirmations, amount, received, missing, created, expires }: OrderProgress): string {
  return linesOf([
    '<tr role="row">',
    cellHtml('order', `<a href="${escapeHtml(url)}">${escapeHtml(memo === undefined ? `${id.slice(0, 12)}…` : shortened(memo))}</a>`),
    cellHtml('status', `<span class="badge" data-status="${status}">${status}</span>${moreHtml({ status, missing, confirmations })}`),
    cellHtml('amount', amount === 0n ? 'any' : formatCoins(amount)),
    cellHtml('received', formatCoins(received)),
    cellHtml('created', timeHtml(created)),
    expires === undefined ? '<td role="cell"></td>' : cellHtml('expires', timeHtml(expires)),
    '</tr>'
  ]);
}

function moreHtml({
  status,
  missing,
  confirmations
}: Pick<OrderProgress, 'status' | 'missing'> & { confirmations: number | undefined }): string {
  if (status === 'underpaid') return ` <small>${formatCoins(missing)} missing</small>`;
  return confirmations === undefined ? '' : ` <small>${confirmations} deep</small>`;
}

function unreadableHtml({ id, error }: UnreadableOrder): string {
  return `<tr role="row"><td role="cell">${id.slice(0, 12)}…</td><td role="cell" colspan="5">${escapeHtml(error)}</td></tr>`;
}

const MOST_MEMO_CHARACTERS = 60;

function shortened(text: string): string {
  return text.length <= MOST_MEMO_CHARACTERS ? text : `${text.slice(0, MOST_MEMO_CHARACTERS - 1)}…`;
}
