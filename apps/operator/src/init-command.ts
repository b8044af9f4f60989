import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CommandError, mandatory, type Options, optional, repeatable } from '@florin/cli';
import { ConfigError, readConfig } from '@florin/server/operator';
import { createPublicClient, erc20Abi, getAddress, http, isAddress } from 'viem';
import { openRequest, rpcOption, servedChain } from './chain-target.ts';
import type { CommandContext, Commands } from './command.ts';
import { type DraftChain, type DraftConfig, type KeptKeys, keepKeys, openFolder } from './init-folder.ts';
import { type Answers, openAnswers } from './init-question.ts';

/** The network of deploy/compose/compose.yaml, where its proxy is. */
const composeNetwork = '10.89.40.0/24';

export const initCommands: Commands = {
  init: {
    does: 'makes the configuration of an installation, its keystores and passwords in a folder, by options or questions; can be repeated',
    examples: [
      'init --out florin-etc --origin https://pay.example.com --chain base --rpc https://node.example.com --token 0x…',
      'init --out florin-etc',
    ],
    options: [
      mandatory('--out <folder>', 'where everything is written; what is there already is kept'),
      optional('--origin <url>', 'the public origin, such as https://pay.example.com'),
      optional(
        '--service-domain <name>',
        "payers sign for aipay. and this name (default: the origin's host)",
      ),
      optional('--database-url <url>', 'postgres://…; the role owns the database and is no superuser'),
      optional(
        '--compose',
        "for deploy/compose: makes the database's password, and trusts the proxy's network",
      ),
      repeatable('--trusted-proxy <address>', 'an address or network of the TLS proxy in front'),
      optional('--chain <name>', 'a chain to add, such as base'),
      repeatable('--rpc <url>', 'a node of that chain; give two of different providers'),
      repeatable('--token <address>', 'a stablecoin on that chain'),
    ],
    async run(options, outside) {
      const folder = resolve(outside.folder, options.required('out'));
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const files = openFolder(folder);
      const answers = openAnswers(options, outside);
      try {
        const config = await completeConfig(files.readConfig(), options, answers);
        const keys = keepKeys(files, outside, await databaseUrlOf(files, options, answers, outside));
        files.writeConfig(config);
        return report(folder, config, keys);
      } finally {
        answers.close();
      }
    },
  },
};

/** What is missing is asked for; what the folder has stays. */
async function completeConfig(found: DraftConfig, options: Options, answers: Answers): Promise<DraftConfig> {
  const origin =
    found.origin ?? (await answers.one('origin', 'Public origin, such as https://pay.example.com'));
  if (URL.parse(origin)?.origin !== origin || !origin.startsWith('https://'))
    throw new CommandError(
      `the origin ${origin} must be https, a host and no path, such as https://pay.example.com`,
    );
  const proxies = [
    ...(found.http?.trustedProxies ?? []),
    ...options.all('trusted-proxy'),
    ...(options.flag('compose') ? [composeNetwork] : []),
  ];
  const chains = found.chains ?? [];
  const named = options.optional('chain');
  const isNew = chains.length === 0 || (named !== undefined && chains.every(({ name }) => name !== named));
  return {
    ...found,
    environment: 'production',
    origin,
    serviceDomain: found.serviceDomain ?? options.optional('service-domain') ?? new URL(origin).hostname,
    http: {
      ...found.http,
      trustedProxies: proxies.length === 0 ? ['127.0.0.1'] : [...new Set(proxies)],
    },
    monitoring: found.monitoring ?? {},
    chains: isNew ? [...chains, await newChain(answers)] : chains,
  };
}

async function newChain(answers: Answers): Promise<DraftChain> {
  const name = await answers.one('chain', 'Name of the chain, such as base');
  const rpcUrls = (await answers.many('rpc', 'Nodes of it, two of different providers')).map(rpcOption);
  const [url = ''] = rpcUrls;
  const chainId = await servedChain(openRequest(url), url);
  const addresses = await answers.many('token', 'Addresses of its stablecoins');
  const tokens = await Promise.all(addresses.map((address) => readToken(url, name, address)));
  return { name, chainId: String(chainId), rpcUrls, tokens };
}

/** A token as its contract describes it. */
async function readToken(url: string, chain: string, text: string) {
  if (!isAddress(text)) throw new CommandError(`${text} is no address with its checksum`);
  const address = getAddress(text);
  const { readContract } = createPublicClient({ transport: http(url) });
  const read = <Name extends 'name' | 'symbol' | 'decimals'>(functionName: Name) =>
    readContract({ address, abi: erc20Abi, functionName });
  try {
    const [name, symbol, decimals] = await Promise.all([read('name'), read('symbol'), read('decimals')]);
    const tokenId = `${chain}::${symbol.toLowerCase().replaceAll(/[^a-z0-9.-]/g, '')}`;
    return { tokenId, address, name: String(name), symbol: String(symbol), decimals: Number(decimals) };
  } catch {
    throw new CommandError(`${address} is no token on the chain of ${new URL(url).host}: correct --token`);
  }
}

async function databaseUrlOf(
  files: ReturnType<typeof openFolder>,
  options: Options,
  answers: Answers,
  { random }: CommandContext,
): Promise<string> {
  const found = files.read('database.url');
  if (found !== undefined) return found;
  if (!options.flag('compose'))
    return answers.one('database-url', 'Database, such as postgres://florin:…@db/florin');
  const password = Buffer.from(random.bytes(24)).toString('hex');
  files.write('database.password', password);
  return `postgres://florin:${password}@postgres:5432/florin`;
}

/** Reads back what was written, and says what comes next. */
function report(folder: string, { chains = [] }: DraftConfig, keys: KeptKeys) {
  const missing = chains.filter(({ gateway }) => gateway === undefined);
  const next = missing.flatMap(({ name, chainId, rpcUrls }) => [
    `deploy --chain ${name} --rpc ${rpcUrls[0]} --chain-id ${chainId} --operator 0x… --guardian 0x… --order-signer ${keys.orderSigner} --settler ${keys.settler} --fee-recipient 0x… --deployer-keystore deployer.json --deployer-password-file deployer.password --out ${join(folder, `${name}.json`)}`,
  ]);
  if (missing.length > 0) next.push(`init --out ${folder}`);
  else {
    checkWhole(keys.environment);
    next.push('migrate', 'doctor');
  }
  const ready = missing.length > 0 ? [] : [`. ${join(folder, 'florin.env')}`];
  const text = [
    `The configuration is in ${folder}. Keep a copy of the folder apart from the database's backups.`,
    `order signer ${keys.orderSigner}`,
    `settler      ${keys.settler}`,
    missing.length > 0 ? 'Contracts are missing. Next:' : 'It is complete. Next:',
    ...[...ready, ...next.map((line) => `florin ${line}`)].map((line) => `  ${line}`),
  ];
  const { orderSigner, settler } = keys;
  return {
    text: text.join('\n'),
    json: { folder, orderSigner, settler, isComplete: missing.length === 0, next },
  };
}

function checkWhole(environment: Readonly<Record<string, string>>): void {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError)
      throw new CommandError(`the configuration was written, but ${error.message}`);
    throw error;
  }
}
