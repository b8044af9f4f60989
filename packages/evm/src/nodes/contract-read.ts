import {
  type Abi,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type DecodeFunctionResultParameters,
  type DecodeFunctionResultReturnType,
  decodeFunctionResult,
  type EncodeFunctionDataParameters,
  encodeFunctionData,
  type Hex,
} from 'viem';
import { call, revertDataOf } from './actions.ts';
import { type Rpc, RpcError } from './rpc.ts';

/** One view function of a contract and its arguments. */
export interface ContractQuestion<
  Contract extends Abi,
  Name extends ContractFunctionName<Contract, 'view' | 'pure'>,
> {
  readonly abi: Contract;
  readonly functionName: Name;
  readonly args?: ContractFunctionArgs<Contract, 'view' | 'pure', Name>;
}

/**
 * Calls a view function at the latest block. Undefined when the contract lacks the function: the call reverts, or its
 * return data is not of the function's type. Throws `RpcUnavailable`, or `RpcError` for an error other than a revert.
 */
export async function readContract<
  const Contract extends Abi,
  Name extends ContractFunctionName<Contract, 'view' | 'pure'>,
>(
  rpc: Rpc,
  to: Hex,
  question: ContractQuestion<Contract, Name>,
): Promise<DecodeFunctionResultReturnType<Contract, Name> | undefined> {
  // viem's types cannot follow an ABI that is itself a type parameter. The signature above has checked the same.
  const data = encodeFunctionData(question as unknown as EncodeFunctionDataParameters);
  const result = await callUnlessReverted(rpc, { to, data });
  if (result === undefined) return undefined;
  try {
    const answer = decodeFunctionResult({
      abi: question.abi,
      functionName: question.functionName,
      data: result,
    } as unknown as DecodeFunctionResultParameters);
    return answer as DecodeFunctionResultReturnType<Contract, Name>;
  } catch {
    // Bytes of another type: the contract has a fallback, or a function that only shares the name.
    return undefined;
  }
}

async function callUnlessReverted(rpc: Rpc, request: { to: Hex; data: Hex }): Promise<Hex | undefined> {
  try {
    return await call(rpc, request, 'latest');
  } catch (error) {
    if (error instanceof RpcError && revertDataOf(error) !== undefined) return undefined;
    throw error;
  }
}
