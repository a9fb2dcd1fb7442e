// The methods that are answered, except `server.version`, with which a client begins and which settles the protocol version.

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
