/** Sums up the page's layout shifts (web.dev/cls) from now on, those after an input included. */
export const sumShifts = `globalThis.shifts = 0; new PerformanceObserver((list) => {
  for (const { value } of list.getEntries()) globalThis.shifts += value;
}).observe({ type: 'layout-shift', buffered: true });`;
/** A fifth of what web.dev calls good. */
export const mostShift = 0.02;
