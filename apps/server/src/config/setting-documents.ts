import type { Setting } from './setting.ts';
import { settings } from './settings.ts';

/** Settings that one row of the table explains. */
interface SettingRow {
  readonly meaning: string;
  readonly names: string[];
  /** What each is when absent; empty where no word is needed. */
  readonly absent: string[];
}

/** The rows of the table of settings. Those of a section with words of its own need no names. */
export function settingRows(): readonly SettingRow[] {
  const rows: SettingRow[] = [];
  addRows(rows, settings as Setting, { path: '', isOptional: false, isExplained: false });
  return rows;
}

function addRows(
  rows: SettingRow[],
  setting: Setting,
  {
    path,
    isOptional,
    isExplained,
  }: { readonly path: string; readonly isOptional: boolean; readonly isExplained: boolean },
): void {
  const { meaning, isLocal, items } = setting;
  const isTold = meaning !== '' && isLocal !== true;
  if (!isTold) return;
  const within = items?.properties === undefined && items?.anyOf === undefined ? path : `${path}[]`;
  const row = meaning === undefined ? rows.at(-1) : { meaning, names: [], absent: [] };
  const members = Object.entries((items ?? setting).properties ?? {});
  if (row !== undefined && (meaning !== undefined || (!isExplained && members.length === 0))) {
    if (meaning !== undefined) rows.push(row);
    row.names.push(within);
    row.absent.push(absentText(setting, isOptional));
  }
  const required = (items ?? setting).required ?? [];
  for (const [name, member] of members)
    addRows(rows, member, {
      path: within === '' ? name : `${within}.${name}`,
      isOptional: !required.includes(name),
      isExplained: isExplained || meaning !== undefined,
    });
}

function absentText({ absent, default: normal }: Setting, isOptional: boolean): string {
  if (absent !== undefined) return absent;
  if (typeof normal === 'string') return `\`${normal}\``;
  if (typeof normal === 'number' || typeof normal === 'boolean') return String(normal);
  return isOptional ? 'none' : '';
}

/** The table of settings as Markdown. */
export function settingsMarkdown(): string {
  const rows = settingRows().map(({ names, absent, meaning }) => {
    const [first = ''] = names;
    const group = first.slice(0, first.lastIndexOf('.') + 1);
    const shown = names.map((name, place) =>
      place > 0 && group !== '' && name.startsWith(group)
        ? `\`.${name.slice(group.length)}\``
        : `\`${name}\``,
    );
    return `| ${shown.join(', ')} | ${absent.filter((text) => text !== '').join(', ')} | ${meaning} |`;
  });
  return ['| setting | default | meaning |', '|---|---|---|', ...rows].join('\n');
}

type JsonSchema = Readonly<Record<string, unknown>>;

/** The configuration file as a JSON Schema (2020-12), by which editors complete and check it. */
export function settingsSchema(): JsonSchema {
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'The configuration of Florin',
    ...schemaOf(settings as Setting, ''),
  };
  return JSON.parse(JSON.stringify(schema)) as JsonSchema;
}

/** @param words The meaning of the section around it, or of the setting before it. */
function schemaOf(setting: Setting, words: string): JsonSchema {
  const { meaning = words, type, minimum, maximum, anyOf, items, properties } = setting;
  const description = meaning === '' ? undefined : plain(meaning);
  if (anyOf !== undefined) return { description, anyOf: anyOf.map((branch) => schemaOf(branch, '')) };
  if (setting.const !== undefined) return { const: setting.const };
  if (setting.enum !== undefined) return { enum: setting.enum, default: setting.default, description };
  if (items !== undefined)
    return {
      type,
      minItems: 1,
      description,
      items: schemaOf(items, items.properties === undefined ? '' : meaning),
    };
  if (properties === undefined)
    return {
      ...{ type, minimum, maximum, default: setting.default, description },
      ...(type === 'string' ? { minLength: 1, pattern: setting.pattern?.source } : {}),
    };
  let before = meaning;
  const members = Object.entries(properties).flatMap(([name, member]) => {
    if (member.isLocal === true) return [];
    const schema = schemaOf(member, before);
    before = setting.meaning ?? member.meaning ?? before;
    return [[name, schema] as const];
  });
  const required = setting.required?.filter((name) => properties[name]?.default === undefined);
  return {
    type,
    additionalProperties: false,
    description,
    properties: Object.fromEntries(members),
    required,
  };
}

/** Markdown without links and marks: editors show descriptions as text. */
function plain(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll('`', '');
}
