import { useState } from 'react';
import { fieldError } from '../api/failure.ts';
import { useWrite } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { useDraftGuard } from '../ui/draft-guard.tsx';
import { TextField } from '../ui/field.tsx';
import { FailureNotice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';

/** Changes the name that payers see. */
export function NameDialog({
  name,
  isOpen,
  onClose,
}: {
  readonly name: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title="Name of the shop"
      description="Payers see it on payment pages and receipts, at once and everywhere."
    >
      {isOpen && <NameForm name={name} onClose={onClose} />}
    </Dialog>
  );
}

function NameForm({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const [typed, setTyped] = useState(name);
  // As it was when the form began: the page behind it reads on.
  const [ifMerchantName] = useState(name);
  const rename = useWrite('POST /merchant/rename');
  const merchantName = typed.trim();
  const guard = useDraftGuard(merchantName !== ifMerchantName, onClose);
  const save = async () => {
    if ((await rename.run({ body: { merchantName, ifMerchantName } })) === undefined) return;
    guard.release();
    toast('The shop has a new name');
    onClose();
  };
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault();
        void save();
      }}
    >
      <TextField
        label="Name"
        value={typed}
        maxLength={100}
        autoComplete="organization"
        error={fieldError(rename.error, 'merchantName')}
        onChange={setTyped}
      />
      <DialogActions notice={<FailureNotice error={rename.error} fields={['merchantName']} />}>
        <CancelButton />
        <Button
          kind="primary"
          type="submit"
          isBusy={rename.isRunning}
          disabled={merchantName === '' || merchantName === name}
        >
          Save
        </Button>
      </DialogActions>
      {guard.question}
    </form>
  );
}
