import {
  findCursor,
  type NodeAnswer,
  pollNodes,
  type RpcCall,
  type RpcOutcome,
  RpcUnavailable,
  revertDataOf,
  wordsIn,
} from '@florin/evm';
import { type Chain, contractsOf, isAmong } from '#chains/chain.ts';
import { gatewayOf } from '#orders/order-gateway.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import type { SettlementContext } from './context.ts';
import { isPaidOutCall, isSettledAnswer, payoutVaultOf, statusCall } from './settlement-call.ts';

type ChainReads = Pick<SettlementContext, 'db' | 'chains' | 'rpcOf'>;

/** How long one node may take: a silent one holds up a round of payouts for so long. */
const timeLimitMs = 4_000;

/**
 * Whether the gateways that took the payments of orders call them settled, by order id: as many providers as the chain's
 * finality asks for say so, and fewer say otherwise. Absent where too few answer. Asks each chain once, at its stored
 * final block.
 */
export async function readSettled(
  deps: ChainReads,
  orders: readonly StoredOrder[],
): Promise<ReadonlyMap<string, boolean>> {
  const settled = new Map<string, boolean>();
  const readChain = async (chain: Chain) => {
    const ofChain = orders.filter(({ chainId }) => chainId === chain.chainId);
    if (ofChain.length === 0) return;
    const answers = await askAtFinal(deps, chain, ofChain);
    const { quorum } = chain.finality;
    for (const [index, { orderId }] of ofChain.entries()) {
      const votes = answers.flatMap((answer) => voteOf(answer, index));
      const isSettled =
        votes.filter(Boolean).length >= quorum && votes.filter((vote) => !vote).length < quorum;
      if (votes.length >= quorum) settled.set(orderId, isSettled);
    }
  };
  await Promise.all(deps.chains.all.map(readChain));
  return settled;
}

/** Asks each node twice for each order: at the stored final block, and at its newest block. */
async function askAtFinal(
  { db, rpcOf }: ChainReads,
  chain: Chain,
  orders: readonly StoredOrder[],
): Promise<readonly NodeAnswer[]> {
  const cursor = await findCursor(db, chain.chainId);
  if (cursor === undefined) return [];
  const calls = orders.flatMap((order): RpcCall[] => {
    const call = { to: gatewayOf(order, chain), data: statusCall(order) };
    // By hash (EIP-1898): after a reorg the height alone could mean another block.
    return [{ blockHash: cursor.finalHash }, 'latest'].map((at) => ({
      method: 'eth_call',
      params: [call, at],
    }));
  });
  try {
    return await pollNodes(rpcOf(chain.chainId), calls, { timeLimitMs });
  } catch (error) {
    if (error instanceof RpcUnavailable) return [];
    throw error;
  }
}

/**
 * What a node says of the order at an index. A node that answers nothing at the final block counts with its newest block, and
 * only when it calls the order settled there: it may be behind.
 */
function voteOf({ outcomes }: NodeAnswer, index: number): boolean[] {
  const told = outcomes
    .slice(2 * index, 2 * index + 2)
    .map((outcome) => wordsIn([outcome]).map(isSettledAnswer));
  const [atFinal = [], newest = []] = told;
  return atFinal.length > 0 ? atFinal : newest.filter(Boolean);
}

/**
 * Whether a node says that another vault of the chain has paid the order: a vault knows only what it has paid itself, and
 * no hash says which one pays. An address that answers like no vault has paid nothing. Asks at the newest block, which has
 * payouts that are not final. Throws `RpcUnavailable` when fewer providers answer than the chain's finality asks for.
 */
export async function isPaidElsewhere(deps: ChainReads, chain: Chain, order: StoredOrder): Promise<boolean> {
  const own = payoutVaultOf(order, chain);
  const others = contractsOf(chain).vaults.filter((vault) => !isAmong([own], vault));
  if (others.length === 0) return false;
  const data = isPaidOutCall(order);
  const calls = others.map((to) => ({ method: 'eth_call', params: [{ to, data }, 'latest'] }));
  const answers = await pollNodes(deps.rpcOf(chain.chainId), calls, { timeLimitMs });
  const complete = answers.filter(
    ({ outcomes }) => outcomes.length === others.length && outcomes.every(isAnswer),
  );
  if (complete.length < (chain.finality.quorum ?? 1))
    throw new RpcUnavailable(`too few nodes of chain ${chain.chainId} say what its vaults have paid`);
  return complete.some(({ outcomes }) => wordsIn(outcomes).some((word) => BigInt(word) === 1n));
}

/** Whether the contract has answered or reverted. Any other error is the node's own. */
function isAnswer(outcome: RpcOutcome): boolean {
  return 'result' in outcome || revertDataOf(outcome.error) !== undefined;
}
