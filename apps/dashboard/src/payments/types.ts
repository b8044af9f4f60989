import type { ReplyTo } from '../api/call.ts';

export type PaymentHistory = ReplyTo<'GET /session/history/:sessionId'>;
export type PaymentToken = ReplyTo<'GET /token/list'>['tokens'][number];
