import { ExplainedFailure, type Page } from './page.ts';

/** The current wait for a wallet or a chain; at most one. */
let stop: ((reason: Error) => void) | undefined;

interface Wait {
  /** What the payer must do, or what the page waits for. */
  readonly words: string;
  readonly isFor: 'wallet' | 'chain';
}

/**
 * Waits until an answer arrives or the payer stops waiting. A wallet request cannot be withdrawn: a later answer goes
 * to `onLate`.
 */
export async function waitFor<Answer>(
  page: Page,
  { words, isFor }: Wait,
  ask: (isStopped: () => boolean) => Promise<Answer>,
  onLate: (answer: Answer) => void = () => undefined,
): Promise<Answer> {
  page.change({ step: words, waitsFor: isFor });
  let isOver = false;
  const answer = ask(() => isOver);
  answer.then(
    (value) => {
      if (isOver) onLate(value);
    },
    // Without the wait a refusal has nothing to stop.
    () => undefined,
  );
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = reject;
  });
  try {
    return await Promise.race([answer, stopped]);
  } finally {
    isOver = true;
    stop = undefined;
    page.change({ waitsFor: '' });
  }
}

/** Ends the current wait, if any, with words for the payer. */
export function stopWaiting(words: string): void {
  stop?.(new ExplainedFailure(words));
}
