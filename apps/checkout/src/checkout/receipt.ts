import { api } from './api.ts';
import { elementOf } from './dom.ts';
import type { Page } from './page.ts';
import { isOfSecret, problemOf } from './problem.ts';

/**
 * Makes the payer's address whole on paper. Only the session's secret reads it: others who have the link need not know it. A
 * page whose secret is wrong becomes a stranger's, which does not say that its reader paid.
 */
export async function completeReceipt(page: Page): Promise<void> {
  const { data, clientCode } = page.model;
  if (clientCode === '' || !data.state?.paidAt) return;
  try {
    const { order } = await api.receipt(data.state.sessionId, clientCode);
    elementOf('whole-payer').textContent = order['payer'] ?? '';
  } catch (error) {
    // Without the address the receipt is complete but for paper.
    if (isOfSecret(error)) page.change({ clientCode: '' });
  }
}

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
