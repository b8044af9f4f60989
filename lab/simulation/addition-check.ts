import type { Hex } from '@florin/protocol/order.ts';
import { receiverOf } from '@florin/server/parts';
import type pg from 'pg';
import { decodeFunctionData, erc20Abi } from 'viem';
import type { ChainModel } from './chain-model.ts';
import { initialWalletBalance } from './configuration.ts';
import { balanceOf } from './contract-state.ts';
import type { World } from './world.ts';

/** The agreed terms of the orders' addresses, and the additions per chain in the books. */
interface AgreedTerms {
  readonly terms: readonly { readonly orderId: Hex; readonly chainId: bigint; readonly maxAdded: bigint }[];
  /** By token, in its units. */
  readonly booked: ReadonlyMap<string, bigint>;
}

async function readAgreedTerms(client: pg.Client): Promise<AgreedTerms> {
  const terms = await client.query<{ orderId: Hex; chainId: bigint; maxAdded: string }>(
    `select o.order_id as "orderId", o.chain_id as "chainId", t.most_added::text as "maxAdded"
     from deposit_terms t join orders o on o.order_id = t.order_id`,
  );
  const booked = await client.query<{ asset: string; total: string }>(
    `select asset, sum(amount)::text as total from ledger_postings where ledger_account = 'tolerance' group by asset`,
  );
  return {
    terms: terms.rows.map((row) => ({ ...row, maxAdded: BigInt(row.maxAdded) })),
    booked: new Map(booked.rows.map(({ asset, total }) => [asset, BigInt(total)])),
  };
}

/** Amounts of a token that the service's wallet has sent on the canonical branch, by receiver in lower case. */
function sentByWallet(model: ChainModel, token: Hex): Map<string, bigint> {
  const sent = new Map<string, bigint>();
  for (const { transactions } of model.canonical()) {
    for (const { transaction, succeeded } of transactions) {
      const { from, to, data } = transaction;
      if (!succeeded || from.toLowerCase() !== model.settler.toLowerCase()) continue;
      if (to.toLowerCase() !== token.toLowerCase()) continue;
      const { functionName, args } = decodeFunctionData({ abi: erc20Abi, data });
      if (functionName !== 'transfer') throw new Error(`the service has called ${functionName} of a token`);
      const receiver = args[0].toLowerCase();
      sent.set(receiver, (sent.get(receiver) ?? 0n) + args[1]);
    }
  }
  return sent;
}

/**
 * Checks additions to short deposits against the chains. They go to agreed addresses only and never exceed the agreed
 * amount. Together they stay within the day's limit, and the books have each of them. A history is shorter than a
 * day.
 */
export async function checkAdditions(
  world: World,
  client: pg.Client,
  report: (violation: string) => void,
): Promise<void> {
  const { terms, booked } = await readAgreedTerms(client);
  const { deposits } = world.options.scenario;
  let totalAdded = 0n;
  for (const model of world.models) {
    const [token] = model.chain.tokens;
    if (token === undefined) continue;
    const sent = sentByWallet(model, token.address);
    const ownTerms = terms.filter(({ chainId }) => Number(chainId) === model.chain.chainId);
    for (const { orderId, maxAdded } of ownTerms) {
      const receiver = receiverOf(model.chain.gateway, orderId).toLowerCase();
      const added = sent.get(receiver) ?? 0n;
      if (added > maxAdded) report(`order ${orderId.slice(0, 10)}: ${added} added, ${maxAdded} agreed`);
      sent.delete(receiver);
    }
    for (const [receiver, amount] of sent)
      report(`${amount} were sent to ${receiver}, for which no terms were agreed`);
    const spent = initialWalletBalance(token) - balanceOf(model.head.state, model.settler, token.address);
    const recorded = booked.get(token.tokenId) ?? 0n;
    if (spent !== recorded) report(`${spent} were added on ${model.chain.name}, the ledger says ${recorded}`);
    totalAdded += (spent * 1_000_000n) / 10n ** BigInt(token.decimals);
  }
  const maxAdded = deposits?.addedPerDay ?? 0;
  if (totalAdded > maxAdded) report(`${totalAdded} Micro-USD were added, of ${maxAdded} in a day`);
}
