import { api } from './api.ts';
import { elementOf } from './dom.ts';
import type { Page } from './page.ts';
import { isOfSecret, problemOf } from './problem.ts';

/** The payer's whole address: asked for once, because each rendering needs it again. */
let payer: Promise<string | undefined> | undefined;

/**
 * Makes the payer's address whole on paper. Only the session's secret reads it: others who have the link need not know it. A
 * page whose secret is wrong says so, also before there is a receipt, and becomes a stranger's.
 */
export async function completeReceipt(page: Page): Promise<void> {
  const { data, clientCode } = page.model;
  if (clientCode === '' || data.state === undefined) return;
  const { sessionId, paidAt } = data.state;
  try {
    // An unpaid session answers this one. There is no receipt yet.
    if (paidAt === '') return void (await api.places(sessionId, clientCode));
    payer ??= api.receipt(sessionId, clientCode).then(({ order }) => order['payer']);
    const whole = await payer;
    elementOf('whole-payer').textContent = whole ?? '';
  } catch (error) {
    payer = undefined;
    // Without the address the receipt is complete but for paper.
    if (isOfSecret(error)) page.change(problemOf(page.model, error));
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
