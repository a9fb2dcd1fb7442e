// The calls that are answered here as an OpenRPC document. Those of the node are not described.

import { openRpcDocument } from '../describe/open-rpc';
import { CALLS } from './call-table';
import type { ProfileFields } from '../views/profile';

/** JSON text. `version`: of this package. */
export function rpcDocument(fields: ProfileFields, version: string): Buffer {
  const methods = Array.from(CALLS, ([name, { summary, parameters, result }]) => ({
    name,
    summary,
    // Aliases are not described.
    parameters: parameters.map((one) => ({
      name: one.name.split('|')[0] ?? '',
      schema: one.schema,
      isRequired: one.isOptional !== true
    })),
    result: result(fields)
  }));
  const document = openRpcDocument({
    title: "Bitcoin Core's JSON-RPC",
    description:
      "What is answered at POST / as Bitcoin Core 31 does. Other calls are the node's own, and are not described here. Amounts are BTC with eight decimals.",
    version,
    methods
  });
  return Buffer.from(JSON.stringify(document));
}
