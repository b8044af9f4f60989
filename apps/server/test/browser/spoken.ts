import type { Page } from 'playwright-core';

/** Keeps what screen readers speak on a page from now on: each new text of a live region that is shown. */
export async function keepSpoken(page: Page): Promise<() => Promise<string[]>> {
  await page.evaluate(`(() => {
    globalThis.spoken = [];
    const last = new Map();
    const listen = () => {
      for (const region of document.querySelectorAll('[role=status], [role=alert], [aria-live]')) {
        const text = region.getClientRects().length === 0 ? '' : region.innerText.replace(/\\s+/g, ' ').trim();
        if (text !== '' && text !== last.get(region)) globalThis.spoken.push(text);
        last.set(region, text);
      }
    };
    listen();
    globalThis.spoken = [];
    new MutationObserver(listen).observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  })()`);
  return async () => (await page.evaluate('globalThis.spoken')) as string[];
}
