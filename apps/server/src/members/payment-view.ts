import type { Queryable, Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { maxPaymentViews, type PaymentFilter } from '@florin/protocol/payment-view.ts';
import type { Clock } from '#outside/clock.ts';
import { deleteView, lockMembership, upsertView, viewsOfMember } from './payment-view.sql.ts';

interface OfMember {
  readonly merchantId: string;
  readonly userId: string;
}

/** Filters of the payments list that a member keeps under a name. */
export interface PaymentView {
  readonly name: string;
  readonly filters: Partial<Record<PaymentFilter, string>>;
}

/** The views that a person has saved for a merchant, by name; none for a person who is no member. */
export async function listPaymentViews(queryable: Queryable, of: OfMember): Promise<PaymentView[]> {
  const rows = await queryable.query(viewsOfMember, of);
  return rows.map(({ name, filters }) => ({ name, filters: JSON.parse(filters) as PaymentView['filters'] }));
}

/**
 * Saves a view in place of the one with the same name. Refuses a merchant that the person does not act for (200205), and one
 * view more than a member keeps (400101).
 */
export async function savePaymentView(
  transaction: Transaction,
  deps: { readonly clock: Clock },
  { merchantId, userId, name, filters }: OfMember & PaymentView,
): Promise<void> {
  const [member] = await transaction.query(lockMembership, { merchantId, userId });
  // Whether the merchant exists is not told.
  if (member === undefined) throw new Refusal('role_forbidden', `no member of ${merchantId}`);
  const views = await transaction.query(viewsOfMember, { merchantId, userId });
  if (views.length >= maxPaymentViews && !views.some((view) => view.name === name))
    throw fieldRefusal(
      'name',
      `is one more than the ${maxPaymentViews} views that are kept: remove one first`,
    );
  await transaction.query(upsertView, {
    ...{ merchantId, userId, name, createdAt: deps.clock.now() },
    filters: JSON.stringify(filters),
  });
}

/** Removes a view. False: it was not there. */
export async function removePaymentView(
  transaction: Transaction,
  view: OfMember & { readonly name: string },
): Promise<boolean> {
  return (await transaction.query(deleteView, view)).length > 0;
}
