import { AgentError, type PayerAccount, type PayLinkOptions, payLink } from '@florin/agent';
import type { JsonObject } from '@florin/protocol/openapi-schema.ts';
import { fieldAnswer, type Tool } from './tool.ts';

const microUsdText = (description: string) => ({
  type: 'string',
  pattern: '^[1-9][0-9]{0,13}$',
  description,
});

/**
 * A tool that pays with an account of this machine. The model may lower `limits.maxAmount`, never raise it, and cannot
 * change the other limits.
 */
export function payTool(
  limits: Omit<PayLinkOptions, 'account' | 'amount' | 'idempotencyKey' | 'payerEmail'> & {
    readonly account: PayerAccount;
  },
): Tool {
  return {
    name: 'pay',
    title: 'Pay a link or a session',
    description:
      `Pays a payment link or a session with the account ${limits.account.address}, at most ${limits.maxAmount} Micro-USD, ` +
      'and waits until the payment is final. Repeat a call with the same idempotencyKey after any failure: it takes up ' +
      'the same payment. Choose a new key only for another purchase that the person you act for wants.',
    inputSchema: {
      type: 'object',
      properties: {
        url: {
          type: 'string',
          maxLength: 2_000,
          description: 'Of the link, the session, or its view for agents',
        },
        idempotencyKey: {
          type: 'string',
          minLength: 1,
          maxLength: 255,
          description: 'One for each purchase',
        },
        maxAmount: microUsdText(
          'The most that it may cost, in Micro-USD, if less than the limit of the account',
        ),
        amount: microUsdText('What to pay through a link where the payer chooses, in Micro-USD'),
        payerEmail: { type: 'string', maxLength: 254 },
      },
      required: ['url', 'idempotencyKey'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        ...{ sessionId: { type: 'string' }, stage: { type: 'string' }, isRepeat: { type: 'boolean' } },
        ...{ txHash: { type: 'string' }, settlementTxHash: { type: 'string' } },
      },
      required: ['sessionId', 'stage', 'txHash', 'settlementTxHash', 'isRepeat'],
    },
    isReadOnly: false,
    isDestructive: true,
    isOpenWorld: true,
    isIdempotent: true,
    async run(input) {
      const idempotencyKey = textOf(input, 'idempotencyKey') ?? '';
      // Without a key, a second purchase would count as a repeat of the first.
      if (idempotencyKey === '')
        return fieldAnswer('idempotencyKey', 'must be text that is not empty, one for each purchase');
      try {
        const { sessionId, stage, txHash, settlementTxHash, isRepeat } = await payLink(
          textOf(input, 'url') ?? '',
          { ...optionsOf(limits, input), idempotencyKey },
        );
        return { value: { sessionId, stage, txHash, settlementTxHash, isRepeat }, isError: false };
      } catch (error) {
        if (!(error instanceof AgentError)) throw error;
        const { reason, message, remedy, isRetryable } = error;
        return { value: { reason, message, remedy, isRetryable }, isError: true };
      }
    },
  };
}

function textOf(input: JsonObject, name: string): string | undefined {
  const value = input[name];
  return typeof value === 'string' ? value : undefined;
}

function microUsdOf(input: JsonObject, name: string): bigint | undefined {
  const value = input[name];
  if (value === undefined) return undefined;
  if (typeof value === 'string' && /^[1-9][0-9]{0,13}$/.test(value)) return BigInt(value);
  throw new AgentError('amount_refused', `${name} must be a decimal text of Micro-USD`);
}

function optionsOf(limits: PayLinkOptions, input: JsonObject): PayLinkOptions {
  const asked = microUsdOf(input, 'maxAmount');
  const isLess = asked !== undefined && asked < limits.maxAmount;
  const amount = microUsdOf(input, 'amount');
  const payerEmail = textOf(input, 'payerEmail');
  return {
    ...limits,
    ...(isLess ? { maxAmount: asked } : {}),
    ...(amount === undefined ? {} : { amount }),
    ...(payerEmail === undefined ? {} : { payerEmail }),
  };
}
