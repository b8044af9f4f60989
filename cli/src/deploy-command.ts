import { writeFileSync } from 'node:fs';
import type { Hex } from '@florin/protocol/order.ts';
import { readConfig } from '@florin/server/src/config.ts';
import { createPublicClient, getAddress, http, isAddress, zeroAddress } from 'viem';
import type { Command, Options, Outside } from './command.ts';
import { CommandError, UsageError } from './command-error.ts';
import { deployContracts } from './deploy.ts';
import { readKeyFile } from './secret-file.ts';

export const deployCommand: Command = {
  usage:
    '--chain NAME --admin 0x… --settler 0x… --order-signer 0x… --guardian 0x… --fee-recipient 0x… --deployer-key-file FILE [--rpc URL] [--out FILE]',
  does: 'deploys the contracts to a chain; the same roles give the same addresses on every chain',
  options: [
    'chain',
    'admin',
    'settler',
    'order-signer',
    'guardian',
    'fee-recipient',
    'deployer-key-file',
    'rpc',
    'out',
  ],
  async run(options, outside) {
    const name = options.required('chain');
    const roles = {
      admin: addressOption(options, 'admin'),
      orderSigner: addressOption(options, 'order-signer'),
      settler: addressOption(options, 'settler'),
      guardian: addressOption(options, 'guardian'),
      feeRecipient: addressOption(options, 'fee-recipient'),
    };
    const deployerKey = readKeyFile(options.required('deployer-key-file'));
    const { rpcUrl, chainId } = await targetOf(options, outside, name);
    const deployment = await deployContracts({ rpcUrl, chainId, deployerKey, ...roles, log: outside.tell });
    const settings = {
      name,
      chainId: String(chainId),
      gateway: deployment.gateway,
      vault: deployment.vault,
      startBlock: String(deployment.startBlock),
    };
    const text = JSON.stringify(settings, undefined, 2);
    const out = options.optional('out');
    if (out !== undefined) writeOut(out, `${text}\n`);
    return { text: `in the configuration, the chain ${name} gets\n${text}`, json: settings };
  },
};

function addressOption(options: Options, name: string): Hex {
  const text = options.required(name);
  if (!isAddress(text) || text === zeroAddress) {
    throw new UsageError(`--${name} is ${text}: give an EVM address with its checksum`);
  }
  return getAddress(text);
}

/** Where to deploy: the node that `--rpc` names, before there is a configuration, or the configured chain. */
async function targetOf(
  options: Options,
  outside: Outside,
  name: string,
): Promise<{ rpcUrl: string; chainId: number }> {
  const rpcUrl = options.optional('rpc');
  if (rpcUrl === undefined) {
    const chain = readConfig(outside.environment).chains.byName(name);
    const url = chain?.rpcUrls[0];
    if (chain === undefined || url === undefined) {
      throw new CommandError(`the configuration has no chain ${name}: add it, or give --rpc`);
    }
    return { rpcUrl: url, chainId: chain.chainId };
  }
  if (!/^https?:$/.test(URL.canParse(rpcUrl) ? new URL(rpcUrl).protocol : '')) {
    throw new UsageError('--rpc must be an http or https URL');
  }
  try {
    return { rpcUrl, chainId: await createPublicClient({ transport: http(rpcUrl) }).getChainId() };
  } catch {
    // The error would show the URL, which often holds an access key.
    throw new CommandError(`the node at ${new URL(rpcUrl).host} does not answer: correct --rpc or start it`);
  }
}

function writeOut(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${(error as Error).message}`);
  }
}
