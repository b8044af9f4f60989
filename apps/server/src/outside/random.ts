import { randomBytes, randomFillSync } from 'node:crypto';

/** Randomness as a parameter: production passes the system's, the simulator a seeded one. */
export interface Random {
  bytes(size: number): Uint8Array;
  /** Uniform in [0, 1); for jitter, never for secrets. */
  fraction(): number;
}

/** Drawn in one call, because one session needs a dozen small pieces. Each byte is used once and then wiped. */
const poolBytes = 8_192;
let pool = new Uint8Array(0);
let used = 0;

function pooledBytes(size: number): Uint8Array {
  if (size > poolBytes / 4) return randomBytes(size);
  if (used + size > pool.length) {
    pool = randomFillSync(new Uint8Array(poolBytes));
    used = 0;
  }
  const piece = pool.slice(used, used + size);
  pool.fill(0, used, used + size);
  used += size;
  return piece;
}

export const systemRandom: Random = {
  bytes: pooledBytes,
  fraction: () => Buffer.from(pooledBytes(6)).readUIntBE(0, 6) / 2 ** 48,
};
