import type { Json, JsonObject } from '@florin/protocol/openapi-schema.ts';

/**
 * What a schema says of texts and of further members is left out. Hidden characters are removed from texts on their way to
 * a model, and a newer installation may add members: neither may make a client refuse an answer. Descriptions are in the
 * documentation, and would double the list of tools.
 */
const dropped = [
  'description',
  'pattern',
  'minLength',
  'maxLength',
  'format',
  'trimmed',
  'additionalProperties',
];

/**
 * How deep a shape names members: those of the answer's data and of the entries of its lists. What is deeper is only an object:
 * each tool costs a model's attention before its first question, and it reads the answer itself.
 */
const namedLevels = 2;
/** What says something of members, so that it has no meaning without their names. */
const ofMembers = ['properties', 'required', 'patternProperties', 'additionalProperties'];

/** The shape of an answer with this data: `{code, message, data}`, with the code 0. */
export function answerSchema(reply: object): JsonObject & { readonly type: 'object' } {
  return {
    type: 'object',
    properties: { code: { const: 0 }, message: { type: 'string' }, data: shapeOf(reply, namedLevels) },
    required: ['code', 'message', 'data'],
  };
}

/** The shape alone of a schema, with the names of its members so many levels deep. */
function shapeOf(schema: object, levels: number): JsonObject {
  const members = Object.entries(JSON.parse(JSON.stringify(schema)) as JsonObject);
  return Object.fromEntries(
    members
      // A schema of further members is a part of the shape; their refusal is not.
      .filter(
        ([name, value]) => !dropped.includes(name) || (name === 'additionalProperties' && isObject(value)),
      )
      .filter(([name]) => levels > 0 || !ofMembers.includes(name))
      // Which members of an entry are always there is in the documentation, too.
      .filter(([name]) => levels === namedLevels || name !== 'required')
      .map(([name, value]) => [
        name,
        name === 'properties' ? eachShape(value, levels - 1) : shapeOfMember(value, levels),
      ]),
  );
}

/** The members of `properties` have names of their own, such as `description`. */
function eachShape(properties: Json, levels: number): Json {
  if (!isObject(properties)) return properties;
  return Object.fromEntries(
    Object.entries(properties).map(([name, each]) => [name, shapeOfMember(each, levels)]),
  );
}

function shapeOfMember(value: Json, levels: number): Json {
  if (Array.isArray(value)) return value.map((each: Json) => shapeOfMember(each, levels));
  return isObject(value) ? shapeOf(value, levels) : value;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
