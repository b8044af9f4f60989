import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { addMember, createUser, systemClock, systemRandom } from '@florin/server/operator';
import { CliWorld } from './cli-world.fixture.ts';

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

test('a person is recovered by a link, which is cancelled', async () => {
  const deps = { clock: systemClock, random: systemRandom };
  const person = { name: 'Lee', email: 'lee@example.com', passwordHash: 'x' };
  const userId = await world.database.db.transaction((transaction) => createUser(transaction, deps, person));
  const made = await world.json(`member recover --user ${userId}`);
  assert.match(String(made['url']), /^https?:\/\/[^/]+\/dashboard\/recovery#[\w-]{43}$/);
  assert.equal((await world.run(`member cancel-recovery --user ${userId}`)).exitCode, 0);
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
