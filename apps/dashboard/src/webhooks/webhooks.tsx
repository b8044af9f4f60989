import { Plus, Webhook } from 'lucide-react';
import { useState } from 'react';
import { useRead } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { useGoTo, useScreenPath } from '../app/screen-link.tsx';
import { Button } from '../ui/button.tsx';
import { PageHeader, Skeleton } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/value.tsx';
import { isSought } from './delivery-filter.ts';
import type { Hook } from './types.ts';
import { WebhookSheet } from './webhook-form.tsx';
import { HookBadge } from './webhook-words.tsx';

/** Deliveries that the list looks at for each webhook. */
const watched = 20;

const columns: readonly Column<Hook>[] = [
  {
    key: 'webhook',
    header: 'Webhook',
    isWide: true,
    cell: ({ webhookName, webhookUrl }) => (
      <>
        <span className="block truncate font-medium">{webhookName}</span>
        <span className="block truncate font-mono text-sm text-soft">{webhookUrl}</span>
      </>
    ),
  },
  { key: 'state', header: 'Status', cell: ({ status }) => <HookBadge status={status} /> },
  {
    key: 'failures',
    header: 'Latest deliveries',
    from: 'sm',
    cell: ({ webhookId }) => <Failures webhookId={webhookId} />,
  },
  {
    key: 'events',
    header: 'Events',
    from: 'lg',
    cell: ({ subscribedEvents }) =>
      subscribedEvents.includes('*') ? (
        'All'
      ) : (
        <span title={subscribedEvents.join('\n')} className="whitespace-nowrap">
          {subscribedEvents.length} chosen
        </span>
      ),
  },
  {
    key: 'made',
    header: 'Created',
    from: 'xl',
    isAtEnd: true,
    cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
  },
];

/** How many of the latest deliveries did not arrive. */
function Failures({ webhookId }: { readonly webhookId: string }) {
  const { data, error } = useRead('GET /webhook/delivery/list/:webhookId/:page/:size', {
    params: { webhookId, page: 1, size: watched },
  });
  if (error !== null) return <span className="text-faint">Not known</span>;
  if (data === undefined) return <Skeleton />;
  const { deliveries } = data;
  if (deliveries.length === 0) return <span className="text-faint">None yet</span>;
  const failing = deliveries.filter((sent) => isSought(sent, { state: 'failing', type: '' })).length;
  const skipped = deliveries.filter(({ status }) => status === 'skipped').length;
  if (failing === 0)
    return (
      <span className="whitespace-nowrap text-soft">
        {skipped === 0 ? 'No failures' : `${skipped} of ${deliveries.length} skipped`}
      </span>
    );
  return (
    <span className="whitespace-nowrap text-bad">
      {failing} of {deliveries.length} failing
    </span>
  );
}

export default function Webhooks() {
  const mayChange = mayDo(useMerchant().role, 'webhooks:write');
  const webhooks = useRead('GET /webhook/list', {});
  const goTo = useGoTo();
  const pathOf = useScreenPath();
  const [isCreating, setCreating] = useState(false);
  const create = mayChange && (
    <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
      Add a webhook
    </Button>
  );
  const rows = webhooks.data?.webhooks;
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Florin tells your server what happens: signed, and tried again until your server accepts it."
        actions={rows?.length === 0 ? undefined : create}
      />
      <Table
        label="Webhooks"
        columns={columns}
        source={{ rows, error: webhooks.error, onRetry: () => void webhooks.refetch() }}
        keyOf={({ webhookId }) => webhookId}
        hrefOf={({ webhookId }) => pathOf(`webhooks/${webhookId}`)}
        skeletonRows={3}
        empty={
          <Empty icon={<Webhook />} title="No webhooks yet" action={create}>
            Add the address of your server, and it hears of every payment.
          </Empty>
        }
      />
      {isCreating && (
        <WebhookSheet
          onClose={() => setCreating(false)}
          onSaved={(webhookId) => goTo(`webhooks/${webhookId}`)}
        />
      )}
    </>
  );
}
