import type { ReplyTo } from '../api/call.ts';

export type Hook = ReplyTo<'GET /webhook/list'>['webhooks'][number];
export type Sent = ReplyTo<'GET /webhook/delivery/list/:webhookId/:page/:size'>['deliveries'][number];
export type SentDetail = ReplyTo<'GET /webhook/delivery/detail/:deliveryId'>;
export type SentAttempt = SentDetail['attempts'][number];
