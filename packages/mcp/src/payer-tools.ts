import { agentApi } from '@florin/protocol/agent-api.ts';
import type { JsonObject } from '@florin/protocol/openapi-schema.ts';
import { routeTool } from './route-tool.ts';
import type { CallApi, Tool } from './tool.ts';

const { routes } = agentApi;

const idSchema = (name: string): Tool['inputSchema'] => ({
  type: 'object',
  properties: { [name]: { type: 'string', minLength: 1, maxLength: 64 } },
  required: [name],
  additionalProperties: false,
});

/** The payers' tools: the AI protocol, one tool for each step. They need no key; the payer signs. */
export function payerTools(callApi: CallApi): Tool[] {
  const toolOf = (name: string, route: (typeof routes)[keyof typeof routes], description?: string) =>
    routeTool({
      name,
      table: agentApi,
      route,
      callApi,
      // What a payer submits is paid; the texts of links were written by strangers.
      isDestructive: name === 'submit',
      isOpenWorld: true,
      ...(description === undefined ? {} : { description }),
    });
  const status = toolOf(
    'status',
    routes.getPaymentSession,
    'Where a session stands, and what comes next (aiView.workflow.nextAction). Read it before paying again: a payment that is seen must not be repeated.',
  );
  return [
    toolOf('get_link', routes.getPaymentLink),
    toolOf('create_session', routes.createPaymentSession),
    toolOf(
      'prepare',
      routes.preparePayment,
      'The transaction that pays a session (calldata), what must be sent before it, and ways to pay by a signature alone. The identical request answers the identical order.',
    ),
    toolOf('submit', routes.submitPayment),
    status,
    {
      name: 'receipt',
      title: 'Read what was paid',
      description: 'What a paid session was for, and its transactions. Refuses a session that is not paid.',
      inputSchema: idSchema('sessionId'),
      outputSchema: receiptSchema,
      isReadOnly: true,
      isDestructive: false,
      isOpenWorld: true,
      isIdempotent: true,
      async run(input) {
        const answer = await status.run(input);
        return answer.isError ? answer : receiptOf(answer.value['data'] as JsonObject);
      },
    },
  ];
}

const texts = (...names: string[]) => Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
const receiptSchema: Tool['outputSchema'] = {
  type: 'object',
  properties: {
    ...texts('sessionId', 'status', 'merchantId', 'amountInUSD', 'paymentTx', 'settlementTx'),
    lineItems: { type: 'array', items: { type: 'object' } },
  },
  required: ['sessionId', 'status', 'merchantId', 'amountInUSD', 'lineItems', 'paymentTx', 'settlementTx'],
};

const paidStatuses: ReadonlySet<unknown> = new Set(['paid', 'settling', 'completed', 'settlement_pending']);

function receiptOf(view: JsonObject): { value: JsonObject; isError: boolean } {
  const { sessionId = '', status = '', amountInUSD = '', merchantId = '', lineItems = [] } = view;
  if (!paidStatuses.has(status)) return { value: { message: 'not paid', sessionId, status }, isError: true };
  const { initiateTx: paymentTx = '', completeTx: settlementTx = '' } = view;
  return {
    value: { sessionId, status, merchantId, amountInUSD, lineItems, paymentTx, settlementTx },
    isError: false,
  };
}
