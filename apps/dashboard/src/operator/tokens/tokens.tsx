import { CircleDollarSign } from 'lucide-react';
import { useState } from 'react';
import type { ReplyTo } from '../../api/call.ts';
import { useRead, useWrite } from '../../api/use-call.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { CheckField } from '../../ui/field.tsx';
import { formatNumber } from '../../ui/format.ts';
import { PageHeader } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { toast } from '../../ui/toast.tsx';
import { Time } from '../../ui/value.tsx';
import { ActDialog } from '../act-dialog.tsx';
import { AsOf } from '../as-of.tsx';
import { chainOf, symbolOf } from '../figure.ts';
import { TroubleBadge } from '../trouble-sign.tsx';
import { useTokens } from '../use-installation.ts';

type Token = ReplyTo<'GET /staff/token/list'>['tokens'][number];

/** The configured tokens: stopped at once, and taken again. */
export default function Tokens() {
  const tokens = useTokens();
  const [stopping, setStopping] = useState<Token>();
  const [resuming, setResuming] = useState<Token>();
  const columns: readonly Column<Token>[] = [
    {
      key: 'token',
      header: 'Token',
      cell: ({ tokenId }) => (
        <>
          <span className="block font-medium">{symbolOf(tokenId)}</span>
          <span className="block text-sm text-soft">{chainOf(tokenId)}</span>
        </>
      ),
    },
    {
      key: 'state',
      header: 'Orders',
      cell: ({ isStopped, isPaused }) =>
        isStopped || isPaused ? (
          <span className="flex flex-wrap gap-1.5">
            {isPaused && <TroubleBadge trouble="tokenPaused">Paused by its issuer</TroubleBadge>}
            {isStopped && <TroubleBadge trouble="tokenStopped">Stopped</TroubleBadge>}
          </span>
        ) : (
          <Badge tone="good">Taken</Badge>
        ),
    },
    {
      key: 'reason',
      header: 'Reason',
      from: 'md',
      isWide: true,
      cell: ({ reason }) =>
        reason === '' ? <span className="text-faint">—</span> : <span title={reason}>{reason}</span>,
    },
    {
      key: 'since',
      header: 'Since',
      from: 'lg',
      cell: ({ stoppedAt, isPaused }) =>
        // The token's contract says that it is paused, and not since when.
        isPaused && stoppedAt === '' ? (
          <span className="text-soft">Not told by its issuer</span>
        ) : (
          <Time time={stoppedAt} className="text-soft" />
        ),
    },
    {
      key: 'act',
      header: '',
      isAtEnd: true,
      cell: (token) =>
        token.isStopped ? (
          <Button size="small" onClick={() => setResuming(token)}>
            Take again… <span className="sr-only">{token.tokenId}</span>
          </Button>
        ) : (
          <Button size="small" onClick={() => setStopping(token)}>
            Stop… <span className="sr-only">{token.tokenId}</span>
          </Button>
        ),
    },
  ];
  return (
    <>
      <PageHeader
        title="Tokens"
        description="A stopped token takes no new orders, within two seconds. Signed orders stay payable, and what is paid settles."
        actions={<AsOf source={tokens} />}
      />
      <Table
        label="Tokens"
        columns={columns}
        source={{ rows: tokens.data?.tokens, error: tokens.error, onRetry: () => void tokens.refetch() }}
        keyOf={({ tokenId }) => tokenId}
        empty={<Empty icon={<CircleDollarSign />} title="No token is configured" />}
      />
      {stopping !== undefined && <StopDialog token={stopping} onClose={() => setStopping(undefined)} />}
      {resuming !== undefined && <ResumeDialog token={resuming} onClose={() => setResuming(undefined)} />}
    </>
  );
}

function StopDialog({ token, onClose }: { readonly token: Token; readonly onClose: () => void }) {
  const [isEverywhere, setEverywhere] = useState(false);
  const stop = useWrite('POST /staff/token/stop', {
    onDone: ({ tokenIds }) => {
      toast(`Stopped: ${tokenIds.join(', ')}`);
      onClose();
    },
  });
  const named = isEverywhere ? (token.tokenId.split('::')[1] ?? token.tokenId) : token.tokenId;
  return (
    <ActDialog
      onClose={onClose}
      title={`Stop ${symbolOf(token.tokenId)} on ${isEverywhere ? 'all chains' : chainOf(token.tokenId)}?`}
      act="Stop the token"
      isDangerous
      write={stop}
      onConfirm={(reason) => stop.run({ body: { token: named, reason } })}
    >
      <p>
        No merchant takes new orders in it. Orders that payers hold stay payable, and what is paid settles.
      </p>
      <TokenUse token={named} />
      <CheckField
        label={`On all chains that have ${symbolOf(token.tokenId)}`}
        isChecked={isEverywhere}
        onChange={setEverywhere}
      />
    </ActDialog>
  );
}

/** A stop closes more than the token: what settles in it takes no payment in any token. */
function TokenUse({ token }: { readonly token: string }) {
  const use = useRead('GET /staff/token/use/:token', { params: { token } });
  if (use.data === undefined) {
    const text = use.isError ? 'What settles in it could not be counted.' : 'Counting what settles in it…';
    return <p className="text-soft">{text}</p>;
  }
  const { links, merchants, sessions } = use.data;
  const count = (number: number, one: string) => `${formatNumber(number)} ${one}${number === 1 ? '' : 's'}`;
  const kinds = [
    ...(links === 0 ? [] : [`${count(links, 'active link')} of ${count(merchants, 'merchant')}`]),
    ...(sessions === 0 ? [] : [count(sessions, 'unpaid session')]),
  ];
  if (kinds.length === 0) return <p>No active link and no unpaid session settles in it.</p>;
  const isOne = links + sessions === 1;
  return (
    <p>
      <strong className="text-ink">
        {kinds.join(' and ')} {isOne ? 'settles' : 'settle'} in it
      </strong>{' '}
      and {isOne ? 'takes' : 'take'} no payment in any token until it is taken again. Their pages say that
      payment is not possible at the moment, and merchants see on Home how many of their links stand still.
    </p>
  );
}

function ResumeDialog({ token, onClose }: { readonly token: Token; readonly onClose: () => void }) {
  const resume = useWrite('POST /staff/token/resume', {
    onDone: () => {
      toast(`${token.tokenId} is taken again`);
      onClose();
    },
  });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`Take orders in ${token.tokenId} again?`}
      act="Take again"
      write={resume}
      onConfirm={() => resume.run({ body: { token: token.tokenId } })}
    >
      <p>It was stopped: {token.reason}</p>
    </Confirm>
  );
}
