import { CircleAlert, CircleCheck } from 'lucide-react';
import { Toast } from 'radix-ui';
import { type ReactNode, useSyncExternalStore } from 'react';

interface Message {
  readonly id: number;
  readonly text: string;
  readonly isFailure: boolean;
}

const maxShown = 3;
let messages: readonly Message[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function change(next: readonly Message[]): void {
  messages = next;
  for (const listener of listeners) listener();
}

/** Says for some seconds that an act is done: `toast('Key disabled')`. */
export function toast(text: string, { isFailure = false } = {}): void {
  change([...messages, { id: nextId, text, isFailure }].slice(-maxShown));
  nextId += 1;
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Shows the toasts; the app has one of these. */
export function Toaster({ children }: { readonly children: ReactNode }) {
  const shown = useSyncExternalStore(subscribe, () => messages);
  return (
    <Toast.Provider duration={5_000} swipeDirection="down">
      {children}
      {shown.map(({ id, text, isFailure }) => (
        <Toast.Root
          key={id}
          type={isFailure ? 'foreground' : 'background'}
          onOpenChange={(open) => !open && change(messages.filter((message) => message.id !== id))}
          className="flex animate-rise items-center gap-2.5 rounded-xl bg-ink px-4 py-3 text-canvas shadow-popover"
        >
          {isFailure ? (
            <CircleAlert className="size-4 shrink-0" />
          ) : (
            <CircleCheck className="size-4 shrink-0" />
          )}
          <Toast.Description>{text}</Toast.Description>
        </Toast.Root>
      ))}
      <Toast.Viewport className="fixed inset-x-4 bottom-20 z-[60] mx-auto flex max-w-sm flex-col gap-2 outline-none md:bottom-6" />
    </Toast.Provider>
  );
}
