/**
 * Whether two addresses mean the same script. Test networks have several beginnings for witness addresses; between beginning and checksum
 * they are the same.
 */
export function isSameAddress(a: string | undefined, b: string): boolean {
  if (a === undefined) return false;
  const [one, other] = [programOf(a), programOf(b)];
  return one === undefined ? a === b : one === other;
}

/** Version and program as in the text; undefined for other addresses. */
function programOf(address: string): string | undefined {
  return /^[a-z]{2,10}1([02-9ac-hj-np-z]{2,})[02-9ac-hj-np-z]{6}$/.exec(address.toLowerCase())?.[1];
}
