import type { EventType } from '@florin/protocol/event.ts';
import { useState } from 'react';
import { fieldError } from '../api/failure.ts';
import { serviceNow } from '../api/service-clock.ts';
import { useAct } from '../api/use-act.ts';
import { request, useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { Button } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { allEventTypes } from '../ui/event-types.ts';
import { CheckField, TextField } from '../ui/field.tsx';
import { onSubmit } from '../ui/form.ts';
import { formatNumber } from '../ui/format.ts';
import { FailureNotice } from '../ui/notice.tsx';
import { SelectField } from '../ui/select.tsx';
import { toast } from '../ui/toast.tsx';
import type { Hook } from './types.ts';

interface HookDialogProps {
  readonly hook: Hook;
  readonly onClose: () => void;
}

const testOptions = allEventTypes.map((type) => ({
  value: type,
  label: type === 'webhook.test' ? 'webhook.test: a short message' : type,
}));

/** Sends an example of an event to the webhook. */
export function TestDialog({
  hook: { webhookId, status },
  onClose,
  onSent,
}: HookDialogProps & { readonly onSent: (deliveryId: string) => void }) {
  const [eventType, setEventType] = useState<EventType>('webhook.test');
  const test = useWrite('POST /webhook/test');
  const send = async () => {
    const reply = await test.run({ body: { webhookId, eventType } });
    if (reply !== undefined) onSent(reply.deliveryId);
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      size="small"
      isHeld={test.isRunning}
      title="Send a test"
      description={
        status === 'active'
          ? 'The body says that it is an example. Its ids exist nowhere.'
          : 'The webhook is not active, so the test will be skipped.'
      }
    >
      <form onSubmit={onSubmit(send)} className="grid gap-4">
        <SelectField
          label="Event"
          value={eventType}
          options={testOptions}
          onChange={setEventType}
          error={fieldError(test.error, 'eventType')}
        />
        <DialogActions notice={<FailureNotice error={test.error} fields={['eventType']} />}>
          <CancelButton disabled={test.isRunning} />
          <Button type="submit" kind="primary" isBusy={test.isRunning}>
            Send
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

const dayMs = 86_400_000;

/** A time as the browser's field for times writes it, in the person's zone. */
function localText(time: number): string {
  const offsetMs = new Date(time).getTimezoneOffset() * 60_000;
  return new Date(time - offsetMs).toISOString().slice(0, 16);
}

/** Unix seconds of a typed time; undefined when it is none. */
function secondsOf(typed: string): number | undefined {
  const time = new Date(typed).getTime();
  return Number.isNaN(time) ? undefined : Math.floor(time / 1_000);
}

const timeFault = 'Choose a date and a time.';

/** Enables the webhook, and sends what it missed where the person wants it. */
export function EnableDialog({ hook: { webhookId }, onClose }: HookDialogProps) {
  const [isReplayed, setReplayed] = useState(true);
  const [typed, setTyped] = useState(() => localText(serviceNow() - dayMs));
  const [isWrong, setWrong] = useState(false);
  const enable = useWrite('POST /webhook/enable');
  const run = async () => {
    const replaySince = isReplayed ? secondsOf(typed) : undefined;
    setWrong(isReplayed && replaySince === undefined);
    if (isReplayed && replaySince === undefined) return;
    const body = { webhookId, ...(replaySince === undefined ? {} : { replaySince }) };
    if ((await enable.run({ body })) === undefined) return;
    toast('The webhook is enabled');
    onClose();
  };
  return (
    <Dialog isOpen onClose={onClose} size="small" isHeld={enable.isRunning} title="Enable this webhook">
      <form onSubmit={onSubmit(run)} noValidate className="grid gap-4">
        <CheckField
          label="Also send what it missed"
          hint="Deliveries that failed or were skipped."
          isChecked={isReplayed}
          onChange={setReplayed}
        />
        {isReplayed && (
          <TextField
            label="Since"
            type="datetime-local"
            value={typed}
            onChange={setTyped}
            error={isWrong ? timeFault : fieldError(enable.error, 'replaySince')}
          />
        )}
        <DialogActions notice={<FailureNotice error={enable.error} fields={['replaySince']} />}>
          <CancelButton disabled={enable.isRunning} />
          <Button type="submit" kind="primary" isBusy={enable.isRunning}>
            Enable
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** Sends the deliveries since a time again, as many calls as that takes. */
export function ResendDialog({ hook: { webhookId, status }, onClose }: HookDialogProps) {
  const { merchantId } = useMerchant();
  const [typed, setTyped] = useState(() => localText(serviceNow() - dayMs));
  const [isAll, setAll] = useState(false);
  const [isWrong, setWrong] = useState(false);
  const resend = useAct(async (since: number) => {
    const statuses: ('failed' | 'skipped' | 'pending' | 'succeeded')[] = [
      'failed',
      'skipped',
      'pending',
      ...(isAll ? (['succeeded'] as const) : []),
    ];
    // What is sent again must not be found again by the next call.
    const until = Math.floor(serviceNow() / 1_000) + 1;
    let [after, count] = ['', 0];
    for (;;) {
      const body = { webhookId, since, until, statuses, ...(after === '' ? {} : { after }) };
      const reply = await request(merchantId, 'POST /webhook/delivery/resend/all', { body });
      count += reply.resent;
      if (!reply.hasMore) break;
      after = reply.last;
    }
    const noun = count === 1 ? 'delivery is' : 'deliveries are';
    toast(count === 0 ? 'Nothing to send again' : `${formatNumber(count)} ${noun} sent again`);
  });
  const run = async () => {
    const since = secondsOf(typed);
    setWrong(since === undefined);
    if (since !== undefined && (await resend.run(since))) onClose();
  };
  const sinceError = isWrong ? timeFault : fieldError(resend.error, 'since');
  return (
    <Dialog
      isOpen
      onClose={onClose}
      size="small"
      isHeld={resend.isRunning}
      title="Send again since a time"
      description={
        status === 'active'
          ? 'Your server gets the same ids and bodies, signed anew.'
          : 'The webhook is not active: the deliveries wait until you enable it.'
      }
    >
      <form onSubmit={onSubmit(run)} noValidate className="grid gap-4">
        <TextField label="Since" type="datetime-local" value={typed} onChange={setTyped} error={sinceError} />
        <CheckField
          label="Also those that arrived"
          hint="Otherwise only deliveries that failed, were skipped, or wait for their next attempt."
          isChecked={isAll}
          onChange={setAll}
        />
        <DialogActions notice={<FailureNotice error={resend.error} fields={['since']} />}>
          <CancelButton disabled={resend.isRunning} />
          <Button type="submit" kind="primary" isBusy={resend.isRunning}>
            Send again
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
