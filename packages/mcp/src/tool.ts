import { untrustedTextNotice } from '@florin/protocol/discovery.ts';
import { errorCatalogue, fieldRefusal } from '@florin/protocol/error.ts';
import { errorAdvice } from '@florin/protocol/error-advice.ts';
import type { Json, JsonObject } from '@florin/protocol/openapi-schema.ts';
import { visibleText } from '@florin/protocol/visible-text.ts';

/** One request to an installation's HTTP interfaces. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** Relative to the origin, such as `/payment/v1/account/list`. */
  readonly path: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request with the caller's own key, if any; returns the text of the answer. */
export type CallApi = (request: ApiRequest) => Promise<string>;

/** A tool's answer. `isError`: a refusal, which the caller gets like any result. */
export interface ToolAnswer {
  readonly value: JsonObject;
  readonly isError: boolean;
}

/** A tool of the Model Context Protocol. */
export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: { readonly type: 'object' } & JsonObject;
  /** The shape of an answer that is no refusal. */
  readonly outputSchema: { readonly type: 'object' } & JsonObject;
  readonly isReadOnly: boolean;
  /** Whether it ends something, decides something for good, or moves money. */
  readonly isDestructive: boolean;
  /** Whether it reaches others than the caller and this installation: strangers' texts, receivers of events, chains. */
  readonly isOpenWorld: boolean;
  /** Whether repeating the call has no further effect. */
  readonly isIdempotent: boolean;
  run(input: JsonObject): Promise<ToolAnswer>;
}

/**
 * Refuses an argument that the tool's schema does not name, a required one that is absent, and a text that is not
 * Unicode: a filter that is ignored would show a model other rows than it asked for. The tool checks the rest.
 */
export function refusedArguments({ inputSchema }: Tool, input: JsonObject): ToolAnswer | undefined {
  const known = new Set(Object.keys(inputSchema['properties'] ?? {}));
  const required = (inputSchema['required'] ?? []) as readonly string[];
  const unknown = Object.keys(input).find((name) => !known.has(name));
  const missing = required.find((name) => input[name] === undefined);
  const broken = Object.keys(input).find((name) => !isUnicode(input[name]));
  const ofUnknown = unknown === undefined ? '' : `, and ${unknown} is not a known field`;
  if (missing !== undefined) return fieldAnswer(missing, `is required${ofUnknown}`);
  if (unknown !== undefined) return fieldAnswer(unknown, 'is not a known field');
  if (broken !== undefined) return fieldAnswer(broken, 'must be Unicode text, without unpaired surrogates');
  return undefined;
}

function isUnicode(value: Json | undefined): boolean {
  return typeof value !== 'string' || value.isWellFormed();
}

/** The refusal of one argument (400101). */
export function fieldAnswer(name: string, reason: string): ToolAnswer {
  const { code } = errorCatalogue.field_invalid;
  const { message } = fieldRefusal(name, reason);
  const error = {
    slug: 'field_invalid',
    param: name,
    retryable: false,
    remedy: errorAdvice.field_invalid.remedy,
  };
  return { value: { code, message, data: null, error }, isError: true };
}

/** The sentence before the JSON of every answer to a model. */
const preface = `Data of the service, as JSON. ${untrustedTextNotice}`;

/**
 * An answer as a tool's result: as described text for models, as data for programs. A refusal is text alone: clients
 * compare data with the tool's schema of success, also where `isError` is true.
 */
export function toolResult({ value, isError }: ToolAnswer) {
  const cleaned = cleanJson(value) as JsonObject;
  return {
    content: [{ type: 'text' as const, text: `${preface}\n${JSON.stringify(cleaned)}` }],
    ...(isError ? {} : { structuredContent: { ...cleaned } }),
    isError,
  };
}

/** Removes hidden characters from every text of a value, names of members included. */
function cleanJson(value: Json): Json {
  if (typeof value === 'string') return visibleText(value);
  if (Array.isArray(value)) return value.map((each: Json) => cleanJson(each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [visibleText(name), cleanJson(each as Json)]),
  );
}
