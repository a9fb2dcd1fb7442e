import { grouped } from '../../parts/amounts';

interface PagerProps {
  /** From 1. */
  readonly page: number;
  readonly pages: number;
  readonly link: (page: number) => string;
}

/** Links to the pages of a list. */
export function Pager({ page, pages, link }: PagerProps) {
  if (pages === 1) return null;
  const near = [1, page - 1, page, page + 1, pages].filter((n) => n >= 1 && n <= pages);
  const shown = [...new Set(near)].sort((a, b) => a - b);
  return (
    <nav class="pager" aria-label="Pages of the list">
      {shown.map((n, i) => (
        <>
          {i > 0 && n > (shown[i - 1] ?? 0) + 1 && <span aria-hidden="true">…</span>}
          <a key={n} class="button" href={link(n)} aria-current={n === page ? 'page' : undefined} aria-label={`Page ${n} of ${pages}`}>
            {grouped(n)}
          </a>
        </>
      ))}
    </nav>
  );
}
