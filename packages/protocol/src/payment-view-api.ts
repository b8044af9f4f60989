import Type from 'typebox';
import { maxPaymentViews, type PaymentFilter, paymentFilters } from './payment-view.ts';
import { route } from './route.ts';
import { idText, nameText, strictObject, text } from './schema.ts';

const filter = Type.Optional(text({ min: 1, max: 200 }));
const filters = Type.Object(
  Object.fromEntries(paymentFilters.map((name) => [name, filter])) as Record<PaymentFilter, typeof filter>,
  { additionalProperties: false },
);
/** Views from before the rule of names can be removed as well. */
const anyName = text({ min: 1, max: 60 });
const personal = { permissions: [], tag: 'Views of payments' } as const;

/** Filters of the payments list that a member keeps under names, on every computer. They are of one member and merchant. */
export const paymentViewRoutes = {
  listMyViews: route({
    ...personal,
    method: 'GET',
    path: '/me/view/list/:merchantId',
    summary: 'List the views that this person has saved for a merchant, by name',
    params: Type.Object({ merchantId: idText }),
    reply: Type.Object({ views: Type.Array(Type.Object({ name: Type.String(), filters })) }),
    effect: 'query',
  }),
  saveMyView: route({
    ...personal,
    method: 'POST',
    path: '/me/view/save',
    summary: 'Save a view, in place of the one with the same name',
    description: `At most ${maxPaymentViews} for each merchant.`,
    body: strictObject({ merchantId: idText, name: nameText({ max: 60 }), filters }),
    effect: 'update',
    errors: ['role_forbidden', 'field_invalid'],
  }),
  removeMyView: route({
    ...personal,
    method: 'POST',
    path: '/me/view/remove',
    summary: 'Remove a view; one that is not there is removed already',
    body: strictObject({ merchantId: idText, name: anyName }),
    effect: 'update',
  }),
} as const;
