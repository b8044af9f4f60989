import type { ColumnVisibilityState } from '@tanstack/react-table';

const keyOf = (name: string) => `florin.columns.${name}`;

/** The columns of a list that this browser's reader has shown or hidden; none that was not chosen. */
export function readColumnChoice(name: string | undefined): ColumnVisibilityState {
  if (name === undefined) return {};
  const stored = new URLSearchParams(localStorage.getItem(keyOf(name)) ?? '');
  return Object.fromEntries([...stored].map(([key, shown]) => [key, shown === 'shown']));
}

export function storeColumnChoice(name: string, choice: ColumnVisibilityState): void {
  const text = new URLSearchParams(
    Object.entries(choice).map(([key, isShown]) => [key, isShown ? 'shown' : 'hidden']),
  ).toString();
  if (text === '') localStorage.removeItem(keyOf(name));
  else localStorage.setItem(keyOf(name), text);
}
