import type { ReplyTo } from '../api/call.ts';

export type TeamMember = ReplyTo<'GET /member/list'>['members'][number];
