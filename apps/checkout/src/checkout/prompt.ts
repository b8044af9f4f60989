import { type Page, Told } from './page.ts';

/** The wait for a wallet or a chain that is going on; there is one at the most. */
let stop: ((reason: Error) => void) | undefined;

interface Wait {
  /** What the payer has to do, or what the page waits for. */
  readonly words: string;
  readonly isFor: 'wallet' | 'chain';
}

/**
 * Waits for an answer until it comes or the payer stops waiting. A wallet's request cannot be taken back: an answer after
 * that goes to `onLate`.
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

/** Ends the wait that is going on, if there is one, with words for the payer; whether there was one. */
export function stopWaiting(words: string): boolean {
  const isWaiting = stop !== undefined;
  stop?.(new Told(words));
  return isWaiting;
}
