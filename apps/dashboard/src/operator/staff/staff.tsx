import { ScrollText, ShieldHalf } from 'lucide-react';
import type { ReplyTo } from '../../api/call.ts';
import { useRead } from '../../api/use-call.ts';
import { AuditExport } from '../../audit/audit-export.tsx';
import { AuditLog } from '../../audit/audit-log.tsx';
import { useAudit } from '../../audit/use-audit.ts';
import { PageHeader, Section } from '../../ui/page.tsx';
import { Empty } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/value.tsx';

type Person = ReplyTo<'GET /staff/member/list'>['staff'][number];

const people: readonly Column<Person>[] = [
  {
    key: 'name',
    header: 'Person',
    isWide: true,
    cell: ({ name, email }) => (
      <>
        <span className="block truncate font-medium">
          <bdi>{name}</bdi>
        </span>
        <span className="block truncate text-sm text-soft">{email}</span>
      </>
    ),
  },
  {
    key: 'since',
    header: 'Since',
    isAtEnd: true,
    cell: ({ createAt }) => <Time time={createAt} className="text-soft" />,
  },
];

/** The people of the staff, and the audit log of the installation. */
export default function Staff() {
  const staff = useRead('GET /staff/member/list', {});
  const audit = useAudit('GET /staff/audit/list');
  return (
    <>
      <PageHeader title="Staff and audit" />
      <Section
        title="Staff"
        description={
          <>
            <code>florin staff</code> adds and removes people.
          </>
        }
      >
        <Table
          label="Staff"
          columns={people}
          source={{ rows: staff.data?.staff, error: staff.error, onRetry: () => void staff.refetch() }}
          keyOf={({ userId }) => userId}
          empty={<Empty icon={<ShieldHalf />} title="No staff" />}
          skeletonRows={2}
        />
      </Section>
      <Section
        title="Audit log of the installation"
        actions={<AuditExport of={audit} />}
        description="Acts on chains, tokens and settlements, and acts of people on their own accounts. Each merchant’s own log has the acts on that merchant."
      >
        <AuditLog
          label="Audit log of the installation"
          of={audit}
          people={staff.data?.staff ?? []}
          empty={<Empty icon={<ScrollText />} title="Nothing was done yet" />}
        />
      </Section>
    </>
  );
}
