import { Check } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { createContext, type ReactNode, type RefObject, useContext, useRef } from 'react';
import { classNames } from './class-names.ts';

const itemClass = classNames(
  'flex min-h-10 w-full items-center gap-2.5 rounded-md px-2.5 text-left outline-none select-none md:min-h-8',
  'data-highlighted:bg-sunken data-disabled:opacity-50 [&>svg]:size-4 [&>svg]:shrink-0 [&>svg]:text-faint',
);

/** The act of the item that was chosen, until the menu has closed. */
const ChosenContext = createContext<RefObject<(() => void) | undefined>>({ current: undefined });

/** A menu at its trigger, which is one button. */
export function Menu({
  trigger,
  children,
  align = 'end',
  className,
}: {
  readonly trigger: ReactNode;
  readonly children: ReactNode;
  readonly align?: 'start' | 'end';
  readonly className?: string;
}) {
  const chosen = useRef<() => void>(undefined);
  // After the focus is back at the trigger: a dialog that the act opens gives it back there.
  const actLater = () =>
    setTimeout(() => {
      chosen.current?.();
      chosen.current = undefined;
    });
  return (
    <DropdownMenu.Root>
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
          <ChosenContext value={chosen}>{children}</ChosenContext>
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}

export interface MenuItemProps {
  readonly onSelect: () => void;
  readonly icon?: ReactNode;
  readonly children: ReactNode;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
  readonly isChosen?: boolean;
}

export function MenuItem({
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
      {isChosen && <Check aria-label="chosen" />}
    </DropdownMenu.Item>
  );
}

/** A tick in a menu, which stays open. */
export function MenuCheck({
  children,
  isChecked,
  onChange,
}: {
  readonly children: ReactNode;
  readonly isChecked: boolean;
  readonly onChange: (isChecked: boolean) => void;
}) {
  return (
    <DropdownMenu.CheckboxItem
      checked={isChecked}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
      className={itemClass}
    >
      <span className="min-w-0 flex-1 truncate">{children}</span>
      <DropdownMenu.ItemIndicator>
        <Check className="size-4" />
      </DropdownMenu.ItemIndicator>
    </DropdownMenu.CheckboxItem>
  );
}

export function MenuLabel({ children }: { readonly children: ReactNode }) {
  return (
    <DropdownMenu.Label className="px-2.5 pt-2 pb-1 text-xs font-medium text-faint">
      {children}
    </DropdownMenu.Label>
  );
}

export function MenuLine() {
  return <DropdownMenu.Separator className="-mx-1 my-1 h-px bg-line" />;
}
