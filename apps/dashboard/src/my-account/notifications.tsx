import { useState } from 'react';
import type { ReplyTo } from '../api/call.ts';
import { useRead, useWrite } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { CheckField } from '../ui/field.tsx';
import { FailureNotice, Notice } from '../ui/notice.tsx';
import { Card, Skeleton } from '../ui/page.tsx';
import { Failed } from '../ui/states.tsx';
import { toast } from '../ui/toast.tsx';
import { Time } from '../ui/value.tsx';

type MerchantNotifications = ReplyTo<'GET /me/notification/list'>['merchants'][number];
type Bounce = NonNullable<ReplyTo<'GET /me/notification/list'>['bounce']>;
type Kind = MerchantNotifications['notifications'][number]['kind'];

const words: Readonly<Record<Kind, { readonly label: string; readonly hint: string }>> = {
  payment: { label: 'Payments', hint: 'Each payment, once it is final' },
  exception: { label: 'Exceptions', hint: 'Money that came short, over, late, twice or in another token' },
  settlement_delayed: {
    label: 'Delayed settlements',
    hint: 'A payment whose money is not in your wallet a quarter of an hour after its first attempt failed',
  },
  refund_waiting: {
    label: 'Refunds that wait',
    hint: 'A refund that a wallet of yours has to sign, after a quarter of an hour',
  },
  webhook_failing: {
    label: 'Failing webhooks',
    hint: 'A webhook that has delivered nothing for a quarter of an hour. It is sent again for three days',
  },
  webhook_paused: { label: 'Paused webhooks', hint: 'A webhook that failed for too long' },
  access_changed: {
    label: 'Changes of who may act',
    hint: 'New members, changed roles, new keys, other names, and where webhooks and payers are sent',
  },
  wallet_changed: { label: 'Changes of wallets', hint: 'Added, changed and removed wallets' },
  weekly_summary: {
    label: 'Weekly summary',
    hint: 'On Mondays: what was received, settled and refunded, and what needs attention. No e-mail after a quiet week',
  },
};

/** What the person gets by e-mail, for each merchant. */
export function Notifications() {
  const list = useRead('GET /me/notification/list', {});
  if (list.error !== null) return <Failed error={list.error} onRetry={() => void list.refetch()} />;
  if (list.data === undefined) return <Skeleton className="h-56 rounded-xl" />;
  const { isMailConfigured, bounce, merchants } = list.data;
  return (
    <div className="space-y-4">
      {!isMailConfigured && (
        <Notice tone="info" title="This installation sends no e-mails">
          Its operator has configured no mail server. Your choices hold once there is one.
        </Notice>
      )}
      {bounce !== null && <BounceNotice bounce={bounce} />}
      {merchants.length === 0 && <p className="text-soft">You are not a member of any shop.</p>}
      {merchants.map((merchant) => (
        <Choices key={merchant.merchantId} merchant={merchant} />
      ))}
    </div>
  );
}

function BounceNotice({ bounce }: { readonly bounce: Bounce }) {
  const retry = useWrite('POST /me/mail/retry', { onDone: () => toast('E-mails go to your address again') });
  return (
    <div className="grid gap-2">
      <Notice
        tone="warn"
        title="Your e-mails came back"
        action={
          <Button size="small" isBusy={retry.isRunning} onClick={() => void retry.run({})}>
            Send them again
          </Button>
        }
      >
        <p>
          The mail server refused your address <Time time={bounce.bouncedAt} />, so nothing is sent to it.
        </p>
        <p className="mt-1 font-mono text-sm break-words">{bounce.reason}</p>
      </Notice>
      <FailureNotice error={retry.error} />
    </div>
  );
}

function Choices({
  merchant: { merchantId, merchantName, notifications },
}: {
  readonly merchant: MerchantNotifications;
}) {
  // The box shows the choice while it is being stored.
  const [changed, setChanged] = useState<{ readonly kind: Kind; readonly isWanted: boolean }>();
  const change = useWrite('POST /me/notification/change', { onDone: () => toast('Saved') });
  return (
    <Card className="px-4 py-3 md:px-5">
      <fieldset>
        <legend className="float-left mb-3 w-full font-medium wrap-anywhere">{merchantName}</legend>
        <div className="clear-both grid gap-3">
          {notifications.map(({ kind, isWanted, isAlways }) => (
            <CheckField
              key={kind}
              label={words[kind].label}
              hint={isAlways ? `${words[kind].hint}. Owners and admins always get it.` : words[kind].hint}
              isChecked={changed?.kind === kind ? changed.isWanted : isWanted}
              isDisabled={isAlways || (change.isRunning && changed?.kind !== kind)}
              onChange={async (isChecked) => {
                if (change.isRunning) return;
                setChanged({ kind, isWanted: isChecked });
                await change.run({ body: { merchantId, kind, isWanted: isChecked } });
                setChanged(undefined);
              }}
            />
          ))}
        </div>
      </fieldset>
      <FailureNotice error={change.error} />
    </Card>
  );
}
