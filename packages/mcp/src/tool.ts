import { untrustedTextNotice } from '@florin/protocol/discovery.ts';
import type { Json, JsonObject } from '@florin/protocol/openapi-schema.ts';
import { visibleText } from '@florin/protocol/visible-text.ts';

/** One request to an installation's HTTP interfaces. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST';
  /** From the origin on, such as `/payment/v1/account/list`. */
  readonly path: string;
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request with the caller's own key, where there is one; gives the text of the answer. */
export type CallApi = (request: ApiRequest) => Promise<string>;

/** What a tool answers. `isError`: a refusal, which the caller is told like any result. */
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
  readonly isReadOnly: boolean;
  /** Whether the same call again changes nothing more. */
  readonly isIdempotent: boolean;
  run(input: JsonObject): Promise<ToolAnswer>;
}

/** What models are told of every answer before its JSON. */
const preface = `Data of the service, as JSON. ${untrustedTextNotice}`;

/** An answer as a tool's result: for models as text that says what it is, for programs as it is. */
export function toolResult({ value, isError }: ToolAnswer) {
  const cleaned = cleanJson(value) as JsonObject;
  return {
    content: [{ type: 'text' as const, text: `${preface}\n${JSON.stringify(cleaned)}` }],
    structuredContent: { ...cleaned },
    isError,
  };
}

/** Every text of a value with nothing hidden in it, names of members included. */
function cleanJson(value: Json): Json {
  if (typeof value === 'string') return visibleText(value);
  if (Array.isArray(value)) return value.map((each: Json) => cleanJson(each));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [visibleText(name), cleanJson(each as Json)]),
  );
}
