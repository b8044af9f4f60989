import type { ReplyTo } from '../api/call.ts';

export type WalletAccount = ReplyTo<'GET /account/list'>[number];
export type WalletChange = ReplyTo<'GET /account/change/list'>['changes'][number];
export type SettlementToken = ReplyTo<'GET /token/list'>['tokens'][number];
export type MoneyOnItsWay = ReplyTo<'GET /summary'>['onItsWay'][number];
