import { Link, Outlet, useRouter, useRouterState } from '@tanstack/react-router';
import { Menu as MenuIcon, Search, ShieldHalf } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { buttonClass, IconButton } from '../ui/button.tsx';
import { Sheet } from '../ui/dialog.tsx';
import { contentId, keepFocus } from '../ui/focus-return.ts';
import { Notice } from '../ui/notice.tsx';
import { Breadcrumbs, WayBack } from './breadcrumbs.tsx';
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
import { type Area, AreaContext, closedScreen, merchantArea, operatorBase } from './open-screens.ts';
import { PersonMenu } from './person-menu.tsx';
import { ProofAsker } from './proof-asker.tsx';
import { ClosedToRole, NoMember, NotFound } from './route-failure.tsx';
import { operatorScreens, screens } from './screens.ts';
import { useMe } from './use-me.ts';
import { useParam } from './use-param.ts';

const operatorArea: Area = { base: operatorBase, screens: operatorScreens };

/**
 * The area in the address, with its merchant; on a person's own screens the merchant of the last visit. The area is undefined
 * for a merchant that the person does not act for, and for the operator's screens without being staff.
 */
function useAddressed(me: Me): { readonly area: Area | undefined; readonly merchant?: CurrentMerchant } {
  const named = useParam('merchantId');
  const merchantId = named.startsWith('mer_') ? named : firstMerchant(me);
  const isOperator = useRouterState({
    select: ({ matches }) => matches.some(({ routeId }) => routeId.endsWith(`/${operatorBase}`)),
  });
  if (isOperator || merchantId === undefined) return { area: me.isStaff ? operatorArea : undefined };
  const own = me.merchants.find((merchant) => merchant.merchantId === merchantId);
  const asStaff = me.isStaff ? { merchantId, merchantName: merchantId, role: 'staff' } : undefined;
  const merchant = own ?? asStaff;
  return merchant === undefined ? { area: undefined } : { area: merchantArea(merchant, screens), merchant };
}

/** Everything around a screen: navigation, search, and the dialog that asks who acts. */
export function Shell() {
  const me = useMe();
  const { area, merchant } = useAddressed(me);
  const isOwn = useRouterState({ select: ({ location }) => location.pathname.endsWith('/my-account') });
  const isOperator = area === operatorArea;
  const isOfShop = useParam('merchantId').startsWith('mer_');
  const switcher = isOperator ? <OperatorTitle /> : <MerchantSwitcher me={me} />;
  const [isSearching, setSearching] = useState(false);
  const [isNavigating, setNavigating] = useState(false);
  const merchantId = merchant?.merchantId;
  useEffect(() => {
    if (merchantId !== undefined) rememberMerchant(merchantId);
  }, [merchantId]);
  useSearchKeys(() => setSearching(true));
  useKeptFocus();
  const path = useRouterState({ select: (state) => state.location.pathname });
  const closed = merchant === undefined ? undefined : closedScreen(merchant, screens, path);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new address closes the menu.
  useEffect(() => setNavigating(false), [path]);
  return (
    <AreaContext value={area}>
      <MerchantContext value={merchant}>
        <a
          href={`#${contentId}`}
          className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-lg focus:bg-raised focus:p-3"
        >
          To the content
        </a>
        <div className="min-h-dvh md:grid md:grid-cols-[15rem_minmax(0,1fr)]">
          <aside
            aria-label="Business"
            className="sticky top-0 hidden h-dvh flex-col border-r border-line bg-sunken md:flex"
          >
            <div className="p-3">{switcher}</div>
            <div className="min-h-0 flex-1 overflow-y-auto px-3 pb-3">
              <Navigation />
            </div>
            <div className="border-t border-line p-3">
              <PersonMenu me={me} isOperator={isOperator} />
            </div>
          </aside>
          <div className="flex min-w-0 flex-col">
            <TopBar
              isSearchable={area !== undefined}
              onSearch={() => setSearching(true)}
              onNavigate={() => setNavigating(true)}
              switcher={switcher}
            />
            <main
              id={contentId}
              tabIndex={-1}
              className="mx-auto w-full max-w-[76rem] flex-1 px-4 pt-5 pb-24 outline-none md:px-8 md:pt-7 md:pb-16"
            >
              {me.recovery !== null && !isOwn && <BeingRecovered />}
              {merchant?.isSuspended === true && !isOwn && !isOperator && <Suspended />}
              <WayBack />
              {area === undefined && !isOwn && (isOfShop ? <NoMember /> : <NotFound />)}
              {merchant !== undefined && closed !== undefined && (
                <ClosedToRole title={closed.title} role={merchant.role} />
              )}
              {(area !== undefined || isOwn) && closed === undefined && <Guarded me={me} isOwn={isOwn} />}
            </main>
          </div>
        </div>
        <PhoneBar onMore={() => setNavigating(true)} />
        <Sheet isOpen={isNavigating} onClose={() => setNavigating(false)} title="Menu">
          <Navigation />
          <div className="mt-6 border-t border-line pt-3">
            <PersonMenu me={me} isOperator={isOperator} />
          </div>
        </Sheet>
        <CommandMenu isOpen={isSearching} onClose={() => setSearching(false)} />
        <ProofAsker me={me} />
      </MerchantContext>
    </AreaContext>
  );
}

/** Stands where the merchant's screens have their switcher. */
function OperatorTitle() {
  return (
    <Link
      to={`/${operatorBase}`}
      className="flex h-10 w-full min-w-0 items-center gap-2.5 rounded-lg px-1.5 font-semibold hover:bg-line/60"
    >
      <span
        aria-hidden
        className="flex size-7 shrink-0 items-center justify-center rounded-md bg-ink text-canvas [&>svg]:size-4"
      >
        <ShieldHalf />
      </span>
      Operator
    </Link>
  );
}

/** Told on every screen: a recovery that the person did not ask for takes the account away. */
function BeingRecovered() {
  return (
    <div className="mb-6">
      <Notice
        tone="bad"
        title="Your account is being recovered"
        action={
          <Link to="/my-account" className={buttonClass('plain')}>
            Look at it
          </Link>
        }
      >
        A link will set a new password and end every other way to sign in. If you did not ask for this, cancel
        it.
      </Notice>
    </div>
  );
}

/** Told on every screen of the merchant, since its links and sessions are refused. */
function Suspended() {
  return (
    <div className="mb-6">
      <Notice tone="warn" title="The operator suspended this business">
        It takes no new payments, and its links show as disabled. Open payments, settlements and refunds go
        on. Ask the operator to end the suspension.
      </Notice>
    </div>
  );
}

/** A session with a password alone opens nothing but the own account in production. */
function Guarded({ me, isOwn }: { readonly me: Me; readonly isOwn: boolean }) {
  if (me.isStrong || isOwn) return <Outlet />;
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
        {missingStep(me)}
      </Notice>
    </div>
  );
}

/** What a person with this session still has to do. The person may have a strong way already and not have used it. */
function missingStep({ proof, passkeys, wallets, hasSecondFactor }: Me): string {
  const opener = proof === 'recovery' ? 'A recovery code' : 'A password alone';
  const hasStrongWay = passkeys > 0 || wallets.length > 0 || hasSecondFactor;
  return `${opener} opens neither a shop nor the operator’s screens. ${
    hasStrongWay
      ? 'Sign in again with your passkey, wallet or second factor, or add a new one if you lost it.'
      : 'Add a passkey or a second factor, then sign in with it.'
  }`;
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
    <header className="sticky top-0 z-30 border-b border-line bg-canvas">
      <div className="mx-auto flex h-14 max-w-[76rem] items-center gap-2 px-4 md:px-8">
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
        {!isSearchable && (
          // Elsewhere the bar below has it.
          <IconButton label="Menu" onClick={onNavigate} className="md:hidden">
            <MenuIcon />
          </IconButton>
        )}
      </div>
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

/** The link that leads to a screen is often gone with the screen before. */
function useKeptFocus(): void {
  const router = useRouter();
  useEffect(() => router.subscribe('onRendered', ({ pathChanged }) => pathChanged && keepFocus()), [router]);
}
