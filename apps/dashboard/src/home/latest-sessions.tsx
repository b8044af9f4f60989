import { CreditCard } from 'lucide-react';
import type { ReplyTo } from '../api/call.ts';
import { useRead } from '../api/use-call.ts';
import { useHasScreen } from '../app/open-screens.ts';
import { ScreenLink, useScreenPath } from '../app/screen-link.tsx';
import { buttonClass } from '../ui/button.tsx';
import { Section } from '../ui/page.tsx';
import { Payer } from '../ui/payer.tsx';
import { SessionStatusLines } from '../ui/session-status.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time, Usd } from '../ui/value.tsx';

type View = ReplyTo<'GET /session/list/all/:page/:size'>['sessions'][number];

const refreshMs = 15_000;
const latest = { params: { page: 1, size: 8 } };

const columnsOf = (tokenOf: Parameters<typeof SessionStatusLines>[0]['tokenOf']): readonly Column<View>[] => [
  {
    key: 'amount',
    header: 'Amount',
    isWide: 'phone',
    cell: ({ session }) => (
      <>
        <Usd micro={session.amount} className="font-medium" />
        <span className="block truncate text-sm text-soft sm:hidden">
          {session.lineItems.items[0]?.productData?.productName ?? ''}
        </span>
      </>
    ),
  },
  {
    key: 'status',
    header: 'Status',
    cell: (view) => (
      <>
        <SessionStatusLines {...view} tokenOf={tokenOf} />
        <Time time={view.session.createAt} className="block text-sm text-soft sm:hidden" />
      </>
    ),
  },
  {
    key: 'what',
    header: 'For',
    from: 'md',
    isWide: true,
    cell: ({ session: { lineItems } }) => {
      const [first, ...others] = lineItems.items;
      return (
        <>
          {first?.productData?.productName ?? ''}
          {others.length > 0 && <span className="text-soft"> and {others.length} more</span>}
        </>
      );
    },
  },
  {
    key: 'payer',
    header: 'Payer',
    from: 'lg',
    cell: (view) => <Payer {...view} />,
  },
  {
    key: 'at',
    header: 'Created',
    from: 'sm',
    isAtEnd: true,
    cell: ({ session }) => <Time time={session.createAt} className="text-soft" />,
  },
];

/** The newest sessions, paid or not. */
export function LatestSessions({ isReady }: { readonly isReady: boolean }) {
  const list = useRead('GET /session/list/all/:page/:size', latest, { everyMs: refreshMs });
  const tokens = useRead('GET /token/list', {});
  const pathOf = useScreenPath();
  const hasPayments = useHasScreen()('payments');
  return (
    <Section
      title="Newest payments"
      actions={
        hasPayments && (
          <ScreenLink path="payments" className={buttonClass('quiet', 'small')}>
            All payments
          </ScreenLink>
        )
      }
    >
      <Table
        label="Newest payments"
        columns={columnsOf((wanted) => tokens.data?.tokens.find(({ tokenId }) => tokenId === wanted))}
        source={{
          rows: isReady ? list.data?.sessions : undefined,
          error: isReady ? list.error : undefined,
          onRetry: () => void list.refetch(),
        }}
        keyOf={({ session }) => session.sessionId}
        {...(hasPayments ? { hrefOf: ({ session }: View) => pathOf(`payments/${session.sessionId}`) } : {})}
        skeletonRows={8}
        empty={
          <Empty icon={<CreditCard />} title="No payments yet">
            A payment stands here as soon as a payer opens a link or your program creates a session.
          </Empty>
        }
      />
    </Section>
  );
}
