import { shortId } from './format.ts';
import { isolated } from './isolated.ts';
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

/** The option that is meant by a name, or by a part that no other name has. An id, which begins with `prefix`, is no name. */
export function meantOption(options: readonly Option[], prefix: string, typed: string): Option | undefined {
  const wanted = typed.trim().toLowerCase();
  if (wanted === '' || wanted.startsWith(prefix)) return undefined;
  const whole = options.find(({ label }) => label.toLowerCase() === wanted);
  const [first, ...others] = partsOf(options, wanted);
  return whole ?? (others.length === 0 ? first : undefined);
}

/** The value of what is typed: of the option that is meant, else the text itself, such as an id. */
export function typedValue(options: readonly Option[], prefix: string, typed: string): string {
  return meantOption(options, prefix, typed)?.value ?? typed.trim();
}

/** What to change in a text that is neither an id nor means one option. */
export function nameFault(options: readonly Option[], prefix: string, typed: string): string | undefined {
  const wanted = typedValue(options, prefix, typed);
  if (wanted === '' || wanted.startsWith(prefix)) return undefined;
  const names = partsOf(options, wanted.toLowerCase()).map(({ label }) => isolated(label));
  if (names.length === 0) return `No name here has this. Choose one of the list, or write an id: ${prefix}…`;
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  return `Choose one of these: ${names.slice(0, mostNamed).join(', ')}${more}.`;
}

/** Names that a fault tells. */
const mostNamed = 3;

const partsOf = (options: readonly Option[], wanted: string) =>
  options.filter(({ label }) => label.toLowerCase().includes(wanted));
