import { useEffect } from 'react';

/** Reads further pages of a list while none of its rows so far passes a filter that the page applies. */
export function useSearchOn(
  list: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  },
  isEmpty: boolean,
): boolean {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const isSearchingOn = isEmpty && hasNextPage;
  useEffect(() => {
    if (isSearchingOn && !isFetchingNextPage) void fetchNextPage();
  }, [isSearchingOn, isFetchingNextPage, fetchNextPage]);
  return isSearchingOn;
}
