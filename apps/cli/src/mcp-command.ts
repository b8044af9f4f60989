import { readFileSync } from 'node:fs';
import { type CliOutside, type CommandOf, type Options, optional } from './command.ts';
import { CommandError, UsageError } from './command-error.ts';
import { installationOf } from './connection.ts';
import type { McpPayer, SpendingLimits } from './mcp-conversation.ts';

/** The file of `--policy`. */
interface PolicyFile extends SpendingLimits {
  /** Micro-USD, as a decimal text. */
  readonly maxAmount: string;
  readonly rpcUrls?: Readonly<Record<number, string>>;
}

/** `florin mcp` */
export const mcpCommand: CommandOf<CliOutside> = {
  does:
    'speaks the Model Context Protocol over standard input and output; with FLORIN_KEY for a merchant, with ' +
    'FLORIN_PAYER_KEY and a policy for a payer',
  options: [
    optional('--url <url>', 'the installation (default: FLORIN_URL, then the profile, then the local world)'),
    optional('--profile <name>', 'what florin login has stored under this name, with its key'),
    optional('--policy <file>', 'the spending limits of a payer, as JSON; needs FLORIN_PAYER_KEY'),
  ],
  examples: ['mcp --url https://pay.example.com', 'mcp --profile shop', 'mcp --policy policy.json'],
  async run(options, outside) {
    const { streams, speakMcp, ending } = outside;
    if (streams === undefined || speakMcp === undefined)
      throw new CommandError('there is no standard input to read from');
    const { url, key } = installationOf(options, outside);
    const { origin } = new URL(url);
    await speakMcp({
      ...{ origin, apiKey: key, payer: payerOf(options, outside) },
      ...{ input: streams.input, output: streams.output, signal: ending?.() },
      onReady: () => outside.tell(`Speaking the Model Context Protocol for ${origin}`),
    });
    return { text: '', json: {} };
  },
};

function payerOf(options: Options, { environment }: CliOutside): McpPayer | undefined {
  const [key, file] = [environment['FLORIN_PAYER_KEY'], options.optional('policy')];
  if (key === undefined && file === undefined) return undefined;
  if (key === undefined || file === undefined)
    throw new UsageError('FLORIN_PAYER_KEY and --policy belong together: a key without limits is not used');
  if (!isPrivateKey(key)) throw new UsageError('FLORIN_PAYER_KEY is not a private key of 32 bytes');
  const { maxAmount, rpcUrls = {}, ...policy } = policyOf(file);
  return { privateKey: key, maxAmount: BigInt(maxAmount), rpcUrls, policy };
}

function isPrivateKey(text: string): text is `0x${string}` {
  return /^0x[0-9a-fA-F]{64}$/.test(text);
}

const policyMembers = ['maxAmount', 'tokens', 'chains', 'hosts', 'merchants', 'rpcUrls'];

function policyOf(file: string): PolicyFile {
  const policy = parsePolicy(file);
  // A misspelt limit would have no effect.
  const unknown = Object.keys(policy).filter((name) => !policyMembers.includes(name));
  if (unknown.length > 0) throw new UsageError(`${file} has an unknown member ${unknown[0]}`);
  if (typeof policy.maxAmount !== 'string' || !/^[1-9][0-9]{0,13}$/.test(policy.maxAmount))
    throw new UsageError(`${file} needs maxAmount, a decimal text of Micro-USD`);
  return policy;
}

function parsePolicy(file: string): PolicyFile {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as PolicyFile;
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
