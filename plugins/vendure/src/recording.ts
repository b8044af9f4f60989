import { type FlorinEvent, type Refund as FlorinRefund, formatUsd, type Session } from '@florin/sdk';
import { Injectable } from '@nestjs/common';
import {
  ChannelService,
  ConfigService,
  type ID,
  isGraphQlErrorResult,
  Logger,
  OrderService,
  Refund,
  type RequestContext,
  RequestContextService,
  TransactionalConnection,
} from '@vendure/core';
import { In } from 'typeorm';
import { microUsdPerUnit } from './money';
import type { PaidSession } from './payment-handler';
import { FlorinSession } from './session.entity';

const loggerContext = 'FlorinPlugin';
/** How long a refund may be known to Florin before the shop has committed it. */
const commitTimeMs = 120_000;
/** A coupon that was used up meanwhile is removed by the first attempt, and the payment recorded by the second. */
const maxAttempts = 2;

/** Records in the shop what verified events say. Each repetition of an event changes nothing. */
@Injectable()
export class FlorinRecording {
  constructor(
    private connection: TransactionalConnection,
    private config: ConfigService,
    private orders: OrderService,
    private channels: ChannelService,
    private contexts: RequestContextService,
  ) {}

  async take(event: FlorinEvent): Promise<void> {
    if (event.type === 'session.paid') await this.recordPaid(event.data.session);
    if (event.type === 'session.expired' || event.type === 'session.cancelled')
      await this.connection.rawConnection
        .getRepository(FlorinSession)
        .update({ sessionId: event.data.session.sessionId, status: 'open' }, { status: 'closed' });
    if (event.type === 'refund.completed') await this.moveRefund(event.data.refund, 'Settled');
    if (event.type === 'refund.failed' || event.type === 'refund.cancelled')
      await this.moveRefund(event.data.refund, 'Failed');
    if (event.type === 'refund.reopened') await this.noteReopened(event.data.refund);
  }

  private async recordPaid(session: Session): Promise<void> {
    const { sessionId } = session;
    const opened = await this.findSession(sessionId);
    if (opened === undefined) return;
    const { row, ctx } = opened;
    if (session.amount !== row.amount * microUsdPerUnit(this.config))
      throw new Error(`${sessionId} is over ${session.amount} Micro-USD, and was opened for ${row.amount}`);
    await this.connection.withTransaction(ctx, async (inside) => {
      // Whoever moves the row records the payment: two deliveries at once wait for each other here.
      const { affected } = await this.connection
        .getRepository(inside, FlorinSession)
        .update({ sessionId, status: In(['open', 'closed']) }, { status: 'paid' });
      if (affected !== 1) return;
      const refusal = await this.addPayment(inside, row, session);
      if (refusal === undefined) return;
      const dollars = formatUsd(session.amount);
      await this.note(
        inside,
        row.orderId,
        `Florin received $${dollars} (${sessionId}) that the order cannot take: ${refusal}. Return it there, or use it by hand.`,
      );
    });
  }

  /** Adds a payment to an order, and says why that was not possible. */
  private async addPayment(
    ctx: RequestContext,
    row: FlorinSession,
    session: Session,
  ): Promise<string | undefined> {
    const order = await this.orders.findOne(ctx, row.orderId);
    if (order === undefined) return 'it does not exist';
    // The customer has gone back to the cart, and has paid all the same.
    if (order.state === 'AddingItems') {
      const moved = await this.orders.transitionToState(ctx, order.id, 'ArrangingPayment');
      if (isGraphQlErrorResult(moved)) return moved.transitionError;
    }
    const { payer, paidToken, initiateTx, receiptId } = session;
    const paid: PaidSession = {
      amount: row.amount,
      sessionId: session.sessionId,
      metadata: { payer, paidToken, initiateTx, receiptId },
    };
    let refusal = '';
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const result = await this.orders.addPaymentToOrder(ctx, order.id, {
        method: row.methodCode,
        metadata: paid,
      });
      if (!isGraphQlErrorResult(result)) return undefined;
      refusal = result.message;
    }
    return refusal;
  }

  private async moveRefund(florinRefund: FlorinRefund, state: 'Settled' | 'Failed'): Promise<void> {
    const { refundId, sessionId, amount, createAt } = florinRefund;
    const opened = await this.findSession(sessionId);
    if (opened === undefined) return;
    const { row, ctx } = opened;
    const refund = await this.connection.getRepository(ctx, Refund).findOneBy({ transactionId: refundId });
    if (refund !== null) {
      if (refund.state === state || refund.state === 'Settled') return;
      await this.orders.transitionRefundToState(ctx, refund.id, state);
      return;
    }
    if (Date.now() - Date.parse(`${createAt.replace(' ', 'T')}Z`) < commitTimeMs)
      throw new Error(`${refundId} is not in the shop yet: take the event later`);
    if (state === 'Settled')
      await this.note(
        ctx,
        row.orderId,
        `Florin returned $${formatUsd(amount)} (${refundId}), which was not asked for in this shop.`,
      );
  }

  /** A settled refund of the shop has no way back, so its staff is told. */
  private async noteReopened({ refundId, sessionId, amount }: FlorinRefund): Promise<void> {
    const opened = await this.findSession(sessionId);
    if (opened === undefined) return;
    const note = `The chain took back the refund of $${formatUsd(amount)} (${refundId}): the customer no longer has the money. Look at it in Florin.`;
    await this.note(opened.ctx, opened.row.orderId, note);
  }

  private async findSession(sessionId: string) {
    const row = await this.connection.rawConnection.getRepository(FlorinSession).findOneBy({ sessionId });
    // The webhook may tell of sessions of other programs.
    if (row === null) return undefined;
    const channels = await this.channels.findAll(await this.contexts.create({ apiType: 'admin' }));
    const channel = channels.items.find(({ id }) => id === row.channelId);
    if (channel === undefined) throw new Error(`the channel of ${sessionId} is gone`);
    return { row, ctx: await this.contexts.create({ apiType: 'admin', channelOrToken: channel }) };
  }

  /** For the staff: it shows in the order's history and in the log. */
  private async note(ctx: RequestContext, orderId: ID, note: string): Promise<void> {
    Logger.error(`order ${orderId}: ${note}`, loggerContext);
    const order = await this.orders.findOne(ctx, orderId);
    if (order !== undefined) await this.orders.addNoteToOrder(ctx, { id: orderId, note, isPublic: false });
  }
}
