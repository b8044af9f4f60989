import Type, { type TObject } from 'typebox';
import { account } from './account.ts';
import type { EventType } from './event.ts';
import { raisedException } from './exception.ts';
import { linkDetail } from './link.ts';
import { product } from './product.ts';
import { refund } from './refund.ts';
import { session, sessionView } from './session.ts';
import { webhook } from './webhook.ts';

const { key: _key, ...keylessWebhook } = webhook.properties;

const ofAccount = Type.Object({ account });
const ofProduct = Type.Object({ product });
const ofLink = Type.Object({ link: linkDetail });
const ofSession = Type.Object({ session });
const ofRefund = Type.Object({ refund });

/** `data` of each event type. */
export const eventDataSchemas: Readonly<Record<EventType, TObject>> = {
  'account.created': ofAccount,
  'account.updated': ofAccount,
  'account.removed': ofAccount,
  'product.created': ofProduct,
  'product.updated': ofProduct,
  'product.archived': ofProduct,
  'product.unarchived': ofProduct,
  'product.removed': ofProduct,
  'payment.link.created': ofLink,
  'payment.link.updated': ofLink,
  'payment.link.disabled': ofLink,
  'payment.link.enabled': ofLink,
  'session.created': ofSession,
  'session.payment_detected': ofSession,
  'session.paid': sessionView,
  'session.settling': sessionView,
  'session.completed': sessionView,
  'session.settlement_pending': sessionView,
  'session.expired': ofSession,
  'session.cancelled': ofSession,
  'session.exception': Type.Object({ exception: raisedException, session }),
  'refund.created': ofRefund,
  'refund.completed': ofRefund,
  'refund.failed': ofRefund,
  'webhook.test': Type.Object({ message: Type.String() }),
  'webhook.paused': Type.Object({ webhook: Type.Object(keylessWebhook) }),
};
