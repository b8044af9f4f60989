/** A QR code of modules: true is dark. */
export type QrMatrix = readonly (readonly boolean[])[];

interface Version {
  readonly number: number;
  /** Data and error correction codewords of all blocks. */
  readonly codewords: number;
  readonly blocks: number;
  /** Error correction codewords of each block. */
  readonly correction: number;
  /** Centres of the alignment patterns. */
  readonly centres: readonly number[];
}

const version = (
  number: number,
  codewords: number,
  blocks: number,
  correction: number,
  ...centres: number[]
): Version => ({
  number,
  codewords,
  blocks,
  correction,
  centres,
});

/** Versions 1 to 10 at error correction level M (ISO/IEC 18004, tables 7, 9 and E.1). */
const versions: readonly Version[] = [
  version(1, 26, 1, 10),
  version(2, 44, 1, 16, 6, 18),
  version(3, 70, 1, 26, 6, 22),
  version(4, 100, 2, 18, 6, 26),
  version(5, 134, 2, 24, 6, 30),
  version(6, 172, 4, 16, 6, 34),
  version(7, 196, 4, 18, 6, 22, 38),
  version(8, 242, 4, 22, 6, 24, 42),
  version(9, 292, 5, 22, 6, 26, 46),
  version(10, 346, 5, 26, 6, 28, 50),
];

const dataCodewords = ({ codewords, blocks, correction }: Version) => codewords - blocks * correction;
const countBits = ({ number }: Version) => (number < 10 ? 8 : 16);

/** Encodes text as a QR code in byte mode at level M. Refuses more than 213 bytes with a RangeError. */
export function qrCode(text: string): QrMatrix {
  const bytes = new TextEncoder().encode(text);
  const chosen = versions.find((each) => 4 + countBits(each) + 8 * bytes.length <= 8 * dataCodewords(each));
  if (chosen === undefined) throw new RangeError(`too long for a QR code: ${bytes.length} bytes`);
  const codewords = interleave(chosen, payload(chosen, bytes));
  let best: { grid: Grid; penalty: number } | undefined;
  for (let mask = 0; mask < 8; mask += 1) {
    const grid = draw(chosen, codewords, mask);
    const penalty = penaltyOf(grid);
    if (best === undefined || penalty < best.penalty) best = { grid, penalty };
  }
  return (best?.grid ?? []).map((row) => row.map((module) => module === true));
}

/** The dark modules as the path of an SVG whose view box is `size` wide, a quiet zone of four modules around. */
export function qrPath(matrix: QrMatrix): { readonly size: number; readonly path: string } {
  const quiet = 4;
  const runs = matrix.flatMap((row, y) =>
    row.flatMap((isDark, x) => {
      if (!isDark || row[x - 1] === true) return [];
      let length = 1;
      while (row[x + length] === true) length += 1;
      return [`M${x + quiet} ${y + quiet}h${length}v1h-${length}z`];
    }),
  );
  return { size: matrix.length + 2 * quiet, path: runs.join('') };
}

function payload(chosen: Version, bytes: Uint8Array): number[] {
  const bits: number[] = [];
  const push = (value: number, count: number) => {
    for (let bit = count - 1; bit >= 0; bit -= 1) bits.push((value >> bit) & 1);
  };
  push(0b0100, 4);
  push(bytes.length, countBits(chosen));
  for (const byte of bytes) push(byte, 8);
  const capacity = 8 * dataCodewords(chosen);
  push(0, Math.min(4, capacity - bits.length));
  push(0, (8 - (bits.length % 8)) % 8);
  for (let pad = 0xec; bits.length < capacity; pad ^= 0xec ^ 0x11) push(pad, 8);
  return Array.from({ length: bits.length / 8 }, (_, index) =>
    bits.slice(8 * index, 8 * index + 8).reduce((byte, bit) => (byte << 1) | bit, 0),
  );
}

/** Splits into blocks, the longer ones last, and deals their codewords out in turn: data first, then correction. */
function interleave(chosen: Version, data: readonly number[]): number[] {
  const { blocks, correction } = chosen;
  const short = Math.floor(data.length / blocks);
  const longer = data.length % blocks;
  const divisor = generator(correction);
  const parts: { data: readonly number[]; correction: readonly number[] }[] = [];
  for (let index = 0, start = 0; index < blocks; index += 1) {
    const length = short + (index >= blocks - longer ? 1 : 0);
    const block = data.slice(start, start + length);
    parts.push({ data: block, correction: remainder(block, divisor) });
    start += length;
  }
  const dealt: number[] = [];
  for (let place = 0; place <= short; place += 1)
    for (const part of parts) dealt.push(...part.data.slice(place, place + 1));
  for (let place = 0; place < correction; place += 1)
    for (const part of parts) dealt.push(...part.correction.slice(place, place + 1));
  return dealt;
}

/** Multiplies in the field of 256 elements modulo x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(left: number, right: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit -= 1) {
    product = (product << 1) ^ ((product >>> 7) * 0x11d);
    product ^= ((right >>> bit) & 1) * left;
  }
  return product;
}

function generator(degree: number): number[] {
  let polynomial = [1];
  let root = 1;
  for (let index = 0; index < degree; index += 1) {
    const next = [...polynomial, 0];
    for (const [place, coefficient] of polynomial.entries()) {
      next[place + 1] = (next[place + 1] ?? 0) ^ multiply(coefficient, root);
    }
    polynomial = next;
    root = multiply(root, 2);
  }
  return polynomial.slice(1);
}

function remainder(data: readonly number[], divisor: readonly number[]): number[] {
  let rest = divisor.map(() => 0);
  for (const byte of data) {
    const factor = byte ^ (rest[0] ?? 0);
    rest = [...rest.slice(1), 0].map((value, place) => value ^ multiply(divisor[place] ?? 0, factor));
  }
  return rest;
}

/** Undefined: free for data. */
type Grid = (boolean | undefined)[][];

function draw(chosen: Version, codewords: readonly number[], mask: number): Grid {
  const size = 17 + 4 * chosen.number;
  const grid: Grid = Array.from({ length: size }, () => Array<boolean | undefined>(size).fill(undefined));
  const set = (x: number, y: number, isDark: boolean) => {
    const row = grid[y];
    if (row !== undefined && x >= 0 && x < size) row[x] = isDark;
  };
  for (let place = 0; place < size; place += 1) {
    set(6, place, place % 2 === 0);
    set(place, 6, place % 2 === 0);
  }
  for (const [x, y] of [
    [3, 3],
    [size - 4, 3],
    [3, size - 4],
  ] as const)
    square(set, { x, y, reach: 4 });
  for (const x of chosen.centres)
    for (const y of chosen.centres) {
      const isCorner = (x === 6 && y === 6) || (x === 6 && y === size - 7) || (x === size - 7 && y === 6);
      if (!isCorner) square(set, { x, y, reach: 2 });
    }
  drawFormat(set, size, mask);
  if (chosen.number >= 7) drawVersion(set, size, chosen.number);
  drawData(grid, codewords, mask);
  return grid;
}

type Setter = (x: number, y: number, isDark: boolean) => void;

/** Rings around a centre: finders reach 4 with their light border, alignment patterns 2. */
function square(set: Setter, { x, y, reach }: { x: number; y: number; reach: number }): void {
  for (let dy = -reach; dy <= reach; dy += 1)
    for (let dx = -reach; dx <= reach; dx += 1) {
      const ring = Math.max(Math.abs(dx), Math.abs(dy));
      set(x + dx, y + dy, reach === 4 ? ring !== 2 && ring !== 4 : ring !== 1);
    }
}

/** The remainder of a BCH code, appended to its value. */
function withRemainder(value: number, polynomial: number, degree: number): number {
  let rest = value;
  for (let step = 0; step < degree; step += 1) rest = (rest << 1) ^ ((rest >>> (degree - 1)) * polynomial);
  return (value << degree) | rest;
}

function drawFormat(set: Setter, size: number, mask: number): void {
  // Level M is 00.
  const bits = withRemainder(mask, 0x537, 10) ^ 0x5412;
  const isDark = (bit: number) => ((bits >>> bit) & 1) === 1;
  for (let bit = 0; bit <= 5; bit += 1) set(8, bit, isDark(bit));
  set(8, 7, isDark(6));
  set(8, 8, isDark(7));
  set(7, 8, isDark(8));
  for (let bit = 9; bit < 15; bit += 1) set(14 - bit, 8, isDark(bit));
  for (let bit = 0; bit < 8; bit += 1) set(size - 1 - bit, 8, isDark(bit));
  for (let bit = 8; bit < 15; bit += 1) set(8, size - 15 + bit, isDark(bit));
  set(8, size - 8, true);
}

function drawVersion(set: Setter, size: number, number: number): void {
  const bits = withRemainder(number, 0x1f25, 12);
  for (let bit = 0; bit < 18; bit += 1) {
    const isDark = ((bits >>> bit) & 1) === 1;
    const [far, near] = [size - 11 + (bit % 3), Math.floor(bit / 3)];
    set(far, near, isDark);
    set(near, far, isDark);
  }
}

const masks: readonly ((x: number, y: number) => boolean)[] = [
  (x, y) => (x + y) % 2 === 0,
  (_x, y) => y % 2 === 0,
  (x) => x % 3 === 0,
  (x, y) => (x + y) % 3 === 0,
  (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2 === 0,
  (x, y) => ((x * y) % 2) + ((x * y) % 3) === 0,
  (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2 === 0,
  (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2 === 0,
];

/** Fills what is free in columns of two, from the right, up and down in turn. */
function drawData(grid: Grid, codewords: readonly number[], mask: number): void {
  const size = grid.length;
  const isMasked = masks[mask] ?? (() => false);
  let bit = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    const isUpward = ((right + 1) & 2) === 0;
    for (let step = 0; step < size; step += 1) {
      const y = isUpward ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        const row = grid[y];
        if (row === undefined || row[x] !== undefined) continue;
        const isSet = (((codewords[bit >>> 3] ?? 0) >>> (7 - (bit & 7))) & 1) === 1;
        row[x] = isSet !== isMasked(x, y);
        bit += 1;
      }
    }
  }
}

/** How hard a code is to read: runs, blocks, shapes like finders, and too much of one colour. */
function penaltyOf(grid: Grid): number {
  const size = grid.length;
  const columns = grid.map((_, x) => grid.map((row) => row[x] === true));
  const lines = [...grid.map((row) => row.map((module) => module === true)), ...columns];
  const texts = lines.map((line) => line.map((isDark) => (isDark ? '1' : '0')).join(''));
  let penalty = 0;
  for (const text of texts) {
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) penalty += run.length - 2;
    for (const finder of ['10111010000', '00001011101'])
      for (let at = text.indexOf(finder); at >= 0; at = text.indexOf(finder, at + 1)) penalty += 40;
  }
  for (let y = 0; y + 1 < size; y += 1)
    for (let x = 0; x + 1 < size; x += 1) {
      const colour = grid[y]?.[x];
      if (colour === grid[y]?.[x + 1] && colour === grid[y + 1]?.[x] && colour === grid[y + 1]?.[x + 1])
        penalty += 3;
    }
  const dark = grid.flat().filter((module) => module === true).length;
  return penalty + 10 * Math.floor(Math.abs((20 * dark) / (size * size) - 10));
}
