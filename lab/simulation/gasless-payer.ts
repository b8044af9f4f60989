import { checkSubmission, recordSubmission } from '@florin/server/parts';
import type { Actors } from './actors.ts';
import type { ServiceModel } from './service-model.ts';
import { payerSignature } from './signing-model.ts';

/** How many times a payer checks the payment and resubmits it when nothing has happened. */
const maxAttempts = 12;

/** A payer without gas: signs, submits, and resubmits until the payment arrives. */
export async function runGaslessPayer(actors: Actors, sessionId: string): Promise<void> {
  const { random } = actors.world.options;
  const model = actors.anyChain();
  const payer = actors.address('payer 0');
  const order = await actors.prepare(sessionId, model, payer);
  if (order === undefined) return;
  const method = random.pick(['eip3009', 'permit2'] as const);
  const signature = payerSignature(model.chain, method, order) ?? '0x';
  const body = { sessionId, method, signature };
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    // Sometimes two at once, like impatient clients.
    const count = random.chance(0.3) ? 2 : 1;
    await Promise.all(Array.from({ length: count }, () => actors.ask((service) => submit(service, body))));
    await actors.world.sleep(6_000);
    if (model.head.state.slots.get(order.order.metaData) !== undefined && attempt > 2) return;
  }
}

/** Like the endpoint: checks the payment, records it in one transaction and broadcasts it. */
async function submit(
  { db, deps }: ServiceModel,
  body: { readonly sessionId: string; readonly method: 'eip3009' | 'permit2'; readonly signature: string },
): Promise<string> {
  const checked = await checkSubmission(db, deps, { body, network: '192.0.2.1' });
  if (checked.kind === 'earlier') return checked.view.status;
  const { view, transactionId } = await db.transaction((transaction) =>
    recordSubmission(transaction, deps, checked),
  );
  if (transactionId !== undefined) await deps.sender.broadcast(transactionId);
  return view.status;
}
