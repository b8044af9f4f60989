import { errorAdvice } from '@florin/protocol/error-advice.ts';
import type { Json } from '@florin/protocol/openapi-schema.ts';

const remedies = new Map<unknown, string>(
  Object.entries(errorAdvice).map(([slug, { remedy }]) => [slug, remedy]),
);

/** The error of a refusal with its `remedy`, what its reader should do; an error of a newer installation as it is. */
export function advised(error: Json | undefined): Json {
  if (typeof error !== 'object' || error === null || !('slug' in error)) return error ?? null;
  const remedy = remedies.get(error['slug']);
  return remedy === undefined ? error : { ...error, remedy };
}
