// The methods that are answered, except `server.version`, with which a client begins and which settles the protocol version.

import { describedMethods } from './document';
import { broadcastingMethods } from './methods/broadcasting';
import { feeMethods } from './methods/fees';
import { headerMethods } from './methods/headers';
import { lookupMethods } from './methods/lookups';
import { outpointMethods } from './methods/outpoints';
import { scriptMethods } from './methods/scripts';
import { serverMethods } from './methods/server';
import { poolMethods } from './methods/pool';
import { transactionMethods } from './methods/transactions';
import type { InterfaceTimes } from '../server/figures/request-times';
import type { MethodContext, MethodTable } from './method';

export function methodTable(context: MethodContext): MethodTable {
  const table = {
    ...serverMethods(context),
    ...headerMethods(context),
    ...scriptMethods(context),
    ...transactionMethods(context),
    ...broadcastingMethods(context),
    ...poolMethods(context),
    ...lookupMethods(context),
    ...outpointMethods(context),
    ...feeMethods(context)
  };
  return describedMethods(table, context.version);
}

/** The same methods; `times` counts each request that is worked on, without the time in which it waited. */
export function timedMethods(table: MethodTable, times: InterfaceTimes): MethodTable {
  return Object.fromEntries(
    Object.entries(table).map(([name, method]) => [
      name,
      method && { ...method, answer: (values, client) => times.during(name, () => method.answer(values, client)) }
    ])
  );
}
