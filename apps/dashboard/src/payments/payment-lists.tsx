import type { DeliveryStatus } from '@florin/protocol/delivery-api.ts';
import { useState } from 'react';
import { useHasScreen } from '../app/open-screens.ts';
import { ScreenLink, useScreenPath } from '../app/screen-link.tsx';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Section } from '../ui/page.tsx';
import { RefundStatusBadge } from '../ui/refund-status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time, Usd } from '../ui/value.tsx';
import type { PaymentHistory } from './types.ts';

/** The refunds of a payment. */
export function PaymentRefunds({ history }: { readonly history: PaymentHistory | undefined }) {
  const pathOf = useScreenPath();
  if (history === undefined || history.refunds.length === 0) return null;
  const columns: readonly Column<PaymentHistory['refunds'][number]>[] = [
    { key: 'amount', header: 'Amount', cell: ({ amount }) => <Usd micro={amount} className="font-medium" /> },
    {
      key: 'status',
      header: 'Status',
      cell: ({ status, exceptionId }) => (
        <>
          <RefundStatusBadge status={status} />
          {exceptionId !== '' && <span className="block text-sm text-soft">Of the second payment</span>}
        </>
      ),
    },
    { key: 'reason', header: 'Reason', isWide: true, from: 'sm', cell: ({ reason }) => reason || '—' },
    { key: 'at', header: 'Created', isAtEnd: true, cell: ({ createAt }) => <Time time={createAt} /> },
  ];
  return (
    <Section title="Refunds">
      <Table
        label="Refunds"
        columns={columns}
        source={{ rows: history.refunds, error: undefined, onRetry: () => undefined }}
        keyOf={({ refundId }) => refundId}
        hrefOf={({ refundId }) => pathOf(`refunds/${refundId}`)}
        empty={null}
      />
    </Section>
  );
}

/** Deliveries that are shown before more are asked for. */
const firstDeliveries = 8;

/** What was told to the merchant's servers. */
export function PaymentDeliveries({ history }: { readonly history: PaymentHistory | undefined }) {
  const [isWhole, setWhole] = useState(false);
  const hasWebhooks = useHasScreen()('webhooks');
  if (history === undefined || history.deliveries.length === 0) return null;
  const columns: readonly Column<PaymentHistory['deliveries'][number]>[] = [
    {
      key: 'event',
      header: 'Event',
      isWide: true,
      cell: ({ eventType, url, webhookId, deliveryId }) => (
        <>
          {hasWebhooks ? (
            <ScreenLink
              path={`webhooks/${webhookId}`}
              search={{ delivery: deliveryId } as never}
              className="block truncate font-mono text-sm text-accent underline-offset-2 hover:underline"
            >
              {eventType}
            </ScreenLink>
          ) : (
            <span className="block truncate font-mono text-sm">{eventType}</span>
          )}
          <span className="block truncate text-sm text-soft">{url}</span>
        </>
      ),
    },
    {
      key: 'status',
      header: 'Status',
      cell: ({ status, attempts }) => {
        const { tone, text } = deliveryStates[status];
        const isRetry = status === 'pending' && attempts > 0;
        return isRetry ? (
          <Badge tone="warn">{attempts === 1 ? 'Tried once' : `Tried ${attempts} times`}</Badge>
        ) : (
          <Badge tone={tone}>{text}</Badge>
        );
      },
    },
    {
      key: 'at',
      // Of the event: one that waits was not sent yet.
      header: 'Created',
      isAtEnd: true,
      from: 'sm',
      cell: ({ at }) => <Time time={at} className="text-soft" />,
    },
  ];
  return (
    <Section title="Webhooks">
      <Table
        label="Webhook deliveries"
        columns={columns}
        source={{
          rows: isWhole ? history.deliveries : history.deliveries.slice(0, firstDeliveries),
          error: undefined,
          onRetry: () => undefined,
        }}
        keyOf={({ deliveryId }) => deliveryId}
        empty={null}
        more={
          isWhole || history.deliveries.length <= firstDeliveries
            ? undefined
            : { onMore: () => setWhole(true), isLoading: false }
        }
      />
    </Section>
  );
}

const deliveryStates: Readonly<Record<DeliveryStatus, { readonly tone: Tone; readonly text: string }>> = {
  pending: { tone: 'neutral', text: 'Waiting' },
  succeeded: { tone: 'good', text: 'Delivered' },
  failed: { tone: 'bad', text: 'Failed' },
  skipped: { tone: 'neutral', text: 'Skipped' },
};
