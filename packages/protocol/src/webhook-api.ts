import Type from 'typebox';
import { route } from './route.ts';
import { idText, replacement } from './schema.ts';
import {
  webhook,
  webhookCreateBody,
  webhookEnableBody,
  webhookIdBody,
  webhookKeyRefreshBody,
  webhookUpdateBody,
} from './webhook.ts';

const read = { method: 'GET', tag: 'Webhooks', permissions: ['webhooks:read'], effect: 'query' } as const;
const write = { method: 'POST', tag: 'Webhooks', permissions: ['webhooks:write'], effect: 'update' } as const;

/** Webhooks of the merchant API. */
export const webhookRoutes = {
  createWebhook: route({
    ...write,
    path: '/webhook/create',
    summary: 'Register a webhook',
    description: '`key` verifies the notifications (Standard Webhooks).',
    body: webhookCreateBody,
    reply: webhook,
    effect: 'create',
    errors: ['webhook_limit', 'webhook_url_not_allowed', 'event_type_unknown', 'field_invalid'],
  }),
  updateWebhook: route({
    ...write,
    path: '/webhook/update',
    summary: 'Replace a webhook',
    description: replacement,
    body: webhookUpdateBody,
    errors: ['webhook_not_found', 'webhook_url_not_allowed', 'event_type_unknown', 'webhook_changed'],
  }),
  disableWebhook: route({
    ...write,
    path: '/webhook/disable',
    summary: 'Stop the notifications of a webhook',
    description:
      'Events raised meanwhile are logged as skipped, and can be replayed when it is enabled again.',
    body: webhookIdBody,
    errors: ['webhook_not_found'],
  }),
  enableWebhook: route({
    ...write,
    path: '/webhook/enable',
    summary: 'Start the notifications of a webhook',
    description: 'Enables an inactive or paused webhook.',
    body: webhookEnableBody,
    errors: ['webhook_not_found'],
  }),
  refreshWebhookKey: route({
    ...write,
    path: '/webhook/key/refresh',
    summary: 'Make a new signing key',
    description:
      'The old key is invalid at once unless overlapSeconds is given. The answer has no key: read the new one with GET /webhook/detail/:webhookId.',
    body: webhookKeyRefreshBody,
    errors: ['webhook_not_found'],
  }),
  removeWebhook: route({
    ...write,
    path: '/webhook/remove',
    summary: 'Delete a webhook for good',
    description: 'Its deliveries end with it. To use it again later, disable it instead.',
    body: webhookIdBody,
    errors: ['webhook_not_found'],
  }),
  listWebhooks: route({
    ...read,
    path: '/webhook/list',
    summary: 'List all webhooks',
    description: '`key` is masked unless the API key may read webhook secrets.',
    reply: Type.Object({ webhooks: Type.Array(webhook) }),
  }),
  getWebhook: route({
    ...read,
    path: '/webhook/detail/:webhookId',
    summary: 'Read a webhook',
    description: '`key` is masked unless the API key may read webhook secrets.',
    params: Type.Object({ webhookId: idText }),
    reply: webhook,
    errors: ['webhook_not_found'],
  }),
} as const;
