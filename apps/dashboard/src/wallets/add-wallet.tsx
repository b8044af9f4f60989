import { useState } from 'react';
import { fieldError } from '../api/failure.ts';
import { useWrite } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { DialogActions, Sheet } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice, Notice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';
import { type AddressFaults, addressBody, addressFaults, noAddress } from './address-draft.ts';
import { AddressFields } from './address-fields.tsx';
import type { WalletAccount } from './types.ts';
import { ModeField, TokensField } from './wallet-fields.tsx';

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

type Faults = AddressFaults & { readonly accountName?: string; readonly settlementCurrencies?: string };
const fields = ['accountName', 'accountAddress', 'settlementCurrencies'];

function AddForm({ onClose }: { readonly onClose: () => void }) {
  const [accountName, setAccountName] = useState('');
  const [address, setAddress] = useState(noAddress);
  const [tokens, setTokens] = useState<readonly string[]>([]);
  const [settlementMode, setSettlementMode] = useState<WalletAccount['settlementMode']>('');
  const [faults, setFaults] = useState<Faults>({});
  const add = useWrite('POST /account/create');
  const submit = async () => {
    const found: Faults = {
      ...(accountName.trim() === '' ? { accountName: 'Give the wallet a name.' } : {}),
      ...addressFaults(address),
      ...(tokens.length === 0 ? { settlementCurrencies: 'Choose at least one token.' } : {}),
    };
    setFaults(found);
    if (Object.keys(found).length > 0) return;
    const change = await add.run({
      body: {
        ...addressBody(address),
        accountName: accountName.trim(),
        settlementCurrencies: [...tokens],
        settlementMode,
      },
    });
    if (change === undefined) return;
    toast(change.status === 'waiting' ? 'The wallet was added and waits' : 'The wallet was added');
    onClose();
  };
  return (
    <form onSubmit={onSubmit(submit)} noValidate className="grid gap-5">
      <Notice tone="info" title="A wallet waits before it takes money">
        Your first wallet works at once. Every other one waits, usually a day. A thief who gets into an
        account could otherwise send your money elsewhere at once. While it waits you can cancel it.
      </Notice>
      <TextField
        label="Name"
        hint="Only your team sees it."
        value={accountName}
        onChange={setAccountName}
        placeholder="Main wallet"
        maxLength={100}
        autoComplete="off"
        error={faults.accountName ?? fieldError(add.error, 'accountName')}
      />
      <AddressFields draft={address} onChange={setAddress} faults={faults} error={add.error} />
      <TokensField
        value={tokens}
        onChange={setTokens}
        error={faults.settlementCurrencies ?? fieldError(add.error, 'settlementCurrencies')}
      />
      <ModeField value={settlementMode} onChange={setSettlementMode} />
      <FailureNotice error={add.error} fields={fields} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" kind="primary" isBusy={add.isRunning}>
          Add the wallet
        </Button>
      </DialogActions>
    </form>
  );
}
