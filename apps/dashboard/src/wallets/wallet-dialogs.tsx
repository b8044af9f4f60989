import { useRead, useWrite } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { Confirm } from '../ui/confirm.tsx';
import { CancelButton, DialogActions, Sheet } from '../ui/dialog.tsx';
import { differs, useDraftGuard } from '../ui/draft-guard.tsx';
import { onSubmit } from '../ui/form.ts';
import { formatNumber, shortAddress } from '../ui/format.ts';
import { isolated } from '../ui/isolated.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';
import { Address } from '../ui/value.tsx';
import { AddressFields } from './address-fields.tsx';
import { ChangedNotice, useSeen } from './changed-notice.tsx';
import { DelayNotice } from './delay-notice.tsx';
import type { WalletAccount, WalletChange } from './types.ts';
import { addressBody, addressFaults, noAddress, termsBody, termsFaults, useDraft } from './wallet-draft.ts';
import { ModeField, NameField, TokensField } from './wallet-fields.tsx';
import { modeTitle, tokenNames } from './wallet-words.ts';

interface FormProps {
  readonly account: WalletAccount;
  readonly onClose: () => void;
}

/** Changes the name, the tokens and the settlement mode, which take effect at once. */
export function EditWalletSheet({ account, onClose }: FormProps) {
  return (
    <Sheet
      isOpen
      onClose={onClose}
      title={`Change ${isolated(account.accountName)}`}
      description="At once, for payments that start from now on."
    >
      <EditForm account={account} onClose={onClose} />
    </Sheet>
  );
}

function EditForm({ account, onClose }: FormProps) {
  const { accountId, accountName, settlementCurrencies, settlementMode } = account;
  const { seen, isStale, goOn } = useSeen(account);
  const tokens = useRead('GET /token/list', {}).data?.tokens ?? [];
  const update = useWrite('POST /account/update');
  const { draft, change, check, errorOf } = useDraft(
    { accountName, settlementCurrencies, settlementMode },
    termsFaults,
    update,
  );
  const guard = useDraftGuard(differs(termsBody(draft), termsBody(seen)), onClose);
  const submit = async () => {
    if (!check()) return;
    const body = { accountId, ...termsBody(draft), ifUpdateAt: seen.updateAt };
    if ((await update.run({ body })) === undefined) return;
    guard.release();
    toast('The wallet was changed');
    onClose();
  };
  return (
    <form onSubmit={onSubmit(submit)} noValidate className="grid gap-5">
      <NameField {...{ draft, change, errorOf }} />
      <TokensField {...{ draft, change, errorOf }} />
      <ModeField {...{ draft, change }} />
      <DialogActions
        notice={
          isStale && !update.isRunning ? (
            <ChangedNotice
              onTake={() => {
                change({ accountName, settlementCurrencies, settlementMode });
                goOn();
              }}
              onKeep={() => {
                update.reset();
                goOn();
              }}
            >
              It is now called <bdi>{accountName}</bdi>. It takes{' '}
              {tokenNames(settlementCurrencies, tokens).join(', ')}. Payments arrive:{' '}
              {modeTitle(settlementMode, undefined)}.
            </ChangedNotice>
          ) : (
            <FailureNotice error={update.error} fields={['accountName', 'settlementCurrencies']} />
          )
        }
      >
        <CancelButton />
        <Button type="submit" kind="primary" isBusy={update.isRunning} disabled={isStale}>
          Save
        </Button>
      </DialogActions>
      {guard.question}
    </form>
  );
}

/** Gives the account another address after the delay. */
export function MoveWalletSheet({ account, onClose }: FormProps) {
  return (
    <Sheet isOpen onClose={onClose} title={`New address for ${isolated(account.accountName)}`}>
      <MoveForm account={account} onClose={onClose} />
    </Sheet>
  );
}

function MoveForm({ account, onClose }: FormProps) {
  const { accountId, accountAddress } = account;
  const { seen, isStale, goOn } = useSeen(account);
  const changes = useRead('GET /account/change/list', {});
  const move = useWrite('POST /account/address');
  const { draft, change, check, errorOf } = useDraft(noAddress, addressFaults, move);
  const guard = useDraftGuard(differs(draft, noAddress), onClose);
  const submit = async () => {
    if (!check()) return;
    const body = { accountId, ...addressBody(draft), ifUpdateAt: seen.updateAt };
    const made = await move.run({ body });
    if (made === undefined) return;
    guard.release();
    toast(made.status === 'waiting' ? 'The new address waits to take effect' : 'The address was changed');
    onClose();
  };
  return (
    <form onSubmit={onSubmit(submit)} noValidate className="grid gap-5">
      <DelayNotice kind="address" delaySeconds={changes.data?.delaySeconds} />
      <div>
        <p className="font-medium">Address now</p>
        <Address address={accountAddress} isWhole />
        <p className="text-sm text-soft">Payments that start before the change still go there.</p>
      </div>
      <AddressFields {...{ draft, change, errorOf }} />
      <DialogActions
        notice={
          isStale && !move.isRunning ? (
            <ChangedNotice
              onKeep={() => {
                move.reset();
                goOn();
              }}
            >
              It is now called <bdi>{account.accountName}</bdi>, and its address is{' '}
              {shortAddress(accountAddress)}.
            </ChangedNotice>
          ) : (
            <FailureNotice error={move.error} fields={['accountAddress']} />
          )
        }
      >
        <CancelButton />
        <Button type="submit" kind="primary" isBusy={move.isRunning} disabled={isStale}>
          Set the new address
        </Button>
      </DialogActions>
      {guard.question}
    </form>
  );
}

/** Links that are read and named before their wallet goes. */
const readLinks = 100;
const namedLinks = 5;

/** Which links stop: they stay disabled until each has another wallet. */
function StoppedLinks({ accountId }: { readonly accountId: string }) {
  const read = useRead('GET /payment/link/list/:page/:size', { params: { page: 1, size: readLinks } });
  if (read.data === undefined) return <p>Its payment links are disabled.</p>;
  const { links, hasMore } = read.data;
  const stopped = links.filter((link) => link.accountId === accountId && link.status === 'active');
  // Older links are not read.
  if (stopped.length === 0)
    return <p>{hasMore ? 'Its payment links are disabled.' : 'No active link uses it.'}</p>;
  const more = stopped.length - namedLinks;
  return (
    <>
      <p className="font-medium text-ink">
        {hasMore ? 'At least ' : ''}
        {stopped.length === 1 ? '1 active link stops' : `${stopped.length} active links stop`}:
      </p>
      <ul className="list-disc pl-5">
        {stopped.slice(0, namedLinks).map(({ linkId, linkName }) => (
          <li key={linkId} className="wrap-anywhere">
            <bdi>{linkName}</bdi>
          </li>
        ))}
        {more > 0 && <li>{formatNumber(more)} more</li>}
      </ul>
      <p>To keep a link, first edit it and choose another wallet. Later it must be enabled again as well.</p>
    </>
  );
}

/** Removes a wallet. */
export function RemoveWallet({
  account,
  onClose,
  onRemoved,
}: FormProps & { readonly onRemoved: () => void }) {
  const { accountId, accountName, accountAddress } = account;
  const { seen, isStale, goOn } = useSeen(account);
  const changes = useRead('GET /account/change/list', {});
  const remove = useWrite('POST /account/remove');
  const submit = async () => {
    const reply = await remove.run({ body: { accountId, ifUpdateAt: seen.updateAt } });
    if (reply === undefined) return;
    const links = reply.disabledLinks === 1 ? '1 payment link' : `${reply.disabledLinks} payment links`;
    toast(`The wallet was removed${reply.disabledLinks === 0 ? '' : `, and ${links} disabled`}`);
    onRemoved();
  };
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={`Remove ${isolated(accountName)}?`}
      act="Remove"
      isDangerous
      write={remove}
      onConfirm={submit}
    >
      <p>
        No new payment goes to {shortAddress(accountAddress)}. Open payments stay payable and still go there.
      </p>
      <StoppedLinks accountId={accountId} />
      {changes.data !== undefined && changes.data.delaySeconds > 0 && (
        <p>A wallet that you add afterwards waits, even if it is the same one.</p>
      )}
      {isStale && !remove.isRunning && (
        <ChangedNotice
          onKeep={() => {
            remove.reset();
            goOn();
          }}
        >
          It is now called <bdi>{accountName}</bdi>, and its address is {shortAddress(accountAddress)}.
        </ChangedNotice>
      )}
    </Confirm>
  );
}

/** Cancels a wallet or an address that waits. */
export function CancelChange({
  change: { changeId, kind, accountAddress },
  onClose,
}: {
  readonly change: WalletChange;
  readonly onClose: () => void;
}) {
  const cancel = useWrite('POST /account/change/cancel', { onDone: () => toast('The change was cancelled') });
  return (
    <Confirm
      isOpen
      onClose={onClose}
      title={kind === 'address' ? 'Cancel the new address?' : 'Cancel the new wallet?'}
      act="Cancel the change"
      back="Let it wait"
      isDangerous
      write={cancel}
      onConfirm={async () => {
        if ((await cancel.run({ body: { changeId } })) !== undefined) onClose();
      }}
    >
      <p>
        {shortAddress(accountAddress)} gets no money. {kind === 'address' && 'The wallet keeps its address. '}
        If no one in your team asked for it, look through the team, the keys and the audit log.
      </p>
    </Confirm>
  );
}
