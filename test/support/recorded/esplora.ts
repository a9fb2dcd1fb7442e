// The answers of the mempool project's backend about the transactions of chain A, and Esplora's answers where the two differ.

import { linesIn } from '../chain/chain-a';

interface RecordedOutput {
  readonly scriptpubkey: string;
  readonly scriptpubkey_asm: string;
  readonly scriptpubkey_type: string;
  readonly scriptpubkey_address?: string | null;
  readonly value: number;
}

interface RecordedInput {
  readonly txid: string;
  readonly vout: number;
  readonly prevout: RecordedOutput | null;
  readonly scriptsig: string;
  readonly scriptsig_asm: string;
  readonly witness: readonly string[];
  readonly is_coinbase: boolean;
  readonly sequence: number;
  readonly inner_redeemscript_asm: string;
  readonly inner_witnessscript_asm: string;
}

export interface RecordedTransaction {
  readonly txid: string;
  readonly version: number;
  readonly locktime: number;
  readonly vin: readonly RecordedInput[];
  readonly vout: readonly RecordedOutput[];
  readonly size: number;
  readonly weight: number;
  readonly fee: number;
  readonly status: object;
}

/** The records `{path, status, json}` of a compressed file that have status 200 and a path that matches. */
export function recordedJson(file: string, path: RegExp): { path: string; json: unknown }[] {
  return linesIn(file)
    .filter((line) => path.test(/^\{"path":"([^"]*)"/.exec(line)?.[1] ?? ''))
    .map((line) => JSON.parse(line) as { path: string; status?: number; json: unknown })
    .filter(({ status = 200 }) => status === 200);
}

/**
 * The backend prints the rest of a push beyond the end, treats a missing length as part of the opcode, prints nothing after the space
 * for an empty push of OP_PUSHDATA, and has OP_RETURN_n up to the last opcode.
 */
function asmOf(asm: string, hex: string): string {
  const known = asm.replaceAll('  ', ' ').replaceAll('OP_RETURN_255', 'OP_INVALIDOPCODE');
  const [, before = '', opcode = '', number = '', left = ''] = /^((?:.* )?)(OP_PUSH(?:BYTES_|DATA)(\d+)) ?([0-9a-f]*)$/.exec(known) ?? [];
  if (/^OP_PUSHBYTES_7[678]$/.test(opcode)) return `${before.trimEnd()}<unexpected end>`;
  const width = opcode.startsWith('OP_PUSHDATA') ? Number(number) : 0;
  const script = Buffer.from(hex, 'hex');
  const wanted = width === 0 ? Number(number) : script.readUIntLE(script.length - left.length / 2 - width, width);
  return opcode !== '' && wanted * 2 > left.length ? `${before}${opcode} <push past end>` : known.trimEnd();
}

/** The backend checks a key's bytes and the rest of an OP_RETURN script, and distinguishes more types. */
function typeOf({ scriptpubkey, scriptpubkey_type }: RecordedOutput): string {
  if (scriptpubkey === '') return 'empty';
  if (scriptpubkey.startsWith('6a')) return 'op_return';
  if (/^(21.{66}|41.{130})ac$/.test(scriptpubkey)) return 'p2pk';
  return ['anchor', 'multisig', 'nonstandard'].includes(scriptpubkey_type) ? 'unknown' : scriptpubkey_type;
}

function esploraOutput(output: RecordedOutput): object {
  const { scriptpubkey, scriptpubkey_asm, scriptpubkey_address, value } = output;
  return {
    scriptpubkey,
    scriptpubkey_asm: asmOf(scriptpubkey_asm, scriptpubkey),
    scriptpubkey_type: typeOf(output),
    ...(typeof scriptpubkey_address === 'string' && scriptpubkey_address !== '' ? { scriptpubkey_address } : {}),
    value
  };
}

/** The backend shows no witness script wrapped in a script hash unless there are further items before it. */
export function lacksWitnessScript({ inner_redeemscript_asm, inner_witnessscript_asm, witness }: RecordedInput): boolean {
  return /^OP_0 OP_PUSHBYTES_32 \w+$/.test(inner_redeemscript_asm) && inner_witnessscript_asm === '' && witness.length > 0;
}

function esploraInput(input: RecordedInput): object {
  const { prevout, scriptsig, scriptsig_asm, witness, is_coinbase, sequence, inner_redeemscript_asm, inner_witnessscript_asm } = input;
  return {
    txid: is_coinbase ? '00'.repeat(32) : input.txid,
    vout: is_coinbase ? 0xffff_ffff : input.vout,
    prevout: prevout === null ? null : esploraOutput(prevout),
    scriptsig,
    scriptsig_asm: asmOf(scriptsig_asm, scriptsig),
    ...(witness.length === 0 ? {} : { witness }),
    is_coinbase,
    sequence,
    ...(inner_redeemscript_asm === '' ? {} : { inner_redeemscript_asm }),
    ...(inner_witnessscript_asm === '' ? {} : { inner_witnessscript_asm })
  };
}

/** Esplora's answer as text. */
export function esploraText({ txid, version, locktime, vin, vout, size, weight, fee, status }: RecordedTransaction): string {
  return JSON.stringify({
    txid,
    version: version >>> 0,
    locktime,
    vin: vin.map(esploraInput),
    vout: vout.map(esploraOutput),
    size,
    weight,
    fee,
    status
  });
}
