import { formatPpm } from '../../ui/format.ts';

/** Settings below one heading. */
export interface SettingGroup {
  readonly title: string;
  readonly settings: readonly { readonly name: string; readonly value: string }[];
}

/** The configuration as names with values: plain ones below "General", every object below its own name. */
export function settingsOf(configuration: object): readonly SettingGroup[] {
  const entries: [string, unknown][] = Object.entries(configuration);
  const general = entries.filter(([, value]) => !isTree(value));
  const trees = entries.filter(([, value]) => isTree(value));
  return [
    { title: 'General', settings: general.map(([name, value]) => ({ name, value: textOf(value) })) },
    ...trees.map(([title, value]) => ({ title, settings: flatten('', value).map(withPercent) })),
  ].filter(({ settings }) => settings.length > 0);
}

/** Shares, such as fees, are millionths. */
function withPercent({ name, value }: SettingGroup['settings'][number]) {
  if (!name.endsWith('Ppm')) return { name, value };
  return { name, value: `${value} millionths (${formatPpm(Number(value))})` };
}

function isTree(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isPlainList(value);
}

function isPlainList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && value.every((each) => typeof each !== 'object' || each === null);
}

function textOf(value: unknown): string {
  return isPlainList(value) ? value.map(String).join(', ') : String(value ?? '');
}

/** `[0].nodes` of chains and the like by the name of what it is about: `ethereum.nodes`. */
function flatten(path: string, value: unknown): SettingGroup['settings'] {
  if (!isTree(value)) return [{ name: path, value: textOf(value) }];
  const members = Array.isArray(value)
    ? value.map((each, index): [string, unknown] => [labelOf(each) ?? String(index), each])
    : Object.entries(value);
  return members.flatMap(([name, each]) => flatten(path === '' ? name : `${path}.${name}`, each));
}

function labelOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, tokenId } = value as { readonly name?: unknown; readonly tokenId?: unknown };
  return [name, tokenId].find((label) => typeof label === 'string');
}
