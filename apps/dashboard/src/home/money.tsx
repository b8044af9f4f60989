import { ChartColumn } from 'lucide-react';
import { useState } from 'react';
import type { ReplyTo } from '../api/call.ts';
import { serviceNow } from '../api/service-clock.ts';
import { useRead } from '../api/use-call.ts';
import { useTokenNames } from '../api/use-token-names.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { useFilters } from '../app/use-filters.ts';
import { BarChart } from '../ui/bar-chart.tsx';
import { Button } from '../ui/button.tsx';
import { Figure, Figures } from '../ui/figure.tsx';
import { dateLocale, formatNumber, formatUsd } from '../ui/format.ts';
import { OddFilters } from '../ui/odd-filters.tsx';
import { Card, Section } from '../ui/page.tsx';
import { SegmentedChoice } from '../ui/segmented-choice.tsx';
import { Empty, Failed } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Cents, Usd } from '../ui/value.tsx';
import { dayBars, dayTimes, type TokenSums, tokenSums } from './day-sums.ts';

/** Money moves while the page stands open. */
const refreshMs = 30_000;
const periods = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
] as const;
const kinds = [
  { value: 'received', label: 'Received' },
  { value: 'settled', label: 'Settled' },
] as const;
type Kind = (typeof kinds)[number]['value'];

/** What came in, what reached the wallets, and what is on its way: in all, on each day, and in each token. */
export function Money({ isReady }: { readonly isReady: boolean }) {
  const filters = useFilters(['days'], { days: periods.map(({ value }) => value) });
  const period = periods.find(({ value }) => value === filters.values.days) ?? periods[1];
  const times = dayTimes(new Date(serviceNow()), Number(period.value));
  const sums = useRead('POST /summary/periods', { body: { times } }, { everyMs: refreshMs });
  const summary = useRead('GET /summary', {}, { everyMs: refreshMs });
  const mayReport = mayDo(useMerchant().role, 'reports:read');
  const [from = 0, to = 0] = [times[0], times.at(-1)];
  const report = useRead(
    'POST /report/sums',
    { body: { times: [from, to] } },
    { isOn: mayReport, everyMs: refreshMs },
  );
  const refunded = mayReport ? refundedOf(isReady ? report.data?.sums : undefined) : null;
  const data = isReady ? sums.data : undefined;
  const moving = isReady ? summary.data?.onItsWay : undefined;
  const tokens = data === undefined || moving === undefined ? undefined : tokenSums(data, moving);
  const failed = isReady
    ? [sums, summary].find(({ isError, data }) => isError && data === undefined)
    : undefined;
  const actions = (
    <SegmentedChoice
      label="Days"
      value={period.value}
      onChange={(days) => filters.set({ days: days === '30' ? '' : days })}
      options={periods}
    />
  );
  if (failed !== undefined)
    return (
      <Section title="Money" actions={actions}>
        <Card>
          <Failed
            error={failed.error}
            onRetry={() => void Promise.all([sums.refetch(), summary.refetch()])}
          />
        </Card>
      </Section>
    );
  return (
    <Section title="Money" actions={actions}>
      <OddFilters of={filters} />
      <Overview tokens={tokens} sums={data} moving={moving} refunded={refunded} />
      <DayChart times={times} sums={data} period={period.label} />
      {tokens !== undefined && tokens.length > 0 && <TokenTable tokens={tokens} />}
    </Section>
  );
}

type Sums = NonNullable<ReturnType<typeof useRead<'POST /summary/periods'>>['data']>;
type Moving = NonNullable<ReturnType<typeof useRead<'GET /summary'>>['data']>['onItsWay'];

const count = (rows: readonly { readonly payments: number }[], one: string, many: string) => {
  const payments = rows.reduce((total, row) => total + row.payments, 0);
  return `${formatNumber(payments)} ${payments === 1 ? one : many}`;
};

/** What went back to payers; undefined until it is known. */
function refundedOf(rows: ReplyTo<'POST /report/sums'>['sums'] | undefined) {
  const refunds = rows?.filter(({ kind }) => kind === 'refunded');
  return (
    refunds && {
      value: refunds.reduce((sum, { totalValue }) => sum + BigInt(totalValue), 0n),
      count: refunds.reduce((sum, { count }) => sum + count, 0),
    }
  );
}

function Overview({
  tokens,
  sums,
  moving,
  refunded,
}: {
  /** null: the role does not see it. */
  readonly refunded: ReturnType<typeof refundedOf> | null;
  readonly tokens: readonly TokenSums[] | undefined;
  readonly sums: Sums | undefined;
  readonly moving: Moving | undefined;
}) {
  const totalOf = (kind: Kind | 'onItsWay') => tokens?.reduce((total, token) => total + token[kind], 0n);
  const fees = sums?.settled.reduce((total, { feeValue }) => total + BigInt(feeValue), 0n);
  const [received, settled, moved] = [totalOf('received'), totalOf('settled'), totalOf('onItsWay')];
  // All in one way, so that they add up.
  const isExact = [received, settled, moved, fees, refunded?.value].every(
    (micro) => micro === undefined || micro < leastRounded,
  );
  const usd = (micro: bigint | undefined, isHalfUp = false) => {
    if (micro === undefined) return undefined;
    return isExact ? <Usd micro={micro} /> : <Cents micro={micro} isHalfUp={isHalfUp} />;
  };
  return (
    <Figures>
      <Figure title="Received" note={sums ? count(sums.received, 'final payment', 'final payments') : ''}>
        {usd(received)}
      </Figure>
      <Figure title="Settled" note={sums ? count(sums.settled, 'payment', 'payments') : ''}>
        {usd(settled)}
      </Figure>
      <Figure title="Fees" note="On what was settled">
        {usd(fees, true)}
      </Figure>
      {refunded !== null && (
        <Figure
          title="Refunded"
          note={refunded && `${formatNumber(refunded.count)} ${refunded.count === 1 ? 'refund' : 'refunds'}`}
        >
          {usd(refunded?.value)}
        </Figure>
      )}
      <Figure
        title="On its way now"
        note={moving ? count(moving, 'payment to settle', 'payments to settle') : ''}
      >
        {usd(moved)}
      </Figure>
    </Figures>
  );
}

/** Micro-USD from which figures are rounded to cents: all digits of larger ones have no room. */
const leastRounded = 1_000_000_000n;

const axisUsd = (micro: bigint) =>
  micro > 0n && micro < 1_000_000n
    ? formatUsd(micro)
    : formatNumber(micro / 1_000_000n, {
        style: 'currency',
        currency: 'USD',
        currencyDisplay: 'narrowSymbol',
        notation: 'compact',
      });

const dayName = new Intl.DateTimeFormat(dateLocale(), { weekday: 'short', day: 'numeric', month: 'short' });
const shortDayName = new Intl.DateTimeFormat(dateLocale(), { day: 'numeric', month: 'short' });

function DayChart({
  times,
  sums,
  period,
}: {
  readonly times: readonly number[];
  readonly sums: Sums | undefined;
  readonly period: string;
}) {
  const [kind, setKind] = useState<Kind>('received');
  const [isTable, setTable] = useState(false);
  const tokenName = useTokenNames();
  const rows =
    kind === 'received'
      ? sums?.received.map((row) => ({ ...row, value: row.totalValue }))
      : sums?.settled.map((row) => ({ ...row, value: row.netValue }));
  const { tokenIds, days } = dayBars(rows ?? [], times.length - 1);
  const series = tokenIds.map(tokenName);
  const bars = days.map((parts, index) => ({
    key: String(times[index]),
    name: dayName.format(new Date((times[index] ?? 0) * 1_000)),
    shortName: shortDayName.format(new Date((times[index] ?? 0) * 1_000)),
    parts,
  }));
  return (
    <Card className="mt-3 p-4 md:mt-4 md:p-5">
      <div className="mb-4 flex flex-wrap items-center justify-between gap-3">
        <SegmentedChoice label="What the chart shows" value={kind} onChange={setKind} options={kinds} />
        {tokenIds.length > 0 && (
          <Button kind="quiet" size="small" onClick={() => setTable(!isTable)}>
            {isTable ? 'Show the chart' : 'Show as a table'}
          </Button>
        )}
      </div>
      {rows === undefined && <div aria-hidden className="h-65 animate-pulse rounded-md bg-sunken" />}
      {rows !== undefined && tokenIds.length === 0 && (
        <div className="min-h-65">
          <Empty icon={<ChartColumn />} title={`Nothing ${kind} in ${period}`}>
            A bar stands here for each day on which money came.
          </Empty>
        </div>
      )}
      {tokenIds.length > 0 && !isTable && (
        <BarChart
          label={`${kind === 'received' ? 'Received' : 'Settled'} on each day`}
          bars={bars}
          series={series}
          format={axisUsd}
          formatExact={formatUsd}
          whole={`Last ${period}`}
        />
      )}
      {tokenIds.length > 0 && isTable && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it
        <section className="max-h-96 overflow-auto" aria-label="Days" tabIndex={0}>
          <table className="w-full text-right tabular-nums">
            <thead className="sticky top-0 bg-raised text-xs text-soft">
              <tr>
                <th scope="col" className="h-9 text-left font-medium">
                  Day
                </th>
                {series.map((name) => (
                  <th key={name} scope="col" className="pl-4 font-medium whitespace-nowrap">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody className="divide-y divide-line">
              {bars.toReversed().map(({ key, name, parts }) => (
                <tr key={key}>
                  <th scope="row" className="h-9 text-left font-normal whitespace-nowrap">
                    {name}
                  </th>
                  {parts.map((value, index) => (
                    <td key={tokenIds[index]} className="pl-4">
                      <Usd micro={value} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </Card>
  );
}

function TokenTable({ tokens }: { readonly tokens: readonly TokenSums[] }) {
  const tokenName = useTokenNames();
  const columns: readonly Column<TokenSums>[] = [
    { key: 'token', header: 'Token', isWide: true, cell: ({ tokenId }) => tokenName(tokenId) },
    {
      key: 'received',
      header: 'Received',
      isAtEnd: true,
      cell: ({ received }) => <Cents micro={received} />,
      sortBy: ({ received }) => received,
    },
    {
      key: 'settled',
      header: 'Settled',
      isAtEnd: true,
      cell: ({ settled }) => <Cents micro={settled} />,
      sortBy: ({ settled }) => settled,
    },
    {
      key: 'moving',
      header: 'On its way now',
      isAtEnd: true,
      from: 'sm',
      cell: ({ onItsWay }) => <Cents micro={onItsWay} />,
      sortBy: ({ onItsWay }) => onItsWay,
    },
  ];
  return (
    <div className="mt-3 md:mt-4">
      <p className="mb-2 text-soft">
        Received counts under the token that the payer used, settled under the one that arrived in your
        wallet.
      </p>
      <Table
        label="By token"
        columns={columns}
        source={{ rows: tokens, error: undefined, onRetry: () => undefined }}
        keyOf={({ tokenId }) => tokenId}
        empty={null}
      />
    </div>
  );
}
