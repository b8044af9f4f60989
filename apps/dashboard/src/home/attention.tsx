import { keyWarningDays } from '@florin/protocol/permission.ts';
import type { UseQueryResult } from '@tanstack/react-query';
import { ChevronRight, RotateCw } from 'lucide-react';
import type { ReactNode } from 'react';
import type { ReplyTo } from '../api/call.ts';
import { serviceNow } from '../api/service-clock.ts';
import { useRead, useReads } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { useHasScreen } from '../app/open-screens.ts';
import { mayDo } from '../app/permission.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { Badge, type Tone } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { formatNumber, formatUsd, parseTime, shortAddress } from '../ui/format.ts';
import { isolated } from '../ui/isolated.ts';
import { Notice } from '../ui/notice.tsx';
import { Card } from '../ui/page.tsx';
import { Time } from '../ui/value.tsx';

export interface Matter {
  readonly key: string;
  readonly tone: Tone;
  readonly state: string;
  readonly text: ReactNode;
  readonly path: string;
  /** Filters of the screen. */
  readonly search?: Readonly<Record<string, string>>;
}

/** A read of what may need a person. */
type Look = Pick<UseQueryResult, 'data' | 'isError' | 'isLoading' | 'refetch'>;

interface Found {
  readonly matters: readonly Matter[];
  readonly looks: readonly Look[];
}

const refreshMs = 30_000;
const keySoonMs = keyWarningDays * 86_400_000;

/** The service tells of them newest first. */
const watchedRefunds = 50;
const watchedDeliveries = 5;

/** Whether the latest delivery that is not skipped did not arrive: it was given up, or its last attempt failed. */
function isFailing(deliveries: ReplyTo<'GET /webhook/delivery/list/:webhookId/:page/:size'>['deliveries']) {
  const latest = deliveries.find(({ status }) => status !== 'skipped');
  return (
    latest?.status === 'failed' ||
    (latest?.status === 'pending' && latest.attempts.some(({ error }) => error !== ''))
  );
}

/** Payments that a person may decide on, and settlements that are late. */
function usePaymentMatters(): Found {
  const { role } = useMerchant();
  const isOn = mayDo(role, 'sessions:read');
  const look = useRead('GET /summary', {}, { isOn, everyMs: refreshMs });
  const { data } = look;
  const delayed = data?.delayedSettlements.count ?? 0;
  // During an update a web process of the version before may answer, which has none of these.
  const lost = data?.lostPayments?.count ?? 0;
  const closed = data?.closedLinks?.count ?? 0;
  const undecided = data?.undecidedExceptions?.count ?? 0;
  const others = (data?.exceptions.count ?? 0) - undecided;
  const closedNetworks = data?.closedNetworks ?? [];
  const matters: Matter[] = closedNetworks.map((network) => {
    const text = `Nobody can pay on ${network} at the moment: its nodes do not answer, or its chain is checked. Payments on it wait and are not lost`;
    return { key: `network ${network}`, tone: 'bad', state: 'No payments', text, path: 'payments' };
  });
  if (closed > 0) {
    const text = `${count(closed, 'active link takes', 'active links take')} no payments: the token that you receive is stopped or paused. Choose another one for now`;
    matters.push({ key: 'closed', tone: 'bad', state: 'No payments', text, path: 'links' });
  }
  if (lost > 0) {
    const text = `${count(lost, 'payment was', 'payments were')} taken back by the chain: deliver nothing for what does not come back`;
    const search = { status: 'settlement_pending' };
    matters.push({ key: 'lost', tone: 'bad', state: 'Taken back', text, path: 'payments', search });
  }
  if (undecided > 0) {
    const text = `${count(undecided, 'payment that came late or short waits', 'payments that came late or short wait')} for your decision. Without one the money goes back`;
    matters.push({ key: 'undecided', tone: 'warn', state: 'Decide', text, path: 'exceptions' });
  }
  if (others > 0) {
    const text = `${count(others, 'payment came', 'payments came')} short, over, late, double or in another token. Most go back by themselves`;
    matters.push({ key: 'exceptions', tone: 'warn', state: 'Exceptions', text, path: 'exceptions' });
  }
  if (delayed > 0) {
    const text = `${count(delayed, 'settlement is', 'settlements are')} late, and tried again without you`;
    const search = { status: 'settlement_pending' };
    matters.push({ key: 'delayed', tone: 'warn', state: 'Delayed', text, path: 'payments', search });
  }
  return { matters, looks: [look] };
}

const count = (number: number, one: string, many: string) =>
  `${formatNumber(number)} ${number === 1 ? one : many}`;

/** Refunds that a member made and nobody has signed, among the latest. */
function useRefundMatters(): Found {
  const { role } = useMerchant();
  const look = useRead(
    'GET /refund/list/:page/:size',
    { params: { page: 1, size: watchedRefunds } },
    { isOn: mayDo(role, 'refunds:read') },
  );
  const matters = (look.data?.refunds ?? [])
    .filter(({ status }) => status === 'requires_signature')
    .map(
      ({ refundId, amount, createAt }): Matter => ({
        key: refundId,
        tone: 'warn',
        state: 'Refund waits',
        text: (
          <>
            {formatUsd(amount)} since <Time time={createAt} />: a wallet of yours has to sign it
          </>
        ),
        path: `refunds/${refundId}`,
      }),
    );
  return { matters, looks: [look] };
}

/** Webhooks that the service has paused because their server did not answer, and those whose latest deliveries failed. */
function useWebhookMatters(): Found {
  const { role } = useMerchant();
  const look = useRead('GET /webhook/list', {}, { isOn: mayDo(role, 'webhooks:read') });
  const active = (look.data?.webhooks ?? []).filter(({ status }) => status === 'active');
  const deliveries = useReads(
    'GET /webhook/delivery/list/:webhookId/:page/:size',
    active.map(({ webhookId }) => ({ params: { webhookId, page: 1, size: watchedDeliveries } })),
  );
  const failing = new Set(
    active
      .filter((_hook, index) => isFailing(deliveries[index]?.data?.deliveries ?? []))
      .map(({ webhookId }) => webhookId),
  );
  const matters = (look.data?.webhooks ?? [])
    .filter(({ status, webhookId }) => status === 'paused' || failing.has(webhookId))
    .map(
      ({ webhookId, webhookName, webhookUrl, status }): Matter => ({
        key: webhookId,
        tone: 'bad',
        state: status === 'paused' ? 'Webhook paused' : 'Webhook fails',
        text: (
          <span className="flex min-w-0 gap-2">
            <span className="max-w-full shrink-0 truncate">{webhookName}</span>
            <span className="truncate text-soft">{webhookUrl}</span>
          </span>
        ),
        path: `webhooks/${webhookId}`,
      }),
    );
  return { matters, looks: [look, ...deliveries] };
}

/** Wallets that wait until they count: a member who did not ask for one can still cancel it. */
function useWalletMatters(): Found {
  const look = useRead('GET /account/change/list', {});
  const matters = (look.data?.changes ?? [])
    .filter(({ status }) => status === 'waiting')
    .map(
      ({ changeId, kind, accountName, accountAddress, effectiveAt, isProven, requestedBy }): Matter => ({
        key: changeId,
        tone: 'info',
        state: 'Wallet waits',
        text: (
          <>
            {kind === 'add' ? isolated(accountName) : `The new address of ${isolated(accountName)}`},{' '}
            {shortAddress(accountAddress)}, counts <Time time={effectiveAt} />.{' '}
            {isProven ? '' : 'It is not proven. '}
            {requestedBy === '' ? '' : `${isolated(requestedBy)} asked for it. `}
            Cancel it if this is not yours.
          </>
        ),
        path: 'wallets',
      }),
    );
  return { matters, looks: [look] };
}

/** Recoveries of members that can still be cancelled: their link sets a new password. */
function useRecoveryMatters(): Found {
  const { role } = useMerchant();
  const look = useRead('GET /member/list', {}, { isOn: mayDo(role, 'members:read') });
  const matters = (look.data?.members ?? []).flatMap(({ userId, name, recovery }): Matter[] =>
    recovery === null
      ? []
      : [
          {
            key: `recovery ${userId}`,
            tone: 'warn',
            state: 'Recovery',
            text:
              recovery.status === 'asked' ? (
                <>
                  An owner asks to recover the account of <bdi>{name}</bdi>. A second owner must agree.
                </>
              ) : (
                <>
                  A link sets a new password for <bdi>{name}</bdi> <Time time={recovery.effectiveAt} />.
                  Cancel it if access was not lost.
                </>
              ),
            path: 'team',
          },
        ],
  );
  return { matters, looks: [look] };
}

/** Keys that end soon. */
function useKeyMatters(): Found {
  const { role } = useMerchant();
  const look = useRead('GET /key/list', {}, { isOn: mayDo(role, 'keys:read') });
  const matters = (look.data?.keys ?? [])
    .filter(({ expiresAt, revokedAt }) => {
      const left = (parseTime(expiresAt)?.getTime() ?? Number.POSITIVE_INFINITY) - serviceNow();
      return revokedAt === '' && left > 0 && left < keySoonMs;
    })
    .map(
      ({ keyId, last4, expiresAt }): Matter => ({
        key: keyId,
        tone: 'warn',
        state: 'Key ends',
        text: (
          <>
            The key …{last4} ends <Time time={expiresAt} />
          </>
        ),
        path: 'keys',
      }),
    );
  return { matters, looks: [look] };
}

/** Everything that needs a person, and the reads that failed: what they would have found is unknown. */
export function useMatters() {
  const found = [
    usePaymentMatters(),
    useRefundMatters(),
    useWebhookMatters(),
    useWalletMatters(),
    useRecoveryMatters(),
    useKeyMatters(),
  ];
  const looks = found.flatMap((each) => each.looks);
  return {
    matters: found.flatMap(({ matters }) => matters),
    failed: looks.filter(({ isError, data }) => isError && data === undefined),
    isLoading: looks.some(({ isLoading }) => isLoading),
  };
}

export function Attention({
  matters,
  failed,
}: {
  readonly matters: readonly Matter[];
  readonly failed: readonly Look[];
}) {
  return (
    <Card className="mb-8 overflow-hidden">
      <h2 className="border-b border-line px-4 py-3 text-lg font-semibold md:px-5">Needs attention</h2>
      <ul className="divide-y divide-line">
        {matters.map((matter) => (
          <li key={matter.key}>
            <MatterRow matter={matter} />
          </li>
        ))}
      </ul>
      {failed.length > 0 && (
        <div className={matters.length > 0 ? 'border-t border-line p-4' : 'p-4'}>
          <Notice
            tone="warn"
            title="This may not be all"
            action={
              <Button
                icon={<RotateCw />}
                onClick={() => void Promise.all(failed.map(({ refetch }) => refetch()))}
              >
                Try again
              </Button>
            }
          >
            A part of what may need you could not be read.
          </Notice>
        </div>
      )}
    </Card>
  );
}

const rowClass = 'flex items-center gap-3 px-4 py-3 md:px-5';

function MatterRow({ matter: { tone, state, text, path, search } }: { readonly matter: Matter }) {
  const hasScreen = useHasScreen();
  const content = (
    <span className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1">
      <Badge tone={tone}>{state}</Badge>
      <span className="min-w-0 flex-1 basis-56 break-words">{text}</span>
    </span>
  );
  if (!hasScreen(path.split('/', 1)[0] ?? '')) return <div className={rowClass}>{content}</div>;
  return (
    <ScreenLink
      path={path}
      {...(search === undefined ? {} : { search: search as never })}
      className={`${rowClass} -outline-offset-2 hover:bg-sunken`}
    >
      {content}
      <ChevronRight aria-hidden className="size-4 shrink-0 text-faint" />
    </ScreenLink>
  );
}
