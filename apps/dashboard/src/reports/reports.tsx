import { Download, FileSpreadsheet, Printer } from 'lucide-react';
import { useState } from 'react';
import { serviceNow } from '../api/service-clock.ts';
import { useRead } from '../api/use-call.ts';
import { useTokenNames } from '../api/use-token-names.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { Button, buttonClass } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { Figure, Figures } from '../ui/figure.tsx';
import { formatUsd } from '../ui/format.ts';
import { OddFilters } from '../ui/odd-filters.tsx';
import { PageHeader } from '../ui/page.tsx';
import { SelectField } from '../ui/select.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { ExactUsd } from '../ui/value.tsx';
import { type AccountSum, accountRows, mostDigits, totalOfRows } from './account-rows.ts';
import { DownloadDialog } from './download-dialog.tsx';
import { dayText, latestMonths, monthName, periodOfMonth } from './period.ts';
import { useReportChoice } from './use-report-choice.ts';

/** What was received, refunded and settled by month, wallet and token, with its files and its statement. */
export default function Reports() {
  const choice = useReportChoice();
  const [isDownloading, setDownloading] = useState(false);
  const { period, problem, body, times, account } = choice;
  const sums = useRead('POST /report/sums', { body }, { isOn: period !== undefined });
  const rows = sums.data && accountRows(sums.data.sums);
  return (
    <>
      <PageHeader
        title="Reports"
        description="What payers paid, what went back, and what reached your wallets. Days and months are in UTC."
        actions={
          period && (
            <>
              <ScreenLink path="reports/statement" search className={buttonClass()}>
                <Printer aria-hidden className="size-4" />
                Statement
              </ScreenLink>
              <Button
                kind="primary"
                icon={<Download />}
                disabled={sums.data === undefined}
                onClick={() => setDownloading(true)}
              >
                Download
              </Button>
            </>
          )
        }
      />
      <Choice choice={choice} rows={rows ?? []} />
      <OddFilters of={choice.filters} />
      {problem === undefined && (
        <>
          {(rows !== undefined || sums.error === null) && <Totals rows={rows} />}
          <SumTable rows={rows} times={times} error={sums.error} onRetry={() => void sums.refetch()} />
        </>
      )}
      {period && sums.data && (
        <DownloadDialog
          isOpen={isDownloading}
          onClose={() => setDownloading(false)}
          period={period}
          asOf={sums.data.asOf}
          accountId={account}
        />
      )}
    </>
  );
}

function Choice({
  choice,
  rows,
}: {
  readonly choice: ReturnType<typeof useReportChoice>;
  readonly rows: readonly AccountSum[];
}) {
  const { filters, isDays, month, problem, accounts, account } = choice;
  const inUse = accounts.data ?? [];
  const removed = new Map(
    rows
      .filter(({ accountId }) => inUse.every((each) => each.accountId !== accountId))
      .map(({ accountId, accountName }) => [accountId, accountName]),
  );
  const { from, to } = filters.values;
  const months = latestMonths(new Date(serviceNow()));
  const options = [...new Set([...(isDays ? [] : [month]), ...months])].toSorted().toReversed();

  return (
    <div className="mb-4 grid gap-3 sm:grid-cols-2 lg:grid-cols-4">
      <SelectField
        label="Month"
        value={isDays ? 'days' : month}
        onChange={(value) => filters.set({ month: value, from: '', to: '' })}
        options={[
          ...options.map((value) => ({ value, label: monthName(periodOfMonth(value)?.from ?? 0) })),
          { value: 'days', label: 'Other days …' },
        ]}
      />
      <SelectField
        label="Wallet"
        value={account}
        onChange={(value) => filters.set({ account: value })}
        options={[
          { value: '', label: 'All wallets' },
          ...inUse.map(({ accountId, accountName }) => ({ value: accountId, label: accountName })),
          ...[...removed].map(([value, name]) => ({ value, label: `${name} (removed)` })),
        ]}
      />
      {isDays && (
        <>
          <TextField
            label="First day"
            type="date"
            value={from}
            onChange={(value) => filters.set({ from: value })}
          />
          <TextField
            label="Last day"
            type="date"
            value={to}
            onChange={(value) => filters.set({ to: value })}
          />
        </>
      )}
      {problem !== undefined && (
        <p role="status" className="text-soft sm:col-span-2 lg:col-span-4">
          {problem}
        </p>
      )}
    </div>
  );
}

function SumTable({
  rows,
  times,
  error,
  onRetry,
}: {
  readonly rows: readonly AccountSum[] | undefined;
  readonly times: readonly number[];
  readonly error: unknown;
  readonly onRetry: () => void;
}) {
  const tokenName = useTokenNames();
  const monthOf = ({ period }: AccountSum) => monthName(times[period] ?? 0);
  const amountOf = (name: 'received' | 'refunded' | 'fees' | 'settled') => {
    const digits = mostDigits((rows ?? []).map((row) => row[name]));
    return (row: AccountSum) => <ExactUsd micro={row[name]} digits={digits} />;
  };
  const columns: readonly Column<AccountSum>[] = [
    {
      key: 'wallet',
      header: 'Wallet and token',
      isWide: true,
      sortBy: (row) => `${row.accountName} ${tokenName(row.tokenId)}`,
      cell: (row) => (
        <>
          <span className="block truncate font-medium" title={row.accountName}>
            {row.accountName}
          </span>
          <span className="block truncate text-sm text-soft">{tokenName(row.tokenId)}</span>
          <span className="block truncate text-sm text-soft xl:hidden">{monthOf(row)}</span>
          <span className="block text-sm wrap-anywhere whitespace-normal text-soft sm:hidden">
            Received {formatUsd(row.received)}
          </span>
        </>
      ),
    },
    {
      key: 'month',
      header: 'Month',
      sortBy: ({ period }) => period,
      from: 'xl',
      cell: (row) => <span className="whitespace-nowrap">{monthOf(row)}</span>,
    },
    {
      key: 'received',
      header: 'Received',
      isAtEnd: true,
      from: 'sm',
      cell: amountOf('received'),
      sortBy: ({ received }) => received,
    },
    {
      key: 'refunded',
      header: 'Refunded',
      isAtEnd: true,
      from: 'xl',
      cell: amountOf('refunded'),
      sortBy: ({ refunded }) => refunded,
    },
    {
      key: 'fees',
      header: 'Fees',
      isAtEnd: true,
      from: 'xl',
      cell: amountOf('fees'),
      sortBy: ({ fees }) => fees,
    },
    {
      key: 'settled',
      header: 'Settled',
      isAtEnd: true,
      cell: amountOf('settled'),
      sortBy: ({ settled }) => settled,
    },
  ];
  return (
    <Table
      label="Sums"
      columns={columns}
      source={{ rows, error, onRetry }}
      keyOf={({ period, accountId, tokenId }) => [dayText(times[period] ?? 0), accountId, tokenId].join(' ')}
      empty={
        <Empty icon={<FileSpreadsheet />} title="No money moved in this time">
          A row stands here for each month, wallet and token with a payment, a settlement or a refund.
        </Empty>
      }
    />
  );
}

/** All rows in one. */
function Totals({ rows }: { readonly rows: readonly AccountSum[] | undefined }) {
  if (rows?.length === 0) return null;
  const total = rows && totalOfRows(rows);
  return (
    <div className="mb-4">
      <p className="mb-3 text-soft">
        Received and refunded count under the token that the payer used; settled and its fees under the token
        that arrived in your wallet.
      </p>
      <Figures>
        <Figure title="Received">{total && <ExactUsd micro={total.received} />}</Figure>
        <Figure title="Refunded">{total && <ExactUsd micro={total.refunded} />}</Figure>
        <Figure title="Fees">{total && <ExactUsd micro={total.fees} />}</Figure>
        <Figure title="Settled">{total && <ExactUsd micro={total.settled} />}</Figure>
      </Figures>
    </div>
  );
}
