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
    locks += 1;
    document.documentElement.classList.add('is-locked');
    return () => {
      locks -= 1;
      if (locks === 0) document.documentElement.classList.remove('is-locked');
    };
  }, [enabled]);
  return <As {...rest} />;
}
