// All curves that there are on this machine, by name.

import { findNativeCurve } from '../../lib/node/curve';
import { loadWasmCurve, type Curve } from '../../lib/taproot/curve';
import { bcoin } from '../support/bcoin/bcoin';

/** The one of the node's library is among them if it is compiled. */
export async function allCurves(): Promise<ReadonlyMap<string, Curve>> {
  const curves = new Map([['tiny-secp256k1', await loadWasmCurve()]]);
  // bcoin loads the library when it is first used, as a running node does.
  bcoin.KeyRing.generate();
  const native = findNativeCurve();
  if (native === undefined)
    console.log(`      not compiled here, or not to be used (NODE_BACKEND): the library of bcoin ${bcoin.pkg.version}`);
  else curves.set('bcrypto', native);
  return curves;
}
