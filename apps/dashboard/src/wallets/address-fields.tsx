import { PenLine, Wallet } from 'lucide-react';
import { fieldError } from '../api/failure.ts';
import { useAct } from '../api/use-act.ts';
import { request } from '../api/use-call.ts';
import { useMerchantId } from '../app/merchant.ts';
import { askAddress, hasWallet, signText } from '../proof/wallet.ts';
import { Button } from '../ui/button.tsx';
import { CheckField, TextField } from '../ui/field.tsx';
import { FailureNotice, Notice } from '../ui/notice.tsx';
import type { AddressDraft } from './wallet-draft.ts';

/** The address of a wallet, typed or taken from the browser's wallet, and the proof that the merchant controls it. */
export function AddressFields({
  draft,
  change,
  errorOf,
}: {
  readonly draft: AddressDraft;
  readonly change: (part: AddressDraft) => void;
  readonly errorOf: (field: keyof AddressDraft) => string | undefined;
}) {
  const merchantId = useMerchantId();
  const take = useAct(async () => {
    const accountAddress = await askAddress();
    sign.reset();
    change({ accountAddress, proof: undefined, isWithoutProof: false });
  });
  const sign = useAct(async () => {
    const accountAddress = draft.accountAddress.trim();
    const { message } = await request(merchantId, 'GET /account/proof/:accountAddress', {
      params: { accountAddress },
    });
    change({ accountAddress, proof: await signText(message, accountAddress), isWithoutProof: false });
  });
  const isBusy = take.isRunning || sign.isRunning;
  const proofError = errorOf('isWithoutProof');
  return (
    <div className="grid gap-3">
      <TextField
        label="Address"
        hint="The address of a wallet whose keys you hold. An address at an exchange may lose the money."
        value={draft.accountAddress}
        onChange={(accountAddress) => {
          sign.reset();
          change({ accountAddress, proof: undefined, isWithoutProof: false });
        }}
        placeholder="0x…"
        maxLength={42}
        autoComplete="off"
        spellCheck={false}
        disabled={isBusy}
        error={errorOf('accountAddress') ?? fieldError(sign.error, 'accountAddress')}
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
          <div
            tabIndex={-1}
            data-invalid={proofError === undefined ? undefined : true}
            className="mt-2 text-ink outline-none"
          >
            <CheckField
              label="Go on without a proof"
              hint="I compared the whole address. The wallet is marked as not proven."
              isChecked={draft.isWithoutProof}
              onChange={(isWithoutProof) => change({ ...draft, isWithoutProof })}
            />
          </div>
          {proofError !== undefined && (
            <p role="alert" className="mt-1.5 text-sm text-bad">
              {proofError}
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
