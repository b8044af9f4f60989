import { writeFileSync } from 'node:fs';
import { CommandError, mandatory, type Options, optional, UsageError } from '@florin/cli';
import type { Hex } from '@florin/protocol/order.ts';
import { type ContractRoles, circleFor, planContracts, type RoleSetting } from '@florin/server/operator';
import { getAddress } from 'viem';
import { type ChainTarget, chainTarget, nodeOptions } from './chain-target.ts';
import { type Commands, chainOption } from './command.ts';
import { deployContracts } from './deploy.ts';
import {
  type DeploymentRecord,
  deploymentsFolder,
  readRecord,
  recordOf,
  recordOption,
  writeRecord,
  writeSources,
} from './deployment-record.ts';
import { addressOption } from './evm-option.ts';
import { keyOptions, roleKey } from './key-option.ts';

const cctpChoices = ['circle', 'none'] as const;

export const deployCommands: Commands = {
  deploy: {
    does: 'deploys the contracts to a chain and sets them up; the same operator has the same addresses on every chain',
    examples: [
      'deploy --chain base --rpc https://node.example.com --chain-id 8453 --operator 0x… --guardian 0x… --order-signer 0x… ' +
        '--settler 0x… --fee-recipient 0x… --deployer-keystore deployer.json --deployer-password-file deployer.password --out base.json',
    ],
    options: [
      chainOption,
      mandatory('--operator <address>', 'controls the contracts at first; their addresses follow from it'),
      mandatory('--settler <address>', 'the wallet that sends settlements'),
      mandatory('--order-signer <address>', 'the key that signs orders'),
      mandatory('--guardian <address>', 'may pause the contracts'),
      mandatory('--fee-recipient <address>', 'receives the fees'),
      ...keyOptions('deployer', 'the key that pays for the deployment'),
      ...keyOptions(
        'controller',
        "the controller's key, which sets up new contracts (default: the deployer's)",
      ),
      ...nodeOptions,
      optional('--cctp <route>', 'whether to deploy a route through CCTP (default: circle)').choices(
        cctpChoices,
      ),
      optional('--out <file>', 'also write the settings to this file'),
      recordOption,
    ],
    async run(options, outside) {
      const name = options.required('chain');
      const operatorId = addressOption(options, 'operator');
      const roles = rolesOf(options);
      const deployerKey = roleKey(options, 'deployer', outside);
      if (deployerKey === undefined)
        throw new UsageError('give --deployer-keystore or --deployer-signer, which pays for the deployment');
      const controllerKey = roleKey(options, 'controller', outside);
      const target = await chainTarget(options, outside);
      const cctp = options.choice('cctp', cctpChoices) === 'none' ? undefined : circleFor(target.chainId);
      const folder = options.optional('record') ?? deploymentsFolder;
      const known = knownRecord(folder, target, planContracts(operatorId).gateway.address);
      // After a handover the chain has another controller than at first.
      const controller = known?.controller ?? operatorId;
      const { gateway, vault, startBlock, pending, ...deployed } = await deployContracts({
        ...{ ...target, operatorId, roles, deployerKey, controller, log: outside.tell },
        ...(cctp === undefined ? {} : { cctp }),
        ...(controllerKey === undefined ? {} : { controllerKey }),
      });
      if (pending.length > 0) return describePending(controller, pending);
      const deployment = { ...deployed, gateway, vault, startBlock, pending };
      const record = recordOf(target.chainId, { operatorId, roles, controller, deployment });
      outside.tell(`recorded in ${writeRecord(folder, record)}`);
      outside.tell(`${writeSources(folder, target.chainId)} is for florin verify`);
      const settings = {
        name,
        chainId: String(target.chainId),
        gateway,
        vault,
        startBlock: String(startBlock),
      };
      const text = JSON.stringify(settings, undefined, 2);
      const out = options.optional('out');
      if (out !== undefined) writeOut(out, `${text}\n`);
      return {
        text: `add these settings to the chain ${name} in the configuration:\n${text}`,
        json: settings,
      };
    },
  },
};

/** The transactions that the controller has to send, for a wallet or a multisig. */
function describePending(controller: Hex, pending: readonly RoleSetting[]) {
  const transactions = pending.map(({ what, to, data }) => ({ does: `sets ${what}`, to, value: '0', data }));
  const lines = transactions.map(
    ({ does, to, data }) => `${does}\n  to    ${to}\n  value 0\n  data  ${data}`,
  );
  return {
    text: [
      `the contracts exist, and their controller ${controller} must set them up. Send from it, in this order:`,
      ...lines,
      'then run this command again.',
    ].join('\n'),
    json: { controller, transactions },
  };
}

function rolesOf(options: Options): ContractRoles {
  return {
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
    `${folder}/${chainId}.json records the gateway ${recorded ?? '(none)'}, but this operator has ${gateway}: correct --operator, or move the record away`,
  );
}

function writeOut(path: string, text: string): void {
  try {
    writeFileSync(path, text);
  } catch (error) {
    throw new CommandError(`${path} cannot be written: ${(error as Error).message}`);
  }
}
