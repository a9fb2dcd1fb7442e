// /rest/mempool/info.json and /rest/mempool/contents.json (contract 4.5, 4.6): the pool in
// figures and entry by entry, each rendered once per change of the pool; of the entries, those
// that a change concerns. There is one text of the entries, as large as the pool makes it: it has
// a place of its own, and does not compete with other answers for theirs.

import { mempoolInfoJson, PoolContents } from '../../views/mempool';
import { jsonReply, requireJson, type Reply } from '../format';
import { runInSlices } from '../server/slices';
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

/** A state of the pool, as far as its contents show it. */
interface PoolState {
  readonly revision: number;
  readonly feeFingerprint: number;
}

interface KeptContents {
  readonly contents: PoolContents;
  readonly state: PoolState;
  readonly reply: Reply;
}

interface Writing {
  readonly state: PoolState;
  readonly reply: Promise<Reply>;
}

/** Others wait for the same text: it is finished even if the first who asked has left. */
const FOR_EVERYBODY = { isGone: false };

export function mempoolContentsEndpoint({ node: { pool }, gate }: EndpointContext): Endpoint {
  let kept: KeptContents | undefined;
  let writing: Writing | undefined;
  let next: Promise<Reply> | undefined;

  const stateNow = (): PoolState => ({ revision: pool.revision, feeFingerprint: pool.feeFingerprint() });

  const write = (): Reply | Promise<Reply> => {
    const state = stateNow();
    const { contents } = kept ?? { contents: new PoolContents() };
    // Nobody else's until it is whole again.
    kept = undefined;
    const keep = (body: Buffer): Reply => {
      const reply = jsonReply(body);
      kept = { contents, state, reply };
      return reply;
    };
    const text = runInSlices(contents.json(pool.entries()), FOR_EVERYBODY);
    if (!(text instanceof Promise)) return keep(text);
    const reply = text.then(keep).finally(() => { writing = undefined; });
    writing = { state, reply };
    return reply;
  };

  return ({ path }) => {
    requireJson(path);
    const state = stateNow();
    if (kept !== undefined && isSame(kept.state, state)) return kept.reply;
    if (writing === undefined) return write();
    if (isSame(writing.state, state)) return writing.reply;
    // The text under way is of an older state: those who come meanwhile share the one after it.
    return next ??= writing.reply.catch(() => undefined).then(() => {
      next = undefined;
      gate.requireOpen();
      return write();
    });
  };
}

function isSame(a: PoolState, b: PoolState): boolean {
  return a.revision === b.revision && a.feeFingerprint === b.feeFingerprint;
}
