/** A browser that keeps no data for this site, or for frames, throws at the first look. Then the page keeps it in memory. */
export function keepStorage(): void {
  for (const name of ['localStorage', 'sessionStorage'] as const) {
    try {
      window[name].getItem('florin');
    } catch {
      const kept = new Map<string, string>();
      const storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = {
        getItem: (key) => kept.get(key) ?? null,
        setItem: (key, value) => void kept.set(key, value),
        removeItem: (key) => void kept.delete(key),
      };
      Object.defineProperty(window, name, { value: storage });
    }
  }
}
