import { PenLine, Wallet } from 'lucide-react';
import { useId } from 'react';
import { type ApiFailure, fieldError } from '../api/failure.ts';
import { useAct } from '../api/use-act.ts';
import { request } from '../api/use-call.ts';
import { useMerchantId } from '../app/merchant.ts';
import { askAddress, hasWallet, signText } from '../proof/wallet.ts';
import { Button } from '../ui/button.tsx';
import { CheckField, TextField } from '../ui/field.tsx';
import { FailureNotice, Notice } from '../ui/notice.tsx';
import type { AddressDraft, AddressFaults } from './address-draft.ts';

/** The address of a wallet, typed or taken from the browser's wallet, and the proof that the merchant controls it. */
export function AddressFields({
  draft,
  onChange,
  faults,
  error,
}: {
  readonly draft: AddressDraft;
  readonly onChange: (draft: AddressDraft) => void;
  readonly faults: AddressFaults;
  /** The failure of the request that sends the address. */
  readonly error: ApiFailure | undefined;
}) {
  const merchantId = useMerchantId();
  const errorId = useId();
  const take = useAct(async () => {
    const accountAddress = await askAddress();
    onChange({ accountAddress, proof: undefined, isWithoutProof: false });
  });
  const sign = useAct(async () => {
    const accountAddress = draft.accountAddress.trim();
    const { message } = await request(merchantId, 'GET /account/proof/:accountAddress', {
      params: { accountAddress },
    });
    onChange({ accountAddress, proof: await signText(message, accountAddress), isWithoutProof: false });
  });
  const isBusy = take.isRunning || sign.isRunning;
  return (
    <div className="grid gap-3">
      <TextField
        label="Address"
        hint="Of a wallet whose keys you hold. An address at an exchange may lose the money."
        value={draft.accountAddress}
        onChange={(accountAddress) => onChange({ accountAddress, proof: undefined, isWithoutProof: false })}
        placeholder="0x…"
        maxLength={42}
        autoComplete="off"
        spellCheck={false}
        disabled={isBusy}
        error={faults.accountAddress ?? fieldError(error ?? sign.error, 'accountAddress')}
      />
      {hasWallet() && (
        <div className="flex flex-wrap gap-2">
          <Button
            size="small"
            icon={<Wallet />}
            isBusy={take.isRunning}
            disabled={isBusy}
            onClick={() => void take.run()}
          >
            Take it from my browser wallet
          </Button>
          {draft.proof === undefined && (
            <Button
              size="small"
              icon={<PenLine />}
              isBusy={sign.isRunning}
              disabled={isBusy || draft.accountAddress.trim() === ''}
              onClick={() => void sign.run()}
            >
              Sign the proof
            </Button>
          )}
        </div>
      )}
      <FailureNotice error={take.error ?? sign.error} fields={['accountAddress']} />
      {draft.proof === undefined ? (
        <Notice title="Proof of control">
          {hasWallet()
            ? 'A signature of the wallet proves that it is yours, and that its address has no typing error. It moves no money.'
            : 'This browser has no wallet that could sign. In a browser that has one, a signature proves that the wallet is yours.'}
          <div className="mt-2 text-ink">
            <CheckField
              label="Go on without a proof"
              hint="I compared the whole address. The wallet is marked as not proven."
              isChecked={draft.isWithoutProof}
              onChange={(isWithoutProof) => onChange({ ...draft, isWithoutProof })}
            />
          </div>
          {faults.proof !== undefined && (
            <p id={errorId} role="alert" className="mt-1.5 text-sm text-bad">
              {faults.proof}
            </p>
          )}
        </Notice>
      ) : (
        <Notice tone="good" title="The wallet signed">
          The address is proven once you send this form.
        </Notice>
      )}
    </div>
  );
}
