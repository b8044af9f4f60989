/** Keccak-256 as Ethereum uses it (FIPS 202 before its padding changed), in few lines: the page may load nothing. */

const mask = (1n << 64n) - 1n;
const rateBytes = 136;
const rounds = 24;
/** Rotation of each lane x + 5y (rho). */
const rotations = [
  0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14,
].map(BigInt);
const roundConstants = makeRoundConstants();

/** The hash of some bytes. */
export function keccak256(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((bytes.length + 1) / rateBytes) * rateBytes);
  padded.set(bytes);
  padded[bytes.length] = 0x01;
  padded[padded.length - 1] = (padded[padded.length - 1] ?? 0) | 0x80;
  const view = new DataView(padded.buffer);
  let lanes = Array.from({ length: 25 }, () => 0n);
  for (let block = 0; block < padded.length; block += rateBytes) {
    for (let lane = 0; lane < rateBytes / 8; lane += 1) {
      lanes[lane] = laneOf(lanes, lane) ^ view.getBigUint64(block + 8 * lane, true);
    }
    lanes = permute(lanes);
  }
  const hash = new Uint8Array(32);
  const out = new DataView(hash.buffer);
  for (let lane = 0; lane < 4; lane += 1) out.setBigUint64(8 * lane, laneOf(lanes, lane), true);
  return hash;
}

function laneOf(lanes: readonly bigint[], index: number): bigint {
  return lanes[index] ?? 0n;
}

function rotate(value: bigint, bits: bigint): bigint {
  return ((value << bits) | (value >> (64n - bits))) & mask;
}

function permute(start: readonly bigint[]): bigint[] {
  let lanes = [...start];
  for (let round = 0; round < rounds; round += 1) {
    const columns = [0, 1, 2, 3, 4].map((x) =>
      [0, 5, 10, 15, 20].reduce((sum, y) => sum ^ laneOf(lanes, x + y), 0n),
    );
    const mixed = lanes.map(
      (lane, place) =>
        lane ^ laneOf(columns, ((place % 5) + 4) % 5) ^ rotate(laneOf(columns, ((place % 5) + 1) % 5), 1n),
    );
    const moved = [...mixed];
    for (let place = 0; place < 25; place += 1) {
      const [x, y] = [place % 5, Math.floor(place / 5)];
      moved[y + 5 * ((2 * x + 3 * y) % 5)] = rotate(laneOf(mixed, place), rotations[place] ?? 0n);
    }
    lanes = moved.map((lane, place) => {
      const row = place - (place % 5);
      const next = laneOf(moved, row + ((place + 1) % 5));
      return lane ^ (~next & mask & laneOf(moved, row + ((place + 2) % 5)));
    });
    lanes[0] = laneOf(lanes, 0) ^ (roundConstants[round] ?? 0n);
  }
  return lanes;
}

/** The constants of iota come from a shift register with the polynomial x^8 + x^6 + x^5 + x^4 + 1. */
function makeRoundConstants(): bigint[] {
  let register = 1;
  return Array.from({ length: rounds }, () => {
    let constant = 0n;
    for (let bit = 0; bit < 7; bit += 1) {
      if ((register & 1) === 1) constant |= 1n << BigInt(2 ** bit - 1);
      register <<= 1;
      if (register > 0xff) register ^= 0x171;
    }
    return constant;
  });
}
