// Results as JSON or as indented text. Bytes are hex, 64-bit integers decimal text (JSON
// numbers would lose digits), absent fields are left out.

/** @returns text that ends with a line feed. */
export function printed(value: object, json: boolean): string {
  const plain = plainOf(value);
  return json ? `${JSON.stringify(plain, undefined, 2)}\n` : `${linesOf(plain, '').join('\n')}\n`;
}

function plainOf(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex');
  if (Array.isArray(value)) return value.map(plainOf);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plainOf(item)]));
}

function linesOf(value: unknown, indent: string): string[] {
  return Object.entries(value as object).flatMap(([name, item]: [string, unknown]) => {
    if (typeof item !== 'object' || item === null) return [`${indent}${name}: ${oneLine(item)}`];
    const lines = linesOf(item, `${indent}  `);
    return lines.length > 0 ? [`${indent}${name}:`, ...lines] : [`${indent}${name}: none`];
  });
}

/** A memo must not be able to forge a line, or to drive the terminal. */
function oneLine(value: unknown): string {
  return String(value).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
}
