import type { ReceivedEvent } from './receiver-model.ts';
import type { ReportViolation, StoredHistory, StoredSessionState } from './stored-state.ts';

/** Webhooks arrive at least once, in order per object and without gaps, and report exactly one payment. */
export function checkWebhooks(
  received: readonly ReceivedEvent[],
  stored: StoredHistory,
  report: ReportViolation,
): void {
  const lastSequence = new Map<string, number>();
  const ids = new Map<string, string>();
  for (const event of received) {
    if (event.objectId === '') continue;
    const last = lastSequence.get(event.objectId) ?? 0;
    if (event.sequence > last + 1) report(`${event.objectId}: event ${event.sequence} arrived after ${last}`);
    lastSequence.set(event.objectId, Math.max(last, event.sequence));
    const eventKey = `${event.objectId} ${event.sequence}`;
    if ((ids.get(eventKey) ?? event.eventId) !== event.eventId) report(`${eventKey} arrived under two ids`);
    ids.set(eventKey, event.eventId);
  }
  const paidEvents = received.filter(({ type }) => type === 'session.paid');
  for (const session of stored.sessions) {
    const { sessionId, orderId } = session;
    const storedEvents = stored.webhookEvents.filter(({ objectId }) => objectId === sessionId);
    if ((lastSequence.get(sessionId) ?? 0) < storedEvents.length)
      report(`${sessionId}: ${storedEvents.length} events, ${lastSequence.get(sessionId) ?? 0} received`);
    const paid = new Set(
      paidEvents.filter(({ objectId }) => objectId === sessionId).map(({ eventId }) => eventId),
    );
    if (paid.size !== (orderId === '' ? 0 : 1))
      report(`${sessionId}: session.paid arrived ${paid.size} times`);
    checkEventTypes(
      session,
      storedEvents.map(({ type }) => type),
      report,
    );
  }
}

/** The last event that the merchant must receive for a finished session, by its status. */
const lastEventTypes: Readonly<Record<string, string>> = {
  completed: 'session.completed',
  expired: 'session.expired',
  cancelled: 'session.cancelled',
};

function checkEventTypes(
  session: StoredSessionState,
  types: readonly string[],
  report: ReportViolation,
): void {
  const { sessionId, status } = session;
  if (types[0] !== 'session.created') report(`${sessionId} begins with ${types[0] ?? 'nothing'}`);
  const expected = lastEventTypes[status];
  const last = types.filter((type) => type !== 'session.exception').at(-1);
  if (expected !== undefined && last !== expected)
    report(`${sessionId} is ${status}, and its events end with ${last}`);
}
