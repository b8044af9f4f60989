/** `hasMore` of a page: whether entries follow it. */
export function hasMore(total: number, page: { page: number; size: number }): boolean {
  return page.page * page.size < total;
}
