import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { classNames } from './class-names.ts';
import { Skeleton } from './page.tsx';
import { Failed, FilteredEmpty } from './states.tsx';

export interface Column<Row> {
  readonly key: string;
  /** An empty header is for a column of buttons; give screen readers its `label` then. */
  readonly header: string;
  readonly label?: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers stand at the end. */
  readonly isAtEnd?: boolean;
  /** From which width on the column is shown; always when absent. Leave two or three columns for phones. */
  readonly from?: 'sm' | 'md' | 'lg' | 'xl';
  /** Takes what the others leave, and cuts long text off; or does so on phones alone. */
  readonly isWide?: boolean | 'phone';
}

/** What the list reads: a query of TanStack Query, or a part of one. */
export interface TableSource<Row> {
  readonly rows: readonly Row[] | undefined;
  readonly error: unknown;
  readonly onRetry: () => void;
}

export interface TableProps<Row> {
  /** What the rows are, for screen readers: `Payments`. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly source: TableSource<Row>;
  readonly keyOf: (row: Row) => string;
  /** Shown when there are no rows at all. */
  readonly empty: ReactNode;
  /** Given while filters are set: shown in place of `empty`, with the button that clears them. */
  readonly onClearFilters?: (() => void) | undefined;
  /** The page of a row; the whole row leads there. */
  readonly hrefOf?: (row: Row) => string;
  /** Opens a row's detail in place; the whole row is the button. */
  readonly onOpen?: (row: Row) => void;
  /** More rows, where there are any. */
  readonly more?: { readonly onMore: () => void; readonly isLoading: boolean } | undefined;
  readonly skeletonRows?: number;
}

const hidden = {
  sm: 'max-sm:hidden',
  md: 'max-md:hidden',
  lg: 'max-lg:hidden',
  xl: 'max-xl:hidden',
} as const;

function cellClass<Row>(column: Column<Row>, more: string): string {
  return classNames(
    'px-3 first:pl-4 last:pr-4',
    column.isAtEnd === true ? 'text-right' : 'text-left',
    column.from !== undefined && hidden[column.from],
    column.isWide === true && 'w-full max-w-0 min-w-32',
    column.isWide === 'phone' && 'max-sm:w-full max-sm:max-w-0 max-sm:min-w-32',
    more,
  );
}

/** A list in a frame, with its states: loading, failed, empty, and empty by filters. */
export function Table<Row>(props: TableProps<Row>) {
  const { label, columns, source, empty, onClearFilters, more, skeletonRows = 6 } = props;
  const { rows, error } = source;
  const isFailed = rows === undefined && error !== null && error !== undefined;
  if (isFailed) return <Frame>{<Failed error={error} onRetry={source.onRetry} />}</Frame>;
  if (rows?.length === 0)
    return <Frame>{onClearFilters === undefined ? empty : <FilteredEmpty onClear={onClearFilters} />}</Frame>;
  return (
    <Frame>
      <div className="overflow-x-auto">
        <table aria-label={label} aria-busy={rows === undefined} className="w-full border-collapse">
          <thead>
            <tr className="border-b border-line bg-sunken/60 text-xs text-soft">
              {columns.map((column) => (
                <th
                  key={column.key}
                  scope="col"
                  className={cellClass(column, 'h-9 font-medium whitespace-nowrap')}
                >
                  {column.header === '' ? (
                    <span className="sr-only">{column.label ?? 'Acts'}</span>
                  ) : (
                    column.header
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {rows === undefined
              ? Array.from({ length: skeletonRows }, (_, index) => (
                  <SkeletonRow key={String(index)} columns={columns} />
                ))
              : rows.map((row) => <TableRow key={props.keyOf(row)} row={row} table={props} />)}
          </tbody>
        </table>
      </div>
      {more !== undefined && (
        <div className="flex justify-center border-t border-line p-2">
          <Button kind="quiet" onClick={more.onMore} isBusy={more.isLoading}>
            Show more
          </Button>
        </div>
      )}
    </Frame>
  );
}

function Frame({ children }: { readonly children: ReactNode }) {
  return <div className="relative overflow-hidden rounded-xl border border-line bg-raised">{children}</div>;
}

function SkeletonRow<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  return (
    <tr>
      {columns.map((column) => (
        <td key={column.key} className={cellClass(column, 'h-12')}>
          <Skeleton
            className={classNames('h-4', column.isAtEnd === true ? 'ml-auto w-14' : 'w-24 max-w-full')}
          />
        </td>
      ))}
    </tr>
  );
}

const overlay =
  'after:absolute after:inset-0 outline-none focus-visible:after:outline-2 after:-outline-offset-2 after:outline-accent';

function TableRow<Row>({ row, table }: { readonly row: Row; readonly table: TableProps<Row> }) {
  const { columns, hrefOf, onOpen } = table;
  const isOpenable = hrefOf !== undefined || onOpen !== undefined;
  return (
    <tr className={classNames('relative', isOpenable && 'hover:bg-sunken/70')}>
      {columns.map((column, index) => {
        const { isWide } = column;
        const content = column.cell(row);
        return (
          <td
            key={column.key}
            className={classNames(
              cellClass(column, 'h-12 py-2'),
              // Above the row's own link, so that buttons in other cells can be reached.
              index > 0 && isOpenable && '[&_a]:relative [&_a]:z-10 [&_button]:relative [&_button]:z-10',
            )}
          >
            <div
              className={classNames(isWide === true && 'truncate', isWide === 'phone' && 'max-sm:truncate')}
            >
              {index > 0 && content}
              {index === 0 && hrefOf !== undefined && (
                <Link to={hrefOf(row)} className={overlay}>
                  {content}
                </Link>
              )}
              {index === 0 && hrefOf === undefined && onOpen !== undefined && (
                <button
                  type="button"
                  onClick={() => onOpen(row)}
                  className={classNames('max-w-full text-left', overlay)}
                >
                  {content}
                </button>
              )}
              {index === 0 && !isOpenable && content}
            </div>
          </td>
        );
      })}
    </tr>
  );
}
