/** The strings of a body, which is a JSON array of strings; undefined: it is anything else. */
export function stringsIn(body: Buffer): string[] | undefined {
  const list = parsed(body);
  return Array.isArray(list) && list.every((item) => typeof item === 'string') ? list : undefined;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
