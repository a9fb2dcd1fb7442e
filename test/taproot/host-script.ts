// bcoin's interpreter of scripts, which runs the scripts of version 0 witnesses: most of their operations are those of tapscript.

import { bcoin } from '../support/bcoin/bcoin';
import { SCRIPT_ERRORS, type ScriptError } from '../../lib/taproot/script-error';
import type { HostTransaction } from '../../lib/node/host';

interface HostScript {
  execute(stack: HostStack, flags: number, transaction: HostTransaction, input: number, value: number, version: number): void;
}

interface HostStack {
  readonly items: readonly Buffer[];
  push(item: Buffer): unknown;
}

interface HostScripts {
  readonly Script: {
    readonly flags: Readonly<Record<string, number>>;
    fromRaw(bytes: Buffer): HostScript;
  };
  readonly Stack: new () => HostStack;
}

const { Script, Stack } = bcoin as unknown as HostScripts;

const BLOCK_FLAGS = ['VERIFY_MINIMALIF', 'VERIFY_CHECKLOCKTIMEVERIFY', 'VERIFY_CHECKSEQUENCEVERIFY'];
const POLICY_FLAGS = [...BLOCK_FLAGS, 'VERIFY_MINIMALDATA', 'VERIFY_DISCOURAGE_UPGRADABLE_NOPS'];

/** bcoin's names of errors that have other names in tapscript. */
const OTHER_NAMES: Readonly<Record<string, keyof typeof SCRIPT_ERRORS | undefined>> = {
  MINIMALIF: 'TAPSCRIPT_MINIMALIF',
  UNKNOWN_ERROR: 'SCRIPTNUM'
};

/** Runs a script on a stack. Returns the stack, or why it failed. */
export function runByHost(
  script: Buffer,
  stack: readonly Buffer[],
  isPolicy: boolean,
  transaction: Buffer,
  input: number
): readonly Buffer[] | ScriptError {
  const host = new Stack();
  for (const item of stack) host.push(item);
  const flags = (isPolicy ? POLICY_FLAGS : BLOCK_FLAGS).reduce((sum, name) => sum | (Script.flags[name] as number), 0);
  try {
    Script.fromRaw(script).execute(host, flags, bcoin.TX.fromRaw(transaction), input, 0, 1);
  } catch (error) {
    const { code } = error as { readonly code: keyof typeof SCRIPT_ERRORS };
    const name = OTHER_NAMES[code] ?? code;
    if (!(name in SCRIPT_ERRORS)) throw error;
    return SCRIPT_ERRORS[name];
  }
  return host.items;
}
