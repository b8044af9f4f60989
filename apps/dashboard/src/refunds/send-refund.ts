import { ether, findKnownChain } from '@florin/protocol/known-chain.ts';
import type { Refund } from '@florin/protocol/refund.ts';
import type { Address, Chain, Hex } from 'viem';
import type { BrowserWallet } from '../proof/wallet.ts';
import { WalletStopped } from './wallet-stop.ts';

type RefundTx = NonNullable<Refund['txRequest']>;

/** One transaction of a refund, for a person and for the wallet. */
export interface RefundStep {
  readonly title: string;
  readonly tx: RefundTx;
}

const stepTitles = {
  reset_allowance: 'Reset the old approval',
  approve_exact_amount: 'Let the gateway take exactly this amount',
} as const;

/** The transactions that the wallet signs, in order; the last one moves the money. */
export function stepsOf({ prerequisites = [], txRequest }: Refund): readonly RefundStep[] {
  const before = prerequisites.map((each) => ({ title: stepTitles[each.purpose], tx: each.txRequest }));
  return txRequest === undefined
    ? before
    : [...before, { title: 'Return the money to the payer', tx: txRequest }];
}

/** Where the wallet is. `hashes` has one place for each step; a place stays empty until its step is sent. */
export interface SendProgress {
  readonly account: string;
  readonly step: number;
  readonly doing: 'sign' | 'wait';
  readonly hashes: readonly string[];
}

/** A wallet's owner may leave the fee low, so a transaction can wait for minutes. */
const receiptWaitMs = 180_000;

/** What the service knows of the refund at this moment. */
export interface KnownRefund {
  readonly status: Refund['status'];
  /** The order on chain. */
  readonly orderId: string;
  /** Micro-USD of the payment that went back, as far as that is final. */
  readonly refundedAmount: number;
}

interface Sending {
  readonly wallet: BrowserWallet;
  readonly refund: Refund;
  /** Asks the service. */
  readonly readKnown: () => Promise<KnownRefund>;
  /** Reserves the payment for this account. Called before the wallet is asked for the step that moves money. */
  readonly reserve: (account: string) => Promise<void>;
  readonly tell: (progress: SendProgress) => void;
}

async function openClient(wallet: BrowserWallet, chainId: number) {
  const { createWalletClient, custom, publicActions } = await import('viem');
  const transport = custom(
    { request: (call: WalletCall) => wallet.request(withChain(call, chainId)) },
    { retryCount: 0 },
  );
  return createWalletClient({ transport }).extend(publicActions);
}
type WalletClient = Awaited<ReturnType<typeof openClient>>;
type WalletCall = Parameters<BrowserWallet['request']>[0];

/** Names the network of a transaction, which viem leaves out: its owner may switch the wallet's while it asks. */
function withChain(call: WalletCall, chainId: number): WalletCall {
  if (!call.method.endsWith('_sendTransaction')) return call;
  const [transaction] = call.params as readonly [object];
  return { ...call, params: [{ ...transaction, chainId: `0x${chainId.toString(16)}` }] };
}

/**
 * Sends a refund from the browser's wallet: connects, switches the network, checks what the chain has, then signs step after
 * step from one account. Throws what the wallet throws, and WalletStopped for what it finds itself.
 */
export async function sendRefund({ wallet, refund, readKnown, reserve, tell }: Sending): Promise<void> {
  const { requiredBalance: needed, txRequest } = refund;
  if (needed === undefined || txRequest === undefined) return;
  const chainId = Number(needed.chainId);
  const client = await openClient(wallet, chainId);
  const [account] = await client.requestAddresses();
  if (account === undefined) throw new WalletStopped('wrong_account');
  await switchTo(client, chainId);
  await requireNotSent(client, refund, await readKnown());
  const { balance, allowance } = await fundsOf(client, {
    account,
    token: needed.tokenAddress as Address,
    spender: txRequest.to as Address,
  });
  const amount = BigInt(needed.amountInToken);
  if (balance < amount) throw new WalletStopped('short_balance', { account, balance, needed: amount });
  const steps = stepsOf(refund);
  const hashes = steps.map(() => '');
  // An approval of an earlier try still holds.
  const first = allowance >= amount ? steps.length - 1 : 0;
  for (const [index, { tx }] of steps.entries()) {
    if (index < first) continue;
    await requirePlace(client, account, chainId);
    if (index === steps.length - 1) {
      await reserve(account);
      // The approvals took a while: another person or tool may have sent the refund meanwhile.
      await requireNothingWaits(client, account);
      await requireNotSent(client, refund, await readKnown());
    }
    tell({ account, step: index, doing: 'sign', hashes: [...hashes] });
    const hash = await client.sendTransaction({
      account,
      chain: chainOf(chainId),
      to: tx.to as Address,
      data: tx.data as Hex,
      value: BigInt(tx.value),
    });
    hashes[index] = hash;
    tell({ account, step: index, doing: 'wait', hashes: [...hashes] });
    await awaitReceipt(client, hash, (next) => {
      hashes[index] = next;
      tell({ account, step: index, doing: 'wait', hashes: [...hashes] });
    });
  }
}

/**
 * Refuses to sign when the chain shows more or less money back than the service: a refund of this payment is under way, or the
 * wallet's node is behind. The gateway bounds refunds by the payment alone, so a part could otherwise go back twice.
 */
async function requireNotSent(client: WalletClient, refund: Refund, known: KnownRefund): Promise<void> {
  if (known.status !== 'requires_signature') throw new WalletStopped('ended');
  const { requiredBalance, txRequest, amount } = refund;
  if (requiredBalance === undefined || txRequest === undefined) throw new WalletStopped('ended');
  const { parseAbi } = await import('viem');
  const refunded = await client.readContract({
    address: txRequest.to as Address,
    abi: parseAbi(['function refundedOf(bytes32 orderId) view returns (uint256)']),
    functionName: 'refundedOf',
    args: [known.orderId as Hex],
  });
  const unitsPerMicroUsd = BigInt(requiredBalance.amountInToken) / BigInt(amount);
  const final = BigInt(known.refundedAmount) * unitsPerMicroUsd;
  if (refunded > final) throw new WalletStopped('under_way');
  if (refunded < final) throw new WalletStopped('behind');
}

/** A transaction that this account sent a moment ago may be this refund. */
async function requireNothingWaits(client: WalletClient, account: Address): Promise<void> {
  const count = (blockTag: 'latest' | 'pending') =>
    client.getTransactionCount({ address: account, blockTag });
  const [mined, sent] = await Promise.all([count('latest'), count('pending')]);
  if (sent > mined) throw new WalletStopped('account_busy');
}

/** The facts of a network that a wallet asks for; of one that is not public, its number alone. */
function chainOf(chainId: number): Chain {
  const network = findKnownChain(chainId)?.network;
  return {
    id: chainId,
    name: network?.title ?? `Chain ${chainId}`,
    nativeCurrency: network?.currency ?? ether,
    rpcUrls: { default: { http: network === undefined ? [] : [network.rpcUrl] } },
    ...(network === undefined
      ? {}
      : { blockExplorers: { default: { name: network.title, url: network.explorer } } }),
  };
}

/** Switches the wallet's network; a network that the wallet does not know is added where its facts are public. */
async function switchTo(client: WalletClient, chainId: number): Promise<void> {
  if ((await client.getChainId()) === chainId) return;
  try {
    await client.switchChain({ id: chainId });
  } catch (error) {
    const isUnknown = (error as { readonly code?: unknown }).code === 4902;
    if (!isUnknown || findKnownChain(chainId)?.network === undefined) throw error;
    await client.addChain({ chain: chainOf(chainId) });
    if ((await client.getChainId()) !== chainId) await client.switchChain({ id: chainId });
  }
}

/** The owner can change account and network in the wallet at any moment. */
async function requirePlace(client: WalletClient, account: Address, chainId: number): Promise<void> {
  const [current] = await client.getAddresses();
  if (current?.toLowerCase() !== account.toLowerCase()) throw new WalletStopped('wrong_account');
  if ((await client.getChainId()) !== chainId) throw new WalletStopped('wrong_network');
}

async function fundsOf(
  client: WalletClient,
  {
    account,
    token,
    spender,
  }: { readonly account: Address; readonly token: Address; readonly spender: Address },
) {
  const { erc20Abi } = await import('viem');
  const read = { address: token, abi: erc20Abi } as const;
  const [balance, allowance] = await Promise.all([
    client.readContract({ ...read, functionName: 'balanceOf', args: [account] }),
    client.readContract({ ...read, functionName: 'allowance', args: [account, spender] }),
  ]);
  return { balance, allowance };
}

/** Waits until the chain has the transaction. The wallet's owner may speed it up, which gives it another hash. */
async function awaitReceipt(client: WalletClient, hash: Hex, onHash: (hash: Hex) => void): Promise<void> {
  let isOther = false;
  const receipt = await client.waitForTransactionReceipt({
    hash,
    timeout: receiptWaitMs,
    onReplaced: ({ reason, transaction }) => {
      if (reason === 'repriced') onHash(transaction.hash);
      else isOther = true;
    },
  });
  if (isOther) throw new WalletStopped('replaced');
  if (receipt.status === 'reverted') throw new WalletStopped('reverted');
}
