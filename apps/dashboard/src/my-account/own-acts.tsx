import { ScrollText } from 'lucide-react';
import type { Me } from '../app/merchant.ts';
import { AuditExport } from '../audit/audit-export.tsx';
import { AuditLog } from '../audit/audit-log.tsx';
import { useAudit } from '../audit/use-audit.ts';
import { Section } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';

/** What was done to the person's account, by themselves or by others, such as a recovery. */
export function OwnActs({ me }: { readonly me: Me }) {
  const audit = useAudit('GET /me/audit/list');
  return (
    <Section
      title="What was done to your account"
      description="By you or by others, and from where. Entries are never changed or removed."
      actions={<AuditExport of={audit} />}
    >
      <AuditLog
        label="What was done to your account"
        of={{ ...audit, kind: me.isStaff ? 'installation' : 'person' }}
        people={[me]}
        empty={
          <Empty icon={<ScrollText />} title="Nothing yet">
            A new passkey, another password or a sign-in on a new device appears here.
          </Empty>
        }
      />
    </Section>
  );
}
