// The frames of replies in JSON-RPC: what stands around a result or an error.

import { jsonText } from './values';

/** How the reply to a call looks. */
export interface ReplyForm {
  readonly isVersion2: boolean;
  /** The id as JSON text; undefined when there is none. */
  readonly id: string | undefined;
}

/** The text before and after the result in a reply. */
export function resultFrame({ isVersion2, id }: ReplyForm): readonly [before: string, behind: string] {
  const last = id === undefined ? '}' : `,"id":${id}}`;
  return isVersion2 ? ['{"jsonrpc":"2.0","result":', last] : ['{"result":', `,"error":null${last}`];
}

/** `error`: JSON text. */
export function errorReply({ isVersion2, id }: ReplyForm, error: string): string {
  const last = id === undefined ? '}' : `,"id":${id}}`;
  return `${isVersion2 ? '{"jsonrpc":"2.0"' : '{"result":null'},"error":${error}${last}`;
}

/** The error as JSON text, for `errorReply`. */
export const errorText = ({ code, message }: { readonly code: number; readonly message: string }): string => jsonText({ code, message });
