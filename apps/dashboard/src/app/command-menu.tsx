import { CornerDownLeft, Search } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { type KeyboardEvent, useId, useState } from 'react';
import { useRead } from '../api/use-call.ts';
import { classNames } from '../ui/class-names.ts';
import { useFocusReturn } from '../ui/focus-return.ts';
import { useScreens } from './open-screens.ts';
import { pageOfId } from './page-of-id.ts';
import type { Screen } from './screen.ts';
import { useGoTo } from './screen-link.tsx';

/** The screens that fit what is typed: those whose title begins with it first. */
export function matchScreens(open: readonly Screen[], typed: string): readonly Screen[] {
  const wanted = typed.trim().toLowerCase();
  const rankOf = ({ title, words = '' }: Screen) => {
    if (title.toLowerCase().startsWith(wanted)) return 0;
    if (title.toLowerCase().includes(wanted)) return 1;
    return words.toLowerCase().includes(wanted) ? 2 : 3;
  };
  return open.filter((screen) => rankOf(screen) < 3).toSorted((one, other) => rankOf(one) - rankOf(other));
}

/** Goes to a screen or to an id, by keyboard. */
export function CommandMenu({ isOpen, onClose }: { readonly isOpen: boolean; readonly onClose: () => void }) {
  const focusReturn = useFocusReturn();
  return (
    <Dialog.Root open={isOpen} onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 animate-appear bg-veil" />
        <Dialog.Content
          {...focusReturn}
          aria-describedby={undefined}
          className="fixed inset-x-4 top-[12vh] z-50 mx-auto max-w-xl animate-rise overflow-hidden rounded-2xl border border-line bg-raised shadow-popover outline-none"
        >
          <Dialog.Title className="sr-only">Search</Dialog.Title>
          <Finder onClose={onClose} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface Found {
  readonly key: string;
  /** What it is, beside its title. */
  readonly kind: string;
  readonly title: string;
  readonly path: string;
  readonly icon: Screen['icon'];
  /** Filters of the list that it leads to. */
  readonly search?: Readonly<Record<string, string>>;
}

function findAll(open: readonly Screen[], typed: string): readonly Found[] {
  const found = matchScreens(open, typed).map(({ path, title, icon }) => ({
    key: path,
    kind: 'Screen',
    path,
    title,
    icon,
  }));
  const id = typed.trim();
  const page = pageOfId(id);
  const hasScreen = (wanted: string) => open.some(({ path }) => path === wanted);
  // A part of an id is searched for like every other text.
  if (page !== undefined && hasScreen(page.screen))
    return [{ ...page, key: id, kind: 'Id', title: id, icon: Search }, ...found];
  if (id === '' || !hasScreen('payments')) return found;
  const inPayments = { key: 'text', title: `Payments with “${id}”`, path: 'payments', icon: Search };
  return [...found, { ...inPayments, kind: 'Search', search: { text: id } }];
}

/** How many things of each kind the search looks at, the newest first. */
const watched = 100;
/** Fewer characters fit too much. */
const leastTyped = 2;
const mostNamed = 8;

/** Without accents and capitals: `kannchen` finds `Kännchen`. */
function plainWords(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
}

/** The links, products and members whose name or id has what is typed. */
function useNamed(open: readonly Screen[], typed: string): readonly Found[] {
  const wanted = plainWords(typed.trim());
  const isOn = (path: string) =>
    wanted.length >= leastTyped && open.some((screen) => screen.path === path) && path !== '';
  const page = { params: { page: 1, size: watched } };
  const links = useRead('GET /payment/link/list/:page/:size', page, { isOn: isOn('links') });
  const products = useRead('GET /product/list/:page/:size', page, { isOn: isOn('products') });
  const members = useRead('GET /member/list', {}, { isOn: isOn('team') });
  if (wanted.length < leastTyped) return [];
  const iconOf = (path: string) => open.find((screen) => screen.path === path)?.icon ?? Search;
  const all = [
    ...(links.data?.links ?? []).map(
      ({ linkId, linkName }) => ['links', `links/${linkId}`, linkName, linkId] as const,
    ),
    ...(products.data?.products ?? []).map(
      ({ productId, name }) => ['products', `products/${productId}`, name, productId] as const,
    ),
    ...(members.data?.members ?? []).map(
      ({ name, email, userId }) => ['team', 'team', `${name}, ${email}`, userId] as const,
    ),
  ];
  return all
    .filter(([, , title, id]) => plainWords(`${title} ${id}`).includes(wanted))
    .slice(0, mostNamed)
    .map(([kind, path, title]) => ({
      ...{ key: `${path} ${title}`, path, title, icon: iconOf(kind) },
      kind: { links: 'Link', products: 'Product', team: 'Member' }[kind],
    }));
}

function Finder({ onClose }: { readonly onClose: () => void }) {
  const open = useScreens();
  const goTo = useGoTo();
  const listId = useId();
  const [typed, setTyped] = useState('');
  const [marked, setMarked] = useState(0);
  const found = [...findAll(open, typed), ...useNamed(open, typed)];
  const choose = (entry: Found | undefined) => {
    if (entry === undefined) return;
    onClose();
    goTo(entry.path, entry.search);
  };
  const move = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 };
    const step = steps[event.key];
    if (event.key === 'Enter') choose(found[marked]);
    if (step === undefined || found.length === 0) return;
    event.preventDefault();
    setMarked((marked + step + found.length) % found.length);
  };
  return (
    <>
      <div className="flex items-center gap-2.5 border-b border-line px-4">
        <Search aria-hidden className="size-4 text-faint" />
        <input
          role="combobox"
          aria-label="Search screens, names, ids and payments"
          aria-expanded
          aria-controls={listId}
          aria-activedescendant={found.length === 0 ? undefined : `${listId}-${marked}`}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setMarked(0);
          }}
          onKeyDown={move}
          placeholder="A screen, a name, an id, or words of a payment"
          className="h-12 min-w-0 flex-1 bg-transparent text-lg outline-none"
        />
      </div>
      <div id={listId} role="listbox" aria-label="Found" className="max-h-80 overflow-y-auto p-1.5">
        {found.map((entry, index) => {
          const Icon = entry.icon;
          return (
            <div
              key={entry.key}
              id={`${listId}-${index}`}
              role="option"
              tabIndex={-1}
              aria-selected={index === marked}
              onClick={() => choose(entry)}
              onKeyDown={move}
              onPointerMove={() => setMarked(index)}
              className={classNames(
                'flex h-10 cursor-pointer items-center gap-2.5 rounded-lg px-2.5',
                index === marked && 'bg-sunken',
              )}
            >
              <Icon aria-hidden className="size-4 shrink-0 text-faint" />
              <span className="min-w-0 flex-1 truncate">{entry.title}</span>
              <span className="shrink-0 text-sm text-soft">{entry.kind}</span>
              {index === marked && <CornerDownLeft aria-hidden className="size-3.5 text-faint" />}
            </div>
          );
        })}
      </div>
      {found.length === 0 && <p className="px-4 pb-4 text-center text-soft">Nothing matches.</p>}
    </>
  );
}
