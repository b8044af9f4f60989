import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { systemClock } from '#outside/clock.ts';

/** Steps with Tab until an element is given up: more than any screen has. */
const mostSteps = 80;
/** Generous, for slow machines. */
const patienceMs = 120_000;

/**
 * The element that has the focus: its name, whether the page shows where the focus is, and whether it is in the open dialog.
 * A field shows its caret, and a menu its chosen line. The content as a whole, which takes the focus of what is gone, shows
 * nothing.
 */
const describeFocus = `(() => {
  const element = document.activeElement;
  if (element === null || element === document.body) return undefined;
  const labels = [...(element.labels ?? [])].map((label) => label.textContent);
  const name = element.getAttribute('aria-label') ?? (labels.join(' ') || element.textContent || element.id);
  const frames = [getComputedStyle(element), getComputedStyle(element, '::after')];
  const label = element.closest('label');
  if (label !== null) frames.push(getComputedStyle(label));
  const hasFrame = frames.some(({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) > 0);
  const hasCaret = element.matches('input:not([type=checkbox], [type=radio]), textarea');
  const isPlace = element.matches('main, [role=dialog], [role=menu], [data-highlighted]');
  const dialogs = [...document.querySelectorAll('[role=dialog]')];
  return {
    name: name.replaceAll(/\\s+/g, ' ').trim(),
    isShown: hasFrame || hasCaret || isPlace,
    isInside: dialogs.length === 0 || dialogs.at(-1).contains(element),
  };
})()`;

interface Focus {
  readonly name: string;
  readonly isShown: boolean;
  readonly isInside: boolean;
}

/** Waits until an element has the focus, and this name if one is given. */
async function findFocus(page: Page, name?: string): Promise<Focus> {
  const endMs = performance.now() + patienceMs;
  for (;;) {
    const focus = (await page.evaluate(describeFocus)) as Focus | undefined;
    if (focus !== undefined && (name === undefined || focus.name === name)) return focus;
    if (performance.now() > endMs)
      throw new Error(`the focus is on ${focus?.name ?? 'nothing'}, not on ${name}`);
    await systemClock.sleep(20);
  }
}

/** The name of the element that has the focus. Fails when the page does not show it, or when it is behind the open dialog. */
export async function focusOf(page: Page, wanted?: string): Promise<string> {
  const { name, isShown, isInside } = await findFocus(page, wanted);
  assert.ok(isShown, `the page does not show that “${name}” has the focus`);
  assert.ok(isInside, `“${name}” has the focus behind the dialog`);
  return name;
}

/** Presses a key; the focus is then somewhere, and shown. */
export async function press(page: Page, key: string): Promise<string> {
  await page.keyboard.press(key);
  return focusOf(page);
}

/** Steps on with Tab until an element with this name has the focus. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const passed: string[] = [];
  for (let step = 0; step < mostSteps; step += 1) {
    const focus = await press(page, 'Tab');
    if (typeof name === 'string' ? focus === name : name.test(focus)) return;
    passed.push(focus);
  }
  assert.fail(`Tab does not lead to ${name}: ${passed.join(' | ')}`);
}
