import type { Prerequisite, TxRequest } from '@florin/protocol/agent-view.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import { encodeFunctionData, erc20Abi, formatUnits } from 'viem';
import type { Chain } from '#chains/chain.ts';

interface ApprovalRequest {
  readonly chain: Pick<Chain, 'chainId' | 'gateway'>;
  /** The contract that takes the amount; the gateway when absent. */
  readonly spender?: Hex;
  readonly token: Pick<Token, 'address' | 'symbol' | 'decimals'>;
  /** In units of the token. */
  readonly amount: bigint;
  /** What the spender may take now; undefined: not read. */
  readonly allowance: bigint | undefined;
}

/** Approvals of exactly the amount that the payer must send first; none when the allowance suffices. */
export function approvalsOf(request: ApprovalRequest): Prerequisite[] {
  const { chain, token, amount, allowance } = request;
  const spender = request.spender ?? chain.gateway;
  if (allowance !== undefined && allowance >= amount) return [];
  const approve: Prerequisite = {
    purpose: 'approve_exact_amount',
    description: `Allow the gateway ${spender} to take exactly ${formatUnits(amount, token.decimals)} ${token.symbol}.`,
    txRequest: approval(request, amount),
  };
  if (allowance === 0n || !needsAllowanceReset(token)) return [approve];
  const reset: Prerequisite = {
    purpose: 'reset_allowance',
    description: `Set the gateway's allowance of ${token.symbol} to 0 first: the token refuses to change it otherwise.`,
    txRequest: approval(request, 0n),
  };
  return [reset, approve];
}

/** Tether's contract refuses to change an allowance from one value other than zero to another. */
function needsAllowanceReset(token: Pick<Token, 'symbol'>): boolean {
  return /^USD(T|₮)/iu.test(token.symbol);
}

function approval({ chain, spender = chain.gateway, token }: ApprovalRequest, amount: bigint): TxRequest {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] });
  return { chainId: chain.chainId.toString(), to: token.address, data, value: '0' };
}
