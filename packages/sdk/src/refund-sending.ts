import { refuseUnknown } from './argument.ts';
import type { Send } from './client.ts';
import { FlorinError, wrongArgument } from './error.ts';
import type { SdkOutside } from './outside.ts';
import { type OpenWallet, openWallet, type RefundWallet, type WalletTransaction } from './wallet.ts';
import type { Refund } from './wire.gen.ts';

export interface SendRefundOptions {
  /**
   * The account that pays the refund. When absent it is the wallet that the payment was settled to, for which the key needs
   * `sessions:read`. A wallet with another account is refused.
   */
  readonly from?: string | undefined;
  /** The longest wait for one transaction, in milliseconds; three minutes when absent. */
  readonly timeoutMs?: number | undefined;
  /** The pause between two looks for it, in milliseconds; a second when absent. */
  readonly pollMs?: number | undefined;
}

/** A refund whose transaction is in a block. It counts once that block is final. */
export interface SentRefund {
  readonly refundId: string;
  readonly txHash: string;
}

interface Sending {
  readonly send: Send;
  readonly outside: SdkOutside;
  readonly refund: Refund;
  readonly wallet: RefundWallet;
  readonly options: SendRefundOptions | undefined;
}

const optionNames = ['from', 'timeoutMs', 'pollMs'] as const satisfies readonly (keyof SendRefundOptions)[];
const defaultTimeoutMs = 180_000;
const defaultPollMs = 1_000;
/** The first four bytes of the hash of each signature. */
const selectors = {
  balanceOf: '0x70a08231', // balanceOf(address)
  allowance: '0xdd62ed3e', // allowance(address,address)
  refundedOf: '0x21d64cd6', // refundedOf(bytes32)
} as const;

/**
 * Sends the transactions of a refund from the merchant's wallet, and resolves once the last one is in a block. The gateway
 * bounds refunds by the payment alone: so nothing is signed while the account has a transaction that waits, or while the chain
 * and the service show different sums for the payment.
 */
export async function sendRefund(sending: Sending): Promise<SentRefund> {
  refuseUnknown(sending.options, optionNames);
  const { refund } = sending;
  const { requiredBalance: needed, txRequest, prerequisites = [] } = refund;
  if (refund.status !== 'requires_signature' || needed === undefined || txRequest === undefined)
    throw over(refund);
  const wallet = await openWallet(sending.wallet);
  await requireAccount(sending, wallet);
  if (quantity(await wallet.ask('eth_chainId', [])) !== BigInt(needed.chainId))
    throw new FlorinError('wallet_elsewhere', `connect the wallet to chain ${needed.chainId}`);
  await requireNotSent(sending, wallet);
  const amount = BigInt(needed.amountInToken);
  const owner = word(wallet.address);
  const balance = await read(wallet, needed.tokenAddress, selectors.balanceOf + owner);
  if (balance < amount)
    throw new FlorinError(
      'balance_short',
      `the account holds ${balance} of the ${amount} units of ${needed.tokenId}`,
    );
  const allowance = await read(wallet, needed.tokenAddress, selectors.allowance + owner + word(txRequest.to));
  // An approval of an earlier try still holds.
  for (const each of allowance >= amount ? [] : prerequisites)
    await awaitReceipt(sending, wallet, await wallet.send(transactionOf(each.txRequest)));
  // The approvals took a while: another person or tool may have sent the refund meanwhile.
  await requireNotSent(sending, wallet);
  const txHash = await wallet.send(transactionOf(txRequest));
  await awaitReceipt(sending, wallet, txHash);
  return { refundId: refund.refundId, txHash };
}

function over({ refundId, status }: Pick<Refund, 'refundId' | 'status'>): FlorinError {
  const is =
    status === 'requires_signature' ? 'requires a signature that the operator must look at' : `is ${status}`;
  return new FlorinError('refund_over', `${refundId} ${is}: there is nothing to sign`);
}

/** Refuses an account that the merchant does not mean: the contract takes the money from any. */
async function requireAccount({ send, refund, options }: Sending, { address }: OpenWallet): Promise<void> {
  const { from }: SendRefundOptions = Object(options);
  if (from !== undefined && !/^0x[0-9a-f]{40}$/i.test(from))
    throw wrongArgument('from', 'from is the address of an account: 0x and 40 hexadecimal digits');
  const { sessionId } = refund;
  const expected = from ?? (await send('getSession', { params: { sessionId } })).session.recipient;
  if (expected.toLowerCase() === address.toLowerCase()) return;
  const what = from === undefined ? `the payment was settled to ${expected}` : `from is ${expected}`;
  const way = from === undefined ? 'connect that account, or name this one as from' : 'connect that account';
  throw new FlorinError('account_wrong', `${what}, and the wallet sends from ${address}: ${way}`);
}

/** Refuses while a refund of this payment may be under way, or where the wallet's node is behind. */
async function requireNotSent({ send, refund }: Sending, wallet: OpenWallet): Promise<void> {
  const count = async (block: 'latest' | 'pending') =>
    quantity(await wallet.ask('eth_getTransactionCount', [wallet.address, block]));
  // First: what is mined meanwhile then shows in the sum.
  if ((await count('pending')) > (await count('latest')))
    throw new FlorinError('account_busy', 'the account has a transaction in no block: it may be this refund');
  const now = await send('getRefund', { params: { refundId: refund.refundId } });
  const { requiredBalance, txRequest, refundedAmount, orderId, amount } = now;
  if (requiredBalance === undefined || txRequest === undefined || refundedAmount === undefined)
    throw over(now);
  const unitsPerMicroUsd = BigInt(requiredBalance.amountInToken) / BigInt(amount);
  const final = BigInt(refundedAmount) * unitsPerMicroUsd;
  const onChain = await read(wallet, txRequest.to, selectors.refundedOf + word(orderId));
  if (onChain > final)
    throw new FlorinError(
      'refund_under_way',
      'the chain shows a refund of this payment that is not final: wait for it',
    );
  if (onChain < final)
    throw new FlorinError(
      'node_behind',
      'the wallet’s node does not show an earlier refund of this payment yet',
    );
}

async function awaitReceipt(
  { outside, options }: Sending,
  wallet: OpenWallet,
  txHash: string,
): Promise<void> {
  const { timeoutMs = defaultTimeoutMs, pollMs = defaultPollMs }: SendRefundOptions = Object(options);
  const endMs = outside.now() + timeoutMs;
  for (;;) {
    const receipt = await wallet.ask('eth_getTransactionReceipt', [txHash]);
    const { status } = Object(receipt) as { status?: unknown };
    if (status === '0x1') return;
    if (status !== undefined)
      throw new FlorinError('transaction_failed', `${txHash} failed on chain and moved nothing`);
    if (outside.now() >= endMs)
      throw new FlorinError('transaction_unseen', `${txHash} is in no block yet: look in the wallet`);
    await outside.pause(pollMs, undefined);
  }
}

function transactionOf({ to, data, value }: NonNullable<Refund['txRequest']>): WalletTransaction {
  return { to: hex(to), data: hex(data), value: BigInt(value) };
}

async function read(wallet: OpenWallet, to: string, data: string): Promise<bigint> {
  return quantity(await wallet.ask('eth_call', [{ to, data }, 'latest']));
}

/** A number as nodes write it. */
function quantity(value: unknown): bigint {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value);
  throw new FlorinError('wallet_refused', 'the wallet’s node answered no number');
}

function hex(text: string): `0x${string}` {
  if (!/^0x[0-9a-f]*$/i.test(text))
    throw new FlorinError('answer_invalid', 'the service answered no hexadecimal text');
  return text as `0x${string}`;
}

/** An argument of a call: 32 bytes. */
function word(value: string): string {
  return hex(value).slice(2).toLowerCase().padStart(64, '0');
}
