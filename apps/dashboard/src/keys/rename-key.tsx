import { useState } from 'react';
import { fieldError } from '../api/failure.ts';
import { useWrite } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { useDraftGuard } from '../ui/draft-guard.tsx';
import { TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';

/** Characters of a key's name that the service takes. */
export const mostKeyName = 60;

/** Gives a key another name. */
export function RenameKeyDialog({
  shown,
  onClose,
}: {
  readonly shown: { readonly keyId: string; readonly name: string };
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Name of the key"
      description="Which program uses it. A new name changes nothing for the program."
      size="small"
    >
      <RenameForm {...shown} onClose={onClose} />
    </Dialog>
  );
}

function RenameForm({
  keyId,
  name: stored,
  onClose,
}: {
  readonly keyId: string;
  readonly name: string;
  readonly onClose: () => void;
}) {
  const [typed, setTyped] = useState(stored);
  const rename = useWrite('POST /key/rename');
  const name = typed.trim();
  const guard = useDraftGuard(name !== stored, onClose);
  const save = async () => {
    if ((await rename.run({ body: { keyId, name } })) === undefined) return;
    guard.release();
    toast('The key has another name');
    onClose();
  };
  return (
    <form className="grid gap-4" onSubmit={onSubmit(save)} noValidate>
      <TextField
        label="Name"
        isOptional
        maxLength={mostKeyName}
        value={typed}
        error={fieldError(rename.error, 'name')}
        onChange={setTyped}
      />
      <DialogActions notice={<FailureNotice error={rename.error} fields={['name']} />}>
        <CancelButton />
        <Button kind="primary" type="submit" isBusy={rename.isRunning} disabled={name === stored}>
          Save
        </Button>
      </DialogActions>
      {guard.question}
    </form>
  );
}
