import { useState } from 'react';
import { fieldError } from '../api/failure.ts';
import { useWrite } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { DialogActions, Sheet } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { shortAddress } from '../ui/format.ts';
import { FailureNotice, Notice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';
import { Address } from '../ui/value.tsx';
import { type AddressFaults, addressBody, addressFaults, noAddress } from './address-draft.ts';
import { AddressFields } from './address-fields.tsx';
import type { WalletAccount, WalletChange } from './types.ts';
import { ModeField, TokensField } from './wallet-fields.tsx';

interface FormProps {
  readonly account: WalletAccount;
  readonly onClose: () => void;
}

interface SheetProps {
  readonly account: WalletAccount;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/** Changes the name, the tokens and the settlement mode, which take effect at once. */
export function EditWalletSheet({ account, isOpen, onClose }: SheetProps) {
  return (
    <Sheet
      isOpen={isOpen}
      onClose={onClose}
      title={`Change ${account.accountName}`}
      description="For payments that start from now on, at once."
    >
      <EditForm account={account} onClose={onClose} />
    </Sheet>
  );
}

function EditForm({ account, onClose }: FormProps) {
  const { accountId } = account;
  const [accountName, setAccountName] = useState(account.accountName);
  const [tokens, setTokens] = useState<readonly string[]>(account.settlementCurrencies);
  const [settlementMode, setSettlementMode] = useState(account.settlementMode);
  const [faults, setFaults] = useState<{ readonly name?: string; readonly tokens?: string }>({});
  const update = useWrite('POST /account/update');
  const submit = async () => {
    const found = {
      ...(accountName.trim() === '' ? { name: 'Give the wallet a name.' } : {}),
      ...(tokens.length === 0 ? { tokens: 'Choose at least one token.' } : {}),
    };
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    const body = {
      ...{ accountId, accountName: accountName.trim(), settlementMode },
      settlementCurrencies: [...tokens],
    };
    if ((await update.run({ body })) === undefined) return;
    toast('The wallet was changed');
    onClose();
  };
  return (
    <form onSubmit={onSubmit(submit)} noValidate className="grid gap-5">
      <TextField
        label="Name"
        hint="Only your team sees it."
        value={accountName}
        onChange={setAccountName}
        maxLength={100}
        autoComplete="off"
        error={faults.name ?? fieldError(update.error, 'accountName')}
      />
      <TokensField
        value={tokens}
        onChange={setTokens}
        error={faults.tokens ?? fieldError(update.error, 'settlementCurrencies')}
      />
      <ModeField value={settlementMode} onChange={setSettlementMode} />
      <FailureNotice error={update.error} fields={['accountName', 'settlementCurrencies']} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isBusy={update.isRunning}>
          Save
        </Button>
      </DialogActions>
    </form>
  );
}

/** Gives the account another address after the delay. */
export function MoveWalletSheet({ account, isOpen, onClose }: SheetProps) {
  return (
    <Sheet isOpen={isOpen} onClose={onClose} title={`New address for ${account.accountName}`}>
      <MoveForm account={account} onClose={onClose} />
    </Sheet>
  );
}

function MoveForm({ account: { accountId, accountAddress }, onClose }: FormProps) {
  const [address, setAddress] = useState(noAddress);
  const [faults, setFaults] = useState<AddressFaults>({});
  const move = useWrite('POST /account/address');
  const submit = async () => {
    const found = addressFaults(address);
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    const change = await move.run({ body: { accountId, ...addressBody(address) } });
    if (change === undefined) return;
    toast(change.status === 'waiting' ? 'The new address waits' : 'The address was changed');
    onClose();
  };
  return (
    <form onSubmit={onSubmit(submit)} noValidate className="grid gap-5">
      <Notice tone="info" title="A new address waits before it takes money">
        It waits, usually a day. A thief who gets into an account could otherwise send your money elsewhere at
        once. While it waits you can cancel it.
      </Notice>
      <div>
        <p className="font-medium">Address until then</p>
        <Address address={accountAddress} isWhole />
        <p className="text-sm text-soft">Payments that start before the change still go there.</p>
      </div>
      <AddressFields draft={address} onChange={setAddress} faults={faults} error={move.error} />
      <FailureNotice error={move.error} fields={['accountAddress']} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isBusy={move.isRunning}>
          Set the new address
        </Button>
      </DialogActions>
    </form>
  );
}

/** Removes a wallet. */
export function RemoveWallet({
  account,
  isOpen,
  onClose,
  onRemoved,
}: SheetProps & { readonly onRemoved: () => void }) {
  const { accountId, accountName, accountAddress } = account;
  const remove = useWrite('POST /account/remove', {
    onDone: ({ disabledLinks }) => {
      const links = disabledLinks === 1 ? '1 payment link' : `${disabledLinks} payment links`;
      toast(`The wallet was removed${disabledLinks === 0 ? '' : `, and ${links} disabled`}`);
    },
  });
  return (
    <Confirm
      isOpen={isOpen}
      onClose={onClose}
      title={`Remove ${accountName}?`}
      act="Remove"
      isDangerous
      write={remove}
      onConfirm={async () => {
        if ((await remove.run({ body: { accountId } })) === undefined) return;
        onClose();
        onRemoved();
      }}
    >
      <p>
        No new payment goes to {shortAddress(accountAddress)}, and its payment links are disabled. Open
        payments stay payable and still go there.
      </p>
      <p>A wallet that you add afterwards waits, even if it is the same one.</p>
    </Confirm>
  );
}

/** Cancels a wallet or an address that waits. */
export function CancelChange({
  change,
  onClose,
}: {
  readonly change: WalletChange | undefined;
  readonly onClose: () => void;
}) {
  const cancel = useWrite('POST /account/change/cancel', { onDone: () => toast('The change was cancelled') });
  return (
    <Confirm
      isOpen={change !== undefined}
      onClose={onClose}
      title={change?.kind === 'address' ? 'Cancel the new address?' : 'Cancel the new wallet?'}
      act="Cancel the change"
      isDangerous
      write={cancel}
      onConfirm={async () => {
        const done = await cancel.run({ body: { changeId: change?.changeId ?? '' } });
        if (done !== undefined) onClose();
      }}
    >
      <p>
        {shortAddress(change?.accountAddress ?? '')} gets no money.{' '}
        {change?.kind === 'address' && 'The account keeps its address. '}
        If no one in your team asked for it, look through the team, the keys and the audit log.
      </p>
    </Confirm>
  );
}
