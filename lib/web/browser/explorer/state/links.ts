// Where each page is.

import { EXPLORER } from '../data/status';
import type { Subject } from '../data/types';

export const homeLink = EXPLORER;
export const poolLink = `${EXPLORER}/pool`;
export const blockLink = (hash: string, page = 1): string => `${EXPLORER}/block/${hash}${page > 1 ? `?page=${page}` : ''}`;

/** `output`: one of its outputs, which is pointed out. */
export const transactionLink = (txid: string, output?: number): string =>
  `${EXPLORER}/tx/${txid}${output === undefined ? '' : `?output=${output}`}`;

export const subjectLink = ({ kind, text }: Subject): string => `${EXPLORER}/${kind}/${encodeURIComponent(text)}`;
export const addressLink = (address: string): string => subjectLink({ kind: 'address', text: address });
export const searchLink = (text: string): string => `${EXPLORER}/search?q=${encodeURIComponent(text)}`;
