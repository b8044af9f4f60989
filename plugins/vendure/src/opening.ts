import { FlorinError, microUsd, type Session } from '@florin/sdk';
import { Inject, Injectable } from '@nestjs/common';
import {
  ConfigService,
  type Order,
  OrderService,
  PaymentMethodService,
  type RequestContext,
  TransactionalConnection,
  totalCoveredByPayments,
  UserInputError,
} from '@vendure/core';
import { microUsdPerUnit } from './money';
import { FLORIN, type FlorinConnection } from './options';
import { florinPaymentHandler } from './payment-handler';
import { FlorinSession } from './session.entity';

/** A session that a payer can pay. */
export interface OpenedSession {
  readonly sessionId: string;
  readonly paymentUrl: string;
}

/** Opens sessions at Florin for orders whose customers pay now. */
@Injectable()
export class FlorinOpening {
  constructor(
    @Inject(FLORIN) private florin: FlorinConnection,
    private connection: TransactionalConnection,
    private config: ConfigService,
    private orders: OrderService,
    private methods: PaymentMethodService,
  ) {}

  /** Repeated for the same order and amount, it answers the same session while that is open. */
  async open(ctx: RequestContext, { id }: Order): Promise<OpenedSession> {
    const order = await this.orders.findOne(ctx, id, [
      'payments',
      'payments.refunds',
      'lines',
      'surcharges',
      'shippingLines',
    ]);
    if (order?.state !== 'ArrangingPayment')
      throw new UserInputError('the order is not in the state ArrangingPayment');
    if (order.currencyCode !== 'USD')
      throw new UserInputError(`the order is in ${order.currencyCode}, not in USD`);
    const { code: methodCode, settlementToken } = await this.findMethod(ctx, order);
    const amount = order.totalWithTax - totalCoveredByPayments(order);
    if (amount <= 0) throw new UserInputError('the order is paid');
    const earlier = await this.connection
      .getRepository(ctx, FlorinSession)
      .find({ where: { orderId: order.id }, order: { id: 'ASC' } });
    for (const row of earlier.filter(({ status }) => status === 'open')) {
      const same = await this.reuse(row, amount);
      if (same !== undefined) return same;
    }
    const session = await this.florin.client.checkout.sessions.create(
      {
        settlementToken,
        lineItems: [{ name: `Order ${order.code}`, price: microUsd(amount * microUsdPerUnit(this.config)) }],
        successUrl: this.florin.options.orderUrl(order.code),
        cancelUrl: this.florin.options.orderUrl(order.code),
        metadata: { vendureOrder: order.code },
      },
      { idempotencyKey: `vendure order ${order.code}, session ${earlier.length}: ${amount}` },
    );
    const { sessionId, paymentUrl } = session;
    const row = {
      sessionId,
      orderId: order.id,
      channelId: ctx.channelId,
      methodCode,
      amount,
      status: 'open' as const,
    };
    // Two requests at once get one session; what a webhook has made of it since stays.
    const rows = this.connection.getRepository(ctx, FlorinSession);
    await rows.createQueryBuilder().insert().values(row).orIgnore().execute();
    return { sessionId, paymentUrl };
  }

  private async findMethod(ctx: RequestContext, order: Order) {
    const quotes = await this.methods.getEligiblePaymentMethods(ctx, order);
    for (const { code, isEligible } of quotes) {
      if (!isEligible) continue;
      const { paymentMethod } = await this.methods.getMethodAndOperations(ctx, code);
      if (paymentMethod.handler.code !== florinPaymentHandler.code) continue;
      const token = paymentMethod.handler.args.find(({ name }) => name === 'settlementToken');
      return { code, settlementToken: token?.value ?? '' };
    }
    throw new UserInputError('no payment method of this order is by Florin');
  }

  /** The session of a row if it can still be paid for this amount. One for another amount is cancelled if it can be. */
  private async reuse(row: FlorinSession, amount: number): Promise<OpenedSession | undefined> {
    const { session } = await this.florin.client.sessions.retrieve(row.sessionId);
    if (isPaid(session))
      throw new UserInputError('a payment of this order has arrived: read the order again');
    if (session.status !== 'initialized') return undefined;
    const { sessionId, paymentUrl } = session;
    if (row.amount === amount) return { sessionId, paymentUrl };
    if (session.signedOnce === 0) await cancel(this.florin, sessionId);
    return undefined;
  }
}

function isPaid({ status }: Session): boolean {
  return ['paid', 'settling', 'completed', 'settlement_pending'].includes(status);
}

/** A session that has moved on meanwhile stays as it is. */
async function cancel({ client }: FlorinConnection, sessionId: string): Promise<void> {
  try {
    await client.checkout.sessions.cancel(sessionId);
  } catch (error) {
    if (!(error instanceof FlorinError) || !/^session_/.test(error.slug)) throw error;
  }
}
