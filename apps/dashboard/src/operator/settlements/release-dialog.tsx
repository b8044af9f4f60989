import { useWrite } from '../../api/use-call.ts';
import { toast } from '../../ui/toast.tsx';
import { Usd } from '../../ui/value.tsx';
import { ActDialog } from '../act-dialog.tsx';

/** Sends an order's waiting legs at once. */
export function ReleaseDialog({
  orderId,
  value,
  onClose,
}: {
  readonly orderId: string;
  /** Micro-USD. */
  readonly value: string;
  readonly onClose: () => void;
}) {
  const release = useWrite('POST /staff/settlement/release', {
    onDone: ({ legs }) => {
      toast(legs.length === 0 ? 'Nothing of this order waits any more' : `Released: ${legs.join(', ')}`);
      onClose();
    },
  });
  return (
    <ActDialog
      onClose={onClose}
      title="Release this settlement?"
      act="Release"
      isDangerous
      write={release}
      onConfirm={(reason) => release.run({ body: { orderId, reason } })}
    >
      <p>
        <Usd micro={value} /> go out at once, also above the caps of the configuration. The caps of the
        contracts stay. The order is paid once, however often you release it.
      </p>
      <p>Look at the payment first.</p>
    </ActDialog>
  );
}
