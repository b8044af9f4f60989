import type { Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { PayerChain } from '#authorizations/signature.ts';
import type { SendPlan } from '#chains/sender/sender.ts';
import type { Clock } from '#outside/clock.ts';
import { lockBudgets, smartAccountFailures } from './submission.sql.ts';

const dayMs = 86_400_000;

/** What payers with code may cost: it can tell a simulation from its transaction, use up the gas of that, and refuse to pay. */
export interface SmartAccountLimits {
  /** Units of gas of one payment's transaction. */
  readonly perPayment: number;
  /** Payments of a merchant's payers that fail within 24 hours, counted with those that may fail yet. */
  readonly failuresPerMerchant: number;
}

/**
 * Whether there is code at the payer's address, an EIP-7702 delegation too. Refuses a payment of such a payer that fails once
 * more in its very transaction (100611): from the wallet, at the gas limit and with the fees that it is planned with. The code
 * is read after the plan is made: what a key alone pays has not run code of the payer's choice.
 */
export async function isSmartAccount(
  { payerChain }: { readonly payerChain: PayerChain },
  payer: Hex,
  { chainId, wallet: from, to, data, gasLimit: gas, maxFee, priorityFee }: SendPlan,
): Promise<boolean> {
  if ((await payerChain.codeAt(chainId, payer)) === '0x') return false;
  const offer = { from, maxFee, priorityFee };
  if ((await payerChain.callAt(chainId, { to, data, gas, offer })) === undefined)
    throw new Refusal('payer_not_served', 'the payment would revert in a transaction');
  return true;
}

/** Refuses (100612) what a payer with code may not have of the service's gas, or not any more. Others of its merchant wait. */
export async function assertSmartAccount(
  transaction: Transaction,
  deps: {
    readonly clock: Clock;
    readonly gasless: { readonly budgets: { smartAccounts: SmartAccountLimits } };
  },
  { payer, merchantId, gasLimit }: { payer: string; merchantId: string; gasLimit: bigint },
): Promise<void> {
  const { perPayment, failuresPerMerchant } = deps.gasless.budgets.smartAccounts;
  if (gasLimit > BigInt(perPayment)) throw refusal('the smart account takes too much gas');
  await transaction.query(lockBudgets, [[`smart accounts ${merchantId}`]]);
  const since = new Date(deps.clock.now().getTime() - dayMs);
  const [failed] = await transaction.query(smartAccountFailures, [payer, merchantId, since]);
  if (failed === undefined) throw new Error('counts came back without a row');
  if (failed.by_payer > 0n) throw refusal("a payment of this smart account has failed in today's 24 hours");
  if (failed.by_merchant >= BigInt(failuresPerMerchant))
    throw refusal('too many payments of smart accounts for this merchant have failed or are under way');
}

function refusal(reason: string): Refusal {
  return new Refusal('method_not_available', `${reason}: send the transaction`);
}
