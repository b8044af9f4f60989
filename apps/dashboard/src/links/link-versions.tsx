import type { LinkHistory } from '@florin/protocol/link-history.ts';
import { useState } from 'react';
import { useTokenNames } from '../api/use-token-names.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { ChangedValue } from '../ui/changed-value.tsx';
import { Card, Section } from '../ui/page.tsx';
import { Id, Time } from '../ui/value.tsx';
import { versionChanges } from './version-facts.ts';

/** Versions that are shown before more are asked for. */
const firstVersions = 5;

type Version = LinkHistory['versions'][number];

/** What payers agreed to over time, each version with its differences from the one before. */
export function LinkVersions({ history: { versions } }: { readonly history: LinkHistory }) {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? versions : versions.slice(0, firstVersions);
  return (
    <Section
      title="Versions"
      description="Each change of the link makes a new version. A payment keeps the version with which it began."
    >
      <Card className="px-4 md:px-5">
        <ol className="divide-y divide-line">
          {shown.map((version, index) => (
            <li key={`${version.beganAt} ${version.versionCode}`} className="py-3">
              <VersionEntry
                version={version}
                before={versions[index + 1]}
                isPresent={index === 0}
                isFirst={index === versions.length - 1}
              />
            </li>
          ))}
        </ol>
        {shown.length < versions.length && (
          <Button kind="quiet" size="small" className="mb-3" onClick={() => setWhole(true)}>
            Show all {versions.length} versions
          </Button>
        )}
      </Card>
    </Section>
  );
}

function VersionEntry({
  version: { versionCode, beganAt, terms },
  before,
  isPresent,
  isFirst,
}: {
  readonly version: Version;
  readonly before: Version | undefined;
  readonly isPresent: boolean;
  readonly isFirst: boolean;
}) {
  const tokenName = useTokenNames();
  const changes = before === undefined ? [] : versionChanges(before.terms, terms, tokenName);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Time time={beganAt} className="font-medium" />
        {isPresent && <Badge>Now</Badge>}
        <span className="ml-auto text-soft">
          <Id id={versionCode} />
        </span>
      </div>
      {isFirst && <p className="text-soft">{terms.linkName}: the first version that is kept.</p>}
      {before !== undefined && changes.length === 0 && (
        <p className="text-soft">Nothing that is shown here changed.</p>
      )}
      {changes.length > 0 && (
        <ul className="mt-2 grid gap-2">
          {changes.map((change) => (
            <li key={change.name} className="grid gap-1">
              <span className="text-sm text-soft">{change.name}</span>
              {change.before !== undefined && <ChangedValue side="before" text={change.before} />}
              {change.after !== undefined && <ChangedValue side="after" text={change.after} />}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
