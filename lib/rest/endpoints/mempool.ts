// /rest/mempool/info.json and /rest/mempool/contents.json (contract 4.5, 4.6): the pool in
// figures and entry by entry, each rendered once per change of the pool.

import { mempoolContentsJson, mempoolInfoJson } from '../../views/mempool';
import { jsonReply, requireJson, type Reply } from '../format';
import { runInSlices } from '../run-in-slices';
import type { Endpoint, EndpointContext } from '../endpoint';

export function mempoolInfoEndpoint({ node: { pool } }: EndpointContext): Endpoint {
  let rendered: { readonly revision: number; readonly reply: Reply } | undefined;
  return ({ path }) => {
    requireJson(path);
    const { revision } = pool;
    if (rendered?.revision !== revision) rendered = { revision, reply: jsonReply(mempoolInfoJson(pool.info())) };
    return rendered.reply;
  };
}

interface Contents {
  readonly revision: number;
  readonly feeFingerprint: number;
  /** A promise while it is being written: those who ask for the same wait for the same. */
  reply: Reply | Promise<Reply>;
}

/** Others wait for the same text: it is finished even if the first who asked has left. */
const FOR_EVERYBODY = { isGone: false };

export function mempoolContentsEndpoint({ node: { pool } }: EndpointContext): Endpoint {
  let latest: Contents | undefined;

  const write = (revision: number, feeFingerprint: number): Contents => {
    const text = runInSlices(mempoolContentsJson(pool.entries()), FOR_EVERYBODY);
    if (!(text instanceof Promise)) return { revision, feeFingerprint, reply: jsonReply(text) };
    const contents: Contents = { revision, feeFingerprint, reply: text.then((body) => contents.reply = jsonReply(body)) };
    return contents;
  };

  return ({ path }) => {
    requireJson(path);
    const { revision } = pool;
    const feeFingerprint = pool.feeFingerprint();
    if (latest?.revision !== revision || latest.feeFingerprint !== feeFingerprint) latest = write(revision, feeFingerprint);
    return latest.reply;
  };
}
