import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError } from '@florin/cli';
import { payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { SigningKey } from '@florin/signing';
import {
  type Abi,
  createWalletClient,
  custom,
  encodeFunctionData,
  isAddressEqual,
  publicActions,
  TransactionReceiptNotFoundError,
} from 'viem';
import type { RpcRequest } from './deploy.ts';
import { accountOf } from './signing-account.ts';

/** One call of a contract's controller. */
export interface OperatorCall {
  /** In words, such as `lets 0x… sign orders of the gateway`. */
  readonly does: string;
  readonly to: Hex;
  readonly abi: Abi;
  readonly functionName: string;
  readonly args: readonly unknown[];
  /** Who may call: the controller; for what takes rights away the guardian too; or the controller that was offered the role. */
  readonly by: 'controller' | 'guardian' | 'pendingController';
  /** The value that shows what the call has done; absent for calls that can be repeated. */
  readonly effect?: { readonly read: string; readonly args: readonly unknown[]; readonly wanted: unknown };
}

/** A transaction for a wallet or a multisig to send. */
interface UnsentTransaction {
  readonly does: string;
  readonly from: Hex;
  readonly to: Hex;
  readonly value: '0';
  readonly data: Hex;
}

/** What became of the calls. Calls whose effect is there already are in neither list. */
export interface OperatorOutcome {
  readonly sent: readonly { readonly does: string; readonly txHash: Hex }[];
  readonly unsent: readonly UnsentTransaction[];
}

interface OperatorCalls {
  readonly request: RpcRequest;
  /** The key that sends; without it, the transactions are only returned. */
  readonly key: SigningKey | undefined;
  readonly calls: readonly OperatorCall[];
  readonly log: (sentence: string) => void;
}

const receiptTimeoutMs = 600_000;
const pollingIntervalMs = 500;

/**
 * Makes each call whose effect is not there yet, and reads the effect back. Throws a CommandError, before anything is sent, for
 * a key that may not make one of the calls; and for a call that reverts or has no effect.
 */
export async function callAsOperator({ request, key, calls, log }: OperatorCalls): Promise<OperatorOutcome> {
  const transport = custom(
    { request: ({ method, params }) => request(method, params ?? []) },
    { retryCount: 0 },
  );
  const client = createWalletClient({ transport }).extend(publicActions);
  const read = (to: Hex, abi: Abi, functionName: string, args: readonly unknown[] = []) =>
    client.readContract({ address: to, abi, functionName, args });
  const hasEffect = async ({ to, abi, effect }: OperatorCall) =>
    effect !== undefined && isSame(await read(to, abi, effect.read, effect.args), effect.wanted);
  const account = key === undefined ? undefined : accountOf(key);
  const unsent: (UnsentTransaction & { readonly call: OperatorCall })[] = [];
  for (const call of calls) {
    const { does, to, abi, functionName, args, by } = call;
    if (await hasEffect(call)) {
      log(`done before: ${does}`);
      continue;
    }
    const holders = (by === 'guardian' ? ['controller', 'guardian'] : [by]).map((role) =>
      read(to, payoutVaultAbi as Abi, role),
    );
    const [from, ...others] = (await Promise.all(holders)) as Hex[];
    if (from === undefined) throw new CommandError(`${to} is not a contract of Florin: correct the address`);
    const mayCall = [from, ...others].some(
      (each) => account === undefined || isAddressEqual(each, account.address),
    );
    if (!mayCall)
      throw new CommandError(
        `${account?.address} may not call ${functionName} of ${to}: its ${by === 'guardian' ? 'controller' : by} is ${from}`,
      );
    unsent.push({ does, from, to, value: '0', data: encodeFunctionData({ abi, functionName, args }), call });
  }
  if (account === undefined)
    return { sent: [], unsent: unsent.map(({ call: _, ...transaction }) => transaction) };
  const sent: { does: string; txHash: Hex }[] = [];
  for (const { does, to, data, call } of unsent) {
    const txHash = await client.sendTransaction({ account, to, data, chain: null });
    log(`sent: ${does}, by ${txHash}`);
    if (
      (await statusOf(client, txHash)) !== 'success' ||
      (call.effect !== undefined && !(await hasEffect(call)))
    )
      throw new CommandError(
        `the transaction ${txHash}, which ${does}, had no effect: inspect it on the chain`,
      );
    sent.push({ does, txHash });
  }
  return { sent, unsent: [] };
}

type ReceiptClient = Pick<ReturnType<typeof publicActions>, 'getTransactionReceipt'>;

async function statusOf(client: ReceiptClient, hash: Hex): Promise<'success' | 'reverted'> {
  for (let waitedMs = 0; waitedMs < receiptTimeoutMs; waitedMs += pollingIntervalMs) {
    try {
      return (await client.getTransactionReceipt({ hash })).status;
    } catch (error) {
      if (!(error instanceof TransactionReceiptNotFoundError)) throw error;
    }
    await sleep(pollingIntervalMs);
  }
  throw new CommandError(
    `the transaction ${hash} is not mined yet: look at it before you run the command again`,
  );
}

function isSame(found: unknown, wanted: unknown): boolean {
  return String(found).toLowerCase() === String(wanted).toLowerCase();
}
