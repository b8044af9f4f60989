import { useEffect, useRef, useState } from 'react';
import type { ApiFailure, FailureSlug } from '../api/failure.ts';
import { Button } from './button.tsx';
import { ChangedValue } from './changed-value.tsx';
import { Notice } from './notice.tsx';

/** A part of a draft: what people call it, and how it reads. */
export interface DraftPart<Draft> {
  readonly name: string;
  readonly fields: readonly (keyof Draft)[];
  readonly textOf: (draft: Draft) => string;
}

/** What reads differently in what is stored and in what was typed: parts that the person changed too, and the others. */
function conflictsOf<Draft extends object>(
  parts: readonly DraftPart<Draft>[],
  { stored, typed, begun }: { readonly stored: Draft; readonly typed: Draft; readonly begun: Draft },
) {
  const differing = parts
    .map((part) => ({ ...part, stored: part.textOf(stored), typed: part.textOf(typed) }))
    .filter((part) => part.stored !== part.typed);
  return {
    conflicts: differing.filter((part) => part.typed !== part.textOf(begun)),
    untouched: differing.filter((part) => part.typed === part.textOf(begun)),
  };
}

/**
 * The time of the change on which a form is based. After a conflict the person chooses for each part, and then bases the
 * form on what is stored now.
 */
export function useBase(
  updateAt: string | undefined,
  { error, reset }: { readonly error: ApiFailure | undefined; readonly reset: () => void },
  slug: FailureSlug,
) {
  // As it was when the form began: what stands behind it reads on.
  const [readAt, setReadAt] = useState(updateAt ?? '');
  const isConflict = error?.slug === slug;
  const settle = (at: string) => {
    setReadAt(at);
    reset();
  };
  return { readAt, isConflict, settle };
}

function conflictText(hasConflicts: boolean, hasUntouched: boolean): string {
  if (hasConflicts) return 'Choose where they differ. Nothing is saved before.';
  return hasUntouched ? 'What you typed stays.' : 'What you typed is the same as what is stored now.';
}

/** What another member changed meanwhile beside what was typed. Nothing is saved before the person has chosen. */
export function ConflictNotice<Draft extends object>({
  title,
  parts,
  stored,
  typed,
  begun,
  onTake,
  onSettle,
}: {
  readonly title: string;
  readonly parts: readonly DraftPart<Draft>[];
  /** Undefined while it is read. */
  readonly stored: Draft | undefined;
  readonly typed: Draft;
  /** What the form began with: what still reads so was not typed, and becomes what is stored. */
  readonly begun: Draft;
  readonly onTake: (changed: Partial<Draft>) => void;
  readonly onSettle: () => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => frame.current?.focus(), []);
  const { conflicts, untouched } =
    stored === undefined ? { conflicts: [], untouched: [] } : conflictsOf(parts, { stored, typed, begun });
  const take = (of: readonly DraftPart<Draft>[]) => {
    if (stored === undefined || of.length === 0) return;
    const fields = of.flatMap((part) => part.fields);
    onTake(Object.fromEntries(fields.map((field) => [field, stored[field]])) as Partial<Draft>);
  };
  const goOn = () => {
    take(untouched);
    onSettle();
  };
  return (
    <div ref={frame} role="alert" tabIndex={-1} className="max-h-[45dvh] overflow-y-auto outline-none">
      <Notice
        tone="warn"
        title={title}
        action={
          stored && (
            <Button size="small" onClick={goOn}>
              {conflicts.length === 0 ? 'Go on' : 'Keep what I typed'}
            </Button>
          )
        }
      >
        {untouched.length > 0 && (
          <p>
            Changed meanwhile, and not by you: {untouched.map(({ name }) => name).join(', ')}. The form takes
            what is stored.
          </p>
        )}
        <p>{conflictText(conflicts.length > 0, untouched.length > 0)}</p>
        <ul className="mt-2 grid gap-2">
          {stored !== undefined &&
            conflicts.map(({ name, ...part }) => (
              <li key={name} className="grid gap-1">
                <span className="flex items-center justify-between gap-3 text-sm">
                  {name}
                  <Button
                    kind="quiet"
                    size="small"
                    aria-label={`Take the stored one: ${name}`}
                    onClick={() => take([{ name, ...part }])}
                  >
                    Take the stored one
                  </Button>
                </span>
                <ChangedValue side="before" text={`stored: ${part.stored}`} />
                <ChangedValue side="after" text={`typed: ${part.typed}`} />
              </li>
            ))}
        </ul>
      </Notice>
    </div>
  );
}
