import type { RowOf } from '@florin/pg';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex, OrderType } from '@florin/protocol/order.ts';
import type { StoredOrder } from './stored-order.ts';

/** The columns that are read of an order. */
export const orderColumns = {
  order_id: 'text',
  session_id: 'text',
  chain_id: 'int8',
  token_id: 'text',
  channel_id: 'text',
  meta_data: 'text',
  payer: 'text',
  payer_email: 'text',
  with_secret: 'bool',
  token: 'text',
  recipient: 'text',
  total: 'numeric',
  payment: 'numeric',
  fee: 'numeric',
  pay_by: 'int8',
  reclaim_at: 'int8',
  order_type: 'int4',
  target_chain: 'int8',
  via: 'text',
  total_value: 'int8',
  payment_value: 'int8',
  fee_value: 'int8',
  net_value: 'int8',
  signature: 'text',
  gateway: 'text',
  payout_vault: 'text',
  added: 'numeric',
} as const;

export type OrderRow = RowOf<typeof orderColumns>;

/** Reads a row of `orders`. */
export function parseOrder(row: OrderRow): StoredOrder {
  return {
    orderId: row.order_id as Hex,
    sessionId: row.session_id,
    chainId: Number(row.chain_id),
    tokenId: row.token_id,
    payerEmail: row.payer_email,
    withSecret: row.with_secret,
    order: {
      channelId: row.channel_id as Hex,
      metaData: row.meta_data as Hex,
      payer: row.payer as Hex,
      token: row.token as Hex,
      to: row.recipient as Hex,
      total: row.total,
      payment: row.payment,
      fee: row.fee,
      payBy: row.pay_by,
      reclaimAt: row.reclaim_at,
      orderType: row.order_type as OrderType,
      targetChain: row.target_chain,
      via: row.via as Hex,
    },
    gateway: row.gateway as Hex | '',
    payoutVault: row.payout_vault as Hex | '',
    amounts: {
      totalValue: microUsd(row.total_value),
      paymentValue: microUsd(row.payment_value),
      feeValue: microUsd(row.fee_value),
      netValue: microUsd(row.net_value),
    },
    signature: row.signature as Hex,
    added: row.added,
  };
}
