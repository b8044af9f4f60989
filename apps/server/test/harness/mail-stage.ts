import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { Browser, DashboardWorld, password } from './dashboard-world.ts';
import { MailWorld } from './mail-world.ts';

/** The dashboard with a mail server, for the tests of one file, which call this once. */
export function mailStage() {
  let opened: { readonly world: DashboardWorld; readonly mail: MailWorld } | undefined;
  before(async () => {
    const world = await DashboardWorld.open();
    opened = { world, mail: await MailWorld.open(world.merchants) };
  });
  after(async () => {
    await opened?.mail.close();
    await opened?.world.close();
  });
  const stage = () => {
    assert.ok(opened !== undefined);
    return opened;
  };
  return {
    get world() {
      return stage().world;
    },
    get mail() {
      return stage().mail;
    },
    /** The new e-mails to an address, oldest first, with those that wait some minutes for more. */
    async newMails(address: string) {
      await stage().mail.sendGathered();
      return stage().mail.newMailsTo(address);
    },
    async signedIn(email: string, browser?: Browser): Promise<Browser> {
      const used = browser ?? new Browser(await stage().world.serve('local'));
      assert.equal((await used.post('/sign-in/password', { email, password })).code, 0);
      return used;
    },
  };
}

/** How many acts e-mails tell. */
export function actsIn(mails: readonly { readonly text: string }[]): number {
  return mails.reduce((count, { text }) => count + (text.match(/^Time: /gm) ?? []).length, 0);
}
