/** A field that an act changed, as text; undefined where it was not there. */
export interface FieldChange {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** The fields that differ between two JSON texts, in the order of the later one. An empty text has no fields. */
export function differenceOf(before: string, after: string): FieldChange[] {
  const [earlier, later] = [fieldsOf(before), fieldsOf(after)];
  const paths = new Set([...later.keys(), ...earlier.keys()]);
  return [...paths]
    .map((path) => ({ path, before: earlier.get(path), after: later.get(path) }))
    .filter((field) => field.before !== field.after);
}

function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  if (text === '') return fields;
  collect(fields, '', JSON.parse(text));
  return fields;
}

function collect(fields: Map<string, string>, path: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) {
    fields.set(path === '' ? 'value' : path, typeof value === 'string' ? value : JSON.stringify(value));
    return;
  }
  for (const [name, member] of Object.entries(value)) {
    const isItem = Array.isArray(value);
    collect(fields, isItem ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`, member);
  }
}
