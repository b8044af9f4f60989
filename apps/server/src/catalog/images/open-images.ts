import type { Database } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import { createEgress } from '#outside/egress.ts';
import type { Random } from '#outside/random.ts';
import type { Log } from '#telemetry/log.ts';
import type { ImageContext } from '../context.ts';
import { runImageCleanup, type SessionSearch } from './cleanup.ts';
import { folderStore } from './folder-store.ts';
import { imageNameKey } from './image-name.ts';
import type { ImageStore } from './image-store.ts';
import { type ImageIntake, imageIntake } from './intake.ts';
import { processDecoder } from './process-decoder.ts';
import { runImageRetries } from './retry.ts';
import { type S3StoreOptions, s3Store } from './s3-store.ts';

/** Where images are stored, and which sources are allowed. */
export interface ImageSettings {
  readonly store:
    | { readonly kind: 'folder'; readonly folder: string }
    | ({ readonly kind: 's3' } & S3StoreOptions);
  /** Allows sources on this machine, for the local world only. */
  readonly allowLoopback: boolean;
  /** Certificate authorities for sources, in PEM, instead of the system's. */
  readonly certificateAuthority?: string;
}

export interface ImagesOptions {
  readonly settings: ImageSettings;
  readonly db: Database;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly origin: string;
  readonly masterKey: Uint8Array;
  readonly searchSessions: SessionSearch;
}

/** The hosting of images in one process. */
export interface Images {
  readonly intake: ImageIntake;
  readonly store: ImageStore;
  /** The background work of a worker, until the signal aborts. */
  run(signal: AbortSignal): Promise<void>[];
  close(): Promise<void>;
}

/** Opens the store, the downloader and the decoder. */
export function openImages(options: ImagesOptions): Images {
  const { settings, clock, random, log, origin, masterKey } = options;
  const { allowLoopback, certificateAuthority: ca } = settings;
  const downloader = createEgress({ addresses: { allowLoopback }, ca });
  const decoder = processDecoder({ clock });
  const store = openStore(options);
  const context: ImageContext = {
    clock,
    random,
    log,
    origin,
    downloader,
    decoder,
    store,
    nameKey: imageNameKey(masterKey),
  };
  return {
    intake: imageIntake(context),
    store,
    run: (signal) => [
      runImageRetries({ ...options, ...context }, signal),
      runImageCleanup({ ...options, store }, signal),
    ],
    async close() {
      await Promise.all([downloader.close(), decoder.close(), store.close()]);
    },
  };
}

function openStore({ settings: { store }, random }: ImagesOptions): ImageStore {
  return store.kind === 'folder' ? folderStore({ ...store, random }) : s3Store(store);
}
