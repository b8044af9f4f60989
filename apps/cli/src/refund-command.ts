import type { Refund, RefundCreateRequest } from '@florin/sdk';
import { bodyOf, bodyOption, callOptionsOf, idempotencyOption, optionalAmount } from './body.ts';
import { argument, type CliOutside, mandatory, optional } from './command.ts';
import { CommandError } from './command-error.ts';
import { details, dollars } from './output.ts';
import { signRefundCommand } from './refund-signing.ts';
import { apiCommand, listCommand, type MerchantCommands, retrieveCommand, shown } from './resource.ts';
import { confirmation } from './secret-prompt.ts';

/** What a refund needs that requires a signature: its money may be elsewhere than the settlement's. */
function signatureText({ amount, requiredBalance: needed }: Refund): string {
  const money =
    needed === undefined
      ? ''
      : `Your wallet needs ${dollars(amount)} in ${needed.tokenId} on the chain ${needed.chainId}, and that chain's gas: `;
  return `${money}sign this refund in the dashboard, by florin refunds sign, or with refund.send of @florin/sdk.`;
}

/** Asks a person at a terminal before all that is left goes back; a script has read the help. */
async function confirmWhole(
  { sessionId, exceptionId }: RefundCreateRequest,
  outside: CliOutside,
): Promise<void> {
  const of = exceptionId === undefined ? sessionId : `${exceptionId} of ${sessionId}`;
  const answer = await confirmation(
    outside,
    `Without --amount all that is left of ${of} goes back. Do that?`,
  );
  if (answer === false) throw new CommandError('nothing was refunded: give --amount, or answer y');
}

/** `florin refunds …` */
export const refundCommands: MerchantCommands = {
  'refunds list': listCommand<Refund>({
    does: 'lists refunds, newest first',
    examples: ['refunds list', 'refunds list --session sess_…'],
    options: [optional('--session <id>', 'of this session alone')],
    columns: {
      REFUND: ({ refundId }) => refundId,
      'CREATED (UTC)': ({ createAt }) => createAt,
      STATUS: ({ status }) => status,
      AMOUNT: ({ amount }) => dollars(amount),
      SESSION: ({ sessionId }) => sessionId,
      REASON: ({ reason }) => reason,
    },
    list: (florin, options, _outside, size) =>
      florin.refunds.list({ size, sessionId: options.optional('session') }),
  }),
  'refunds retrieve': retrieveCommand('a refund', 'refunds retrieve rfd_…', (florin, id) =>
    florin.refunds.retrieve(id),
  ),
  'refunds create': apiCommand({
    does: 'sends a payment, or a part of it, back to its payer',
    examples: ["refunds create --session sess_… --amount 1.20 --reason 'one cup was cold'"],
    options: [
      mandatory('--session <id>', 'the paid session'),
      optional('--exception <id>', 'a second payment that was settled to you, by its exception'),
      optional('--amount <dollars>', 'how much (default: the rest of the payment)'),
      optional('--reason <text>', 'your own words'),
      optional('--yes', 'asks no question where the whole rest goes back'),
      bodyOption,
      idempotencyOption,
    ],
    async run(florin, options, outside) {
      const body = await bodyOf<RefundCreateRequest>(options, outside, {
        sessionId: options.required('session'),
        exceptionId: options.optional('exception'),
        amount: optionalAmount(options, 'amount'),
        reason: options.optional('reason'),
      });
      if (body.amount === undefined && !options.flag('yes')) await confirmWhole(body, outside);
      const refund = await florin.refunds.create(body, callOptionsOf(options));
      const { txRequest: _, prerequisites: __, ...brief } = refund;
      const text = details(brief);
      return {
        text: refund.status === 'requires_signature' ? `${text}\n${signatureText(refund)}` : text,
        json: refund,
      };
    },
  }),
  'refunds sign': signRefundCommand,
  'refunds cancel': apiCommand({
    does: 'cancels a refund that waits for your wallet',
    argument: argument('<id>', 'the id of a refund'),
    examples: ['refunds cancel rfd_…'],
    run: async (florin, options) => shown(await florin.refunds.cancel(options.required('id'))),
  }),
};
