// Addresses of test networks in the calls of the node's own RPC. bcoin has prefixes of its own there, and bcoin 1.0.2 knows no bech32m
// (BIP350). Wallets write Bitcoin Core's forms (`bcrt1…`, `m…`), which the node is given as its own.

import { acceptedPrefixes, scriptOfAddress, writeAddress } from '../bitcoin/address';
import { readSegwitAddress, writeSegwitAddress } from '../bitcoin/bech32';
import { scriptTypeOf } from '../bitcoin/script-type';
import { TextWriter } from '../bitcoin/text-writer';
import type { HostNode } from './host';

const MAIN = 'main';

/** An address in the node's own form; any other text as it is. */
type OwnForm = (text: string) => string;

/** Makes the node's RPC accept all addresses of its network. On the main network there is one form alone, and nothing changes. */
export function acceptAddressForms(rpc: Pick<HostNode['rpc'], 'execute'>, { type, addressPrefix, genesis }: HostNode['network']): void {
  if (type === MAIN) return;
  const accepted = acceptedPrefixes(type, addressPrefix);
  // bcoin 1.0.2, whose hashes are texts, has one checksum for all witness programs.
  const variant = typeof genesis.hash === 'string' ? 'bech32' : undefined;
  const ownForm: OwnForm = (text) => {
    const script = scriptOfAddress(text, accepted);
    if (typeof script === 'string') return text;
    const writer = new TextWriter();
    const witness = readSegwitAddress(text);
    if (witness === undefined) writeAddress(writer, script, 0, script.length, scriptTypeOf(script), addressPrefix);
    else writeSegwitAddress(writer, addressPrefix.bech32, witness.version, witness.program, 0, witness.program.length, variant);
    return writer.toString();
  };
  const execute = rpc.execute.bind(rpc);
  rpc.execute = (call, help) => {
    const { params } = call;
    return execute(Array.isArray(params) ? { ...call, params: params.map((one: unknown) => withOwnForms(one, ownForm)) } : call, help);
  };
}

/** A parameter with its addresses in the node's own form, also as names in an object, as in `createrawtransaction`. */
function withOwnForms(value: unknown, ownForm: OwnForm): unknown {
  if (typeof value === 'string') return ownForm(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [ownForm(name), one as unknown]));
}
