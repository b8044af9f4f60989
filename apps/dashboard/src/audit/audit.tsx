import { ScrollText } from 'lucide-react';
import { useRead } from '../api/use-call.ts';
import { PageHeader } from '../ui/page.tsx';
import { Empty } from '../ui/states.tsx';
import { AuditExport } from './audit-export.tsx';
import { AuditLog } from './audit-log.tsx';
import { useAudit } from './use-audit.ts';

export default function Audit() {
  const audit = useAudit('GET /audit/list');
  const people = useRead('GET /member/list', {}).data?.members ?? [];
  return (
    <>
      <PageHeader
        title="Audit log"
        description="What members and the operator changed in this shop: who, from where, and what was before. Entries are never changed or removed. Changes by API keys are not here; Events shows those of products, sessions and refunds."
        actions={<AuditExport of={audit} />}
      />
      <AuditLog
        label="Audit log"
        of={audit}
        people={people}
        empty={
          <Empty icon={<ScrollText />} title="Nothing was changed yet">
            The first change of a member appears here.
          </Empty>
        }
      />
    </>
  );
}
