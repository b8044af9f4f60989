import Type, { type TObject } from 'typebox';
import { account } from './account.ts';
import { accountChange } from './account-change.ts';
import { type EventDataName, type EventType, events } from './event.ts';
import { raisedException } from './exception.ts';
import { linkDetail } from './link.ts';
import { product } from './product.ts';
import { refund } from './refund.ts';
import { paidSessionView, session } from './session.ts';
import { webhook } from './webhook.ts';

const { key: _key, ...keylessWebhook } = webhook.properties;

const schemas: Readonly<Record<EventDataName, TObject>> = {
  account: Type.Object({ account }),
  accountChange: Type.Object({ accountChange }),
  product: Type.Object({ product }),
  link: Type.Object({ link: linkDetail }),
  session: Type.Object({ session }),
  paidSession: paidSessionView,
  exception: Type.Object({ exception: raisedException, session }),
  refund: Type.Object({ refund }),
  message: Type.Object({ message: Type.String() }),
  webhook: Type.Object({ webhook: Type.Object(keylessWebhook) }),
};

/** The schema of the `data` of events of one type. */
export function eventDataSchema(type: EventType): TObject {
  return schemas[events[type].data];
}
