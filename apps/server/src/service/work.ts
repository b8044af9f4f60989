import {
  type DeliverySettings,
  defaultDeliverySettings,
  runDeliveries,
  runHousekeeping as runOutboxHousekeeping,
} from '@florin/outbox';
import { signerOf } from '@florin/signing';
import { watchAdditions } from '#deposits/addition-balance.ts';
import { runDeposits } from '#deposits/deposit.ts';
import { releaseUnfollowedMoves } from '#deposits/deposit-move.ts';
import { newReports } from '#deposits/report.ts';
import { findChosenRecipients } from '#mail/chosen-mail.ts';
import { mailComposer } from '#mail/compose.ts';
import { runMails } from '#mail/mail.ts';
import { smtpTransport } from '#mail/smtp.ts';
import { unsubscribeLinks } from '#mail/unsubscribe.ts';
import { makeWeeklySummaries } from '#mail/weekly-summary.ts';
import { dashboardOriginOf } from '#members/dashboard-origin.ts';
import { attestationSource } from '#outside/attestation.ts';
import { createEgress } from '#outside/egress.ts';
import { secretBox } from '#outside/secret-box.ts';
import { runReconciliation } from '#reconcile/reconcile.ts';
import { runArchive } from '#sessions/archive.ts';
import type { SessionMoveContext } from '#sessions/context.ts';
import { runErasure } from '#sessions/erasure.ts';
import { endLostPayments } from '#sessions/lost-payment.ts';
import { expireSessions } from '#sessions/session.ts';
import { runSettlement } from '#settlement/settlement.ts';
import { releaseUnfollowed } from '#submissions/submission.ts';
import type { Log } from '#telemetry/log.ts';
import { runRounds } from '#telemetry/rounds.ts';
import { outboxWorker } from '#webhooks/outbox-context.ts';
import { followAttempt } from './follow.ts';
import type { ServiceOptions } from './options.ts';
import { type Rooms, webhookAddresses } from './rooms.ts';
import { keepUp } from './upkeep.ts';

const expiryIntervalMs = 1_000;
/** Sessions that one transaction expires. */
const expiryBatch = 200;
const gasIntervalMs = 60_000;
const reconcileIntervalMs = 60_000;
const summaryIntervalMs = 60_000;

/** The loops of a worker: everything that the service does besides answering and following chains. */
export function work(options: ServiceOptions, rooms: Rooms, signal: AbortSignal): Promise<void>[] {
  const { db, rpcOf } = rooms;
  // With what events are written with, so that each loop may write some.
  const base = { ...options, db };
  const intervalMs = options.reconcileIntervalMs ?? reconcileIntervalMs;
  return [
    rooms.sender.run(signal),
    settle(options, rooms, signal),
    ...watchDeposits(options, rooms, signal),
    ...deliver(options, rooms, signal),
    runExpiry(base, signal),
    ...keepUp(options, db, signal),
    releaseReplacedWallets(options, rooms, signal),
    runReconciliation({ ...base, chains: options.chains.all, rpcOf, intervalMs }, signal),
    ...retain(options, rooms, signal),
    ...sendMails(options, rooms, signal),
    ...(rooms.images?.run(signal) ?? []),
  ];
}

async function settle(options: ServiceOptions, rooms: Rooms, signal: AbortSignal): Promise<void> {
  const { attestationUrl, settlement } = options;
  const attestations = attestationUrl === undefined ? undefined : attestationSource(attestationUrl);
  const context = { ...options, ...rooms, settings: settlement, attestations };
  await runSettlement(context, signal).finally(() => attestations?.close());
}

/** None if the service pays no gas for payers. */
function watchDeposits(options: ServiceOptions, rooms: Rooms, signal: AbortSignal): Promise<void>[] {
  const { gasless: settings, settlerKey, otherSettlerKeys = [], chains } = options;
  if (settings === undefined) return [];
  const settlers = [settlerKey, ...otherSettlerKeys].map((key) => signerOf(key).address);
  const context = { ...options, ...rooms, settings, reports: newReports() };
  return [
    runDeposits(context, signal),
    ...chains.all.map((chain) => watchAdditions(context, settlers, chain, signal)),
  ];
}

function deliver(options: ServiceOptions, { db }: Rooms, signal: AbortSignal): Promise<void>[] {
  const { webhooks, masterKeys, metrics, traces } = options;
  const egress = createEgress({ addresses: webhookAddresses(options), ca: webhooks.certificateAuthority });
  const settings = deliverySettings(options);
  const outbox = outboxWorker({
    ...options,
    db,
    egress,
    secrets: secretBox(masterKeys),
    settings,
    onAttempt: metrics?.delivery,
    follow: traces && ((objectId) => followAttempt(traces, objectId)),
  });
  return [runDeliveries(outbox, signal).finally(() => egress.close()), runOutboxHousekeeping(outbox, signal)];
}

/** None without a mail server. */
function sendMails(options: ServiceOptions, { db }: Rooms, signal: AbortSignal): Promise<void>[] {
  const { smtp, clock, log, random, chains, masterKeys } = options;
  if (smtp === undefined) return [];
  const compose = mailComposer({
    ...{ db, chains, fromName: smtp.fromName, dashboardOrigin: dashboardOriginOf(options) },
    unsubscribe: unsubscribeLinks(options.origin, masterKeys),
  });
  const worker = {
    ...{ db, clock, log, random, compose, secrets: secretBox(masterKeys) },
    recipientsOf: findChosenRecipients,
    transport: smtpTransport(smtp),
    payerMailsPerDay: smtp.payerMailsPerDay,
    domain: smtp.from.slice(smtp.from.indexOf('@') + 1),
  };
  const rounds = { clock, log, intervalMs: summaryIntervalMs, failure: 'mail.summary_failed' };
  return [...runMails(worker, signal), runRounds(rounds, signal, () => makeWeeklySummaries(worker))];
}

function deliverySettings({ webhooks }: ServiceOptions): DeliverySettings {
  const { pauseAfterFailures, pauseAfterHours } = webhooks;
  const retry = { ...defaultDeliverySettings.retry, pauseAfterFailures };
  return { ...defaultDeliverySettings, retry: { ...retry, pauseAfterMs: pauseAfterHours * 3_600_000 } };
}

/** Expires sessions until the signal aborts. */
export function runExpiry(
  deps: SessionMoveContext & Pick<Rooms, 'db'> & { readonly log: Log },
  signal: AbortSignal,
): Promise<void> {
  const rounds = { ...deps, intervalMs: expiryIntervalMs, failure: 'sessions.expiry_failed' };
  return runRounds(rounds, signal, async () => {
    const count = await deps.db.transaction((transaction) => expireSessions(transaction, deps, expiryBatch));
    const lost = await deps.db.transaction((transaction) => endLostPayments(transaction, deps, expiryBatch));
    // A smaller batch may have reached its limit of bytes.
    return count + lost > 0;
  });
}

/** Lets payments and moves of replaced wallets be decided again. */
function releaseReplacedWallets(
  { clock, log, settlement }: ServiceOptions,
  { db, sender: { wallets } }: Rooms,
  signal: AbortSignal,
): Promise<void> {
  const rounds = { clock, log, intervalMs: gasIntervalMs, failure: 'sender.release_failed' };
  return runRounds(rounds, signal, async () => {
    const at = clock.now();
    const given = { wallets, at, before: new Date(at.getTime() - settlement.notMinedAfterSeconds * 1_000) };
    const submissions = await releaseUnfollowed(db, given);
    const moves = await releaseUnfollowedMoves(db, given);
    if (submissions + moves > 0) log.warn('sender.released', { submissions, moves });
  });
}

/** Archives and erases; nothing without a policy. */
function retain(
  { retention: policy, clock, log }: ServiceOptions,
  { db }: Rooms,
  signal: AbortSignal,
): Promise<void>[] {
  if (policy === undefined) return [];
  const base = { db, clock, log, policy };
  return [runArchive(base, signal), runErasure(base, signal)];
}
