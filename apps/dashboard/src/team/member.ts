import type { ReplyTo } from '../api/call.ts';

export type Member = ReplyTo<'GET /member/list'>['members'][number];
