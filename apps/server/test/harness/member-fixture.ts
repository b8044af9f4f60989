import { type Queryable, statement } from '@florin/pg';
import { newId } from '@florin/protocol/id.ts';
import { systemRandom } from '#outside/random.ts';

const insertUser = statement({
  name: 'member_fixture_insert_user',
  parameters: { userId: 'text', email: 'text' },
  text: `insert into sign_in."user" (id, name, email, "createdAt", "updatedAt")
   values (:userId, :email, :email, now(), now())`,
});

/** Adds a person who can be made a member but cannot sign in. Returns the id. */
export async function addUser(queryable: Queryable): Promise<string> {
  const userId = newId('user', systemRandom.bytes);
  await queryable.query(insertUser, { userId, email: `${userId.toLowerCase()}@example.com` });
  return userId;
}
