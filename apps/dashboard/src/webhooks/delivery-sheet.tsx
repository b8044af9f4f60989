import type { AttemptChange } from '@florin/protocol/delivery-api.ts';
import { Link } from '@tanstack/react-router';
import { ChevronRight, RotateCw } from 'lucide-react';
import { useState } from 'react';
import { useRead, useWrite } from '../api/use-call.ts';
import { useMerchant } from '../app/merchant.ts';
import { mayDo } from '../app/permission.ts';
import { useScreenPath } from '../app/screen-link.tsx';
import { Button } from '../ui/button.tsx';
import { DialogActions, Sheet } from '../ui/dialog.tsx';
import { eventTitle } from '../ui/event-types.ts';
import { BodyText } from '../ui/json.tsx';
import { FailureNotice } from '../ui/notice.tsx';
import { Fact, Facts, Section, SkeletonFacts } from '../ui/page.tsx';
import { Failed } from '../ui/states.tsx';
import { toast } from '../ui/toast.tsx';
import { Id, Time } from '../ui/value.tsx';
import type { SentAttempt, SentDetail } from './types.ts';
import { answerText, DeliveryBadge, isWaitingForTime } from './webhook-words.tsx';

const followMs = 3_000;

/** One delivery: its body, and each attempt with its request and its answer. */
export function DeliverySheet({
  deliveryId,
  isHeld,
  onClose,
}: {
  readonly deliveryId: string;
  /** The webhook is not active: what is to be sent waits. */
  readonly isHeld: boolean;
  readonly onClose: () => void;
}) {
  const mayChange = mayDo(useMerchant().role, 'webhooks:write');
  const [isMoving, setMoving] = useState(true);
  const read = useRead(
    'GET /webhook/delivery/detail/:deliveryId',
    { params: { deliveryId } },
    isMoving ? { everyMs: followMs } : {},
  );
  const resend = useWrite('POST /webhook/delivery/resend', { onDone: () => toast('Sent again') });
  const sent = read.data;
  if (sent !== undefined && (sent.status === 'pending') !== isMoving) setMoving(!isMoving);
  return (
    <Sheet
      isOpen
      onClose={onClose}
      size="large"
      title={sent?.eventType ?? 'Delivery'}
      description={sent === undefined ? undefined : eventTitle(sent.eventType)}
    >
      {sent !== undefined && <Detail sent={sent} isHeld={isHeld} />}
      {sent === undefined && read.error !== null && (
        <Failed error={read.error} onRetry={() => void read.refetch()} />
      )}
      {sent === undefined && read.error === null && <SkeletonFacts />}
      <div className="mt-4 empty:hidden">
        <FailureNotice error={resend.error} />
      </div>
      {mayChange &&
        sent !== undefined &&
        (sent.status !== 'pending' || (isWaitingForTime(sent) && !isHeld)) && (
          <DialogActions>
            <Button
              kind="primary"
              icon={<RotateCw />}
              isBusy={resend.isRunning}
              onClick={() => void resend.run({ body: { deliveryId } })}
            >
              {sent.status === 'pending' ? 'Send now' : 'Send again'}
            </Button>
          </DialogActions>
        )}
    </Sheet>
  );
}

function Detail({ sent, isHeld }: { readonly sent: SentDetail; readonly isHeld: boolean }) {
  const { status, nextAttemptAt, attempts } = sent;
  const pathOf = useScreenPath();
  return (
    <div>
      <Facts>
        <Fact name="Status">
          <DeliveryBadge {...{ status, nextAttemptAt, attempts, isHeld }} />
        </Fact>
        <Fact name="Event">
          <Link
            to={pathOf('events')}
            search={{ event: sent.eventId }}
            className="mr-2 text-accent underline-offset-2 hover:underline"
          >
            Open the event
          </Link>
          <Id id={sent.eventId} />
        </Fact>
        <Fact name="Delivery">
          <Id id={sent.deliveryId} isWhole />
        </Fact>
        <Fact name="Created">
          <Time isWhole time={sent.createAt} />
        </Fact>
        {status === 'pending' && !isHeld && sent.nextAttemptAt !== null && (
          <Fact name="Next attempt">
            <Time isWhole isAhead time={sent.nextAttemptAt} />
          </Fact>
        )}
      </Facts>
      <Section title="Attempts">
        {attempts.length === 0 ? (
          <p className="text-soft">
            {status === 'skipped' && 'It was not sent: the webhook was not active.'}
            {status !== 'skipped' && noneYetText(isHeld, nextAttemptAt)}
          </p>
        ) : (
          <ol className="grid gap-3">
            {attempts
              .map((attempt, index) => (
                <li key={attempt.attempt}>
                  <AttemptCard
                    attempt={attempt}
                    before={attempts[index - 1]}
                    isOpen={index === attempts.length - 1}
                  />
                </li>
              ))
              .reverse()}
          </ol>
        )}
      </Section>
      {sent.body !== '' && (
        <Section
          title="Request body"
          description="The same in every attempt. Here secrets are hidden as ****, so the signature of what was sent does not fit this text."
        >
          <BodyText label="Body" text={sent.body} />
        </Section>
      )}
    </div>
  );
}

function noneYetText(isHeld: boolean, nextAttemptAt: string | null): string {
  if (isHeld) return 'It waits until you enable the webhook.';
  return nextAttemptAt === null ? 'It waits for the event before it, about the same object.' : 'None yet.';
}

function AttemptCard({
  attempt,
  before,
  isOpen,
}: {
  readonly attempt: SentAttempt;
  readonly before: SentAttempt | undefined;
  readonly isOpen: boolean;
}) {
  const { request, changes, responseBody, error } = attempt;
  const isGood = error === '';
  return (
    <details open={isOpen} className="group rounded-lg border border-line">
      <summary className="flex cursor-pointer flex-wrap items-center gap-x-2 gap-y-1 px-3 py-2.5">
        <ChevronRight aria-hidden className="size-4 text-soft group-open:rotate-90" />
        <span className="font-medium">Attempt {attempt.attempt}</span>
        <span className={isGood ? 'text-good' : 'text-bad'}>{answerText(attempt)}</span>
        <span className="ml-auto text-sm text-soft">
          {attempt.latencyMs} ms · <Time time={attempt.at} />
        </span>
      </summary>
      <div className="grid gap-3 border-t border-line p-3">
        {attempt.httpStatus !== null && !['', `status ${attempt.httpStatus}`].includes(error) && (
          <p className="text-bad">{error}</p>
        )}
        {before !== undefined && <Changes attempt={attempt} before={before} changes={changes} />}
        {request.url !== '' && (
          <div>
            <p className="mb-1 text-sm font-medium">Request</p>
            <p className="font-mono text-sm break-all">POST {request.url.split('#', 1)[0]}</p>
            <dl className="mt-1 grid gap-x-3 font-mono text-xs text-soft sm:grid-cols-[auto_1fr]">
              {Object.entries(request.headers).map(([name, value]) => (
                <div key={name} className="contents">
                  <dt>{name}</dt>
                  <dd className="mb-1 break-all text-ink sm:mb-0">{value}</dd>
                </div>
              ))}
              <div className="contents">
                <dt>webhook-signature</dt>
                <dd className="font-sans text-soft">Made anew for each attempt, and never shown.</dd>
              </div>
            </dl>
          </div>
        )}
        {responseBody === '' ? (
          <p className="text-soft">The answer had no body.</p>
        ) : (
          <BodyText label="Answer" text={responseBody} />
        )}
      </div>
    </details>
  );
}

const changeTitles: Readonly<Record<AttemptChange, string>> = {
  url: 'URL',
  httpStatus: 'Status of the answer',
  error: 'Error',
  responseBody: 'Answer',
};

function fieldText({ request, httpStatus, error, responseBody }: SentAttempt, field: AttemptChange): string {
  const text = { url: request.url, httpStatus: String(httpStatus ?? ''), error, responseBody }[field];
  return text === '' ? 'none' : text;
}

/** What an attempt changed against the one before. */
function Changes({
  attempt,
  before,
  changes,
}: {
  readonly attempt: SentAttempt;
  readonly before: SentAttempt;
  readonly changes: readonly AttemptChange[];
}) {
  if (changes.length === 0) return <p className="text-soft">The same as attempt {before.attempt}.</p>;
  return (
    <div>
      <p className="mb-1 text-sm font-medium">Different from attempt {before.attempt}</p>
      <ul className="grid gap-2">
        {changes.map((field) => (
          <li key={field} className="grid gap-1">
            <span className="text-sm text-soft">{changeTitles[field]}</span>
            <Side sign="−" name="before" text={fieldText(before, field)} />
            <Side sign="+" name="now" text={fieldText(attempt, field)} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Side({ sign, name, text }: { readonly sign: string; readonly name: string; readonly text: string }) {
  return (
    <span className="line-clamp-4 rounded-md bg-sunken px-2 py-1 font-mono text-xs break-all">
      <span className="sr-only">{name}: </span>
      <span aria-hidden>{sign} </span>
      {text}
    </span>
  );
}
