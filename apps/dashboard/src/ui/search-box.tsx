import { Search } from 'lucide-react';
import { useEffect, useState } from 'react';
import { classNames } from './class-names.ts';
import { inputClass } from './field.tsx';

const typingMs = 300;

/** Searches a moment after the last key, and at once with Enter. */
export function SearchBox({
  label,
  placeholder,
  value,
  onChange,
}: {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (text: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  const [shown, setShown] = useState(value);
  const [sent, setSent] = useState(value);
  // What was sent comes back a moment later, and what was typed meanwhile stays. Anything else changed the address by other
  // means: the back button, a saved view, a cleared filter.
  if (shown !== value) {
    setShown(value);
    if (value !== sent) {
      setSent(value);
      setTyped(value);
    }
  }
  useEffect(() => {
    if (typed === sent) return undefined;
    const waiting = setTimeout(() => {
      setSent(typed);
      onChange(typed);
    }, typingMs);
    return () => clearTimeout(waiting);
  }, [typed, sent, onChange]);
  return (
    <search className="relative min-w-0 flex-1 basis-full sm:basis-56">
      <Search
        aria-hidden
        className="pointer-events-none absolute inset-y-0 left-3 my-auto size-4 text-faint"
      />
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={typed}
        maxLength={200}
        onChange={(event) => setTyped(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || typed === sent) return;
          setSent(typed);
          onChange(typed);
        }}
        className={classNames(inputClass, 'h-10 pl-9 md:h-9')}
      />
    </search>
  );
}
