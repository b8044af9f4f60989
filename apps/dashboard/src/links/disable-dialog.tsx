import type { LinkDetail } from '@florin/protocol/link.ts';
import { useState } from 'react';
import { fieldError } from '../api/failure.ts';
import { useAct } from '../api/use-act.ts';
import { request } from '../api/use-call.ts';
import { useMerchantId } from '../app/merchant.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { DraftGuard } from '../ui/draft-guard.tsx';
import { AreaField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { isolated } from '../ui/isolated.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';
import { linkUpdateOf } from './link-draft.ts';

interface DisableProps {
  readonly isOpen: boolean;
  readonly link: LinkDetail;
  readonly onClose: () => void;
}

/** Disables a link, with the reason that its page shows. */
export function DisableDialog({ isOpen, link, onClose }: DisableProps) {
  return (
    <Dialog
      isOpen={isOpen}
      onClose={onClose}
      title={`Disable ${isolated(link.linkName)}?`}
      description="It takes no new payments until you enable it. Payments under way can still be paid."
      size="small"
    >
      <DisableForm link={link} onClose={onClose} />
    </Dialog>
  );
}

function DisableForm({ link, onClose }: Omit<DisableProps, 'isOpen'>) {
  const merchantId = useMerchantId();
  const [reason, setReason] = useState(link.customDisabledText);
  const disable = useAct(async (customDisabledText: string) => {
    // The link is disabled first: then no failure of the text keeps it open.
    await request(merchantId, 'POST /payment/link/disable', { body: { linkId: link.linkId } });
    if (customDisabledText !== link.customDisabledText)
      await request(merchantId, 'POST /payment/link/update', {
        body: linkUpdateOf(link, { customDisabledText }),
      });
  });
  const submit = async () => {
    if (!(await disable.run(reason.trim()))) return;
    toast('Link disabled');
    onClose();
  };
  return (
    <form noValidate onSubmit={onSubmit(submit)} className="grid gap-4">
      <AreaField
        label="Reason"
        hint="The page of the link shows it."
        isOptional
        rows={3}
        maxLength={500}
        placeholder="Sold out until May."
        value={reason}
        onChange={setReason}
        error={fieldError(disable.error, 'customDisabledText')}
      />
      <DialogActions notice={<FailureNotice error={disable.error} fields={['customDisabledText']} />}>
        <CancelButton disabled={disable.isRunning} />
        <Button type="submit" kind="danger" isBusy={disable.isRunning}>
          Disable the link
        </Button>
      </DialogActions>
      <DraftGuard isChanged={reason !== link.customDisabledText} onClose={onClose} />
    </form>
  );
}
