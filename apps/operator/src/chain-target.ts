import { CommandError, type Options, optional, UsageError } from '@florin/cli';
import { readConfig } from '@florin/server/operator';
import { createPublicClient, type EIP1193RequestFn, http } from 'viem';
import type { CommandContext } from './command.ts';
import type { RpcRequest } from './deploy.ts';

/** A node, and the chain that it must serve. */
export interface ChainTarget {
  readonly request: RpcRequest;
  readonly chainId: number;
}

/** The options for a node outside the configuration. */
export const nodeOptions = [
  optional('--rpc <url>', 'a node, if the configuration lacks the chain; needs --chain-id'),
  optional('--chain-id <number>', 'the chain that the node must serve'),
];

/**
 * The node of `--rpc` and `--chain-id`, or the configured chain `--chain`. The former needs no configuration. Throws a
 * UsageError for an incomplete choice, and a CommandError for an unconfigured chain or a node that serves another one.
 */
export async function chainTarget(options: Options, outside: CommandContext): Promise<ChainTarget> {
  const given = options.optional('rpc');
  const { url, chainId } =
    given === undefined ? configuredChain(options, outside) : typedChain(options, given);
  const request = openRequest(url);
  const served = await servedChain(request, url);
  if (served !== chainId) {
    throw new CommandError(`the node serves chain ${served}, not ${chainId}: correct --chain or --rpc`);
  }
  return { request, chainId };
}

/** JSON-RPC to an address, with a few retries of unanswered requests. */
export function openRequest(url: string): RpcRequest {
  const { request } = createPublicClient({ transport: http(url) });
  // The caller has typed the request for its method.
  const untyped = request as EIP1193RequestFn as (call: {
    method: string;
    params: unknown;
  }) => Promise<unknown>;
  return (method, params) => untyped({ method, params });
}

/** Throws a UsageError for anything but an http or https URL. */
export function rpcOption(text: string): string {
  if (!/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : '')) {
    throw new UsageError('--rpc must be an http or https URL');
  }
  return text;
}

/** The chain id that a node reports. */
export async function servedChain(request: RpcRequest, url: string): Promise<number> {
  try {
    return Number(await request('eth_chainId', []));
  } catch {
    // The error would show the URL, which often holds an access key.
    throw new CommandError(`the node at ${new URL(url).host} does not answer: correct --rpc or start it`);
  }
}

function typedChain(options: Options, rpc: string): { url: string; chainId: number } {
  const text = options.optional('chain-id');
  if (text === undefined) throw new UsageError('--rpc needs --chain-id, so that a wrong node is detected');
  if (!/^[1-9][0-9]{0,15}$/.test(text)) throw new UsageError(`--chain-id is ${text}: give a decimal number`);
  return { url: rpcOption(rpc), chainId: Number(text) };
}

function configuredChain(options: Options, outside: CommandContext): { url: string; chainId: number } {
  const name = options.required('chain');
  const chain = readConfig(outside.environment).chains.byName(name);
  const url = chain?.rpcUrls[0];
  if (chain === undefined || url === undefined) {
    throw new CommandError(`the configuration has no chain ${name}: add it, or give --rpc and --chain-id`);
  }
  return { url, chainId: chain.chainId };
}
