import { nameOfSchema } from '@florin/protocol/openapi-schema.ts';
import { linkTo } from './page.ts';

/** The page that describes every object. */
export const objectsPath = '/docs/objects';

/** The parts of a JSON Schema that a table of fields shows. */
export interface SchemaPart {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly SchemaPart[];
  readonly properties?: Readonly<Record<string, SchemaPart>>;
  readonly patternProperties?: Readonly<Record<string, SchemaPart>>;
  readonly required?: readonly string[];
  readonly items?: SchemaPart;
  readonly description?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
}

/** Reads a protocol schema as the part of JSON Schema that tables show. */
export function schemaPart(schema: object): SchemaPart {
  return schema as SchemaPart;
}

/** One row for each field of an object: name, type, whether it is required, and its meaning. */
export function fieldRows(schema: SchemaPart, prefix = ''): string[][] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, member]) => {
    if (member.description === 'Taken and ignored.') return [];
    const path = `${prefix}${name}`;
    const isRequired = schema.required?.includes(name) ?? false;
    const row = [
      `\`${path}\``,
      typeText(member),
      isRequired ? 'yes' : 'no',
      [member.description ?? '', limitText(member)].filter((text) => text !== '').join('. '),
    ];
    return [row, ...nestedRows(member, path)];
  });
}

/** Fields that an update accepts and ignores, so that clients can send a read back. */
export function ignoredFields(schema: SchemaPart): string[] {
  return Object.entries(schema.properties ?? {})
    .filter(([, member]) => member.description === 'Taken and ignored.')
    .map(([name]) => name);
}

function nestedRows(member: SchemaPart, path: string): string[][] {
  if (nameOfSchema(member) !== undefined) return [];
  if (member.items !== undefined) return nestedRows(member.items, `${path}[]`);
  return member.properties === undefined ? [] : fieldRows(member, `${path}.`);
}

/** The type of a value in words; named objects are links to their description. */
export function typeText(schema: SchemaPart): string {
  const name = nameOfSchema(schema);
  if (name !== undefined) return linkTo(name, objectsPath, name);
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${String(value)}\``).join(', ');
  if (schema.const !== undefined) return `\`${schema.const === '' ? '""' : String(schema.const)}\``;
  if (schema.anyOf !== undefined) {
    return schema.anyOf.map((branch) => typeText(branch)).join(' or ');
  }
  if (schema.items !== undefined) return `${typeText(schema.items)}[]`;
  if (schema.patternProperties !== undefined) {
    const [values] = Object.values(schema.patternProperties);
    return `object of ${values === undefined ? 'any' : typeText(values)}`;
  }
  if (schema.format === 'https-url' || schema.format === 'image-url') return 'https URL';
  return typeof schema.type === 'string' ? schema.type : 'any';
}

/** Bounds in words: `1 to 100 characters`. */
export function limitText(schema: SchemaPart): string {
  const [inner] = (schema.anyOf ?? []).filter((branch) => branch.maxLength !== undefined);
  const part = inner ?? schema;
  if (part.maxLength !== undefined) return rangeText(part.minLength ?? 0, part.maxLength, 'characters');
  if (part.maxItems !== undefined) {
    const each = part.items === undefined ? '' : limitText(part.items);
    const entries = rangeText(part.minItems ?? 0, part.maxItems, 'entries');
    return each === '' ? entries : `${entries}; each: ${each}`;
  }
  // Bounds of a flag, or of the range of doubles, carry no information.
  if (part.maximum !== undefined && part.maximum > 1 && part.maximum < Number.MAX_SAFE_INTEGER) {
    return rangeText(part.minimum ?? 0, part.maximum, '');
  }
  return '';
}

function rangeText(least: number, most: number, unit: string): string {
  const text =
    least === 0 && unit !== '' ? `At most ${grouped(most)}` : `${grouped(least)} to ${grouped(most)}`;
  return unit === '' ? text : `${text} ${unit}`;
}

/** 10000 as `10,000`, regardless of the machine's locale. */
export function grouped(value: number | bigint): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ',');
}
