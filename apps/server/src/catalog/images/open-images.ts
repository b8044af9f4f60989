import type { Database } from '@florin/pg';
import type { Clock } from '#outside/clock.ts';
import { createEgress } from '#outside/egress.ts';
import type { Random } from '#outside/random.ts';
import type { Log } from '#telemetry/log.ts';
import { runImageCleanup, type SessionSearch } from './cleanup.ts';
import { folderStore } from './folder-store.ts';
import { imageNameKey } from './image-name.ts';
import type { ImageStore } from './image-store.ts';
import { type ImageIntake, type IntakeDeps, imageIntake } from './intake.ts';
import { processDecoder } from './process-decoder.ts';
import { runImageRetries } from './retry.ts';
import { type S3StoreOptions, s3Store } from './s3-store.ts';

/** Where images are kept, and from where they may be had. */
export interface ImageSettings {
  readonly store:
    | { readonly kind: 'folder'; readonly folder: string }
    | ({ readonly kind: 's3' } & S3StoreOptions);
  /** For the local world only: sources on this machine. */
  readonly allowLoopback: boolean;
  /** Authorities that sources' certificates may come from, in PEM, instead of the system's. */
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
  /** What a worker does in the background until the signal aborts. */
  run(signal: AbortSignal): Promise<void>[];
  close(): Promise<void>;
}

/** Opens the store, the way out to sources, and the decoder. */
export function openImages(options: ImagesOptions): Images {
  const { settings, clock, log, origin, masterKey } = options;
  const { allowLoopback, certificateAuthority: ca } = settings;
  const downloader = createEgress({ addresses: { allowLoopback }, ...(ca === undefined ? {} : { ca }) });
  const decoder = processDecoder({ clock });
  const store = openStore(options);
  const deps: IntakeDeps = {
    clock,
    log,
    origin,
    downloader,
    decoder,
    store,
    nameKey: imageNameKey(masterKey),
  };
  return {
    intake: imageIntake(deps),
    store,
    run: (signal) => [
      runImageRetries({ ...options, ...deps }, signal),
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
