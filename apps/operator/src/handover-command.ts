import { mandatory, type Options, optional, UsageError } from '@florin/cli';
import type { SigningKey } from '@florin/signing';
import { getAddress } from 'viem';
import { chainTarget, nodeOptions } from './chain-target.ts';
import type { Commands } from './command.ts';
import { deploymentsFolder, readRecord, recordOption, writeRecord } from './deployment-record.ts';
import { addressOption } from './evm-option.ts';
import { type Handover, handOver } from './handover.ts';
import { keyOptions, roleKey } from './key-option.ts';
import { deployTimelock, planTimelock } from './timelock-deploy.ts';

const defaultMinDelaySeconds = 172_800n;

export const handoverCommands: Commands = {
  handover: {
    does: 'moves the controller role of gateway and vault to a time lock that only a multisig can use, step by step',
    examples: [
      'handover --chain base --gateway 0x… --vault 0x… --to 0x… --controller-keystore controller.json --controller-password-file controller.password',
    ],
    options: [
      optional('--chain <name>', "the chain's name in the configuration"),
      mandatory('--gateway <address>', 'the gateway whose controller changes'),
      mandatory('--vault <address>', 'the vault whose controller changes'),
      mandatory('--to <address>', 'the multisig that may use the time lock'),
      optional('--timelock <address>', 'the time lock that becomes controller (default: one is deployed)'),
      ...keyOptions('controller', 'the key of the present controller'),
      optional(
        '--min-delay <seconds>',
        'the delay that the time lock has, or must have at least (default: two days)',
      ),
      ...nodeOptions,
      recordOption,
    ],
    async run(options, outside) {
      const multisig = addressOption(options, 'to');
      const gateway = addressOption(options, 'gateway');
      const vault = addressOption(options, 'vault');
      const controllerKey = roleKey(options, 'controller', outside);
      const key = controllerKey === undefined ? {} : { controllerKey };
      const minDelaySeconds = minDelayOption(options);
      const target = await chainTarget(options, outside);
      const planned = planTimelock(multisig, minDelaySeconds);
      const isGiven = options.optional('timelock') !== undefined;
      const timelock = isGiven ? addressOption(options, 'timelock') : planned.address;
      if (!isGiven)
        await deployTimelock(planned, {
          request: target.request,
          log: outside.tell,
          ...paying(controllerKey),
        });
      const handover = await handOver({
        ...{ ...target, ...key, gateway, vault, timelock, multisig, minDelaySeconds, log: outside.tell },
      });
      if (handover.state === 'done') {
        const folder = options.optional('record') ?? deploymentsFolder;
        const record = readRecord(folder, target.chainId);
        const recorded = record?.contracts['PaymentGateway']?.address;
        if (record !== undefined && recorded !== undefined && getAddress(recorded) === gateway) {
          outside.tell(`recorded in ${writeRecord(folder, { ...record, controller: timelock })}`);
        }
      }
      return { text: describe(handover), json: handover };
    },
  },
};

function paying(key: SigningKey | undefined): { readonly key?: SigningKey } {
  return key === undefined ? {} : { key };
}

function minDelayOption(options: Options): bigint {
  const text = options.optional('min-delay');
  if (text === undefined) return defaultMinDelaySeconds;
  if (!/^[1-9][0-9]{0,9}$/.test(text)) throw new UsageError(`--min-delay is ${text}: give whole seconds`);
  return BigInt(text);
}

function describe({ state, readyAtSeconds, next }: Handover): string {
  if (state === 'done')
    return 'done: the time lock is controller of gateway and vault, and no other controller is pending';
  if (next === undefined) {
    const at = new Date(Number(readyAtSeconds) * 1_000).toISOString();
    return `scheduled: run this command again after ${at}`;
  }
  return [
    `${state}: the multisig must send this transaction, which ${next.does};`,
    'then run this command again.',
    `to    ${next.to}`,
    'value 0',
    `data  ${next.data}`,
  ].join('\n');
}
