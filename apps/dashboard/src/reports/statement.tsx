import { useQuery } from '@tanstack/react-query';
import { Printer } from 'lucide-react';
import { ApiFailure } from '../api/failure.ts';
import { request, useRead } from '../api/use-call.ts';
import { useTokenNames } from '../api/use-token-names.ts';
import { useMerchant } from '../app/merchant.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { Button, buttonClass } from '../ui/button.tsx';
import { SkeletonFacts, useTitle } from '../ui/page.tsx';
import { Failed } from '../ui/states.tsx';
import { ExactUsd } from '../ui/value.tsx';
import { type AccountSum, accountRows, mostDigits, totalOfRows } from './account-rows.ts';
import { orderReport, readFile } from './order-report.ts';
import { periodText } from './period.ts';
import {
  cell,
  head,
  type Listed,
  maxListed,
  nameClass,
  number,
  onPaper,
  type Refunded,
  Refunds,
  type Settlement,
  Settlements,
  Wide,
} from './statement-lists.tsx';
import { useReportChoice } from './use-report-choice.ts';

/** A page for the accountant: the sums of a period by wallet and token, and its settlements. It prints. */
export default function Statement() {
  const { merchantId, merchantName } = useMerchant();
  const legalName = useRead('GET /branding/detail', {}).data?.legalName ?? '';
  const choice = useReportChoice();
  const { period, problem, account } = choice;
  const statement = useStatement(choice);
  const { data, error, isError } = statement;
  const nameOf = (accountId: string) =>
    [...(choice.accounts.data ?? []), ...(data?.sums ?? [])].find((each) => each.accountId === accountId)
      ?.accountName ?? accountId;
  useTitle('Statement');
  return (
    <article>
      <div className="print-hidden mb-6 flex flex-wrap items-center justify-between gap-2">
        <ScreenLink
          path="reports"
          search
          className={buttonClass('quiet', 'normal', '-ml-3.5 max-md:invisible')}
        >
          Back to the reports
        </ScreenLink>
        <Button
          kind="primary"
          icon={<Printer />}
          disabled={data === undefined}
          onClick={() => window.print()}
        >
          Print
        </Button>
      </div>
      <header className="mb-6">
        <h1 className="text-2xl font-semibold wrap-anywhere">{legalName || merchantName}</h1>
        <p className="text-soft wrap-anywhere">
          {legalName !== '' && legalName !== merchantName && `${merchantName}, `}
          {merchantId}
        </p>
        <p className="text-lg">Statement of payments</p>
        {period && <p className="text-soft">{periodText(period)}, in UTC. Amounts are in USD.</p>}
        {period && data && data.asOf < period.to && (
          <p className="text-soft">
            The period has not ended. The sums are as of{' '}
            {new Date(data.asOf * 1_000).toISOString().slice(0, 16).replace('T', ' ')} UTC.
          </p>
        )}
        {account !== '' && <p className="wrap-anywhere text-soft">Wallet: {nameOf(account)}</p>}
      </header>
      {problem !== undefined && <p>{problem}</p>}
      {isError && <Failed error={error} onRetry={() => void statement.refetch()} />}
      {problem === undefined && !isError && data === undefined && <SkeletonFacts lines={8} />}
      {data && (
        <>
          <Sums rows={summedRows(accountRows(data.sums))} nameOf={nameOf} />
          <Settlements list={data.settlements} nameOf={nameOf} />
          <Refunds list={data.refunds} nameOf={nameOf} />
        </>
      )}
    </article>
  );
}

/** The rows of all months of one wallet and token in one. */
function summedRows(rows: readonly AccountSum[]): AccountSum[] {
  const groups = Map.groupBy(rows, ({ accountId, tokenId }) => `${accountId} ${tokenId}`);
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first === undefined ? [] : [{ ...first, ...totalOfRows(group) }];
  });
}

/** The rows of a report, oldest first. More than can be printed are counted alone. */
async function listed<Row extends Settlement | Refunded>(
  merchantId: string,
  order: Parameters<typeof orderReport>[1],
  signal: AbortSignal,
): Promise<Listed<Row>> {
  const report = await orderReport(merchantId, order, { signal });
  if (report === undefined) throw new DOMException('the page was left', 'AbortError');
  if (report.status === 'failed') throw new ApiFailure({ slug: 'internal', message: report.reason });
  const { rows: count } = report;
  if (count > maxListed) return { count, rows: [] };
  const rows = JSON.parse(await (await readFile(report, signal)).text()) as Row[];
  const timeOf = (row: Settlement | Refunded) => ('settledAt' in row ? row.settledAt : row.refundedAt);
  return { count, rows: rows.toSorted((one, other) => (timeOf(one) < timeOf(other) ? -1 : 1)) };
}

/** The sums, with the settlements and refunds of the same time. */
function useStatement({ period, body, account }: ReturnType<typeof useReportChoice>) {
  const { merchantId } = useMerchant();
  return useQuery({
    queryKey: [merchantId, 'statement', body],
    enabled: period !== undefined,
    // What stands on the page stays until it is left; each visit reads anew.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    queryFn: async ({ signal }) => {
      if (period === undefined) throw new Error('a statement needs a period');
      const { sums, asOf } = await request(merchantId, 'POST /report/sums', { body });
      const order = { format: 'json', period, asOf, accountId: account } as const;
      const hasRefunds = accountRows(sums).some(({ refunds }) => refunds > 0);
      const none = { count: 0, rows: [] };
      return {
        ...{ sums, asOf },
        settlements: await listed<Settlement>(merchantId, { ...order, type: 'settlements' }, signal),
        refunds: hasRefunds
          ? await listed<Refunded>(merchantId, { ...order, type: 'refunds' }, signal)
          : none,
      };
    },
  });
}

const sumNames = ['Gross received', 'Refunds', 'Fees of settlements', 'Net settled'] as const;
/** A phone has room for one column of sums. */
const columnClass = (name: (typeof sumNames)[number] | undefined) => (name === 'Net settled' ? '' : onPaper);

/** What a phone has no columns for. */
function PhoneSums({ values }: { readonly values: readonly bigint[] }) {
  return (
    <span className="block text-sm font-normal text-soft md:hidden print:hidden">
      {sumNames.slice(0, -1).map((name, index) => (
        <span key={name} className="block">
          {name} <ExactUsd micro={values[index] ?? 0n} />
        </span>
      ))}
    </span>
  );
}

function Sums({
  rows,
  nameOf,
}: {
  readonly rows: readonly AccountSum[];
  readonly nameOf: (accountId: string) => string;
}) {
  const tokenName = useTokenNames();
  const total = totalOfRows(rows);
  const amounts = ({ received, refunded, fees, settled }: typeof total) => [
    received,
    refunded,
    fees,
    settled,
  ];
  const digits = amounts(total).map((value, index) =>
    mostDigits([value, ...rows.map((row) => amounts(row)[index] ?? 0n)]),
  );
  return (
    <section className="mb-8">
      <h2 className="mb-2 text-lg font-semibold">Sums by wallet and token</h2>
      <Wide label="Sums by wallet and token">
        <thead className="border-b border-line-strong">
          <tr>
            <th scope="col" className={head}>
              Wallet and token
            </th>
            {sumNames.map((name) => (
              <th key={name} scope="col" className={`${head} text-right ${columnClass(name)}`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y divide-line">
          {rows.map((row) => (
            <tr key={`${row.accountId} ${row.tokenId}`}>
              <td className={cell}>
                <span className={nameClass}>{nameOf(row.accountId)}</span>
                <span className="text-soft">{tokenName(row.tokenId)}</span>
                <PhoneSums values={amounts(row)} />
              </td>
              {amounts(row).map((value, index) => (
                <td key={String(index)} className={`${cell} ${number} ${columnClass(sumNames[index])}`}>
                  <ExactUsd micro={value} digits={digits[index]} />
                </td>
              ))}
            </tr>
          ))}
          <tr className="border-t border-line-strong font-semibold">
            <th scope="row" className={`${cell} text-left`}>
              Total
              <PhoneSums values={amounts(total)} />
            </th>
            {amounts(total).map((value, index) => (
              <td key={String(index)} className={`${cell} ${number} ${columnClass(sumNames[index])}`}>
                <ExactUsd micro={value} digits={digits[index]} />
              </td>
            ))}
          </tr>
        </tbody>
      </Wide>
      <p className="mt-2 max-w-prose text-soft">
        A payment counts on the day when it is final, a settlement when the money is in the wallet, and a
        refund when the money is back. So what was received near the end may be settled in the next period,
        and what was received before may be settled in this one. Net settled is before refunds: what went back
        after its settlement left the wallet again, and what went back before it was never settled.
      </p>
    </section>
  );
}
