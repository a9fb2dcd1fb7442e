// What a browser gets in the place of a page: there is no such order, or the node cannot answer yet.

import { documentOf, escapeHtml, linesOf, type PageAssets } from './page-document';

/** @param reason for people. */
export function renderNotice(status: number, reason: string, assets: PageAssets): string {
  const title = titleOf(status);
  const body = linesOf([
    '<main class="shop">',
    '<article class="card notice">',
    `<h1>${title}</h1>`,
    `<p class="quiet">${escapeHtml(reason)}</p>`,
    status === 503 && '<p>This page tries again by itself.</p>',
    '</article>',
    '</main>'
  ]);
  return documentOf(title, body, assets, status === 503 ? AGAIN_SECONDS : undefined);
}

const AGAIN_SECONDS = 5;

function titleOf(status: number): string {
  if (status === 404) return 'There is no such order';
  return status === 503 ? 'One moment' : 'This did not work';
}
