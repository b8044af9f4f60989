import { CirclePause, CirclePlay, Ellipsis, Pencil, RotateCw, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useRead, useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { useGoTo } from '../app/screen-link.tsx';
import { useFilters } from '../app/use-filters.ts';
import { useParam } from '../app/use-param.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { isolated } from '../ui/isolated.ts';
import { Menu, MenuItem, MenuLine } from '../ui/menu.tsx';
import { Notice } from '../ui/notice.tsx';
import { OddFilters } from '../ui/odd-filters.tsx';
import { Card, Fact, Facts, PageHeader, Section, Skeleton, SkeletonPage } from '../ui/page.tsx';
import { Failed } from '../ui/states.tsx';
import { toast } from '../ui/toast.tsx';
import { Id, Time } from '../ui/value.tsx';
import { Deliveries, deliveryTypes } from './deliveries.tsx';
import { deliveryStates } from './delivery-filter.ts';
import { DeliverySheet } from './delivery-sheet.tsx';
import { EnableDialog, ResendDialog, TestDialog } from './hook-dialogs.tsx';
import { SigningSecret } from './signing-secret.tsx';
import type { Hook } from './types.ts';
import { WebhookSheet } from './webhook-form.tsx';
import { answerText, HookBadge } from './webhook-words.tsx';

/** One webhook: its state, its secret, and what was sent to it. */
export default function WebhookPage() {
  const webhookId = useParam('webhookId');
  const read = useRead('GET /webhook/detail/:webhookId', { params: { webhookId } });
  if (read.data !== undefined) return <Loaded hook={read.data} />;
  if (read.error !== null) return <Failed error={read.error} onRetry={() => void read.refetch()} />;
  return (
    <>
      <PageHeader title="Webhook" description={<Skeleton className="my-0.5 h-4 w-64" />} />
      <SkeletonPage aside />
    </>
  );
}

type Opened = 'edit' | 'test' | 'resend' | 'enable' | 'disable' | 'remove';

function Loaded({ hook }: { readonly hook: Hook }) {
  const mayChange = mayDo(useMerchant().role, 'webhooks:write');
  const [opened, open] = useState<Opened>();
  const filters = useFilters(['delivery', 'state', 'type'], {
    state: deliveryStates.map(({ value }) => value),
    type: deliveryTypes.map(({ value }) => value),
  });
  const { delivery } = filters.values;
  const showDelivery = (deliveryId: string) => filters.set({ delivery: deliveryId });
  const close = () => open(undefined);
  return (
    <>
      <PageHeader
        title={hook.webhookName}
        badge={<HookBadge status={hook.status} />}
        description={
          <span title={hook.webhookUrl} className="line-clamp-2 font-mono text-sm break-all">
            {hook.webhookUrl}
          </span>
        }
        actions={mayChange && <Acts hook={hook} onOpen={open} />}
      />
      <StateNotice hook={hook} onEnable={mayChange ? () => open('enable') : undefined} />
      <div className="grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="min-w-0">
          <Section title="Deliveries">
            <OddFilters of={filters} />
            <Deliveries hook={hook} filters={filters.values} onFilter={filters.set} onOpen={showDelivery} />
          </Section>
        </div>
        <aside aria-label="About this webhook" className="min-w-0">
          <Section title="Signing secret">
            <Card>
              <SigningSecret hook={hook} />
            </Card>
          </Section>
          <Section title="Details">
            <Card>
              <Details hook={hook} />
            </Card>
          </Section>
        </aside>
      </div>
      {delivery !== '' && (
        <DeliverySheet
          deliveryId={delivery}
          isHeld={hook.status !== 'active'}
          onClose={() => filters.set({ delivery: '' })}
        />
      )}
      {opened === 'edit' && <WebhookSheet hook={hook} onClose={close} onSaved={close} />}
      {opened === 'test' && (
        <TestDialog
          hook={hook}
          onClose={close}
          onSent={(deliveryId) => {
            close();
            showDelivery(deliveryId);
          }}
        />
      )}
      {opened === 'resend' && <ResendDialog hook={hook} onClose={close} />}
      {opened === 'enable' && <EnableDialog hook={hook} onClose={close} />}
      <DisableConfirm hook={hook} isOpen={opened === 'disable'} onClose={close} />
      <RemoveConfirm hook={hook} isOpen={opened === 'remove'} onClose={close} />
    </>
  );
}

function Acts({ hook, onOpen }: { readonly hook: Hook; readonly onOpen: (opened: Opened) => void }) {
  return (
    <>
      <Button kind="primary" icon={<Send />} onClick={() => onOpen('test')}>
        Send a test
      </Button>
      <Button icon={<Pencil />} onClick={() => onOpen('edit')}>
        Edit
      </Button>
      <Menu trigger={<Button icon={<Ellipsis />}>More</Button>}>
        <MenuItem icon={<RotateCw />} onSelect={() => onOpen('resend')}>
          Send again since a time
        </MenuItem>
        {hook.status === 'active' ? (
          <MenuItem icon={<CirclePause />} onSelect={() => onOpen('disable')}>
            Disable
          </MenuItem>
        ) : (
          <MenuItem icon={<CirclePlay />} onSelect={() => onOpen('enable')}>
            Enable
          </MenuItem>
        )}
        <MenuLine />
        <MenuItem icon={<Trash2 />} isDangerous onSelect={() => onOpen('remove')}>
          Delete
        </MenuItem>
      </Menu>
    </>
  );
}

/** Why nothing is sent, while the webhook is not active. */
function StateNotice({
  hook: { webhookId, status, updateAt },
  onEnable,
}: {
  readonly hook: Hook;
  readonly onEnable: (() => void) | undefined;
}) {
  const isPaused = status === 'paused';
  const latest = useRead(
    'GET /webhook/delivery/list/:webhookId/:page/:size',
    { params: { webhookId, page: 1, size: 20 } },
    { isOn: isPaused },
  );
  if (status === 'active') return null;
  const failures = latest.data?.deliveries
    .flatMap(({ attempts }) => attempts)
    .filter(({ error }) => error !== '')
    .sort((one, other) => one.at.localeCompare(other.at));
  const last = failures?.at(-1);
  return (
    <div className="mb-6">
      <Notice
        tone={isPaused ? 'bad' : 'neutral'}
        title={isPaused ? 'Florin paused this webhook' : 'This webhook is disabled'}
        action={
          onEnable !== undefined && (
            <Button size="small" onClick={onEnable}>
              Enable
            </Button>
          )
        }
      >
        {isPaused ? (
          <>
            Your server refused deliveries for too long; paused <Time time={updateAt} />.{' '}
            {last !== undefined && (
              <>
                Its last failure: {answerText(last)} <Time time={last.at} />.
              </>
            )}
          </>
        ) : (
          'Events are kept as skipped. You can send them when you enable it.'
        )}
      </Notice>
    </div>
  );
}

function Details({ hook }: { readonly hook: Hook }) {
  return (
    <Facts>
      <Fact name="Id">
        <Id id={hook.webhookId} />
      </Fact>
      <Fact name="Events">
        {hook.subscribedEvents.includes('*') ? (
          'All'
        ) : (
          <ul>
            {hook.subscribedEvents.map((entry) => (
              <li key={entry} className="font-mono text-sm break-all">
                {entry}
              </li>
            ))}
          </ul>
        )}
      </Fact>
      {hook.webhookDescription !== '' && <Fact name="Description">{hook.webhookDescription}</Fact>}
      <Fact name="Created">
        <Time isWhole time={hook.createAt} />
      </Fact>
      <Fact name="Changed">
        <Time isWhole time={hook.updateAt} />
      </Fact>
    </Facts>
  );
}

interface ConfirmHookProps {
  readonly hook: Hook;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

function DisableConfirm({ hook: { webhookId, webhookName }, isOpen, onClose }: ConfirmHookProps) {
  const disable = useWrite('POST /webhook/disable', { onDone: () => toast('The webhook is disabled') });
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={`Disable ${isolated(webhookName)}?`}
      act="Disable"
      write={disable}
      onConfirm={async () => {
        if ((await disable.run({ body: { webhookId } })) !== undefined) onClose();
      }}
    >
      <p>Nothing is sent until you enable it again. Events are kept as skipped, and can be sent then.</p>
    </Confirm>
  );
}

function RemoveConfirm({ hook: { webhookId, webhookName }, isOpen, onClose }: ConfirmHookProps) {
  const goTo = useGoTo();
  const remove = useWrite('POST /webhook/remove');
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={`Delete ${isolated(webhookName)} for good?`}
      act="Delete"
      isDangerous
      write={remove}
      onConfirm={async () => {
        if ((await remove.run({ body: { webhookId } })) === undefined) return;
        toast('The webhook is deleted');
        goTo('webhooks');
      }}
    >
      <p>Its secret and its deliveries end with it. To use it again later, disable it instead.</p>
    </Confirm>
  );
}
