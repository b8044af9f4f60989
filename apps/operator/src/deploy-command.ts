import { writeFileSync } from 'node:fs';
import { CommandError, mandatory, type Options, optional } from '@florin/cli';
import type { Hex } from '@florin/protocol/order.ts';
import { type ContractRoles, circleMainnet, planContracts } from '@florin/server/operator';
import { getAddress } from 'viem';
import { type ChainTarget, chainTarget, nodeOptions } from './chain-target.ts';
import { type Command, chainOption } from './command.ts';
import { deployContracts } from './deploy.ts';
import {
  type DeploymentRecord,
  deploymentsFolder,
  readRecord,
  recordOf,
  recordOption,
  writeRecord,
} from './deployment-record.ts';
import { addressOption } from './evm-option.ts';
import { readKeyFile } from './secret-file.ts';

const cctpChoices = ['circle', 'none'] as const;

export const deployCommand: Command = {
  does: 'deploys the contracts to a chain; the same roles give the same addresses on every chain',
  options: [
    chainOption,
    mandatory('--admin <address>', 'may grant roles and change settings'),
    mandatory('--settler <address>', 'the wallet that sends settlements'),
    mandatory('--order-signer <address>', 'the key that signs orders'),
    mandatory('--guardian <address>', 'may pause the contracts'),
    mandatory('--fee-recipient <address>', 'receives the fees'),
    mandatory('--deployer-key-file <file>', 'holds the private key that pays for the deployment'),
    ...nodeOptions,
    optional('--cctp <route>', 'whether the contracts can send by CCTP (default: circle)').choices(
      cctpChoices,
    ),
    optional('--out <file>', 'also write the settings to this file'),
    recordOption,
  ],
  async run(options, outside) {
    const name = options.required('chain');
    const roles = rolesOf(options);
    const cctp = options.choice('cctp', cctpChoices) === 'none' ? undefined : circleMainnet;
    const deployerKey = readKeyFile(options.required('deployer-key-file'));
    const target = await chainTarget(options, outside);
    const folder = options.optional('record') ?? deploymentsFolder;
    const gateway = planContracts(roles, cctp).gateway.address;
    const currentAdmin = knownRecord(folder, target, gateway)?.admin ?? roles.admin;
    const route = cctp === undefined ? {} : { cctp };
    const deployment = await deployContracts({
      ...{ ...target, ...roles, ...route, currentAdmin, deployerKey, log: outside.tell },
    });
    const record = recordOf(target.chainId, { roles, admin: currentAdmin, deployment });
    outside.tell(`recorded in ${writeRecord(folder, record)}`);
    const settings = {
      name,
      chainId: String(target.chainId),
      gateway: deployment.gateway,
      vault: deployment.vault,
      startBlock: String(deployment.startBlock),
    };
    const text = JSON.stringify(settings, undefined, 2);
    const out = options.optional('out');
    if (out !== undefined) writeOut(out, `${text}\n`);
    return { text: `add these settings to the chain ${name} in the configuration:\n${text}`, json: settings };
  },
};

function rolesOf(options: Options): ContractRoles {
  return {
    admin: addressOption(options, 'admin'),
    orderSigner: addressOption(options, 'order-signer'),
    settler: addressOption(options, 'settler'),
    guardian: addressOption(options, 'guardian'),
    feeRecipient: addressOption(options, 'fee-recipient'),
  };
}

/**
 * The record of these contracts. A record of other contracts is never overwritten: it may be the only copy of their
 * addresses.
 */
function knownRecord(folder: string, { chainId }: ChainTarget, gateway: Hex): DeploymentRecord | undefined {
  const record = readRecord(folder, chainId);
  if (record === undefined) return undefined;
  const recorded = record.contracts['PaymentGateway']?.address;
  if (recorded !== undefined && getAddress(recorded) === gateway) return record;
  throw new CommandError(
    `${folder}/${chainId}.json records the gateway ${recorded ?? '(none)'}, but these roles give ${gateway}: correct the roles, or move the record away`,
  );
}

function writeOut(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${(error as Error).message}`);
  }
}
