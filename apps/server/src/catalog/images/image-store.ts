/** Stores the files of hosted images. A file never changes: its name is a hash of its content. */
export interface ImageStore {
  /** Stores a file atomically and durably. Storing it again is harmless. */
  put(file: string, bytes: Uint8Array): Promise<void>;
  /** The file's bytes; undefined when there is no such file. */
  read(file: string): Promise<Uint8Array | undefined>;
  /** Removes a file; does nothing when there is none. */
  remove(file: string): Promise<void>;
  close(): Promise<void>;
}

/** Thrown by every operation when the store is full, unreachable or refuses us. */
export class ImageStoreFailure extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(what, options);
    this.name = 'ImageStoreFailure';
  }
}
