// Kinds of outputs, for people.

/** By Esplora's names. */
const KINDS: Readonly<Record<string, string>> = {
  p2pk: 'Public key (P2PK)',
  p2pkh: 'P2PKH',
  p2sh: 'P2SH',
  multisig: 'Multisig',
  op_return: 'Data (OP_RETURN)',
  v0_p2wpkh: 'P2WPKH',
  v0_p2wsh: 'P2WSH',
  v1_p2tr: 'Taproot (P2TR)',
  p2a: 'Anchor (P2A)',
  empty: 'Empty script',
  unknown: 'Other script'
};

const ANCHOR = '51024e73';
const MULTISIG = /^OP_PUSHNUM_\d+ .* OP_PUSHNUM_\d+ OP_CHECKMULTISIG$/;

export function kindText({ kind, script, asm }: { readonly kind: string; readonly script: string; readonly asm: string }): string {
  if (script === ANCHOR) return KINDS['p2a'] ?? kind;
  if (kind === 'unknown' && MULTISIG.test(asm)) return KINDS['multisig'] ?? kind;
  return KINDS[kind] ?? kind;
}

/** What follows OP_RETURN, in hex: the data of all pushes. */
export function dataOf(script: string): string {
  let at = 2;
  let data = '';
  while (at < script.length) {
    const code = Number.parseInt(script.slice(at, at + 2), 16);
    at += 2;
    // OP_PUSHDATA1, 2 and 4 are followed by a length of as many bytes, the lowest first.
    const lengthBytes = code === 0x4c ? 1 : code === 0x4d ? 2 : code === 0x4e ? 4 : 0;
    if (code > 0x4e) continue;
    const length = lengthBytes === 0 ? code : littleEndian(script.slice(at, at + 2 * lengthBytes));
    at += 2 * lengthBytes;
    data += script.slice(at, at + 2 * length);
    at += 2 * length;
  }
  return data;
}

const littleEndian = (hex: string): number => Number.parseInt((hex.match(/../g) ?? []).reverse().join('') || '0', 16);
