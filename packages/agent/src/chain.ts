import { AgentError } from './error.ts';
import { type Hex, member } from './json.ts';
import { type Outside, pause, request } from './outside.ts';

/** One chain, through a node of the caller's choice. */
export interface ChainClient {
  readonly chainId: number;
  /** Calls the node. Refuses a node's error with `simulation_failed`, and a missing answer with `node_unreachable`. */
  ask(method: string, params: readonly unknown[]): Promise<unknown>;
  /** The account's balance of a token, in smallest units. */
  balanceOf(token: Hex, holder: Hex): Promise<bigint>;
  /** Number of the account's transactions: mined, or known to the node. */
  transactionCount(account: Hex, block: 'latest' | 'pending'): Promise<number>;
  /** Undefined while no block has the transaction. */
  receiptOf(txHash: Hex): Promise<{ isSuccess: boolean } | undefined>;
}

const tries = 4;

/** Connects to a node, and checks that it serves this chain. */
export async function openChain(outside: Outside, chainId: number, url: string): Promise<ChainClient> {
  const ask = async (method: string, params: readonly unknown[]): Promise<unknown> => {
    let problem: unknown;
    for (let attempt = 0; attempt < tries; attempt += 1) {
      if (attempt > 0) await pause(outside, 250 * 2 ** attempt);
      const answer = await askOnce(outside, url, method, params);
      if ('result' in answer) return answer.result;
      if ('refused' in answer) throw new AgentError('simulation_failed', `${method}: ${answer.refused}`);
      problem = answer.problem;
    }
    throw new AgentError('node_unreachable', `the node of chain ${chainId} does not answer`, {
      cause: problem,
    });
  };
  const read = async (method: string, params: readonly unknown[]) => quantity(await ask(method, params));
  if ((await read('eth_chainId', [])) !== BigInt(chainId))
    throw new AgentError('node_needed', `the node given for chain ${chainId} is of another chain`);
  return {
    chainId,
    ask,
    balanceOf: (token, holder) =>
      read('eth_call', [
        { to: token, data: `0x70a08231${holder.slice(2).toLowerCase().padStart(64, '0')}` },
        'latest',
      ]),
    transactionCount: async (account, block) =>
      Number(await read('eth_getTransactionCount', [account, block])),
    async receiptOf(txHash) {
      const receipt = await ask('eth_getTransactionReceipt', [txHash]);
      return receipt === null ? undefined : { isSuccess: member(receipt, 'status') === '0x1' };
    },
  };
}

/** A hexadecimal number in a node's answer. */
export function quantity(value: unknown): bigint {
  if (typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value)) return BigInt(value);
  throw new AgentError('node_unreachable', 'the node returned no number');
}

type NodeAnswer = { readonly result: unknown } | { readonly refused: string } | { readonly problem: unknown };

async function askOnce(
  outside: Outside,
  url: string,
  method: string,
  params: readonly unknown[],
): Promise<NodeAnswer> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  try {
    const { status, text } = await request(outside, url, { method: 'POST', headers, body });
    const answer: unknown = JSON.parse(text);
    const error = member(answer, 'error');
    if (error !== undefined && error !== null) return { refused: String(member(error, 'message')) };
    const result = member(answer, 'result');
    return result === undefined ? { problem: new Error(`HTTP ${status}`) } : { result };
  } catch (error) {
    if (error instanceof AgentError) throw error;
    if (outside.signal.aborted) throw new AgentError('aborted', 'the caller has aborted', { cause: error });
    return { problem: error };
  }
}
