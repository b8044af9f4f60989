import type { Refund } from '@florin/protocol/refund.ts';
import type { RefundSigning } from '@florin/protocol/refund-signing-api.ts';
import { Wallet } from 'lucide-react';
import { useEffect, useState } from 'react';
import type { ReplyTo } from '../api/call.ts';
import { useRead } from '../api/use-call.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { findWallet } from '../proof/wallet.ts';
import { Button, buttonClass } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { shortAddress } from '../ui/format.ts';
import { Notice } from '../ui/notice.tsx';
import { Card, Fact, Facts } from '../ui/page.tsx';
import { Failed } from '../ui/states.tsx';
import { Address, Time, Tokens } from '../ui/value.tsx';
import { type SendProgress, stepsOf } from './send-refund.ts';
import { signerOf } from './signing.ts';
import { Steps } from './steps.tsx';
import { Transactions } from './transactions.tsx';
import { useSending } from './use-sending.ts';
import { shortageText, stopText } from './wallet-stop.ts';
import { Withdraw } from './withdraw.tsx';

/** Another member may begin to sign, and the chain ends what is signed. */
const followMs = 4_000;

type Token = ReplyTo<'GET /token/list'>['tokens'][number];

interface SignProps {
  readonly refund: Refund;
  readonly token: Token | undefined;
  /** The wallet that received the settlement, and in which token. */
  readonly settled: { readonly to: string; readonly token: Token | undefined } | undefined;
  readonly maySign: boolean;
  /** Called when the refund has left the state that this card is for. */
  readonly onMoved: () => void;
}

/** What the wallet needs, its steps with their hashes, and the button that starts the signing. */
export function SignCard({ refund, token, settled, maySign, onMoved }: SignProps) {
  const { refundId } = refund;
  const read = useRead('GET /refund/signing/:refundId', { params: { refundId } }, { everyMs: followMs });
  const { progress, stop, shortage, isRunning, sign, signInsteadOf } = useSending(refund);
  const wallet = findWallet();
  const signing = read.data?.signing;
  // Its return became final after the page had read it: the signing is gone, and the refund is not to sign again.
  // A web process of the version before, which may answer during an update, says no status.
  const status = read.data?.status ?? 'requires_signature';
  const isOver = status !== 'requires_signature' && !isRunning;
  useEffect(() => {
    if (isOver) onMoved();
  }, [isOver, onMoved]);
  // No member begins before the service has said who signs.
  const isToSign = maySign && (isRunning || (read.data !== undefined && signing === undefined));
  const own = signing?.refundId === refundId ? signing : undefined;
  // While a wallet is asked, too: it may never answer.
  const mayWithdraw = maySign && read.data !== undefined && (!isRunning || own?.txHash === '');
  if (isOver) return null;
  return (
    <Card className="grid gap-4 p-4 md:p-5">
      <Needed refund={refund} token={token} settled={settled} />
      <Steps
        steps={stepsOf(refund)}
        progress={progress}
        sentHash={own?.txHash ?? ''}
        isRunning={isRunning}
        explorer={token?.explorer ?? ''}
      />
      {stop !== undefined && (
        <div role="alert">
          <Notice tone="bad" title={stopText(stop).title}>
            {shortage !== undefined && token !== undefined && `${shortageText(shortage, token)} `}
            {stopText(stop).what}
          </Notice>
        </div>
      )}
      {read.data === undefined && read.error !== null && (
        <Failed error={read.error} onRetry={() => void read.refetch()} />
      )}
      {signing !== undefined && !isRunning && (
        <Signed
          signing={signing}
          isOther={own === undefined}
          mayRepeat={maySign && wallet !== undefined}
          onSign={() => void signInsteadOf(signing.signingId)}
        />
      )}
      {read.data !== undefined && signing === undefined && !maySign && (
        <Notice tone="info">Your role may not refund. Ask a member who may to sign it.</Notice>
      )}
      {isToSign && wallet === undefined && (
        <Notice tone="info" title="This browser has no wallet">
          Open this page in a browser with a wallet, or send the transactions below with another tool, in
          order and only once. This page shows when the refund is completed.
        </Notice>
      )}
      <div className="flex flex-wrap items-center gap-3 empty:hidden">
        {isToSign && wallet !== undefined && (
          <>
            <Button kind="primary" icon={<Wallet />} isBusy={isRunning} onClick={() => void sign()}>
              {stop === undefined ? 'Connect and sign' : 'Start again'}
            </Button>
            <span role="status" className="text-soft">
              {isRunning && runningText(progress)}
            </span>
          </>
        )}
        {mayWithdraw && <Withdraw refundId={refundId} signing={own} />}
      </div>
      {isToSign && !isRunning && <Transactions steps={stepsOf(refund)} isOpen={wallet === undefined} />}
    </Card>
  );
}

function runningText(progress: SendProgress | undefined): string {
  if (progress === undefined) return 'Answer in your wallet…';
  return progress.doing === 'sign'
    ? `Sign in your wallet with ${shortAddress(progress.account)}`
    : 'Waiting for the chain…';
}

function Needed({
  refund: { requiredBalance },
  token,
  settled,
}: Pick<SignProps, 'refund' | 'token' | 'settled'>) {
  if (requiredBalance === undefined) return null;
  const { amountInToken, tokenAddress, chainId } = requiredBalance;
  return (
    <Facts>
      <Fact name="The wallet needs">
        <span className="font-semibold">
          {token === undefined ? (
            // Its name and decimals are on their way.
            <span className="text-faint">…</span>
          ) : (
            <Tokens units={amountInToken} decimals={token.decimals} symbol={token.symbol} />
          )}
        </span>
      </Fact>
      <Fact name="On the network">
        {token?.network ?? '…'} <span className="text-soft">(chain {chainId})</span>
      </Fact>
      <Fact name="Token contract">
        <Address address={tokenAddress} />
      </Fact>
      <Fact name="From">
        Any wallet of yours that holds it
        {settled !== undefined && (
          <span className="text-soft">
            . The payment was settled
            {settled.token !== undefined && ` in ${settled.token.symbol} on ${settled.token.network}`} to{' '}
            <Address address={settled.to} />
          </span>
        )}
      </Fact>
    </Facts>
  );
}

function titlesOf(isOther: boolean, isWithdrawn: boolean): { readonly asked: string; readonly sent: string } {
  if (!isOther) return { asked: 'A wallet may have sent the refund', sent: 'The refund is sent' };
  if (isWithdrawn)
    return {
      asked: 'A wallet may still send a withdrawn refund of this payment',
      sent: 'A withdrawn refund of this payment is sent',
    };
  return {
    asked: 'Another refund of this payment is being signed',
    sent: 'Another refund of this payment is sent',
  };
}

/** A wallet was asked for the last step. Signing again takes a decision of its own. */
function Signed({
  signing,
  isOther,
  mayRepeat,
  onSign,
}: {
  readonly signing: RefundSigning;
  /** Whether it is of another refund of the payment. */
  readonly isOther: boolean;
  readonly mayRepeat: boolean;
  readonly onSign: () => void;
}) {
  const [isAsking, setAsking] = useState(false);
  const { refundId, isWithdrawn, account, txHash, returnedNothing, askedAt } = signing;
  const who = signerOf(signing);
  const act = isOther ? 'Sign in its place' : 'Sign again';
  const again =
    isOther && !isWithdrawn ? (
      <ScreenLink path={`refunds/${refundId}`} className={buttonClass('plain', 'small')}>
        See that refund
      </ScreenLink>
    ) : (
      mayRepeat && (
        <Button size="small" onClick={() => setAsking(true)}>
          {act}
        </Button>
      )
    );
  const titles = titlesOf(isOther, isWithdrawn);
  return (
    <>
      <div role="status">
        {txHash === '' ? (
          <Notice tone="warn" title={titles.asked} action={again}>
            {who} asked the wallet <Address address={account} /> <Time time={askedAt} />. It has not answered
            yet, or its answer did not arrive. Look at the wallet’s history. If the refund is there, you have
            nothing to do: {isWithdrawn ? 'its own page' : 'this page'} shows when it is completed.
            {isWithdrawn && ' If the wallet still asks, decline there.'}
          </Notice>
        ) : returnedNothing ? (
          <Notice tone="bad" title="The transaction returned nothing" action={again}>
            {who} signed it with <Address address={account} /> <Time time={askedAt} />. The transaction{' '}
            <Address address={txHash} /> failed, or it is not a refund of this payment. The payer has not got
            the money.
          </Notice>
        ) : (
          <Notice tone="info" title={titles.sent} action={again}>
            {who} signed it with <Address address={account} /> <Time time={askedAt} />. It is completed when
            the transaction is final on its chain. {isWithdrawn ? 'Its own page' : 'This page'} shows it by
            itself.
          </Notice>
        )}
      </div>
      <Dialog
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        title={isOther ? 'Sign in place of the withdrawn refund?' : 'Sign this refund again?'}
        size="small"
      >
        <p className="text-soft">
          Do this only when the wallet shows that the transaction failed, was cancelled or was never sent, and
          no longer asks for it. A second transaction of a partial refund pays the payer twice.
        </p>
        <DialogActions>
          <CancelButton />
          <Button
            kind="danger"
            onClick={() => {
              setAsking(false);
              onSign();
            }}
          >
            {act}
          </Button>
        </DialogActions>
      </Dialog>
    </>
  );
}
