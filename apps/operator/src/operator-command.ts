import { mandatory, type Options, optional, UsageError } from '@florin/cli';
import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { readConfig } from '@florin/server/operator';
import type { Abi } from 'viem';
import { type ChainTarget, chainTarget, nodeOptions } from './chain-target.ts';
import type { Command, CommandContext, Commands } from './command.ts';
import { addressOption } from './evm-option.ts';
import { keyOptions, roleKey } from './key-option.ts';
import { callAsOperator, type OperatorCall, type OperatorOutcome } from './operator-call.ts';

/** The contracts of an operator on one chain. */
interface OperatorContracts {
  readonly gateway: Hex;
  readonly vault: Hex;
}

const gatewayAbi = paymentGatewayAbi as Abi;
const vaultAbi = payoutVaultAbi as Abi;

const targetOptions = [
  optional('--chain <name>', "the chain's name in the configuration, which also names gateway and vault"),
  ...nodeOptions,
  optional('--gateway <address>', 'the gateway, with --rpc'),
  optional('--vault <address>', 'the vault, with --rpc'),
  ...keyOptions('controller', "the controller's key (default: the transactions are printed)"),
];

/** A command that has the controller make some calls, or prints them. */
function operatorCommand(
  does: string,
  example: string,
  options: Command['options'],
  callsOf: (options: Options, contracts: OperatorContracts) => readonly OperatorCall[],
): Command {
  return {
    does,
    examples: [example],
    options: [...targetOptions, ...options],
    async run(given, outside) {
      const target = await chainTarget(given, outside);
      const calls = callsOf(given, contractsOption(given, outside, target));
      const key = roleKey(given, 'controller', outside);
      const outcome = await callAsOperator({ request: target.request, key, calls, log: outside.tell });
      return { text: describe(outcome), json: outcome };
    },
  };
}

const keyFiles = '--controller-keystore controller.json --controller-password-file controller.password';

export const operatorCommands: Commands = {
  'operator signer': grantCommand(
    'grants or revokes the right to sign orders and payouts, on gateway and vault',
    `operator signer --chain base --grant 0x… ${keyFiles}`,
    'the key that signs',
    { role: 'signer', set: 'setSigner', read: 'isSigner' },
  ),
  'operator settler': grantCommand(
    'grants or revokes the right to settle, refund and pay out, on gateway and vault',
    `operator settler --chain base --revoke 0x… ${keyFiles}`,
    'the wallet that settles',
    { role: 'settler', set: 'setSettler', read: 'isSettler' },
  ),
  'operator guardian': operatorCommand(
    'replaces the guardian of gateway and vault',
    'operator guardian --chain base --to 0x…',
    [mandatory('--to <address>', 'the next guardian')],
    (options, contracts) => {
      const to = addressOption(options, 'to');
      return onBoth(contracts, (name) => ({
        ...{ does: `makes ${to} guardian of the ${name}`, functionName: 'setGuardian', args: [to] },
        ...{ by: 'controller', effect: { read: 'guardian', args: [], wanted: to } },
      }));
    },
  ),
  'operator fee-recipient': operatorCommand(
    'replaces the receiver of fees',
    'operator fee-recipient --chain base --to 0x…',
    [mandatory('--to <address>', 'the next receiver of fees')],
    (options, { gateway }) => {
      const to = addressOption(options, 'to');
      return [
        {
          ...{
            does: `sends fees to ${to}`,
            to: gateway,
            abi: gatewayAbi,
            functionName: 'setFeeRecipient',
            args: [to],
          },
          ...{ by: 'controller', effect: { read: 'feeRecipient', args: [], wanted: to } },
        },
      ];
    },
  ),
  'operator caps': operatorCommand(
    'sets how much of a token may leave the vault, in its smallest units',
    `operator caps --chain base --token 0x… --per-order 1000000000 --hourly 5000000000 --daily 20000000000 ${keyFiles}`,
    [
      mandatory('--token <address>', 'the token'),
      mandatory('--per-order <units>', 'the most for one order; zero forbids the token'),
      mandatory('--hourly <units>', 'the most in a clock hour'),
      mandatory('--daily <units>', 'the most in a clock day'),
    ],
    (options, { vault }) => {
      const token = addressOption(options, 'token');
      const caps = ['per-order', 'hourly', 'daily'].map((name) =>
        unitsOption(options, name, 2n ** 112n - 1n),
      );
      const does = `sets the vault's caps for ${token} to ${caps.join(', ')}`;
      return [
        { does, to: vault, abi: vaultAbi, functionName: 'setCaps', args: [token, ...caps], by: 'controller' },
      ];
    },
  ),
  'operator withdraw': operatorCommand(
    'takes float out of the vault',
    `operator withdraw --chain base --token 0x… --to 0x… --amount 1000000000 ${keyFiles}`,
    [
      mandatory('--token <address>', 'the token'),
      mandatory('--to <address>', 'who receives it'),
      mandatory('--amount <units>', "in the token's smallest units"),
    ],
    (options, { vault }) => {
      const [token, to] = [addressOption(options, 'token'), addressOption(options, 'to')];
      const amount = unitsOption(options, 'amount', 2n ** 256n - 1n);
      if (amount === 0n) throw new UsageError('--amount is 0: give what is to be withdrawn');
      const does = `withdraws ${amount} of ${token} from the vault to ${to}`;
      return [
        {
          does,
          to: vault,
          abi: vaultAbi,
          functionName: 'withdraw',
          args: [token, to, amount],
          by: 'controller',
        },
      ];
    },
  ),
  'operator pause': operatorCommand(
    'stops new payments and payouts; settle, refund and reclaim go on',
    `operator pause --chain base ${keyFiles}`,
    [],
    (_, contracts) => onBoth(contracts, pauseCall('pause', 'guardian', true)),
  ),
  'operator unpause': operatorCommand(
    'lets payments and payouts go on',
    'operator unpause --chain base',
    [],
    (_, contracts) => onBoth(contracts, pauseCall('unpause', 'controller', false)),
  ),
  'operator offer': operatorCommand(
    'offers the role of controller, which the next one has to accept, on gateway and vault',
    'operator offer --chain base --to 0x…',
    [mandatory('--to <address>', 'the next controller, such as a Safe')],
    (options, contracts) => {
      const to = addressOption(options, 'to');
      return onBoth(contracts, (name) => ({
        ...{
          does: `offers ${to} the control of the ${name}`,
          functionName: 'transferController',
          args: [to],
        },
        ...{ by: 'controller', effect: { read: 'pendingController', args: [], wanted: to } },
      }));
    },
  ),
  'operator accept': operatorCommand(
    'takes the role of controller that was offered, on gateway and vault',
    'operator accept --chain base --controller 0x…',
    [mandatory('--controller <address>', 'who takes it')],
    (options, contracts) => {
      const controller = addressOption(options, 'controller');
      return onBoth(contracts, (name) => ({
        ...{ does: `takes the control of the ${name}`, functionName: 'acceptController', args: [] },
        ...{ by: 'pendingController', effect: { read: 'controller', args: [], wanted: controller } },
      }));
    },
  ),
};

type SharedCall = Omit<OperatorCall, 'to' | 'abi'>;

function pauseCall(functionName: string, by: OperatorCall['by'], wanted: boolean) {
  return (name: string): SharedCall => ({
    ...{ does: `${functionName}s the ${name}`, functionName, args: [], by },
    effect: { read: 'paused', args: [], wanted },
  });
}

/** A command about a role that gateway and vault both know: the controller grants it, the guardian may revoke it too. */
function grantCommand(
  does: string,
  example: string,
  who: string,
  { role, set, read }: { readonly role: string; readonly set: string; readonly read: string },
): Command {
  return operatorCommand(does, example, grantOptions(who), (options, contracts) => {
    const { account, isGranted, verb } = grantOf(options);
    return onBoth(contracts, (name) => ({
      ...{ does: `${verb} ${account} as ${role} of the ${name}`, functionName: set },
      ...{ args: [account, isGranted], by: isGranted ? 'controller' : 'guardian' },
      effect: { read, args: [account], wanted: isGranted },
    }));
  });
}

/** The same call on gateway and vault. */
function onBoth({ gateway, vault }: OperatorContracts, call: (name: string) => SharedCall): OperatorCall[] {
  return [
    { ...call('gateway'), to: gateway, abi: gatewayAbi },
    { ...call('vault'), to: vault, abi: vaultAbi },
  ];
}

function grantOptions(what: string) {
  return [
    optional('--grant <address>', `${what}, from now on`),
    optional('--revoke <address>', `${what}, which loses the right`),
  ];
}

function grantOf(options: Options) {
  const isGranted = options.optional('grant') !== undefined;
  if (isGranted === (options.optional('revoke') !== undefined))
    throw new UsageError('give either --grant or --revoke');
  const account = addressOption(options, isGranted ? 'grant' : 'revoke');
  return { account, isGranted, verb: isGranted ? 'grants' : 'revokes' };
}

/** A whole number of a token's smallest units. */
function unitsOption(options: Options, name: string, most: bigint): bigint {
  const text = options.required(name);
  if (!/^(0|[1-9][0-9]{0,77})$/.test(text) || BigInt(text) > most)
    throw new UsageError(`--${name} is ${text}: give a whole number of the token's smallest units`);
  return BigInt(text);
}

/** Gateway and vault of the configured chain, or of the options where a node is given. */
function contractsOption(
  options: Options,
  outside: CommandContext,
  { chainId }: ChainTarget,
): OperatorContracts {
  if (options.optional('rpc') !== undefined)
    return { gateway: addressOption(options, 'gateway'), vault: addressOption(options, 'vault') };
  const chain = readConfig(outside.environment).chains.byId(chainId);
  if (chain === undefined) throw new UsageError('give --chain, or --rpc with --gateway and --vault');
  return { gateway: chain.gateway, vault: chain.vault };
}

function describe({ sent, unsent }: OperatorOutcome): string {
  if (unsent.length > 0) {
    const lines = unsent.map(
      ({ does, from, to, data }) => `${does}\n  from  ${from}\n  to    ${to}\n  value 0\n  data  ${data}`,
    );
    return ['no key was given. Send from the controller, in this order:', ...lines].join('\n');
  }
  return sent.length === 0 ? 'nothing to do' : `done: ${sent.map(({ does }) => does).join('; ')}`;
}
