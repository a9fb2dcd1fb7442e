// The calls of bcoin's own JSON-RPC, which are passed on. bcoin takes parameters by position alone: the names that Bitcoin Core and its
// clients use for them are here.

import { CallError } from '../answers/errors';
import { isPositional } from '../server/json-rpc/values';
import { methodNotFound, RPC_CODES } from './errors';
import { positional } from './parameters';
import type { NodeSource } from '../node/types/source';
import type { Answer } from './call';
import type { Call } from './json-rpc';

/** Names of parameters, in their order; calls that have none are not listed. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  addnode: ['node', 'command'],
  createmultisig: ['nrequired', 'keys'],
  createwitnessaddress: ['script'],
  deriveaddresses: ['descriptor', 'range'],
  disconnectnode: ['address'],
  estimatefee: ['nblocks'],
  estimatepriority: ['nblocks'],
  estimatesmartpriority: ['nblocks'],
  generate: ['nblocks', 'maxtries'],
  generatetoaddress: ['nblocks', 'address', 'maxtries'],
  getaddednodeinfo: ['node'],
  getblockbyheight: ['height', 'verbose', 'details'],
  getblocktemplate: ['template_request'],
  getdescriptorinfo: ['descriptor'],
  getnodeaddresses: ['count'],
  getwork: ['data'],
  getworklp: ['data'],
  invalidateblock: ['blockhash'],
  prioritisetransaction: ['txid', 'dummy', 'fee_delta'],
  pruneblockchain: ['height'],
  reconsiderblock: ['blockhash'],
  setban: ['subnet', 'command', 'bantime', 'absolute'],
  setgenerate: ['mine', 'proclimit'],
  setloglevel: ['level'],
  setmocktime: ['timestamp'],
  signmessagewithprivkey: ['privkey', 'message'],
  signrawtransaction: ['hexstring', 'prevtxs', 'privkeys', 'sighashtype'],
  submitblock: ['hexdata', 'dummy'],
  verifyblock: ['hexdata'],
  verifychain: ['checklevel', 'nblocks'],
  verifymessage: ['address', 'signature', 'message']
};

/** Bitcoin Core lets `dummy` be left out, as clients that name parameters do; bcoin needs a number. */
const DUMMY_AT = 1;

/** They may wait for the next block, and so hold no slot of the work queue. */
const WAITING: ReadonlySet<string> = new Set(['getblocktemplate', 'getwork', 'getworklp']);

/** Of the others it is not known here what they change. */
const UNCHANGING = 'getblocktemplate';

/** Whether the call may wait for the next block. */
export const ownCallWaits = (method: string): boolean => WAITING.has(method);

/** Whether the node may have the call. */
export function isOwnCall(method: string, { ownCalls }: Pick<NodeSource, 'ownCalls'>): boolean {
  return ownCalls?.includes(method) !== false;
}

/** The node's answer. @throws CallError */
export async function ownAnswer({ method, params }: Call, node: Pick<NodeSource, 'ownCall'>): Promise<Answer> {
  const names = (NAMES[method] ?? []).map((name) => ({ name }));
  const values = isPositional(params) ? params : positional(names, params);
  const given = method === 'prioritisetransaction' && values[DUMMY_AT] === null ? values.with(DUMMY_AT, 0) : values;
  const { error, result } = await node.ownCall(method, given);
  // Another process may say of a call that nobody has it.
  if (error?.code === RPC_CODES.methodNotFound) throw methodNotFound();
  if (error !== null) throw new CallError(error.code, error.message);
  const parts = [Buffer.from(JSON.stringify(result ?? null))];
  return method === UNCHANGING ? { parts } : { parts, change: 'unknown' };
}
