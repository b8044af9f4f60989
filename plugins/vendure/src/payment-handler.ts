import { FlorinError, microUsd } from '@florin/sdk';
import {
  ConfigService,
  type Injector,
  LanguageCode,
  PaymentMethodHandler,
  type PaymentOptions,
  Refund,
  TransactionalConnection,
  UserInputError,
} from '@vendure/core';
import { microUsdPerUnit } from './money';
import { FLORIN, type FlorinConnection } from './options';

let connection: TransactionalConnection;
let config: ConfigService;
let florin: FlorinConnection;

/** The longest reason that Florin takes, in characters. */
const maxReasonLength = 500;

/** What a paid session says about itself, for the payment in the shop. */
export interface PaidSession {
  readonly amount: number;
  readonly sessionId: string;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Payments come from verified webhooks alone. The shop's API cannot make one. */
export const florinPaymentHandler = new PaymentMethodHandler({
  code: 'florin',
  description: [{ languageCode: LanguageCode.en, value: 'Stablecoins by Florin' }],
  args: {
    settlementToken: {
      type: 'string',
      label: [{ languageCode: LanguageCode.en, value: 'Token that you receive, such as base::usdc' }],
    },
  },
  init(injector: Injector) {
    connection = injector.get(TransactionalConnection);
    config = injector.get(ConfigService);
    florin = injector.get<FlorinConnection>(FLORIN);
  },

  createPayment(ctx, _order, amount, _args, metadata) {
    if (ctx.apiType !== 'admin') throw new UserInputError('use the mutation createFlorinPayment');
    const paid = metadata as unknown as PaidSession;
    return {
      // What was paid, which may be less or more than what the order costs by now.
      amount: paid.amount,
      state: 'Settled',
      transactionId: paid.sessionId,
      metadata: { ...paid.metadata, expected: amount },
    };
  },

  settlePayment: () => ({ success: true }),

  async createRefund(ctx, input, amount, _order, payment) {
    // The same request after a crash has the same key; the next one does not.
    const earlier = await connection.getRepository(ctx, Refund).countBy({ payment: { id: payment.id } });
    const sessionId = payment.transactionId;
    try {
      const refund = await florin.client.refunds.create(
        {
          sessionId,
          amount: microUsd(amount * microUsdPerUnit(config)),
          reason: [...(input.reason ?? '')].slice(0, maxReasonLength).join(''),
        },
        { idempotencyKey: `vendure refund ${earlier} of ${sessionId}: ${amount}` },
      );
      return { state: 'Pending', transactionId: refund.refundId, metadata: { florin: refund.status } };
    } catch (error) {
      if (error instanceof FlorinError) throw new UserInputError(`Florin refused: ${error.message}`);
      throw error;
    }
  },
});

/** A refund waits until the chain has it, and one that was given up may still have been sent. */
export const florinRefundProcess: NonNullable<PaymentOptions['refundProcess']>[number] = {
  transitions: { Pending: { to: ['Pending'] }, Failed: { to: ['Settled'] } },
};
