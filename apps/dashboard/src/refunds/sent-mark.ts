/**
 * What this browser knows of the transaction that returns the money: '' before the wallet was asked for it, `asked` while its
 * answer is open, then the hash. A reload would otherwise offer the signing again, and a part could go back twice.
 */
export type SentMark = '' | 'asked' | `0x${string}`;

const keyOf = (refundId: string) => `florin.refund.${refundId}`;

export function readSentMark(refundId: string): SentMark {
  const kept = localStorage.getItem(keyOf(refundId)) ?? '';
  return kept === '' || kept === 'asked' || kept.startsWith('0x') ? (kept as SentMark) : '';
}

export function keepSentMark(refundId: string, mark: SentMark): void {
  if (mark === '') localStorage.removeItem(keyOf(refundId));
  else localStorage.setItem(keyOf(refundId), mark);
}

/** Tells of marks that other tabs make. Returns what ends it. */
export function watchSentMark(refundId: string, onMark: (mark: SentMark) => void): () => void {
  const listener = ({ key }: StorageEvent) => {
    if (key === keyOf(refundId) || key === null) onMark(readSentMark(refundId));
  };
  window.addEventListener('storage', listener);
  return () => window.removeEventListener('storage', listener);
}
