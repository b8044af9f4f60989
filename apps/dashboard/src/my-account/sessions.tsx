import { deviceName } from '@florin/protocol/device-name.ts';
import { MonitorSmartphone } from 'lucide-react';
import { useState } from 'react';
import type { ReplyTo } from '../api/call.ts';
import { useRead, useWrite } from '../api/use-call.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { toast } from '../ui/toast.tsx';
import { Time } from '../ui/value.tsx';

type OwnSession = ReplyTo<'GET /me/session/list'>['sessions'][number];

const proofs: Readonly<Record<string, string>> = {
  password: 'Password',
  second_factor: 'Password and code',
  passkey: 'Passkey',
  wallet: 'Wallet',
  recovery: 'Recovery code',
};

const columns: readonly Column<OwnSession>[] = [
  {
    key: 'device',
    header: 'Device',
    isWide: true,
    cell: ({ userAgent, clientAddress, isThis, isNewDevice }) => (
      <>
        <span className="flex items-center gap-2">
          <span className="truncate font-medium" title={userAgent}>
            {deviceName(userAgent)}
          </span>
          {isThis && <Badge tone="good">This one</Badge>}
          {isNewDevice && !isThis && <Badge tone="warn">New device</Badge>}
        </span>
        <span className="block truncate font-mono text-sm text-soft">{clientAddress}</span>
      </>
    ),
  },
  { key: 'proof', header: 'By', from: 'sm', cell: ({ proof }) => proofs[proof] ?? proof },
  {
    key: 'since',
    header: 'Since',
    from: 'md',
    cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
  },
];

export function Sessions() {
  const sessions = useRead('GET /me/session/list', {});
  const [ended, setEnded] = useState<OwnSession>();
  const end = useWrite('POST /me/session/revoke', { onDone: () => toast('The session has ended') });
  const acts: Column<OwnSession> = {
    key: 'acts',
    header: '',
    isAtEnd: true,
    cell: (session) =>
      !session.isThis && (
        <Button kind="quiet" size="small" onClick={() => setEnded(session)}>
          End
        </Button>
      ),
  };
  return (
    <>
      <Table
        label="Sessions"
        columns={[...columns, acts]}
        source={{
          rows: sessions.data?.sessions,
          error: sessions.error,
          onRetry: () => void sessions.refetch(),
        }}
        keyOf={({ sessionId }) => sessionId}
        skeletonRows={2}
        empty={<Empty icon={<MonitorSmartphone />} title="No sessions" />}
      />
      <Confirm
        isOpen={ended !== undefined}
        onClose={() => setEnded(undefined)}
        title="End this session?"
        act="End"
        isDangerous
        write={end}
        onConfirm={async () => {
          const done = await end.run({ body: { sessionId: ended?.sessionId ?? '' } });
          if (done !== undefined) setEnded(undefined);
        }}
      >
        <p>{deviceName(ended?.userAgent ?? '')} is signed out at once.</p>
      </Confirm>
    </>
  );
}
