import { useQueryClient } from '@tanstack/react-query';
import { WifiOff } from 'lucide-react';
import { useEffect, useSyncExternalStore } from 'react';
import { isServiceAway, subscribeOutage, untilAnswering } from '../api/connection.ts';
import { toast } from '../ui/toast.tsx';

/** Says that the service does not answer for as long as that holds, where it covers no field. Then everything on the screen is read again. */
export function OutageNotice() {
  const isAway = useSyncExternalStore(subscribeOutage, isServiceAway);
  const queries = useQueryClient();
  useEffect(() => {
    if (!isAway) return;
    void untilAnswering().then(() => {
      toast('The service answers again');
      return queries.invalidateQueries();
    });
  }, [isAway, queries]);
  return (
    <div role="status" className="pointer-events-none fixed inset-x-4 top-2 z-[60] flex justify-center">
      {isAway && (
        <p className="flex max-w-sm animate-rise items-center gap-2.5 rounded-xl bg-bad px-4 py-2 text-canvas shadow-popover">
          <WifiOff className="size-4 shrink-0" />
          No connection. This page goes on by itself.
        </p>
      )}
    </div>
  );
}
