import { receiverOf } from '@florin/server/parts';
import { encodeFunctionData, parseAbi } from 'viem';
import type { Actors } from './actors.ts';

const tokenAbi = parseAbi(['function transfer(address to, uint256 value) returns (bool)']);

/**
 * A payer who sends from an exchange: plain transfers to the order's address, of exact and other amounts, before and
 * after the deadline.
 */
export async function playDeposit(actor: Actors, sessionId: string): Promise<void> {
  const { world, character } = actor;
  const { random } = world.options;
  const model = actor.anyChain();
  const exchange = actor.address('exchange');
  const prepared = await actor.prepareBoth(sessionId, model, actor.address('payer 0'));
  if (prepared === undefined) return;
  const { order: walletOrder, deposit } = prepared;
  const order = deposit?.order ?? walletOrder;
  const { total, token } = order.order;
  const receiver = receiverOf(model.chain.gateway, order.orderId);
  const place = { model, receiver, token, isSent: false, orderId: order.orderId };
  world.deposits.push(place);
  const transfer = (value: bigint, nonce: number) => {
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args: [receiver, value] });
    actor.send(model, exchange, { to: token, data }, nonce);
  };
  if (character === 'deposit_late')
    while (BigInt(world.seconds()) <= walletOrder.order.payBy) await world.sleep(60_000);
  // The missing amount ranges from far above the largest addition to almost zero.
  const lack = deposit === undefined ? total / 2n : total / BigInt(random.between(2, 200));
  const amounts = { deposit_short: total - lack, deposit_over: total + total / 3n };
  const first = character === 'deposit_short' || character === 'deposit_over' ? amounts[character] : total;
  transfer(first, 0);
  if (character === 'deposit_twice') {
    await world.sleep(random.between(1_000, 60_000));
    transfer(total, 1);
  }
  place.isSent = true;
}
