import { useQueryClient } from '@tanstack/react-query';
import { Eye, EyeOff, RotateCw } from 'lucide-react';
import { useEffect, useState } from 'react';
import { ApiFailure } from '../api/failure.ts';
import { withProof } from '../api/prover.ts';
import { useAct } from '../api/use-act.ts';
import { request, useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { CancelButton, Dialog, DialogActions } from '../ui/dialog.tsx';
import { FailureNotice } from '../ui/notice.tsx';
import { SelectField } from '../ui/select.tsx';
import { toast } from '../ui/toast.tsx';
import { CopyButton } from '../ui/value.tsx';
import type { Hook } from './types.ts';

/** How long a secret stays readable on an open page. */
const shownMs = 5 * 60_000;

/** The service masks the secret until the person has proven who they are. */
const isMasked = (key: string) => key.includes('*');

/** The secret with which the receiver verifies deliveries: shown with a fresh proof, and replaced. */
export function SigningSecret({ hook: { webhookId, key } }: { readonly hook: Hook }) {
  const { merchantId, role } = useMerchant();
  const [isWanted, setWanted] = useState(false);
  const [isRotating, setRotating] = useState(false);
  const isShown = isWanted && !isMasked(key);
  const queries = useQueryClient();
  // The proof that showed it has aged by then, and the next read has it masked.
  useEffect(() => {
    if (!isShown) return undefined;
    const timer = setTimeout(() => {
      setWanted(false);
      void queries.invalidateQueries();
    }, shownMs);
    return () => clearTimeout(timer);
  }, [isShown, queries]);
  const show = useAct(() =>
    withProof(async () => {
      const hook = await request(merchantId, 'GET /webhook/detail/:webhookId', { params: { webhookId } });
      if (isMasked(hook.key))
        throw new ApiFailure({ slug: 'fresh_proof_required', message: 'confirm that it is you' });
    }, 'GET /webhook/detail/:webhookId'),
  );
  const toggle = async () => {
    if (isShown) setWanted(false);
    else if (!isMasked(key) || (await show.run())) setWanted(true);
  };
  return (
    <div className="grid gap-2">
      <div className="flex items-center gap-1">
        <code className="min-w-0 flex-1 py-1.5 font-mono text-sm break-all">
          {isShown ? key : `whsec_••••${key.slice(-4)}`}
        </code>
        {isShown && <CopyButton text={key} label="Copy the secret" />}
        {mayDo(role, 'webhook_secrets:read') && (
          <IconButton
            label={isShown ? 'Hide the secret' : 'Show the secret'}
            disabled={show.isRunning}
            onClick={() => void toggle()}
          >
            {isShown ? <EyeOff /> : <Eye />}
          </IconButton>
        )}
      </div>
      <FailureNotice error={show.error} />
      {mayDo(role, 'webhooks:write') && (
        <div>
          <Button size="small" icon={<RotateCw />} onClick={() => setRotating(true)}>
            Replace
          </Button>
        </div>
      )}
      {isRotating && (
        <RotateDialog
          webhookId={webhookId}
          onClose={() => setRotating(false)}
          onDone={() => {
            setRotating(false);
            setWanted(true);
          }}
        />
      )}
    </div>
  );
}

const overlaps = [
  { value: '86400', label: 'For another day' },
  { value: '3600', label: 'For another hour' },
  { value: '0', label: 'No longer: it has leaked' },
];

function RotateDialog({
  webhookId,
  onClose,
  onDone,
}: {
  readonly webhookId: string;
  readonly onClose: () => void;
  readonly onDone: () => void;
}) {
  const [overlap, setOverlap] = useState('86400');
  const refresh = useWrite('POST /webhook/key/refresh');
  const replace = async () => {
    const overlapSeconds = Number(overlap);
    if ((await refresh.run({ body: { webhookId, overlapSeconds } })) === undefined) return;
    toast('The secret is replaced');
    onDone();
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      size="small"
      isHeld={refresh.isRunning}
      title="Replace the signing secret?"
      description="Deliveries are signed with a new secret from now on. Put it into your server."
    >
      <div className="grid gap-4">
        <SelectField
          label="The old secret also signs"
          value={overlap}
          options={overlaps}
          onChange={setOverlap}
        />
        <FailureNotice error={refresh.error} />
      </div>
      <DialogActions>
        <CancelButton disabled={refresh.isRunning} />
        <Button kind="primary" isBusy={refresh.isRunning} onClick={() => void replace()}>
          Replace
        </Button>
      </DialogActions>
    </Dialog>
  );
}
