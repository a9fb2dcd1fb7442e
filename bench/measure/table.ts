// Figures in columns, for people. Widths are known in advance: a line is printed as soon as its figures are ready.

export interface Column<T> {
  readonly title: string;
  readonly text: (row: T) => string;
}

/** Width of the longest figure. */
const LEAST_WIDTH = 7;

export class Table<T> {
  /** `firstWidth`: characters of the longest text in the first column, which is aligned to the left. */
  constructor(
    private readonly columns: readonly Column<T>[],
    private readonly firstWidth: number
  ) {}

  head(): string {
    return this.join(this.columns.map(({ title }) => title));
  }

  line(row: T): string {
    return this.join(this.columns.map(({ text }) => text(row)));
  }

  private join(texts: readonly string[]): string {
    const widthOf = (i: number): number => Math.max(LEAST_WIDTH, this.columns[i]?.title.length ?? 0);
    return texts
      .map((text, i) => (i === 0 ? text.padEnd(this.firstWidth) : text.padStart(widthOf(i))))
      .join('  ')
      .trimEnd();
  }
}

/** Microseconds, with a digit behind the point up to 100. `none`: for a figure that was not measured. */
export function microseconds(value: number | undefined, none = '-'): string {
  if (value === undefined) return none;
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}
