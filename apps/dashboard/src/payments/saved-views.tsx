import { maxPaymentViews } from '@florin/protocol/payment-view.ts';
import { Bookmark, BookmarkPlus, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { fieldError } from '../api/failure.ts';
import { useRead, useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { DraftGuard } from '../ui/draft-guard.tsx';
import { TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { isolated } from '../ui/isolated.ts';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../ui/menu.tsx';
import { FailureNotice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';
import type { PaymentFilters } from './search-body.ts';

/** Filters that the member keeps under a name, on every computer. The operator's staff, who is no member, keeps none. */
export function SavedViews({
  filters,
  isAnySet,
  onChoose,
}: {
  readonly filters: PaymentFilters;
  readonly isAnySet: boolean;
  readonly onChoose: (filters: Partial<PaymentFilters>) => void;
}) {
  const { merchantId, role } = useMerchant();
  const isMember = role !== 'staff';
  const { data, error } = useRead(
    'GET /me/view/list/:merchantId',
    { params: { merchantId } },
    { isOn: isMember },
  );
  const [isNaming, setNaming] = useState(false);
  const remove = useWrite('POST /me/view/remove');
  if (!isMember) return null;
  const views = data?.views ?? [];
  const label = error === null ? 'No saved views' : 'Your views did not load';
  const forget = async (name: string) => {
    const done = await remove.run({ body: { merchantId, name } });
    toast(done === undefined ? 'The view could not be removed' : `View “${isolated(name)}” removed`, {
      isFailure: done === undefined,
    });
  };
  return (
    <>
      <Menu trigger={<Button icon={<Bookmark />}>Views</Button>} className="max-w-72">
        <MenuLabel>{views.length === 0 ? label : 'Saved views'}</MenuLabel>
        {views.map((view) => (
          <MenuItem key={view.name} onSelect={() => onChoose(view.filters)}>
            <bdi>{view.name}</bdi>
          </MenuItem>
        ))}
        <MenuLine />
        <MenuItem icon={<BookmarkPlus />} onSelect={() => setNaming(true)} isDisabled={!isAnySet}>
          Save these filters
        </MenuItem>
        {views.map(({ name }) => (
          <MenuItem key={name} icon={<Trash2 />} onSelect={() => void forget(name)} isDangerous>
            Forget {isolated(name)}
          </MenuItem>
        ))}
      </Menu>
      {isNaming && <NameDialog merchantId={merchantId} filters={filters} onClose={() => setNaming(false)} />}
    </>
  );
}

function NameDialog({
  merchantId,
  filters,
  onClose,
}: {
  readonly merchantId: string;
  readonly filters: PaymentFilters;
  readonly onClose: () => void;
}) {
  const [name, setName] = useState('');
  const save = useWrite('POST /me/view/save');
  const submit = async () => {
    const given = Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== ''));
    const done = await save.run({ body: { merchantId, name: name.trim(), filters: given } });
    if (done === undefined) return;
    toast(`View “${isolated(name.trim())}” saved`);
    onClose();
  };
  return (
    <Dialog isOpen onClose={onClose} title="Save these filters" size="small" isHeld={save.isRunning}>
      <form onSubmit={onSubmit(submit)} className="grid gap-4">
        <TextField
          label="Name of the view"
          hint={`You find it again on every computer. A name that you have already gets these filters. At most ${maxPaymentViews}.`}
          value={name}
          onChange={setName}
          maxLength={60}
          required
          error={fieldError(save.error, 'name')}
        />
        <DialogActions notice={<FailureNotice error={save.error} fields={['name']} />}>
          <CancelButton disabled={save.isRunning} />
          <Button kind="primary" type="submit" isBusy={save.isRunning} disabled={name.trim() === ''}>
            Save
          </Button>
        </DialogActions>
        <DraftGuard isChanged={name !== ''} onClose={onClose} />
      </form>
    </Dialog>
  );
}
