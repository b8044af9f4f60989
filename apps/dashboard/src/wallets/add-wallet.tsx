import { useRead, useWrite } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, DialogActions, Sheet } from '../ui/dialog.tsx';
import { differs, useDraftGuard } from '../ui/draft-guard.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';
import { AddressFields } from './address-fields.tsx';
import { DelayNotice } from './delay-notice.tsx';
import {
  type AddressDraft,
  addressBody,
  addressFaults,
  noAddress,
  type TermsDraft,
  termsBody,
  termsFaults,
  useDraft,
} from './wallet-draft.ts';
import { ModeField, NameField, TokensField } from './wallet-fields.tsx';

/** Adds a wallet. */
export function AddWalletSheet({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  return (
    <Sheet isOpen={isOpen} onClose={onClose} title="Add a wallet">
      <AddForm onClose={onClose} />
    </Sheet>
  );
}

const empty: TermsDraft & AddressDraft = {
  ...{ accountName: '', settlementCurrencies: [], settlementMode: '' },
  ...noAddress,
};
const fields = ['accountName', 'accountAddress', 'settlementCurrencies'];

function AddForm({ onClose }: { readonly onClose: () => void }) {
  const changes = useRead('GET /account/change/list', {});
  const add = useWrite('POST /account/create');
  const { draft, change, check, errorOf } = useDraft(
    empty,
    (typed) => ({ ...termsFaults(typed), ...addressFaults(typed) }),
    add,
  );
  const guard = useDraftGuard(differs(draft, empty), onClose);
  const submit = async () => {
    if (!check()) return;
    const made = await add.run({ body: { ...termsBody(draft), ...addressBody(draft) } });
    if (made === undefined) return;
    guard.release();
    toast(made.status === 'waiting' ? 'The wallet waits to take effect' : 'The wallet was added');
    onClose();
  };
  return (
    <form onSubmit={onSubmit(submit)} noValidate className="grid gap-5">
      <DelayNotice kind="add" delaySeconds={changes.data?.delaySeconds} />
      <NameField {...{ draft, change, errorOf }} />
      <AddressFields {...{ draft, change, errorOf }} />
      <TokensField {...{ draft, change, errorOf }} />
      <ModeField {...{ draft, change }} />
      <DialogActions notice={<FailureNotice error={add.error} fields={fields} />}>
        <CancelButton />
        <Button type="submit" kind="primary" isBusy={add.isRunning}>
          Add the wallet
        </Button>
      </DialogActions>
      {guard.question}
    </form>
  );
}
