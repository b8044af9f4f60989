/** Keeps the files of hosted images. A file never changes once it is there: its name says what is in it. */
export interface ImageStore {
  /** Stores a file, whole or not at all; again is harmless. Once it returns, a crash does not lose it. */
  put(file: string, bytes: Uint8Array): Promise<void>;
  /** The file's bytes; undefined when there is no such file. */
  read(file: string): Promise<Uint8Array | undefined>;
  /** Removes a file; one that is not there is no error. */
  remove(file: string): Promise<void>;
  close(): Promise<void>;
}

/** Every operation throws it when the store cannot do its work now: full, away, or refusing us. */
export class ImageStoreFailure extends Error {
  constructor(what: string, options?: ErrorOptions) {
    super(what, options);
    this.name = 'ImageStoreFailure';
  }
}
