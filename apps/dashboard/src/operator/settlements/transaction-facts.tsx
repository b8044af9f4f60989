import { Badge } from '../../ui/badge.tsx';
import { Fact, Facts, Section } from '../../ui/page.tsx';
import { Address, Time } from '../../ui/value.tsx';
import { gweiText, integerText } from '../figure.ts';
import { isSlow, refusalOf } from '../problem.ts';
import { TroubleBadge } from '../trouble-sign.tsx';
import { explorerLink, type ListedTransaction } from './work.ts';

/** How a transaction stands. `at` is the service's time; empty while it is unknown. */
export function SentState({ sent, at }: { readonly sent: ListedTransaction; readonly at: string }) {
  const { status, minedHash, createAt } = sent;
  const refusal = refusalOf(sent);
  if (status === 'succeeded') return <Badge tone="good">Final</Badge>;
  if (status === 'failed') return <TroubleBadge trouble="transactionFailed">Reverted</TroubleBadge>;
  if (status === 'superseded')
    return <TroubleBadge trouble="transactionSuperseded">Nonce taken</TroubleBadge>;
  if (minedHash !== '') return <Badge tone="info">In a block</Badge>;
  if (sent.isCapped) return <TroubleBadge trouble="transactionCapped">At the fee limit</TroubleBadge>;
  if (refusal !== undefined)
    return (
      <TroubleBadge trouble="transactionRefused">
        <span title={refusal}>Refused by the node</span>
      </TroubleBadge>
    );
  if (isSlow({ minedHash, createAt }, at))
    return <TroubleBadge trouble="transactionNotMined">In no block</TroubleBadge>;
  return <Badge>Sent</Badge>;
}

/** How often a transaction was sent again with a higher fee. */
export function replacedText({ attemptCount }: ListedTransaction): string {
  if (attemptCount <= 1) return 'never';
  return attemptCount === 2 ? 'once' : `${attemptCount - 1} times`;
}

/** A transaction in full: wallet, nonce, state, and each attempt with what replaced it. */
export function TransactionFacts({ sent, at }: { readonly sent: ListedTransaction; readonly at: string }) {
  const { explorer, wallet, nonce, minedHash, attempts, attemptCount } = sent;
  return (
    <>
      <Facts>
        <Fact name="Status">
          <SentState sent={sent} at={at} />
        </Fact>
        <Fact name="Wallet" isBlock>
          <Address address={wallet} href={explorerLink(explorer, 'address', wallet)} isWhole />
        </Fact>
        <Fact name="Nonce">
          <span className="tabular-nums">{integerText(nonce)}</span>
        </Fact>
        <Fact name="Signed">
          <Time isWhole time={sent.createAt} />
        </Fact>
        <Fact name="In a block" isBlock={minedHash !== ''}>
          {minedHash === '' ? (
            'no'
          ) : (
            <Address address={minedHash} href={explorerLink(explorer, 'tx', minedHash)} isWhole />
          )}
        </Fact>
      </Facts>
      <div className="mt-6">
        <Section
          title={attemptCount === 1 ? 'One attempt' : `${integerText(attemptCount)} attempts`}
          description={
            sent.status === 'superseded'
              ? 'Another transaction of the wallet, which the service did not send, took this nonce.'
              : attemptCount === 1
                ? 'Nothing has replaced it.'
                : 'The latest first. Each replaced the one below it.'
          }
        >
          <ol className="divide-y divide-line overflow-hidden rounded-lg border border-line">
            {attempts.map(({ txHash, maxFee, refusal, createAt }) => (
              <li key={txHash} className="grid gap-1 px-3 py-2">
                <Address address={txHash} href={explorerLink(explorer, 'tx', txHash)} isWhole />
                <span className="text-soft tabular-nums">
                  {gweiText(maxFee)} · <Time time={createAt} />
                  {txHash === minedHash && ' · in a block'}
                  {refusal !== '' && txHash !== minedHash && ` · refused by the node: ${refusal}`}
                </span>
              </li>
            ))}
          </ol>
        </Section>
      </div>
    </>
  );
}
