import type { Database, Transaction } from '@florin/pg';
import type { BodyOf, Route } from '@florin/protocol/route.ts';
import { type Act, recordAct } from '#members/audit.ts';
import type { MemberContext } from '#members/context.ts';
import type { AddRoute, ReplyData } from '../route-handler.ts';
import type { StaffCaller } from './visitor.ts';

/** What a change answers, and its entry in the log: of the merchant, or of the installation without one. */
interface Done<R extends Route> {
  readonly reply: ReplyData<R>;
  readonly merchantId?: string;
  readonly act: Omit<Act, 'action'>;
}

/** Adds changes of the staff: each writes its entry of the audit log in its own transaction. */
export function staffChanges(
  add: AddRoute<StaffCaller>,
  deps: MemberContext & { readonly people: Database },
): <R extends Route>(
  route: R,
  action: string,
  handle: (transaction: Transaction, body: BodyOf<R>, userId: string) => Promise<Done<R>>,
) => void {
  return (route, action, handle) =>
    add(route, ({ body, caller: { userId, actor } }) =>
      deps.people.transaction(async (transaction) => {
        const { reply, merchantId, act } = await handle(transaction, body, userId);
        await recordAct(transaction, deps, { merchantId, actor, act: { ...act, action } });
        return reply;
      }),
    );
}
