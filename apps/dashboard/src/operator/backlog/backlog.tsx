import { Link } from '@tanstack/react-router';
import { Webhook } from 'lucide-react';
import type { ReplyTo } from '../../api/call.ts';
import { useRead } from '../../api/use-call.ts';
import { Badge } from '../../ui/badge.tsx';
import { PageHeader } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/value.tsx';
import { AsOf } from '../as-of.tsx';
import { integerText } from '../figure.ts';
import { TroubleBadge } from '../trouble-sign.tsx';

type Line = ReplyTo<'GET /staff/webhook/list'>['webhooks'][number];

const refreshMs = 5_000;

const columns: readonly Column<Line>[] = [
  {
    key: 'webhook',
    header: 'Webhook',
    isWide: true,
    cell: ({ webhookUrl, merchantId, merchantName }) => (
      <>
        <span className="block truncate font-mono text-sm" title={webhookUrl}>
          {webhookUrl}
        </span>
        <Link to={`/${merchantId}`} className="text-sm text-accent underline-offset-2 hover:underline">
          {merchantName}
        </Link>
      </>
    ),
  },
  {
    key: 'state',
    header: 'Status',
    cell: ({ status, failures }) => {
      if (status === 'paused') return <TroubleBadge trouble="webhookPaused">Paused</TroubleBadge>;
      if (failures > 0) return <TroubleBadge trouble="webhookFails">Fails</TroubleBadge>;
      return <Badge>Delivers</Badge>;
    },
  },
  {
    key: 'failures',
    header: 'Failures in a row',
    from: 'lg',
    isAtEnd: true,
    cell: ({ failures }) => <span className="tabular-nums">{integerText(failures)}</span>,
  },
  {
    key: 'since',
    header: 'Failing since',
    from: 'lg',
    cell: ({ failingSince }) => <Time time={failingSince} className="text-soft" />,
  },
  {
    key: 'waiting',
    header: 'Waiting',
    isAtEnd: true,
    cell: ({ waiting }) => <span className="font-medium tabular-nums">{integerText(waiting)}</span>,
  },
  {
    key: 'overdue',
    header: 'Overdue',
    from: 'md',
    isAtEnd: true,
    cell: ({ overdue }) => <span className="tabular-nums">{integerText(overdue)}</span>,
  },
  {
    key: 'oldest',
    header: 'Oldest',
    from: 'md',
    isAtEnd: true,
    cell: ({ oldestAt }) => <Time time={oldestAt} className="text-soft" />,
  },
];

/** Webhooks of all merchants that are paused or have deliveries that wait. */
export default function Backlog() {
  const backlog = useRead('GET /staff/webhook/list', {}, { everyMs: refreshMs });
  return (
    <>
      <PageHeader
        title="Webhook backlog"
        description="Webhooks that are paused or have waiting deliveries: at most 200, the worst first."
        actions={<AsOf source={backlog} />}
      />
      <Table
        label="Webhook backlog"
        columns={columns}
        source={{ rows: backlog.data?.webhooks, error: backlog.error, onRetry: () => void backlog.refetch() }}
        keyOf={({ webhookId }) => webhookId}
        empty={
          <Empty icon={<Webhook />} title="Nothing waits">
            Every event was delivered, and no webhook is paused.
          </Empty>
        }
      />
    </>
  );
}
