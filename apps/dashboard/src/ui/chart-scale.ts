/** The lowest round number that is no less than `value`, and whose half is round too: the top of an axis. */
export function axisTop(value: bigint): bigint {
  if (value <= 1n) return 1n;
  const unit = 10n ** BigInt(value.toString().length - 1);
  return [1n, 2n, 3n, 4n, 5n, 6n, 8n, 10n].map((step) => step * unit).find((top) => top >= value) ?? value;
}
