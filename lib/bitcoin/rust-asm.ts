// Scripts disassembled as rust-bitcoin does it (Script::to_asm_string), which is what Esplora shows; and what the last operation of a
// script pushes.

import { OP_0, OPCODE_NAMES, ScriptWalker } from './script';
import type { TextWriter } from './text-writer';

const OP_PUSHDATA1 = 0x4c;
const OP_PUSHDATA2 = 0x4d;
const OP_PUSHDATA4 = 0x4e;
const OP_1NEGATE = 0x4f;
const OP_CHECKSIGADD = 0xba;
const OP_INVALIDOPCODE = 0xff;

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
      // Without the opcode, and without a space in front.
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

/** What the last operation of the script from `start` to before `end` pushes, a view; undefined when it pushes no data, or is cut off. */
export function lastPush(bytes: Buffer, start: number, end: number): Buffer | undefined {
  const walker = new ScriptWalker(bytes, start, end);
  while (walker.next());
  if (start === end || walker.dataEnd !== end || !walker.pushes) return undefined;
  return bytes.subarray(walker.dataStart, walker.dataEnd);
}
