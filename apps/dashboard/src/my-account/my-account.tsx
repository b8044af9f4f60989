import type { Me } from '../app/merchant.ts';
import { useMe } from '../app/use-me.ts';
import { isolated } from '../ui/isolated.ts';
import { Notice } from '../ui/notice.tsx';
import { Card, PageHeader, Section } from '../ui/page.tsx';
import { Codes } from './codes.tsx';
import { Notifications } from './notifications.tsx';
import { OwnActs } from './own-acts.tsx';
import { Passkeys } from './passkeys.tsx';
import { Password } from './password.tsx';
import { RecoveryNotice } from './recovery-notice.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';
import { StrongStep } from './strong-step.tsx';
import { Wallets } from './wallets.tsx';

/** The person's own ways to sign in, and where they are signed in. */
export default function MyAccount() {
  const me = useMe();
  return (
    <div className="mx-auto max-w-3xl">
      <PageHeader title="My account" description={`${isolated(me.name)}, ${me.email}`} />
      {!me.isStrong && (
        <div className="mb-6">
          <StrongStep me={me} />
        </div>
      )}
      {me.recovery !== null && (
        <div className="mb-6">
          <RecoveryNotice recovery={me.recovery} />
        </div>
      )}
      {me.newDevices > 0 && (
        <div className="mb-6">
          <Notice tone="info" title="There was a sign-in from a new device">
            Look at “Where you are signed in”, and end each session that is not yours.
          </Notice>
        </div>
      )}
      {!isLimited(me) && <Settings me={me} />}
    </div>
  );
}

/** Whether the session has to sign in by a stronger way first: the service shows it nothing else of the account. */
function isLimited(me: Me): boolean {
  const hasStronger = me.hasSecondFactor || me.passkeys > 0 || me.wallets.length > 0;
  return !me.isStrong && me.proof !== 'recovery' && hasStronger;
}

function Settings({ me }: { readonly me: Me }) {
  return (
    <>
      <Section title="Ways to sign in">
        <Card className="divide-y divide-line">
          <Passkeys />
          <Password me={me} />
          <SecondFactor me={me} />
          <Wallets me={me} />
          <Codes me={me} />
        </Card>
      </Section>
      <Section
        id="notifications"
        title="Notifications"
        description={`What ${me.email} gets by e-mail. E-mails about the security of your account always come.`}
      >
        <Notifications />
      </Section>
      <Section title="Where you are signed in" description="A session lasts a week.">
        <Sessions />
      </Section>
      <OwnActs me={me} />
    </>
  );
}
