import { erc20Abi, paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex, Order } from '@florin/protocol/order.ts';
import {
  type Abi,
  type AbiEvent,
  encodeAbiParameters,
  encodeEventTopics,
  getAddress,
  parseAbi,
  zeroHash,
} from 'viem';
import type { CallInProgress, ModelLog } from './contract-state.ts';

/** Events of tokens and of CCTP, which the ABIs of gateway and vault leave out. */
const otherAbi = parseAbi([
  'event Mint(address indexed minter, address indexed to, uint256 amount)',
  'event Burn(address indexed burner, uint256 amount)',
  'event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce)',
  'event Burnt(bytes32 indexed orderId, address indexed to, address indexed token, uint256 amount, uint64 targetChain, uint32 domain)',
  'event MessageReceived(address indexed caller, uint32 sourceDomain, bytes32 indexed nonce, bytes32 sender, uint32 indexed finalityThresholdExecuted, bytes messageBody)',
]);

type Values = Readonly<Record<string, unknown>>;

/** Logs an event of the gateway by the contract's own ABI, so that production parsers can read it. */
export function logGateway(run: CallInProgress, name: string, values: Values): void {
  run.logs.push(logOf(paymentGatewayAbi, run.context.gateway, name, values));
}

export function logVault(run: CallInProgress, name: string, values: Values): void {
  run.logs.push(logOf(payoutVaultAbi, run.context.vault, name, values));
}

/** Logs an event of a token or of a CCTP contract. */
export function logOther(run: CallInProgress, address: Hex, name: string, values: Values): void {
  run.logs.push(
    logOf(name === 'Transfer' || name === 'Approval' ? tokenAbi : otherAbi, address, name, values),
  );
}

const tokenAbi: Abi = [
  ...(erc20Abi as Abi).filter((item) => item.type !== 'event'),
  ...parseAbi([
    'event Transfer(address indexed from, address indexed to, uint256 value)',
    'event Approval(address indexed owner, address indexed spender, uint256 value)',
  ]),
];

export function logSettled(run: CallInProgress, orderId: Hex, order: Order, to: Hex): void {
  const { channelId, metaData, token, total, fee } = order;
  logGateway(run, 'Settled', {
    orderId,
    channelId,
    to,
    token,
    netValue: total - fee,
    feeValue: fee,
    metaData,
  });
}

function logOf(abi: Abi, address: Hex, name: string, values: Values): ModelLog {
  const event = abi.find((item): item is AbiEvent => item.type === 'event' && item.name === name);
  if (event === undefined) throw new Error(`no event ${name}`);
  const plain = event.inputs.filter((input) => input.indexed !== true);
  const topics = encodeEventTopics({ abi: [event], eventName: name, args: addressed(values) });
  const orderId = values['orderId'];
  return {
    address: address.toLowerCase() as Hex,
    topics: topics.map((topic) => String(topic).toLowerCase() as Hex),
    data: encodeAbiParameters(
      plain,
      plain.map((input) => values[input.name ?? '']),
    ),
    name,
    orderId: typeof orderId === 'string' ? (orderId as Hex) : zeroHash,
  };
}

/** viem requires checksummed addresses. */
function addressed(values: Values): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'string' && value.length === 42 ? getAddress(value) : value,
    ]),
  );
}
