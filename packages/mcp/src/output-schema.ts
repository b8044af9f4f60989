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

/** The shape of an answer with this data: `{code, message, data}`, with the code 0. */
export function answerSchema(reply: object): JsonObject & { readonly type: 'object' } {
  return {
    type: 'object',
    properties: { code: { const: 0 }, message: { type: 'string' }, data: shapeOf(reply) },
    required: ['code', 'message', 'data'],
  };
}

/** The shape alone of a schema. */
function shapeOf(schema: object): JsonObject {
  const members = Object.entries(JSON.parse(JSON.stringify(schema)) as JsonObject);
  return Object.fromEntries(
    members
      // A schema of further members is a part of the shape; their refusal is not.
      .filter(
        ([name, value]) => !dropped.includes(name) || (name === 'additionalProperties' && isObject(value)),
      )
      .map(([name, value]) => [name, name === 'properties' ? eachShape(value) : shapeOfMember(value)]),
  );
}

/** The members of `properties` have names of their own, such as `description`. */
function eachShape(properties: Json): Json {
  if (!isObject(properties)) return properties;
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, shapeOfMember(each)]));
}

function shapeOfMember(value: Json): Json {
  if (Array.isArray(value)) return value.map((each: Json) => shapeOfMember(each));
  return isObject(value) ? shapeOf(value) : value;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
