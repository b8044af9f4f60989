import { CopyButton } from '../ui/value.tsx';
import type { RefundStep } from './send-refund.ts';

/** The transactions as they are, for wallets outside this browser. */
export function Transactions({
  steps,
  isOpen,
}: {
  readonly steps: readonly RefundStep[];
  readonly isOpen: boolean;
}) {
  return (
    <details open={isOpen} className="rounded-lg border border-line">
      <summary className="cursor-pointer px-3 py-2.5 font-medium">Transactions to copy</summary>
      <ol className="divide-y divide-line border-t border-line">
        {steps.map(({ title, tx }, index) => (
          <li key={tx.data} className="px-3 py-2.5">
            <p className="mb-1 font-medium">
              {index + 1}. {title}
            </p>
            <dl className="grid gap-1">
              {(['chainId', 'to', 'data', 'value'] as const).map((name) => (
                <div key={name} className="grid grid-cols-[4rem_1fr_auto] items-start gap-2">
                  <dt className="text-sm text-soft">{name}</dt>
                  <dd className="line-clamp-2 min-w-0 font-mono text-sm break-all">{tx[name]}</dd>
                  <dd>
                    <CopyButton text={tx[name]} label={`Copy ${name} of step ${index + 1}`} />
                  </dd>
                </div>
              ))}
            </dl>
          </li>
        ))}
      </ol>
    </details>
  );
}
