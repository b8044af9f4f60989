import { useSyncExternalStore } from 'react';

export type Theme = 'system' | 'light' | 'dark';

// public/theme.js reads the same key before the first paint.
const key = 'florin.theme';
const listeners = new Set<() => void>();

function readTheme(): Theme {
  const { theme } = document.documentElement.dataset;
  return theme === 'light' || theme === 'dark' ? theme : 'system';
}

/** Chooses the theme for this browser. */
export function chooseTheme(theme: Theme): void {
  if (theme === 'system') {
    delete document.documentElement.dataset['theme'];
    localStorage.removeItem(key);
  } else {
    document.documentElement.dataset['theme'] = theme;
    localStorage.setItem(key, theme);
  }
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  }, readTheme);
}
