import { useNavigate } from '@tanstack/react-router';
import { Ellipsis, Plus, Store } from 'lucide-react';
import { useState } from 'react';
import type { ReplyTo } from '../../api/call.ts';
import { useRead, useWrite } from '../../api/use-call.ts';
import { useFilters } from '../../app/use-filters.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { isolated } from '../../ui/isolated.ts';
import { Menu, MenuItem, MenuLine } from '../../ui/menu.tsx';
import { PageHeader } from '../../ui/page.tsx';
import { SearchBox } from '../../ui/search-box.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { Id, Time } from '../../ui/value.tsx';
import { ActDialog } from '../act-dialog.tsx';
import { integerText } from '../figure.ts';
import { TroubleBadge } from '../trouble-sign.tsx';
import { CreateDialog, InviteDialog } from './invite-dialog.tsx';

type Merchant = ReplyTo<'GET /staff/merchant/list'>['merchants'][number];
type Act = 'invite' | 'suspend' | 'lift';

/** The table shows this many more at a time. */
const pageSize = 50;

/** All merchants: made, invited to, suspended. */
export default function Merchants() {
  const list = useRead('GET /staff/merchant/list', {});
  const { values, set, isAnySet, clear } = useFilters(['text']);
  const [shown, setShown] = useState(pageSize);
  const [isCreating, setCreating] = useState(false);
  const [chosen, setChosen] = useState<{ readonly act: Act; readonly merchant: Merchant }>();
  const wanted = values.text.trim().toLowerCase();
  const found = list.data?.merchants
    .filter(
      ({ merchantId, merchantName }) =>
        wanted === '' || merchantName.toLowerCase().includes(wanted) || merchantId.toLowerCase() === wanted,
    )
    .toReversed();
  const close = () => setChosen(undefined);
  const isMore = found !== undefined && found.length > shown;
  return (
    <>
      <PageHeader
        title="Merchants"
        badge={list.data && <Badge>{integerText(list.data.merchants.length)}</Badge>}
        actions={
          <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
            Create a merchant
          </Button>
        }
      />
      <div className="mb-3 flex max-w-sm">
        <SearchBox
          label="Search merchants"
          placeholder="Name or id"
          value={values.text}
          onChange={(text) => set({ text })}
        />
      </div>
      <Table
        label="Merchants"
        columns={columnsOf((act, merchant) => setChosen({ act, merchant }))}
        source={{ rows: found?.slice(0, shown), error: list.error, onRetry: () => void list.refetch() }}
        keyOf={({ merchantId }) => merchantId}
        onClearFilters={isAnySet ? clear : undefined}
        more={isMore ? { onMore: () => setShown(shown + pageSize), isLoading: false } : undefined}
        empty={
          <Empty icon={<Store />} title="No merchants yet">
            Create the first one, then send its owner the link of an invitation.
          </Empty>
        }
      />
      {isCreating && <CreateDialog onClose={() => setCreating(false)} />}
      {chosen?.act === 'invite' && <InviteDialog merchant={chosen.merchant} onClose={close} />}
      {chosen?.act === 'suspend' && <SuspendDialog merchant={chosen.merchant} onClose={close} />}
      {chosen?.act === 'lift' && <LiftDialog merchant={chosen.merchant} onClose={close} />}
    </>
  );
}

function columnsOf(onAct: (act: Act, merchant: Merchant) => void): readonly Column<Merchant>[] {
  return [
    {
      key: 'name',
      header: 'Merchant',
      isWide: true,
      cell: ({ merchantName }) => (
        <span className="font-medium" title={merchantName}>
          {merchantName}
        </span>
      ),
    },
    { key: 'id', header: 'Id', from: 'md', cell: ({ merchantId }) => <Id id={merchantId} /> },
    {
      key: 'state',
      header: 'Status',
      cell: ({ suspendedAt }) =>
        suspendedAt === '' ? (
          <Badge tone="good">Active</Badge>
        ) : (
          <span className="inline-flex flex-wrap items-center gap-x-3">
            <TroubleBadge trouble="merchantSuspended">Suspended</TroubleBadge>
            <Time time={suspendedAt} className="text-soft max-md:hidden" />
          </span>
        ),
    },
    {
      key: 'made',
      header: 'Created',
      from: 'lg',
      cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
    },
    {
      key: 'acts',
      header: '',
      isAtEnd: true,
      cell: (merchant) => <MerchantMenu merchant={merchant} onAct={onAct} />,
    },
  ];
}

function MerchantMenu({
  merchant,
  onAct,
}: {
  readonly merchant: Merchant;
  readonly onAct: (act: Act, merchant: Merchant) => void;
}) {
  const navigate = useNavigate();
  return (
    <Menu
      align="end"
      trigger={
        <IconButton label={`Acts on ${isolated(merchant.merchantName)}`}>
          <Ellipsis />
        </IconButton>
      }
    >
      <MenuItem onSelect={() => void navigate({ to: `/${merchant.merchantId}` })}>See its screens</MenuItem>
      <MenuItem onSelect={() => onAct('invite', merchant)}>Invite a person…</MenuItem>
      <MenuLine />
      {merchant.suspendedAt === '' ? (
        <MenuItem onSelect={() => onAct('suspend', merchant)}>Suspend…</MenuItem>
      ) : (
        <MenuItem onSelect={() => onAct('lift', merchant)}>End the suspension…</MenuItem>
      )}
    </Menu>
  );
}

interface ActProps {
  readonly merchant: Merchant;
  readonly onClose: () => void;
}

function SuspendDialog({ merchant, onClose }: ActProps) {
  const { merchantId, merchantName } = merchant;
  const suspend = useWrite('POST /staff/merchant/suspend', {
    onDone: () => {
      toast(`${isolated(merchantName)} is suspended`);
      onClose();
    },
  });
  return (
    <ActDialog
      onClose={onClose}
      title={`Suspend ${isolated(merchantName)}?`}
      act="Suspend"
      isDangerous
      write={suspend}
      onConfirm={(reason) => suspend.run({ body: { merchantId, reason } })}
    >
      <p>
        It gets no new sessions, and its links show as disabled. Open sessions, settlement, refunds and reads
        go on. Its owners and admins get the reason by e-mail.
      </p>
    </ActDialog>
  );
}

function LiftDialog({ merchant, onClose }: ActProps) {
  const { merchantId, merchantName } = merchant;
  const resume = useWrite('POST /staff/merchant/resume', {
    onDone: () => {
      toast(`${isolated(merchantName)} is active`);
      onClose();
    },
  });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`End the suspension of ${isolated(merchantName)}?`}
      act="End the suspension"
      write={resume}
      onConfirm={() => resume.run({ body: { merchantId } })}
    >
      <p>It gets new sessions at once, and its links are as they were before.</p>
    </Confirm>
  );
}
