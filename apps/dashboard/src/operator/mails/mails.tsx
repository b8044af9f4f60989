import { actTitle } from '@florin/protocol/act-title.ts';
import { MailCheck, MailX } from 'lucide-react';
import { useState } from 'react';
import type { ReplyTo } from '../../api/call.ts';
import { fieldError } from '../../api/failure.ts';
import { useRead, useWrite } from '../../api/use-call.ts';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/field.tsx';
import { isolated } from '../../ui/isolated.ts';
import { Notice } from '../../ui/notice.tsx';
import { PageHeader, Section } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { Time } from '../../ui/value.tsx';
import { ActDialog } from '../act-dialog.tsx';
import { AsOf } from '../as-of.tsx';
import { RunbookLink } from '../runbook-link.tsx';
import type { Trouble } from '../trouble.ts';
import { TroubleBadge } from '../trouble-sign.tsx';
import { useMerchantNames } from '../use-installation.ts';

type MailTrouble = ReplyTo<'GET /staff/mail/list'>;
type TroubledMail = MailTrouble['mails'][number];
type Bounce = MailTrouble['bounces'][number];

const refreshMs = 10_000;

const statusWords: Readonly<
  Record<TroubledMail['status'], { readonly trouble: Trouble; readonly text: string }>
> = {
  pending: { trouble: 'mailWaits', text: 'Tried again' },
  sent: { trouble: 'mailWaits', text: 'Sent' },
  failed: { trouble: 'mailGivenUp', text: 'Given up' },
  bounced: { trouble: 'mailGivenUp', text: 'Address refused' },
  suppressed: { trouble: 'mailGivenUp', text: 'Not sent' },
};

const bounceColumns: readonly Column<Bounce>[] = [
  { key: 'address', header: 'Address', isWide: true, cell: ({ address }) => address },
  {
    key: 'reason',
    header: 'Answer',
    from: 'sm',
    isWide: true,
    cell: ({ reason }) => <Reason text={reason} />,
  },
  { key: 'at', header: 'Refused', isAtEnd: true, cell: ({ bouncedAt }) => <Time time={bouncedAt} /> },
];

const kindNames: Readonly<Record<string, string>> = {
  receipt: 'Receipt',
  refund: 'Refund',
  payment: 'Payment',
  exception: 'Exception',
  invitation: 'Invitation',
  settlement_delayed: 'Settlement delayed',
  refund_waiting: 'Refund waits',
  webhook_failing: 'Webhook fails',
  webhook_paused: 'Webhook paused',
  weekly_summary: 'Weekly summary',
};

/** What an e-mail is about. Notices have the name of their act, or of the event of a wallet. */
function kindWords(kind: string): string {
  return kindNames[kind] ?? (kind.startsWith('account.') ? 'Wallet changed' : actTitle(kind));
}

/** E-mails that did not go out, and the addresses that the mail server refuses. */
export default function Mails() {
  const trouble = useRead('GET /staff/mail/list', {}, { everyMs: refreshMs });
  const names = useMerchantNames();
  const [isReleasing, setReleasing] = useState(false);
  const { data, error } = trouble;
  const onRetry = () => void trouble.refetch();
  const columns: readonly Column<TroubledMail>[] = [
    {
      key: 'mail',
      header: 'E-mail',
      isWide: true,
      cell: ({ kind, merchantId, address, reason }) => (
        <>
          <span className="block truncate">{address === '' ? 'Several members' : address}</span>
          <span className="block text-sm whitespace-normal text-soft md:hidden">{reason}</span>
          <span className="block truncate text-sm text-soft">
            {kindWords(kind)}
            {merchantId !== '' && `, ${isolated(names.get(merchantId) ?? merchantId)}`}
          </span>
        </>
      ),
    },
    {
      key: 'status',
      header: 'Status',
      cell: ({ status, attempts }) => (
        <span className="inline-flex flex-wrap items-center gap-x-3 gap-y-1">
          <TroubleBadge trouble={statusWords[status].trouble}>{statusWords[status].text}</TroubleBadge>
          <span className="text-sm text-soft">{attempts === 1 ? '1 attempt' : `${attempts} attempts`}</span>
        </span>
      ),
    },
    {
      key: 'reason',
      header: 'Reason',
      from: 'md',
      isWide: true,
      cell: ({ reason }) => <Reason text={reason} />,
    },
    {
      key: 'next',
      header: 'Next attempt',
      from: 'lg',
      cell: ({ nextAt }) => <Time time={nextAt} className="text-soft" />,
    },
    { key: 'made', header: 'Stored', isAtEnd: true, cell: ({ createAt }) => <Time time={createAt} /> },
  ];
  return (
    <>
      <PageHeader
        title="E-mails"
        description="E-mails that did not go out, and addresses that the mail server refuses. Payers’ addresses are shown in part."
        actions={<AsOf source={trouble} />}
      />
      {data?.isConfigured === false && (
        <div className="mb-6">
          <Notice tone="info" title="This installation sends no e-mails" action={<RunbookLink name="mail" />}>
            No mail server is configured, so nothing is stored to be sent.
          </Notice>
        </div>
      )}
      <Table
        label="E-mails that did not go out"
        columns={columns}
        source={{ rows: data?.mails, error, onRetry }}
        keyOf={({ mailId }) => mailId}
        empty={
          <Empty icon={<MailCheck />} title="Nothing is wrong">
            Every e-mail of the last 90 days went out, or waits for its first attempt.
          </Empty>
        }
      />
      <Section
        title="Refused addresses"
        description="The mail server refused them for good, so they get no e-mails. Each is tried again after 180 days."
        actions={<Button onClick={() => setReleasing(true)}>Send to an address again…</Button>}
      >
        <Table
          label="Refused addresses"
          columns={bounceColumns}
          source={{ rows: data?.bounces, error, onRetry }}
          keyOf={({ address, bouncedAt }) => `${address} ${bouncedAt}`}
          empty={
            <Empty icon={<MailX />} title="No address was refused">
              A mail server that passes e-mails on may learn later that an address does not exist. It tells
              that to the mailbox of the sender.
            </Empty>
          }
        />
      </Section>
      {isReleasing && <ReleaseDialog onClose={() => setReleasing(false)} />}
    </>
  );
}

function Reason({ text }: { readonly text: string }) {
  return <span className="block min-w-40 whitespace-normal text-soft">{text}</span>;
}

function ReleaseDialog({ onClose }: { readonly onClose: () => void }) {
  const [address, setAddress] = useState('');
  const release = useWrite('POST /staff/mail/release', {
    onDone: (done) => {
      toast(`E-mails go to ${done.address} again`);
      onClose();
    },
  });
  return (
    <ActDialog
      onClose={onClose}
      title="Send to an address again?"
      act="Send again"
      write={release}
      fields={['address']}
      onConfirm={(reason) => release.run({ body: { address, reason } })}
    >
      <p>The next e-mail to it goes out. What was not sent meanwhile is not sent later.</p>
      <TextField
        label="Address"
        type="email"
        required
        maxLength={254}
        value={address}
        onChange={setAddress}
        error={fieldError(release.error, 'address')}
      />
    </ActDialog>
  );
}
