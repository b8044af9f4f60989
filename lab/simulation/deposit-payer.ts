import { receiverOf } from '@florin/server/parts';
import { encodeFunctionData, parseAbi } from 'viem';
import type { Actors } from './actors.ts';

const tokenAbi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

/**
 * A payer who sends from an exchange: plain transfers to the order's address, of exact and other amounts, before and
 * after the deadline.
 */
export async function runDepositPayer(actors: Actors, sessionId: string): Promise<void> {
  const { world, behaviour } = actors;
  const { random } = world.options;
  const model = actors.anyChain();
  const exchange = actors.address('exchange');
  const prepared = await actors.prepareBoth(sessionId, model, actors.address('payer 0'));
  if (prepared === undefined) return;
  const { order: walletOrder, deposit } = prepared;
  const order = deposit?.order ?? walletOrder;
  const { total, token } = order.order;
  const receiver = receiverOf(model.chain.gateway, order.orderId);
  const depositAddress = { model, receiver, token, hasAllTransfers: false, orderId: order.orderId };
  world.deposits.push(depositAddress);
  const transfer = (value: bigint, nonce: number) => {
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [receiver, value] });
    actors.send(model, exchange, { to: token, data }, nonce);
  };
  if (behaviour === 'deposit_late')
    while (BigInt(world.seconds()) <= walletOrder.order.payBy) await world.sleep(60_000);
  // The missing amount ranges from far above the largest addition to almost zero.
  const missing = deposit === undefined ? total / 2n : total / BigInt(random.between(2, 200));
  const amounts = { deposit_short: total - missing, deposit_over: total + total / 3n };
  const first = behaviour === 'deposit_short' || behaviour === 'deposit_over' ? amounts[behaviour] : total;
  transfer(first, 0);
  if (behaviour === 'deposit_twice') {
    await world.sleep(random.between(1_000, 60_000));
    transfer(total, 1);
  }
  depositAddress.hasAllTransfers = true;
}
