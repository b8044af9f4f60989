import { Slot } from 'radix-ui';
import { type ComponentProps, type ElementType, useEffect } from 'react';

let locks = 0;

/**
 * Keeps the page behind a dialog still. Takes the place of react-remove-scroll, which Radix uses: that one writes a style
 * element into the page, and the content security policy allows none.
 */
export function RemoveScroll({
  as: As = Slot.Root,
  enabled = true,
  allowPinchZoom: _pinch,
  shards: _shards,
  ...rest
}: ComponentProps<'div'> & {
  readonly as?: ElementType;
  readonly enabled?: boolean;
  readonly allowPinchZoom?: boolean;
  readonly shards?: unknown;
}) {
  useEffect(() => {
    if (!enabled) return undefined;
    const { documentElement: root } = document;
    if (locks === 0) {
      // The room of the scrollbar stays, or the page behind would move. `clientWidth` has it where the page is short.
      const room = window.innerWidth - root.getBoundingClientRect().width;
      root.style.setProperty('--scrollbar', `${room}px`);
      root.classList.add('is-locked');
    }
    locks += 1;
    return () => {
      locks -= 1;
      if (locks === 0) root.classList.remove('is-locked');
    };
  }, [enabled]);
  return <As {...rest} />;
}
