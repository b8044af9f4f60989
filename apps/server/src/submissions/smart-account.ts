import type { SendPlan } from '@florin/evm';
import type { Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { daysBefore } from '#outside/clock.ts';
import type { SubmissionContext } from './context.ts';
import { lockBudgets, smartAccountFailures } from './submission.sql.ts';

/**
 * Whether the payer's address has code, an EIP-7702 delegation included. Refuses (100611) such a payer's payment when
 * it fails in a simulation of the exact transaction: same wallet, gas limit and fees. The code is read after the plan,
 * so that a plain key's payment runs no code of the payer's choice.
 */
export async function isSmartAccount(
  { payerChain }: Pick<SubmissionContext, 'payerChain'>,
  payer: Hex,
  { chainId, wallet: from, to, data, gasLimit: gas, maxFee, priorityFee }: SendPlan,
): Promise<boolean> {
  if ((await payerChain.codeAt(chainId, payer)) === '0x') return false;
  const offer = { from, maxFee, priorityFee };
  if ((await payerChain.callAt(chainId, { to, data, gas, offer })) === undefined)
    throw new Refusal('payer_not_served', 'the payment would revert in a transaction');
  return true;
}

/**
 * Refuses (100612) a payer with code beyond its limits of the service's gas. Serializes such payments of one merchant.
 */
export async function assertSmartAccount(
  transaction: Transaction,
  deps: Pick<SubmissionContext, 'clock' | 'gasless'>,
  { payer, merchantId, gasLimit }: { payer: string; merchantId: string; gasLimit: bigint },
): Promise<void> {
  const { perPayment, failuresPerMerchant } = deps.gasless.budgets.smartAccounts;
  if (gasLimit > BigInt(perPayment)) throw refusal('the smart account takes too much gas');
  await transaction.query(lockBudgets, { keys: [`smart accounts ${merchantId}`] });
  const since = daysBefore(deps.clock.now(), 1);
  const [failed] = await transaction.query(smartAccountFailures, { payer, merchantId, since });
  if (failed === undefined) throw new Error('counts came back without a row');
  if (failed.by_payer > 0n) throw refusal("a payment of this smart account has failed in today's 24 hours");
  if (failed.by_merchant >= BigInt(failuresPerMerchant))
    throw refusal('too many payments of smart accounts for this merchant have failed or are under way');
}

function refusal(reason: string): Refusal {
  return new Refusal('method_not_available', `${reason}: send the transaction`);
}
