import { ChevronRight } from 'lucide-react';
import { useEffect, useRef } from 'react';
import { ChoiceField } from '../ui/choice.tsx';
import { type EventGroup, eventGroups, eventTitle } from '../ui/event-types.ts';
import { CheckField } from '../ui/field.tsx';

/** Names and patterns of events, as a webhook subscribes to them. */
type Entries = readonly string[];

/** The events that a webhook gets: all, groups, or single types. */
export function EventChoice({
  value,
  onChange,
  error,
}: {
  readonly value: Entries;
  readonly onChange: (value: Entries) => void;
  readonly error: string | undefined;
}) {
  const isAll = value.includes('*');
  const fault = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (error !== undefined) fault.current?.focus();
  }, [error]);
  return (
    <div className="grid gap-3">
      <ChoiceField
        label="Events"
        value={isAll ? 'all' : 'chosen'}
        onChange={(kind) => onChange(kind === 'all' ? ['*'] : ['session.*', 'refund.*'])}
        options={[
          { value: 'all', label: 'All events', hint: 'Also those that later versions add.' },
          { value: 'chosen', label: 'Chosen events', hint: 'Whole groups, or single types.' },
        ]}
      />
      {error !== undefined && (
        <p ref={fault} tabIndex={-1} role="alert" className="text-sm text-bad">
          {error}
        </p>
      )}
      {!isAll && (
        <div className="divide-y divide-line overflow-hidden rounded-lg border border-line-strong">
          {eventGroups.map((group) => (
            <Group key={group.pattern} group={group} value={value} onChange={onChange} />
          ))}
        </div>
      )}
    </div>
  );
}

function Group({
  group: { pattern, title, types },
  value,
  onChange,
}: {
  readonly group: EventGroup;
  readonly value: Entries;
  readonly onChange: (value: Entries) => void;
}) {
  const isWhole = value.includes(pattern);
  const chosen = types.filter((type) => value.includes(type)).length;
  const toggle = (entry: string, isOn: boolean) => {
    const others = value.filter((each) => each !== entry);
    onChange(isOn ? [...others, entry] : others);
  };
  const toggleWhole = (isOn: boolean) => {
    const others = value.filter((each) => each !== pattern && !types.some((type) => type === each));
    onChange(isOn ? [...others, pattern] : others);
  };
  return (
    <details className="group px-3 py-2.5" open={!isWhole && chosen > 0}>
      <summary className="flex cursor-pointer items-center gap-2 font-medium">
        <ChevronRight aria-hidden className="size-4 text-soft group-open:rotate-90" />
        {title}
        <span className="ml-auto text-sm font-normal text-soft">
          {isWhole ? 'All' : chosen === 0 ? 'None' : `${chosen} of ${types.length}`}
        </span>
      </summary>
      <div className="mt-3 grid gap-2.5">
        <CheckField label={`All of ${title.toLowerCase()}`} isChecked={isWhole} onChange={toggleWhole} />
        {types.map((type) => (
          <CheckField
            key={type}
            label={<span className="font-mono text-sm">{type}</span>}
            hint={eventTitle(type)}
            isChecked={isWhole || value.includes(type)}
            isDisabled={isWhole}
            onChange={(isOn) => toggle(type, isOn)}
          />
        ))}
      </div>
    </details>
  );
}
