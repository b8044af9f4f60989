import type { Clock } from '#outside/clock.ts';
import type { Downloader } from '#outside/egress.ts';
import type { Random } from '#outside/random.ts';
import type { Log } from '#telemetry/log.ts';
import type { ImageDecoder } from './images/image-decoder.ts';
import type { ImageStore } from './images/image-store.ts';

/** This room's dependencies on the process that it runs in. */
export interface CatalogContext {
  readonly clock: Clock;
  readonly random: Random;
}

/** The further dependencies of image hosting. */
export interface ImageContext extends CatalogContext {
  readonly log: Log;
  /** The public origin, without a slash at the end. */
  readonly origin: string;
  readonly downloader: Downloader;
  readonly decoder: ImageDecoder;
  readonly store: ImageStore;
  /** The key of image names. */
  readonly nameKey: Uint8Array;
}
