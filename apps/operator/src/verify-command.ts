import { CommandError, mandatory, optional, UsageError } from '@florin/cli';
import { findKnownChain } from '@florin/protocol/known-chain.ts';
import type { Commands } from './command.ts';
import { deploymentsFolder, readRecord, readSources, recordOption } from './deployment-record.ts';
import { readSecretFile } from './secret-file.ts';
import { verifiers, verifyDeployment } from './verify.ts';

const etherscanUrl = 'https://api.etherscan.io/v2/api';
const sourcifyUrl = 'https://sourcify.dev/server';

export const verifyCommands: Commands = {
  verify: {
    does: "publishes the sources of a recorded deployment at an explorer, which compares them with the chain's code",
    examples: [
      'verify --chain-id 8453 --at etherscan --api-key-file etherscan.key',
      'verify --chain-id 8453 --at blockscout --url https://base.blockscout.com',
    ],
    options: [
      mandatory('--chain-id <number>', 'the chain of the record'),
      mandatory('--at <service>', 'who compares').choices(verifiers),
      optional(
        '--url <url>',
        'the address of its API (default: that of Etherscan or Sourcify); of Blockscout, the explorer',
      ),
      optional('--api-key-file <file>', "holds Etherscan's key"),
      recordOption,
    ],
    async run(options, outside) {
      const text = options.required('chain-id');
      if (!/^[1-9][0-9]{0,15}$/.test(text))
        throw new UsageError(`--chain-id is ${text}: give a decimal number`);
      const chainId = Number(text);
      const verifier = options.choice('at', verifiers) ?? 'etherscan';
      const folder = options.optional('record') ?? deploymentsFolder;
      const record = readRecord(folder, chainId);
      if (record === undefined)
        throw new CommandError(`${folder} has no record of chain ${chainId}: florin deploy writes it`);
      const keyFile = options.optional('api-key-file');
      const verified = await verifyDeployment({
        ...{ verifier, record, url: urlOf(verifier, chainId, options.optional('url')) },
        apiKey: keyFile === undefined ? undefined : readSecretFile(keyFile).trim(),
        sources: readSources(folder, chainId),
        ...{ clock: outside.clock, log: outside.tell },
      });
      return { text: `verified: ${verified.join(', ')}`, json: { chainId: text, at: verifier, verified } };
    },
  },
};

function urlOf(verifier: (typeof verifiers)[number], chainId: number, given: string | undefined): string {
  if (given !== undefined) {
    if (!/^https?:$/.test(URL.canParse(given) ? new URL(given).protocol : ''))
      throw new UsageError('--url must be an http or https URL');
    return given.replace(/\/$/, '');
  }
  if (verifier === 'sourcify') return sourcifyUrl;
  if (verifier === 'blockscout') throw new UsageError('give --url: every Blockscout has its own address');
  if (findKnownChain(chainId)?.isOnEtherscan !== true)
    throw new UsageError(`Etherscan is not known to verify chain ${chainId}: give --url`);
  return etherscanUrl;
}
