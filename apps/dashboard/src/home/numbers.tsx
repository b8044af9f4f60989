import type { ReactNode } from 'react';
import type { ReadCall } from '../api/call.ts';
import { useRead } from '../api/use-call.ts';
import { Card, Section, Skeleton } from '../ui/page.tsx';

/** Money moves while the page stands open. */
const refreshMs = 15_000;
const one = { params: { page: 1, size: 1 } };

type SessionList = Extract<ReadCall, `GET /session/list/${string}`>;

function useTotal(call: SessionList): number | undefined {
  return useRead(call, one, { everyMs: refreshMs }).data?.total;
}

/** How many payments are in each state. */
export function Numbers() {
  const completed = useTotal('GET /session/list/completed/:page/:size');
  const paid = useTotal('GET /session/list/paid/:page/:size');
  const settling = useTotal('GET /session/list/settling/:page/:size');
  const delayed = useTotal('GET /session/list/settlement/pending/:page/:size');
  const isKnown = paid !== undefined && settling !== undefined && delayed !== undefined;
  return (
    <Section title="Payments">
      <div className="grid grid-cols-2 gap-3 md:gap-4 lg:grid-cols-4">
        <Figure title="Settled" value={completed}>
          In your wallets
        </Figure>
        <Figure title="On its way" value={isKnown ? paid + settling + delayed : undefined}>
          Paid, not settled yet
        </Figure>
        <Figure title="Being settled" value={settling}>
          Sent to your wallets
        </Figure>
        <Figure title="Delayed" value={delayed}>
          Tried again by itself
        </Figure>
      </div>
    </Section>
  );
}

const format = new Intl.NumberFormat();

function Figure({
  title,
  value,
  children,
}: {
  readonly title: string;
  readonly value: number | undefined;
  readonly children: ReactNode;
}) {
  return (
    <Card>
      <p className="text-soft">{title}</p>
      <p className="my-1 flex h-8 items-center text-2xl font-semibold tracking-tight tabular-nums">
        {value === undefined ? <Skeleton className="h-6 w-16" /> : format.format(value)}
      </p>
      <p className="text-sm text-faint">{children}</p>
    </Card>
  );
}
