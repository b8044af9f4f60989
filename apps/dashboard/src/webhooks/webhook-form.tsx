import { useLayoutEffect, useState } from 'react';
import { fieldError, sayFailure } from '../api/failure.ts';
import { useWrite } from '../api/use-call.ts';
import { Button } from '../ui/button.tsx';
import { ConflictNotice, type DraftPart, useBase } from '../ui/conflict.tsx';
import { CancelButton, DialogActions, Sheet } from '../ui/dialog.tsx';
import { differs, useDraftGuard } from '../ui/draft-guard.tsx';
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

/** A page of a local world comes by http, and such an installation sends to this machine, too. */
const urlHint = `Florin sends each event there by POST. It must begin with https${
  window.location.protocol === 'http:' ? ', or with http://localhost here' : ''
}. Every member sees its path: put no secret there, and check the signature, which proves the sender.`;

/** How a draft reads beside another one. */
const hookParts: readonly DraftPart<Draft>[] = [
  { name: 'Name', fields: ['webhookName'], textOf: ({ webhookName }) => webhookName.trim() },
  { name: 'URL', fields: ['webhookUrl'], textOf: ({ webhookUrl }) => webhookUrl.trim() },
  {
    name: 'Description',
    fields: ['webhookDescription'],
    textOf: ({ webhookDescription }) => webhookDescription.trim(),
  },
  {
    name: 'Events',
    fields: ['subscribedEvents'],
    textOf: ({ subscribedEvents }) => subscribedEvents.toSorted().join(', '),
  },
];

function draftOf(hook: Hook | undefined): Draft {
  if (hook === undefined) return blank;
  const { webhookName, webhookUrl, webhookDescription, subscribedEvents } = hook;
  return { webhookName, webhookUrl, webhookDescription, subscribedEvents };
}

interface HookFormProps {
  readonly hook?: Hook;
  readonly onClose: () => void;
  readonly onSaved: (webhookId: string) => void;
}

/** Adds a webhook, or changes the one that is given. */
export function WebhookSheet(props: HookFormProps) {
  const [isHeld, setHeld] = useState(false);
  return (
    <Sheet
      isOpen
      onClose={props.onClose}
      isHeld={isHeld}
      title={props.hook === undefined ? 'Add a webhook' : 'Change this webhook'}
    >
      <WebhookForm {...props} onHold={setHeld} />
    </Sheet>
  );
}

/** The draft, and what sends it. */
function useHookForm({
  hook,
  onClose,
  onSaved,
  onHold,
}: HookFormProps & { readonly onHold: (isHeld: boolean) => void }) {
  const [draft, setDraft] = useState(() => draftOf(hook));
  const [begun, setBegun] = useState(draft);
  const guard = useDraftGuard(differs(draft, begun), onClose);
  const [wrong, setWrong] = useState<Faults>({});
  const create = useWrite('POST /webhook/create', { onDone: () => toast('Webhook added') });
  const update = useWrite('POST /webhook/update', { onDone: () => toast('Webhook changed') });
  const write = hook === undefined ? create : update;
  const { reset, isRunning } = write;
  // Before the answer is drawn: Escape is taken as soon as it can be read.
  useLayoutEffect(() => onHold(isRunning), [onHold, isRunning]);
  const base = useBase(hook?.updateAt, write, 'webhook_changed');
  const change = (changed: Partial<Draft>) => {
    setDraft({ ...draft, ...changed });
    setWrong({});
    if (!base.isConflict) reset();
  };
  const saved = (webhookId: string) => {
    guard.release();
    onSaved(webhookId);
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
      if (reply !== undefined) saved(reply.webhookId);
    } else {
      const { webhookId } = hook;
      const reply = await update.run({ body: { webhookId, ...body, ifUpdateAt: base.readAt } });
      if (reply !== undefined) saved(webhookId);
    }
  };
  const settle = () => {
    setBegun(draftOf(hook));
    base.settle(hook?.updateAt ?? '');
  };
  return { draft, begun, change, wrong, write, save, guard, base, settle };
}

function WebhookForm(props: HookFormProps & { readonly onHold: (isHeld: boolean) => void }) {
  const { hook } = props;
  const { draft, begun, change, wrong, write, save, guard, base, settle } = useHookForm(props);
  const { error, isRunning } = write;
  return (
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
        hint={urlHint}
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
      <DialogActions
        notice={
          base.isConflict && hook !== undefined ? (
            <ConflictNotice
              title={sayFailure(error)}
              parts={hookParts}
              stored={hook.updateAt === base.readAt ? undefined : hook}
              typed={draft}
              begun={begun}
              onTake={change}
              onSettle={settle}
            />
          ) : (
            <FailureNotice error={error} fields={ownFields} />
          )
        }
      >
        <CancelButton disabled={isRunning} />
        <Button type="submit" kind="primary" isBusy={isRunning} disabled={base.isConflict}>
          {hook === undefined ? 'Add the webhook' : 'Save'}
        </Button>
      </DialogActions>
      {guard.question}
    </form>
  );
}
