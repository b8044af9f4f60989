import { X } from 'lucide-react';
import { Dialog as Radix } from 'radix-ui';
import { type ReactNode, useRef } from 'react';
import { Button, IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { useFocusReturn } from './focus-return.ts';
import { LeaveContext, type LeaveQuestion } from './leave.ts';

export interface DialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  /** One sentence below the title. */
  readonly description?: ReactNode;
  readonly children: ReactNode;
  readonly size?: 'small' | 'normal' | 'large' | 'wide';
  /** The dialog keeps open for clicks beside it and for Escape: while it is sending, or shows what is shown once. */
  readonly isHeld?: boolean;
}

const widths = { small: 'md:max-w-md', normal: 'md:max-w-lg', large: 'md:max-w-3xl', wide: 'md:max-w-5xl' };

/** A dialog: in the middle on desktops, from below on phones. */
export function Dialog({
  isOpen,
  onClose,
  title,
  description,
  children,
  size = 'normal',
  isHeld = false,
}: DialogProps) {
  return (
    <Frame
      {...{ isOpen, onClose, title, description, isHeld }}
      className={classNames(
        'inset-x-0 bottom-0 max-h-[92dvh] animate-rise rounded-t-2xl md:inset-x-4 md:top-[10vh] md:bottom-auto md:mx-auto md:max-h-[80vh] md:rounded-2xl',
        widths[size],
      )}
    >
      {children}
    </Frame>
  );
}

/** A sheet from the right edge, for the detail of a row or a long form; the whole screen on phones. */
export function Sheet({ size = 'normal', ...rest }: DialogProps) {
  return (
    <Frame
      {...rest}
      className={classNames(
        'is-sheet inset-0 animate-slide md:left-auto md:w-full md:border-l md:border-line',
        widths[size],
      )}
    />
  );
}

/** Takes the focus of a dialog that opens, before the button that closes it. */
const firstField = ':is(input:not([type=hidden], [readonly]), select, textarea):not(:disabled)';

/** For a dialog that opens: focuses its first field, or that of a form that is still loading once it is there. */
function focusFirst(event: Event, body: HTMLElement | null): void {
  // On a touch screen a keyboard would cover the dialog.
  if (body === null || !matchMedia('(hover: hover)').matches) return;
  const focusField = () => {
    const first = body.querySelector<HTMLElement>(firstField);
    first?.focus();
    return first !== null;
  };
  if (focusField()) {
    event.preventDefault();
    return;
  }
  const loading = new MutationObserver(() => {
    const { activeElement: active } = document;
    // The person may have gone on meanwhile.
    const isAtStart = body.parentElement?.contains(active) === true && !body.contains(active);
    if (!isAtStart || focusField()) loading.disconnect();
  });
  loading.observe(body, { childList: true, subtree: true });
}

function Frame({
  isOpen,
  onClose,
  title,
  description,
  isHeld = false,
  className,
  children,
}: Omit<DialogProps, 'size'> & { readonly className: string }) {
  const hold = (event: Event) => {
    if (isHeld) event.preventDefault();
  };
  const focusReturn = useFocusReturn();
  const body = useRef<HTMLDivElement>(null);
  const question = useRef<LeaveQuestion>(undefined);
  return (
    <Radix.Root open={isOpen} onOpenChange={(open) => !open && question.current?.() !== true && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-50 animate-appear bg-veil" />
        <Radix.Content
          {...(description === undefined ? { 'aria-describedby': undefined } : {})}
          {...focusReturn}
          onOpenAutoFocus={(event) => focusFirst(event, body.current)}
          onEscapeKeyDown={hold}
          onInteractOutside={hold}
          className={classNames(
            'fixed z-50 flex flex-col overflow-hidden bg-raised shadow-popover outline-none',
            className,
          )}
        >
          <header className="flex items-start gap-4 px-5 pt-4 pb-3">
            <div className="min-w-0 flex-1">
              <Radix.Title className="text-lg font-semibold text-balance">{title}</Radix.Title>
              {description !== undefined && (
                <Radix.Description className="text-soft">{description}</Radix.Description>
              )}
            </div>
            <Radix.Close asChild>
              <IconButton label="Close" className="-mt-1 -mr-2" disabled={isHeld}>
                <X />
              </IconButton>
            </Radix.Close>
          </header>
          <div
            ref={body}
            className={classNames(
              'flex min-h-0 flex-1 flex-col overflow-y-auto overscroll-contain px-5 pb-5',
              // What gets the focus, and the error below it, are not hidden by the buttons.
              'scroll-pb-44 md:scroll-pb-32',
              // In a sheet the form fills the height, and its buttons stand at the bottom.
              'in-[.is-sheet]:[&>form]:flex in-[.is-sheet]:[&>form]:flex-1 in-[.is-sheet]:[&>form]:flex-col',
              'in-[.is-sheet]:[&>:has(+[data-acts])]:mb-5',
            )}
          >
            <LeaveContext value={question}>{children}</LeaveContext>
          </div>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

/**
 * The buttons at the end of a dialog, the main one last; they stay in sight while it scrolls, and at the bottom of a sheet.
 * `notice` is what keeps the main one from its act, and stands above them.
 */
export function DialogActions({
  children,
  notice,
}: {
  readonly children: ReactNode;
  readonly notice?: ReactNode;
}) {
  return (
    <div
      data-acts
      className="sticky -bottom-5 z-10 -mx-5 mt-5 -mb-5 grid gap-3 border-t border-line bg-raised px-5 py-4 in-[.is-sheet]:mt-auto"
    >
      {notice}
      <div className="flex flex-col-reverse gap-2 md:flex-row md:justify-end">{children}</div>
    </div>
  );
}

/** Closes the dialog without its act, as Escape does: a form that was changed asks first (`useDraftGuard`). */
export function CancelButton({
  disabled = false,
  children = 'Cancel',
}: {
  readonly disabled?: boolean;
  readonly children?: string;
}) {
  return (
    <Radix.Close asChild>
      <Button disabled={disabled}>{children}</Button>
    </Radix.Close>
  );
}
