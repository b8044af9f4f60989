/** The lowest 1, 2 or 5 with zeros that is no less than `value`: the top of an axis. */
export function axisTop(value: bigint): bigint {
  if (value <= 1n) return 1n;
  const unit = 10n ** BigInt(value.toString().length - 1);
  return [1n, 2n, 5n, 10n].map((step) => step * unit).find((top) => top >= value) ?? value;
}
