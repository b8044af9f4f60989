import type { ReactNode } from 'react';
import { useTokenNames } from '../api/use-token-names.ts';
import { formatNumber } from '../ui/format.ts';
import { ExactUsd } from '../ui/value.tsx';
import { mostDigits } from './account-rows.ts';

/** More rows than this are in the download alone: no one prints so many pages. */
export const maxListed = 5_000;

/** A row of the report of settlements. */
export interface Settlement {
  readonly sessionId: string;
  readonly accountId: string;
  readonly settledAt: string;
  /** The address that has the money: a wallet may have had another one then. */
  readonly recipient: string;
  readonly settlementToken: string;
  readonly totalValue: number;
  readonly feeValue: number;
  readonly netValue: number;
  readonly completeTx: string;
}

/** A row of the report of refunds. */
export interface Refunded {
  readonly refundId: string;
  readonly sessionId: string;
  readonly accountId: string;
  readonly refundedAt: string;
  readonly totalValue: number;
  readonly txHash: string;
}

/** Rows of a report; none where there are more than can be printed. */
export interface Listed<Row> {
  readonly count: number;
  readonly rows: readonly Row[];
}

interface ListProps<Row> {
  readonly list: Listed<Row>;
  readonly nameOf: (accountId: string) => string;
}

export const head = 'py-2 pr-3 text-left font-medium last:pr-0';
export const cell = 'py-1.5 pr-3 align-top last:pr-0';
/** A phone shows what decides; the rest is on wider screens and on paper. */
export const onPaper = 'not-print:max-md:hidden';
export const nameClass = 'block max-w-60 wrap-anywhere md:min-w-36';
export const number = 'text-right whitespace-nowrap tabular-nums';

const utcText = (time: string) => time.replace('T', ' ').replace('Z', '');

const amounts: readonly (readonly [name: string, microOf: (row: Settlement) => number])[] = [
  ['Gross', ({ totalValue }) => totalValue],
  ['Fee', ({ feeValue }) => feeValue],
  ['Net', ({ netValue }) => netValue],
];
/** A phone has room for the net alone. */
const amountClass = (name: string) => (name === 'Net' ? '' : onPaper);

export function Settlements({ list: { count, rows }, nameOf }: ListProps<Settlement>) {
  const tokenName = useTokenNames();
  const digits = amounts.map(([, microOf]) => mostDigits(rows.map(microOf)));
  return (
    <section className="mb-8">
      <h2 className="mb-2 text-lg font-semibold">Settlements</h2>
      {count === 0 && <p>Nothing was settled in this time.</p>}
      {count > maxListed && (
        <p>{formatNumber(count)} settlements are too many to print. Download them as CSV from the reports.</p>
      )}
      {rows.length > 0 && (
        <Wide label="Settlements">
          <thead className="border-b border-line-strong">
            <tr>
              <th scope="col" className={head}>
                Settled (UTC)
              </th>
              <th scope="col" className={head}>
                Wallet, token and payment
              </th>
              <th scope="col" className={`${head} ${onPaper}`}>
                Transaction
              </th>
              {amounts.map(([name]) => (
                <th key={name} scope="col" className={`${head} text-right ${amountClass(name)}`}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {rows.map((row) => (
              <tr key={row.sessionId}>
                <td className={`${cell} tabular-nums min-w-20 md:not-print:whitespace-nowrap`}>
                  {utcText(row.settledAt)}
                </td>
                <td className={cell}>
                  <span className={nameClass}>{nameOf(row.accountId)}</span>
                  <span className="text-soft">{tokenName(row.settlementToken)}</span>
                  <span className={`${onPaper} block min-w-40 print:min-w-28 font-mono text-xs break-all`}>
                    {row.recipient}
                  </span>
                  <span className={`${onPaper} block min-w-40 print:min-w-28 font-mono text-xs break-all`}>
                    {row.sessionId}
                  </span>
                </td>
                <td className={`${cell} ${onPaper} font-mono text-xs break-all`}>
                  <span className="block min-w-40 print:min-w-28">{row.completeTx}</span>
                </td>
                {amounts.map(([name, microOf], index) => (
                  <td key={name} className={`${cell} ${number} ${amountClass(name)}`}>
                    <ExactUsd micro={microOf(row)} digits={digits[index]} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </Wide>
      )}
    </section>
  );
}

export function Refunds({ list: { count, rows }, nameOf }: ListProps<Refunded>) {
  const digits = mostDigits(rows.map(({ totalValue }) => totalValue));
  return (
    <section>
      <h2 className="mb-2 text-lg font-semibold">Refunds</h2>
      {count === 0 && <p>Nothing went back in this time.</p>}
      {count > maxListed && (
        <p>{formatNumber(count)} refunds are too many to print. Download them as CSV from the reports.</p>
      )}
      {rows.length > 0 && (
        <Wide label="Refunds">
          <thead className="border-b border-line-strong">
            <tr>
              <th scope="col" className={head}>
                Back with the payer (UTC)
              </th>
              <th scope="col" className={head}>
                Wallet and payment
              </th>
              <th scope="col" className={`${head} ${onPaper}`}>
                Transaction
              </th>
              <th scope="col" className={`${head} text-right`}>
                Amount
              </th>
            </tr>
          </thead>
          <tbody className="divide-y divide-line">
            {rows.map((row) => (
              <tr key={row.refundId}>
                <td className={`${cell} tabular-nums min-w-20 md:not-print:whitespace-nowrap`}>
                  {utcText(row.refundedAt)}
                </td>
                <td className={cell}>
                  <span className={nameClass}>{nameOf(row.accountId)}</span>
                  <span className={`${onPaper} block min-w-40 print:min-w-28 font-mono text-xs break-all`}>
                    {row.sessionId}
                  </span>
                </td>
                <td className={`${cell} ${onPaper} font-mono text-xs break-all`}>
                  <span className="block min-w-40 print:min-w-28">{row.txHash}</span>
                </td>
                <td className={`${cell} ${number}`}>
                  <ExactUsd micro={row.totalValue} digits={digits} />
                </td>
              </tr>
            ))}
          </tbody>
        </Wide>
      )}
    </section>
  );
}

/** A table that scrolls by itself where it has no room, and stands whole on paper. */
export function Wide({ label, children }: { readonly label: string; readonly children: ReactNode }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys scroll it
    <section aria-label={label} tabIndex={0} className="overflow-x-auto print:overflow-visible">
      <table aria-label={label} className="w-full border-collapse md:min-w-2xl print:min-w-0">
        {children}
      </table>
    </section>
  );
}
