import { Link, Outlet, useParams, useRouterState } from '@tanstack/react-router';
import { Menu as MenuIcon, Search } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { buttonClass, IconButton } from '../ui/button.tsx';
import { Sheet } from '../ui/dialog.tsx';
import { Notice } from '../ui/notice.tsx';
import { Breadcrumbs } from './breadcrumbs.tsx';
import { CommandMenu } from './command-menu.tsx';
import {
  type CurrentMerchant,
  firstMerchant,
  type Me,
  MerchantContext,
  rememberMerchant,
} from './merchant.ts';
import { MerchantSwitcher } from './merchant-switcher.tsx';
import { Navigation, PhoneBar } from './navigation.tsx';
import { ScreensContext } from './open-screens.ts';
import { PersonMenu } from './person-menu.tsx';
import { ProofDialog } from './proof-dialog.tsx';
import { NotFound } from './route-failure.tsx';
import { screens } from './screens.ts';
import { useMe } from './use-me.ts';

/**
 * The merchant in the address, on a person's own screens the one of the last visit; `unknown` when the person does not act
 * for it, undefined without any.
 */
function useAddressedMerchant(me: Me): CurrentMerchant | 'unknown' | undefined {
  const { merchantId = firstMerchant(me) } = useParams({ strict: false }) as { merchantId?: string };
  if (merchantId === undefined) return undefined;
  const own = me.merchants.find((merchant) => merchant.merchantId === merchantId);
  if (own !== undefined) return own;
  return me.isStaff ? { merchantId, merchantName: merchantId, role: 'staff' } : 'unknown';
}

/** Everything around a screen: navigation, search, and the dialog that asks who acts. */
export function Shell() {
  return (
    <ScreensContext value={screens}>
      <ShellFrame />
    </ScreensContext>
  );
}

function ShellFrame() {
  const me = useMe();
  const addressed = useAddressedMerchant(me);
  const merchant = addressed === 'unknown' ? undefined : addressed;
  const [isSearching, setSearching] = useState(false);
  const [isNavigating, setNavigating] = useState(false);
  const merchantId = merchant?.merchantId;
  useEffect(() => {
    if (merchantId !== undefined) rememberMerchant(merchantId);
  }, [merchantId]);
  useSearchKeys(() => setSearching(true));
  const path = useRouterState({ select: (state) => state.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new address closes the menu.
  useEffect(() => setNavigating(false), [path]);
  return (
    <MerchantContext value={merchant}>
      <a
        href="#screen"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-raised focus:p-3"
      >
        To the content
      </a>
      <div className="min-h-dvh md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
        <aside className="sticky top-0 hidden h-dvh flex-col border-r border-line bg-sunken md:flex">
          <div className="p-3">
            <MerchantSwitcher me={me} />
          </div>
          <div className="min-h-0 flex-1 overflow-y-auto px-3 pb-3">
            <Navigation />
          </div>
          <div className="border-t border-line p-3">
            <PersonMenu me={me} />
          </div>
        </aside>
        <div className="flex min-w-0 flex-col">
          <TopBar
            isSearchable={merchant !== undefined}
            onSearch={() => setSearching(true)}
            onNavigate={() => setNavigating(true)}
            switcher={<MerchantSwitcher me={me} />}
          />
          <main
            id="screen"
            tabIndex={-1}
            className="mx-auto w-full max-w-[76rem] flex-1 px-4 pt-5 pb-24 outline-none md:px-8 md:pt-7 md:pb-16"
          >
            {addressed === 'unknown' ? <NotFound /> : <Guarded me={me} />}
          </main>
        </div>
      </div>
      <PhoneBar onMore={() => setNavigating(true)} />
      <Sheet isOpen={isNavigating} onClose={() => setNavigating(false)} title="Menu">
        <Navigation />
        <div className="mt-6 border-t border-line pt-3">
          <PersonMenu me={me} />
        </div>
      </Sheet>
      <CommandMenu isOpen={isSearching} onClose={() => setSearching(false)} />
      <ProofDialog me={me} />
    </MerchantContext>
  );
}

/** A session with a password alone opens nothing of a merchant in production; says what to add. */
function Guarded({ me }: { readonly me: Me }) {
  const { merchantId } = useParams({ strict: false }) as { merchantId?: string };
  if (me.isStrong || merchantId === undefined) return <Outlet />;
  return (
    <div className="mx-auto max-w-xl py-8">
      <Notice
        tone="warn"
        title="One step is missing"
        action={
          <Link to="/my-account" className={buttonClass('primary')}>
            Secure the account
          </Link>
        }
      >
        A password alone does not open a shop. Add a passkey or a second factor, then sign in with it.
      </Notice>
    </div>
  );
}

function TopBar({
  isSearchable,
  onSearch,
  onNavigate,
  switcher,
}: {
  readonly isSearchable: boolean;
  readonly onSearch: () => void;
  readonly onNavigate: () => void;
  readonly switcher: ReactNode;
}) {
  return (
    <header className="sticky top-0 z-30 flex h-14 items-center gap-2 border-b border-line bg-canvas px-4 md:px-8">
      <div className="min-w-0 flex-1 md:hidden">{switcher}</div>
      <div className="hidden min-w-0 flex-1 md:block">
        <Breadcrumbs />
      </div>
      {isSearchable && (
        <>
          <button
            type="button"
            onClick={onSearch}
            className="hidden h-8 w-56 items-center gap-2 rounded-lg border border-line bg-sunken px-2.5 text-soft hover:border-line-strong md:flex"
          >
            <Search className="size-3.5" />
            <span className="flex-1 text-left">Search</span>
            <kbd className="rounded border border-line bg-raised px-1 font-sans text-xs">/</kbd>
          </button>
          <IconButton label="Search" onClick={onSearch} className="md:hidden">
            <Search />
          </IconButton>
        </>
      )}
      <IconButton label="Menu" onClick={onNavigate} className="md:hidden">
        <MenuIcon />
      </IconButton>
    </header>
  );
}

/** `/` and Ctrl-K open the search, unless a person is typing. */
function useSearchKeys(open: () => void): void {
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const isTyping =
        event.target instanceof HTMLElement && event.target.closest('input, textarea, select, [role=dialog]');
      const isCommand = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey);
      const isSlash = event.key === '/' && !event.metaKey && !event.ctrlKey && !event.altKey && !isTyping;
      if (!isCommand && !isSlash) return;
      event.preventDefault();
      open();
    };
    window.addEventListener('keydown', listen);
    return () => window.removeEventListener('keydown', listen);
  });
}
