import { lazyRouteComponent } from '@tanstack/react-router';
import { toast } from '../ui/toast.tsx';

type Load = Parameters<typeof lazyRouteComponent>[0];

const askAgainMs = 2_000;
/** Some ten minutes; then the browser says what it finds. */
const mostAsks = 300;

/**
 * The component of a screen, whose file is read once it is opened. While the service does not answer, the screen before it
 * stays, and the new one opens once it answers. A file that a newer version replaced is missing: the library reloads the page.
 */
export function lazyScreen(load: Load) {
  return lazyRouteComponent(() =>
    load().catch(async (error: unknown) => {
      if (await isAnswering()) throw error;
      toast('No connection to the service. The screen opens once it answers.', { isFailure: true });
      for (let asks = 0; asks < mostAsks && !(await isAnswering()); asks += 1)
        await new Promise((resolve) => setTimeout(resolve, askAgainMs));
      return load();
    }),
  );
}

/** A gateway in front of a stopped service answers 502. */
async function isAnswering(): Promise<boolean> {
  const reply = await fetch(location.href, { cache: 'no-store' }).catch(() => undefined);
  return reply !== undefined && reply.status < 500;
}
