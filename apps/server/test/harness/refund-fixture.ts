import { Refusal } from '@florin/protocol/error.ts';
import type { ChainEventName } from '#contracts/event.ts';
import type { StoredOrder } from '#orders/stored-order.ts';
import { cancelRefund } from '#refunds/cancellation.ts';
import { createRefund, findRefund } from '#refunds/refund.ts';
import { SettlementWorld } from './settlement-fixture.ts';

const token = 'ethereum::usdc';

/** An event of the order in a block, which is final unless it says otherwise. */
export type OrderStep = readonly [
  ChainEventName,
  'final' | 'not final',
  values?: Readonly<Record<string, string>>,
];

export const paidStep: OrderStep = ['Paid', 'final'];
export const settledStep: OrderStep = ['Settled', 'final'];
/** The merchant's wallet has returned `partOfPrice`. */
export const refundedPart: OrderStep = [
  'SettlementRefunded',
  'final',
  { value: '400000', refundedTotal: '400000' },
];

/** The price. The merchant bears the fee, so the payer has paid just that. */
export const wholePrice = 1_000_000;
export const partOfPrice = 400_000;

/** A world with orders whose refunds are asked for and cancelled; the caller closes it. */
export async function openRefundWorld() {
  const world = await SettlementWorld.open();
  const deps = () => ({ ...world.moves, chains: world.chains });

  async function show(order: StoredOrder, [name, finality, values = {}]: OrderStep): Promise<void> {
    await world.mine('ethereum', [name, order, values]);
    if (finality === 'final') await world.mineFinal('ethereum');
  }

  async function orderAfter(steps: readonly OrderStep[]): Promise<StoredOrder> {
    const order = await world.signOrder(await world.openSession(token), token);
    for (const step of steps) await show(order, step);
    return order;
  }

  /** Requests a refund: its id, status and amount, or the name of the refusal. */
  async function ask(order: StoredOrder, amount: number | undefined, merchantId?: string) {
    const session = await world.session(order.sessionId);
    const body = { sessionId: order.sessionId, ...(amount === undefined ? {} : { amount }) };
    const request = { merchantId: merchantId ?? session.merchantId, body };
    try {
      const {
        refundId,
        status,
        amount: asked,
      } = await world.database.db.transaction((transaction) => createRefund(transaction, deps(), request));
      return { refundId, said: `${status} ${asked}` };
    } catch (error) {
      if (error instanceof Refusal) return { refundId: '', said: error.slug };
      throw error;
    }
  }

  /** Cancels a refund of the order: its new status, or the name of the refusal. */
  async function cancel({ sessionId }: StoredOrder, refundId: string, merchantId?: string): Promise<string> {
    const session = await world.session(sessionId);
    const request = { merchantId: merchantId ?? session.merchantId, refundId };
    try {
      return (
        await world.database.db.transaction((transaction) => cancelRefund(transaction, deps(), request))
      ).status;
    } catch (error) {
      if (error instanceof Refusal) return error.slug;
      throw error;
    }
  }

  const statusesOf = async (order: StoredOrder, refundIds: readonly string[]) => {
    const { merchantId } = await world.session(order.sessionId);
    const found: string[] = [];
    for (const refundId of refundIds)
      found.push((await findRefund(world.database.db, deps(), { merchantId, refundId })).status);
    return found;
  };

  return { world, deps, show, orderAfter, ask, cancel, statusesOf };
}
