import { Check as Tick } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { createContext, type ReactNode, type RefObject, useContext, useEffect, useRef } from 'react';
import { classNames } from './class-names.ts';
import {
  type MenuCheckProps,
  type MenuItemProps,
  type MenuParts,
  MenuPartsContext,
  type MenuProps,
} from './menu-parts.ts';

const itemClass = classNames(
  'flex min-h-10 w-full items-center gap-2.5 rounded-md px-2.5 text-left outline-none select-none md:min-h-8',
  'data-highlighted:bg-sunken data-disabled:opacity-50 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-faint',
);

/** The act of the item that was chosen, until the menu has closed. */
const ChosenContext = createContext<RefObject<(() => void) | undefined>>({ current: undefined });

const parts: MenuParts = { Item, Check, Label, Line };

/** A menu from its first opening on; its trigger closes and opens it again. */
export default function OpenedMenu({
  trigger,
  children,
  align = 'end',
  className,
  isByKey,
}: MenuProps & { readonly isByKey: boolean }) {
  const chosen = useRef<() => void>(undefined);
  const isFirst = useRef(true);
  // After the focus is back at the trigger: a dialog that the act opens gives it back there.
  const actLater = () => {
    isFirst.current = false;
    setTimeout(() => {
      chosen.current?.();
      chosen.current = undefined;
    });
  };
  return (
    <DropdownMenu.Root defaultOpen>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          onCloseAutoFocus={actLater}
          sideOffset={6}
          collisionPadding={12}
          className={classNames(
            'z-50 max-h-(--radix-dropdown-menu-content-available-height) min-w-48 animate-appear overflow-y-auto rounded-xl border border-line bg-raised p-1 shadow-popover',
            className,
          )}
        >
          {isByKey && isFirst.current && <FirstItemFocus />}
          <MenuPartsContext value={parts}>
            <ChosenContext value={chosen}>{children}</ChosenContext>
          </MenuPartsContext>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

/** Radix focuses the first item for a key that it saw itself, which the first opening comes before. */
function FirstItemFocus() {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    place.current?.parentElement?.querySelector<HTMLElement>('[role^=menuitem]')?.focus();
  }, []);
  return <span ref={place} hidden />;
}

function Item({
  onSelect,
  icon,
  children,
  isDangerous = false,
  isDisabled = false,
  isChosen = false,
}: MenuItemProps) {
  const chosen = useContext(ChosenContext);
  return (
    <DropdownMenu.Item
      onSelect={() => {
        chosen.current = onSelect;
      }}
      disabled={isDisabled}
      className={classNames(itemClass, isDangerous && 'text-bad [&>svg]:text-bad')}
    >
      {icon}
      <span className="min-w-0 flex-1 truncate">{children}</span>
      {isChosen && <Tick aria-label="chosen" />}
    </DropdownMenu.Item>
  );
}

function Check({ children, isChecked, onChange }: MenuCheckProps) {
  return (
    <DropdownMenu.CheckboxItem
      checked={isChecked}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
      className={itemClass}
    >
      <span className="min-w-0 flex-1 truncate">{children}</span>
      <DropdownMenu.ItemIndicator>
        <Tick className="size-4" />
      </DropdownMenu.ItemIndicator>
    </DropdownMenu.CheckboxItem>
  );
}

function Label({ children }: { readonly children: ReactNode }) {
  return (
    <DropdownMenu.Label className="px-2.5 pt-2 pb-1 text-xs font-medium text-faint">
      {children}
    </DropdownMenu.Label>
  );
}

function Line() {
  return <DropdownMenu.Separator className="-mx-1 my-1 h-px bg-line" />;
}
