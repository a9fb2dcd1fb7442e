// The arithmetic for taproot: bcoin's own library where it is compiled (bcoin 2.x after `npm rebuild`), WebAssembly elsewhere.

import { createRequire } from 'node:module';
import { systemCodeOf } from '../system/system-errors';
import { loadWasmCurve, type Curve } from '../taproot/curve';

/** bcrypto's module for BIP340. */
interface HostSchnorr {
  /** 2: compiled. The one in JavaScript takes some milliseconds for a signature. */
  readonly native: number;
  verify(message: Buffer, signature: Buffer, key: Buffer): boolean;
  /** Since 5.4; versions before that follow a draft of BIP340 and refuse the signatures of today. */
  readonly publicKeyTweakCheck?: (key: Buffer, tweak: Buffer, tweaked: Buffer, isOdd: boolean) => boolean;
}

/** A module that every bcoin has loaded, in the folder of that module. */
const NEIGHBOUR = /[\\/]bcrypto[\\/]lib[\\/]secp256k1\.js$/;

/** The quickest one that there is for the running node. */
export async function findCurve(): Promise<Curve> {
  return findNativeCurve() ?? (await loadWasmCurve());
}

/** Undefined: the node's library is not compiled, or too old. */
export function findNativeCurve(): Curve | undefined {
  for (const file of Object.keys(require.cache).filter((name) => NEIGHBOUR.test(name))) {
    const schnorr = loadSchnorr(file);
    const checkTweak = schnorr?.publicKeyTweakCheck;
    if (schnorr?.native === 2 && checkTweak !== undefined)
      return {
        verifySchnorr: (signature, message, key) => schnorr.verify(message, signature, key),
        isTweaked: (tweaked, isOdd, key, tweak) => checkTweak(key, tweak, tweaked, isOdd)
      };
  }
  return undefined;
}

function loadSchnorr(neighbour: string): HostSchnorr | undefined {
  try {
    return createRequire(neighbour)('./schnorr') as HostSchnorr;
  } catch (error) {
    if (systemCodeOf(error) === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}
