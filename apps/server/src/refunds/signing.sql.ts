import { statement } from '@florin/pg';

// Of the refund's payment: the signing may be of another refund.
export const signingByRefund = statement({
  name: 'refund_signing_by_refund',
  parameters: { merchantId: 'text', refundId: 'text' },
  columns: {
    signing_id: 'text',
    order_id: 'text',
    refund_id: 'text',
    is_withdrawn: 'bool',
    user_id: 'text',
    name: 'text',
    account: 'text',
    tx_hash: 'text',
    asked_at: 'timestamptz',
  },
  text: `select s.signing_id, s.order_id, s.refund_id, signed.status = 'cancelled' as is_withdrawn, s.user_id, coalesce(u.name, '') as name,
     s.account, s.tx_hash, s.asked_at
   from refunds r join refund_signings s using (order_id) join refunds signed on signed.refund_id = s.refund_id
     left join sign_in."user" u on u.id = s.user_id
   where r.merchant_id = :merchantId and r.refund_id = :refundId`,
});

export const signedRefund = statement({
  name: 'refund_signing_by_order',
  parameters: { orderId: 'text' },
  columns: { refund_id: 'text' },
  text: 'select refund_id from refund_signings where order_id = :orderId',
});

// No row: another signing is open.
export const insertSigning = statement({
  name: 'refund_signing_start',
  parameters: {
    orderId: 'text',
    merchantId: 'text',
    refundId: 'text',
    signingId: 'text',
    insteadOf: 'text',
    userId: 'text',
    account: 'text',
    askedAt: 'timestamptz',
  },
  columns: { signing_id: 'text' },
  text: `insert into refund_signings as s (order_id, merchant_id, refund_id, signing_id, user_id, account, asked_at)
   values (:orderId, :merchantId, :refundId, :signingId, :userId, :account, :askedAt)
   on conflict (order_id) do update set refund_id = excluded.refund_id, signing_id = excluded.signing_id,
     user_id = excluded.user_id, account = excluded.account, asked_at = excluded.asked_at,
     tx_hash = case s.signing_id when excluded.signing_id then s.tx_hash else '' end
   where s.signing_id in (:insteadOf, excluded.signing_id)
   returning s.signing_id`,
});

// The wallet or a node may send the lost return again. A signing that is open may return it too, and stays.
export const insertLostSigning = statement({
  name: 'refund_signing_reopen',
  parameters: {
    orderId: 'text',
    merchantId: 'text',
    refundId: 'text',
    account: 'text',
    txHash: 'text',
    askedAt: 'timestamptz',
  },
  columns: {},
  text: `insert into refund_signings (order_id, merchant_id, refund_id, signing_id, user_id, account, tx_hash, asked_at)
   values (:orderId, :merchantId, :refundId, gen_random_uuid()::text, '', :account, :txHash, :askedAt)
   on conflict (order_id) do nothing`,
});

export const setSigningHash = statement({
  name: 'refund_signing_report',
  parameters: { merchantId: 'text', refundId: 'text', signingId: 'text', userId: 'text', txHash: 'text' },
  columns: { signing_id: 'text' },
  text: `update refund_signings set tx_hash = :txHash
   where merchant_id = :merchantId and refund_id = :refundId and signing_id = :signingId and user_id = :userId
   returning signing_id`,
});

export const deleteSigning = statement({
  name: 'refund_signing_end',
  parameters: { merchantId: 'text', refundId: 'text', signingId: 'text', userId: 'text' },
  columns: { signing_id: 'text' },
  text: `delete from refund_signings
   where merchant_id = :merchantId and refund_id = :refundId and signing_id = :signingId and user_id = :userId
   returning signing_id`,
});

// The wallet of a withdrawn refund may answer yet.
export const endSigningByReturn = statement({
  name: 'refund_signing_end_by_return',
  parameters: { orderId: 'text', amount: 'int8' },
  text: `delete from refund_signings s using refunds r
   where s.order_id = :orderId and r.refund_id = s.refund_id and (r.amount = :amount or r.status not in ('requires_signature', 'cancelled'))`,
});
