import { Link } from '@tanstack/react-router';
import {
  columnVisibilityFeature,
  createSortedRowModel,
  functionalUpdate,
  type RowData,
  rowSortingFeature,
  sortFn_basic,
  tableFeatures,
  useTable,
} from '@tanstack/react-table';
import { ArrowDown, ArrowUp, ChevronsUpDown, Columns3 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { readColumnChoice, storeColumnChoice } from './column-choice.ts';
import { Menu, MenuCheck, MenuItem, MenuLabel, MenuLine } from './menu.tsx';
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
  readonly from?: keyof typeof widths;
  /** Takes what the others leave, and cuts long text off; or does so on phones alone. */
  readonly isWide?: boolean | 'phone';
  /** Hidden until the reader of a table with `choiceName` chooses it. */
  readonly isExtra?: boolean;
  /** Lets the reader sort by it. Only for tables that have all rows at once: a sorted part of a list would mislead. */
  readonly sortBy?: (row: Row) => string | number | bigint;
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
  /** Lets the reader choose columns; the browser remembers them under this name. */
  readonly choiceName?: string;
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

/** Tailwind's, from which a column is shown. */
const widths = { sm: '40rem', md: '48rem', lg: '64rem', xl: '80rem' } as const;
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

const features = tableFeatures({
  columnVisibilityFeature,
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
});
const noRows: readonly never[] = [];

/** The library's table of these columns and rows, with the reader's choice of columns. */
function useColumns<Row extends RowData>({ columns, choiceName, source, keyOf }: TableProps<Row>) {
  const [choice, setChoice] = useState(() => readColumnChoice(choiceName));
  const extras = columns.filter(({ isExtra }) => isExtra === true).map(({ key }) => [key, false] as const);
  const table = useTable<typeof features, Row>({
    features,
    columns: columns.map(({ key, header, sortBy }, index) => ({
      id: key,
      header,
      // The first column leads to the row, and one without a name has its acts.
      enableHiding: index > 0 && header !== '',
      ...(sortBy !== undefined && { accessorFn: sortBy, sortFn: sortFn_basic }),
    })),
    data: source.rows ?? noRows,
    getRowId: keyOf,
    state: { columnVisibility: { ...Object.fromEntries(extras), ...choice } },
    onColumnVisibilityChange: (change) => {
      const next = functionalUpdate(change, choice);
      setChoice(next);
      if (choiceName !== undefined) storeColumnChoice(choiceName, next);
    },
  });
  const visible = columns.filter(({ key }) => table.getColumn(key)?.getIsVisible());
  // A column that was chosen is there on every screen but a phone's.
  const shown = visible.map(
    (column): Column<Row> => (choice[column.key] === true ? { ...column, from: 'sm' } : column),
  );
  return {
    table,
    shown: choiceName === undefined || shown.at(-1)?.header === '' ? shown : [...shown, menuColumn],
  };
}

/** The menu's own column, where the list has no column without a name at its end. */
const menuColumn: Column<unknown> = {
  key: 'choice',
  header: '',
  label: 'Columns',
  from: 'sm',
  isAtEnd: true,
  cell: () => null,
};

/** A list in a frame, with its states: loading, failed, empty, and empty by filters. */
export function Table<Row extends RowData>(props: TableProps<Row>) {
  const { label, source, empty, onClearFilters, more, choiceName, skeletonRows = 6 } = props;
  const { rows, error } = source;
  const { table, shown } = useColumns(props);
  const isFailed = rows === undefined && error !== null && error !== undefined;
  if (isFailed) return <Frame>{<Failed error={error} onRetry={source.onRetry} />}</Frame>;
  if (rows?.length === 0)
    return <Frame>{onClearFilters === undefined ? empty : <FilteredEmpty onClear={onClearFilters} />}</Frame>;
  return (
    <Frame>
      <div className="overflow-x-auto">
        <table aria-label={label} aria-busy={rows === undefined} className="w-full border-collapse">
          <thead>
            <HeaderRow table={table} shown={shown} isChosen={choiceName !== undefined} />
          </thead>
          <tbody className="divide-y divide-line">
            {rows === undefined
              ? Array.from({ length: skeletonRows }, (_, index) => (
                  <SkeletonRow key={String(index)} columns={shown} />
                ))
              : table
                  .getRowModel()
                  .rows.map(({ id, original }) => (
                    <TableRow key={id} row={original} {...props} columns={shown} />
                  ))}
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

interface HeaderProps<Row extends RowData> extends ReturnType<typeof useColumns<Row>> {
  /** The reader may choose columns, at the header of the last one, which has no name. */
  readonly isChosen: boolean;
}

/** Where there is a mouse, the sign that a column can sort shows under it. */
const quietIcon = 'pointer-fine:opacity-0 group-hover:opacity-100 group-focus-visible:opacity-100';

function HeaderRow<Row extends RowData>({ table, shown, isChosen }: HeaderProps<Row>) {
  return (
    <tr className="border-b border-line bg-sunken/60 text-xs text-soft">
      {shown.map((column, index) => {
        const { key, header, label = 'Acts', sortBy, isAtEnd } = column;
        const sorted = table.getColumn(key)?.getIsSorted() || undefined;
        const hasMenu = isChosen && index === shown.length - 1;
        const SortIcon = sorted === undefined ? ChevronsUpDown : sorted === 'asc' ? ArrowUp : ArrowDown;
        return (
          <th
            key={key}
            scope="col"
            aria-sort={sorted && (sorted === 'asc' ? 'ascending' : 'descending')}
            className={classNames(
              cellClass(column, 'h-9 font-medium whitespace-nowrap'),
              // The menu stays in sight when the columns have no room.
              hasMenu && 'sm:sticky sm:right-0 sm:bg-sunken',
            )}
          >
            {header === '' && <span className="sr-only">{label}</span>}
            {sortBy === undefined ? (
              header
            ) : (
              <button
                type="button"
                onClick={table.getColumn(key)?.getToggleSortingHandler()}
                className={classNames(
                  'group inline-flex h-8 items-center gap-1 rounded-sm hover:text-ink [&>svg]:size-3.5',
                  sorted !== undefined && 'text-ink',
                  // The name stays in line with the numbers.
                  isAtEnd === true && 'flex-row-reverse',
                )}
              >
                {header}
                <SortIcon aria-hidden className={classNames(sorted === undefined && quietIcon)} />
              </button>
            )}
            {hasMenu && <ColumnMenu table={table} shown={shown} />}
          </th>
        );
      })}
    </tr>
  );
}

/** Shows and hides columns. A phone has no room to choose from. */
function ColumnMenu<Row extends RowData>({ table, shown }: ReturnType<typeof useColumns<Row>>) {
  const isSeen = (key: string) => {
    const column = shown.find((each) => each.key === key);
    return (
      column !== undefined &&
      (column.from === undefined || matchMedia(`(width >= ${widths[column.from]})`).matches)
    );
  };
  return (
    <Menu
      trigger={
        <IconButton label="Choose columns" className="-my-1 -ml-3 max-sm:hidden">
          <Columns3 />
        </IconButton>
      }
    >
      <MenuLabel>Columns</MenuLabel>
      {table
        .getAllLeafColumns()
        .filter((column) => column.getCanHide())
        .map((column) => (
          <MenuCheck
            key={column.id}
            isChecked={isSeen(column.id)}
            onChange={(isShown) => column.toggleVisibility(isShown)}
          >
            {String(column.columnDef.header)}
          </MenuCheck>
        ))}
      <MenuLine />
      <MenuItem onSelect={() => table.resetColumnVisibility(true)}>Reset</MenuItem>
    </Menu>
  );
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

function TableRow<Row>({
  row,
  columns,
  hrefOf,
  onOpen,
}: Pick<TableProps<Row>, 'columns' | 'hrefOf' | 'onOpen'> & { readonly row: Row }) {
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
