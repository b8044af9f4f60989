import { RotateCw } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { isPageOld, subscribeUpdate } from '../api/update.ts';
import { Button } from '../ui/button.tsx';

/** Says that these pages are older than the service. It does not reload them by itself: a form may be open. */
export function UpdateNotice() {
  const isOld = useSyncExternalStore(subscribeUpdate, isPageOld);
  return (
    <div role="status" className="pointer-events-none fixed inset-x-4 top-2 z-[60] flex justify-center">
      {isOld && (
        <div className="pointer-events-auto flex max-w-sm animate-rise items-center gap-3 rounded-xl border border-line-strong bg-raised px-4 py-2 shadow-popover">
          <span className="min-w-0">Florin was updated. Parts of this page no longer open.</span>
          <Button size="small" icon={<RotateCw />} onClick={() => location.reload()}>
            Reload
          </Button>
        </div>
      )}
    </div>
  );
}
