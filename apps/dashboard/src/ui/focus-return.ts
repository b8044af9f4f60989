import { type FocusEvent, useRef } from 'react';

/** The content of the page; the focus goes there when the element that had it is gone. */
export const contentId = 'screen';

/** Keeps the focus on the page when the element that had it was removed: the browser would start at the top. */
export function keepFocus(): void {
  if (document.activeElement === null || document.activeElement === document.body)
    document.getElementById(contentId)?.focus({ preventScroll: true });
}

/**
 * For the content of a dialog: gives the focus back to the element that opened it. Radix does so only for triggers of its own.
 */
export function useFocusReturn() {
  const opener = useRef<HTMLElement>(undefined);
  return {
    onFocus: ({ currentTarget, target, relatedTarget }: FocusEvent<HTMLElement>) => {
      // A dialog in this one also tells its focus here.
      if (opener.current !== undefined || !currentTarget.contains(target)) return;
      if (relatedTarget instanceof HTMLElement && !currentTarget.contains(relatedTarget))
        opener.current = relatedTarget;
    },
    onCloseAutoFocus: (event: Event) => {
      event.preventDefault();
      opener.current?.focus();
      opener.current = undefined;
      keepFocus();
    },
  };
}
