import { type ReactNode, Suspense, useState } from 'react';

/** For a dialog whose file is read when it opens for the first time; afterwards it stays, so that it can close. */
export function WhenOpened({ isOpen, children }: { readonly isOpen: boolean; readonly children: ReactNode }) {
  const [wasOpened, setOpened] = useState(isOpen);
  if (isOpen && !wasOpened) setOpened(true);
  return wasOpened && <Suspense>{children}</Suspense>;
}
