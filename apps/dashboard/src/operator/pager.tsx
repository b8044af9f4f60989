import { Button } from '../ui/button.tsx';

/** Newer and older pages of a list; nothing where one page has it all. */
export function Pager({
  page,
  hasMore,
  onChange,
}: {
  /** From 1. */
  readonly page: number;
  readonly hasMore: boolean;
  readonly onChange: (page: number) => void;
}) {
  if (page === 1 && !hasMore) return null;
  return (
    <nav aria-label="Pages" className="mt-3 flex items-center justify-end gap-2">
      <span className="text-soft tabular-nums">Page {page}</span>
      <Button disabled={page === 1} onClick={() => onChange(page - 1)}>
        Newer
      </Button>
      <Button disabled={!hasMore} onClick={() => onChange(page + 1)}>
        Older
      </Button>
    </nav>
  );
}
