import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ImageContext } from '#catalog/context.ts';
import { folderStore } from '#catalog/images/folder-store.ts';
import { imageNameKey } from '#catalog/images/image-name.ts';
import type { ImageStore } from '#catalog/images/image-store.ts';
import { ImageStoreFailure } from '#catalog/images/image-store.ts';
import { processDecoder } from '#catalog/images/process-decoder.ts';
import { createMerchant } from '#merchants/merchant.ts';
import { type Clock, systemClock } from '#outside/clock.ts';
import { createEgress, type Downloader } from '#outside/egress.ts';
import { type Random, systemRandom } from '#outside/random.ts';
import { silentLog } from '#telemetry/log.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { type ImageSource, startImageSource } from './image-source.ts';

/** The parts of image hosting: a database, a source with images, a folder, decoders, and a clock that tests move. */
export class ImageWorld {
  readonly database: TestDatabase;
  readonly source: ImageSource;
  readonly folder: string;
  readonly clock: Clock & { time: number };
  readonly downloader: Downloader;
  readonly random: Random = systemRandom;
  readonly origin = 'https://pay.example.com';
  /** While true the store is unavailable. */
  isStoreAway = false;

  private constructor(parts: { database: TestDatabase; source: ImageSource; folder: string }) {
    this.database = parts.database;
    this.source = parts.source;
    this.folder = parts.folder;
    const clock = {
      ...systemClock,
      time: Date.UTC(2030, 0, 1),
      now: () => new Date(clock.time),
    };
    this.clock = clock;
    this.downloader = createEgress({ addresses: { allowLoopback: true }, ca: parts.source.ca });
  }

  static async open(): Promise<ImageWorld> {
    const [database, source, folder] = await Promise.all([
      testDatabase(),
      startImageSource(),
      mkdtemp(join(tmpdir(), 'florin-images-')),
    ]);
    return new ImageWorld({ database, source, folder });
  }

  async close(): Promise<void> {
    await this.downloader.close();
    await this.source.close();
    await this.database.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  get deps(): ImageContext {
    return {
      clock: this.clock,
      random: this.random,
      log: silentLog,
      origin: this.origin,
      downloader: this.downloader,
      decoder: processDecoder({ clock: systemClock }),
      store: this.#store(),
      nameKey: imageNameKey(new Uint8Array(32).fill(1)),
    };
  }

  #store(): ImageStore {
    const store = folderStore({ folder: this.folder, random: systemRandom });
    const unlessAway = <T>(work: () => Promise<T>) =>
      this.isStoreAway ? Promise.reject(new ImageStoreFailure('away')) : work();
    return {
      put: (file, bytes) => unlessAway(() => store.put(file, bytes)),
      read: (file) => unlessAway(() => store.read(file)),
      remove: (file) => unlessAway(() => store.remove(file)),
      close: () => store.close(),
    };
  }

  async addMerchant(): Promise<string> {
    const created = await this.database.db.transaction((transaction) =>
      createMerchant(transaction, this, { merchantName: 'Images' }),
    );
    return created.merchantId;
  }

  /** The files in the store, by name. */
  async files(): Promise<string[]> {
    const entries = await readdir(this.folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => entry.name)
      .sort();
  }
}
