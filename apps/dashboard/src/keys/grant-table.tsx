import { useEffect, useRef } from 'react';
import { mayDo } from '../app/permission.ts';
import { classNames } from '../ui/class-names.ts';
import { type Grant, type KeyResource, type Level, resources } from './grant.ts';

const levels: readonly { readonly level: Level; readonly title: string }[] = [
  { level: 'none', title: 'None' },
  { level: 'read', title: 'Read' },
  { level: 'write', title: 'Write' },
];

/** What a key may do with each resource. A member gives no more than the own role has. */
export function GrantTable({
  role,
  grant,
  onChange,
  error,
}: {
  readonly role: string;
  readonly grant: Grant;
  readonly onChange: (grant: Grant) => void;
  readonly error?: string | undefined;
}) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (error !== undefined) frame.current?.focus();
  }, [error]);
  return (
    <div
      ref={frame}
      tabIndex={-1}
      data-invalid={error === undefined ? undefined : true}
      className="outline-none"
    >
      <div className="divide-y divide-line overflow-hidden rounded-lg border border-line-strong">
        {resources.map((resource) => (
          <GrantRow
            key={resource.name}
            role={role}
            resource={resource}
            level={grant[resource.name] ?? 'none'}
            onChange={(level) => onChange({ ...grant, [resource.name]: level })}
          />
        ))}
      </div>
      {error !== undefined && (
        <p role="alert" className="mt-1.5 text-sm text-bad">
          {error}
        </p>
      )}
    </div>
  );
}

function GrantRow({
  role,
  resource,
  level: chosen,
  onChange,
}: {
  readonly role: string;
  readonly resource: KeyResource;
  readonly level: Level;
  readonly onChange: (level: Level) => void;
}) {
  const isOpen = (level: Level) =>
    (resource.levels[level] ?? []).every((permission) => mayDo(role, permission));
  const closed = levels.filter(({ level }) => !isOpen(level)).map(({ title }) => title);
  return (
    <fieldset className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1.5 px-3 py-2">
      <legend className="sr-only">{resource.title}</legend>
      <div aria-hidden className="min-w-0 flex-1 basis-40">
        <p className="font-medium">{resource.title}</p>
        <p className="text-sm text-soft">
          {resource.hint}
          {closed.length > 0 && `. Your role does not have: ${closed.join(', ')}.`}
        </p>
      </div>
      <div className="flex rounded-lg bg-sunken p-0.5">
        {levels.map(({ level, title }) => {
          if (level !== 'none' && resource.levels[level] === undefined) return null;
          return (
            <label
              key={level}
              className={classNames(
                'flex h-8 items-center rounded-md px-2.5 text-sm md:h-7',
                'has-focus-visible:outline-2 has-focus-visible:outline-accent',
                isOpen(level) ? 'cursor-pointer' : 'cursor-not-allowed opacity-50',
                level === chosen ? 'bg-raised font-medium text-ink shadow-card' : 'text-soft',
              )}
            >
              <input
                type="radio"
                name={`grant-${resource.name}`}
                checked={level === chosen}
                disabled={!isOpen(level)}
                onChange={() => onChange(level)}
                className="sr-only"
              />
              {title}
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}
