import type { Delivery, Florin } from '@florin/sdk';
import { countOf } from './body.ts';
import { argument, type CommandResult, type Options, optional } from './command.ts';
import { printable } from './output.ts';
import { apiCommand, listed, type MerchantCommand } from './resource.ts';

const statuses = ['pending', 'succeeded', 'failed', 'skipped'] as const;
const defaultLimit = 20;
const maxLimit = 1_000;

interface LoggedDelivery extends Delivery {
  readonly webhookId: string;
}

export const logsCommand: MerchantCommand = apiCommand({
  does: 'shows deliveries to webhooks with their attempts, newest first; of one delivery every request and answer',
  argument: argument('[id]', 'a webhook or a delivery (default: all webhooks)'),
  examples: ['logs', 'logs wkid_… --status failed', 'logs dlv_…'],
  options: [
    optional('--status <status>', 'only these').choices(statuses),
    optional('--limit <count>', `so many, of at most ${maxLimit} (default: ${defaultLimit})`),
  ],
  async run(florin, options) {
    const id = options.optional('id');
    return id?.startsWith('dlv_') === true ? showDelivery(florin, id) : listDeliveries(florin, id, options);
  },
});

async function listDeliveries(
  florin: Florin,
  webhookId: string | undefined,
  options: Options,
): Promise<CommandResult> {
  const limit = countOf('limit', options.optional('limit') ?? String(defaultLimit), maxLimit);
  const status = options.choice('status', statuses);
  const ids = webhookId === undefined ? await webhookIds(florin) : [webhookId];
  const found: LoggedDelivery[] = [];
  for (const each of ids) {
    const ofWebhook: LoggedDelivery[] = [];
    for await (const delivery of florin.webhooks.deliveries.list(each, { size: Math.min(limit, 100) })) {
      if (status === undefined || delivery.status === status)
        ofWebhook.push({ ...delivery, webhookId: each });
      if (ofWebhook.length >= limit) break;
    }
    found.push(...ofWebhook);
  }
  const newest = found.toSorted((a, b) => b.createAt.localeCompare(a.createAt)).slice(0, limit);
  return listed(newest, {
    DELIVERY: ({ deliveryId }) => deliveryId,
    'CREATED (UTC)': ({ createAt }) => createAt,
    EVENT: ({ eventType }) => eventType,
    STATUS: ({ status }) => status,
    ATTEMPTS: ({ attempts }) => String(attempts.at(-1)?.attempt ?? 0),
    LAST: ({ attempts }) => lastOf(attempts.at(-1)),
    'NEXT (UTC)': ({ nextAttemptAt }) => nextAttemptAt ?? '',
  });
}

async function webhookIds(florin: Florin): Promise<string[]> {
  const ids: string[] = [];
  for await (const { webhookId } of florin.webhooks.list()) ids.push(webhookId);
  return ids;
}

function lastOf(attempt: Delivery['attempts'][number] | undefined): string {
  if (attempt === undefined) return '';
  const { httpStatus, latencyMs, error } = attempt;
  return `${httpStatus ?? error} in ${latencyMs} ms`;
}

async function showDelivery(florin: Florin, deliveryId: string): Promise<CommandResult> {
  const delivery = await florin.webhooks.deliveries.retrieve(deliveryId);
  const { attempts, body } = delivery;
  const lines = [
    `${delivery.eventType}  ${delivery.eventId}  to ${delivery.webhookId}: ${delivery.status}`,
    ...attempts.flatMap(({ attempt, at, httpStatus, latencyMs, error, responseBody }) => [
      `${at} UTC  attempt ${attempt}: ${httpStatus ?? 'no answer'} in ${latencyMs} ms ${error}`.trimEnd(),
      ...(responseBody === '' ? [] : [`  ${responseBody}`]),
    ]),
    ...(body === '' ? [] : [body]),
  ];
  return { text: lines.map(printable).join('\n'), json: delivery };
}
