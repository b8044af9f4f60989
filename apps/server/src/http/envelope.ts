import type { ErrorEntry, ErrorName } from '@florin/protocol/error.ts';
import { errorAdvice } from '@florin/protocol/error-advice.ts';
import { writeJson } from './raw-json.ts';

/** How a door formats a successful answer. Failures have one format at every door. */
export interface ReplyShape {
  /** The whole body for a handler's `data`. */
  success(data: unknown): string;
}

/** `{code: 0, message, data}`: the merchant API. */
export const envelope: ReplyShape = {
  success: (data) => `{"code":0,"message":"success","data":${writeJson(data)}}`,
};

/**
 * The envelope with the view's members repeated beside it: `{code: 0, message, data: view, ...view}`. Serves clients of
 * the bare view and clients of the envelope. The view must be an object with at least one member, none of them named
 * code, message or data.
 */
export const supersetEnvelope: ReplyShape = {
  success(view) {
    const text = writeJson(view);
    if (!/^\{\s*"/.test(text)) throw new TypeError('a superset reply needs an object with members');
    return `{"code":0,"message":"success","data":${text},${text.slice(1)}`;
  },
};

/** The answer to a failed request. */
export interface Failure {
  readonly slug: ErrorName;
  readonly entry: ErrorEntry;
  /** Public: `Text: detail`. */
  readonly message: string;
  readonly param: string;
  readonly data: unknown;
  readonly retryAfterSeconds: number | undefined;
}

/** Formats a failure: `{code, message, data, error: {slug, param, retryable, remedy, docUrl, requestId}}`. */
export function failureBody(failure: Failure, request: { requestId: string; docsUrl: string }): string {
  const { slug, entry, message, param, data } = failure;
  const { code, retryable } = entry;
  const { remedy } = errorAdvice[slug];
  const docUrl = `${request.docsUrl}/${code}`;
  return writeJson({
    code,
    message,
    data: data ?? null,
    error: { slug, param, retryable, remedy, docUrl, requestId: request.requestId },
  });
}
