import { useState } from 'react';
import { fieldError } from '../api/failure.ts';
import { useWrite } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { DialogActions, Sheet } from '../ui/dialog.tsx';
import { AreaField, TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { toast } from '../ui/toast.tsx';
import { EventChoice } from './event-choice.tsx';
import type { Hook } from './types.ts';

type Draft = Pick<Hook, 'webhookName' | 'webhookUrl' | 'webhookDescription' | 'subscribedEvents'>;

const blank: Draft = {
  ...{ webhookName: '', webhookUrl: '', webhookDescription: '' },
  subscribedEvents: ['*'],
};
const ownFields = ['webhookName', 'webhookUrl', 'webhookDescription', 'subscribedEvents'];

type Faults = Partial<Record<'webhookName' | 'webhookUrl' | 'subscribedEvents', string>>;

function faultsOf({ webhookName, webhookUrl, subscribedEvents }: Draft): Faults {
  return {
    ...(webhookName.trim() === '' ? { webhookName: 'Write a name.' } : {}),
    ...(webhookUrl.trim() === '' ? { webhookUrl: 'Write the address of your server.' } : {}),
    ...(subscribedEvents.length === 0 ? { subscribedEvents: 'Choose at least one.' } : {}),
  };
}

/** Adds a webhook, or changes the one that is given. */
export function WebhookSheet({
  hook,
  onClose,
  onSaved,
}: {
  readonly hook?: Hook;
  readonly onClose: () => void;
  readonly onSaved: (webhookId: string) => void;
}) {
  const [draft, setDraft] = useState<Draft>(hook ?? blank);
  // As it was when the form began: the page behind it reads on.
  const [readAt] = useState(hook?.updateAt ?? '');
  const [wrong, setWrong] = useState<Faults>({});
  const create = useWrite('POST /webhook/create', { onDone: () => toast('Webhook added') });
  const update = useWrite('POST /webhook/update', { onDone: () => toast('Webhook changed') });
  const { error, isRunning, reset } = hook === undefined ? create : update;
  const change = (changed: Partial<Draft>) => {
    setDraft({ ...draft, ...changed });
    setWrong({});
    reset();
  };
  const save = async () => {
    const faults = faultsOf(draft);
    setWrong(faults);
    if (Object.keys(faults).length > 0) return;
    const body = {
      webhookName: draft.webhookName.trim(),
      webhookUrl: draft.webhookUrl.trim(),
      webhookDescription: draft.webhookDescription.trim(),
      subscribedEvents: [...draft.subscribedEvents],
    };
    if (hook === undefined) {
      const reply = await create.run({ body });
      if (reply !== undefined) onSaved(reply.webhookId);
    } else {
      const { webhookId } = hook;
      const reply = await update.run({ body: { webhookId, ...body, ifUpdateAt: readAt } });
      if (reply !== undefined) onSaved(webhookId);
    }
  };
  return (
    <Sheet
      isOpen
      onClose={onClose}
      isHeld={isRunning}
      title={hook === undefined ? 'Add a webhook' : 'Change this webhook'}
    >
      <form onSubmit={onSubmit(save)} noValidate className="grid gap-5">
        <TextField
          label="Name"
          placeholder="Shop server"
          maxLength={100}
          value={draft.webhookName}
          onChange={(webhookName) => change({ webhookName })}
          error={wrong.webhookName ?? fieldError(error, 'webhookName')}
        />
        <TextField
          label="URL"
          hint="Florin sends each event there by POST. It must begin with https."
          type="url"
          inputMode="url"
          autoComplete="off"
          spellCheck={false}
          maxLength={1000}
          placeholder="https://shop.example.com/florin"
          value={draft.webhookUrl}
          onChange={(webhookUrl) => change({ webhookUrl })}
          error={wrong.webhookUrl ?? fieldError(error, 'webhookUrl')}
        />
        <AreaField
          label="Description"
          isOptional
          rows={2}
          maxLength={1000}
          value={draft.webhookDescription}
          onChange={(webhookDescription) => change({ webhookDescription })}
          error={fieldError(error, 'webhookDescription')}
        />
        <EventChoice
          value={draft.subscribedEvents}
          onChange={(subscribedEvents) => change({ subscribedEvents: [...subscribedEvents] })}
          error={wrong.subscribedEvents ?? fieldError(error, 'subscribedEvents')}
        />
        <FailureNotice error={error} fields={ownFields} />
        <DialogActions>
          <Button onClick={onClose} disabled={isRunning}>
            Cancel
          </Button>
          <Button type="submit" kind="primary" isBusy={isRunning}>
            {hook === undefined ? 'Add the webhook' : 'Save'}
          </Button>
        </DialogActions>
      </form>
    </Sheet>
  );
}
