import { useId } from 'react';
import { useRead } from '../api/use-call.ts';
import { ChoiceField } from '../ui/choice.tsx';
import { CheckField, TextField } from '../ui/field.tsx';
import { Skeleton } from '../ui/page.tsx';
import { Failed } from '../ui/states.tsx';
import type { WalletAccount } from './types.ts';
import type { TermsDraft } from './wallet-draft.ts';
import { byNetwork, modeTitle } from './wallet-words.ts';

type Mode = WalletAccount['settlementMode'];

const modeHints: Readonly<Record<Mode, string>> = {
  '': 'The setting of this installation, also when it changes.',
  escrow: 'The gateway holds each payment until it is final, then pays your wallet. Refunds are easier.',
  direct: 'A payment in your token goes to your wallet in the payer’s own transaction.',
};

interface PartProps {
  readonly draft: TermsDraft;
  readonly change: (part: Partial<TermsDraft>) => void;
  readonly errorOf: (field: keyof TermsDraft) => string | undefined;
}

export function NameField({ draft, change, errorOf }: PartProps) {
  return (
    <TextField
      label="Name"
      hint="Only your team sees it."
      value={draft.accountName}
      onChange={(accountName) => change({ accountName })}
      placeholder="Main wallet"
      maxLength={100}
      autoComplete="off"
      error={errorOf('accountName')}
    />
  );
}

/** How payments reach the wallet. */
export function ModeField({ draft, change }: Omit<PartProps, 'errorOf'>) {
  const { data } = useRead('GET /account/change/list', {});
  return (
    <ChoiceField<Mode>
      label="Payments reach the wallet"
      value={draft.settlementMode}
      onChange={(settlementMode) => change({ settlementMode })}
      options={(['', 'escrow', 'direct'] as const).map((mode) => ({
        value: mode,
        label: modeTitle(mode, data?.settlementMode),
        hint: modeHints[mode],
      }))}
    />
  );
}

/** The tokens in which the wallet is paid, under their networks. */
export function TokensField({ draft: { settlementCurrencies: value }, change, errorOf }: PartProps) {
  const id = useId();
  const error = errorOf('settlementCurrencies');
  const read = useRead('GET /token/list', {});
  const tokens = read.data?.tokens;
  const isFailed = tokens === undefined && read.error !== null;
  const gone =
    tokens === undefined ? [] : value.filter((id) => !tokens.some(({ tokenId }) => tokenId === id));
  const toggle = (tokenId: string, isChecked: boolean) =>
    change({
      settlementCurrencies: isChecked ? [...value, tokenId] : value.filter((each) => each !== tokenId),
    });
  return (
    <fieldset
      aria-describedby={error === undefined ? undefined : id}
      tabIndex={-1}
      data-invalid={error === undefined ? undefined : true}
      className="outline-none"
    >
      <legend className="font-medium">Tokens</legend>
      <p className="mb-1.5 text-sm text-soft">
        You can be paid out in these. The wallet must be yours on each of their networks.
      </p>
      {isFailed ? (
        <Failed error={read.error} onRetry={() => void read.refetch()} />
      ) : (
        <div className="divide-y divide-line rounded-lg border border-line-strong">
          {tokens === undefined && (
            <div className="p-3">
              <Skeleton className="h-16" />
            </div>
          )}
          {tokens?.length === 0 && <p className="p-3 text-soft">This installation has no tokens yet.</p>}
          {byNetwork(tokens ?? []).map(({ network, tokens: own }) => (
            <div key={network} className="grid gap-x-4 gap-y-2 px-3 py-2.5 sm:grid-cols-[9rem_1fr]">
              <p className="font-medium">{network}</p>
              <div className="flex flex-wrap gap-x-5 gap-y-2">
                {own.map(({ tokenId, symbol }) => (
                  <CheckField
                    key={tokenId}
                    label={
                      <>
                        {symbol}
                        <span className="sr-only"> on {network}</span>
                      </>
                    }
                    isChecked={value.includes(tokenId)}
                    onChange={(isChecked) => toggle(tokenId, isChecked)}
                  />
                ))}
              </div>
            </div>
          ))}
          {gone.map((tokenId) => (
            <div key={tokenId} className="px-3 py-2.5">
              <CheckField
                label={tokenId}
                hint="This installation no longer has the token."
                isChecked
                onChange={() => toggle(tokenId, false)}
              />
            </div>
          ))}
        </div>
      )}
      {error !== undefined && (
        <p id={id} role="alert" className="mt-1.5 text-sm text-bad">
          {error}
        </p>
      )}
    </fieldset>
  );
}
