import { lazyRouteComponent } from '@tanstack/react-router';
import { untilAnswering } from '../api/connection.ts';

type Load = Parameters<typeof lazyRouteComponent>[0];

/** Reads a file of the page. While the service does not answer, it waits and reads the file once it answers. */
export function loadPatiently<Module>(load: () => Promise<Module>): () => Promise<Module> {
  return () =>
    load().catch(async () => {
      await untilAnswering();
      return load();
    });
}

/**
 * The component of a screen, whose file is read once it is opened. While the service does not answer, the screen before it
 * stays, and the new one opens once it answers. A file that a newer version replaced is missing: the library reloads the page.
 */
export function lazyScreen(load: Load) {
  return lazyRouteComponent(loadPatiently(load));
}
