import type { AccountTransaction, PayerAccount } from './account.ts';
import { type ChainClient, quantity } from './chain.ts';
import { AgentError } from './error.ts';
import { type Hex, member } from './json.ts';
import { isOver, type Outside, pause } from './outside.ts';
import type { OrderCall } from './prepared.ts';

/** A transaction that was sent or is about to be: enough to resend it, and never to send a second one. */
export interface SentTransaction {
  readonly nonce: number;
  /** The signed bytes; absent where the wallet keeps them. */
  readonly raw?: Hex;
  /** Absent until the node has accepted it. */
  readonly txHash?: Hex;
}

export interface SendOptions {
  readonly outside: Outside;
  readonly chain: ChainClient;
  readonly account: PayerAccount;
  /** Called with the signed transaction before it is sent, and again with its hash. */
  readonly note: (sent: SentTransaction) => Promise<void>;
}

const pollMs = 1_000;
/** The state may need more gas than at the block of the estimate. */
const gasMargin = { numerator: 5n, denominator: 4n } as const;

/**
 * Sends one call from the account, after all pending transactions of the account: one of them may be this very call,
 * sent before a crash. If `isDone` then says so, nothing is sent, and there is no hash. Nothing is sent either when the
 * node's simulation fails.
 */
export async function sendCall(
  options: SendOptions,
  call: OrderCall,
  isDone: () => Promise<boolean>,
): Promise<Hex | undefined> {
  await waitForPending(options);
  if (await isDone()) return undefined;
  const { chain, account, note } = options;
  const transaction = await transactionOf(options, call);
  const { nonce } = transaction;
  if (account.signTransaction !== undefined) {
    const raw = await signed(() => account.signTransaction?.(transaction));
    await note({ nonce, raw });
    const txHash = hashOf(await chain.ask('eth_sendRawTransaction', [raw]));
    await note({ nonce, raw, txHash });
    return txHash;
  }
  if (account.sendTransaction === undefined)
    throw new AgentError(
      'wallet_refused',
      'the account can sign messages only, and this payment needs a transaction',
    );
  const txHash = await signed(() => account.sendTransaction?.(transaction));
  await note({ nonce, txHash });
  return txHash;
}

/** The wallet's answer; its refusal becomes an AgentError. */
export async function signed(ask: () => Promise<Hex> | undefined): Promise<Hex> {
  try {
    const answer = await ask();
    if (answer !== undefined) return answer;
  } catch (error) {
    throw new AgentError(
      'wallet_refused',
      `the wallet did not sign: ${error instanceof Error ? error.message : ''}`,
      {
        cause: error,
      },
    );
  }
  throw new AgentError('wallet_refused', 'the wallet returned nothing');
}

function hashOf(value: unknown): Hex {
  if (typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value)) return value.toLowerCase() as Hex;
  throw new AgentError('node_unreachable', 'the node returned no transaction hash');
}

/** Waits until a block has every transaction of the account that the node knows. */
export async function waitForPending({
  outside,
  chain,
  account,
}: Pick<SendOptions, 'outside' | 'chain' | 'account'>): Promise<void> {
  for (;;) {
    const pending = await chain.transactionCount(account.address, 'pending');
    if ((await chain.transactionCount(account.address, 'latest')) >= pending) return;
    if (isOver(outside))
      throw new AgentError('payment_pending', 'an earlier transaction of the account is still pending');
    await pause(outside, pollMs);
  }
}

/** Waits until a block has the transaction; refuses one that failed there. */
export async function waitForReceipt(
  { outside, chain }: Pick<SendOptions, 'outside' | 'chain'>,
  txHash: Hex,
): Promise<void> {
  for (;;) {
    const receipt = await chain.receiptOf(txHash);
    if (receipt?.isSuccess === false)
      throw new AgentError('payment_failed', `the transaction ${txHash} failed`);
    if (receipt !== undefined) return;
    if (isOver(outside))
      throw new AgentError('payment_pending', `the transaction ${txHash} is in no block yet`);
    await pause(outside, pollMs);
  }
}

/** Resends signed bytes. A node that has them, or a later transaction, refuses them without effect. */
export async function sendAgain(chain: ChainClient, raw: Hex): Promise<void> {
  try {
    await chain.ask('eth_sendRawTransaction', [raw]);
  } catch (error) {
    if (!(error instanceof AgentError) || error.reason !== 'simulation_failed') throw error;
  }
}

async function transactionOf({ chain, account }: SendOptions, call: OrderCall): Promise<AccountTransaction> {
  const { address } = account;
  // The estimate runs the call, so a call that would fail is never sent.
  const gas = quantity(await simulate(chain, { from: address, ...call, value: '0x0' }));
  const [nonce, tip, block] = [
    await chain.transactionCount(address, 'latest'),
    quantity(await chain.ask('eth_maxPriorityFeePerGas', [])),
    await chain.ask('eth_getBlockByNumber', ['latest', false]),
  ];
  return {
    type: 'eip1559',
    chainId: chain.chainId,
    nonce,
    to: call.to,
    data: call.data,
    value: 0n,
    gas: (gas * gasMargin.numerator) / gasMargin.denominator,
    // Twice the base fee outlasts six full blocks.
    maxFeePerGas: 2n * quantity(member(block, 'baseFeePerGas') ?? '0x0') + tip,
    maxPriorityFeePerGas: tip,
  };
}

async function simulate(chain: ChainClient, call: object): Promise<unknown> {
  try {
    return await chain.ask('eth_estimateGas', [call]);
  } catch (error) {
    if (error instanceof AgentError && /insufficient funds|gas required exceeds/i.test(error.message))
      throw new AgentError('balance_short', `the account has too little coin for gas: ${error.message}`);
    throw error;
  }
}
