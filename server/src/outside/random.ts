import { randomBytes } from 'node:crypto';

/** Randomness as a parameter: production passes the operating system's, the simulator a seeded one. */
export interface Random {
  bytes(size: number): Uint8Array;
  /** Uniform in [0, 1); for jitter, never for secrets. */
  fraction(): number;
}

export const systemRandom: Random = {
  bytes: (size) => randomBytes(size),
  fraction: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48,
};
