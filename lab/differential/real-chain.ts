import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { erc20Abi, paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { create2Deployer, planContract } from '@florin/server/operator';
import { deployWorld, deriveRoles, startAnvil, TEST_MNEMONIC, type WorldRoles } from '@florin/world';
import {
  type Abi,
  concat,
  decodeErrorResult,
  encodeFunctionData,
  getAddress,
  parseAbi,
  zeroHash,
} from 'viem';
import { batchCode } from '../simulation/batch.ts';
import type { Call } from '../simulation/contract-state.ts';
import { Ipc, NodeError } from './ipc.ts';

/** The chain's result of a call. */
export interface RealResult {
  /** The error's name. Empty on success. */
  readonly reverted: string;
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[];
}

/** The contracts and tokens of one real chain, and the roles on it. */
export interface RealChain {
  readonly roles: WorldRoles;
  readonly gateway: Hex;
  readonly vault: Hex;
  readonly route: Hex;
  readonly transmitter: Hex;
  readonly messenger: Hex;
  /** The first token can cross by CCTP. */
  readonly tokens: readonly [Hex, Hex];
  /** Returns to the state after the deployment. Resolves to that state's time in seconds. */
  restart(): Promise<number>;
  /** A contract that makes several calls at once (`../simulation/batch.ts`). It holds tokens and may settle. */
  readonly batcher: Hex;
  /** Sets the gateway's fee recipient until the next restart. */
  setFeeRecipient(to: Hex): Promise<void>;
  /** The gateway's accrued fees of a token. */
  accruedFees(token: Hex): Promise<bigint>;
  /** Executes a call in a separate block at this time. */
  execute(call: Call, timeSeconds: number): Promise<RealResult>;
  balanceOf(token: Hex, holder: Hex): Promise<bigint>;
  close(): Promise<void>;
}

export const realChainId = 31_337;
const gas = '0x7a1200';
const batcher: Hex = getAddress(`0x${'ba'.repeat(20)}`);
const cap = 10n ** 11n;
/** Errors of all contracts. Both ABIs include their libraries' errors. */
const errorsAbi = parseAbi([
  'error Unauthorized(address caller)',
  'error ZeroAddress()',
  'error ContractPaused()',
  'error ContractNotPaused()',
  'error Reentered()',
  'error NotPayer(address caller, address payer)',
  'error PaymentDeadlinePassed(uint64 payBy)',
  'error ReclaimTooEarly(uint64 reclaimAt)',
  'error WrongReclaimTime(uint64 payBy, uint64 reclaimAt)',
  'error UnsupportedOrderType(uint8 orderType)',
  'error WrongTargetChain(uint64 targetChain)',
  'error WrongVia(uint8 orderType, address via)',
  'error WrongAmounts(uint256 total, uint256 payment, uint256 fee)',
  'error WrongRecipient(address to)',
  'error InvalidSignature()',
  'error MetaDataUsed(bytes32 metaData)',
  'error OrderNotOpen(bytes32 orderId, uint8 status)',
  'error OrderNotSettled(bytes32 orderId, uint8 status)',
  'error WrongRefund(uint256 amount, uint256 remaining)',
  'error StillCollectable(bytes32 orderId)',
  'error NothingToRescue(address receiver, address token)',
  'error NothingToWithdraw(address token)',
  'error LengthMismatch(uint256 payouts, uint256 signatures)',
  'error TransferFailed(address token)',
  'error InexactTransfer(address token, uint256 expected, uint256 moved)',
  'error BalanceUnavailable(address token)',
  'error InsufficientGas()',
  'error Permit2Failed()',
]);

/** Starts a chain, deploys the contracts and opens a local socket. */
export async function startRealChain(): Promise<RealChain> {
  const folder = await mkdtemp(join(tmpdir(), 'florin-differential-'));
  const path = join(folder, 'anvil.ipc');
  const extraArguments = ['--ipc', path];
  const anvil = await startAnvil({
    name: 'ethereum',
    chainId: realChainId,
    mining: 'manual',
    extraArguments,
  });
  const roles = deriveRoles(TEST_MNEMONIC);
  const deployed = await deployWorld(anvil, roles);
  const ipc = await Ipc.open(path);
  const second = planContract('LocalUsdc', { name: 'Euro', symbol: 'EURC', minter: roles.admin.address });
  const [first] = deployed.tokens;
  const { cctp } = deployed;
  if (first === undefined || cctp === undefined) throw new Error('a world without USDC or CCTP');
  const send = async (from: Hex, to: Hex, data: Hex) => {
    const hash = await ipc.call('eth_sendTransaction', [{ from, to, data, gas }]);
    await ipc.call('evm_mine');
    return hash as Hex;
  };
  const admin = roles.admin.address;
  await send(admin, create2Deployer, concat([zeroHash, second.initCode]));
  await ipc.call('anvil_setCode', [batcher, batchCode]);
  const holders = [...roles.payers.map(({ address }) => address), deployed.vault, batcher];
  await setUp(send, admin, { ...deployed, tokens: [first.address, second.address], holders });
  let snapshot = await ipc.call('evm_snapshot');
  const { gateway, vault } = deployed;
  const { route, transmitter, messenger } = cctp;
  return {
    ...{ roles, gateway, vault, route, transmitter, messenger, tokens: [first.address, second.address] },
    batcher,
    async setFeeRecipient(to) {
      const args = [to] as const;
      const abi = paymentGatewayAbi;
      await send(admin, gateway, encodeFunctionData({ abi, functionName: 'setFeeRecipient', args }));
    },
    async accruedFees(token) {
      const args = [token] as const;
      const data = encodeFunctionData({ abi: paymentGatewayAbi, functionName: 'accruedFees', args });
      return BigInt((await ipc.call('eth_call', [{ to: gateway, data }, 'latest'])) as Hex);
    },
    async restart() {
      await ipc.call('evm_revert', [snapshot]);
      snapshot = await ipc.call('evm_snapshot');
      const block = (await ipc.call('eth_getBlockByNumber', ['latest', false])) as { timestamp: Hex };
      return Number(block.timestamp);
    },
    async execute(call, timeSeconds) {
      await ipc.call('evm_setNextBlockTimestamp', [timeSeconds]);
      const hash = await send(call.from, call.to, call.data);
      const receipt = (await ipc.call('eth_getTransactionReceipt', [hash])) as Receipt;
      if (receipt.status === '0x1') return { reverted: '', logs: receipt.logs };
      return { reverted: await errorOf(ipc, call), logs: [] };
    },
    async balanceOf(token, holder) {
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [holder] });
      return BigInt((await ipc.call('eth_call', [{ to: token, data }, 'latest'])) as Hex);
    },
    async close() {
      ipc.close();
      await anvil.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

interface Receipt {
  readonly status: Hex;
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[];
}

/** Enables the vault's second token, makes the batcher a settler, and gives both tokens to all accounts. */
async function setUp(
  send: (from: Hex, to: Hex, data: Hex) => Promise<Hex>,
  admin: Hex,
  given: {
    readonly gateway: Hex;
    readonly vault: Hex;
    readonly tokens: readonly [Hex, Hex];
    readonly holders: readonly Hex[];
  },
): Promise<void> {
  const { gateway, vault, tokens, holders } = given;
  const mintAbi: Abi = parseAbi(['function mint(address to, uint256 amount) returns (bool)']);
  const args = [tokens[1], cap, cap * 3n, cap * 5n] as const;
  await send(admin, vault, encodeFunctionData({ abi: payoutVaultAbi, functionName: 'setCaps', args }));
  const settler = { functionName: 'setSettler', args: [batcher, true] } as const;
  await send(admin, gateway, encodeFunctionData({ abi: paymentGatewayAbi, ...settler }));
  await send(admin, vault, encodeFunctionData({ abi: payoutVaultAbi, ...settler }));
  for (const holder of holders)
    for (const token of holder === batcher ? tokens : [tokens[1]])
      await send(
        admin,
        token,
        encodeFunctionData({ abi: mintAbi, functionName: 'mint', args: [holder, cap] }),
      );
}

/** The error of a call that has just reverted in a block. State and time are still the same. */
async function errorOf(ipc: Ipc, { from, to, data }: Call): Promise<string> {
  try {
    await ipc.call('eth_call', [{ from, to, data, gas }, 'latest']);
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return typeof error.data === 'string' ? nameOf(error.data as Hex) : error.message;
  }
  throw new Error('a call that reverted in its block succeeds after it');
}

function nameOf(data: Hex): string {
  try {
    const { errorName } = decodeErrorResult({ abi: errorsAbi, data });
    // The token's own error messages.
    return String(errorName) === 'Error' ? 'other' : errorName;
  } catch {
    return 'other';
  }
}
