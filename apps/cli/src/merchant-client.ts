import { type CommandContext, type Options, optional } from './command.ts';
import { CommandError, UsageError } from './command-error.ts';
import { readWorld } from './local-world.ts';

/** A client of the merchant API with one key. */
export interface MerchantClient {
  /** `data` of the answer; throws a CommandError with the API's message when the code is not 0. */
  get(path: string): Promise<unknown>;
  /** The text of `data`, byte for byte. */
  getText(path: string): Promise<string>;
  post(path: string, body: unknown): Promise<unknown>;
}

/** The options with which a merchant's command finds the API. */
export const merchantOptions = [
  optional('--api <url>', 'the merchant API (default: FLORIN_API_URL, or the local world)'),
  optional('--key <key>', 'an API key (default: FLORIN_API_KEY, or the key of the local world)'),
];

const timeoutMs = 30_000;

/** The API of --api and --key, or of FLORIN_API_URL and FLORIN_API_KEY, or the local world of this checkout. */
export function merchantClient(options: Options, { environment }: CommandContext): MerchantClient {
  const given = {
    api: options.optional('api') ?? environment['FLORIN_API_URL'],
    key: options.optional('key') ?? environment['FLORIN_API_KEY'],
  };
  const world = given.api === undefined || given.key === undefined ? readWorld(environment) : undefined;
  const api = given.api ?? world?.merchantApi;
  // A key belongs to one installation: the local world's key is not sent to another.
  const key = given.key ?? (given.api === undefined ? world?.secretKey : undefined);
  if (api === undefined || key === undefined) {
    throw new UsageError(
      'no API: give --api and --key (or FLORIN_API_URL and FLORIN_API_KEY), or start the local world',
    );
  }
  const base = api.replace(/\/+$/, '');
  if (!URL.canParse(base))
    throw new UsageError(`--api is ${api}: give a URL such as https://api.example.com/payment/v1`);
  return {
    get: async (path) => (await ask(base, key, path)).data,
    getText: async (path) => dataText((await ask(base, key, path)).text),
    post: async (path, body) => (await ask(base, key, path, body)).data,
  };
}

interface Reply {
  readonly data: unknown;
  /** The whole answer. */
  readonly text: string;
}

async function ask(base: string, key: string, path: string, body?: unknown): Promise<Reply> {
  const response = await fetch(base + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    redirect: 'manual',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch((error: Error) => {
    throw new UnreachableError(`${base} does not answer: ${reasonOf(error)}`);
  });
  const text = await response.text();
  const reply = replyOf(text);
  if (response.status === 429 || response.status >= 500) {
    throw new UnreachableError(`${base} answers ${response.status}: ${reply?.message ?? 'no message'}`);
  }
  if (reply === undefined)
    throw new CommandError(`${base}${path} answers ${response.status} without a JSON envelope`);
  if (reply.code !== 0) throw new CommandError(`${reply.code} ${reply.message}`);
  return { data: reply.data, text };
}

/** `data` is the last member of a good answer. Parsing and rewriting it would change numbers and repeated names. */
function dataText(text: string): string {
  return text.slice(text.indexOf('"data":') + '"data":'.length, text.lastIndexOf('}'));
}

/** The API is unreachable, or asks to retry later. */
export class UnreachableError extends CommandError {}

/** Why a request failed, from its deepest cause. */
export function reasonOf(error: Error): string {
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
}

function replyOf(text: string): { code: number; message: string; data: unknown } | undefined {
  try {
    return JSON.parse(text) as { code: number; message: string; data: unknown };
  } catch {
    // Another program than the merchant API answers there.
    return undefined;
  }
}
