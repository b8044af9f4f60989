import type { Hex, Order } from '@florin/protocol/order.ts';
import { parseBurnMessage } from '@florin/server/parts';
import { concat, decodeFunctionData, numberToHex, pad, parseAbi, zeroAddress, zeroHash } from 'viem';
import { logOther } from './contract-logs.ts';
import { type CallInProgress, type CircleContext, funded, Reverted } from './contract-state.ts';
import { approve, isSame, transferFrom } from './token-model.ts';

const transmitterAbi = parseAbi(['function receiveMessage(bytes message, bytes attestation) returns (bool)']);
const finalized = 2_000;

/**
 * Sends a CCTP order's net amount through the route. A failure changes nothing but the approvals, and returns false.
 */
export function sendByRoute(run: CallInProgress, orderId: Hex, order: Order): boolean {
  const { circle, gateway } = run.context;
  const { token, total, fee, to, targetChain, via } = order;
  const net = total - fee;
  if (!approve(run, token, gateway, via, net)) return false;
  const before = { state: run.state, logs: run.logs.length };
  // Whatever else an order names takes no burn.
  const domain =
    circle !== undefined && isSame(via, circle.route) ? circle.domains.get(targetChain) : undefined;
  const isKnown = domain !== undefined && targetChain !== BigInt(run.context.chainId);
  if (circle !== undefined && isKnown && burn(run, circle, { orderId, token, net, to, targetChain, domain }))
    return true;
  run.state = before.state;
  run.logs.length = before.logs;
  if (!approve(run, token, gateway, via, 0n)) throw new Reverted('TransferFailed');
  return false;
}

interface Burn {
  readonly orderId: Hex;
  readonly token: Hex;
  readonly net: bigint;
  readonly to: Hex;
  readonly targetChain: bigint;
  readonly domain: number;
}

function burn(
  run: CallInProgress,
  circle: CircleContext,
  { orderId, token, net, to, targetChain, domain }: Burn,
): boolean {
  const { route, messenger, burnLimit } = circle;
  const { gateway } = run.context;
  logOther(run, route, 'Burnt', { orderId, to, token, amount: net, targetChain, domain });
  if (!transferFrom(run, token, { spender: route, from: gateway, to: route, value: net })) return false;
  if (!approve(run, token, route, messenger, net)) return false;
  if (!isSame(token, circle.token) || net > burnLimit) return false;
  if (!transferFrom(run, token, { spender: messenger, from: route, to: messenger, value: net })) return false;
  run.state = funded(run.state, messenger, token, -net);
  logOther(run, token, 'Burn', { burner: messenger, amount: net });
  logOther(run, token, 'Transfer', { from: messenger, to: zeroAddress, value: net });
  return true;
}

const word = (value: bigint | number) => numberToHex(value, { size: 32 });

/** The message of a burn in Circle's encoding, which the attesters sign. */
export function burnMessage(
  source: CircleContext,
  target: CircleContext,
  burnt: { readonly orderId: Hex; readonly to: Hex; readonly amount: bigint; readonly nonce: Hex },
): Hex {
  const word4 = (value: number) => numberToHex(value, { size: 4 });
  return concat([
    ...[word4(1), word4(source.domain), word4(target.domain), burnt.nonce],
    ...[pad(source.messenger), pad(target.messenger), zeroHash, word4(finalized), word4(finalized)],
    ...[word4(1), pad(source.token), pad(burnt.to), word(burnt.amount), pad(source.route)],
    ...[word(0n), word(0n), word(0n), burnt.orderId],
  ]).toLowerCase() as Hex;
}

/** Circle's transmitter: accepts each message once, and mints. */
export function executeTransmitter(run: CallInProgress, circle: CircleContext, data: Hex): void {
  const { args } = decodeFunctionData({ abi: transmitterAbi, data });
  const [message] = args;
  const burnt = parseBurnMessage(message);
  if (burnt === undefined || burnt.destinationDomain !== circle.domain) throw new Reverted('transmitter');
  const nonce: Hex = `0x${message.slice(2 + 24, 2 + 24 + 64)}`;
  if (run.state.received.has(nonce)) throw new Reverted('transmitter');
  run.state = { ...run.state, received: new Set(run.state.received).add(nonce) };
  const { token, messenger, transmitter } = circle;
  run.state = funded(run.state, burnt.to, token, burnt.amount);
  logOther(run, token, 'Mint', { minter: messenger, to: burnt.to, amount: burnt.amount });
  logOther(run, token, 'Transfer', { from: zeroAddress, to: burnt.to, value: burnt.amount });
  const body: Hex = `0x${message.slice(2 + 2 * 148)}`;
  logOther(run, transmitter, 'MessageReceived', {
    caller: run.from,
    sourceDomain: burnt.sourceDomain,
    nonce,
    sender: pad(burnt.sender as Hex),
    finalityThresholdExecuted: finalized,
    messageBody: body,
    orderId: burnt.orderId,
  });
}
