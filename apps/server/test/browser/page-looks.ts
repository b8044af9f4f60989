import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** Whether anything stands beside the window. The payment's half hides what does, so its boxes are compared. */
export async function isTooWide(page: Page): Promise<boolean> {
  const found = await page.evaluate(`(() => {
    const range = document.createRange();
    range.selectNodeContents(document.querySelector('main'));
    return document.documentElement.scrollWidth > innerWidth ||
      [...range.getClientRects()].some(({ left, right, width }) => width > 1 && (left < -1 || right > innerWidth + 1));
  })()`);
  return Boolean(found);
}

/** Links, buttons and fields that are too small for a finger: 44 pixels (WCAG 2.2, 2.5.5), which axe does not ask for. */
export const smallTargets = `[...document.querySelectorAll('a, button, summary, select, input')]
  .filter((element) => element.checkVisibility({ visibilityProperty: true }) &&
    Math.min(element.getBoundingClientRect().height, element.getBoundingClientRect().width) < 44)
  .map(({ outerHTML }) => outerHTML.slice(0, 120))`;

/** What the payer prints is black on white, with whole hashes and addresses, and without what only a screen can use. */
export async function assertOnPaper(page: Page): Promise<void> {
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  const visible = (selector: string) => page.locator(selector).filter({ visible: true }).count();
  assert.deepEqual(
    [await visible('.hash:not(.whole)'), await visible('button'), await visible('.lang')],
    [0, 0, 0],
  );
  assert.equal(await visible('.hash.whole'), 4);
  await page
    .locator('#whole-payer')
    .getByText(/^0x[0-9a-fA-F]{40}$/)
    .waitFor();
  const colors = await page.evaluate(
    `[getComputedStyle(document.querySelector('.receipt dd')).color, getComputedStyle(document.body).backgroundColor]`,
  );
  assert.deepEqual(colors, ['rgb(0, 0, 0)', 'rgb(255, 255, 255)']);
  await page.emulateMedia({ media: 'screen' });
}

/** A reader's own colours replace backgrounds, so that what is chosen has an outline. */
export async function assertChosenInForcedColors(page: Page): Promise<void> {
  await page.emulateMedia({ forcedColors: 'active' });
  for (const chosen of ['.tabs :checked + span', '[aria-pressed=true]']) {
    const element = `document.querySelector(${JSON.stringify(chosen)})`;
    const outline = await page.evaluate(`getComputedStyle(${element}).outlineStyle`);
    assert.equal(outline, 'solid', chosen);
  }
  await page.emulateMedia({ forcedColors: 'none' });
}
