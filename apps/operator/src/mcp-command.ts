import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { knownTokens, type PolicyToken } from '@florin/agent';
import { CommandError, type Options, optional, UsageError } from '@florin/cli';
import { type CallApi, mcpServer, payTool, type Tool } from '@florin/mcp';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { privateKeyToAccount } from 'viem/accounts';
import type { Command, CommandContext } from './command.ts';

const timeoutMs = 60_000;
const checkout = fileURLToPath(new URL('../../../', import.meta.url));

/** The spending limits of a machine's account, from the file of `--policy`. */
interface PolicyFile {
  /** Micro-USD for each payment, as a decimal text. */
  readonly maxAmount: string;
  readonly tokens?: readonly PolicyToken[];
  readonly chains?: readonly number[];
  readonly hosts?: readonly string[];
  readonly merchants?: readonly string[];
  readonly rpcUrls?: Readonly<Record<number, string>>;
}

export const mcpCommand: Command = {
  does:
    'speaks the Model Context Protocol over standard input and output; with FLORIN_API_KEY for a merchant, with ' +
    'FLORIN_PAYER_KEY and a policy for a payer',
  options: [
    optional(
      '--origin <url>',
      'the installation, such as https://pay.example.com (default: the local world)',
    ),
    optional('--policy <file>', 'the spending limits of a payer, as JSON; needs FLORIN_PAYER_KEY'),
  ],
  async run(options, outside) {
    const { streams, environment } = outside;
    if (streams === undefined) throw new CommandError('there is no standard input to read from');
    const origin = originOf(options, outside);
    const key = environment['FLORIN_API_KEY'];
    const server = mcpServer({
      callApi: httpApi(origin, key),
      hasKey: key !== undefined,
      offered: key === undefined ? undefined : await findOffered(origin, key),
      extra: payTools(options, outside),
    });
    await server.connect(new StdioServerTransport(streams.input, streams.output));
    outside.tell(`Speaking the Model Context Protocol for ${origin}`);
    await endOf(streams.input, outside);
    await server.close();
    return { text: '', json: {} };
  },
};

function endOf(input: Readable, { ending }: CommandContext): Promise<void> {
  return new Promise((resolve) => {
    input.once('end', resolve);
    ending?.().addEventListener('abort', () => resolve());
  });
}

function originOf(options: Options, { environment }: CommandContext): string {
  const given = options.optional('origin') ?? environment['FLORIN_ORIGIN'] ?? worldOrigin(environment);
  if (given === undefined || !URL.canParse(given))
    throw new UsageError('no installation: give --origin https://pay.example.com, or start the local world');
  return given.replace(/\/+$/, '');
}

function worldOrigin(environment: CommandContext['environment']): string | undefined {
  const home = environment['FLORIN_HOME'] ?? join(checkout, '.florin');
  try {
    return (JSON.parse(readFileSync(join(home, 'world.json'), 'utf8')) as { origin: string }).origin;
  } catch {
    // No world runs here; the caller reports what to specify instead.
    return undefined;
  }
}

/**
 * The tools that the installation offers to a key; undefined when it does not answer now: it refuses each call that the key
 * may not make. Throws for a key that it does not know.
 */
async function findOffered(origin: string, key: string): Promise<ReadonlySet<string> | undefined> {
  const response = await fetch(`${origin}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' }),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(() => undefined);
  if (response?.status === 401) throw new CommandError(`${origin} does not know the key of FLORIN_API_KEY`);
  if (response?.ok !== true) return undefined;
  const { result } = (await response.json()) as { result: { tools: readonly { name: string }[] } };
  return new Set(result.tools.map(({ name }) => name));
}

function httpApi(origin: string, key: string | undefined): CallApi {
  return async ({ method, path, body, headers = {} }) => {
    const response = await fetch(origin + path, {
      method,
      headers: {
        ...headers,
        // The AI protocol uses no key and does not receive one.
        ...(key === undefined || !path.startsWith('/payment/') ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    return response.text();
  };
}

function payTools(options: Options, { environment }: CommandContext): Tool[] {
  const [key, file] = [environment['FLORIN_PAYER_KEY'], options.optional('policy')];
  if (key === undefined && file === undefined) return [];
  if (key === undefined || file === undefined)
    throw new UsageError('FLORIN_PAYER_KEY and --policy belong together: a key without limits is not used');
  if (!/^0x[0-9a-fA-F]{64}$/.test(key))
    throw new UsageError('FLORIN_PAYER_KEY is not a private key of 32 bytes');
  const { maxAmount, rpcUrls = {}, tokens = knownTokens, ...policy } = policyOf(file);
  return [
    payTool({
      account: privateKeyToAccount(key as `0x${string}`),
      maxAmount: BigInt(maxAmount),
      rpcUrls,
      policy: { ...policy, tokens },
    }),
  ];
}

const policyMembers = ['maxAmount', 'tokens', 'chains', 'hosts', 'merchants', 'rpcUrls'];

function policyOf(file: string): PolicyFile {
  const policy = JSON.parse(readFileSync(file, 'utf8')) as PolicyFile;
  // A misspelt limit would have no effect.
  const unknown = Object.keys(policy).filter((name) => !policyMembers.includes(name));
  if (unknown.length > 0) throw new UsageError(`${file} has an unknown member ${unknown[0]}`);
  if (typeof policy.maxAmount !== 'string' || !/^[1-9][0-9]{0,13}$/.test(policy.maxAmount))
    throw new UsageError(`${file} needs maxAmount, a decimal text of Micro-USD`);
  return policy;
}
