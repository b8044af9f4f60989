/** How far the service's clock is ahead of this device's. */
let aheadMs = 0;

/**
 * Takes the service's time of a page that it has just rendered, in Unix seconds. It counts from the moment when this
 * browser asked for the page, so the clock may be fast by the wait for the answer, and is never slow.
 */
export function setClock(renderedAt: number): void {
  aheadMs = renderedAt * 1_000 - (Date.now() - performance.now());
}

/** Unix seconds by the service's clock: payers' clocks may be wrong. */
export function nowSeconds(): number {
  return Math.floor((Date.now() + aheadMs) / 1_000);
}
