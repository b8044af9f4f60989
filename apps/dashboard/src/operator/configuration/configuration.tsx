import { Database } from 'lucide-react';
import { useState } from 'react';
import { useRead } from '../../api/use-call.ts';
import { Card, PageHeader, Section, SkeletonFacts } from '../../ui/page.tsx';
import { Empty, Failed } from '../../ui/states.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Time } from '../../ui/value.tsx';
import { AsOf } from '../as-of.tsx';
import { RunbookLink } from '../runbook-link.tsx';
import { settingsOf } from './setting.ts';

interface Migration {
  readonly version: number;
  readonly appliedAt: string;
}

const columns: readonly Column<Migration>[] = [
  {
    key: 'version',
    header: 'Migration',
    cell: ({ version }) => <span className="font-mono text-sm">{String(version).padStart(4, '0')}</span>,
  },
  {
    key: 'at',
    header: 'Applied',
    isAtEnd: true,
    cell: ({ appliedAt }) => <Time time={appliedAt} className="text-soft" />,
  },
];

/** The table shows these at first: an installation has a hundred. */
const latestMigrations = 10;

/** The configuration as it is in force, without secrets; versions and migrations. */
export default function Configuration() {
  const read = useRead('GET /staff/configuration', {});
  const [isWhole, setWhole] = useState(false);
  const { data, error } = read;
  const migrations = data?.versions.migrations ?? [];
  return (
    <>
      <PageHeader
        title="Configuration"
        description={
          <>
            What the process that answered uses. Keys are shown as addresses, nodes as hosts, and no secrets.{' '}
            <a
              href="/docs/reference/configuration"
              target="_blank"
              rel="noreferrer"
              className="text-accent underline-offset-2 underline"
            >
              What each setting means
            </a>
          </>
        }
        actions={<AsOf source={read} />}
      />
      {data === undefined && (
        <Card>
          {error === null ? (
            <SkeletonFacts lines={10} />
          ) : (
            <Failed error={error} onRetry={() => void read.refetch()} />
          )}
        </Card>
      )}
      {data !== undefined &&
        settingsOf(data.configuration).map(({ title, settings }) => (
          <Section key={title} title={title}>
            <Card>
              <dl className="divide-y divide-line">
                {settings.map(({ name, value }) => (
                  <div
                    key={name}
                    className="grid gap-x-4 gap-y-0.5 py-2 first:pt-0 last:pb-0 sm:grid-cols-[20rem_1fr]"
                  >
                    <dt className="font-mono text-sm break-all text-soft">{name}</dt>
                    <dd className="min-w-0 text-sm break-all">
                      {value === '' ? <span className="text-faint">none</span> : value}
                    </dd>
                  </div>
                ))}
              </dl>
            </Card>
          </Section>
        ))}
      {data !== undefined && (
        <Section
          title="Versions"
          description={`Florin ${data.versions.service} on Node.js ${data.versions.runtime} and PostgreSQL ${data.versions.database}. Migrations of the database, the latest first.`}
          actions={<RunbookLink name="upgrade" />}
        >
          <Table
            label="Migrations"
            columns={columns}
            source={{
              rows: isWhole ? migrations : migrations.slice(0, latestMigrations),
              error: null,
              onRetry: () => void read.refetch(),
            }}
            more={
              isWhole || migrations.length <= latestMigrations
                ? undefined
                : { onMore: () => setWhole(true), isLoading: false }
            }
            keyOf={({ version }) => String(version)}
            empty={<Empty icon={<Database />} title="No migrations" />}
          />
        </Section>
      )}
    </>
  );
}
