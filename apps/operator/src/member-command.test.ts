import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { statement } from '@florin/pg';
import { addMember, createUser, systemClock, systemRandom } from '@florin/server/operator';
import { CliWorld } from './cli-world.fixture.ts';

const mailedTo = statement({
  name: 'member_command_test_mailed_to',
  columns: { recipient: 'text' },
  text: `select recipient from mails where kind = 'invitation' order by recipient`,
});

let world: CliWorld;
before(async () => {
  world = await CliWorld.open();
});
after(() => world.close());

test('an invitation is a link to the dashboard, which is shown once', async () => {
  const merchantId = await world.newMerchant();
  const made = await world.json(`invite --merchant ${merchantId} --role owner`);
  assert.match(String(made['url']), /^https?:\/\/[^/]+\/dashboard\/invitation#[0-9A-Za-z_-]{43}$/);
  assert.equal(made['role'], 'owner');
  const told = await world.run(`invite --merchant ${merchantId} --role viewer --email kim@example.com`);
  assert.match(told.stdout, /^https?:\/\/.*\nGive this link to the new viewer alone\./);
  const { exitCode, stderr } = await world.run(`invite --merchant ${merchantId} --role king`);
  assert.deepEqual([exitCode, /king/.test(stderr)], [2, true]);
});

test('the link of an invitation goes to its address as well where the service sends e-mails', async () => {
  const merchantId = await world.newMerchant();
  const commands = [`invite --merchant ${merchantId} --role owner`, 'staff add'];
  const smtp = { host: 'mail.example.com', from: 'shop@example.com' };
  const config = world.writeConfig('with-mail.json', { smtp });
  for (const [index, command] of commands.entries()) {
    const email = `kim${index}@example.com`;
    const { stdout } = await world.run(`${command} --email ${email}`, [], config);
    assert.match(stdout, new RegExp(`\\nIt goes to ${email} by e-mail as well\\.`));
    const unasked = await world.json(command, [], config);
    const unsent = await world.json(`${command} --email ${email}`);
    assert.deepEqual([unasked['isMailed'], unsent['isMailed']], [false, false]);
  }
  const mails = await world.database.db.query(mailedTo);
  assert.deepEqual(mails, [{ recipient: 'kim0@example.com' }, { recipient: 'kim1@example.com' }]);
});

test('a person is recovered by a link, which is cancelled', async () => {
  const deps = { clock: systemClock, random: systemRandom };
  const person = { name: 'Lee', email: 'lee@example.com', passwordHash: 'x' };
  const userId = await world.database.db.transaction((transaction) => createUser(transaction, deps, person));
  const made = await world.json(`member recover --user ${userId}`);
  assert.match(String(made['url']), /^https?:\/\/[^/]+\/dashboard\/recovery#[\w-]{43}$/);
  for (const says of [/is cancelled/, /no recovery .* was open/])
    assert.match((await world.run(`member cancel-recovery --user ${userId}`)).stdout, says);
  assert.equal((await world.run('member recover --user usr_none')).exitCode, 1);
});

test('the list of members shows their roles', async () => {
  const merchantId = await world.newMerchant();
  const deps = { clock: systemClock, random: systemRandom };
  const userId = await world.database.db.transaction(async (transaction) => {
    const made = await createUser(transaction, deps, {
      name: 'Kim',
      email: 'kim@example.com',
      passwordHash: 'x',
    });
    await addMember(transaction, deps, { merchantId, userId: made, role: 'finance' });
    return made;
  });
  const { stdout } = await world.run('member list', ['--merchant', merchantId]);
  assert.match(stdout, new RegExp(`${userId} +finance +kim@example\\.com .* Kim`));
});
