// Scripts disassembled as rust-bitcoin does it (Script::to_asm_string), which is what Esplora shows.

import {
  OP_0,
  OP_1NEGATE,
  OP_CHECKSIGADD,
  OP_INVALIDOPCODE,
  OP_PUSHDATA1,
  OP_PUSHDATA2,
  OP_PUSHDATA4,
  OPCODE_NAMES,
  ScriptWalker
} from './script';
import type { TextWriter } from './text-writer';

/** Names in rust-bitcoin that differ from Bitcoin Core's. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  '-1': 'OP_PUSHNUM_NEG1',
  OP_CHECKLOCKTIMEVERIFY: 'OP_CLTV',
  OP_CHECKSEQUENCEVERIFY: 'OP_CSV'
};

const NAMES: readonly string[] = Array.from({ length: 256 }, (_, opcode) => nameOf(opcode));

function nameOf(opcode: number): string {
  if (opcode === OP_0) return 'OP_0';
  if (opcode < OP_PUSHDATA1) return `OP_PUSHBYTES_${opcode}`;
  if (opcode <= OP_PUSHDATA4) return `OP_PUSHDATA${1 << (opcode - OP_PUSHDATA1)}`;
  // Undefined opcodes end a script at once, like OP_RETURN.
  if (opcode > OP_CHECKSIGADD && opcode < OP_INVALIDOPCODE) return `OP_RETURN_${opcode}`;
  const name = OPCODE_NAMES[opcode - OP_1NEGATE] as string; // all from OP_1NEGATE on have one
  return OTHER_NAMES[name] ?? (/^\d+$/.test(name) ? `OP_PUSHNUM_${name}` : name);
}

/** Whether the push at `at` ends within the bytes that say how long it is. */
function lacksLength({ bytes, end }: ScriptWalker, at: number): boolean {
  const opcode = bytes[at];
  const width = opcode === OP_PUSHDATA1 ? 1 : opcode === OP_PUSHDATA2 ? 2 : opcode === OP_PUSHDATA4 ? 4 : 0;
  return at + 1 + width > end;
}

/** Writes the operations of the script from `start` to before `end`, which may be any bytes; nothing for an empty script. */
export function writeRustAsm(writer: TextWriter, bytes: Buffer, start = 0, end = bytes.length): void {
  const walker = new ScriptWalker(bytes, start, end);
  while (walker.dataEnd < end) {
    const at = walker.dataEnd;
    const isWhole = walker.next();
    if (!isWhole && lacksLength(walker, at)) {
      // rust-bitcoin writes neither the opcode nor a space before this.
      writer.ascii('<unexpected end>');
      return;
    }
    if (at > start) writer.char(0x20);
    writer.ascii(NAMES[walker.opcode] as string); // all bytes have a name
    if (!isWhole) {
      writer.ascii(' <push past end>');
      return;
    }
    if (walker.dataEnd === walker.dataStart) continue;
    writer.char(0x20);
    writer.hex(bytes, walker.dataStart, walker.dataEnd);
  }
}
