import Type from 'typebox';
import { ownBounce } from './mail-api.ts';
import { notificationKinds } from './notification.ts';
import { route } from './route.ts';
import { idText, strictObject } from './schema.ts';

const notificationKind = Type.Enum(notificationKinds);
const personal = { method: 'POST', permissions: [], tag: 'Notifications', effect: 'update' } as const;

/** E-mails to members about their merchants: what each gets, by kind and merchant. */
export const notificationRoutes = {
  listMyNotifications: route({
    ...personal,
    method: 'GET',
    path: '/me/notification/list',
    summary: 'What this person gets by e-mail, for each merchant',
    reply: Type.Object({
      isMailConfigured: Type.Boolean({
        description: 'false: the installation has no mail server and sends nothing',
      }),
      bounce: ownBounce,
      merchants: Type.Array(
        Type.Object({
          merchantId: Type.String(),
          merchantName: Type.String(),
          notifications: Type.Array(
            Type.Object({
              kind: notificationKind,
              isWanted: Type.Boolean(),
              isAlways: Type.Boolean({ description: 'It cannot be turned off' }),
            }),
          ),
        }),
      ),
    }),
    effect: 'query',
  }),
  changeMyNotification: route({
    ...personal,
    path: '/me/notification/change',
    summary: 'Choose whether to get e-mails of a kind about a merchant',
    body: strictObject({ merchantId: idText, kind: notificationKind, isWanted: Type.Boolean() }),
    errors: ['role_forbidden', 'field_invalid'],
  }),
  retryMyMail: route({
    ...personal,
    path: '/me/mail/retry',
    summary: 'Let e-mails go to the own address again that the mail server refused for good',
    description: 'What was not sent meanwhile is not sent later.',
  }),
} as const;
