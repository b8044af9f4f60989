import Type, { type Static } from 'typebox';
import { refundStatuses } from './refund.ts';
import { route } from './route.ts';
import { idText, strictObject, timestampText } from './schema.ts';

const signingId = Type.String({
  pattern: '^[0-9a-f-]{36}$',
  description: 'A random UUID, chosen by the page that asks its wallet',
});
const account = Type.String({ pattern: '^0x[0-9a-fA-F]{40}$' });
const txHash = Type.String({ pattern: '^0x[0-9a-fA-F]{64}$' });

/** A wallet that was asked to return a part of a settled payment. */
export const refundSigning = Type.Object({
  signingId,
  refundId: Type.String({ description: 'This refund, or another one of the same payment' }),
  isWithdrawn: Type.Boolean({
    description: 'Whether its refund was withdrawn. The wallet may still sign, which returns the money',
  }),
  memberName: Type.String({ description: 'Who asked; empty when the member is gone' }),
  isMine: Type.Boolean({ description: 'Whether the caller asked' }),
  account: Type.String({ description: 'The address that signs' }),
  txHash: Type.String({ description: 'Empty until the wallet has told it' }),
  returnedNothing: Type.Boolean({
    description:
      'Whether the chain shows that the transaction returned nothing of this payment: it failed, or is another one. ' +
      '`false` while no node shows the transaction',
  }),
  askedAt: timestampText,
});
export type RefundSigning = Static<typeof refundSigning>;

const write = { method: 'POST', tag: 'Refunds', permissions: ['refunds:write'], effect: 'update' } as const;

/** How members agree on who signs a refund in the browser's wallet. */
export const refundSigningRoutes = {
  getRefundSigning: route({
    method: 'GET',
    path: '/refund/signing/:refundId',
    summary: 'Read who signs a refund of this payment',
    description: 'A payment has at most one signing. It ends when the return is final on chain.',
    tag: 'Refunds',
    params: Type.Object({ refundId: idText }),
    reply: Type.Object({
      status: Type.Enum(refundStatuses, {
        description:
          'Of this refund, read after the signing: without a signing only `requires_signature` is to sign',
      }),
      signing: Type.Optional(refundSigning),
    }),
    permissions: ['refunds:read'],
    effect: 'query',
    errors: ['refund_not_found'],
  }),
  startRefundSigning: route({
    ...write,
    path: '/refund/signing/start',
    summary: 'Start the signing of a refund, before the wallet is asked',
    description:
      'Refused while another signing of this payment is open. To replace one that sent nothing, give its id as `insteadOf`. ' +
      'The same `signingId` again changes nothing.',
    body: strictObject({ refundId: idText, signingId, account, insteadOf: Type.Optional(signingId) }),
    errors: ['refund_not_found', 'refund_not_possible', 'refund_being_signed', 'chain_unavailable'],
  }),
  reportRefundSigning: route({
    ...write,
    path: '/refund/signing/sent',
    summary: 'Tell the transaction of a signing',
    description:
      'A transaction that replaced another one is told again. Only the member who holds the signing tells it, and a ' +
      'signing that has ended stays ended.',
    body: strictObject({ refundId: idText, signingId, txHash }),
    errors: ['refund_not_found', 'refund_being_signed'],
  }),
  endRefundSigning: route({
    ...write,
    path: '/refund/signing/end',
    summary: 'End a signing that moved no money',
    description: 'Only the member who holds the signing ends it. One that has ended stays ended.',
    body: strictObject({ refundId: idText, signingId }),
    errors: ['refund_not_found', 'refund_being_signed'],
  }),
  withdrawSignedRefund: route({
    ...write,
    path: '/refund/withdraw',
    summary: 'Cancel a refund that a wallet was asked to sign',
    description:
      'Names the signing that the member has seen. The signing stays open, so another refund of the payment is signed ' +
      'only in its place. If the wallet signs after all, the refund becomes completed, and counts once.',
    body: strictObject({ refundId: idText, signingId }),
    errors: ['refund_not_found', 'refund_being_signed', 'refund_not_cancellable'],
  }),
} as const;
