/** Writes TypeScript types from the schemas of the wire. */

/** The parts of JSON Schema that the schemas of the wire use. */
export interface WireSchema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly WireSchema[];
  readonly properties?: Readonly<Record<string, WireSchema>>;
  readonly patternProperties?: Readonly<Record<string, WireSchema>>;
  readonly additionalProperties?: unknown;
  readonly required?: readonly string[];
  readonly items?: WireSchema;
  readonly description?: string;
}

/** What a schema is for: callers may leave members of a request `undefined`, and hand in arrays that never change. */
export type Direction = 'request' | 'reply';

/** The name of a schema that has a declaration of its own. */
export type NameOf = (schema: WireSchema) => string | undefined;

/** Members of an object that are all there or all absent, by the name of its schema. */
const together: Readonly<Record<string, readonly string[]>> = {
  Refund: ['refundedAmount', 'requiredBalance', 'txRequest', 'prerequisites'],
};

/** A declaration of a schema: an interface for an object, else a type. */
export function declarationText(
  name: string,
  schema: WireSchema,
  direction: Direction,
  nameOf: NameOf,
): string {
  // Its own name would only refer to itself.
  const nameInside: NameOf = (part) => (part === schema ? undefined : nameOf(part));
  const head = commentText(schema.description, '');
  if (together[name] !== undefined) return head + togetherText(name, schema, together[name], nameInside);
  const text = typeText(schema, direction, nameInside);
  return text.startsWith('{')
    ? `${head}export interface ${name} ${text}\n`
    : `${head}export type ${name} = ${text};\n`;
}

/** A union, so that one of the members that are there together tells that the others are. */
function togetherText(name: string, schema: WireSchema, members: readonly string[], nameOf: NameOf): string {
  const { properties = {}, required = [] } = schema;
  const entries = Object.entries(properties);
  const partOf = (isTogether: boolean) => {
    const own = entries.filter(([member]) => members.includes(member) === isTogether);
    const part = {
      ...schema,
      properties: Object.fromEntries(own),
      required: isTogether ? members : required,
    };
    return typeText(part, 'reply', nameOf);
  };
  const none = members.map((member) => `  ${member}?: undefined;\n`).join('');
  return `export type ${name} = ${partOf(false)} & (${partOf(true)} | {\n${none}});\n`;
}

/** The type of a schema. */
export function typeText(schema: WireSchema, direction: Direction, nameOf: NameOf, indent = ''): string {
  const name = nameOf(schema);
  if (name !== undefined) return name;
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(' | ');
  if (schema.anyOf !== undefined) {
    const types = [...new Set(schema.anyOf.map((each) => typeText(each, direction, nameOf, indent)))];
    return types.filter((type) => !types.includes('string') || !type.startsWith("'")).join(' | ');
  }
  if (schema.items !== undefined) {
    const { items } = schema;
    const item = typeText(items, direction, nameOf, indent);
    const isUnion = nameOf(items) === undefined && (items.enum ?? items.anyOf) !== undefined;
    const array = isUnion ? `(${item})[]` : `${item}[]`;
    return direction === 'request' ? `readonly ${array}` : array;
  }
  if (schema.patternProperties !== undefined) {
    const [values = {}] = Object.values(schema.patternProperties);
    return `{ [name: string]: ${typeText(values, direction, nameOf, indent)} }`;
  }
  if (schema.properties !== undefined) return objectText(schema, direction, nameOf, indent);
  return plainType(schema.type);
}

function objectText(schema: WireSchema, direction: Direction, nameOf: NameOf, indent: string): string {
  const members = Object.entries(schema.properties ?? {});
  if (members.length === 0) return schema.additionalProperties === true ? 'object' : 'Record<string, never>';
  const inner = `${indent}  `;
  const lines = members.map(([name, member]) => {
    const isOptional = !(schema.required ?? []).includes(name);
    const type = typeText(member, direction, nameOf, inner);
    const rest = isOptional && direction === 'request' && type !== 'unknown' ? ' | undefined' : '';
    return `${commentText(member.description, inner)}${inner}${name}${isOptional ? '?' : ''}: ${type}${rest};\n`;
  });
  return `{\n${lines.join('')}${indent}}`;
}

function plainType(type: string | undefined): string {
  if (type === 'integer') return 'number';
  return type ?? 'unknown';
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}

/** A comment above a declaration or a member; nothing without a text. */
export function commentText(text: string | undefined, indent: string): string {
  return text === undefined
    ? ''
    : `${indent}/** ${text.replaceAll('*/', '*\\/')}${/[.!?]$/.test(text) ? '' : '.'} */\n`;
}
