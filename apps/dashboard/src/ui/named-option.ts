import { shortId } from './format.ts';
import type { Option } from './select.tsx';

/** Options whose names all differ: the end of the id stands after a name that two of them have. */
export function namedApart(options: readonly Option[]): readonly Option[] {
  const seen = new Map<string, number>();
  for (const { label } of options) seen.set(label, (seen.get(label) ?? 0) + 1);
  return options.map((option) =>
    seen.get(option.label) === 1
      ? option
      : { ...option, label: `${option.label} (${shortId(option.value)})` },
  );
}

/** The value of what is typed: of the option with that name, else the text itself, such as an id. */
export function typedValue(options: readonly Option[], typed: string): string {
  const wanted = typed.trim().toLowerCase();
  return options.find(({ label }) => label.toLowerCase() === wanted)?.value ?? typed.trim();
}
