import type { Queryable, Transaction } from '@florin/pg';
import { fieldRefusal, Refusal } from '@florin/protocol/error.ts';
import { type MemberRole, memberRoles } from '@florin/protocol/member-role.ts';
import {
  isAlwaysNotified,
  isNotifiedByDefault,
  type NotificationKind,
  notificationKinds,
} from '@florin/protocol/notification.ts';
import { choicesOfUser, lockRole, merchantsChosenFor, recipientsOf, setChoice } from './notification.sql.ts';

/** What a member gets by e-mail about one merchant. */
export interface MerchantNotifications {
  readonly merchantId: string;
  readonly merchantName: string;
  readonly notifications: {
    readonly kind: NotificationKind;
    readonly isWanted: boolean;
    /** It cannot be turned off. */
    readonly isAlways: boolean;
  }[];
}

/** What a person gets by e-mail, for each merchant that they act for, by name. */
export async function listNotifications(
  queryable: Queryable,
  userId: string,
): Promise<MerchantNotifications[]> {
  const rows = await queryable.query(choicesOfUser, { userId });
  return rows.map(
    ({ merchant_id: merchantId, merchant_name: merchantName, role: given, wanted, unwanted }) => {
      const role = given as MemberRole;
      const notifications = notificationKinds.map((kind) => {
        const isAlways = isAlwaysNotified(kind, role);
        const isChosen =
          wanted.includes(kind) || (!unwanted.includes(kind) && isNotifiedByDefault(kind, role));
        return { kind, isWanted: isAlways || isChosen, isAlways };
      });
      return { merchantId, merchantName, notifications };
    },
  );
}

/**
 * Stores what a member wants. Refuses a merchant that the person does not act for (200205), and turning off what the role
 * always gets (400101).
 */
export async function chooseNotification(
  transaction: Transaction,
  choice: {
    readonly merchantId: string;
    readonly userId: string;
    readonly kind: NotificationKind;
    readonly isWanted: boolean;
  },
): Promise<void> {
  const { merchantId, userId, kind, isWanted } = choice;
  const [row] = await transaction.query(lockRole, { merchantId, userId });
  // Whether the merchant exists is not told.
  if (row === undefined) throw new Refusal('role_forbidden', `no member of ${merchantId}`);
  if (!isWanted && isAlwaysNotified(kind, row.role as MemberRole))
    throw fieldRefusal('isWanted', 'must be true: who may change wallets or members is told of every change');
  await transaction.query(setChoice, choice);
}

/** The members of a merchant who get e-mails of a kind, the oldest member first. */
export async function listRecipients(
  queryable: Queryable,
  merchantId: string,
  kind: NotificationKind,
): Promise<{ readonly userId: string; readonly email: string; readonly role: MemberRole }[]> {
  const alwaysRoles = memberRoles.filter((role) => isAlwaysNotified(kind, role));
  const defaultRoles = memberRoles.filter((role) => isNotifiedByDefault(kind, role));
  const rows = await queryable.query(recipientsOf, { merchantId, kind, alwaysRoles, defaultRoles });
  return rows.map(({ user_id: userId, email, role }) => ({ userId, email, role: role as MemberRole }));
}

/** Stores that a member does not want a kind. Nothing happens when the person is no member any more. */
export async function declineNotification(
  transaction: Transaction,
  { merchantId, userId, kind }: { merchantId: string; userId: string; kind: NotificationKind },
): Promise<void> {
  const [row] = await transaction.query(lockRole, { merchantId, userId });
  if (row !== undefined) await transaction.query(setChoice, { merchantId, userId, kind, isWanted: false });
}

/** The next merchants with a member who asked for e-mails of a kind, by id. For kinds that no role gets unasked. */
export async function merchantsThatChose(
  queryable: Queryable,
  request: { readonly kind: NotificationKind; readonly after: string; readonly limit: number },
): Promise<string[]> {
  return (await queryable.query(merchantsChosenFor, request)).map((row) => row.merchant_id);
}
