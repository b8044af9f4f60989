import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Transaction } from '@florin/pg';
import { Refusal } from '@florin/protocol/error.ts';
import { type MemberRole, mayAssign, memberRoles } from '@florin/protocol/member-role.ts';
import pg from 'pg';
import { createMerchant } from '#merchants/merchant.ts';
import { systemRandom } from '#outside/random.ts';
import { type TestDatabase, testDatabase } from '../../test/harness/database.ts';
import { addUser } from '../../test/harness/member-fixture.ts';
import { listAudit, operator, recordAct } from './audit.ts';
import { acceptInvitation, invitationUrl, invite, listInvitations, revokeInvitation } from './invitation.ts';
import { assertMayInvite, assertMayInviteAsStaff } from './inviter.ts';
import {
  addMember,
  changeRole,
  findMember,
  findRole,
  listMembers,
  listOwnMerchants,
  removeMember,
} from './membership.ts';
import { addStaff, removeStaff } from './staff.ts';

let database: TestDatabase;
let time = Date.UTC(2030, 0, 1);
const deps = {
  clock: { now: () => new Date(time), monotonicMs: () => time, sleep: async () => {} },
  random: systemRandom,
};
before(async () => {
  database = await testDatabase();
});
after(() => database.close());

function transact<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
  return database.db.transaction(work);
}

const actorOf = (id: string) => ({ ...operator, kind: 'member', id }) as const;

async function newMerchant(): Promise<string> {
  return (await transact((transaction) => createMerchant(transaction, deps, { merchantName: 'Tea' })))
    .merchantId;
}

async function newMember(merchantId: string, role: MemberRole): Promise<string> {
  const userId = await addUser(database.db);
  await transact((transaction) => addMember(transaction, deps, { merchantId, userId, role }));
  return userId;
}

async function slugOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error === undefined) return 'none';
  if (!(error instanceof Refusal)) throw error;
  return error.slug;
}

test('a person has one role at each merchant, and sees the merchants that they act for', async () => {
  const [tea, coffee] = [await newMerchant(), await newMerchant()];
  const userId = await newMember(tea, 'finance');
  await transact((transaction) =>
    addMember(transaction, deps, { merchantId: coffee, userId, role: 'owner' }),
  );
  assert.equal(await findRole(database.db, { merchantId: tea, userId }), 'finance');
  const own = await listOwnMerchants(database.db, userId);
  assert.deepEqual(
    own.map(({ merchantId, role }) => [merchantId, role]).sort(),
    [
      [tea, 'finance'],
      [coffee, 'owner'],
    ].sort(),
  );
  const again = { merchantId: tea, userId, role: 'owner' } as const;
  assert.equal(await slugOf(transact((transaction) => addMember(transaction, deps, again))), 'member_exists');
});

test('a merchant in its own scope sees its own members alone, with their names', async () => {
  const [tea, coffee] = [await newMerchant(), await newMerchant()];
  const [ours, theirs] = [await newMember(tea, 'owner'), await newMember(coffee, 'owner')];
  const scoped = database.db.inScope(tea);
  assert.deepEqual(
    (await listMembers(scoped, tea)).map(({ userId, email }) => [userId, email]),
    [[ours, `${ours.toLowerCase()}@example.com`]],
  );
  assert.deepEqual(await listMembers(scoped, coffee), []);
  assert.equal(await findMember(scoped, { merchantId: coffee, userId: theirs }), undefined);
});

test('an invitation takes an e-mail address, in lower case, and nothing that only resembles one', async () => {
  const merchantId = await newMerchant();
  const inviteTo = (email: string) =>
    transact((transaction) =>
      invite(transaction, deps, { merchantId, role: 'viewer', email, invitedBy: '' }),
    );
  for (const email of [
    ...['nonsense', 'a@', '@example.com', 'a@b@example.com', 'a b@example.com', 'a@exa_mple.com'],
    ...['kim@example.com\r\nBcc: eve@example.com', 'kim\u202e@example.com', '<b>kim</b>@example.com'],
    `${'a'.repeat(64)}@${'b.'.repeat(100)}com`,
  ])
    assert.deepEqual([email, await slugOf(inviteTo(email))], [email, 'field_invalid']);
  assert.equal((await inviteTo(' Kim@Example.com ')).invitation.email, 'kim@example.com');
});

test('the last owner of a merchant can neither go nor change the role', async () => {
  const merchantId = await newMerchant();
  const owner = await newMember(merchantId, 'owner');
  const leave = () =>
    slugOf(
      transact((transaction) =>
        removeMember(transaction, deps, { merchantId, userId: owner, actor: 'owner' }),
      ),
    );
  const step = (role: MemberRole) => ({ merchantId, userId: owner, role, actor: 'owner' }) as const;
  assert.equal(await leave(), 'last_owner');
  assert.equal(
    await slugOf(transact((transaction) => changeRole(transaction, deps, step('admin')))),
    'last_owner',
  );
  await transact((transaction) => changeRole(transaction, deps, step('owner')));
  await newMember(merchantId, 'owner');
  assert.equal(await leave(), 'none');
});

test('of two changes of a role that are based on one read, the second is refused', async () => {
  const merchantId = await newMerchant();
  const userId = await newMember(merchantId, 'viewer');
  const change = (role: MemberRole, ifRole: MemberRole) =>
    slugOf(
      transact((transaction) =>
        changeRole(transaction, deps, { merchantId, userId, role, ifRole, actor: 'owner' }),
      ),
    );
  assert.deepEqual(
    [await change('support', 'viewer'), await change('admin', 'viewer'), await change('admin', 'support')],
    ['none', 'member_changed', 'none'],
  );
});

test('of two owners who remove each other at the same time, one stays', async () => {
  const merchantId = await newMerchant();
  const owners = [await newMember(merchantId, 'owner'), await newMember(merchantId, 'owner')];
  const outcomes = await Promise.all(
    owners.map((userId) =>
      slugOf(
        transact((transaction) => removeMember(transaction, deps, { merchantId, userId, actor: 'owner' })),
      ),
    ),
  );
  assert.deepEqual(outcomes.sort(), ['last_owner', 'none']);
  assert.equal((await listMembers(database.db, merchantId)).length, 1);
});

test('only owners make and remove owners; owners and admins assign the other roles', async () => {
  const merchantId = await newMerchant();
  await newMember(merchantId, 'owner');
  for (const actor of memberRoles) {
    for (const role of memberRoles) {
      const userId = await newMember(merchantId, role);
      const outcome = await slugOf(
        transact((transaction) => removeMember(transaction, deps, { merchantId, userId, actor })),
      );
      assert.deepEqual(
        [actor, role, outcome],
        [actor, role, mayAssign(actor, role) ? 'none' : 'role_forbidden'],
      );
    }
  }
  const userId = await newMember(merchantId, 'viewer');
  const promotion = { merchantId, userId, role: 'owner', actor: 'admin' } as const;
  assert.equal(
    await slugOf(transact((transaction) => changeRole(transaction, deps, promotion))),
    'role_forbidden',
  );
});

test('a link is accepted once, within a week, and not after it was revoked', async () => {
  const merchantId = await newMerchant();
  const request = { merchantId, role: 'support', email: '', invitedBy: '' } as const;
  const { invitation, token } = await transact((transaction) => invite(transaction, deps, request));
  assert.equal(
    invitationUrl('https://pay.example.com/dashboard', token).endsWith(`/dashboard/invitation#${token}`),
    true,
  );
  const userId = await addUser(database.db);
  const accept = (given: string, person = userId) =>
    slugOf(
      transact((transaction) =>
        acceptInvitation(transaction, deps, { token: given, actor: actorOf(person) }),
      ),
    );
  assert.equal(await accept(`${token}x`), 'invitation_invalid');
  assert.deepEqual(await listInvitations(database.db.inScope(merchantId), deps, merchantId), [invitation]);
  assert.equal(await accept(token), 'none');
  assert.equal(await findRole(database.db, { merchantId, userId }), 'support');
  assert.equal(await accept(token, await addUser(database.db)), 'invitation_invalid');
  assert.deepEqual(await listInvitations(database.db, deps, merchantId), []);

  const late = await transact((transaction) => invite(transaction, deps, request));
  time += 7 * 24 * 3_600_000;
  assert.equal(await accept(late.token, await addUser(database.db)), 'invitation_invalid');

  const revoked = await transact((transaction) => invite(transaction, deps, request));
  const { invitationId } = revoked.invitation;
  const revoke = (of: string) =>
    slugOf(transact((transaction) => revokeInvitation(transaction, deps, { merchantId: of, invitationId })));
  assert.equal(await revoke(await newMerchant()), 'invitation_not_found');
  assert.equal(await revoke(merchantId), 'none');
  assert.equal(await accept(revoked.token, await addUser(database.db)), 'invitation_invalid');
});

test('a member who goes or is demoted takes their open invitations along', async () => {
  const merchantId = await newMerchant();
  await newMember(merchantId, 'owner');
  const invitedBy = await newMember(merchantId, 'admin');
  const inviteAs = async (role: MemberRole) => {
    const request = { merchantId, role, email: '', invitedBy };
    return (await transact((transaction) => invite(transaction, deps, request))).token;
  };
  const accept = async (token: string) => {
    const userId = await addUser(database.db);
    return slugOf(
      transact((transaction) => acceptInvitation(transaction, deps, { token, actor: actorOf(userId) })),
    );
  };
  const change = (role: MemberRole) =>
    transact((transaction) =>
      changeRole(transaction, deps, { merchantId, userId: invitedBy, role, actor: 'owner' }),
    );
  const open = async () => (await listInvitations(database.db, deps, merchantId)).map(({ role }) => role);

  await change('owner');
  const tokens = [await inviteAs('owner'), await inviteAs('admin')];
  assert.equal((await change('admin')).length, 1);
  assert.deepEqual(await open(), ['admin']);
  assert.deepEqual(
    [await accept(tokens[0] ?? ''), await accept(tokens[1] ?? '')],
    ['invitation_invalid', 'none'],
  );

  const kept = await inviteAs('admin');
  const gone = { merchantId, userId: invitedBy, actor: 'owner' } as const;
  const ended = await transact((transaction) => removeMember(transaction, deps, gone));
  assert.deepEqual([ended.length, await open()], [1, []]);
  assert.equal(await accept(kept), 'invitation_invalid');

  // What an earlier version left open, or another transaction made meanwhile, opens nothing either.
  assert.equal(await accept(await inviteAs('viewer')), 'invitation_invalid');
});

test('a removal waits for an invitation that its member is making, and revokes it', async () => {
  const merchantId = await newMerchant();
  await newMember(merchantId, 'owner');
  const userId = await newMember(merchantId, 'admin');
  const grant = { merchantId, userId, role: 'admin' } as const;
  let remove: Promise<unknown> | undefined;
  await transact(async (transaction) => {
    await assertMayInvite(transaction, grant);
    remove = transact((other) => removeMember(other, deps, { ...grant, actor: 'owner' }));
    await invite(transaction, deps, { ...grant, email: '', invitedBy: userId });
  });
  await remove;
  assert.deepEqual(await listInvitations(database.db, deps, merchantId), []);
  assert.equal(
    await slugOf(transact((transaction) => assertMayInvite(transaction, grant))),
    'role_forbidden',
  );
});

test('staff invite the first owner of a merchant, and nobody once it has one', async () => {
  const merchantId = await newMerchant();
  const invitedBy = await addUser(database.db);
  await transact((transaction) => addStaff(transaction, deps, invitedBy));
  const ask = { merchantId, userId: invitedBy };
  const inviteOwner = async () => {
    const request = { merchantId, role: 'owner', email: '', invitedBy } as const;
    return (await transact((transaction) => invite(transaction, deps, request))).token;
  };
  const accept = async (token: string) => {
    const userId = await addUser(database.db);
    return slugOf(
      transact((transaction) => acceptInvitation(transaction, deps, { token, actor: actorOf(userId) })),
    );
  };
  const mayStaffInvite = () => slugOf(transact((transaction) => assertMayInviteAsStaff(transaction, ask)));
  assert.equal(await mayStaffInvite(), 'none');
  const tokens = [await inviteOwner(), await inviteOwner()];
  assert.deepEqual((await Promise.all(tokens.map(accept))).sort(), ['invitation_invalid', 'none']);
  assert.equal(await mayStaffInvite(), 'role_forbidden');

  const other = await newMerchant();
  const request = { merchantId: other, role: 'owner', email: '', invitedBy } as const;
  const { token } = await transact((transaction) => invite(transaction, deps, request));
  const ended = await transact((transaction) => removeStaff(transaction, deps, invitedBy));
  assert.equal(ended.length, 2);
  assert.equal(await accept(token), 'invitation_invalid');
});

test('of two people who accept one link at the same time, one becomes a member', async () => {
  const merchantId = await newMerchant();
  const request = { merchantId, role: 'viewer', email: '', invitedBy: '' } as const;
  const { token } = await transact((transaction) => invite(transaction, deps, request));
  const people = [await addUser(database.db), await addUser(database.db)];
  const outcomes = await Promise.all(
    people.map((userId) =>
      slugOf(
        transact((transaction) => acceptInvitation(transaction, deps, { token, actor: actorOf(userId) })),
      ),
    ),
  );
  assert.deepEqual(outcomes.sort(), ['invitation_invalid', 'none']);
});

test('the audit log is read newest first by a cursor, by its own merchant alone', async () => {
  const [tea, coffee] = [await newMerchant(), await newMerchant()];
  for (let index = 0; index < 5; index += 1) {
    const act = { action: 'createProduct', subject: `prd_${index}`, after: `{"index":${index}}` };
    await database.db
      .inScope(tea)
      .transaction((transaction) => recordAct(transaction, deps, { merchantId: tea, actor: operator, act }));
  }
  const seen: string[] = [];
  let after: string | undefined;
  do {
    const page = await listAudit(database.db.inScope(tea), { merchantId: tea, size: 2, after });
    seen.push(...page.entries.map(({ subject }) => subject));
    after = page.nextCursor === '' ? undefined : page.nextCursor;
  } while (after !== undefined);
  assert.deepEqual(seen, ['prd_4', 'prd_3', 'prd_2', 'prd_1', 'prd_0']);
  // Neither a filter nor the name of the merchant shows the log of another.
  for (const filter of [
    {},
    { actor: 'operator' },
    { subject: 'prd_4' },
    { action: 'createProduct', from: 0 },
  ]) {
    const foreign = await listAudit(database.db.inScope(coffee), { merchantId: tea, size: 10, filter });
    assert.deepEqual(foreign.entries, []);
    const own = await listAudit(database.db.inScope(tea), { merchantId: tea, size: 10, filter });
    assert.equal(own.entries.length, filter.subject === undefined ? 5 : 1);
  }
  assert.equal(
    await slugOf(listAudit(database.db, { merchantId: tea, size: 2, after: 'x' })),
    'field_invalid',
  );
});

test('PostgreSQL refuses to change or delete entries of the audit log, to the owner of the table too', async () => {
  const merchantId = await newMerchant();
  const act = { action: 'createProduct', subject: 'prd_1' };
  await transact((transaction) => recordAct(transaction, deps, { merchantId, actor: operator, act }));
  const client = new pg.Client({ connectionString: `${database.url}?options=-c%20florin.merchant%3D*` });
  await client.connect();
  try {
    const attempts = [
      "update audit_entries set action = ''",
      'delete from audit_entries',
      'truncate audit_entries',
    ];
    for (const text of attempts) await assert.rejects(client.query(text), /permission denied/);
    // The trigger refuses a role that gave itself the rights back.
    await client.query('grant update, delete, truncate on audit_entries to current_user');
    for (const text of attempts) await assert.rejects(client.query(text), /append-only/);
  } finally {
    await client.end();
  }
});
