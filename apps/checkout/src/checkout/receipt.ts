import { api } from './api.ts';
import type { Page } from './page.ts';
import { problemOf } from './problem.ts';

/** Downloads the receipt as a file that anyone can check. */
export async function downloadReceipt(page: Page): Promise<void> {
  const { data, clientCode } = page.model;
  if (data.state === undefined) return;
  try {
    const receipt = await api.receipt(data.state.sessionId, clientCode);
    const file = new Blob([`${JSON.stringify(receipt, undefined, 2)}\n`], { type: 'application/json' });
    const url = URL.createObjectURL(file);
    const link = document.createElement('a');
    link.href = url;
    link.download = `${receipt.receiptId}.json`;
    link.click();
    URL.revokeObjectURL(url);
  } catch (error) {
    page.change(problemOf(page.model, error));
  }
}
