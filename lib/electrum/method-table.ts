// The methods that are answered, beside the one with which a client begins: `server.version`, which settles the protocol.

import { feeMethods } from './methods/fees';
import { headerMethods } from './methods/headers';
import { scriptMethods } from './methods/scripts';
import { serverMethods } from './methods/server';
import { transactionMethods } from './methods/transactions';
import type { MethodContext, MethodTable } from './method';

export function methodTable(context: MethodContext): MethodTable {
  return {
    ...serverMethods(context),
    ...headerMethods(context),
    ...scriptMethods(context),
    ...transactionMethods(context),
    ...feeMethods(context)
  };
}
