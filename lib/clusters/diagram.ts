// Fee-rate diagrams: the sum of fees at each weight when chunks are taken one after the other, the best first. Between the corners, which
// are the ends of chunks, a diagram is a straight line; after its last corner it goes on level.

import { compareRates, type Rate } from './fee-rate';

/** A point of a diagram. */
interface Corner {
  readonly fee: number;
  readonly weight: number;
}

/**
 * Whether the diagram of `after` is nowhere below that of `before`, and somewhere above it (ImprovesFeerateDiagram of Bitcoin Core).
 * Both are the chunks of the same clusters, in any order.
 */
export function improves(after: readonly Rate[], before: readonly Rate[]): boolean {
  const [afterwards, beforehand] = [sortedRates(after), sortedRates(before)];
  const sides = [...sidesOf(afterwards, beforehand), ...sidesOf(beforehand, afterwards).map((side) => -side)];
  return sides.some((side) => side > 0) && !sides.some((side) => side < 0);
}

const sortedRates = (chunks: readonly Rate[]): Rate[] => [...chunks].sort((a, b) => compareRates(b, a));

/** For each corner of a diagram: above 0 if it lies above another diagram, below 0 if it lies below. */
function sidesOf(chunks: readonly Rate[], other: readonly Rate[]): number[] {
  const sides: number[] = [];
  let corner: Corner = { fee: 0, weight: 0 };
  let start: Corner = { fee: 0, weight: 0 };
  let at = 0;
  for (const chunk of chunks) {
    corner = after(corner, chunk);
    let next = other[at];
    for (; next !== undefined && start.weight + next.weight < corner.weight; next = other[++at]) start = after(start, next);
    // The line of the other diagram from its last corner before this one, and the line from there to this corner.
    const line = next ?? { fee: 0, weight: 1 };
    sides.push(compareRates({ fee: corner.fee - start.fee, weight: corner.weight - start.weight }, line));
  }
  return sides;
}

const after = (corner: Corner, { fee, weight }: Rate): Corner => ({ fee: corner.fee + fee, weight: corner.weight + weight });
