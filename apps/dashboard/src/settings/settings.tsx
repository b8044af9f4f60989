import { Link } from '@tanstack/react-router';
import { ChevronRight, Monitor, Moon, Sun } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useMerchant } from '../app/merchant.ts';
import { useHasScreen } from '../app/open-screens.ts';
import { mayDo } from '../app/permission.ts';
import { roleTitle } from '../app/roles.ts';
import { ScreenLink } from '../app/screen-link.tsx';
import { chooseTheme, type Theme, useTheme } from '../app/theme.ts';
import { Button } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { Card, Fact, Facts, PageHeader, Section } from '../ui/page.tsx';
import { CopyButton, Id } from '../ui/value.tsx';
import { NameDialog } from './name-dialog.tsx';

/** What a programmer needs of this installation. */
const addresses = [
  { name: 'Merchant API', path: '/payment/v1' },
  { name: 'Agents', path: '/aipay/api/v1' },
  { name: 'MCP', path: '/mcp' },
  { name: 'OpenAPI', path: '/openapi.json' },
];

export default function Settings() {
  const { merchantId, merchantName, role } = useMerchant();
  const hasScreen = useHasScreen();
  const [isRenaming, setRenaming] = useState(false);
  return (
    <>
      <PageHeader
        title="Settings"
        description="The shop’s name and id, and the addresses that its programs use."
      />
      <Section
        title="Shop"
        actions={
          mayDo(role, 'members:write') && (
            <Button size="small" onClick={() => setRenaming(true)}>
              Change the name
            </Button>
          )
        }
      >
        <Card>
          <Facts>
            <Fact name="Name">{merchantName}</Fact>
            <Fact name="Id" isBlock>
              <Id id={merchantId} isWhole />
            </Fact>
            <Fact name="Your role">{roleTitle(role)}</Fact>
          </Facts>
        </Card>
        <NameDialog name={merchantName} isOpen={isRenaming} onClose={() => setRenaming(false)} />
      </Section>
      <Section title="Look" description="For this browser.">
        <ThemeChoice />
      </Section>
      <Section title="Addresses" description="Where programs reach this installation.">
        <Card>
          <Facts>
            {addresses.map(({ name, path }) => (
              <Fact key={path} name={name} isBlock>
                <span className="inline-flex max-w-full items-center gap-0.5 font-mono text-sm break-all">
                  {window.location.origin}
                  {path}
                  <CopyButton text={window.location.origin + path} label={`Copy: ${name}`} />
                </span>
              </Fact>
            ))}
          </Facts>
        </Card>
      </Section>
      <Section title="More settings">
        <Card className="overflow-hidden">
          <ul className="divide-y divide-line">
            <li>
              <Link to="/my-account" className={rowClass}>
                <Row title="My account">
                  Passkeys, second factor, recovery codes, e-mails, and where you are signed in
                </Row>
              </Link>
            </li>
            {nearby
              .filter(({ path }) => hasScreen(path))
              .map(({ path, title, text }) => (
                <li key={path}>
                  <ScreenLink path={path} className={rowClass}>
                    <Row title={title}>{text}</Row>
                  </ScreenLink>
                </li>
              ))}
          </ul>
        </Card>
      </Section>
    </>
  );
}

const nearby = [
  { path: 'team', title: 'Team', text: 'Members, roles and invitations' },
  { path: 'wallets', title: 'Wallets', text: 'Where settlements go, and in which tokens' },
  { path: 'branding', title: 'Branding', text: 'Logo and colour of the pages that payers see' },
  { path: 'keys', title: 'API keys', text: 'What programs may do' },
  { path: 'webhooks', title: 'Webhooks', text: 'What your server is told' },
];

const rowClass =
  'flex items-center gap-4 px-4 py-3 -outline-offset-2 hover:bg-sunken md:px-5 [&>svg]:size-4 [&>svg]:text-faint';

function Row({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <>
      <span className="min-w-0 flex-1">
        <span className="block font-medium">{title}</span>
        <span className="block text-soft">{children}</span>
      </span>
      <ChevronRight aria-hidden />
    </>
  );
}

const themes = [
  { theme: 'system', title: 'As the system', Icon: Monitor },
  { theme: 'light', title: 'Light', Icon: Sun },
  { theme: 'dark', title: 'Dark', Icon: Moon },
] as const satisfies readonly { theme: Theme; title: string; Icon: unknown }[];

function ThemeChoice() {
  const chosen = useTheme();
  return (
    <div className="grid max-w-xl gap-2 sm:grid-cols-3">
      {themes.map(({ theme, title, Icon }) => (
        <button
          key={theme}
          type="button"
          aria-pressed={theme === chosen}
          onClick={() => chooseTheme(theme)}
          className={classNames(
            'flex items-center gap-2.5 rounded-lg border px-3 py-2.5 text-left font-medium [&>svg]:size-4',
            theme === chosen
              ? 'border-accent bg-tint text-accent'
              : 'border-line-strong bg-raised text-soft hover:bg-sunken hover:text-ink',
          )}
        >
          <Icon aria-hidden />
          {title}
        </button>
      ))}
    </div>
  );
}
