import { keyWarningDays } from '@florin/protocol/permission.ts';
import { Ban, KeyRound, Pencil, Plus } from 'lucide-react';
import { useState } from 'react';
import type { ReplyTo } from '../api/call.ts';
import { serviceNow } from '../api/service-clock.ts';
import { useRead, useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { Confirm } from '../ui/confirm.tsx';
import { DialogActions, Sheet } from '../ui/dialog.tsx';
import { parseTime } from '../ui/format.ts';
import { Fact, Facts, PageHeader } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { toast } from '../ui/toast.tsx';
import { Id, Time, Usd } from '../ui/value.tsx';
import { CreateKeySheet } from './create-key.tsx';
import { grantOf, resources } from './grant.ts';
import { RenameKeyDialog } from './rename-key.tsx';

type Key = ReplyTo<'GET /key/list'>['keys'][number];

const soonMs = keyWarningDays * 86_400_000;

function stateOf({ expiresAt, revokedAt }: Key): { tone: 'good' | 'warn' | 'neutral'; text: string } {
  if (revokedAt !== '') return { tone: 'neutral', text: 'Disabled' };
  const left = (parseTime(expiresAt)?.getTime() ?? Number.POSITIVE_INFINITY) - serviceNow();
  if (left <= 0) return { tone: 'neutral', text: 'Expired' };
  return left < soonMs ? { tone: 'warn', text: 'Ends soon' } : { tone: 'good', text: 'Active' };
}

const isInUse = (key: Key) => !['Disabled', 'Expired'].includes(stateOf(key).text);

function prefixOf({ kind, last4 }: Key): string {
  return `${kind === 'secret' ? 'sk_live' : 'rk_live'}_…${last4}`;
}

const permissionsText = (count: number) => (count === 1 ? '1 permission' : `${count} permissions`);

const columns: readonly Column<Key>[] = [
  {
    key: 'key',
    header: 'Key',
    isWide: true,
    cell: (key) => (
      <>
        {key.name !== '' && <span className="block truncate font-medium">{key.name}</span>}
        <span className={classNames('block truncate font-mono text-sm', key.name === '' && 'font-medium')}>
          {prefixOf(key)}
        </span>
        <span className="block truncate text-sm text-soft">
          {key.kind === 'secret' ? 'Full access' : permissionsText(key.permissions.length)}
        </span>
      </>
    ),
  },
  {
    key: 'state',
    header: 'Status',
    cell: (key) => {
      const { tone, text } = stateOf(key);
      return <Badge tone={tone}>{text}</Badge>;
    },
  },
  {
    key: 'used',
    header: 'Last used',
    from: 'sm',
    cell: ({ lastUsedAt }) => <Time time={lastUsedAt} empty="Never" />,
  },
  {
    key: 'ends',
    header: 'Ends',
    from: 'md',
    cell: ({ expiresAt }) => <Time time={expiresAt} empty="Never" />,
  },
  {
    key: 'made',
    header: 'Created',
    from: 'lg',
    isAtEnd: true,
    cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
  },
];

export default function Keys() {
  const { role } = useMerchant();
  const mayChange = mayDo(role, 'keys:write');
  const keys = useRead('GET /key/list', {});
  const [tab, setTab] = useState<'used' | 'ended'>('used');
  const [isCreating, setCreating] = useState(false);
  const [openId, setOpenId] = useState<string>();
  const all = keys.data?.keys;
  const used = all?.filter(isInUse);
  const ended = all?.filter((key) => !isInUse(key));
  return (
    <>
      <PageHeader
        title="API keys"
        description="Programs call the merchant API with a key. Give each program a key of its own, with no more than it needs."
        actions={
          mayChange && (
            <Button kind="primary" icon={<Plus />} onClick={() => setCreating(true)}>
              Create a key
            </Button>
          )
        }
      />
      <Tabs
        label="Keys"
        value={tab}
        onChange={setTab}
        tabs={[
          { name: 'used', label: 'In use', count: used?.length },
          { name: 'ended', label: 'Ended', count: ended?.length },
        ]}
      >
        <Table
          label="API keys"
          columns={columns}
          source={{
            rows: tab === 'used' ? used : ended,
            error: keys.error,
            onRetry: () => void keys.refetch(),
          }}
          keyOf={({ keyId }) => keyId}
          onOpen={({ keyId }) => setOpenId(keyId)}
          skeletonRows={3}
          empty={
            tab === 'used' ? (
              <Empty
                icon={<KeyRound />}
                title="No key in use"
                action={
                  mayChange && (
                    <Button kind="primary" onClick={() => setCreating(true)}>
                      Create a key
                    </Button>
                  )
                }
              >
                Your shop’s program needs a key to create sessions and to read payments.
              </Empty>
            ) : (
              <Empty icon={<KeyRound />} title="No ended keys">
                Disabled and expired keys are kept here.
              </Empty>
            )
          }
        />
      </Tabs>
      <CreateKeySheet isOpen={isCreating} onClose={() => setCreating(false)} />
      <KeySheet
        shown={all?.find(({ keyId }) => keyId === openId)}
        mayChange={mayChange}
        onClose={() => setOpenId(undefined)}
      />
    </>
  );
}

function KeySheet({
  shown,
  mayChange,
  onClose,
}: {
  readonly shown: Key | undefined;
  readonly mayChange: boolean;
  readonly onClose: () => void;
}) {
  const [isDisabling, setDisabling] = useState(false);
  const [isRenaming, setRenaming] = useState(false);
  const disable = useWrite('POST /key/disable', { onDone: () => toast('The key is disabled') });
  if (shown === undefined) return null;
  return (
    <Sheet isOpen onClose={onClose} title={shown.name || prefixOf(shown)} description={stateOf(shown).text}>
      <KeyFacts shown={shown} />
      {mayChange && isInUse(shown) && (
        <DialogActions>
          <Button icon={<Pencil />} onClick={() => setRenaming(true)}>
            Rename
          </Button>
          <Button kind="danger" icon={<Ban />} onClick={() => setDisabling(true)}>
            Disable
          </Button>
        </DialogActions>
      )}
      {isRenaming && <RenameKeyDialog shown={shown} onClose={() => setRenaming(false)} />}
      <Confirm
        isOpen={isDisabling}
        onClose={() => setDisabling(false)}
        title="Disable this key for good?"
        act="Disable"
        isDangerous
        write={disable}
        onConfirm={async () => {
          if ((await disable.run({ body: { keyId: shown.keyId } })) !== undefined) setDisabling(false);
        }}
      >
        <p>Programs that use {prefixOf(shown)} are refused at once. It cannot be enabled again.</p>
      </Confirm>
    </Sheet>
  );
}

function KeyFacts({ shown }: { readonly shown: Key }) {
  const grant = grantOf(shown.permissions);
  const granted = resources.filter(({ name }) => grant[name] !== 'none');
  return (
    <Facts>
      <Fact name="Key">
        <span className="font-mono text-sm">{prefixOf(shown)}</span>
      </Fact>
      <Fact name="Id">
        <Id id={shown.keyId} isWhole />
      </Fact>
      <Fact name="May">
        {shown.kind === 'secret' ? (
          'Everything that the merchant API offers'
        ) : (
          <ul className="grid gap-1">
            {granted.map(({ name, title }) => (
              <li key={name} className="flex items-center justify-between gap-4">
                {title}
                <span className="text-soft">{grant[name] === 'write' ? 'Read and write' : 'Read'}</span>
              </li>
            ))}
          </ul>
        )}
      </Fact>
      <Fact name="Largest session">
        {shown.maxSessionAmount === null ? 'No limit' : <Usd micro={shown.maxSessionAmount} />}
      </Fact>
      <Fact name="Sessions of a day">
        {shown.maxDayAmount === null ? 'No limit' : <Usd micro={shown.maxDayAmount} />}
      </Fact>
      <Fact name="IP addresses">{listOr(shown.ipAllowList, 'From anywhere')}</Fact>
      <Fact name="Browser origins">{listOr(shown.origins, 'No browser')}</Fact>
      <Fact name="Created">
        <Time isWhole time={shown.createAt} />
      </Fact>
      <Fact name="Last used">
        <Time isWhole time={shown.lastUsedAt} empty="Never" />
      </Fact>
      <Fact name="Ends">
        <Time isWhole time={shown.expiresAt} empty="Never" />
      </Fact>
      {shown.revokedAt !== '' && (
        <Fact name="Disabled">
          <Time isWhole time={shown.revokedAt} />
        </Fact>
      )}
    </Facts>
  );
}

function listOr(values: readonly string[], otherwise: string) {
  if (values.length === 0) return otherwise;
  return (
    <ul>
      {values.map((value) => (
        <li key={value} className="font-mono text-sm break-all">
          {value}
        </li>
      ))}
    </ul>
  );
}
