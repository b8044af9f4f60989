import Type, { type TSchema } from 'typebox';
import { type ErrorName, errorCatalogue } from './error.ts';
import { type Json, type JsonObject, plainSchema } from './openapi-schema.ts';

/**
 * The component that describes one error: `SessionNotFoundFailure`. Its `code` and its `slug` are one value each, so a
 * client that has compared one of them knows the other.
 */
function failureName(slug: ErrorName): string {
  return `${slug.replaceAll(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase())}Failure`;
}

function failureSchema(slug: ErrorName): TSchema {
  const { code, text, retryable } = errorCatalogue[slug];
  return Type.Object(
    {
      // A literal alone is a number, which clients in Go would read as a float.
      code: Type.Integer({ const: code }),
      message: Type.String(),
      data: Type.Unknown(),
      error: Type.Object({
        slug: Type.Literal(slug),
        param: Type.String(),
        retryable: Type.Literal(retryable),
        remedy: Type.String(),
        docUrl: Type.String(),
        requestId: Type.String(),
      }),
    },
    { description: text },
  );
}

/** The references to the failures of one answer. */
export function failureRefs(slugs: readonly ErrorName[]): readonly JsonObject[] {
  return slugs.map((slug) => ({ $ref: `#/components/schemas/${failureName(slug)}` }));
}

/** The components of these errors, and `Failure`, which is one of them. */
export function failureSchemas(slugs: readonly ErrorName[]): Readonly<Record<string, Json>> {
  return {
    Failure: {
      description:
        'Every failed answer, told apart by `code` or by `error.slug`. Version 1 can get further ones: treat an unknown ' +
        'code as a failure, and let `error.retryable` decide whether to repeat the request',
      oneOf: failureRefs(slugs),
    },
    ...Object.fromEntries(slugs.map((slug) => [failureName(slug), plainSchema(failureSchema(slug))])),
  };
}
