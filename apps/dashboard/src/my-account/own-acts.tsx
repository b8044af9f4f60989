import { ScrollText } from 'lucide-react';
import { usePages } from '../api/use-call.ts';
import { AuditLog } from '../audit/audit-log.tsx';
import { Empty } from '../ui/states.tsx';

/** What was done to the person's account, by themselves or by others, such as a recovery. */
export function OwnActs() {
  const log = usePages(
    'GET /me/audit/list',
    (after) => ({ query: after === undefined ? {} : { after } }),
    ({ nextCursor }) => nextCursor,
  );
  return (
    <AuditLog
      label="What was done to your account"
      log={log}
      empty={
        <Empty icon={<ScrollText />} title="Nothing yet">
          A new passkey, another password or a sign-in on a new device appears here.
        </Empty>
      }
    />
  );
}
