// /rest/mempool/info.json and /rest/mempool/contents.json (contract 4.5, 4.6): the pool in
// figures and entry by entry. The entries are written once per change of the pool, and only those that the change concerns. There is
// one text of them, as large as the pool makes it, beside the cache for answers.

import { mempoolInfoJson, PoolContents } from '../../views/mempool';
import { jsonReply, requireJson, type Reply } from '../format';
import { runInSlices } from '../server/slices';
import type { Endpoint, EndpointContext } from '../endpoint';

export function mempoolInfoEndpoint({ node: { pool } }: EndpointContext): Endpoint {
  return ({ path }) => {
    requireJson(path);
    return Promise.resolve(jsonReply(mempoolInfoJson(pool.info())));
  };
}

/** The contents of a state of the pool, as far as they show it. */
interface Contents {
  readonly revision: number;
  readonly feeFingerprint: number;
  readonly reply: Promise<Reply>;
}

/** Others wait for the same text: it is finished even if the first who asked has left. */
const FOR_EVERYBODY = { isGone: false };

export function mempoolContentsEndpoint({ node: { pool }, gate }: EndpointContext): Endpoint {
  let contents = new PoolContents();
  let latest: Contents | undefined;
  let isWriting = false;

  const write = async (): Promise<Reply> => {
    isWriting = true;
    try {
      return jsonReply(await runInSlices(contents.json(pool.entries()), FOR_EVERYBODY));
    } finally {
      isWriting = false;
    }
  };

  return async ({ path }) => {
    requireJson(path);
    for (;;) {
      const [revision, feeFingerprint] = [pool.revision, pool.feeFingerprint()];
      if (latest?.revision === revision && latest.feeFingerprint === feeFingerprint) return latest.reply;
      // The text under way is of an older state: those who come meanwhile share the one after it.
      if (isWriting) {
        await latest?.reply.catch(() => undefined);
        gate.requireOpen();
        continue;
      }
      latest = { revision, feeFingerprint, reply: write() };
      latest.reply.catch(() => {
        // They may be half of one state and half of another.
        contents = new PoolContents();
        latest = undefined;
      });
    }
  };
}
