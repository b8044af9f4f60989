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

/** What reads differently in what is stored and in what was typed. */
function conflictsOf<Draft extends object>(parts: readonly DraftPart<Draft>[], stored: Draft, typed: Draft) {
  return parts
    .map((part) => ({ ...part, stored: part.textOf(stored), typed: part.textOf(typed) }))
    .filter((part) => part.stored !== part.typed);
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

/** What another member changed meanwhile beside what was typed. Nothing is saved before the person has chosen. */
export function ConflictNotice<Draft extends object>({
  title,
  parts,
  stored,
  typed,
  onTake,
  onSettle,
}: {
  readonly title: string;
  readonly parts: readonly DraftPart<Draft>[];
  /** Undefined while it is read. */
  readonly stored: Draft | undefined;
  readonly typed: Draft;
  readonly onTake: (changed: Partial<Draft>) => void;
  readonly onSettle: () => void;
}) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => frame.current?.focus(), []);
  const conflicts = stored === undefined ? [] : conflictsOf(parts, stored, typed);
  return (
    <div ref={frame} role="alert" tabIndex={-1} className="max-h-[45dvh] overflow-y-auto outline-none">
      <Notice
        tone="warn"
        title={title}
        action={
          stored && (
            <Button size="small" onClick={onSettle}>
              {conflicts.length === 0 ? 'Go on' : 'Keep what I typed'}
            </Button>
          )
        }
      >
        <p>
          {conflicts.length === 0
            ? 'What you typed is the same as what is stored now.'
            : 'Choose where they differ. Nothing is saved before.'}
        </p>
        <ul className="mt-2 grid gap-2">
          {stored !== undefined &&
            conflicts.map(({ name, fields, ...texts }) => (
              <li key={name} className="grid gap-1">
                <span className="flex items-center justify-between gap-3 text-sm">
                  {name}
                  <Button
                    kind="quiet"
                    size="small"
                    aria-label={`Take the stored one: ${name}`}
                    onClick={() =>
                      onTake(
                        Object.fromEntries(fields.map((field) => [field, stored[field]])) as Partial<Draft>,
                      )
                    }
                  >
                    Take the stored one
                  </Button>
                </span>
                <ChangedValue side="before" text={`stored: ${texts.stored}`} />
                <ChangedValue side="after" text={`typed: ${texts.typed}`} />
              </li>
            ))}
        </ul>
      </Notice>
    </div>
  );
}
